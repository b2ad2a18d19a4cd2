"""TransactWriteItems: up to 100 puts, updates, deletes and condition checks of several tables, all or none.

Rules: every action is judged against the state before the transaction; if one is refused, the transaction is
cancelled with a reason for each action and nothing is changed. All writes, with their indexes and the
client's token, are one storage transaction. Writes cost double. A repeated token answers like the first
call, and costs the reading of the items. Public source: DynamoDB API Reference, "TransactWriteItems".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from backend.expressions.conditions import Condition
from backend.expressions.updates import Update
from backend.model.keys import check_key, encode
from backend.model.sizes import check_item_size
from backend.model.values import normalise_item
from backend.operations.accounting import capacity_mode, charge_read, charge_write, merge
from backend.operations.batch_write_item import metrics_by_table
from backend.operations.cancellation import Reasons, check_distinct, check_total_size
from backend.operations.clauses import condition_of, update_and_condition_of
from backend.operations.writes import prepare_delete, prepare_put, prepare_update, refused
from backend.protocol import Item, Request, Response
from backend.storage.base import Row
from backend.tables.capacity import Consumption, read_units
from backend.tables.table import Table, Write, commit, partition_of

if TYPE_CHECKING:
    from backend.engine import Engine

FACTOR = 2.0


class _Action:
    """One member of TransactItems: its parameters, and how to prepare it once its table is known."""

    __slots__ = ("condition", "kind", "parameters", "row", "update")

    def __init__(self, kind: str, parameters: Request) -> None:
        self.kind = kind
        self.parameters = parameters
        self.row: Row | None = None
        self.update: Update | None = None
        self.condition: Condition | None
        if kind == "Put":
            item = normalise_item(parameters["Item"])
            self.row = (item, check_item_size(item))
        else:
            normalise_item(parameters["Key"])
        if kind == "Update":
            self.update, self.condition = update_and_condition_of(parameters)
        else:
            self.condition = condition_of(parameters)

    @property
    def key_holder(self) -> Item:
        """What holds the key attributes: the item to put, or the key."""
        holder: Item = self.row[0] if self.row is not None else self.parameters["Key"]
        return holder

    def prepare(self, engine: Engine, table: Table) -> Write:
        if self.row is not None:
            return prepare_put(engine, table, self.parameters, self.row, self.condition, FACTOR)
        if self.kind == "Update":
            return prepare_update(engine, table, self.parameters, self.update, self.condition, FACTOR)
        if self.kind == "Delete":
            return prepare_delete(engine, table, self.parameters, self.condition, FACTOR)
        return _prepare_check(engine, table, self.parameters, self.condition)


Plan = list[_Action]


def validate(request: Request) -> Plan:
    return [
        _Action(kind, parameters)
        for member in request["TransactItems"]
        for kind, parameters in member.items()
    ]


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    now = engine.now()
    tables = {name: engine.catalog.get(name) for name in (action.parameters["TableName"] for action in plan)}
    token = request.get("ClientRequestToken")
    if token is not None and engine.tokens.is_replay(token, request["TransactItems"], now):
        return _replayed(engine, request, plan, tables)
    writes = _prepare(engine, plan, tables)
    consumptions: dict[str, Consumption] = {}
    reasons = Reasons()
    for write in writes:
        with reasons.of_next():
            charge_write(engine, write, FACTOR)
        merge(consumptions, write.consumption(FACTOR))
    reasons.raise_if_any()
    changing = [write for write, action in zip(writes, plan, strict=True) if action.kind != "ConditionCheck"]
    remember: Callable[[], None] | None = None
    if token is not None:
        remember = lambda: engine.tokens.remember(token, request["TransactItems"], now)  # noqa: E731
    commit(engine.storage, changing, now, also=remember)
    answer: dict[str, Any] = {}
    mode = capacity_mode(request)
    if mode is not None:
        answer["ConsumedCapacity"] = [
            one.report(mode, also_as="WriteCapacityUnits") for one in consumptions.values()
        ]
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        keys = [(action.parameters["TableName"], action.key_holder) for action in plan]
        metrics = metrics_by_table(tables, keys)
        if metrics:
            answer["ItemCollectionMetrics"] = metrics
    return answer


def _prepare(engine: Engine, plan: Plan, tables: dict[str, Table]) -> list[Write]:
    check_distinct(_keys(plan, tables))
    reasons = Reasons()
    writes = []
    for action in plan:
        with reasons.of_next():
            writes.append(action.prepare(engine, tables[action.parameters["TableName"]]))
    reasons.raise_if_any()
    check_total_size(
        max(write.new[1] if write.new else 0, write.old[1] if write.old and write.new is None else 0)
        for write in writes
    )
    return writes


def _keys(plan: Plan, tables: dict[str, Table]) -> list[tuple[Table, bytes]]:
    """Storage keys of the actions whose key attributes are there; the others are refused when they are
    prepared."""
    keys = []
    for action in plan:
        table = tables[action.parameters["TableName"]]
        holder = action.key_holder
        if all(one.type in holder.get(one.name, ()) for one in table.schema.attributes):
            keys.append((table, encode(table.schema, normalise_item(holder))))
    return keys


def _prepare_check(engine: Engine, table: Table, parameters: Request, condition: Condition | None) -> Write:
    """A condition check is metered like a write of the item that is there."""
    key = encode(table.schema, check_key(table.schema, parameters["Key"]))
    old = table.items.get(key)
    if condition is not None and not condition.matches(None if old is None else old[0]):
        raise refused(engine, table, key, old, parameters, FACTOR)
    return Write(table, key, old, old)


def _replayed(engine: Engine, request: Request, plan: Plan, tables: dict[str, Table]) -> Response:
    consumptions: dict[str, Consumption] = {}
    for table, key in _keys(plan, tables):
        row = table.items.get(key)
        units = FACTOR * read_units(row[1] if row is not None else 0, consistent=True)
        charge_read(engine, table, None, partition_of(key), units)
        merge(consumptions, Consumption(table, units))
    answer: dict[str, Any] = {}
    mode = capacity_mode(request)
    if mode is not None:
        answer["ConsumedCapacity"] = [
            one.report(mode, also_as="ReadCapacityUnits") for one in consumptions.values()
        ]
    return answer
