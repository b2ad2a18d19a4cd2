"""A node as a DynamoDB-JSON endpoint over HTTP.

    server = await loop.create_server(NodeFront(node, entropy), "127.0.0.1", 8112)

The rules of this file:

* Around an operation everything is as at the store (`backend.protocol_checks`, `backend.http`), so that a
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
import logging
import zlib
from email.utils import formatdate
from typing import Any

from aiohttp import HttpVersion11, web

from backend.aiohttp_edge import read_body, respond, too_large
from backend.errors import ServiceError
from backend.protocol import Entropy
from backend.protocol_checks import (
    JSON,
    JSON_1_0,
    MIN_GZIP,
    RequestIds,
    answer_headers,
    answer_without_target,
    authenticate,
    internal_server_error,
    read_operation,
    wants_gzip,
)
from backend.validation.shapes import decode
from backend.wire import encode_response, error_body
from dax.answer import Answer
from dax.cache.entries import Entry
from dax.node import Node
from dax.wire.json import admin
from dax.wire.json.canned import CannedResponse
from dax.wire.json.memo import RequestMemo

log = logging.getLogger(__name__)

_LARGEST_HEADER = 64 * 1024
"""Bytes of one header line: signed headers and session tokens are long."""
_GET_ITEM = "DynamoDB_20120810.GetItem"


class NodeFront:
    """A protocol factory for asyncio servers, one protocol a connection."""

    def __init__(self, node: Node, entropy: Entropy, *, region: str = "us-east-1") -> None:
        self._node = node
        self._request_ids = RequestIds(entropy)
        self._region = region
        self._memo = RequestMemo()
        self._server: _CountingServer | None = None
        self._date_second = -1
        self._tail = ""

    def __call__(self) -> asyncio.Protocol:
        """A new connection. Needs a running event loop."""
        if self._server is None:
            self._server = _CountingServer(
                self._node,
                self._handle,
                access_log=None,
                max_line_size=_LARGEST_HEADER,
                max_field_size=_LARGEST_HEADER,
            )
        return self._server()

    async def shutdown(self, patience: float) -> None:
        """Close every connection once its answer is out, or after `patience` seconds."""
        if self._server is not None:
            self._server.pre_shutdown()
            await self._server.shutdown(patience)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        content = request.content
        # Most requests arrive in one piece, the limit being far above it.
        body = content.read_nowait() if content.is_eof() else await read_body(request)
        if body is None:
            return too_large(self._request_ids.next())
        metrics = self._node.metrics
        metrics.network_bytes_in += len(body)
        return self._hit(request, body) or await self._answer(request, body)

    # A hit, recognised by its bytes

    def _hit(self, request: web.BaseRequest, body: bytes) -> web.StreamResponse | None:
        """The answer to a plain GetItem that hits; None when the request takes the long way."""
        node = self._node
        key = self._memo.get(body, node.schema_generation)
        if key is None:
            return None
        headers = request.headers
        if (
            headers.get("X-Amz-Target") != _GET_ITEM
            or "Origin" in headers
            or request.method != "POST"
            or request.version != HttpVersion11
            or not request.keep_alive
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
        node.metrics.network_bytes_out += len(answer)
        request_id = self._request_ids.next()
        if len(answer) >= MIN_GZIP and wants_gzip(headers, answer):
            extra = {"x-daxsim-served-from": served_from, "x-daxsim-age": age, "x-daxsim-node": node.node_id}
            return respond(request, 200, answer, request_id, extra)
        if int(now) != self._date_second:
            self._date_second = int(now)
            self._tail = f"x-daxsim-node: {node.node_id}\r\nDate: {formatdate(now, usegmt=True)}\r\n\r\n"
        head = (
            f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n{entry.json_head}"
            f"x-amzn-RequestId: {request_id}\r\nx-daxsim-served-from: {served_from}\r\n"
            f"x-daxsim-age: {age}\r\n{self._tail}"
        )
        return CannedResponse(head.encode(), answer)

    # The long way

    async def _answer(self, request: web.BaseRequest, body: bytes) -> web.StreamResponse:
        headers = request.headers
        if request.path.startswith(admin.PREFIX):
            return self._administer(request, body)
        early = answer_without_target(request.method, headers, body, self._region)
        if early is not None:
            answered = answer_headers(headers, early.body, self._request_ids.next()) | early.headers
            del answered["Content-Type"]
            return web.Response(status=early.status, headers=answered, body=early.body)
        status, answer, extra = await self._execute(request, body)
        self._node.metrics.network_bytes_out += len(answer)
        return respond(request, status, answer, self._request_ids.next(), extra)

    async def _execute(self, request: web.BaseRequest, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        node = self._node
        try:
            operation, parsed = read_operation(request.headers, request.query_string, body)
            decoded = decode(operation, parsed)
            answer = await node.execute(operation, decoded)
            key = self._node.memo_key(decoded) if operation == "GetItem" else None
            if key is not None:
                self._memo.put(body, key)
            entry = answer.entry
            encoded = encode_response(answer.response) if entry is None else entry.json or _encode(entry)
            return 200, encoded, provenance(answer)
        except ServiceError as error:
            return error.status, error_body(error), {"x-daxsim-node": node.node_id}
        except Exception:
            log.exception("a defect in answering %s", request.headers.get("X-Amz-Target"))
            defect = internal_server_error()
            node.metrics.count_failure(defect)
            return defect.status, error_body(defect), {"x-daxsim-node": node.node_id}

    def _administer(self, request: web.BaseRequest, body: bytes) -> web.Response:
        try:
            status, answer = 200, admin.answer(self._node, request.method, request.path, body)
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
