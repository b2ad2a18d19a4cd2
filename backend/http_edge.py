"""DynamoDB JSON over aiohttp's low-level server: what the store's front and a node's front have in common.

A request is read whole, judged (`backend.protocol_checks`), decoded, run by the front that serves, and
answered. A defect is logged with its traceback and answered as the service's InternalServerError.

An answer goes to the transport as one run of bytes. `web.Response` builds a header multidict, fills in
defaults and serialises it, which costs more than the table store itself; it still serves the requests that
are not plain HTTP/1.1 on a connection kept alive.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from email.utils import formatdate
from http import HTTPStatus
from typing import Any

from aiohttp import HttpVersion11, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_exceptions import HttpProcessingError

from backend.errors import ServiceError
from backend.incomplete import INCOMPLETE_BYTES, IncompleteRequests
from backend.protocol import Entropy, Now, Request
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
from backend.wire import error_body

log = logging.getLogger(__name__)

server_log = logging.getLogger(f"{__name__}.server")
"""Where aiohttp's servers report what went wrong on a connection, but for what a client did."""


def _not_of_a_client(record: logging.LogRecord) -> bool:
    """Whether it is no broken connection and no malformed HTTP, which is answered with 400."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, ConnectionError | HttpProcessingError)


server_log.addFilter(_not_of_a_client)

_LARGEST_HEADER = 64 * 1024
"""Bytes of one header line: signed headers and session tokens are long."""
_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus}


class WholeResponse(web.StreamResponse):
    """A response that is bytes already: status line, headers and body, on a connection kept alive."""

    def __init__(self, data: bytes) -> None:
        # What the base class would set up describes headers, which this response has none of.
        self._data = data
        self._keep_alive = True

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        transport = request.transport
        if transport is None:
            raise ConnectionResetError("the client has gone away")
        transport.write(self._data)
        # Waits only while the client does not read what it asked for.
        await request.writer.drain()
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        return None


def is_plain(request: web.BaseRequest) -> bool:
    """Whether a `WholeResponse` may answer: HTTP/1.1, and the connection goes on."""
    return request.version == HttpVersion11 and request.keep_alive


def _cut_off(transport: asyncio.Transport) -> None:
    log.warning("cut off a client: its request is not complete, and too many bytes of such requests are here")
    transport.abort()


class Front(ABC):
    """A protocol factory for asyncio servers, one protocol a connection.

    entropy: for request ids. now: for the Date header. region: named by the health check.
    """

    def __init__(self, entropy: Entropy, now: Now, *, region: str = "us-east-1") -> None:
        self.request_ids = RequestIds(entropy)
        self._now = now
        self._region = region
        self._server: web.Server | None = None
        self._incomplete = IncompleteRequests(INCOMPLETE_BYTES, _cut_off)
        self._date_second = -1
        self._date = ""

    def __call__(self) -> asyncio.Protocol:
        """A new connection. Needs a running event loop."""
        if self._server is None:
            self._server = self.make_server(
                access_log=None,
                logger=server_log,
                max_line_size=_LARGEST_HEADER,
                max_field_size=_LARGEST_HEADER,
                # DynamoDB takes no compressed requests, and a small body can unpack to gigabytes.
                auto_decompress=False,
            )
        return self._server()

    def make_server(self, **options: Any) -> web.Server:
        """The aiohttp server behind the connections, of the class that this front wants."""
        return web.Server(self._handle, **options)

    async def shutdown(self, patience: float) -> None:
        """Close every connection once its answer is out, or after `patience` seconds."""
        if self._server is not None:
            self._server.pre_shutdown()
            await self._server.shutdown(patience)

    # What a front does with a request

    @abstractmethod
    async def run(self, operation: str, request: Request, body: bytes) -> tuple[bytes, Mapping[str, str]]:
        """Execute one operation: the body of the answer and headers of this front's own.

        `body` is the request as it arrived. Raises ServiceError.
        """

    def shortcut(self, request: web.BaseRequest, body: bytes) -> web.StreamResponse | None:
        """An answer that needs no reading of the request; None when there is none."""
        return None

    def error_headers(self) -> Mapping[str, str]:
        """Headers of this front's own on an error."""
        return {}

    def count_defect(self, error: ServiceError) -> None:  # noqa: B027 - counting is optional
        """Told of each defect that was answered as `error`."""

    # The way of a request

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        content = request.content
        # Most requests arrive in one piece, the limit being far above it.
        body = content.read_nowait() if content.is_eof() else await self._read(request)
        if body is None:
            return self._too_large()
        return self.shortcut(request, body) or await self.answer(request, body)

    async def _read(self, request: web.BaseRequest) -> bytes | None:
        """The whole body, or None when it is over the protocol's limit, however it was sent."""
        if (request.content_length or 0) > MAX_BODY:
            return None
        transport, body = request.transport, bytearray()
        if transport is None:
            raise ConnectionResetError("the client has gone away")
        try:
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > MAX_BODY:
                    return None
                self._incomplete.note(transport, len(body))
        finally:
            self._incomplete.forget(transport)
        return bytes(body)

    async def answer(self, request: web.BaseRequest, body: bytes) -> web.StreamResponse:
        """The answer of the protocol to a request that was read."""
        headers = request.headers
        early = answer_without_target(request.method, headers, body, self._region)
        if early is not None:
            answered = answer_headers(headers, early.body, self.request_ids.next()) | early.headers
            del answered["Content-Type"]
            return web.Response(status=early.status, headers=answered, body=early.body)
        try:
            operation, parsed = read_operation(headers, request.query_string, body)
            answer, extra = await self.run(operation, decode(operation, parsed), body)
            return self.respond(request, 200, answer, extra)
        except ServiceError as error:
            return self.respond(request, error.status, error_body(error), self.error_headers())
        except Exception:
            log.exception("a defect in answering %s", headers.get("x-amz-target"))
            defect = internal_server_error()
            self.count_defect(defect)
            return self.respond(request, defect.status, error_body(defect), self.error_headers())

    def respond(
        self, request: web.BaseRequest, status: int, body: bytes, extra: Mapping[str, str]
    ) -> web.StreamResponse:
        """The answer of an operation, compressed if the client asked for it; `extra` headers come on top."""
        headers = request.headers
        zipped = wants_gzip(headers, body)
        if zipped:
            body = compress(body)
        answered = {**answer_headers(headers, body, self.request_ids.next()), **extra}
        if zipped:
            answered["Content-Encoding"] = "gzip"
        if not is_plain(request):
            return web.Response(status=status, headers=answered, body=body)
        lines = "".join([f"{name}: {value}\r\n" for name, value in answered.items()])
        head = f"{_STATUS_LINES[status]}{lines}Content-Length: {len(body)}\r\nDate: {self.date()}\r\n\r\n"
        return WholeResponse(head.encode() + body)

    def date(self) -> str:
        """The time as the Date header has it."""
        now = self._now()
        if int(now) != self._date_second:
            self._date_second = int(now)
            self._date = formatdate(now, usegmt=True)
        return self._date

    def _too_large(self) -> web.Response:
        """413, of no body and no announced length, as the service sends it."""
        response = web.Response(status=413, headers={"x-amzn-RequestId": self.request_ids.next()})
        response.enable_chunked_encoding()
        return response
