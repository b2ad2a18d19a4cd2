"""Tables as rows: what a storage keeps of a table beside its items, and how the table comes back from it.

Rules:

* a record holds whatever a restart could change the description or the behaviour of: the definition, what
  UpdateTable, tags and time to live have changed since, the indexes that came later, when which status ends;
* what the items tell is measured again when the table comes back: counts, sizes, the order of late changes;
* definitions are kept in the shape of the CreateTable request, and read by what reads that request.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import orjson

from backend.protocol import Item
from backend.settings import EngineSettings
from backend.storage.base import Storage
from backend.tables.definitions import IndexDefinition, TableDefinition, Throughput, definition_of, index_of
from backend.tables.indexes import Index
from backend.tables.table import Table
from backend.tables.throughput import ThroughputHistory

_PLAIN = (
    "active_from",
    "updating",
    "deleted_from",
    "attribute_types",
    "billing_mode",
    "on_demand_since",
    "on_demand_throughput",
    "warm_throughput",
    "table_class",
    "table_class_since",
    "deletion_protection",
    "stream",
    "encryption",
    "tags",
    "time_to_live",
)
"""Attributes of a table that are JSON as they are."""


def record_of(table: Table) -> Item:
    """A table as a row."""
    record = {
        "Id": table.id,
        "Created": table.created,
        "Definition": _table_request(table.definition),
        "Throughput": [table.throughput.read, table.throughput.write],
        "ThroughputHistory": table.throughput_history.state(),
        "GlobalIndexes": [_index_record(index) for index in table.global_indexes.values()],
        **{name: getattr(table, name) for name in _PLAIN},
    }
    return {"Table": {"S": orjson.dumps(record).decode()}}


def table_of(row: Item, settings: EngineSettings, storage: Storage) -> Table:
    """The table of a row that `record_of` made, with its items and indexes from the storage."""
    record: dict[str, Any] = orjson.loads(row["Table"]["S"])
    definition = definition_of(record["Definition"])
    indexes = [_index_of(index) for index in record["GlobalIndexes"]]
    # The global indexes that there are, not those that there were at first.
    table = Table(replace(definition, global_indexes=()), record["Id"], record["Created"], settings, storage)
    table.definition = definition
    for declared, one in zip(indexes, record["GlobalIndexes"], strict=True):
        index = table.open_global_index(declared, one["ActiveFrom"])
        index.deleted_from = one["DeletedFrom"]
        index.throughput_history = ThroughputHistory.of(one["ThroughputHistory"])
    table.throughput = Throughput(*record["Throughput"])
    table.throughput_history = ThroughputHistory.of(record["ThroughputHistory"])
    for name in _PLAIN:
        # What a row of an earlier release does not have is as in a new table.
        if name in record:
            setattr(table, name, record[name])
    return table


def _table_request(definition: TableDefinition) -> dict[str, Any]:
    """A CreateTable request that `definition_of` reads as this definition."""
    return {
        "TableName": definition.name,
        "KeySchema": _elements(definition.key_schema),
        "AttributeDefinitions": _attributes(definition.attribute_types.items()),
        "LocalSecondaryIndexes": [_index_request(index) for index in definition.local_indexes],
        "GlobalSecondaryIndexes": [_index_request(index) for index in definition.global_indexes],
        "BillingMode": definition.billing_mode,
        "ProvisionedThroughput": _throughput(definition.throughput),
        "OnDemandThroughput": definition.on_demand_throughput,
        "WarmThroughput": definition.warm_throughput,
        "TableClass": definition.table_class,
        "DeletionProtectionEnabled": definition.deletion_protection,
        "StreamSpecification": definition.stream,
        "SSESpecification": definition.encryption,
        "Tags": [{"Key": key, "Value": value} for key, value in definition.tags],
    }


def _index_request(definition: IndexDefinition) -> dict[str, Any]:
    """An index of a CreateTable request that `index_of` reads as this definition."""
    projection: dict[str, Any] = {"ProjectionType": definition.projection.type}
    if definition.projection.non_key_attributes:
        projection["NonKeyAttributes"] = list(definition.projection.non_key_attributes)
    return {
        "IndexName": definition.name,
        "KeySchema": _elements(definition.key_schema),
        "Projection": projection,
        "ProvisionedThroughput": _throughput(definition.throughput),
        "OnDemandThroughput": definition.on_demand_throughput,
        "WarmThroughput": definition.warm_throughput,
    }


def _index_record(index: Index) -> dict[str, Any]:
    return {
        "Definition": _index_request(index.definition),
        "AttributeTypes": {one.name: one.type for one in index.definition.schema.attributes},
        "ActiveFrom": index.active_from,
        "DeletedFrom": index.deleted_from,
        "ThroughputHistory": index.throughput_history.state(),
    }


def _index_of(record: dict[str, Any]) -> IndexDefinition:
    return index_of(record["Definition"], record["AttributeTypes"])


def _elements(key_schema: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in key_schema]


def _attributes(types: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types]


def _throughput(throughput: Throughput) -> dict[str, int]:
    return {"ReadCapacityUnits": throughput.read, "WriteCapacityUnits": throughput.write}
