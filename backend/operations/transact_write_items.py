"""TransactWriteItems: up to 100 puts, updates, deletes and condition checks of several tables, all or none.

Public source: DynamoDB API Reference, "TransactWriteItems".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.expressions.conditions import Condition
from backend.expressions.updates import Update
from backend.model.keys import check_key, encode
from backend.model.sizes import check_item_size
from backend.model.values import normalise_and_measure, normalise_item
from backend.operations.batch_write_item import metrics_by_table
from backend.operations.clauses import condition_of, update_and_condition_of
from backend.operations.transactions import Action, write_all
from backend.operations.writes import prepare_delete, prepare_put, prepare_update, refused
from backend.protocol import Item, Request, Response
from backend.storage.base import Row
from backend.tables.table import Table, Write

if TYPE_CHECKING:
    from backend.engine import Engine


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
            self.row = normalise_and_measure(parameters["Item"])
            check_item_size(self.row[1])
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

    def bind(self, engine: Engine, table: Table) -> Action:
        def prepare(factor: float) -> Write:
            return self._prepare(engine, table, factor)

        return Action(table, self.key_holder, prepare, changes=self.kind != "ConditionCheck")

    def _prepare(self, engine: Engine, table: Table, factor: float) -> Write:
        if self.row is not None:
            return prepare_put(engine, table, self.parameters, self.row, self.condition, factor)
        if self.kind == "Update":
            return prepare_update(engine, table, self.parameters, self.update, self.condition, factor)
        if self.kind == "Delete":
            return prepare_delete(engine, table, self.parameters, self.condition, factor)
        return _prepare_check(engine, table, self.parameters, self.condition, factor)


Plan = list[_Action]


def validate(request: Request) -> Plan:
    return [
        _Action(kind, parameters)
        for member in request["TransactItems"]
        for kind, parameters in member.items()
    ]


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    tables = {name: engine.catalog.get(name) for name in (action.parameters["TableName"] for action in plan)}
    actions = [action.bind(engine, tables[action.parameters["TableName"]]) for action in plan]
    answer = write_all(engine, request, actions, request["TransactItems"])
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        keys = [(action.parameters["TableName"], action.key_holder) for action in plan]
        metrics = metrics_by_table(tables, keys)
        if metrics:
            answer["ItemCollectionMetrics"] = metrics
    return answer


def _prepare_check(
    engine: Engine, table: Table, parameters: Request, condition: Condition | None, factor: float
) -> Write:
    """A condition check is metered like a write of the item that is there."""
    key = encode(table.schema, check_key(table.schema, parameters["Key"]))
    old = table.items.get(key)
    if condition is not None and not condition.matches(None if old is None else old[0]):
        raise refused(engine, table, key, old, parameters, factor)
    return Write(table, key, old, old)
