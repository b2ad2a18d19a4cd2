"""From the arguments of a method to an operation and its request in the shape of the operation model.

`decode` needs the key schema of each table that a request names: it asks `schema_of`, which may raise to say
that it has to be fetched first. The result carries, beside the request, the `Target`s that the answer is
encoded by: the schema of each table and the document paths of each projection.

Projections: an answer refers to the paths by position, and a nested path is found again in an item that was
projected by it, unless it has a list index (a projected list is compacted, so that its positions are lost).
So a projection with an index anywhere asks for the top-level attributes instead, after the expression itself
was checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from backend.errors import validation_error
from backend.expressions.projections import projection as check_projection
from backend.expressions.scope import Scope
from backend.model.keys import KeySchema
from backend.protocol import AttributeValue
from dax.wire.binary import cbor, expressions, keys, kwargs, values
from dax.wire.binary.attribute_lists import AttributeLists
from dax.wire.binary.cbor import Malformed, Scanner, TooLarge
from dax.wire.binary.expressions import Path, Placeholders
from dax.wire.binary.kwargs import Parameter
from dax.wire.binary.methods import Method
from dax.wire.binary.steps import Steps, finished

SchemaOf = Callable[[str], KeySchema]

PUT, DELETE, UPDATE, CONDITION_CHECK = 2, 7, 9, 12
_ACTIONS = {PUT: "Put", DELETE: "Delete", UPDATE: "Update", CONDITION_CHECK: "ConditionCheck"}
# An item has at most 400 KB by DynamoDB's count, in which every element of a list or map has at least one
# byte; in CBOR that is at most a few times as long. What is longer is refused, whatever it holds.
_MAX_ITEM_BLOB = 2 * 1024 * 1024
_MAX_ITEM_ELEMENTS = 410_000
_MAX_ACTIONS = 1_000  # more than any operation accepts: refused before anything is decoded


@dataclass(slots=True)
class Target:
    """What one part of an answer is encoded by: a table, and the projection of its items if there is one."""

    table: str
    schema: KeySchema
    projection: list[Path] | None = None


@dataclass(slots=True)
class Decoded:
    """One request, decoded.

    targets: one; for batches one for each table in the order sent; for transactions one for each action.
    """

    operation: str
    request: dict[str, Any]
    targets: tuple[Target, ...]

    @property
    def target(self) -> Target:
        return self.targets[0]


@dataclass(slots=True)
class Context:
    """What decoding depends on besides the bytes.

    lenient_select: an explicit Select ALL_ATTRIBUTES means nothing (Go clients send it with every Query and
    Scan).
    """

    schema_of: SchemaOf
    lists: AttributeLists
    lenient_select: bool = False


def decode(method: Method, arguments: list[Any], context: Context) -> Decoded:
    """The operation that a data method carries.

    Raises `Malformed` for what is not of the method's form, `ServiceError` for a value that the service
    refuses, and whatever `context.schema_of` raises.
    """
    return finished(decode_in_steps(method, arguments, context))


def decode_in_steps(method: Method, arguments: list[Any], context: Context) -> Steps[Decoded]:
    """The same in parts, none of which has more than one item to decode."""
    operation = str(method.operation)
    of_many = _DECODERS_OF_MANY.get(operation)
    if of_many is not None:
        return (yield from of_many(arguments, context))
    return _DECODERS[operation](arguments, context)


# --- single items -------------------------------------------------------------------------------------------


def _single(operation: str, arguments: list[Any], context: Context) -> tuple[Decoded, dict[int, Any]]:
    """What the operations on one item share: table, key and the plain parameters."""
    table = kwargs.utf8(arguments[0])
    schema = context.schema_of(table)
    given = kwargs.parameters(operation, arguments[-1])
    request: dict[str, Any] = {"TableName": table, "Key": keys.decode(schema, arguments[1])}
    request.update(kwargs.simple(given))
    return Decoded(operation, request, (Target(table, schema),)), given


def _get_item(arguments: list[Any], context: Context) -> Decoded:
    decoded, given = _single("GetItem", arguments, context)
    if given:
        placeholders = Placeholders()
        _add_projection(decoded.request, decoded.target, given.get(Parameter.PROJECTION), placeholders)
        placeholders.add_to(decoded.request)
    return decoded


def _put_item(arguments: list[Any], context: Context) -> Decoded:
    decoded, given = _single("PutItem", arguments, context)
    request = decoded.request
    request["Item"] = {**request.pop("Key"), **item_values(arguments[2], context.lists)}
    _add_writes(request, given)
    return decoded


def _update_item(arguments: list[Any], context: Context) -> Decoded:
    decoded, given = _single("UpdateItem", arguments, context)
    _add_writes(decoded.request, given)
    return decoded


def _delete_item(arguments: list[Any], context: Context) -> Decoded:
    decoded, given = _single("DeleteItem", arguments, context)
    _add_writes(decoded.request, given)
    return decoded


def _add_writes(request: dict[str, Any], given: Mapping[int, Any]) -> None:
    _add_expressions(request, given.get(Parameter.CONDITION), given.get(Parameter.UPDATE))


def _add_expressions(request: dict[str, Any], condition: Any, update: Any) -> None:
    placeholders = Placeholders()
    if condition is not None:
        request["ConditionExpression"] = expressions.condition(condition, placeholders)
    if update is not None:
        request["UpdateExpression"] = expressions.update(update, placeholders)
    placeholders.add_to(request)


def item_values(blob: Any, lists: AttributeLists) -> dict[str, AttributeValue]:
    """The non-key attributes in a values blob: an attribute-list id and one value for each of its names."""
    if type(blob) is not bytes:
        raise Malformed("the values of an item are expected to be a byte string")
    if len(blob) > _MAX_ITEM_ELEMENTS:  # a blob that is shorter cannot hold as many
        _check_size(blob)
    run = cbor.decode_run(blob)
    if not run or type(run[0]) is not int:
        raise Malformed("the values of an item start with no attribute-list id")
    names = lists.names_of(run[0])
    if names is None:
        raise unknown_list(run[0])
    if len(names) != len(run) - 1:
        raise Malformed(f"an item has {len(run) - 1} values for {len(names)} names")
    return {name: values.from_cbor(value) for name, value in zip(names, run[1:], strict=True)}


def _check_size(blob: bytes) -> None:
    """Refuse an item that cannot be within DynamoDB's limit, before the work of decoding it is done."""
    # There are fewer items than bytes: the scan ends with the bytes, or with one of the limits.
    scanner = Scanner(len(blob) + 1, 0, max_bytes=_MAX_ITEM_BLOB, max_elements=_MAX_ITEM_ELEMENTS)
    try:
        scanner.scan(blob)
    except TooLarge:
        raise validation_error("Item size has exceeded the maximum allowed size") from None


