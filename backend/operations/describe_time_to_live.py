"""DescribeTimeToLive: whether items of a table expire, and by which attribute.

Public source: DynamoDB API Reference, "DescribeTimeToLive".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.protocol import Request, Response

if TYPE_CHECKING:
    from backend.engine import Engine


def validate(request: Request) -> None:
    """Names are all there is to judge, and `backend.validation` has."""


def run(engine: Engine, request: Request, plan: None) -> Response:
    attribute = engine.catalog.describe_target(request["TableName"]).time_to_live
    if attribute is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": attribute}}
