"""How tables and indexes are described: the TableDescription of every operation that answers with one.

Rules: attributes are sorted by name, indexes in the order declared; absent things have no member rather than
an empty one; a provisioned table has no BillingModeSummary; an on-demand one reports a throughput of 0 and 0;
a table still being created reports no counts but 0, and a warm throughput only if it was asked for one.
Times are seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.tables.definitions import PAY_PER_REQUEST, IndexDefinition, Throughput
from backend.tables.indexes import Index
from backend.tables.table import Table
from backend.validation.declarations import INITIAL_ON_DEMAND


def describe(table: Table, now: float, status: str | None = None) -> dict[str, Any]:
    """The TableDescription of `table`; `status` overrides what the clock says, as in the answer that creates
    it."""
    status = status or table.status(now)
    is_new = status == "CREATING"
    answer: dict[str, Any] = {
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind}
            for name, kind in sorted(table.attribute_types.items())
        ],
        "TableName": table.name,
        "KeySchema": _key_schema(table.definition.key_schema),
        "TableStatus": status,
        "CreationDateTime": table.created,
        "ProvisionedThroughput": table.throughput_history.describe(table.throughput, now),
        "TableSizeBytes": 0 if is_new else table.items.stored_bytes,
        "ItemCount": 0 if is_new else len(table.items),
        "TableArn": table.arn,
        "TableId": table.id,
        "DeletionProtectionEnabled": table.deletion_protection,
    }
    if table.on_demand_since is not None:
        answer["BillingModeSummary"] = _billing(table, is_new)
    if table.on_demand_throughput:
        answer["OnDemandThroughput"] = table.on_demand_throughput
    if table.local_indexes:
        answer["LocalSecondaryIndexes"] = [_index(table, one) for one in table.local_indexes.values()]
    if table.global_indexes:
        answer["GlobalSecondaryIndexes"] = [
            _global_index(table, one, now, "CREATING" if is_new else None)
            for one in table.global_indexes.values()
        ]
    if table.table_class:
        answer["TableClassSummary"] = _class(table)
    if asks_for_kms(table.encryption):
        answer["SSEDescription"] = _encryption(table)
    if table.warm_throughput or not is_new:
        answer["WarmThroughput"] = _warm(table, table.throughput, table.warm_throughput, is_new)
    return answer


def _billing(table: Table, is_new: bool) -> dict[str, Any]:
    summary: dict[str, Any] = {"BillingMode": table.billing_mode}
    if not is_new:
        summary["LastUpdateToPayPerRequestDateTime"] = table.on_demand_since
    return summary


def _class(table: Table) -> dict[str, Any]:
    summary: dict[str, Any] = {"TableClass": table.table_class}
    if table.table_class_since is not None:
        summary["LastUpdateDateTime"] = table.table_class_since
    return summary


def _index(table: Table, index: Index) -> dict[str, Any]:
    definition: IndexDefinition = index.definition
    projection: dict[str, Any] = {"ProjectionType": definition.projection.type}
    if definition.projection.non_key_attributes:
        projection["NonKeyAttributes"] = sorted(definition.projection.non_key_attributes)
    return {
        "IndexName": index.name,
        "KeySchema": _key_schema(definition.key_schema),
        "Projection": projection,
        "IndexSizeBytes": index.rows.stored_bytes,
        "ItemCount": len(index.rows),
        "IndexArn": f"{table.arn}/index/{index.name}",
    }


def _global_index(table: Table, index: Index, now: float, status: str | None) -> dict[str, Any]:
    status = status or index.status(now)
    definition = index.definition
    answer = _index(table, index)
    answer["IndexStatus"] = status
    answer["ProvisionedThroughput"] = index.throughput_history.describe(definition.throughput, now)
    if status == "CREATING" and table.status(now) != "CREATING" and index.active_from > table.created:
        answer["Backfilling"] = True
    if definition.on_demand_throughput:
        answer["OnDemandThroughput"] = definition.on_demand_throughput
    if definition.warm_throughput or status != "CREATING":
        is_new = status == "CREATING"
        answer["WarmThroughput"] = _warm(table, definition.throughput, definition.warm_throughput, is_new)
    return answer


def _key_schema(declared: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in declared]


def _warm(table: Table, throughput: Throughput, asked: Any, is_new: bool) -> dict[str, Any]:
    if table.billing_mode == PAY_PER_REQUEST:
        units = INITIAL_ON_DEMAND
    else:
        units = {"ReadUnitsPerSecond": throughput.read, "WriteUnitsPerSecond": throughput.write}
    return {**units, **(asked or {}), "Status": "UPDATING" if is_new else "ACTIVE"}


def asks_for_kms(specification: Mapping[str, Any] | None) -> bool:
    """Whether an SSESpecification enables encryption with KMS; one that only names the type does."""
    asked = specification or {}
    return bool(asked.get("Enabled", "SSEType" in asked))


def _encryption(table: Table) -> dict[str, str]:
    asked = table.encryption or {}
    region_account = ":".join(table.arn.split(":")[3:5])
    key = asked.get("KMSMasterKeyId") or "alias/aws/dynamodb"
    if not key.startswith("arn:"):
        kind = "" if key.startswith("alias/") else "key/"
        key = f"arn:aws:kms:{region_account}:{kind}{key}"
    return {"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": key}
