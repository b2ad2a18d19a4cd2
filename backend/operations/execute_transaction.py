"""ExecuteTransaction: up to 100 PartiQL statements, all reads of one item or all writes, as one transaction.

Rules: as TransactGetItems and TransactWriteItems. Statements are judged in order before any item is looked
at: what is wrong with one is told with its number. EXISTS is a condition check among writes. Reads answer
with one member each, writes with none. Public source: DynamoDB API Reference, "ExecuteTransaction".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from backend.errors import ServiceError, validation_error
from backend.model.keys import encode
from backend.model.values import normalise_item
from backend.operations.accounting import capacity_mode, charge_read, charge_write, merge
from backend.operations.cancellation import Reasons, check_distinct, check_total_size
from backend.partiql import ast
from backend.partiql.parser import parse
from backend.partiql.reads import plan_read
from backend.partiql.values import bind
from backend.partiql.writes import PlannedWrite, plan_write
from backend.protocol import AttributeValue, Request, Response
from backend.tables.capacity import Consumption, read_units
from backend.tables.table import Table, commit, partition_of

if TYPE_CHECKING:
    from backend.engine import Engine

FACTOR = 2.0

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
    check_distinct((read.table, read.key) for read in reads)
    found = [read.item(consistent=True) for read in reads]
    check_total_size(row[1] for _, row in found if row is not None)
    consumptions: dict[str, Consumption] = {}
    for read, (_, row) in zip(reads, found, strict=True):
        merge(consumptions, read.charge(engine, row, consistent=True, factor=FACTOR))
    responses = [{} if item is None else {"Item": item} for item, _ in found]
    return _answer(request, responses, consumptions, "ReadCapacityUnits")


def _write(engine: Engine, request: Request, plan: Plan) -> Response:
    planned: list[PlannedWrite] = []
    for number, ((statement, parameters), member) in enumerate(
        zip(plan, request["TransactStatements"], strict=True)
    ):
        assert not isinstance(statement, ast.Select), "reads and writes do not mix"
        with _numbered(number):
            planned.append(plan_write(engine, statement, parameters, member))
    token, now = request.get("ClientRequestToken"), engine.now()
    statements = request["TransactStatements"]
    if token is not None and engine.tokens.is_replay(token, statements, now):
        return _replayed(engine, request, planned)
    check_distinct(_keys(planned))
    reasons = Reasons()
    writes = []
    for one in planned:
        with reasons.of_next():
            writes.append(one.prepare(FACTOR))
    reasons.raise_if_any()
    check_total_size(
        max(write.new[1] if write.new else 0, write.old[1] if write.old and write.new is None else 0)
        for write in writes
    )
    consumptions: dict[str, Consumption] = {}
    reasons = Reasons()
    for write in writes:
        with reasons.of_next():
            charge_write(engine, write, FACTOR)
        merge(consumptions, write.consumption(FACTOR))
    reasons.raise_if_any()
    changing = [write for write, one in zip(writes, planned, strict=True) if one.changes]

    def remember() -> None:
        if token is not None:
            engine.tokens.remember(token, statements, now)

    commit(engine.storage, changing, now, also=remember)
    return _answer(request, [], consumptions, "WriteCapacityUnits")


def _keys(planned: list[PlannedWrite]) -> list[tuple[Table, bytes]]:
    """Storage keys of the writes whose key attributes are there; the others are refused when prepared."""
    keys = []
    for one in planned:
        schema = one.table.schema
        if all(attribute.type in one.key.get(attribute.name, ()) for attribute in schema.attributes):
            keys.append((one.table, encode(schema, normalise_item(one.key))))
    return keys


def _replayed(engine: Engine, request: Request, planned: list[PlannedWrite]) -> Response:
    """The answer to a token seen before: nothing is written, the items are read."""
    consumptions: dict[str, Consumption] = {}
    for table, key in _keys(planned):
        row = table.items.get(key)
        units = FACTOR * read_units(row[1] if row is not None else 0, consistent=True)
        charge_read(engine, table, None, partition_of(key), units)
        merge(consumptions, Consumption(table, units))
    return _answer(request, [], consumptions, "ReadCapacityUnits")


def _answer(
    request: Request, responses: list[dict[str, Any]], consumptions: dict[str, Consumption], also_as: str
) -> Response:
    answer: dict[str, Any] = {"Responses": responses}
    mode = capacity_mode(request)
    if mode is not None:
        answer["ConsumedCapacity"] = [one.report(mode, also_as=also_as) for one in consumptions.values()]
    return answer