def unknown_list(identifier: int) -> Exception:
    """The refusal of an id that this cluster never handed out."""
    return validation_error(
        f"Attribute list id {identifier} is not known to this cluster. The client learned it from another "
        "cluster, or from one that has lost its data since: make a new client."
    )


# --- projections --------------------------------------------------------------------------------------------


def _add_projection(request: dict[str, Any], target: Target, blob: Any, placeholders: Placeholders) -> None:
    if blob is None:
        return
    paths = target.projection = expressions.projection(blob)
    if any(type(element) is int for path in paths for element in path):
        checked = Placeholders()
        text = ", ".join([checked.path(path) for path in paths])
        check_projection(text, Scope(checked.names))
        paths = [(name,) for name in dict.fromkeys(path[0] for path in paths)]
    request["ProjectionExpression"] = ", ".join([placeholders.path(path) for path in paths])


# --- pages --------------------------------------------------------------------------------------------------


def _page(operation: str, key_condition: Any, arguments: list[Any], context: Context) -> Decoded:
    """Query and Scan."""
    table = kwargs.utf8(arguments[0])
    target = Target(table, context.schema_of(table))
    given = kwargs.parameters(operation, arguments[-1])
    if context.lenient_select and given.get(Parameter.SELECT) == kwargs.ALL_ATTRIBUTES:
        del given[Parameter.SELECT]
    request: dict[str, Any] = {"TableName": table, **kwargs.simple(given)}
    placeholders = Placeholders()
    if key_condition is not None:
        request["KeyConditionExpression"] = expressions.condition(key_condition, placeholders)
    if given.get(Parameter.FILTER) is not None:
        request["FilterExpression"] = expressions.condition(given[Parameter.FILTER], placeholders)
    _add_projection(request, target, given.get(Parameter.PROJECTION), placeholders)
    start = given.get(Parameter.START_KEY)
    if start is not None:
        request["ExclusiveStartKey"] = (
            _compound_key(start) if "IndexName" in request else keys.decode(target.schema, start)
        )
    placeholders.add_to(request)
    return Decoded(operation, request, (target,))


