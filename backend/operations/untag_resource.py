"""UntagResource: remove tags of a table by key; keys it does not have are no error.

Public source: DynamoDB API Reference, "UntagResource".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.operations.control_plane import tagged_table
from backend.protocol import Request, Response

if TYPE_CHECKING:
    from backend.engine import Engine


def validate(request: Request) -> None:
    """The checks need the account, and are made when the operation runs."""


def run(engine: Engine, request: Request, plan: None) -> Response:
    table = tagged_table(engine, "UntagResource", request, "TagKeys", "Tag Key")
    table.tags = {key: value for key, value in table.tags.items() if key not in request["TagKeys"]}
    engine.catalog.save(table)
    return {}
