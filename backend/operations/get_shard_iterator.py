"""GetShardIterator: where in a shard to begin to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.errors import resource_not_found, validation_error
from backend.operations.stream_requests import ShardIterator, check_arn, stream_of, trimmed
from backend.protocol import Request, Response
from backend.tables.streams import Stream

if TYPE_CHECKING:
    from backend.engine import Engine

_BY_NUMBER = ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER")


def validate(request: Request) -> None:
    check_arn(request["StreamArn"])
    kind, number = request["ShardIteratorType"], request.get("SequenceNumber")
    if kind in _BY_NUMBER:
        if number is None:
            raise validation_error(
                "One or more parameter values were invalid: SequenceNumber must be specified for "
                f"ShardIteratorType {kind}"
            )
        if not number.isascii() or not number.isdigit():
            raise validation_error("Invalid SequenceNumber")
    elif number is not None:
        raise validation_error(
            "One or more parameter values were invalid: SequenceNumber must not be specified for "
            f"ShardIteratorType {kind}"
        )
    if (request.get("Timestamp") is None) == (kind == "AT_TIMESTAMP"):
        must = "must" if kind == "AT_TIMESTAMP" else "must not"
        raise validation_error(
            f"One or more parameter values were invalid: Timestamp {must} be specified for "
            f"ShardIteratorType {kind}"
        )


def run(engine: Engine, request: Request, plan: None) -> Response:
    stream = stream_of(engine, request["StreamArn"])
    if request["ShardId"] != stream.shard_id:
        raise resource_not_found(
            f"Requested resource not found: Shard: {request['ShardId']} in Stream: {stream.arn} not found"
        )
    now = engine.now()
    engine.streams.trim(stream, now)
    position = _position(engine, stream, request)
    return {"ShardIterator": ShardIterator(stream.arn, position, now).token()}


def _position(engine: Engine, stream: Stream, request: Request) -> int:
    kind = request["ShardIteratorType"]
    if kind == "TRIM_HORIZON":
        return max(stream.trimmed_to, stream.first_sequence) + 1
    if kind == "LATEST":
        return stream.last_sequence + 1
    if kind == "AT_TIMESTAMP":
        return engine.streams.position_at(stream, float(request["Timestamp"]))
    number = int(request["SequenceNumber"])
    if number <= stream.trimmed_to:
        raise trimmed()
    if not stream.first_sequence <= number <= stream.last_sequence:
        raise validation_error("Invalid SequenceNumber: the shard has no such sequence number")
    return number if kind == "AT_SEQUENCE_NUMBER" else number + 1
