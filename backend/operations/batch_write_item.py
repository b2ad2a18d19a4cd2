"""BatchWriteItem: up to 25 puts and deletes of several tables.

Rules: a wrong item or a missing table refuses the whole batch and nothing is written; an item without the
table's key is told as a wrong key, not as PutItem tells it; an item may be named once, whether its table goes
by name or by ARN; a throttled write comes back in UnprocessedItems, and if all are, the throttling is the
answer. What is written is written in one storage transaction.
Public source: DynamoDB API Reference, "BatchWriteItem".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.errors import ServiceError, validation_error
from backend.model.keys import key_mismatch
from backend.model.sizes import check_item_size
from backend.model.values import normalise_and_measure, normalise_item
from backend.operations.accounting import (
    capacity_mode,
    charge_write,
    is_throttling,
    merge,
    reports,
)
from backend.operations.batch_get_item import DUPLICATES
from backend.operations.item_collections import collection_metrics
from backend.operations.writes import prepare_delete, prepare_put
from backend.protocol import Item, Request, Response
from backend.storage.base import Row
from backend.tables.consumption import Consumption
from backend.tables.table import Table, Write, commit

if TYPE_CHECKING:
    from backend.engine import Engine

Plan = dict[str, list[Row | None]]
"""For each table and request: the canonical row to put, or None for a delete."""


def validate(request: Request) -> Plan:
    return {name: [_row(one) for one in requests] for name, requests in request["RequestItems"].items()}


def _row(one: Request) -> Row | None:
    put = one.get("PutRequest")
    if put is None:
        normalise_item(one["DeleteRequest"]["Key"])
        return None
    row = normalise_and_measure(put["Item"])
    check_item_size(row[1])
    return row


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    tables = {name: engine.catalog.get(name) for name in request["RequestItems"]}
    seen: set[tuple[str, bytes]] = set()
    prepared = {
        name: _prepare(engine, table, request["RequestItems"][name], plan[name], seen)
        for name, table in tables.items()
    }
    admitted: list[Write] = []
    keys: list[tuple[str, Item]] = []
    unprocessed: dict[str, list[Any]] = {}
    consumptions: dict[str, Consumption] = {}
    refusal: ServiceError | None = None
    for name, writes in prepared.items():
        for write, key, one in writes:
            try:
                charge_write(engine, write)
            except ServiceError as error:
                if not is_throttling(error):
                    raise
                refusal = error
                unprocessed.setdefault(name, []).append(one)
                continue
            admitted.append(write)
            keys.append((name, key))
            merge(consumptions, Consumption.of(write))
    if refusal is not None and not admitted:
        raise refusal
    commit(engine.storage, admitted, engine.now())
    answer: dict[str, Any] = {"UnprocessedItems": unprocessed}
    mode = capacity_mode(request)
    if mode is not None:
        answer["ConsumedCapacity"] = reports(consumptions, mode, request["RequestItems"])
    if request.get("ReturnItemCollectionMetrics") == "SIZE":
        metrics = metrics_by_table(tables, keys)
        if metrics:
            answer["ItemCollectionMetrics"] = metrics
    return answer


def _prepare(
    engine: Engine,
    table: Table,
    requests: list[Request],
    rows: list[Row | None],
    seen: set[tuple[str, bytes]],
) -> list[tuple[Write, Item, Request]]:
    """The writes of one table with the keys they touch and the requests they come from. `seen` grows by what
    is written: ids of tables and storage keys."""
    writes = []
    for one, row in zip(requests, rows, strict=True):
        if row is None:
            key = one["DeleteRequest"]["Key"]
            write = prepare_delete(engine, table, one["DeleteRequest"], None)
        else:
            key = row[0]
            if any(
                attribute.type not in key.get(attribute.name, ()) for attribute in table.schema.attributes
            ):
                raise key_mismatch()
            write = prepare_put(engine, table, one, row, None)
        if (table.id, write.key) in seen:
            raise validation_error(DUPLICATES)
        seen.add((table.id, write.key))
        writes.append((write, key, one))
    return writes


def metrics_by_table(
    tables: dict[str, Table], keys: list[tuple[str, Item]]
) -> dict[str, list[dict[str, Any]]]:
    """ItemCollectionMetrics of a batch or transaction: one for each item collection touched, by table."""
    metrics: dict[str, list[dict[str, Any]]] = {}
    for name, key in keys:
        one = collection_metrics(tables[name], key)
        if one is not None and one not in metrics.setdefault(name, []):
            metrics[name].append(one)
    return metrics
