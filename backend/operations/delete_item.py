"""DeleteItem: remove an item by its primary key; removing nothing succeeds.

Public source: DynamoDB API Reference, "DeleteItem".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.expressions.conditions import Condition
from backend.model.values import normalise_item
from backend.operations.accounting import charge_write, report_write
from backend.operations.clauses import condition_of
from backend.operations.writes import prepare_delete
from backend.protocol import Request, Response
from backend.tables.table import commit
from backend.validation.rules import return_values_of_replaced_item

if TYPE_CHECKING:
    from backend.engine import Engine

Plan = Condition | None


def validate(request: Request) -> Plan:
    normalise_item(request["Key"])
    return_values_of_replaced_item(request)
    return condition_of(request)


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    table = engine.catalog.get(request["TableName"])
    write = prepare_delete(engine, table, request, plan)
    charge_write(engine, write)
    commit(engine.storage, (write,), engine.now())
    answer: dict[str, Any] = {}
    if write.old is not None and request.get("ReturnValues") == "ALL_OLD":
        answer["Attributes"] = write.old[0]
    report_write(answer, request, write, request["Key"])
    return answer
