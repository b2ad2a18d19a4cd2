"""PutItem: create an item or replace it as a whole.

Public source: DynamoDB API Reference, "PutItem".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.expressions.conditions import Condition
from backend.model.sizes import check_item_size
from backend.model.values import normalise_and_measure
from backend.operations.accounting import charge_write, report_write
from backend.operations.clauses import condition_of
from backend.operations.writes import prepare_put
from backend.protocol import Request, Response
from backend.storage.base import Row
from backend.tables.table import commit
from backend.validation.rules import return_values_of_replaced_item

if TYPE_CHECKING:
    from backend.engine import Engine

Plan = tuple[Row, Condition | None]


def validate(request: Request) -> Plan:
    row = normalise_and_measure(request["Item"])
    return_values_of_replaced_item(request)
    check_item_size(row[1])
    return row, condition_of(request)


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    row, condition = plan
    table = engine.catalog.get(request["TableName"])
    write = prepare_put(engine, table, request, row, condition)
    charge_write(engine, write)
    commit(engine.storage, (write,), engine.now())
    answer: dict[str, Any] = {}
    if write.old is not None and request.get("ReturnValues") == "ALL_OLD":
        answer["Attributes"] = write.old[0]
    report_write(answer, request, write, row[0])
    return answer
