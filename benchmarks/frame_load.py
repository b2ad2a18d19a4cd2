"""A load generator for protocols whose every answer to a request has the same length: DAX frames, RESP,
echoes.

    python -m benchmarks.frame_load < order.json > result.json

Each connection says its preamble once, then the request again and again, each when the last one is answered.
The first answer is compared with the one that is expected; the others are recognised by their length.
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


class _Client(asyncio.Protocol):
    def __init__(self, load: _Load) -> None:
        self._load = load
        self._received = 0
        self._first = b""
        self._checked = False
        self._sent = 0.0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are of no class of asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        self._sent = time.perf_counter()
        self._transport.write(self._load.preamble + self._load.request)

    def data_received(self, data: bytes) -> None:
        load = self._load
        self._received += len(data)
        if not self._checked:
            self._first += data
        if self._received < len(load.answer):
            return
        if not self._checked:
            if self._first != load.answer:
                load.fail(f"another answer: {self._first[:200]!r}")
                return
            self._checked = True
        self._received = 0
        now = time.perf_counter()
        if load.answered(self._sent, now):
            assert self._transport is not None
            self._sent = now
            self._transport.write(load.request)

    def connection_lost(self, exc: Exception | None) -> None:
        self._load.fail(f"the connection was closed ({exc})")


class _Load(Measurement):
    """The run that all connections share."""

    def __init__(self, order: dict[str, Any]) -> None:
        super().__init__(order["warm_up"], order["seconds"])
        self.preamble, self.request, self.answer = (
            base64.b64decode(order[name]) for name in ("preamble", "request", "answer")
        )


async def _run(order: dict[str, Any]) -> dict[str, Any]:
    load, loop = _Load(order), asyncio.get_running_loop()
    for _ in range(order["connections"]):
        await loop.create_connection(lambda: _Client(load), order["host"], order["port"])
    load.begin()
    await load.over
    return load.result()


if __name__ == "__main__":
    sys.stdout.write(orjson.dumps(live.run(_run(orjson.loads(sys.stdin.buffer.read())))).decode())
