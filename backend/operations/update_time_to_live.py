"""UpdateTimeToLive: switch the expiry of a table's items on or off.

Rules: it is refused to switch on what is on or off what is off, and to name another attribute than that which
is on. The setting holds at once; the service takes up to an hour.
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
    if current not in (None, attribute):
        raise validation_error(
            f"TimeToLive is active on a different AttributeName: current AttributeName is {current}"
        )
    if asked["Enabled"] == (current is not None):
        raise validation_error(f"TimeToLive is already {'enabled' if asked['Enabled'] else 'disabled'}")
    if asked["Enabled"]:
        table.time_to_live = attribute
        engine.expiry.enable(table, attribute, engine.now())
    else:
        table.time_to_live = None
        engine.expiry.disable(table)
    engine.catalog.save(table)
    return {"TimeToLiveSpecification": {"Enabled": asked["Enabled"], "AttributeName": attribute}}
