"""GetRecords: the next records of a shard, at most 1000 and at most 1 MB, and where to go on.

An open shard always has a next iterator, records or not; a closed one has none once it was read to its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.errors import ServiceError
from backend.operations.stream_requests import (
    ITERATOR_LIFE,
    ShardIterator,
    check_limit,
    iterator_of,
    stream_of,
    trimmed,
)
from backend.protocol import Request, Response

if TYPE_CHECKING:
    from backend.engine import Engine

_MOST = 1000
_MOST_BYTES = 1024 * 1024


def validate(request: Request) -> ShardIterator:
    check_limit(request, _MOST)
    return iterator_of(request["ShardIterator"])


def run(engine: Engine, request: Request, plan: ShardIterator) -> Response:
    now = engine.now()
    if now - plan.issued > ITERATOR_LIFE:
        raise ServiceError(
            "ExpiredIteratorException",
            "The shard iterator has expired and can no longer be used to retrieve stream records. "
            "A shard iterator expires 15 minutes after it is retrieved using the GetShardIterator action.",
        )
    stream = stream_of(engine, plan.arn)
    engine.streams.trim(stream, now)
    if plan.position <= stream.trimmed_to:
        raise trimmed()
    limit = request.get("Limit") or _MOST
    records: list[dict[str, Any]] = []
    position, size, more = plan.position, 0, False
    for sequence, record in engine.streams.read(stream, plan.position):
        size += record["dynamodb"]["SizeBytes"]
        more = len(records) == limit or (bool(records) and size > _MOST_BYTES)
        if more:
            break
        records.append(record)
        position = sequence + 1
    answer: dict[str, Any] = {"Records": records}
    if stream.disabled is None or more:
        answer["NextShardIterator"] = ShardIterator(stream.arn, position, now).token()
    return answer
