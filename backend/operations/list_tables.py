"""ListTables: names in byte order, a page at a time.

Rules: ExclusiveStartTableName need not name a table; LastEvaluatedTableName is absent on the last page.
Public source: DynamoDB API Reference, "ListTables".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.protocol import Request, Response

if TYPE_CHECKING:
    from backend.engine import Engine

_PAGE = 100


def validate(request: Request) -> None:
    """Limit and name are all there is to judge, and `backend.validation` has."""


def run(engine: Engine, request: Request, plan: None) -> Response:
    start = request.get("ExclusiveStartTableName")
    limit = request.get("Limit") or _PAGE
    names = [name for name in engine.catalog.names() if start is None or name.encode() > start.encode()]
    answer: dict[str, Any] = {"TableNames": names[:limit]}
    if len(names) > limit:
        answer["LastEvaluatedTableName"] = names[limit - 1]
    return answer
