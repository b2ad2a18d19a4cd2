"""The operations and shapes of DynamoDB and DynamoDB Streams, as botocore's service models describe them.

The models say which members exist, their types, and most constraints. What they lack, or say otherwise than
the service answers, stands here as data: the order in which the service prints enumerations and checks
members, and members that are required although the model leaves them open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from botocore.loaders import Loader

Shape = Mapping[str, Any]

# x-amz-target prefix -> botocore's name of the service.
TARGETS: Mapping[str, str] = {
    "DynamoDB_20120810": "dynamodb",
    "DynamoDBStreams_20120810": "dynamodbstreams",
}

# The service prints its enumerations in hash order, not in the order of the model.
ENUM_ORDER: Mapping[str, tuple[str, ...]] = {
    "ComparisonOperator": (
        "IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT", "NOT_NULL", "NE", "LE", "BEGINS_WITH",
        "GE", "CONTAINS",
    ),
    "ConditionalOperator": ("OR", "AND"),
    "ProjectionType": ("ALL", "INCLUDE", "KEYS_ONLY"),
    "ReturnValue": ("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"),
    "ScalarAttributeType": ("B", "N", "S"),
    "StreamViewType": ("OLD_IMAGE", "KEYS_ONLY", "NEW_AND_OLD_IMAGES", "NEW_IMAGE"),
    "Select": ("SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"),
}  # fmt: skip

# The order in which the service checks the members of a structure; members not named follow in model order.
# It shows when a request has more than ten faults (only ten are told), and in the text of the message.
MEMBER_ORDER: Mapping[str, tuple[str, ...]] = {
    "AttributeDefinition": ("AttributeType", "AttributeName"),
    "BatchGetItemInput": ("ReturnConsumedCapacity", "RequestItems"),
    "BatchWriteItemInput": ("ReturnConsumedCapacity", "ReturnItemCollectionMetrics", "RequestItems"),
    "CreateGlobalSecondaryIndexAction": ("Projection", "IndexName", "ProvisionedThroughput", "KeySchema"),
    "CreateTableInput": (
        "AttributeDefinitions", "TableName", "BillingMode", "ProvisionedThroughput", "KeySchema",
        "GlobalSecondaryIndexes", "LocalSecondaryIndexes",
    ),
    "DeleteItemInput": (
        "ReturnConsumedCapacity", "TableName", "ReturnValues", "ReturnItemCollectionMetrics", "Key",
        "ConditionalOperator", "Expected",
    ),
    "GetItemInput": ("ReturnConsumedCapacity", "AttributesToGet", "TableName", "Key"),
    "GlobalSecondaryIndexUpdate": ("Update", "Create", "Delete"),
    "ProvisionedThroughput": ("WriteCapacityUnits", "ReadCapacityUnits"),
    "PutItemInput": (
        "ReturnConsumedCapacity", "TableName", "Item", "ConditionalOperator", "Expected", "ReturnValues",
        "ReturnItemCollectionMetrics",
    ),
    "QueryInput": (
        "Select", "IndexName", "ReturnConsumedCapacity", "QueryFilter", "TableName", "ConditionalOperator",
        "AttributesToGet", "Limit", "KeyConditions",
    ),
    "ScanInput": (
        "Select", "IndexName", "TotalSegments", "ReturnConsumedCapacity", "TableName", "ConditionalOperator",
        "ScanFilter", "Segment", "Limit", "AttributesToGet",
    ),
    "TimeToLiveSpecification": ("AttributeName", "Enabled"),
    "TransactWriteItemsInput": ("ClientRequestToken",),
    "UpdateItemInput": (
        "ReturnConsumedCapacity", "TableName", "ReturnItemCollectionMetrics", "ReturnValues",
        "ConditionalOperator", "Key", "Expected", "AttributeUpdates",
    ),
    "UpdateTableInput": ("TableName", "ProvisionedThroughput", "BillingMode", "GlobalSecondaryIndexUpdates"),
}  # fmt: skip

# Members that the service demands where the model does not, or leaves to a later rule where the model
# demands them.
REQUIRED: Mapping[str, frozenset[str]] = {
    "CreateTableInput": frozenset({"TableName", "AttributeDefinitions", "KeySchema"}),
    "TagResourceInput": frozenset(),
    "UntagResourceInput": frozenset(),
    "ListTagsOfResourceInput": frozenset(),
    "Tag": frozenset(),
}

# Members that are required unless one of others is there: an index can be given throughput of three kinds.
REQUIRED_UNLESS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("UpdateGlobalSecondaryIndexAction", "ProvisionedThroughput"): ("OnDemandThroughput", "WarmThroughput"),
}

# Constraints of a member that differ from those of its shape. A global index has up to four partition and
# four sort attributes.
MEMBER_CONSTRAINTS: Mapping[tuple[str, str], Mapping[str, int]] = {
    ("CreateTableInput", "KeySchema"): {"min": 1, "max": 2},
    ("LocalSecondaryIndex", "KeySchema"): {"min": 1, "max": 2},
    ("SSESpecification", "KMSMasterKeyId"): {"min": 1},
    ("GlobalSecondaryIndex", "KeySchema"): {"min": 1, "max": 8},
    ("CreateGlobalSecondaryIndexAction", "KeySchema"): {"min": 1, "max": 8},
}

# Shapes whose limits the service tells in words of its own, not as collected constraints.
UNCONSTRAINED: frozenset[str] = frozenset({"ResourceArnString", "TagKeyString", "TagValueString"})


class Model:
    """One service's operations and shapes. Lookups cost a dictionary access."""

    def __init__(self, service: str) -> None:
        description = Loader().load_service_model(service, "service-2")
        self._operations: Mapping[str, Any] = description["operations"]
        self._shapes: Mapping[str, Shape] = description["shapes"]

    def __contains__(self, operation: str) -> bool:
        return operation in self._operations

    def operations(self) -> Iterator[str]:
        return iter(self._operations)

    def shape(self, name: str) -> Shape:
        return self._shapes[name]

    def errors(self) -> Iterator[str]:
        """The names of the shapes that are errors."""
        return (name for name, shape in self._shapes.items() if shape.get("exception"))

    def input_of(self, operation: str) -> str:
        """The name of the shape of the operation's request; `""` when it takes none."""
        return str(self._operations[operation].get("input", {}).get("shape", ""))

    def output_of(self, operation: str) -> str:
        return str(self._operations[operation].get("output", {}).get("shape", ""))


