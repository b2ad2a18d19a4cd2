"""A table store as a DynamoDB-JSON endpoint over HTTP.

server = await loop.create_server(StoreFront(backend, entropy, time.time), "127.0.0.1", 8000)
"""

from __future__ import annotations

from collections.abc import Mapping

from backend.http_edge import Front
from backend.protocol import Backend, Entropy, Now, Request
from backend.wire import encode_response

_NO_HEADERS: Mapping[str, str] = {}


class StoreFront(Front):
    """A `Front` whose operations a backend executes."""

    def __init__(self, backend: Backend, entropy: Entropy, now: Now, *, region: str = "us-east-1") -> None:
        super().__init__(entropy, now, region=region)
        self._backend = backend

    async def run(self, operation: str, request: Request, body: bytes) -> tuple[bytes, Mapping[str, str]]:
        return encode_response(await self._backend.execute(operation, request)), _NO_HEADERS
