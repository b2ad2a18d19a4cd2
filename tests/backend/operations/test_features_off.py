"""What the store does not have is described as switched off, and cannot be switched on."""

from __future__ import annotations

from typing import Any

import pytest

ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/music"
NOT_FOUND = "Requested resource not found: Table: nowhere not found"
INVALID = "One or more parameter values were invalid: "


@pytest.fixture
def music(store, index_of):
    store.create(
        "music", "pk:S", attributes=["genre:S"], GlobalSecondaryIndexes=[index_of("genres", "genre")]
    )
    return store


@pytest.mark.parametrize("name", ["music", ARN])
def test_a_table_has_continuous_backups_without_point_in_time_recovery(music, name):
    assert music("DescribeContinuousBackups", TableName=name) == {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
        }
    }


def test_point_in_time_recovery_may_be_switched_off_and_not_on(music, refusal):
    def update(**recovery: Any) -> dict[str, Any]:
        return {"TableName": "music", "PointInTimeRecoverySpecification": recovery}

    off = music("UpdateContinuousBackups", **update(PointInTimeRecoveryEnabled=False))
    assert off == music("DescribeContinuousBackups", TableName="music")
    error = refusal(music, "UpdateContinuousBackups", **update(PointInTimeRecoveryEnabled=True))
    assert (error.code, error.message) == (
        "UnknownOperationException",
        "UpdateContinuousBackups with PointInTimeRecoveryEnabled is not supported by this endpoint",
    )
    days = update(PointInTimeRecoveryEnabled=False, RecoveryPeriodInDays=7)
    assert refusal(music, "UpdateContinuousBackups", **days).message == (
        "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
    )


def test_a_table_that_is_being_created_has_no_backups_yet(new_store):
    store = new_store(settings={"table_delay": 5.0})
    store.create("music", "pk:S")
    description = store("DescribeContinuousBackups", TableName="music")["ContinuousBackupsDescription"]
    assert description["ContinuousBackupsStatus"] == "DISABLED"


@pytest.mark.parametrize("name", ["music", ARN])
def test_contributor_insights_are_off_for_tables_and_indexes(music, refusal, name):
    off = {"TableName": "music", "ContributorInsightsStatus": "DISABLED"}
    assert music("DescribeContributorInsights", TableName=name) == off
    assert music("DescribeContributorInsights", TableName=name, IndexName="genres") == {
        **off,
        "IndexName": "genres",
    }
    error = refusal(music, "DescribeContributorInsights", TableName=name, IndexName="nowhere")
    assert (error.code, error.message) == (
        "ResourceNotFoundException",
        "Requested resource not found: Index nowhere for table music",
    )


@pytest.mark.parametrize("name", ["music", ARN])
def test_a_table_has_no_kinesis_destinations(music, name):
    assert music("DescribeKinesisStreamingDestination", TableName=name) == {
        "TableName": "music",
        "KinesisDataStreamDestinations": [],
    }


def test_a_table_has_no_resource_policy(music, refusal):
    none = f"Resource-based policy not found for the provided ResourceArn: {ARN}"
    error = refusal(music, "GetResourcePolicy", ResourceArn=ARN)
    assert (error.code, error.message) == ("PolicyNotFoundException", none)
    assert music("DeleteResourcePolicy", ResourceArn=ARN) == {}
    error = refusal(music, "DeleteResourcePolicy", ResourceArn=ARN, ExpectedRevisionId="1")
    assert (error.code, error.message) == ("PolicyNotFoundException", none)


@pytest.mark.parametrize(
    ("arn", "message"),
    [
        ("music", f"{INVALID}ARNs must start with 'arn:': music"),
        ("arn:aws:s3:::music", f"{INVALID}Provided Arn is not a DynamoDB resource arn: arn:aws:s3:::music"),
        (
            ARN.replace("us-east-1", "eu-west-1"),
            f"{INVALID}Invalid resource Arn: {ARN.replace('us-east-1', 'eu-west-1')}",
        ),
        (
            ARN.replace("123456789012", "210987654321"),
            "This action is only supported by accounts that match the resource owner’s account.",
        ),
        (
            f"{ARN}/index/genres",
            f"{INVALID}Invalid resource arn provided, only table or stream is accepted. "
            f"Provided resource arn: {ARN}/index/genres",
        ),
        (ARN.replace("music", "nowhere"), NOT_FOUND),
    ],
)
def test_what_can_have_no_resource_policy(music, refusal, arn, message):
    assert refusal(music, "GetResourcePolicy", ResourceArn=arn).message == message


@pytest.mark.parametrize(
    ("operation", "code", "message"),
    [
        ("DescribeContinuousBackups", "TableNotFoundException", "Table not found: nowhere"),
        ("DescribeContributorInsights", "ResourceNotFoundException", NOT_FOUND),
        ("ListContributorInsights", "ResourceNotFoundException", NOT_FOUND),
        ("DescribeKinesisStreamingDestination", "ResourceNotFoundException", NOT_FOUND),
    ],
)
def test_each_has_its_words_for_an_unknown_table(store, refusal, operation, code, message):
    error = refusal(store, operation, TableName="nowhere")
    assert (error.code, error.message) == (code, message)


@pytest.mark.parametrize(
    ("operation", "answer"),
    [
        ("ListBackups", {"BackupSummaries": []}),
        ("ListContributorInsights", {"ContributorInsightsSummaries": []}),
        ("ListExports", {"ExportSummaries": []}),
        ("ListImports", {"ImportSummaryList": []}),
        ("ListGlobalTables", {"GlobalTables": []}),
        ("ListBulkOperations", {"BulkOperationsSummaryList": []}),
    ],
)
def test_lists_are_empty(store, operation: str, answer: Any):
    assert store(operation) == answer


def test_no_list_has_a_second_page(store, refusal):
    error = refusal(store, "ListExports", NextToken="more")
    assert error.message == "Invalid Request: Provided nextToken is invalid: more"


def test_a_range_of_backups_begins_before_it_ends(store, refusal):
    error = refusal(store, "ListBackups", TimeRangeLowerBound=2.0, TimeRangeUpperBound=1.0)
    assert error.message == f"{INVALID}Time range lower bound must be less than or equal to upper bound"


@pytest.mark.parametrize("operation", ["DescribeGlobalTable", "DescribeGlobalTableSettings"])
def test_no_table_is_a_global_table(music, refusal, operation):
    error = refusal(music, operation, GlobalTableName="music")
    assert (error.code, error.message) == (
        "GlobalTableNotFoundException",
        "Global table with name: 'music' does not exist.",
    )


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("UpdateContributorInsights", {"TableName": "music", "ContributorInsightsAction": "ENABLE"}),
        ("EnableKinesisStreamingDestination", {"TableName": "music", "StreamArn": ARN}),
        ("PutResourcePolicy", {"ResourceArn": ARN, "Policy": "{}"}),
        ("CreateBackup", {"TableName": "music", "BackupName": "now"}),
        ("SearchVectors", {"TableName": "music", "IndexName": "near", "SearchVector": [], "TopK": 1}),
    ],
)
def test_switching_on_is_refused_by_name(music, refusal, operation, request_):
    error = refusal(music, operation, **request_)
    assert (error.code, error.status) == ("UnknownOperationException", 400)
    assert error.message == f"{operation} is not supported by this endpoint"
