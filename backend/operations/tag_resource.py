"""TagResource: add or overwrite tags of a table. Public source: DynamoDB API Reference, "TagResource"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.operations.control_plane import merged_tags, tagged_table
from backend.protocol import Request, Response

if TYPE_CHECKING:
    from backend.engine import Engine


def validate(request: Request) -> None:
    """The checks need the account, and are made when the operation runs."""


def run(engine: Engine, request: Request, plan: None) -> Response:
    table = tagged_table(engine, "TagResource", request, "Tags", "Tag")
    table.tags = merged_tags(table.tags, request["Tags"])
    engine.catalog.save(table)
    return {}
