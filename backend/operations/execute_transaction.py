"""ExecuteTransaction: up to 100 PartiQL statements, all reads of one item or all writes, as one transaction.

Rules: as TransactGetItems and TransactWriteItems. Statements are judged in order before any item is looked
at: what is wrong with one is told with its number. EXISTS is a condition check among writes. Reads answer
with one member each, writes with none. Public source: DynamoDB API Reference, "ExecuteTransaction".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from backend.errors import ServiceError, validation_error
from backend.operations.transactions import Action, read_all, reported, write_all
from backend.partiql import ast
from backend.partiql.parser import parse
from backend.partiql.reads import plan_read
from backend.partiql.values import bind
from backend.partiql.writes import plan_write
from backend.protocol import AttributeValue, Request, Response

if TYPE_CHECKING:
    from backend.engine import Engine

Plan = list[tuple[ast.Statement, tuple[AttributeValue, ...]]]


def validate(request: Request) -> Plan:
    plan: Plan = []
    for number, member in enumerate(request["TransactStatements"]):
        with _numbered(number):
            parsed = parse(member["Statement"])
            if getattr(parsed.statement, "returning", None) is not None:
                raise validation_error("RETURNING clause is not supported in ExecuteTransaction.")
        plan.append((parsed.statement, bind(parsed, member.get("Parameters"))))
    if len({isinstance(statement, ast.Select) for statement, _ in plan}) > 1:
        raise validation_error(
            "The transaction must consist of either read statements or write statements only"
        )
    return plan


@contextmanager
def _numbered(number: int) -> Iterator[None]:
    """Say which statement a refusal is about."""
    try:
        yield
    except ServiceError as refusal:
        if refusal.code != "ValidationException":
            raise
        raise validation_error(
            f"Validation failed in TransactStatements[{number}]: {refusal.message}"
        ) from None


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    reads = isinstance(plan[0][0], ast.Select)
    return _read(engine, request, plan) if reads else _write(engine, request, plan)


def _read(engine: Engine, request: Request, plan: Plan) -> Response:
    reads = []
    for number, (statement, parameters) in enumerate(plan):
        assert isinstance(statement, ast.Select), "reads and writes do not mix"
        with _numbered(number):
            if statement.target.index is not None:
                raise validation_error("Reads on indices are not supported within transactions.")
            reads.append(plan_read(engine, statement, parameters, "ExecuteTransaction"))
    rows, consumptions = read_all(engine, [(read.table, read.key) for read in reads])
    responses = [
        {} if row is None else {"Item": read.project(row[0])} for read, row in zip(reads, rows, strict=True)
    ]
    return {"Responses": responses, **reported(request, consumptions, "ReadCapacityUnits")}


def _write(engine: Engine, request: Request, plan: Plan) -> Response:
    actions: list[Action] = []
    members = request["TransactStatements"]
    for number, ((statement, parameters), member) in enumerate(zip(plan, members, strict=True)):
        assert not isinstance(statement, ast.Select), "reads and writes do not mix"
        with _numbered(number):
            actions.append(plan_write(engine, statement, parameters, member))
    return {"Responses": [], **write_all(engine, request, actions, members)}
