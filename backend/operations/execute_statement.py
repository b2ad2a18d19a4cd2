"""ExecuteStatement: one PartiQL statement, a page of a SELECT or a single write.

A write answers with an empty list of items unless RETURNING asks for some. Only a transaction takes EXISTS.
Public source: DynamoDB API Reference, "ExecuteStatement".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from backend.errors import validation_error
from backend.operations.accounting import capacity_mode, charge_write
from backend.partiql import ast
from backend.partiql.parser import parse
from backend.partiql.reads import select
from backend.partiql.values import bind
from backend.partiql.writes import plan_write
from backend.protocol import AttributeValue, Request, Response
from backend.tables.consumption import Consumption
from backend.tables.table import commit

if TYPE_CHECKING:
    from backend.engine import Engine


class Plan(NamedTuple):
    statement: ast.Statement
    parameters: tuple[AttributeValue, ...]


def validate(request: Request) -> Plan:
    parsed = parse(request["Statement"])
    if isinstance(parsed.statement, ast.Exists):
        raise validation_error("EXISTS() is only supported in ExecuteTransaction")
    return Plan(parsed.statement, bind(parsed, request.get("Parameters")))


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    statement, parameters = plan
    if isinstance(statement, ast.Select):
        return select(engine, statement, parameters, request)
    if request.get("NextToken") is not None:
        raise validation_error("NextToken does not match request")
    planned = plan_write(engine, statement, parameters, request)
    write = planned.prepare(1.0)
    charge_write(engine, write)
    commit(engine.storage, (write,), engine.now())
    answer: dict[str, Any] = {"Items": planned.returned(write)}
    mode = capacity_mode(request)
    if mode is not None:
        answer["ConsumedCapacity"] = Consumption.of(write).report(mode)
    return answer
