"""A table store as a DynamoDB-JSON endpoint over HTTP.

    server = await loop.create_server(StoreFront(backend, entropy), "127.0.0.1", 8000)

A request is read whole, checked (`backend.protocol_checks`), decoded (`backend.wire`), executed by the
backend and answered. A defect in a backend is logged with its traceback and answered as the service's
InternalServerError.
"""

from __future__ import annotations

import asyncio
import logging

from aiohttp import web

from backend.errors import ServiceError
from backend.protocol import Backend, Entropy
from backend.protocol_checks import (
    MAX_BODY,
    RequestIds,
    answer_headers,
    answer_without_target,
    compress,
    internal_server_error,
    read_operation,
    wants_gzip,
)
from backend.validation.shapes import decode
from backend.wire import encode_response, error_body

log = logging.getLogger(__name__)

_LARGEST_HEADER = 64 * 1024
"""Bytes of one header line: signed headers and session tokens are long."""


class StoreFront:
    """A protocol factory for asyncio servers, one protocol a connection."""

    def __init__(self, backend: Backend, entropy: Entropy, *, region: str = "us-east-1") -> None:
        self._backend = backend
        self._request_ids = RequestIds(entropy)
        self._region = region
        self._server: web.Server | None = None

    def __call__(self) -> asyncio.Protocol:
        """A new connection. Needs a running event loop."""
        if self._server is None:
            self._server = web.Server(
                self._handle, access_log=None, max_line_size=_LARGEST_HEADER, max_field_size=_LARGEST_HEADER
            )
        return self._server()

    async def shutdown(self, patience: float) -> None:
        """Close every connection once its answer is out, or after `patience` seconds."""
        if self._server is not None:
            self._server.pre_shutdown()
            await self._server.shutdown(patience)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await read_body(request)
        if body is None:
            return too_large(self._request_ids.next())
        headers = request.headers
        early = answer_without_target(request.method, headers, body, self._region)
        if early is not None:
            answered = answer_headers(headers, early.body, self._request_ids.next()) | early.headers
            del answered["Content-Type"]
            return web.Response(status=early.status, headers=answered, body=early.body)
        status, answer = await self._execute(request, body)
        return respond(request, status, answer, self._request_ids.next())

    async def _execute(self, request: web.BaseRequest, body: bytes) -> tuple[int, bytes]:
        try:
            operation, parsed = read_operation(request.headers, request.query_string, body)
            response = await self._backend.execute(operation, decode(operation, parsed))
            return 200, encode_response(response)
        except ServiceError as error:
            return error.status, error_body(error)
        except Exception:
            log.exception("a defect in answering %s", request.headers.get("X-Amz-Target"))
            defect = internal_server_error()
            return defect.status, error_body(defect)


async def read_body(request: web.BaseRequest) -> bytes | None:
    """The whole body, or None when it is over the protocol's limit, however it was sent."""
    length = request.content_length
    if length is not None:
        return None if length > MAX_BODY else await request.content.read()
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > MAX_BODY:
            return None
    return bytes(body)


def too_large(request_id: str) -> web.Response:
    """413, of no body and no announced length, as the service sends it."""
    response = web.Response(status=413, headers={"x-amzn-RequestId": request_id})
    response.enable_chunked_encoding()
    return response


def respond(
    request: web.BaseRequest, status: int, body: bytes, request_id: str, extra: dict[str, str] | None = None
) -> web.Response:
    """The answer of an operation, compressed if the client asked for it; `extra` headers come on top."""
    headers = request.headers
    if wants_gzip(headers, body):
        body = compress(body)
        extra = {**(extra or {}), "Content-Encoding": "gzip"}
    answered = answer_headers(headers, body, request_id)
    if extra:
        answered.update(extra)
    return web.Response(status=status, headers=answered, body=body)
