"""ListTagsOfResource: all tags of a table, in one page: there are never more than 50.

Public source: DynamoDB API Reference, "ListTagsOfResource".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.errors import validation_error
from backend.operations.control_plane import tagged_table
from backend.protocol import Request, Response

if TYPE_CHECKING:
    from backend.engine import Engine


def validate(request: Request) -> None:
    """The checks need the account, and are made when the operation runs."""


def run(engine: Engine, request: Request, plan: None) -> Response:
    table = tagged_table(engine, "ListTagsOfResource", request)
    if request.get("NextToken") is not None:
        raise validation_error("Invalid NextToken: tags never fill a second page")
    return {"Tags": [{"Key": key, "Value": value} for key, value in table.tags.items()]}
