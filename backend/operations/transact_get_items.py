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
from backend.operations.cancellation import Reasons
from backend.operations.clauses import projection_of
from backend.operations.key_paths import check_projected_paths
from backend.operations.transactions import read_all, reported
from backend.protocol import Request, Response
from backend.tables.table import Table

if TYPE_CHECKING:
    from backend.engine import Engine

Plan = list[Projection | None]


def validate(request: Request) -> Plan:
    plan: Plan = []
    for member in request["TransactItems"]:
        normalise_item(member["Get"]["Key"])
        plan.append(projection_of(member["Get"]))
    return plan


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    rows, consumptions = read_all(engine, _keys(engine, request, plan))
    responses: list[dict[str, Any]] = []
    for row, projection in zip(rows, plan, strict=True):
        if row is None:
            responses.append({})
        else:
            responses.append({"Item": row[0] if projection is None else projection.apply(row[0])})
    return {"Responses": responses, **reported(request, consumptions, "ReadCapacityUnits")}


def _keys(engine: Engine, request: Request, plan: Plan) -> list[tuple[Table, bytes]]:
    gets = [member["Get"] for member in request["TransactItems"]]
    tables = [engine.catalog.get(get["TableName"]) for get in gets]
    reasons: Reasons = Reasons()
    keys = []
    for get, table, projection in zip(gets, tables, plan, strict=True):
        with reasons.of_next():
            keys.append((table, table.schema.encode(check_key(table.schema, get["Key"]))))
            check_projected_paths(table, projection)
    reasons.raise_if_any()
    return keys
