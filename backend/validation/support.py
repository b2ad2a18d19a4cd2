"""What this store honours of a request: every member of the service's model that an operation acts upon.

Rules: a member of the model that is not listed here is refused with a ValidationException that names it,
whatever its value: nothing is ignored in silence, and a newer model cannot add anything that would be.
`REFUSED` are the members known to be refused, all of features that this store does not have: global tables,
vector indexes, resource policies. (Members that no model has are dropped, as the service does.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from backend.errors import ServiceError, validation_error
from backend.validation.model import Model

Refuse = Callable[[Any], None]
"""Raises ValidationException when a value has a member that is not honoured."""

_CONDITION = "ConditionExpression ExpressionAttributeNames ExpressionAttributeValues"
_ON_FAILURE = "ReturnValuesOnConditionCheckFailure"
_WRITE = f"TableName {_CONDITION} {_ON_FAILURE}"
_REPORTS = "ReturnConsumedCapacity ReturnItemCollectionMetrics"
_LEGACY_CONDITION = "Expected ConditionalOperator"
_READ = "ProjectionExpression ExpressionAttributeNames"
_PAGE = (
    "TableName IndexName Select AttributesToGet Limit ConsistentRead ConditionalOperator ExclusiveStartKey "
    f"FilterExpression ExpressionAttributeValues ReturnConsumedCapacity {_READ}"
)
_INDEX = "IndexName KeySchema Projection"
_CAPACITY = "ProvisionedThroughput OnDemandThroughput WarmThroughput"
_TABLE = (
    "AttributeDefinitions TableName BillingMode StreamSpecification SSESpecification TableClass "
    f"DeletionProtectionEnabled {_CAPACITY}"
)

HONOURED: Mapping[str, frozenset[str]] = {
    structure: frozenset(members.split())
    for structure, members in {
        # Items
        "GetItemInput": f"TableName Key AttributesToGet ConsistentRead ReturnConsumedCapacity {_READ}",
        "PutItemInput": f"Item ReturnValues {_LEGACY_CONDITION} {_WRITE} {_REPORTS}",
        "DeleteItemInput": f"Key ReturnValues {_LEGACY_CONDITION} {_WRITE} {_REPORTS}",
        "UpdateItemInput": (
            f"Key ReturnValues UpdateExpression AttributeUpdates {_LEGACY_CONDITION} {_WRITE} {_REPORTS}"
        ),
        "ExpectedAttributeValue": "Value Exists ComparisonOperator AttributeValueList",
        "AttributeValueUpdate": "Value Action",
        "Condition": "AttributeValueList ComparisonOperator",
        "QueryInput": f"KeyConditionExpression KeyConditions QueryFilter ScanIndexForward {_PAGE}",
        "ScanInput": f"ScanFilter Segment TotalSegments {_PAGE}",
        # Batches and transactions
        "BatchGetItemInput": "RequestItems ReturnConsumedCapacity",
        "KeysAndAttributes": f"Keys AttributesToGet ConsistentRead {_READ}",
        "BatchWriteItemInput": f"RequestItems {_REPORTS}",
        "WriteRequest": "PutRequest DeleteRequest",
        "PutRequest": "Item",
        "DeleteRequest": "Key",
        "TransactGetItemsInput": "TransactItems ReturnConsumedCapacity",
        "TransactGetItem": "Get",
        "Get": f"TableName Key {_READ}",
        "TransactWriteItemsInput": f"TransactItems ClientRequestToken {_REPORTS}",
        "TransactWriteItem": "ConditionCheck Put Delete Update",
        "ConditionCheck": f"Key {_WRITE}",
        "Put": f"Item {_WRITE}",
        "Delete": f"Key {_WRITE}",
        "Update": f"Key UpdateExpression {_WRITE}",
        # PartiQL
        "ExecuteStatementInput": (
            f"Statement Parameters ConsistentRead NextToken Limit ReturnConsumedCapacity {_ON_FAILURE}"
        ),
        "BatchExecuteStatementInput": "Statements ReturnConsumedCapacity",
        "BatchStatementRequest": f"Statement Parameters ConsistentRead {_ON_FAILURE}",
        "ExecuteTransactionInput": "TransactStatements ClientRequestToken ReturnConsumedCapacity",
        "ParameterizedStatement": f"Statement Parameters {_ON_FAILURE}",
        # Tables
        "CreateTableInput": f"KeySchema LocalSecondaryIndexes GlobalSecondaryIndexes Tags {_TABLE}",
        "UpdateTableInput": f"GlobalSecondaryIndexUpdates {_TABLE}",
        "DescribeTableInput": "TableName",
        "DeleteTableInput": "TableName",
        "ListTablesInput": "ExclusiveStartTableName Limit",
        "AttributeDefinition": "AttributeName AttributeType",
        "KeySchemaElement": "AttributeName KeyType",
        "Projection": "ProjectionType NonKeyAttributes",
        "LocalSecondaryIndex": _INDEX,
        "GlobalSecondaryIndex": f"{_INDEX} {_CAPACITY}",
        "GlobalSecondaryIndexUpdate": "Create Update Delete",
        "CreateGlobalSecondaryIndexAction": f"{_INDEX} {_CAPACITY}",
        "UpdateGlobalSecondaryIndexAction": f"IndexName {_CAPACITY}",
        "DeleteGlobalSecondaryIndexAction": "IndexName",
        "ProvisionedThroughput": "ReadCapacityUnits WriteCapacityUnits",
        "OnDemandThroughput": "MaxReadRequestUnits MaxWriteRequestUnits",
        "WarmThroughput": "ReadUnitsPerSecond WriteUnitsPerSecond",
        "StreamSpecification": "StreamEnabled StreamViewType",
        "SSESpecification": "Enabled SSEType KMSMasterKeyId",
        # Time to live, tags
        "UpdateTimeToLiveInput": "TableName TimeToLiveSpecification",
        "TimeToLiveSpecification": "Enabled AttributeName",
        "DescribeTimeToLiveInput": "TableName",
        "TagResourceInput": "ResourceArn Tags",
        "Tag": "Key Value",
        "UntagResourceInput": "ResourceArn TagKeys",
        "ListTagsOfResourceInput": "ResourceArn NextToken",
        # What is not there
        "DescribeContinuousBackupsInput": "TableName",
        "UpdateContinuousBackupsInput": "TableName PointInTimeRecoverySpecification",
        "PointInTimeRecoverySpecification": "PointInTimeRecoveryEnabled RecoveryPeriodInDays",
        "DescribeContributorInsightsInput": "TableName IndexName",
        "ListContributorInsightsInput": "TableName NextToken MaxResults",
        "DescribeKinesisStreamingDestinationInput": "TableName",
        "GetResourcePolicyInput": "ResourceArn",
        "DeleteResourcePolicyInput": "ResourceArn ExpectedRevisionId",
        "DescribeGlobalTableInput": "GlobalTableName",
        "DescribeGlobalTableSettingsInput": "GlobalTableName",
        "ListGlobalTablesInput": "ExclusiveStartGlobalTableName Limit RegionName",
        "ListBackupsInput": (
            "TableName Limit TimeRangeLowerBound TimeRangeUpperBound ExclusiveStartBackupArn BackupType"
        ),
        "ListExportsInput": "TableArn MaxResults NextToken",
        "ListImportsInput": "TableArn PageSize NextToken",
        "ListBulkOperationsInput": "MaxResults NextToken",
        # Streams
        "ListStreamsInput": "TableName Limit ExclusiveStartStreamArn",
        "DescribeStreamInput": "StreamArn Limit ExclusiveStartShardId ShardFilter",
        "ShardFilter": "Type ShardId",
        "GetShardIteratorInput": "StreamArn ShardId ShardIteratorType SequenceNumber Timestamp",
        "GetRecordsInput": "ShardIterator Limit",
    }.items()
}

REFUSED: Mapping[str, frozenset[str]] = {
    "CreateTableInput": frozenset(
        {"VectorIndexes", "ResourcePolicy", "GlobalTableSourceArn", "GlobalTableSettingsReplicationMode"}
    ),
    "UpdateTableInput": frozenset(
        {
            "ReplicaUpdates",
            "MultiRegionConsistency",
            "GlobalTableWitnessUpdates",
            "GlobalTableSettingsReplicationMode",
            "DisassociationProtectionEnabled",
            "VectorIndexUpdates",
        }
    ),
}


def unsupported(member: str) -> ServiceError:
    """The refusal of a member that is not honoured."""
    return validation_error(
        f"One or more parameter values were invalid: {member} is not supported by this endpoint"
    )


def unsupported_operation(operation: str) -> ServiceError:
    """The answer to an operation that the service has and this store does not."""
    return ServiceError("UnknownOperationException", f"{operation} is not supported by this endpoint")


class RefusalCompiler:
    """Builds what refuses the members of a request that are not honoured; None where there are none."""

    def __init__(self, model: Model, honoured: Mapping[str, frozenset[str]] = HONOURED) -> None:
        self._model = model
        self._honoured = honoured
        self._structures: dict[str, Refuse | None] = {}

    def structure(self, name: str) -> Refuse | None:
        """What refuses a structure's members, at any depth. Attribute values have nothing to refuse."""
        if name in ("", "AttributeValue"):
            return None
        if name not in self._structures:
            self._structures[name] = self._structure(name)
        return self._structures[name]

    def _structure(self, name: str) -> Refuse | None:
        honoured = self._honoured.get(name, frozenset())
        refused = []
        inner: list[tuple[str, Refuse]] = []
        for member, reference in self._model.shape(name).get("members", {}).items():
            if member not in honoured:
                refused.append(member)
                continue
            below = self._below(reference["shape"])
            if below is not None:
                inner.append((member, below))
        if not refused and not inner:
            return None

        def refuse(value: Any) -> None:
            for member in refused:
                if value.get(member) is not None:
                    raise unsupported(member)
            for member, below in inner:
                if value.get(member) is not None:
                    below(value[member])

        return refuse

    def _below(self, name: str) -> Refuse | None:
        shape = self._model.shape(name)
        match shape["type"]:
            case "structure":
                return self.structure(name)
            case "list":
                return _each(self._below(shape["member"]["shape"]), iter)
            case "map":
                return _each(self._below(shape["value"]["shape"]), dict.values)
            case _:
                return None


def _each(element: Refuse | None, elements_of: Callable[[Any], Iterable[Any]]) -> Refuse | None:
    if element is None:
        return None

    def refuse(value: Any) -> None:
        for one in elements_of(value):
            element(one)

    return refuse
