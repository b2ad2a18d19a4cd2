"""What an event loop costs by itself: the same bytes for every piece of a request, on the loop that our nodes
use.

python -m benchmarks.bare_echo PORT BASE64-ANSWER
"""

from __future__ import annotations

import asyncio
import base64
import sys
from typing import cast

from cluster.runtime import live


class _Echo(asyncio.Protocol):
    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        self._transport.write(self._answer)


async def serve(port: int, answer: bytes) -> None:
    await asyncio.get_running_loop().create_server(lambda: _Echo(answer), "127.0.0.1", port, backlog=8192)
    await asyncio.Event().wait()


if __name__ == "__main__":
    live.run(serve(int(sys.argv[1]), base64.b64decode(sys.argv[2])))
