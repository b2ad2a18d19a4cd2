"""A load generator in a process of its own: the same HTTP request, again and again, over kept-alive
connections.

    python -m benchmarks.load < order.json > result.json

A server that closes each connection after its reply is followed: the next request opens another, and that
counts.

It must cost less than the server that it measures: a reply is recognised by its head's end and the length of
its body, which every reply to the same request shares, and is not parsed any further. A reply with another
status than 200 ends the run with an error.
"""

from __future__ import annotations

import asyncio
import base64
import sys
import time
from typing import Any, cast

import orjson

from benchmarks.measurement import Measurement
from cluster.runtime import live

_CLOSE = b"\r\nconnection: close"


class _Client(asyncio.Protocol):
    """One connection: a request is sent when the last one is answered."""

    def __init__(self, load: _Load) -> None:
        self._load = load
        self._buffer = b""
        self._sent = 0.0
        self._body_length: int | None = None
        self._transport: asyncio.Transport | None = None
        self._closes: bool | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are of no class of asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        self._send()

    def _send(self) -> None:
        assert self._transport is not None
        self._sent = time.perf_counter()
        self._transport.write(self._load.request)

    def data_received(self, data: bytes) -> None:
        if self._buffer:
            data = self._buffer + data
        end = data.find(b"\r\n\r\n")
        if end >= 0 and self._body_length is None:
            self._body_length = _content_length(data[:end])
        if end < 0 or self._body_length is None or len(data) < end + 4 + self._body_length:
            self._buffer = data
            return
        self._buffer = b""
        if not data.startswith(b"HTTP/1.1 200"):
            self._load.fail(data.decode("latin-1")[:300])
            return
        assert self._transport is not None
        if not self._load.answered(self._sent, time.perf_counter()):
            return
        if self._closes is None:
            self._closes = _CLOSE in data[:end].lower()
        if self._closes:
            self._transport.close()
            self._load.open()
        else:
            self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._closes:
            self._load.fail(f"the connection was closed ({exc})")


def _content_length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    raise ValueError("the reply has no Content-Length")


class _Load(Measurement):
    """The run that all connections share. Each connection sends as soon as it is open."""

    def __init__(self, request: bytes, host: str, port: int, warm_up: float, seconds: float) -> None:
        super().__init__(warm_up, seconds)
        self.request = request
        self._place = (host, port)
        self._opening: set[asyncio.Task[object]] = set()
        self.begin()

    def open(self) -> None:
        """Open a connection, which begins to send at once."""
        loop = asyncio.get_running_loop()
        opening = loop.create_task(loop.create_connection(lambda: _Client(self), *self._place))
        self._opening.add(opening)
        opening.add_done_callback(self._opened)

    def _opened(self, opening: asyncio.Task[object]) -> None:
        self._opening.discard(opening)
        if not opening.cancelled() and (error := opening.exception()):
            self.fail(f"cannot connect: {error}")


async def _run(order: dict[str, Any]) -> dict[str, Any]:
    request = base64.b64decode(order["request"])
    load = _Load(request, order["host"], order["port"], order["warm_up"], order["seconds"])
    for _ in range(order["connections"]):
        load.open()
    await load.over
    return load.result()


if __name__ == "__main__":
    sys.stdout.write(orjson.dumps(live.run(_run(orjson.loads(sys.stdin.buffer.read())))).decode())
