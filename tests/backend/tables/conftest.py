"""Tables without an engine: a catalog on a settable clock, and items written straight to a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from backend.model.sizes import item_size
from backend.protocol import Item
from backend.settings import EngineSettings
from backend.storage.memory import MemoryStorage
from backend.tables.catalog import TableCatalog
from backend.tables.definitions import definition_of
from backend.tables.table import Table, Write, commit


@dataclass
class Bench:
    """One storage, one catalog, one clock."""

    settings: EngineSettings = field(default_factory=EngineSettings)
    time: float = 1_000.0

    def __post_init__(self) -> None:
        self.storage = MemoryStorage()
        self.drawn = 0
        self.catalog = TableCatalog(lambda: self.time, self.entropy, self.settings, self.storage)

    def entropy(self, count: int) -> bytes:
        self.drawn += 1
        return self.drawn.to_bytes(count, "big")

    def create(self, name: str = "orders", **members: Any) -> Table:
        names = [
            element["AttributeName"]
            for index in (
                members.get("GlobalSecondaryIndexes", []) + members.get("LocalSecondaryIndexes", [])
            )
            for element in index["KeySchema"]
        ]
        request = {
            "TableName": name,
            "AttributeDefinitions": [
                {"AttributeName": one, "AttributeType": "S"} for one in dict.fromkeys(["pk", *names])
            ],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
            **members,
        }
        return self.catalog.create(definition_of(request))

    def write(self, table: Table, key: str, item: Item | None) -> None:
        commit(self.storage, [self.prepare(table, key, item)], self.time)

    def prepare(self, table: Table, key: str, item: Item | None) -> Write:
        storage_key = table.schema.encode({"pk": {"S": key}})
        old = table.items.get(storage_key)
        return Write(table, storage_key, old, None if item is None else (item, item_size(item)))


@pytest.fixture
def bench():
    return Bench()


@pytest.fixture
def lagging_bench():
    return Bench(EngineSettings(gsi_lag=2.0))


@pytest.fixture
def slow_bench():
    return Bench(EngineSettings(table_delay=5.0))


@pytest.fixture
def by_status():
    return {
        "IndexName": "by-status",
        "KeySchema": [{"AttributeName": "status", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }
