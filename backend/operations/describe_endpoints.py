"""DescribeEndpoints: the regional endpoint, as the service names it.

SDKs ask for it only when no endpoint was configured, so none that talks to this store follows the answer.
Public source: DynamoDB API Reference, "DescribeEndpoints".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.protocol import Request, Response

if TYPE_CHECKING:
    from backend.engine import Engine

_CACHE_MINUTES = 1440


def validate(request: Request) -> None:
    """The request is empty."""


def run(engine: Engine, request: Request, plan: None) -> Response:
    address = f"dynamodb.{engine.settings.region}.amazonaws.com"
    return {"Endpoints": [{"Address": address, "CachePeriodInMinutes": _CACHE_MINUTES}]}
