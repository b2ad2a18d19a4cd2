"""A node as a DynamoDB-JSON endpoint over HTTP.

    server = await loop.create_server(NodeFront(node, entropy), "127.0.0.1", 8112)

The rules of this file:

* Around an operation everything is as at the store (`backend.http_edge`), so that a
  client cannot tell the two apart by anything but the headers below.
* Every answer of an operation says where it came from:
  `x-daxsim-node` the node that answered, and unless it is an error
  `x-daxsim-served-from` a value of `ServedFrom`,
  `x-daxsim-age` the entry's age in seconds, when a cache answered,
  `x-daxsim-miss` a value of `MissReason`, when a read went to the store,
  `x-daxsim-keys` how many keys each source answered (`item-cache=2,store=1`), for BatchGetItem.
* A GetItem that was answered once is recognised by its bytes from then on: a hit is two look-ups and a write.
* `/_daxsim/...` is for operators (`dax.wire.json.admin`).
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from backend.errors import ServiceError
from backend.http_edge import Front, WholeResponse, is_plain
from backend.protocol import Entropy, Request
from backend.protocol_checks import JSON, JSON_1_0, authenticate, wants_gzip
from backend.wire import encode_response, error_body
from dax.answer import Answer
from dax.cache.entries import Entry
from dax.node import Node
from dax.wire.json import admin
from dax.wire.json.memo import RequestMemo

_GET_ITEM = "DynamoDB_20120810.GetItem"


class NodeFront(Front):
    """A `Front` whose operations a node executes. `host` is what its server binds to."""

    def __init__(
        self, node: Node, entropy: Entropy, *, region: str = "us-east-1", host: str = "127.0.0.1"
    ) -> None:
        super().__init__(entropy, node.clock.now, region=region)
        self._node = node
        self._host = host
        self._node_header = {"x-daxsim-node": node.node_id}
        self._memo = RequestMemo()

    def make_server(self, **options: Any) -> web.Server:
        return _CountingServer(self._node, self._handle, **options)

    # A hit, recognised by its bytes

    def shortcut(self, request: web.BaseRequest, body: bytes) -> web.StreamResponse | None:
        """The answer to a plain GetItem that hits; None when the request takes the long way."""
        node = self._node
        node.metrics.network_bytes_in += len(body)
        key = self._memo.get(body, node.schema_generation)
        if key is None:
            return None
        headers = request.headers
        if (
            headers.get("X-Amz-Target") != _GET_ITEM
            or "Origin" in headers
            or request.method != "POST"
            or not is_plain(request)
        ):
            return None
        content_type = headers.get("Content-Type")
        if content_type != JSON_1_0 and content_type != JSON:
            return None
        try:
            authenticate(headers, request.query_string)
        except ServiceError:
            return None
        now = node.clock.now()
        entry = node.hit(key, now)
        if entry is None:
            return None
        answer = entry.json or _encode(entry)
        served_from = "negative-entry" if entry.item is None else "item-cache"
        age = f"{max(0.0, now - entry.stored_at):.3f}"
        if wants_gzip(headers, answer):
            extra = {"x-daxsim-served-from": served_from, "x-daxsim-age": age, **self._node_header}
            return self.respond(request, 200, answer, extra)
        node.metrics.network_bytes_out += len(answer)
        head = (
            f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n{entry.json_head}"
            f"x-amzn-RequestId: {self.request_ids.next()}\r\nx-daxsim-served-from: {served_from}\r\n"
            f"x-daxsim-age: {age}\r\nx-daxsim-node: {node.node_id}\r\nDate: {self.date()}\r\n\r\n"
        )
        return WholeResponse(head.encode() + answer)

    # The long way

    async def answer(self, request: web.BaseRequest, body: bytes) -> web.StreamResponse:
        if request.path.startswith(admin.PREFIX):
            return self._administer(request, body)
        return await super().answer(request, body)

    async def run(self, operation: str, request: Request, body: bytes) -> tuple[bytes, Mapping[str, str]]:
        node = self._node
        answer = await node.execute(operation, request)
        key = node.memo_key(request) if operation == "GetItem" else None
        if key is not None:
            self._memo.put(body, key)
        entry = answer.entry
        encoded = encode_response(answer.response) if entry is None else entry.json or _encode(entry)
        return encoded, provenance(answer)

    def respond(
        self, request: web.BaseRequest, status: int, body: bytes, extra: Mapping[str, str]
    ) -> web.StreamResponse:
        self._node.metrics.network_bytes_out += len(body)
        return super().respond(request, status, body, extra)

    def error_headers(self) -> Mapping[str, str]:
        return self._node_header

    def count_defect(self, error: ServiceError) -> None:
        self._node.metrics.count_failure(error)

    def _administer(self, request: web.BaseRequest, body: bytes) -> web.Response:
        try:
            status = 200
            answer = admin.answer(self._node, request.method, request.path, request.headers, body, self._host)
        except ServiceError as error:
            status, answer = error.status, error_body(error)
        return web.Response(status=status, body=answer, content_type=JSON)


class _CountingServer(web.Server):
    """aiohttp's server, which tells the node's metrics how many clients are connected."""

    def __init__(self, node: Node, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._metrics = node.metrics

    def connection_made(self, handler: Any, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        self._metrics.client_connections += 1

    def connection_lost(self, handler: Any, exc: BaseException | None = None) -> None:
        super().connection_lost(handler, exc)
        self._metrics.client_connections -= 1


def provenance(answer: Answer) -> dict[str, str]:
    """The headers that say where an answer came from."""
    headers = {"x-daxsim-node": answer.node, "x-daxsim-served-from": str(answer.served_from)}
    if answer.age is not None:
        headers["x-daxsim-age"] = f"{answer.age:.3f}"
    if answer.miss is not None:
        headers["x-daxsim-miss"] = str(answer.miss)
    if answer.keys_served is not None:
        headers["x-daxsim-keys"] = ",".join(f"{source}={n}" for source, n in answer.keys_served.items())
    return headers


def _encode(entry: Entry) -> bytes:
    """The body of a hit, kept with its entry from now on."""
    body = entry.json = encode_response(entry.response)
    entry.json_head = f"x-amz-crc32: {zlib.crc32(body)}\r\nContent-Length: {len(body)}\r\n"
    return body
