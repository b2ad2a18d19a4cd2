"""BatchGetItem: up to 100 items of several tables, each key on its own.

Rules: a wrong key or a missing table refuses the whole batch; a table with no hits has an empty list; what
would exceed 16 MB, or is throttled, comes back in UnprocessedKeys with the settings of its table.
Public source: DynamoDB API Reference, "BatchGetItem".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.errors import ServiceError, validation_error
from backend.expressions.projections import Projection
from backend.model.keys import check_key
from backend.model.values import normalise_item
from backend.operations.accounting import capacity_mode, charge_read, is_throttling, merge, reports
from backend.operations.clauses import projection_of
from backend.operations.key_paths import check_projected_paths
from backend.protocol import Item, Request, Response
from backend.tables.capacity import read_units
from backend.tables.consumption import Consumption
from backend.tables.table import Table
from backend.validation.rules import attributes_to_get_once

if TYPE_CHECKING:
    from backend.engine import Engine

Plan = dict[str, Projection | None]

DUPLICATES = "Provided list of item keys contains duplicates"


def validate(request: Request) -> Plan:
    plan: Plan = {}
    for name, reads in request["RequestItems"].items():
        attributes_to_get_once(reads)
        plan[name] = projection_of(reads)
        seen: set[str] = set()
        for key in reads["Keys"]:
            identity = repr(sorted(normalise_item(key).items()))
            if identity in seen:
                raise validation_error(DUPLICATES)
            seen.add(identity)
    return plan


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    reads = _reads(engine, request)
    for name, (table, _) in reads.items():
        check_projected_paths(table, plan[name])
    batch = _Batch(engine)
    for name, (table, keys) in reads.items():
        asked = request["RequestItems"][name]
        projection = plan[name]
        items = [
            item if projection is None else projection.apply(item) for item in batch.read(table, keys, asked)
        ]
        batch.responses[name] = items
        if batch.left:
            batch.unprocessed[name] = {**asked, "Keys": batch.left}
            batch.left = []
    if batch.refusal is not None and not batch.any_processed:
        raise batch.refusal
    answer: dict[str, Any] = {"Responses": batch.responses, "UnprocessedKeys": batch.unprocessed}
    mode = capacity_mode(request)
    if mode is not None:
        answer["ConsumedCapacity"] = reports(batch.consumptions, mode, request["RequestItems"])
    return answer


def _reads(engine: Engine, request: Request) -> dict[str, tuple[Table, list[tuple[bytes, Item]]]]:
    """Tables and storage keys; everything is judged before anything is read."""
    tables = {name: engine.catalog.get(name) for name in request["RequestItems"]}
    reads = {}
    for name, asked in request["RequestItems"].items():
        schema = tables[name].schema
        keys = [(schema.encode(check_key(schema, key)), key) for key in asked["Keys"]]
        reads[name] = (tables[name], keys)
    # The keys of each name are distinct, but one table may be called by name and by ARN.
    distinct = {(table.id, storage_key) for table, keys in reads.values() for storage_key, _ in keys}
    if len(distinct) < sum(len(keys) for _, keys in reads.values()):
        raise validation_error(DUPLICATES)
    return reads


class _Batch:
    """What a batch has gathered so far."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.responses: dict[str, list[Item]] = {}
        self.unprocessed: dict[str, Any] = {}
        self.consumptions: dict[str, Consumption] = {}
        self.left: list[Item] = []
        self.refusal: ServiceError | None = None
        self.any_processed = False
        self._room = engine.settings.batch_get_bytes

    def read(self, table: Table, keys: list[tuple[bytes, Item]], asked: Request) -> list[Item]:
        """The items there are; keys that found no room or no capacity are left in `left`."""
        consistent = asked.get("ConsistentRead") is True
        items = []
        for storage_key, key in keys:
            row = table.view(consistent).get(storage_key)
            size = row[1] if row is not None else 0
            if size > self._room:
                self._room = 0
            if size and not self._room:
                self.left.append(key)
                continue
            units = read_units(size, consistent)
            try:
                charge_read(self.engine, table, None, storage_key, units)
            except ServiceError as error:
                if not is_throttling(error):
                    raise
                self.refusal = error
                self.left.append(key)
                continue
            self.any_processed = True
            self._room -= size
            merge(self.consumptions, Consumption(table, units))
            if row is not None:
                items.append(row[0])
        return items
