"""DeleteTable: the table with its items and indexes; its stream stays readable.

Rules: a table in transition is in use, and so is one while an index of it comes or goes; a protected table is
refused. The answer says DELETING, and neither what the table was declared to be nor when it was made.
Public source: DynamoDB API Reference, "DeleteTable".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.errors import ServiceError, validation_error
from backend.operations.control_plane import description, table_to_change
from backend.protocol import Request, Response
from backend.tables.table import Table

if TYPE_CHECKING:
    from backend.engine import Engine

_TOLD = frozenset(
    [
        "BillingModeSummary",
        "DeletionProtectionEnabled",
        "ItemCount",
        "LatestStreamArn",
        "LatestStreamLabel",
        "ProvisionedThroughput",
        "StreamSpecification",
        "TableArn",
        "TableId",
        "TableName",
        "TableSizeBytes",
        "TableStatus",
    ]
)


def validate(request: Request) -> None:
    """Names are all there is to judge, and `backend.validation` has."""


def run(engine: Engine, request: Request, plan: None) -> Response:
    _check_indexes(engine.catalog.describe_target(request["TableName"]), engine.now())
    table = table_to_change(engine, request["TableName"])
    if table.deletion_protection:
        raise validation_error(
            "Resource cannot be deleted as it is currently protected against deletion. "
            "Disable deletion protection first."
        )
    answer = {name: part for name, part in description(engine, table, "DELETING").items() if name in _TOLD}
    engine.streams.disable(table)
    engine.expiry.disable(table)
    engine.catalog.drop(table)
    return {"TableDescription": answer}


def _check_indexes(table: Table, now: float) -> None:
    """Refuse while an index comes or goes. Those that come with a new table are not told apart from it."""
    if table.status(now) == "UPDATING" and any(
        index.status(now) != "ACTIVE" for index in table.global_indexes.values()
    ):
        raise ServiceError(
            "ResourceInUseException",
            "Attempt to change a resource which is still in use: "
            "Cannot delete table while indexes are being created, updated, or deleted.",
        )
