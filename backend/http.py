"""A table store as a DynamoDB-JSON endpoint over HTTP.

    server = await loop.create_server(StoreFront(backend, entropy), "127.0.0.1", 8000)

A request is read whole (`backend.http1`), checked (`backend.protocol_checks`), decoded (`backend.wire`),
executed by the backend and answered. A defect in a backend is logged with its traceback and answered as the
service's InternalServerError.
"""

from __future__ import annotations

import asyncio
import logging

from backend.errors import ServiceError
from backend.http1 import HttpAnswer, HttpConnections, HttpRequest
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


class StoreFront:
    """A protocol factory for asyncio servers, one protocol a connection."""

    def __init__(self, backend: Backend, entropy: Entropy, *, region: str = "us-east-1") -> None:
        self._backend = backend
        self._request_ids = RequestIds(entropy)
        self._region = region
        self._connections = HttpConnections(self._handle, self._refuse, MAX_BODY)

    def __call__(self) -> asyncio.Protocol:
        """A new connection. Needs a running event loop."""
        return self._connections()

    async def shutdown(self, patience: float) -> None:
        """Close every connection once its answer is out, or after `patience` seconds."""
        await self._connections.shutdown(patience)

    def _refuse(self, status: int) -> HttpAnswer:
        return refusal(status, self._request_ids.next())

    async def _handle(self, request: HttpRequest) -> HttpAnswer:
        headers = request.headers
        early = answer_without_target(request.method, headers, request.body, self._region)
        if early is not None:
            answered = answer_headers(headers, early.body, self._request_ids.next()) | early.headers
            del answered["Content-Type"]
            return HttpAnswer(early.status, answered, early.body)
        status, body = await self._execute(request)
        return respond(headers, status, body, self._request_ids.next())

    async def _execute(self, request: HttpRequest) -> tuple[int, bytes]:
        try:
            operation, parsed = read_operation(request.headers, request.query_string, request.body)
            response = await self._backend.execute(operation, decode(operation, parsed))
            return 200, encode_response(response)
        except ServiceError as error:
            return error.status, error_body(error)
        except Exception:
            log.exception("a defect in answering %s", request.headers.get("x-amz-target"))
            defect = internal_server_error()
            return defect.status, error_body(defect)


def refusal(status: int, request_id: str) -> HttpAnswer:
    """The answer to what is no request: empty. The service answers a body that is too large chunked."""
    headers = {"x-amzn-RequestId": request_id}
    if status == 413:
        headers["Transfer-Encoding"] = "chunked"
    return HttpAnswer(status, headers, b"")


def respond(
    headers: dict[str, str], status: int, body: bytes, request_id: str, extra: dict[str, str] | None = None
) -> HttpAnswer:
    """The answer of an operation, compressed if the client asked for it; `extra` headers come on top."""
    if wants_gzip(headers, body):
        body = compress(body)
        extra = {**(extra or {}), "Content-Encoding": "gzip"}
    answered = answer_headers(headers, body, request_id)
    if extra:
        answered.update(extra)
    return HttpAnswer(status, answered, body)