def _compound_key(blob: Any) -> dict[str, AttributeValue]:
    """A start key of an index: a blob with a map that holds the table's and the index's key attributes."""
    if type(blob) is not bytes:
        raise Malformed("a start key is expected to be a byte string")
    attributes = cbor.decode_whole(blob)
    if type(attributes) is not dict:
        raise Malformed("the start key of an index is expected to be a map")
    return values.document(attributes)


def _query(arguments: list[Any], context: Context) -> Decoded:
    return _page("Query", arguments[1], arguments, context)


def _scan(arguments: list[Any], context: Context) -> Decoded:
    return _page("Scan", None, arguments, context)


# --- batches ------------------------------------------------------------------------------------------------


def _by_table(argument: Any) -> list[tuple[str, list[Any]]]:
    if type(argument) is not dict:
        raise Malformed("a batch is expected to be a map from tables")
    tables = [(kwargs.utf8(table), request) for table, request in argument.items()]
    if any(type(request) is not list for _, request in tables):
        raise Malformed("a batch is expected to hold an array for each table")
    if sum(len(request) for _, request in tables) > _MAX_ACTIONS:
        raise validation_error("Too many items requested for a batch call")
    return tables


def _batch_get_item(arguments: list[Any], context: Context) -> Decoded:
    given = kwargs.parameters("BatchGetItem", arguments[1])
    items: dict[str, Any] = {}
    targets = []
    for table, request in _by_table(arguments[0]):
        if len(request) != 3 or type(request[2]) is not list:
            raise Malformed("a batch read is expected to be a flag, a projection and an array of keys")
        consistent, projection, encoded_keys = request
        if len(encoded_keys) > _MAX_ACTIONS:
            raise validation_error("Too many items requested for the BatchGetItem call")
        target = Target(table, context.schema_of(table))
        entry: dict[str, Any] = {"Keys": [keys.decode(target.schema, key) for key in encoded_keys]}
        if consistent is not None and kwargs.flag(consistent):
            entry["ConsistentRead"] = True
        placeholders = Placeholders()
        _add_projection(entry, target, projection, placeholders)
        placeholders.add_to(entry)
        items[table] = entry
        targets.append(target)
    return Decoded("BatchGetItem", {"RequestItems": items, **kwargs.simple(given)}, tuple(targets))


def _batch_write_item(arguments: list[Any], context: Context) -> Steps[Decoded]:
    given = kwargs.parameters("BatchWriteItem", arguments[1])
    items: dict[str, Any] = {}
    targets = []
    for table, flat in _by_table(arguments[0]):
        if len(flat) % 2:
            raise Malformed("a batch write is expected to hold pairs of a key and its values")
        schema = context.schema_of(table)
        writes = []
        for encoded_key, blob in zip(flat[::2], flat[1::2], strict=True):
            key = keys.decode(schema, encoded_key)
            if blob is None:
                writes.append({"DeleteRequest": {"Key": key}})
            else:
                writes.append({"PutRequest": {"Item": {**key, **item_values(blob, context.lists)}}})
                yield
        items[table] = writes
        targets.append(Target(table, schema))
    return Decoded("BatchWriteItem", {"RequestItems": items, **kwargs.simple(given)}, tuple(targets))


