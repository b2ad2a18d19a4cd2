"""Attribute values between CBOR and the typed form of the operation model, `{"S": "x"}`.

The type of a value is the kind of its CBOR item; sets are arrays under tags 3321 to 3323. Nothing is judged
here but the encoding: what DynamoDB refuses (an empty set, duplicates, a nesting beyond 32) is the engine's
to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from backend.protocol import AttributeValue
from dax.wire.binary import cbor, numbers
from dax.wire.binary.cbor import BINARY_SET, NUMBER_SET, STRING_SET, Malformed

# --- wire -> model ------------------------------------------------------------------------------------------


def from_cbor(value: Any) -> AttributeValue:
    """The attribute value of a decoded CBOR item. Raises `Malformed`, or `ServiceError` for a bad number."""
    convert = _FROM_CBOR.get(type(value))
    if convert is None:
        raise Malformed("this kind of data item is no attribute value")
    return convert(value)


def _number(value: Any) -> AttributeValue:
    return {"N": numbers.from_cbor(value)}


_SMALL = tuple({"N": str(number)} for number in range(256))
"""Most of the numbers in long lists; values are immutable, so that one of each is enough."""


def _integer(value: int) -> AttributeValue:
    return _SMALL[value] if 0 <= value < 256 else _number(value)


def _list(value: list[Any]) -> AttributeValue:
    return {"L": [from_cbor(element) for element in value]}


def _document(value: dict[Any, Any]) -> AttributeValue:
    return {"M": document(value)}


def document(value: dict[Any, Any]) -> dict[str, AttributeValue]:
    """A decoded map as attribute name -> value. Raises `Malformed` for a name that is no text."""
    for name in value:
        if type(name) is not str:
            raise Malformed("a map has a key that is not text")
    return {name: from_cbor(element) for name, element in value.items()}


def _set(value: cbor.Tagged) -> AttributeValue:
    tag, elements = value
    if tag == STRING_SET and all(type(element) is str for element in elements):
        return {"SS": elements}
    if tag == BINARY_SET and all(type(element) is bytes for element in elements):
        return {"BS": elements}
    if tag == NUMBER_SET:
        return {"NS": [numbers.from_cbor(element) for element in elements]}
    raise Malformed("a set has an element of another type")


_FROM_CBOR: Mapping[type, Callable[[Any], AttributeValue]] = {
    str: lambda value: {"S": value},
    bytes: lambda value: {"B": value},
    bool: lambda value: {"BOOL": value},
    type(None): lambda value: {"NULL": True},
    int: _integer,
    float: _number,
    cbor.DecimalFraction: _number,
    list: _list,
    dict: _document,
    cbor.Tagged: _set,
}

# --- model -> wire ------------------------------------------------------------------------------------------


def to_cbor(value: AttributeValue) -> bytes:
    """The CBOR item of an attribute value: definite lengths, and never a float."""
    ((kind, content),) = value.items()
    return _TO_CBOR[kind](content)


def _encode_list(content: list[AttributeValue]) -> bytes:
    return cbor.head(4, len(content)) + b"".join([to_cbor(element) for element in content])


def _encode_map(content: Mapping[str, AttributeValue]) -> bytes:
    return cbor.mapping([(cbor.text(name), to_cbor(element)) for name, element in content.items()])


_TO_CBOR: Mapping[str, Callable[[Any], bytes]] = {
    "S": cbor.text,
    "N": numbers.to_cbor,
    "B": cbor.blob,
    "BOOL": cbor.boolean,
    "NULL": lambda content: cbor.NULL,
    "L": _encode_list,
    "M": _encode_map,
    "SS": lambda content: cbor.tagged(STRING_SET, cbor.array(map(cbor.text, content))),
    "NS": lambda content: cbor.tagged(NUMBER_SET, cbor.array(map(numbers.to_cbor, content))),
    "BS": lambda content: cbor.tagged(BINARY_SET, cbor.array(map(cbor.blob, content))),
}
