"""What every operation does about capacity: ask before it acts, count, and report when asked to.

Rules: the limiter hears of units before anything is changed, and may raise; counters grow only for what was
admitted; a member that the request did not ask for is absent from the response.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from backend.errors import ServiceError
from backend.operations.item_collections import collection_metrics
from backend.protocol import Item, Request
from backend.tables.capacity import write_units
from backend.tables.consumption import Consumption
from backend.tables.indexes import Index
from backend.tables.limiter import Demand
from backend.tables.table import Table, Write
from backend.validation.names import table_name

if TYPE_CHECKING:
    from backend.engine import Engine
    from backend.storage.base import Row

_THROTTLING = ("ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded")


def capacity_mode(request: Request) -> str | None:
    """`TOTAL` or `INDEXES` when the response is to report capacity, else None."""
    mode: str | None = request.get("ReturnConsumedCapacity")
    return None if mode is None or mode == "NONE" else mode


def charge_read(engine: Engine, table: Table, index: Index | None, key: bytes, units: float) -> None:
    """Take the read units of one row of a table or index, or raise the limiter's error."""
    if engine.limiter is not None:
        engine.limiter.admit((Demand(table, index, key, units, 0.0),))
    (table if index is None else index).counters.read_units += units


def charge_reads(engine: Engine, demands: Sequence[Demand]) -> None:
    """Take the read units of several rows, all or none, or raise the limiter's error."""
    if engine.limiter is not None:
        engine.limiter.admit(demands)
    for demand in demands:
        (demand.table if demand.index is None else demand.index).counters.read_units += demand.reads


def charge_write(engine: Engine, write: Write, factor: float = 1.0) -> None:
    """Take the write units of a prepared write and of what it does to indexes, all or none, or raise the
    limiter's error."""
    table = write.table
    if engine.limiter is not None:
        engine.limiter.admit(_demands(write, factor))
    table.counters.write_units += write.units * factor
    for index, change in write.by_index or ():
        index.counters.write_units += change[3] * factor


def _demands(write: Write, factor: float) -> list[Demand]:
    """A row that moves is a delete in one partition of the index and a put in another."""
    table = write.table
    demands = [Demand(table, None, write.key, 0.0, write.units * factor)]
    for index, (deleted, put, row, units) in write.by_index or ():
        put_units = write_units(0, row[1]) if deleted is not None and row is not None else units
        if put is not None:
            demands.append(Demand(table, index, put, 0.0, put_units * factor))
        if deleted is not None:
            left = units - put_units if put is not None else units
            demands.append(Demand(table, index, deleted, 0.0, left * factor))
    return demands


def charge_refused_write(
    engine: Engine, table: Table, key: bytes, old: Row | None, factor: float = 1.0
) -> None:
    """A failed condition costs what writing the item that is there would cost."""
    units = write_units(old[1] if old else 0, 0) * factor
    if engine.limiter is not None:
        engine.limiter.admit((Demand(table, None, key, 0.0, units),))
    table.counters.write_units += units


def report_write(answer: dict[str, Any], request: Request, write: Write, key: Item) -> None:
    """Add ConsumedCapacity and ItemCollectionMetrics to the response of a single write, as asked.

    `key` is the item or key written.
    """
    mode = capacity_mode(request)
    if mode is not None:
        answer["ConsumedCapacity"] = Consumption.of(write).report(mode, request["TableName"])
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        metrics = collection_metrics(write.table, key)
        if metrics is not None:
            answer["ItemCollectionMetrics"] = metrics


def merge(consumptions: dict[str, Consumption], one: Consumption) -> None:
    """Add the consumption of one write or read to the sum of its table."""
    sum_of_table = consumptions.get(one.table.name)
    if sum_of_table is None:
        consumptions[one.table.name] = one
        return
    sum_of_table.own += one.own
    for name, units in one.by_index.items():
        sum_of_table.add_index(name, units)


def reports(
    consumptions: dict[str, Consumption], mode: str, names: Iterable[str], also_as: str | None = None
) -> list[dict[str, Any]]:
    """The ConsumedCapacity of several tables, each under the name or ARN that it has among `names`."""
    called = {table_name(name): name for name in names}
    return [one.report(mode, called.get(name), also_as) for name, one in consumptions.items()]


def is_throttling(error: ServiceError) -> bool:
    """Whether a limiter refused, so that a batch hands the request back instead of failing."""
    return error.code in _THROTTLING
