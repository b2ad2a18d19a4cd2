"""Primary keys as one byte string, by the key schema of the table.

| schema             | content of the byte string                                                            |
| partition S or B   | the UTF-8 or the bytes, raw                                                           |
| partition N        | a CBOR number                                                                         |
| partition + sort   | the partition value as a CBOR item, then the sort value raw: UTF-8, bytes, LexDecimal |

The received bytes are no identity: clients spell one number in several ways. Decode, then look up.
"""

from __future__ import annotations

from typing import Any

from backend.errors import validation_error
from backend.model.keys import KeyAttribute, KeySchema
from backend.protocol import AttributeValue, Item
from dax.wire.binary import cbor, lexdecimal, numbers, values
from dax.wire.binary.cbor import Malformed


def decode(schema: KeySchema, data: Any) -> Item:
    """The key attributes in `data`. Raises `Malformed` or `ServiceError` (a number out of range)."""
    if type(data) is not bytes:
        raise Malformed("a key is expected to be a byte string")
    partition, sort = schema.partition, schema.sort
    if sort is None:
        if partition.type == "N":
            return {partition.name: {"N": numbers.from_cbor(cbor.decode_whole(data))}}
        return {partition.name: _raw(partition.type, data)}
    try:
        value, end = cbor.decode(data)
    except cbor.Incomplete:
        raise Malformed("a key is cut short") from None
    decoded = values.from_cbor(value)
    if partition.type not in decoded:
        raise validation_error("The provided key element does not match the schema")
    return {partition.name: decoded, sort.name: _raw(sort.type, data[end:])}


def _raw(kind: str, data: bytes) -> AttributeValue:
    if kind == "B":
        return {"B": data}
    if kind == "N":
        return {"N": lexdecimal.decode(data)}
    try:
        return {"S": data.decode()}
    except UnicodeDecodeError:
        raise Malformed("a key is not UTF-8") from None


def encode(schema: KeySchema, item: Item) -> bytes:
    """The byte string for the key attributes of `item`, which may hold others too."""
    partition, sort = schema.partition, schema.sort
    value = item[partition.name]
    if sort is not None:
        return values.to_cbor(value) + _to_raw(sort, item[sort.name])
    return numbers.to_cbor(value["N"]) if partition.type == "N" else _to_raw(partition, value)


def _to_raw(attribute: KeyAttribute, value: AttributeValue) -> bytes:
    content = value[attribute.type]
    if attribute.type == "N":
        return lexdecimal.encode(content)
    encoded: bytes = content.encode() if attribute.type == "S" else content
    return encoded
