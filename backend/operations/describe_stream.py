"""DescribeStream: a stream's status and its shard.

Any ExclusiveStartShardId, and a filter for the children of a shard, give an empty list: the stream has one
shard, which is never split.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.operations.stream_requests import check_arn, check_limit, stream_of
from backend.protocol import Request, Response
from backend.tables.streams import Stream

if TYPE_CHECKING:
    from backend.engine import Engine

_MOST = 100


def validate(request: Request) -> None:
    check_limit(request, _MOST)
    check_arn(request["StreamArn"])


def run(engine: Engine, request: Request, plan: None) -> Response:
    stream = stream_of(engine, request["StreamArn"])
    no_shard = request.get("ExclusiveStartShardId") or request.get("ShardFilter")
    description: dict[str, Any] = {
        "StreamArn": stream.arn,
        "StreamLabel": stream.label,
        "StreamStatus": stream.status,
        "StreamViewType": stream.view_type,
        "CreationRequestDateTime": stream.created,
        "TableName": stream.table_name,
        "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in stream.key_schema],
        "Shards": [] if no_shard else [_shard(stream)],
    }
    return {"StreamDescription": description}


def _shard(stream: Stream) -> dict[str, Any]:
    numbers = {"StartingSequenceNumber": str(stream.first_sequence)}
    if stream.disabled is not None:
        numbers["EndingSequenceNumber"] = str(stream.last_sequence)
    return {"ShardId": stream.shard_id, "SequenceNumberRange": numbers}
