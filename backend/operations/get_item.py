"""GetItem: one item by its primary key.

The response has no Item when there is none. Public source: DynamoDB API Reference, "GetItem".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.expressions.projections import Projection
from backend.model.keys import check_key
from backend.model.values import normalise_item
from backend.operations.accounting import capacity_mode, charge_read
from backend.operations.clauses import projection_of
from backend.operations.key_paths import check_projected_paths
from backend.protocol import Request, Response
from backend.tables.capacity import read_units
from backend.tables.consumption import Consumption
from backend.validation.rules import attributes_to_get_once

if TYPE_CHECKING:
    from backend.engine import Engine

Plan = Projection | None


def validate(request: Request) -> Plan:
    normalise_item(request["Key"])
    attributes_to_get_once(request)
    return projection_of(request)


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    table = engine.catalog.get(request["TableName"])
    key = table.schema.encode(check_key(table.schema, request["Key"]))
    check_projected_paths(table, plan)
    consistent = request.get("ConsistentRead") is True
    row = table.view(consistent).get(key)
    units = read_units(row[1] if row is not None else 0, consistent)
    charge_read(engine, table, None, key, units)
    answer: dict[str, Any] = {}
    if row is not None:
        answer["Item"] = row[0] if plan is None else plan.apply(row[0])
    mode = capacity_mode(request)
    if mode is not None:
        answer["ConsumedCapacity"] = Consumption(table, units).report(mode, request["TableName"])
    return answer
