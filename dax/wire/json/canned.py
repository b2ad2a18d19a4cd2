"""A response that is bytes already, for aiohttp's low-level server.

`web.Response` builds a header multidict, fills it with defaults and serialises it: more work than a cache
hit itself. Here the caller brings the whole head, and both parts go to the transport in one write.
"""

from __future__ import annotations

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter


class CannedResponse(web.StreamResponse):
    """Sends `head` (status line and headers, with the empty line) and `body` on a connection kept alive."""

    def __init__(self, head: bytes, body: bytes) -> None:
        # What the base class would set up describes headers, which this response has none of.
        self._canned = head + body
        self._keep_alive = True

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        transport = request.transport
        if transport is None:
            raise ConnectionResetError("the client has gone away")
        transport.write(self._canned)
        # Waits only while the client does not read what it asked for.
        await request.writer.drain()
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        return None
