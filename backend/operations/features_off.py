"""What this store does not have, described as the service describes it where it is not switched on.

Backups, point-in-time recovery, exports, imports and bulk operations, global tables, resource policies,
Contributor Insights, Kinesis destinations. Tools ask about them before they do anything else: Terraform's
`aws_dynamodb_table` reads the continuous backups of every table, consoles list backups and exports.

Rules: nothing here can be switched on, so each answer is the truth; whatever would switch something on is
refused by name, as is every operation that this store does not have; what is off may be switched off. An
unknown table is refused in the words of each operation: the backup family has a code and a text of its own.

Sources: the API Reference of each operation; the texts of the errors are the service's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from backend.errors import ServiceError, resource_not_found, validation_error
from backend.operations.control_plane import resource_table
from backend.protocol import Request, Response
from backend.validation.support import unsupported_operation

if TYPE_CHECKING:
    from backend.engine import Engine


class Described:
    """An operation that changes nothing, by what it answers."""

    def __init__(self, answer: Callable[[Engine, Request], Response]) -> None:
        self._answer = answer

    def validate(self, request: Request) -> None:
        """Names are all there is to judge, and `backend.validation` has."""

    def run(self, engine: Engine, request: Request, plan: None) -> Response:
        return self._answer(engine, request)


def _continuous_backups(engine: Engine, request: Request) -> Response:
    """DescribeContinuousBackups: there for every table that is ready, without point-in-time recovery."""
    table = engine.catalog.find(request["TableName"])
    if table is None:
        raise ServiceError("TableNotFoundException", f"Table not found: {request['TableName']}")
    ready = table.status(engine.now()) != "CREATING"
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED" if ready else "DISABLED",
            "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
        }
    }


def _update_continuous_backups(engine: Engine, request: Request) -> Response:
    """UpdateContinuousBackups: point-in-time recovery may be switched off, which it is."""
    wanted = request["PointInTimeRecoverySpecification"]
    if wanted["PointInTimeRecoveryEnabled"]:
        raise unsupported_operation("UpdateContinuousBackups with PointInTimeRecoveryEnabled")
    if wanted.get("RecoveryPeriodInDays") is not None:
        raise validation_error(
            "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
        )
    return _continuous_backups(engine, request)


def _contributor_insights(engine: Engine, request: Request) -> Response:
    """DescribeContributorInsights, of a table or of one of its global indexes."""
    table = engine.catalog.describe_target(request["TableName"])
    answer = {"TableName": table.name, "ContributorInsightsStatus": "DISABLED"}
    name = request.get("IndexName")
    if name is not None:
        if name not in table.global_indexes:
            raise resource_not_found(f"Requested resource not found: Index {name} for table {table.name}")
        answer["IndexName"] = name
    return answer


def _contributor_insights_list(engine: Engine, request: Request) -> Response:
    if request.get("TableName") is not None:
        engine.catalog.describe_target(request["TableName"])
    return _none("ContributorInsightsSummaries")(engine, request)


def _kinesis_destinations(engine: Engine, request: Request) -> Response:
    table = engine.catalog.describe_target(request["TableName"])
    return {"TableName": table.name, "KinesisDataStreamDestinations": []}


def _resource_policy(engine: Engine, request: Request) -> Response:
    resource_table(engine, request["ResourceArn"])
    raise _no_policy(request["ResourceArn"])


def _delete_resource_policy(engine: Engine, request: Request) -> Response:
    """DeleteResourcePolicy: there is none, so all is done, unless a certain one was to be deleted."""
    resource_table(engine, request["ResourceArn"])
    if request.get("ExpectedRevisionId") is not None:
        raise _no_policy(request["ResourceArn"])
    return {}


def _no_policy(arn: str) -> ServiceError:
    return ServiceError(
        "PolicyNotFoundException", f"Resource-based policy not found for the provided ResourceArn: {arn}"
    )


def _global_table(engine: Engine, request: Request) -> Response:
    name = request["GlobalTableName"]
    raise ServiceError("GlobalTableNotFoundException", f"Global table with name: '{name}' does not exist.")


def _backups(engine: Engine, request: Request) -> Response:
    lower, upper = request.get("TimeRangeLowerBound"), request.get("TimeRangeUpperBound")
    if lower is not None and upper is not None and lower > upper:
        raise validation_error(
            "One or more parameter values were invalid: "
            "Time range lower bound must be less than or equal to upper bound"
        )
    return {"BackupSummaries": []}


def _none(member: str) -> Callable[[Engine, Request], Response]:
    """A list of things of a kind that there are none of, so that no page of it ever had a next one."""

    def answer(engine: Engine, request: Request) -> Response:
        token = request.get("NextToken")
        if token is not None:
            raise validation_error(f"Invalid Request: Provided nextToken is invalid: {token}")
        return {member: []}

    return answer


DESCRIBED = {
    "DescribeContinuousBackups": Described(_continuous_backups),
    "UpdateContinuousBackups": Described(_update_continuous_backups),
    "DescribeContributorInsights": Described(_contributor_insights),
    "ListContributorInsights": Described(_contributor_insights_list),
    "DescribeKinesisStreamingDestination": Described(_kinesis_destinations),
    "GetResourcePolicy": Described(_resource_policy),
    "DeleteResourcePolicy": Described(_delete_resource_policy),
    "DescribeGlobalTable": Described(_global_table),
    "DescribeGlobalTableSettings": Described(_global_table),
    "ListGlobalTables": Described(_none("GlobalTables")),
    "ListBackups": Described(_backups),
    "ListExports": Described(_none("ExportSummaries")),
    "ListImports": Described(_none("ImportSummaryList")),
    "ListBulkOperations": Described(_none("BulkOperationsSummaryList")),
}
