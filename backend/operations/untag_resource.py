"""UntagResource: remove tags of a table by key; keys it does not have are no error.

Public source: DynamoDB API Reference, "UntagResource".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.operations.control_plane import check_tag_count, tagged_table, valid_tag_key
from backend.protocol import Request, Response

if TYPE_CHECKING:
    from backend.engine import Engine


def validate(request: Request) -> None:
    """The checks need the account, and are made when the operation runs."""


def run(engine: Engine, request: Request, plan: None) -> Response:
    table = tagged_table(engine, "UntagResource", request, "TagKeys", "Tag Key")
    keys = set(map(valid_tag_key, request["TagKeys"]))
    check_tag_count(keys)
    table.tags = {key: value for key, value in table.tags.items() if key not in keys}
    engine.catalog.save(table)
    return {}
