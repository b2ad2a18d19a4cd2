"""A DynamoDB-JSON client that costs little: what a load generator may spend on a request.

Rules of this file:

* one connection, one request at a time, kept alive. Concurrency is several connections;
* a reply is its status, its head and its body as bytes: whoever wants JSON parses it;
* requests carry an Authorization header of the right form and a signature of zeros. Local endpoints look at
  the form; a service that verifies signatures answers with its own refusal.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast
from urllib.parse import urlsplit

import orjson

from backend.wire import decode_error

_AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=local/20250101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + "0" * 64
)


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP response. `head` is the status line and the header fields, in lower case."""

    status: int
    head: bytes
    body: bytes

    def header(self, name: bytes) -> str | None:
        """The value of the field of that lower-case name."""
        start = self.head.find(b"\r\n" + name + b":")
        if start < 0:
            return None
        start += len(name) + 3
        end = self.head.find(b"\r\n", start)
        return self.head[start : end if end >= 0 else None].strip().decode("latin-1")


class _Wire(asyncio.Protocol):
    """Collects the bytes of the one reply that is awaited."""

    def __init__(self) -> None:
        self._buffer = b""
        self._waiter: asyncio.Future[Reply] | None = None
        self._body_start = 0
        self._length = 0
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are of no class of asyncio's.
        self.transport = cast(asyncio.Transport, transport)

    def exchange(self, request: bytes) -> asyncio.Future[Reply]:
        if self.transport is None or self.transport.is_closing():
            raise ConnectionError("the connection is closed")
        if self._waiter is not None:
            raise RuntimeError("a request is under way on this connection")
        self._waiter = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self._waiter

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        if not self._body_start and not self._head_arrived():
            return
        if len(self._buffer) < self._body_start + self._length or self._waiter is None:
            return
        end = self._body_start + self._length
        head, body = self._buffer[: self._body_start - 2].lower(), self._buffer[self._body_start : end]
        self._buffer, self._body_start = self._buffer[end:], 0
        waiter, self._waiter = self._waiter, None
        if b"\r\nconnection: close" in head and self.transport is not None:
            self.transport.close()
        if not waiter.done():
            waiter.set_result(Reply(int(head[9:12]), head, body))

    def _head_arrived(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return False
        head = self._buffer[:end].lower()
        at = head.find(b"\r\ncontent-length:")
        if at < 0:
            self._fail(ConnectionError("the reply has no Content-Length"))
            return False
        stop = head.find(b"\r\n", at + 2)
        self._length = int(head[at + 17 : stop if stop >= 0 else None])
        self._body_start = end + 4
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(exc or ConnectionError("the connection was closed"))

    def _fail(self, error: Exception) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_exception(error)


class Connection:
    """A kept-alive connection to one DynamoDB-JSON endpoint."""

    def __init__(self, url: str) -> None:
        """`url` is `http://host:port`. Raises ValueError for anything else."""
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError(f"an endpoint is http://host:port, not {url}")
        self._host, self._port = parts.hostname, parts.port or 80
        self._address = f"{self._host}:{self._port}"
        self._wire: _Wire | None = None

    async def send(self, operation: str, body: bytes) -> Reply:
        """One request and its reply, whatever its status. Raises OSError where the connection breaks."""
        wire = self._wire
        if wire is None or wire.transport is None or wire.transport.is_closing():
            wire = await self._connect()
        return await wire.exchange(self.encode(self._address, operation, body))

    async def call(self, operation: str, request: object) -> dict[str, Any]:
        """A request as JSON-ready values, its answer likewise. Raises `ServiceError` where it is refused."""
        reply = await self.send(operation, orjson.dumps(request))
        if reply.status != 200:
            raise decode_error(reply.status, reply.body)
        answer: dict[str, Any] = orjson.loads(reply.body)
        return answer

    def close(self) -> None:
        """Closing twice is harmless."""
        if self._wire is not None and self._wire.transport is not None:
            self._wire.transport.close()
            self._wire = None

    async def _connect(self) -> _Wire:
        loop = asyncio.get_running_loop()
        _, self._wire = await loop.create_connection(_Wire, self._host, self._port)
        return self._wire

    @staticmethod
    def encode(address: str, operation: str, body: bytes) -> bytes:
        """The bytes of one request to `address` (host:port)."""
        return _head(address, operation) + b"%d\r\n\r\n" % len(body) + body


@lru_cache
def _head(address: str, operation: str) -> bytes:
    return (
        f"POST / HTTP/1.1\r\nHost: {address}\r\n"
        "Content-Type: application/x-amz-json-1.0\r\n"
        f"X-Amz-Target: DynamoDB_20120810.{operation}\r\n"
        "X-Amz-Date: 20250101T000000Z\r\n"
        f"Authorization: {_AUTHORIZATION}\r\nContent-Length: "
    ).encode()
