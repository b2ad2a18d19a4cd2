"""How Query and Scan read: one page of rows of a table or an index, from a starting key, filtered and
projected.

Rules (DynamoDB Developer Guide, "Paginating table query results" and "Read consistency"):

* Limit counts the rows evaluated, before the filter; a page that ends by Limit or by size has a
  LastEvaluatedKey, even when nothing is left behind it;
* a page ends with the row that makes the stored size read exceed 1 MB, and that row is part of it;
* LastEvaluatedKey is the key of the last row evaluated: of an index, the keys of index and table together;
* a local index serves attributes it does not project by reading the table, and pays for each such item;
* capacity is rounded once, on the sum of the sizes read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from backend.errors import ServiceError, validation_error
from backend.model.keys import KeySchema, index_tail, key_mismatch
from backend.model.values import normalise
from backend.operations.accounting import capacity_mode, charge_reads
from backend.protocol import Item, Request, Response
from backend.storage.base import OrderedMap, Row
from backend.tables.capacity import read_units
from backend.tables.consumption import Consumption
from backend.tables.indexes import Index
from backend.tables.limiter import Demand
from backend.tables.table import Table

if TYPE_CHECKING:
    from backend.engine import Engine

_INVALID_START = "The provided starting key is invalid"
_MISMATCH = f"{_INVALID_START}: The provided key element does not match the schema"
_OWN_WORDS = (
    "One or more parameter values were invalid: Input collection",
    "Input collection",
    "The parameter cannot",
    "Number ",
)


_MAX_SHARES = 16
"""A page is charged to the partitions of its rows in so many shares at most."""


class Source:
    """What a request reads from: a table or one of its indexes, and what it wants of each row."""

    __slots__ = ("consistent", "fetches", "index", "rows", "schema", "select", "table")

    def __init__(self, engine: Engine, request: Request) -> None:
        now = engine.now()
        self.table: Table = engine.catalog.get(request["TableName"])
        self.consistent = bool(request.get("ConsistentRead"))
        self.select: str | None = request.get("Select")
        name = request.get("IndexName")
        self.index: Index | None = None if name is None else self.table.index(name, now)
        if self.index is None:
            self.schema = self.table.schema
            self.rows = self.table.view(self.consistent)
            self.fetches = False
            return
        if self.index.is_global and self.consistent:
            raise validation_error("Consistent reads are not supported on global secondary indexes")
        self.schema = self.index.schema
        self.rows = self.table.index_view(self.index, now, self.consistent)
        self.fetches = self.select == "ALL_ATTRIBUTES" and not self.index.has_all_attributes()

    def check_projected(self, names: Iterable[str]) -> None:
        """Judge what is asked for against the index: all attributes, or the top-level `names` of a
        projection.

        A global index has only what it projects; a local one fetches the rest. Raises ValidationException.
        """
        index = self.index
        if index is None or index.has_all_attributes():
            return
        if self.fetches and index.is_global:
            raise validation_error(
                "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported "
                f"for global secondary index {index.name} because its projection type is not ALL"
            )
        held = {
            *self.table.schema.names,
            *index.schema.names,
            *index.definition.projection.non_key_attributes,
        }
        missing = [name for name in names if name not in held]
        if not missing:
            return
        if index.is_global:
            raise validation_error(
                "One or more parameter values were invalid: Global secondary index "
                f"{index.name} does not project [{', '.join(missing)}]"
            )
        self.fetches = True

    @property
    def key_names(self) -> tuple[str, ...]:
        """The attributes of a LastEvaluatedKey, and of an ExclusiveStartKey."""
        if self.index is None:
            return self.table.schema.names
        return tuple(dict.fromkeys((*self.index.schema.names, *self.table.schema.names)))

    def storage_key(self, start: Item) -> bytes:
        """Where a complete starting key stands among the rows."""
        key = self.schema.encode(start)
        return key if self.index is None else key + index_tail(self.table.schema.encode(start))

    def fetch(self, row: Row) -> Row | None:
        """The whole item behind a row of a local index."""
        return self.table.behind(self.rows).get(self.table.schema.encode(row[0]))


def check_select(request: Request) -> None:
    """Refuse a Select that contradicts the projection or the lack of an index."""
    select = request.get("Select")
    if select is None:
        return
    projection = next(
        (name for name in ("ProjectionExpression", "AttributesToGet") if request.get(name) is not None), None
    )
    if select == "SPECIFIC_ATTRIBUTES":
        if projection is None:
            raise validation_error(
                "Must specify the AttributesToGet or ProjectionExpression "
                "when choosing to get SPECIFIC_ATTRIBUTES"
            )
    elif projection is not None:
        chosen = "only the Count" if select == "COUNT" else select
        raise validation_error(f"Cannot specify the {projection} when choosing to get {chosen}")
    if select == "ALL_PROJECTED_ATTRIBUTES" and request.get("IndexName") is None:
        raise validation_error("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")


def start_key_of(request: Request) -> Item | None:
    """ExclusiveStartKey with canonical values. Raises ValidationException as the service words it there."""
    start = request.get("ExclusiveStartKey")
    if start is None:
        return None
    try:
        return {name: normalise(value) for name, value in start.items()}
    except ServiceError as error:
        message = error.message or ""
        if message.startswith(_OWN_WORDS) or "number set" in message or "significant digits" in message:
            raise
        raise validation_error(f"{_INVALID_START}: {message}") from None


def check_start_partition(source: Source, start: Item) -> None:
    """Refuse a starting key that has not the shape of one, or whose partition key has a wrong type."""
    if len(start) != len(source.key_names):
        raise validation_error(_INVALID_START)
    for attribute in source.schema.partition_attributes:
        value = start.get(attribute.name)
        if value is None:
            raise validation_error(_INVALID_START)
        if not value.get(attribute.type):
            raise key_mismatch()


def check_start_key(source: Source, start: Item) -> None:
    """Refuse a starting key that could not be the LastEvaluatedKey of this index or table."""
    check_own_start_key(source, start)
    check_table_start_key(source, start)


def check_own_start_key(source: Source, start: Item) -> None:
    """Refuse a starting key with too many or too few attributes, or without the key of what is read; the
    first attribute that is wrong is told."""
    if len(start) != len(source.key_names):
        raise validation_error(_INVALID_START)
    for attribute in source.schema.attributes:
        if attribute.name not in start:
            raise validation_error(_INVALID_START)
        if not start[attribute.name].get(attribute.type):
            raise key_mismatch()


def check_table_start_key(source: Source, start: Item) -> None:
    """Refuse a starting key of an index without the key of the table."""
    if source.index is not None and not _fits(source.table.schema, start):
        raise validation_error(_MISMATCH)


def check_scan_start_key(source: Source, start: Item) -> None:
    """As `check_own_start_key`; a scan of the table itself words every mismatch alike."""
    if source.index is not None:
        check_own_start_key(source, start)
    elif len(start) != len(source.schema.names) or not _fits(source.schema, start):
        raise validation_error(_MISMATCH)


def _fits(schema: KeySchema, key: Item) -> bool:
    return all(
        attribute.name in key and key[attribute.name].get(attribute.type) for attribute in schema.attributes
    )


class Page:
    """One page: what was kept, how much was looked at, and where to go on."""

    __slots__ = ("count", "fetched_units", "items", "last", "read", "scanned", "size")

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.count = 0
        self.scanned = 0
        self.size = 0
        self.fetched_units = 0.0
        self.last: Item | None = None
        self.read: list[tuple[bytes, int]] = []
        """Key and size of each row that was evaluated, for a limiter."""


def read_page(
    engine: Engine,
    source: Source,
    rows: Iterable[tuple[bytes, Row]],
    limit: int | None,
    keep: Callable[[Item], bool] | None,
    project: Callable[[Item], Item] | None,
) -> Page:
    """Evaluate rows until the limit, the page size or their end."""
    page = Page()
    page_bytes = engine.settings.page_bytes
    counts_only = source.select == "COUNT"
    is_limited = engine.limiter is not None
    for key, row in rows:
        item, size = row
        page.scanned += 1
        page.size += size
        if is_limited:
            page.read.append((key, size))
        whole = source.fetch(row) if source.fetches else row
        if whole is not None:
            if source.fetches:
                page.fetched_units += read_units(whole[1], source.consistent)
            if keep is None or keep(whole[0]):
                page.count += 1
                if not counts_only:
                    page.items.append(whole[0] if project is None else project(whole[0]))
        if page.scanned == limit or page.size > page_bytes:
            page.last = item
            break
    return page


def answer_page(engine: Engine, source: Source, request: Request, page: Page, at: bytes) -> Response:
    """Charge a page and build the response of Query or Scan. `at` is where it looked, should it have found
    nothing."""
    units = read_units(page.size, source.consistent)
    charge_reads(engine, _demands(source, page, units, at))
    answer: dict[str, Any] = {"Count": page.count, "ScannedCount": page.scanned}
    if source.select != "COUNT":
        answer["Items"] = page.items
    if page.last is not None:
        answer["LastEvaluatedKey"] = {name: page.last[name] for name in source.key_names}
    mode = capacity_mode(request)
    if mode is not None:
        consumption = Consumption(source.table)
        if source.index is None:
            consumption.own = units
        else:
            consumption.own = page.fetched_units
            consumption.add_index(source.index.name, units)
        answer["ConsumedCapacity"] = consumption.report(mode, request.get("TableName"))
    return answer


def _demands(source: Source, page: Page, units: float, at: bytes) -> list[Demand]:
    """The units of a page where it has read: rows bear theirs by their sizes, and pay for what was fetched
    for them from the table."""
    demands = []
    for key, size in _shares(page.read) or [(at, 0)]:
        share = size / page.size if page.read else 1.0
        demands.append(Demand(source.table, source.index, key, units * share, 0.0))
        if page.fetched_units:
            demands.append(Demand(source.table, None, key, page.fetched_units * share, 0.0))
    return demands


def _shares(read: Sequence[tuple[bytes, int]]) -> Sequence[tuple[bytes, int]]:
    """The rows, or where they are many, runs of rows under the keys of their first."""
    run = -(-len(read) // _MAX_SHARES)
    if run <= 1:
        return read
    return [
        (read[start][0], sum(size for _, size in read[start : start + run]))
        for start in range(0, len(read), run)
    ]


def rows_between(
    rows: OrderedMap, low: bytes | None, high: bytes | None, start: bytes | None, forward: bool
) -> Iterable[tuple[bytes, Row]]:
    """Rows with low <= key < high in reading order, behind `start` when there is one."""
    if start is None:
        return rows.range(low, high, reverse=not forward)
    if forward:
        after = start + b"\x00"
        return rows.range(after if low is None or after > low else low, high)
    return rows.range(low, start if high is None or start < high else high, reverse=True)
