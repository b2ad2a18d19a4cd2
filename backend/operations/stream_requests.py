"""What the operations of DynamoDB Streams share: finding a stream, and the tokens that shard iterators are.

A token is `<stream ARN>|1|<position and time of issue>`: opaque to clients, and good for 15 minutes on any
engine over the same storage.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backend.errors import ServiceError, resource_not_found, validation_error
from backend.protocol import Request
from backend.tables.streams import Stream

if TYPE_CHECKING:
    from backend.engine import Engine

ITERATOR_LIFE = 15 * 60.0
"""Seconds after which a shard iterator is refused."""

_VERSION = "1"


@dataclass(frozen=True, slots=True)
class ShardIterator:
    """The next sequence number to read, and when (seconds since the epoch) the iterator was handed out."""

    arn: str
    position: int
    issued: float

    def token(self) -> str:
        content = f"{self.position}/{self.issued!r}".encode()
        return f"{self.arn}|{_VERSION}|{urlsafe_b64encode(content).decode()}"


def iterator_of(token: str) -> ShardIterator:
    """The iterator in a token. Raises ValidationException for what is none."""
    try:
        arn, version, content = token.rsplit("|", 2)
        position, issued = urlsafe_b64decode(content).decode().split("/")
        if version != _VERSION:
            raise ValueError(version)
        return ShardIterator(arn, int(position), float(issued))
    except (ValueError, Base64Error):
        raise validation_error("Invalid ShardIterator") from None


def check_arn(arn: str) -> None:
    """Refuse what is not the ARN of a stream of any table."""
    parts = arn.split(":", 5)
    is_stream = (
        len(parts) == 6 and parts[0] == "arn" and parts[2] == "dynamodb" and parts[5].startswith("table/")
    )
    if not is_stream or "/stream/" not in parts[5]:
        raise validation_error("Invalid StreamArn")


def check_limit(request: Request, most: int) -> None:
    """Refuse a Limit above what the operation takes; the model has the lower bound."""
    limit = request.get("Limit")
    if limit is not None and limit > most:
        raise validation_error(
            f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy constraint: "
            f"Member must have value less than or equal to {most}"
        )


def stream_of(engine: Engine, arn: str) -> Stream:
    """The stream of that ARN. Raises ResourceNotFoundException when there is none, or none any more."""
    stream = engine.streams.find(arn)
    if stream is None:
        raise resource_not_found(f"Requested resource not found: Stream: {arn} not found")
    return stream


def trimmed() -> ServiceError:
    return ServiceError(
        "TrimmedDataAccessException",
        "The operation attempted to read past the oldest stream record in a shard.",
    )
