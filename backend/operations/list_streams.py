"""ListStreams: the streams of one table or of all, in the order of their ARNs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.operations.stream_requests import check_limit
from backend.protocol import Request, Response

if TYPE_CHECKING:
    from backend.engine import Engine

_MOST = 100


def validate(request: Request) -> None:
    check_limit(request, _MOST)


def run(engine: Engine, request: Request, plan: None) -> Response:
    start = request.get("ExclusiveStartStreamArn") or ""
    limit = request.get("Limit") or _MOST
    found = [stream for stream in engine.streams.all(request.get("TableName")) if stream.arn > start]
    answer: dict[str, Any] = {
        "Streams": [
            {"StreamArn": stream.arn, "TableName": stream.table_name, "StreamLabel": stream.label}
            for stream in found[:limit]
        ]
    }
    if len(found) > limit:
        answer["LastEvaluatedStreamArn"] = found[limit - 1].arn
    return answer
