"""DescribeTable: a table in whatever status. Public source: DynamoDB API Reference, "DescribeTable"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.operations.control_plane import description
from backend.protocol import Request, Response

if TYPE_CHECKING:
    from backend.engine import Engine


def validate(request: Request) -> None:
    """Names are all there is to judge, and `backend.validation` has."""


def run(engine: Engine, request: Request, plan: None) -> Response:
    return {"Table": description(engine, engine.catalog.describe_target(request["TableName"]))}
