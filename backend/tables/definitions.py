"""What a table is declared to be: key schemas, indexes, billing. Plain values, built from a CreateTable
request.

Nothing here validates: a definition is built from a request that passed `backend.validation` and the checks
of the CreateTable operation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.model.keys import KeyAttribute, KeySchema
from backend.protocol import Request

PROVISIONED = "PROVISIONED"
PAY_PER_REQUEST = "PAY_PER_REQUEST"


@dataclass(frozen=True, slots=True)
class Projection:
    """Which attributes an index row holds beside the keys of index and table."""

    type: str
    """`ALL`, `KEYS_ONLY` or `INCLUDE`."""
    non_key_attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Throughput:
    """Provisioned capacity units a second; 0 and 0 when billed per request."""

    read: int = 0
    write: int = 0


@dataclass(frozen=True, slots=True)
class IndexDefinition:
    """A secondary index; `throughput` matters for a global one only."""

    name: str
    schema: KeySchema
    key_schema: tuple[tuple[str, str], ...]
    """Attribute name and `HASH` or `RANGE`, in the order declared: what descriptions print."""
    projection: Projection
    throughput: Throughput = Throughput()
    on_demand_throughput: Mapping[str, int] | None = None
    warm_throughput: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """Everything that CreateTable fixes or sets at first."""

    name: str
    schema: KeySchema
    key_schema: tuple[tuple[str, str], ...]
    attribute_types: Mapping[str, str]
    """Attribute name -> `S`, `N` or `B`, in the order declared."""
    local_indexes: tuple[IndexDefinition, ...] = ()
    global_indexes: tuple[IndexDefinition, ...] = ()
    billing_mode: str = PROVISIONED
    throughput: Throughput = Throughput()
    on_demand_throughput: Mapping[str, int] | None = None
    warm_throughput: Mapping[str, int] | None = None
    table_class: str | None = None
    deletion_protection: bool = False
    stream: Mapping[str, Any] | None = None
    encryption: Mapping[str, Any] | None = None
    tags: tuple[tuple[str, str], ...] = ()


def definition_of(request: Request) -> TableDefinition:
    """The definition in a valid CreateTable request (botocore's `CreateTableInput` shape)."""
    types = attribute_types_of(request["AttributeDefinitions"])
    return TableDefinition(
        name=request["TableName"],
        schema=schema_of(request["KeySchema"], types),
        key_schema=declared_keys(request["KeySchema"]),
        attribute_types=types,
        local_indexes=tuple(index_of(index, types) for index in request.get("LocalSecondaryIndexes") or ()),
        global_indexes=tuple(index_of(index, types) for index in request.get("GlobalSecondaryIndexes") or ()),
        billing_mode=request.get("BillingMode") or PROVISIONED,
        throughput=throughput_of(request.get("ProvisionedThroughput")),
        on_demand_throughput=request.get("OnDemandThroughput"),
        warm_throughput=request.get("WarmThroughput"),
        table_class=request.get("TableClass"),
        deletion_protection=bool(request.get("DeletionProtectionEnabled")),
        stream=request.get("StreamSpecification"),
        encryption=request.get("SSESpecification"),
        tags=tuple((tag["Key"], tag["Value"]) for tag in request.get("Tags") or ()),
    )


def index_of(declared: Mapping[str, Any], types: Mapping[str, str]) -> IndexDefinition:
    """The definition of one index, in the shape of CreateTable or of UpdateTable's Create action."""
    projection = declared["Projection"]
    return IndexDefinition(
        name=declared["IndexName"],
        schema=schema_of(declared["KeySchema"], types),
        key_schema=declared_keys(declared["KeySchema"]),
        projection=Projection(projection["ProjectionType"], tuple(projection.get("NonKeyAttributes") or ())),
        throughput=throughput_of(declared.get("ProvisionedThroughput")),
        on_demand_throughput=declared.get("OnDemandThroughput"),
        warm_throughput=declared.get("WarmThroughput"),
    )


def attribute_types_of(definitions: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """AttributeDefinitions as a mapping from name to type."""
    return {one["AttributeName"]: one["AttributeType"] for one in definitions}


def declared_keys(elements: Sequence[Mapping[str, str]]) -> tuple[tuple[str, str], ...]:
    """KeySchema as (attribute name, key type) pairs, in the order declared."""
    return tuple((element["AttributeName"], element["KeyType"]) for element in elements)


def schema_of(elements: Sequence[Mapping[str, str]], types: Mapping[str, str]) -> KeySchema:
    """KeySchema with the types of its attributes."""
    by_kind: dict[str, list[KeyAttribute]] = {"HASH": [], "RANGE": []}
    for name, kind in declared_keys(elements):
        by_kind[kind].append(KeyAttribute(name, types[name]))
    partition, sort = by_kind["HASH"], by_kind["RANGE"]
    return KeySchema(partition[0], sort[0] if sort else None, tuple(partition[1:]), tuple(sort[1:]))


def throughput_of(declared: Mapping[str, int] | None) -> Throughput:
    """ProvisionedThroughput, or 0 and 0 where there is none."""
    if declared is None:
        return Throughput()
    return Throughput(declared["ReadCapacityUnits"], declared["WriteCapacityUnits"])
