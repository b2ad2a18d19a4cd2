"""SELECT: one item by its key, or pages of a table or an index like those of Query and Scan.

Rules:

* what `planner` makes of WHERE decides: partitions are read one after the other, anything else is a scan;
* a page counts rows evaluated, like Query and Scan, and ends by Limit, by size, or after ten partitions; then
  the answer has a NextToken, which is good for the same statement with the same parameters only;
* an index answers with what it projects; naming more reads the table behind a local index and is refused for
  a global one, as is filtering a keyed read by what an index does not project;
* a projected path is named by its last part.

Sources: "PartiQL select statements for DynamoDB" and "PartiQL operators" of the developer guide; the answers
and messages recorded on the live service by the public Parity Suite (partiql in tiers 2 and 3).
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import orjson

from backend.errors import validation_error
from backend.expressions import paths
from backend.model.keys import check_key
from backend.operations.accounting import charge_read
from backend.operations.pages import Source, answer_page, read_page, rows_between
from backend.partiql import ast, translate
from backend.partiql.planner import ReadPlan, attributes, key_range, primary_key, read_plan
from backend.partiql.targets import table_of
from backend.protocol import AttributeValue, Item, Request, Response
from backend.tables.capacity import read_units
from backend.tables.consumption import Consumption
from backend.tables.indexes import Index
from backend.tables.table import Table

if TYPE_CHECKING:
    from backend.engine import Engine

Parameters = Sequence[AttributeValue]

_PARTITIONS_PER_PAGE = 10
"""An answer to `pk IN [...]` stops after so many of its values."""


# One item


@dataclass(frozen=True, slots=True)
class PlannedRead:
    """A SELECT of one item, as batches and transactions take it."""

    table: Table
    key: bytes
    project: Callable[[Item], Item]

    def read(self, engine: Engine, consistent: bool) -> tuple[Item | None, Consumption]:
        """The item as projected, and what reading it cost."""
        row = self.table.view(consistent).get(self.key)
        units = read_units(row[1] if row is not None else 0, consistent)
        charge_read(engine, self.table, None, self.key, units)
        return (None if row is None else self.project(row[0])), Consumption(self.table, units)


def plan_read(engine: Engine, select: ast.Select, parameters: Parameters, within: str) -> PlannedRead:
    """Bind a SELECT whose WHERE is the primary key and nothing else.

    `within` names the operation that demands it. Raises `ServiceError`.
    """
    table = table_of(engine, select, parameters)
    if select.target.index is not None:
        _index_of(table, select.target.index)
    projected = _projected(select)
    found = primary_key(select.where, table.schema, parameters)
    if found is None or found[1] or select.target.index is not None or select.order_by:
        raise validation_error(
            f"Select statements within {within} must specify the primary key in the where clause."
        )
    key = table.schema.encode(check_key(table.schema, found[0]))
    return PlannedRead(table, key, _projector(projected))


# Pages


def select(engine: Engine, statement: ast.Select, parameters: Parameters, request: Request) -> Response:
    """The answer of ExecuteStatement to a SELECT. Raises `ServiceError`."""
    table = table_of(engine, statement, parameters)
    index = None if statement.target.index is None else _index_of(table, statement.target.index)
    if index is not None and index.is_global and request.get("ConsistentRead"):
        raise validation_error("Strongly consistent read is not supported on Global Secondary Indexes")
    projected = _projected(statement)
    source = Source(engine, {**request, "TableName": table.name, "IndexName": index and index.name})
    if projected is not None:
        source.check_projected(dict.fromkeys(path.attribute for path in projected))
    plan = read_plan(statement, source.schema, parameters)
    if plan.keyed and index is not None:
        _check_filter(plan, table, index)
    return _pages(engine, source, plan, _projector(projected), parameters, request)


def _index_of(table: Table, name: str) -> Index:
    index = table.indexes.get(name)
    if index is None:
        raise validation_error("The table does not have the specified index")
    if index.schema.is_multi_attribute:
        raise validation_error(
            "PartiQL statements cannot be executed on tables with multi-attribute HASH keys "
            "or multi-attribute RANGE keys."
        )
    return index


def _projected(select: ast.Select) -> tuple[ast.Path, ...] | None:
    """The paths to project; None for all attributes. Raises ValidationException for any other term."""
    if select.projection is None:
        return None
    projected = []
    for term in select.projection:
        if isinstance(term, ast.NotAPath):
            raise term.refusal()
        projected.append(term)
    return tuple(projected)


def _check_filter(plan: ReadPlan, table: Table, index: Index) -> None:
    if index.has_all_attributes():
        return
    held = {*table.schema.names, *index.schema.names, *index.definition.projection.non_key_attributes}
    named = dict.fromkeys(name for condition in plan.filter for name in attributes(condition))
    missing = [name for name in named if name not in held]
    if missing:
        raise validation_error(
            f"One or more parameter values were invalid: Secondary index {index.name} "
            f"does not project one or more filter attributes: [{', '.join(missing)}]"
        )


def _pages(
    engine: Engine,
    source: Source,
    plan: ReadPlan,
    project: Callable[[Item], Item],
    parameters: Parameters,
    request: Request,
) -> Response:
    """Read partitions (or scan) from where the token left off until something ends the page."""
    condition = translate.compiled(plan.filter, parameters)
    keep = None if condition is None else condition.matches
    ranges = _ranges(source, plan)
    digest = _digest(request)
    number, start = _position(request.get("NextToken"), digest, len(ranges))
    last_of_page = min(len(ranges), number + _PARTITIONS_PER_PAGE)
    limit: int | None = request.get("Limit")
    answer: dict[str, Any] = {"Items": []}
    size = 0
    while number < last_of_page:
        low, high = ranges[number]
        behind = None if start is None else source.storage_key(start)
        rows = rows_between(source.rows, low, high, behind, plan.forward)
        page = read_page(engine, source, rows, limit, keep, project)
        read = answer_page(engine, source, request, page, low or b"")
        answer["Items"] += read["Items"]
        if "ConsumedCapacity" in read:
            answer["ConsumedCapacity"] = _sum(answer.get("ConsumedCapacity"), read["ConsumedCapacity"])
        size += page.size
        limit = None if limit is None else limit - page.scanned
        start = read.get("LastEvaluatedKey")
        if start is not None:
            answer["LastEvaluatedKey"] = start
            break
        number += 1
        if size > engine.settings.page_bytes or limit == 0:
            break
    if number < len(ranges):
        answer["NextToken"] = _token(digest, number, start)
    return answer


def _ranges(source: Source, plan: ReadPlan) -> Sequence[tuple[bytes | None, bytes | None]]:
    """First storage key and the one behind the last, of each partition or of the whole scan."""
    if plan.partitions is None:
        return [(None, None)]
    return [key_range(source.schema, partition, plan.sort) for partition in plan.partitions]


def _sum(total: dict[str, Any] | None, more: dict[str, Any]) -> dict[str, Any]:
    """Two ConsumedCapacity structures of one table added up."""
    if total is None:
        return more
    return {
        name: _sum(total.get(name), amount)
        if isinstance(amount, dict)
        else amount
        if isinstance(amount, str)
        else total.get(name, 0.0) + amount
        for name, amount in {**total, **more}.items()
    }


# Projections


def _projector(projection: tuple[ast.Path, ...] | None) -> Callable[[Item], Item]:
    if projection is None:
        return lambda item: item
    getters = [(_column(path), paths.getter(translate.path(path))) for path in projection]

    def project(item: Item) -> Item:
        found = ((name, get(item, {})) for name, get in getters)
        return {name: value for name, value in found if value is not None}

    return project


def _column(path: ast.Path) -> str:
    """What a projected path is called: its last attribute, with the indexes behind it."""
    name = ""
    for part in path.parts:
        name = f"{name}[{part}]" if isinstance(part, int) else part
    return name


# Tokens


def _digest(request: Request) -> str:
    """What binds a token to its statement and parameters."""
    content = repr((request["Statement"], request.get("Parameters"))).encode()
    return blake2b(content, digest_size=12).hexdigest()


def _token(digest: str, number: int, start: Item | None) -> str:
    content = {"statement": digest, "range": number, "start": None if start is None else _portable(start)}
    return urlsafe_b64encode(orjson.dumps(content)).decode()


def _position(token: str | None, digest: str, ranges: int) -> tuple[int, Item | None]:
    """The range to go on in and the key to go on behind. Raises `ValidationException` for a foreign token."""
    if token is None:
        return 0, None
    try:
        content = orjson.loads(urlsafe_b64decode(token))
        number, start = int(content["range"]), content["start"]
        matches = content["statement"] == digest and 0 <= number < ranges
        found = None if start is None else _from_portable(start)
    except (Base64Error, ValueError, TypeError, KeyError, AttributeError):
        raise validation_error("Invalid NextToken") from None
    if not matches:
        raise validation_error("NextToken does not match request")
    return number, found


def _portable(key: Item) -> dict[str, dict[str, str]]:
    """A key with its binaries as hexadecimal text, for JSON."""
    return {
        name: {kind: content.hex() if kind == "B" else content for kind, content in value.items()}
        for name, value in key.items()
    }


def _from_portable(key: dict[str, dict[str, str]]) -> Item:
    return {
        name: {kind: bytes.fromhex(content) if kind == "B" else content for kind, content in value.items()}
        for name, value in key.items()
    }
