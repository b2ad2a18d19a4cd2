"""From a response in the shape of the operation model to the items of an answer.

Rules that clients break on (`docs/dax-protocol.md` has the whole list):

* An item that does not exist is a key that is left out, never a null inside a result map.
* Key attributes are never in a values blob: clients put them back from the request or from the key beside it.
* With a projection nothing is put back: the answer is a map from the position of a path to what it reaches.
* Capacities and collection sizes are doubles, even when they are whole.
* Both batch operations answer with more than one item behind the success marker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from backend.model.keys import KeySchema
from backend.protocol import AttributeValue, Item, Response
from dax.wire.binary import cbor, keys, values
from dax.wire.binary.attribute_lists import AttributeLists
from dax.wire.binary.expressions import Path
from dax.wire.binary.requests import Decoded, Target
from dax.wire.binary.steps import Steps, finished

SUCCESS = cbor.EMPTY_ARRAY
NOTHING = SUCCESS + cbor.NULL
"""The answer of an operation on one item that has nothing to return."""

_ITEM, _CAPACITY, _ATTRIBUTES, _METRICS = b"\x00", b"\x01", b"\x02", b"\x03"
_ITEMS, _COUNT, _LAST_KEY, _SCANNED_COUNT = b"\x07", b"\x08", b"\x09", b"\x0a"

_PARTIAL = frozenset({"UPDATED_OLD", "UPDATED_NEW"})


def encode(decoded: Decoded, response: Response, lists: AttributeLists) -> bytes:
    """The whole answer to a request: the success marker and the result items of its method."""
    return finished(encode_in_steps(decoded, response, lists))


def encode_in_steps(decoded: Decoded, response: Response, lists: AttributeLists) -> Steps[bytes]:
    """The same in parts, none of which has more than one item to encode."""
    of_many = _ENCODERS_OF_MANY.get(decoded.operation)
    if of_many is not None:
        return (yield from of_many(decoded, response, lists))
    return _ENCODERS[decoded.operation](decoded, response, lists)


# --- items --------------------------------------------------------------------------------------------------


def values_blob(item: Item, schema: KeySchema, lists: AttributeLists) -> bytes:
    """A whole item without its key: the id of its sorted names, then their values."""
    key_names = schema.names
    names = tuple(sorted([name for name in item if name not in key_names]))
    content = [cbor.integer(lists.id_of(names))]
    content += [values.to_cbor(item[name]) for name in names]
    return cbor.blob(b"".join(content))


def _partial_blob(attributes: Item, schema: KeySchema, lists: AttributeLists) -> bytes:
    """Some attributes of an item: the id of their names, then a map from the position of a name to its
    value."""
    key_names = schema.names
    names = tuple(sorted([name for name in attributes if name not in key_names]))
    pairs = [
        (cbor.integer(position), values.to_cbor(attributes[name])) for position, name in enumerate(names)
    ]
    return cbor.blob(cbor.integer(lists.id_of(names)) + cbor.mapping(pairs))


def projection_map(item: Item, paths: list[Path]) -> bytes:
    """What each path of a projection reaches, by its position; a path that reaches nothing is left out."""
    pairs = []
    for position, path in enumerate(paths):
        value = _reach(item, path)
        if value is not None:
            pairs.append((cbor.integer(position), values.to_cbor(value)))
    return cbor.mapping(pairs)


def _reach(item: Item, path: Path) -> AttributeValue | None:
    value: AttributeValue | None = {"M": item}
    for element in path:
        if value is None:
            return None
        if type(element) is int:
            elements = value.get("L", ())
            value = elements[element] if element < len(elements) else None
        else:
            value = value.get("M", {}).get(element)
    return value


def _item(item: Item, target: Target, lists: AttributeLists) -> bytes:
    if target.projection is not None:
        return projection_map(item, target.projection)
    return values_blob(item, target.schema, lists)


def get_item(item: Item | None, schema: KeySchema, lists: AttributeLists) -> bytes:
    """The answer to a GetItem without projection and without capacity: what a cache entry keeps."""
    if item is None:
        return NOTHING
    return SUCCESS + cbor.OPEN_MAP + _ITEM + values_blob(item, schema, lists) + cbor.BREAK


# --- capacity and metrics -----------------------------------------------------------------------------------


def _capacity_blob(capacity: Mapping[str, Any]) -> bytes:
    """ConsumedCapacity of everything but transactions."""
    table = capacity.get("Table")
    return cbor.blob(
        cbor.text(capacity["TableName"])
        + cbor.double(capacity["CapacityUnits"])
        + (cbor.NULL if table is None else cbor.double(table["CapacityUnits"]))
        + _index_capacity(capacity.get("GlobalSecondaryIndexes"))
        + _index_capacity(capacity.get("LocalSecondaryIndexes"))
    )


def _index_capacity(indexes: Mapping[str, Any] | None) -> bytes:
    if not indexes:
        return cbor.NULL
    return cbor.mapping(
        [(cbor.text(name), cbor.double(units["CapacityUnits"])) for name, units in indexes.items()]
    )


_UNITS = ((b"\x01", "CapacityUnits"), (b"\x02", "ReadCapacityUnits"), (b"\x03", "WriteCapacityUnits"))


def _capacity_map(capacity: Mapping[str, Any]) -> bytes:
    """ConsumedCapacity of a transaction."""
    pairs = [(b"\x04", cbor.text(capacity["TableName"])), *_unit_pairs(capacity)]
    if "Table" in capacity:
        pairs.append((b"\x05", cbor.mapping(_unit_pairs(capacity["Table"]))))
    for key, member in ((b"\x06", "GlobalSecondaryIndexes"), (b"\x07", "LocalSecondaryIndexes")):
        if capacity.get(member):
            indexes = capacity[member].items()
            pairs.append(
                (
                    key,
                    cbor.mapping(
                        [(cbor.text(name), cbor.mapping(_unit_pairs(part))) for name, part in indexes]
                    ),
                )
            )
    return cbor.mapping(pairs)


def _unit_pairs(part: Mapping[str, Any]) -> list[tuple[bytes, bytes]]:
    return [(key, cbor.double(part[member])) for key, member in _UNITS if part.get(member) is not None]


def _capacities(response: Response, encode_one: Callable[[Mapping[str, Any]], bytes]) -> bytes:
    return cbor.array([encode_one(capacity) for capacity in response.get("ConsumedCapacity") or ()])


def _metrics_blob(metrics: Mapping[str, Any]) -> bytes:
    (partition,) = metrics["ItemCollectionKey"].values()
    lower, upper = metrics["SizeEstimateRangeGB"]
    return cbor.blob(values.to_cbor(partition) + cbor.double(lower) + cbor.double(upper))


def _table_metrics(response: Response) -> bytes:
    tables = (response.get("ItemCollectionMetrics") or {}).items()
    return cbor.mapping(
        [(cbor.text(table), cbor.array([_metrics_blob(one) for one in metrics])) for table, metrics in tables]
    )


# --- operations ---------------------------------------------------------------------------------------------

_Pairs = list[tuple[bytes, bytes]]


def _shared_pairs(response: Response) -> _Pairs:
    pairs: _Pairs = []
    if response.get("ConsumedCapacity"):
        pairs.append((_CAPACITY, _capacity_blob(response["ConsumedCapacity"])))
    if response.get("ItemCollectionMetrics"):
        pairs.append((_METRICS, _metrics_blob(response["ItemCollectionMetrics"])))
    return pairs


def _result(pairs: _Pairs) -> bytes:
    return SUCCESS + cbor.open_mapping(pairs) if pairs else NOTHING


def _get_item(decoded: Decoded, response: Response, lists: AttributeLists) -> bytes:
    pairs = _shared_pairs(response)
    item = response.get("Item")
    if item is not None:
        pairs.insert(0, (_ITEM, _item(item, decoded.target, lists)))
    return _result(pairs)


def _write_item(decoded: Decoded, response: Response, lists: AttributeLists) -> bytes:
    pairs = _shared_pairs(response)
    attributes = response.get("Attributes")
    if attributes:
        partial = decoded.request.get("ReturnValues") in _PARTIAL
        encode_attributes = _partial_blob if partial else values_blob
        pairs.insert(0, (_ATTRIBUTES, encode_attributes(attributes, decoded.target.schema, lists)))
    return _result(pairs)


def _page(decoded: Decoded, response: Response, lists: AttributeLists) -> Steps[bytes]:
    target = decoded.target
    pairs: _Pairs = []
    if "Items" in response:
        items = []
        for item in response["Items"]:
            items.append(_page_item(item, target, lists))
            yield
        pairs.append((_ITEMS, cbor.OPEN_ARRAY + b"".join(items) + cbor.BREAK))
    pairs.append((_COUNT, cbor.integer(response["Count"])))
    pairs.append((_SCANNED_COUNT, cbor.integer(response["ScannedCount"])))
    last = response.get("LastEvaluatedKey")
    if last:
        indexed = "IndexName" in decoded.request
        pairs.append(
            (_LAST_KEY, cbor.blob(_compound_key(last) if indexed else keys.encode(target.schema, last)))
        )
    return _result(pairs + _shared_pairs(response))


def _page_item(item: Item, target: Target, lists: AttributeLists) -> bytes:
    if target.projection is not None:
        return projection_map(item, target.projection)
    return b"\x82" + cbor.blob(keys.encode(target.schema, item)) + values_blob(item, target.schema, lists)


def _compound_key(key: Item) -> bytes:
    """The key of an index entry: the indefinite form, which Go clients insist on."""
    return cbor.open_mapping([(cbor.text(name), values.to_cbor(value)) for name, value in key.items()])


def _batch_get_item(decoded: Decoded, response: Response, lists: AttributeLists) -> Steps[bytes]:
    found = response.get("Responses") or {}
    unprocessed = response.get("UnprocessedKeys") or {}
    answers, left = [], []
    for target in decoded.targets:
        if target.table in found:
            items = yield from _batch_items(found[target.table], target, lists)
            answers.append((cbor.text(target.table), items))
        if target.table in unprocessed:
            encoded = [
                cbor.blob(keys.encode(target.schema, key)) for key in unprocessed[target.table]["Keys"]
            ]
            left.append((cbor.text(target.table), cbor.array(encoded)))
    return (
        SUCCESS + b"\x82" + cbor.mapping(answers) + cbor.mapping(left) + _capacities(response, _capacity_blob)
    )


def _batch_items(items: list[Item], target: Target, lists: AttributeLists) -> Steps[bytes]:
    flat: list[bytes] = []
    for item in items:
        if target.projection is None:
            flat.append(cbor.blob(keys.encode(target.schema, item)))
        flat.append(_item(item, target, lists))
        yield
    return cbor.array(flat)


def _batch_write_item(decoded: Decoded, response: Response, lists: AttributeLists) -> bytes:
    unprocessed = response.get("UnprocessedItems") or {}
    left = [
        (cbor.text(target.table), _writes(unprocessed[target.table], target.schema, lists))
        for target in decoded.targets
        if target.table in unprocessed
    ]
    return SUCCESS + cbor.mapping(left) + _capacities(response, _capacity_blob) + _table_metrics(response)


def _writes(writes: list[Mapping[str, Any]], schema: KeySchema, lists: AttributeLists) -> bytes:
    flat: list[bytes] = []
    for write in writes:
        if "PutRequest" in write:
            item = write["PutRequest"]["Item"]
            flat += (cbor.blob(keys.encode(schema, item)), values_blob(item, schema, lists))
        else:
            flat += (cbor.blob(keys.encode(schema, write["DeleteRequest"]["Key"])), cbor.NULL)
    return cbor.array(flat)


def _transact_get_items(decoded: Decoded, response: Response, lists: AttributeLists) -> Steps[bytes]:
    items = []
    for target, answer in zip(decoded.targets, response["Responses"], strict=True):
        item = answer.get("Item")
        items.append(cbor.NULL if item is None else _item(item, target, lists))
        yield
    return SUCCESS + b"\x82" + cbor.array(items) + _capacities(response, _capacity_map)


def _transact_write_items(decoded: Decoded, response: Response, lists: AttributeLists) -> bytes:
    return (
        SUCCESS + b"\x83" + cbor.EMPTY_ARRAY + _capacities(response, _capacity_map) + _table_metrics(response)
    )


_ENCODERS: Mapping[str, Callable[[Decoded, Response, AttributeLists], bytes]] = {
    "GetItem": _get_item,
    "PutItem": _write_item,
    "UpdateItem": _write_item,
    "DeleteItem": _write_item,
    "BatchWriteItem": _batch_write_item,
    "TransactWriteItems": _transact_write_items,
}
_ENCODERS_OF_MANY: Mapping[str, Callable[[Decoded, Response, AttributeLists], Steps[bytes]]] = {
    "Query": _page,
    "Scan": _page,
    "BatchGetItem": _batch_get_item,
    "TransactGetItems": _transact_get_items,
}