@cache
def model(service: str) -> Model:
    """The model of `dynamodb` or `dynamodbstreams`, read from botocore's data once (some 50 ms)."""
    return Model(service)


@cache
def model_of(operation: str) -> Model | None:
    """The model that has the operation, or None when no service does. Names do not clash between the two."""
    return next((found for found in map(model, TARGETS.values()) if operation in found), None)


def required_of(name: str, shape: Shape) -> dict[str, tuple[str, ...]]:
    """The members of structure `name` that must be there -> the members of which one will do instead."""
    required: dict[str, tuple[str, ...]] = dict.fromkeys(REQUIRED.get(name, shape.get("required", ())), ())
    return required | {
        member: others for (structure, member), others in REQUIRED_UNLESS.items() if structure == name
    }


def members_of(name: str, shape: Shape) -> list[tuple[str, str]]:
    """(member, shape name) of structure `name` in the order in which the service checks them."""
    members = {member: str(reference["shape"]) for member, reference in shape.get("members", {}).items()}
    first = [member for member in MEMBER_ORDER.get(name, ()) if member in members]
    return [(member, members[member]) for member in (*first, *(m for m in members if m not in first))]


def enum_of(name: str, shape: Shape) -> tuple[str, ...]:
    """The values of an enumeration as the service prints them; empty when the shape is none."""
    values = tuple(shape.get("enum", ()))
    known = ENUM_ORDER.get(name, ())
    return (*known, *(value for value in values if value not in known)) if values else ()