# --- transactions -------------------------------------------------------------------------------------------


def _parallel(arguments: list[Any], required: int) -> list[list[Any]]:
    """The arrays of a transaction, one element an action; those that may be null as a whole filled with
    null."""
    arrays: list[list[Any]] = []
    for position, argument in enumerate(arguments):
        if argument is None and position >= required:
            argument = [None] * len(arrays[0])
        if type(argument) is not list:
            raise Malformed("a transaction is expected to be parallel arrays")
        if len(argument) > _MAX_ACTIONS:
            raise validation_error("Member must have length less than or equal to 100")
        if arrays and len(argument) != len(arrays[0]):
            raise Malformed("the arrays of a transaction differ in length")
        arrays.append(argument)
    return arrays


def _transact_get_items(arguments: list[Any], context: Context) -> Decoded:
    given = kwargs.parameters("TransactGetItems", arguments[3])
    actions, targets = [], []
    for table_name, key, projection in zip(*_parallel(arguments[:3], required=2), strict=True):
        table = kwargs.utf8(table_name)
        target = Target(table, context.schema_of(table))
        get: dict[str, Any] = {"TableName": table, "Key": keys.decode(target.schema, key)}
        placeholders = Placeholders()
        _add_projection(get, target, projection, placeholders)
        placeholders.add_to(get)
        actions.append({"Get": get})
        targets.append(target)
    return Decoded("TransactGetItems", {"TransactItems": actions, **kwargs.simple(given)}, tuple(targets))


def _transact_write_items(arguments: list[Any], context: Context) -> Steps[Decoded]:
    given = kwargs.parameters("TransactWriteItems", arguments[8])
    if arguments[4] is not None and any(value is not None for value in _parallel([arguments[4]], 1)[0]):
        raise Malformed("a transaction returns no values")
    codes, tables, encoded_keys, blobs, on_failure, conditions, updates = _parallel(
        [*arguments[:4], *arguments[5:8]], required=3
    )
    actions, targets = [], []
    for position, code in enumerate(codes):
        kind = _ACTIONS.get(code) if type(code) is int else None
        if kind is None:
            raise Malformed(f"a transaction has an action of an unknown kind: {code!r}")
        table = kwargs.utf8(tables[position])
        schema = context.schema_of(table)
        action: dict[str, Any] = {"TableName": table}
        key = keys.decode(schema, encoded_keys[position])
        if code == PUT:
            action["Item"] = {**key, **item_values(blobs[position], context.lists)}
        elif blobs[position] is not None:
            raise Malformed(f"the action {kind} of a transaction takes no values")
        else:
            action["Key"] = key
        if (updates[position] is not None) != (code == UPDATE):
            raise Malformed("an update expression belongs to the action Update, and to no other")
        _add_expressions(action, conditions[position], updates[position])
        if on_failure[position] is not None:
            action["ReturnValuesOnConditionCheckFailure"] = _on_failure(on_failure[position])
        actions.append({kind: action})
        targets.append(Target(table, schema))
        yield
    return Decoded("TransactWriteItems", {"TransactItems": actions, **kwargs.simple(given)}, tuple(targets))


def _on_failure(value: Any) -> str:
    if type(value) is int and value in (1, 2):
        return "NONE" if value == 1 else "ALL_OLD"
    raise Malformed(f"an enumeration has no member {value!r}")


_DECODERS: Mapping[str, Callable[[list[Any], Context], Decoded]] = {
    "GetItem": _get_item,
    "PutItem": _put_item,
    "UpdateItem": _update_item,
    "DeleteItem": _delete_item,
    "Query": _query,
    "Scan": _scan,
    "BatchGetItem": _batch_get_item,
    "TransactGetItems": _transact_get_items,
}
_DECODERS_OF_MANY: Mapping[str, Callable[[list[Any], Context], Steps[Decoded]]] = {
    "BatchWriteItem": _batch_write_item,
    "TransactWriteItems": _transact_write_items,
}
