"""DeleteTable: the table with its items and indexes; its stream stays readable.

Rules: a table in transition is in use; a protected table is refused. The answer says DELETING, and neither
what the table was declared to be nor when it was made.
Public source: DynamoDB API Reference, "DeleteTable".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.errors import validation_error
from backend.operations.control_plane import description, table_to_change
from backend.protocol import Request, Response

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
