"""UpdateTimeToLive: switch the expiry of a table's items on or off.

Rules: it is refused to switch on what is on, with whatever attribute, or off what is off; switching off names
the current attribute. The setting holds at once; the service takes up to an hour.
Public source: DynamoDB API Reference, "UpdateTimeToLive".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.errors import validation_error
from backend.operations.control_plane import table_to_change
from backend.protocol import Request, Response

if TYPE_CHECKING:
    from backend.engine import Engine


def validate(request: Request) -> None:
    """Names are all there is to judge, and `backend.validation` has."""


def run(engine: Engine, request: Request, plan: None) -> Response:
    table = table_to_change(engine, request["TableName"])
    asked = request["TimeToLiveSpecification"]
    attribute, current = asked["AttributeName"], table.time_to_live
    if asked["Enabled"]:
        if current is not None:
            raise validation_error("TimeToLive is already enabled")
        table.time_to_live = attribute
        engine.expiry.enable(table, attribute, engine.now())
    else:
        if current is None:
            raise validation_error("TimeToLive is already disabled")
        if current != attribute:
            raise validation_error(
                f"TimeToLive is active on a different AttributeName: current AttributeName is {current}"
            )
        table.time_to_live = None
        engine.expiry.disable(table)
    engine.catalog.save(table)
    return {"TimeToLiveSpecification": {"Enabled": asked["Enabled"], "AttributeName": attribute}}
