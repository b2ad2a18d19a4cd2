"""TransactGetItems: up to 100 items of several tables, as of one moment.

Rules: one answer for each request, in order, without Item where there is none; an item may be asked for once;
every read costs double a strongly consistent one. A key that does not fit its table cancels the transaction.
Public source: DynamoDB API Reference, "TransactGetItems".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.expressions.projections import Projection
from backend.model.keys import check_key
from backend.model.values import normalise_item
from backend.operations.accounting import capacity_mode, charge_read, merge
from backend.operations.cancellation import Reasons, check_distinct, check_total_size
from backend.operations.clauses import projection_of
from backend.protocol import Request, Response
from backend.storage.base import Row
from backend.tables.capacity import Consumption, read_units
from backend.tables.table import Table, partition_of

if TYPE_CHECKING:
    from backend.engine import Engine

Plan = list[Projection | None]
FACTOR = 2


def validate(request: Request) -> Plan:
    plan: Plan = []
    for member in request["TransactItems"]:
        normalise_item(member["Get"]["Key"])
        plan.append(projection_of(member["Get"]))
    return plan


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    keys = _keys(engine, request)
    rows: list[Row | None] = [table.view(consistent=True).get(key) for table, key in keys]
    check_total_size(row[1] for row in rows if row is not None)
    consumptions: dict[str, Consumption] = {}
    responses: list[dict[str, Any]] = []
    for (table, key), row, projection in zip(keys, rows, plan, strict=True):
        units = FACTOR * read_units(row[1] if row is not None else 0, consistent=True)
        charge_read(engine, table, None, partition_of(key), units)
        merge(consumptions, Consumption(table, units))
        if row is None:
            responses.append({})
        else:
            responses.append({"Item": row[0] if projection is None else projection.apply(row[0])})
    answer: dict[str, Any] = {"Responses": responses}
    mode = capacity_mode(request)
    if mode is not None:
        answer["ConsumedCapacity"] = [
            one.report(mode, also_as="ReadCapacityUnits") for one in consumptions.values()
        ]
    return answer


def _keys(engine: Engine, request: Request) -> list[tuple[Table, bytes]]:
    gets = [member["Get"] for member in request["TransactItems"]]
    tables = [engine.catalog.get(get["TableName"]) for get in gets]
    reasons: Reasons = Reasons()
    keys = []
    for get, table in zip(gets, tables, strict=True):
        with reasons.of_next():
            keys.append((table, table.schema.encode(check_key(table.schema, get["Key"]))))
    reasons.raise_if_any()
    check_distinct(keys)
    return keys
