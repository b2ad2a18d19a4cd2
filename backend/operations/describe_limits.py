"""DescribeLimits: the service's initial quotas, which nothing here enforces.

Public source: DynamoDB Developer Guide, "Service, account, and table quotas".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.protocol import Request, Response

if TYPE_CHECKING:
    from backend.engine import Engine


def validate(request: Request) -> None:
    """The request is empty."""


def run(engine: Engine, request: Request, plan: None) -> Response:
    return {
        "AccountMaxReadCapacityUnits": 80_000,
        "AccountMaxWriteCapacityUnits": 80_000,
        "TableMaxReadCapacityUnits": 40_000,
        "TableMaxWriteCapacityUnits": 40_000,
    }
