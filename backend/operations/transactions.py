"""Transactions, however they were worded: reads and writes of many items, all or none.

Rules: every action is judged against the state before the transaction; if one is refused, the transaction
is cancelled with a reason for each action and nothing is changed. All writes, with their indexes and the
client's token, are one storage transaction. Everything costs double. A repeated token answers like the first
call, and costs the reading of the items.
Public source: "Amazon DynamoDB Transactions: How it works" of the developer guide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backend.model.keys import encode
from backend.model.values import normalise_item
from backend.operations.accounting import capacity_mode, charge_read, charge_write, merge, reports
from backend.operations.cancellation import Reasons, check_distinct, check_total_size
from backend.protocol import Item, Request
from backend.storage.base import Row
from backend.tables.capacity import read_units
from backend.tables.consumption import Consumption
from backend.tables.table import Table, Write, commit

if TYPE_CHECKING:
    from backend.engine import Engine

FACTOR = 2.0


@dataclass(frozen=True, slots=True)
class Action:
    """One write or condition check, bound to its table.

    `key` holds the key attributes, unchecked. `prepare(factor)` judges the action against the item that is
    there and gives the `Write` to commit; a condition check gives one that changes nothing.
    """

    table: Table
    key: Item
    prepare: Callable[[float], Write]
    changes: bool = True


def write_all(
    engine: Engine, request: Request, actions: Sequence[Action], parameters: Sequence[Any]
) -> dict[str, Any]:
    """Make all writes or none; returns the ConsumedCapacity that `request` asks for, as part of the answer.

    `parameters` are what a ClientRequestToken stands for. Raises TransactionCanceledException, and
    IdempotentParameterMismatchException for a token that stood for something else.
    """
    token, now = request.get("ClientRequestToken"), engine.now()
    if token is not None and engine.tokens.is_replay(token, parameters, now):
        return _replayed(engine, request, actions)
    writes = _prepared(actions)
    consumptions: dict[str, Consumption] = {}
    reasons = Reasons()
    for write in writes:
        with reasons.of_next():
            charge_write(engine, write, FACTOR)
        merge(consumptions, Consumption.of(write, FACTOR))
    reasons.raise_if_any()

    def remember() -> None:
        if token is not None:
            engine.tokens.remember(token, parameters, now)

    changing = [write for write, action in zip(writes, actions, strict=True) if action.changes]
    commit(engine.storage, changing, now, also=remember)
    return reported(request, consumptions, "WriteCapacityUnits")


def read_all(
    engine: Engine, keys: Sequence[tuple[Table, bytes]]
) -> tuple[list[Row | None], dict[str, Consumption]]:
    """The rows under distinct keys as of one moment, charged."""
    check_distinct(keys)
    rows = [table.view(consistent=True).get(key) for table, key in keys]
    check_total_size(row[1] for row in rows if row is not None)
    return rows, _charged(engine, keys)


def reported(request: Request, consumptions: dict[str, Consumption], also_as: str) -> dict[str, Any]:
    """The ConsumedCapacity of a response, where the request asks for it."""
    mode = capacity_mode(request)
    if mode is None:
        return {}
    members = (parameters for member in request.get("TransactItems", ()) for parameters in member.values())
    names = [parameters["TableName"] for parameters in members]
    return {"ConsumedCapacity": reports(consumptions, mode, names, also_as)}


def _prepared(actions: Sequence[Action]) -> list[Write]:
    check_distinct(_keys(actions))
    reasons = Reasons()
    writes = []
    for action in actions:
        with reasons.of_next():
            writes.append(action.prepare(FACTOR))
    reasons.raise_if_any()
    check_total_size(
        max(write.new[1] if write.new else 0, write.old[1] if write.old and write.new is None else 0)
        for write in writes
    )
    return writes


def _keys(actions: Sequence[Action]) -> list[tuple[Table, bytes]]:
    """Storage keys of the actions whose key attributes are there; the others are refused when prepared."""
    keys = []
    for action in actions:
        schema = action.table.schema
        if all(attribute.type in action.key.get(attribute.name, ()) for attribute in schema.attributes):
            keys.append((action.table, encode(schema, normalise_item(action.key))))
    return keys


def _replayed(engine: Engine, request: Request, actions: Sequence[Action]) -> dict[str, Any]:
    return reported(request, _charged(engine, _keys(actions)), "ReadCapacityUnits")


def _charged(engine: Engine, keys: Sequence[tuple[Table, bytes]]) -> dict[str, Consumption]:
    """What reading the items costs, taken. Raises TransactionCanceledException where it is throttled."""
    consumptions: dict[str, Consumption] = {}
    reasons = Reasons()
    for table, key in keys:
        row = table.items.get(key)
        units = FACTOR * read_units(row[1] if row is not None else 0, consistent=True)
        with reasons.of_next():
            charge_read(engine, table, None, key, units)
        merge(consumptions, Consumption(table, units))
    reasons.raise_if_any()
    return consumptions
