"""BatchExecuteStatement: up to 25 PartiQL statements, all reads of one item or all writes, each for itself.

Rules: a statement that fails has its Error in its place and the others go on; only a batch that mixes reads
and writes fails as a whole. A SELECT names the primary key and nothing else in its WHERE.
Public source: DynamoDB API Reference, "BatchExecuteStatement" and "BatchStatementError".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.errors import ServiceError, validation_error
from backend.operations.accounting import capacity_mode, charge_write, merge
from backend.partiql import ast
from backend.partiql.parser import parse
from backend.partiql.reads import plan_read
from backend.partiql.values import bind
from backend.partiql.writes import plan_write
from backend.protocol import Request, Response
from backend.tables.consumption import Consumption
from backend.tables.table import commit

if TYPE_CHECKING:
    from backend.engine import Engine

# What an exception is called as the Code of a BatchStatementError; anything else is an InternalServerError.
_CODES = {
    "AccessDeniedException": "AccessDenied",
    "ConditionalCheckFailedException": "ConditionalCheckFailed",
    "DuplicateItemException": "DuplicateItem",
    "ItemCollectionSizeLimitExceededException": "ItemCollectionSizeLimitExceeded",
    "ProvisionedThroughputExceededException": "ProvisionedThroughputExceeded",
    "RequestLimitExceeded": "RequestLimitExceeded",
    "ResourceNotFoundException": "ResourceNotFound",
    "ThrottlingException": "ThrottlingError",
    "TransactionConflictException": "TransactionConflict",
    "ValidationException": "ValidationError",
}

Plan = list[ast.Parsed | ServiceError]


def validate(request: Request) -> Plan:
    plan: Plan = []
    for member in request["Statements"]:
        try:
            parsed = parse(member["Statement"])
            if isinstance(parsed.statement, ast.Exists):
                raise validation_error("EXISTS() is only supported in ExecuteTransaction")
            plan.append(parsed)
        except ServiceError as refusal:
            plan.append(refusal)
    reads = {isinstance(one.statement, ast.Select) for one in plan if isinstance(one, ast.Parsed)}
    if len(reads) > 1:
        raise validation_error("The batch must consist of either read statements or write statements only")
    return plan


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    consumptions: dict[str, Consumption] = {}
    responses = [
        _response(engine, member, planned, consumptions)
        for member, planned in zip(request["Statements"], plan, strict=True)
    ]
    answer: dict[str, Any] = {"Responses": responses}
    mode = capacity_mode(request)
    if mode is not None:
        answer["ConsumedCapacity"] = [one.report(mode) for one in consumptions.values()]
    return answer


def _response(
    engine: Engine, member: Request, planned: ast.Parsed | ServiceError, consumptions: dict[str, Consumption]
) -> dict[str, Any]:
    """One statement's place in the response."""
    try:
        if isinstance(planned, ServiceError):
            raise planned
        return _execute(engine, member, planned, consumptions)
    except ServiceError as refusal:
        code = _CODES.get(refusal.code, "InternalServerError")
        item = {"Item": refusal.fields["Item"]} if "Item" in refusal.fields else {}
        error = {"Code": code, "Message": refusal.message, **item}
        if code in ("ValidationError", "ResourceNotFound") or isinstance(planned, ServiceError):
            return {"Error": error}
        return {"Error": error, "TableName": _target(planned.statement).table}


def _execute(
    engine: Engine, member: Request, parsed: ast.Parsed, consumptions: dict[str, Consumption]
) -> dict[str, Any]:
    parameters = bind(parsed, member.get("Parameters"))
    statement = parsed.statement
    if isinstance(statement, ast.Select):
        read = plan_read(engine, statement, parameters, "BatchExecuteStatement")
        item, consumption = read.read(engine, bool(member.get("ConsistentRead")))
        merge(consumptions, consumption)
        found = [] if item is None else [item]
        table = read.table
    else:
        planned = plan_write(engine, statement, parameters, member)
        write = planned.prepare(1.0)
        charge_write(engine, write)
        commit(engine.storage, (write,), engine.now())
        merge(consumptions, Consumption.of(write))
        found = planned.returned(write)
        table = planned.table
    return {"TableName": table.name, "Item": found[0]} if found else {"TableName": table.name}


def _target(statement: ast.Statement) -> ast.Target:
    return statement.select.target if isinstance(statement, ast.Exists) else statement.target
