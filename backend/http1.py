"""HTTP/1.1 as this project's fronts need it: whole requests in, whole answers out, connections kept alive.

A general web framework spends more on a small request than the table store does, for much that the protocol
does not need.

    parser = RequestParser(MAX_BODY)
    parser.feed(data)
    request = parser.next_request()      # None: more data needed

Rules:

* one request of a connection is answered at a time, in order; what arrives meanwhile waits, and reading stops
  while too much waits;
* bodies come by Content-Length or chunked; one that is over the limit is answered 413, whatever announced it,
  and the rest of it is read and thrown away, so that the client gets to see the answer;
* what is no HTTP/1 request is answered 400 (431 when its head is too long), and the connection closed;
* a handler never raises: what it has to say about a failure is an answer.

Public source: RFC 9112.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import NamedTuple

MAX_HEAD = 128 * 1024
"""Bytes of request line and headers: signed headers and session tokens are long."""
_MAX_CHUNK_LINE = 4096
_MAX_WAITING = 256 * 1024
_LINGER_SECONDS = 10.0
"""How long a client that was refused may go on sending."""

_REASONS = {status.value: status.phrase for status in HTTPStatus}
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class HttpRequest(NamedTuple):
    """One request. Names of headers are in lower case; equal ones are joined by a comma."""

    method: str
    path: str
    query_string: str
    headers: dict[str, str]
    body: bytes
    keep_alive: bool


class HttpAnswer(NamedTuple):
    """One answer; `Content-Length` is added to its headers."""

    status: int
    headers: dict[str, str]
    body: bytes


class BadRequest(Exception):
    """What was sent cannot be answered but with this status and the end of the connection."""

    def __init__(self, status: int) -> None:
        super().__init__(_REASONS[status])
        self.status = status


Handler = Callable[[HttpRequest], Awaitable[HttpAnswer]]
Refusal = Callable[[int], HttpAnswer]
"""The answer to what `BadRequest` says."""


class RequestParser:
    """Bytes to requests. After a `BadRequest` nothing more comes of it."""

    def __init__(self, max_body: int) -> None:
        self._max_body = max_body
        self._buffer = bytearray()
        self._searched = 0
        self._head: HttpRequest | None = None
        self._length = 0
        self._chunks: bytearray | None = None
        self._in_trailer = False
        self.wants_continue = False
        """Whether the client waits for leave to send the body of the request whose head has come."""

    def feed(self, data: bytes) -> None:
        self._buffer += data

    @property
    def waiting(self) -> int:
        """Bytes that belong to no finished request yet."""
        return len(self._buffer)

    def next_request(self) -> HttpRequest | None:
        """The next complete request, or None. Raises BadRequest."""
        if self._head is None and not self._read_head():
            return None
        body = self._read_length() if self._chunks is None else self._read_chunks(self._chunks)
        if body is None or self._head is None:
            return None
        head, self._head, self._chunks, self.wants_continue = self._head, None, None, False
        return head._replace(body=body) if body else head

    def _read_head(self) -> bool:
        # Blank lines before a request are allowed, and sent by some old clients.
        while self._buffer.startswith(b"\r\n"):
            del self._buffer[:2]
        end = self._buffer.find(b"\r\n\r\n", max(self._searched - 3, 0))
        if end < 0 or end > MAX_HEAD:
            if len(self._buffer) > MAX_HEAD:
                raise BadRequest(431)
            self._searched = len(self._buffer)
            return False
        head = self._buffer[:end].decode("latin-1")
        del self._buffer[: end + 4]
        self._searched = 0
        self._head = parse_head(head)
        self._frame(self._head.headers)
        return True

    def _frame(self, headers: dict[str, str]) -> None:
        """How the body of the request comes."""
        coding, length = headers.get("transfer-encoding"), headers.get("content-length")
        self._length = 0
        if coding is not None:
            if coding.lower() != "chunked" or length is not None:
                raise BadRequest(400)
            self._chunks, self._in_trailer = bytearray(), False
        elif length is not None:
            if not (length.isascii() and length.isdigit()):
                raise BadRequest(400)
            self._length = int(length[:20])
            if self._length > self._max_body:
                raise BadRequest(413)
        self.wants_continue = headers.get("expect", "").lower() == "100-continue"

    def _read_length(self) -> bytes | None:
        if len(self._buffer) < self._length:
            return None
        body = bytes(self._buffer[: self._length])
        del self._buffer[: self._length]
        return body

    def _read_chunks(self, chunks: bytearray) -> bytes | None:
        while True:
            line_end = self._buffer.find(b"\r\n", 0, _MAX_CHUNK_LINE)
            if line_end < 0:
                if len(self._buffer) >= _MAX_CHUNK_LINE:
                    raise BadRequest(400)
                return None
            line = bytes(self._buffer[:line_end])
            if self._in_trailer:
                del self._buffer[: line_end + 2]
                if not line:
                    return bytes(chunks)
                continue
            size = _chunk_size(line)
            if len(chunks) + size > self._max_body:
                raise BadRequest(413)
            if size == 0:
                del self._buffer[: line_end + 2]
                self._in_trailer = True
                continue
            start, stop = line_end + 2, line_end + 2 + size
            if len(self._buffer) < stop + 2:
                return None
            if self._buffer[stop : stop + 2] != b"\r\n":
                raise BadRequest(400)
            chunks += self._buffer[start:stop]
            del self._buffer[: stop + 2]


def _chunk_size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    if not digits or len(digits) > 16 or digits.strip(b"0123456789abcdefABCDEF"):
        raise BadRequest(400)
    return int(digits, 16)


def parse_head(head: str) -> HttpRequest:
    """Request line and headers, without the blank line behind them. Raises BadRequest."""
    first, *lines = head.split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or parts[2] not in ("HTTP/1.1", "HTTP/1.0") or not parts[0].isalpha():
        raise BadRequest(400)
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name[-1] in " \t" or name[0] in " \t":
            raise BadRequest(400)
        name = name.lower()
        value = value.strip(" \t")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    path, _, query = parts[1].partition("?")
    connection = headers.get("connection", "").lower()
    keep_alive = connection != "close" if parts[2] == "HTTP/1.1" else connection == "keep-alive"
    return HttpRequest(parts[0], path, query, headers, b"", keep_alive)


def encode_answer(answer: HttpAnswer, *, keep_alive: bool, with_body: bool = True) -> bytes:
    """The bytes of an answer."""
    head = [f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, '')}"]
    head += [f"{name}: {value}" for name, value in answer.headers.items()]
    if answer.headers.get("Transfer-Encoding") == "chunked":
        body = (b"%x\r\n%b\r\n" % (len(answer.body), answer.body) if answer.body else b"") + b"0\r\n\r\n"
    else:
        head.append(f"Content-Length: {len(answer.body)}")
        body = answer.body
    if not keep_alive:
        head.append("Connection: close")
    encoded = "\r\n".join(head).encode("latin-1", "replace")
    return encoded + b"\r\n\r\n" + (body if with_body else b"")


class HttpConnections:
    """A protocol factory: connections whose requests one handler answers."""

    def __init__(self, handler: Handler, refusal: Refusal, max_body: int) -> None:
        self.handler = handler
        self.refusal = refusal
        self.max_body = max_body
        self.open: set[HttpConnection] = set()

    def __call__(self) -> HttpConnection:
        return HttpConnection(self)

    async def shutdown(self, patience: float) -> None:
        """Close every connection once its answer is out, or after `patience` seconds."""
        connections = list(self.open)
        tasks = [task for connection in connections if (task := connection.finish()) is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=patience)
        for connection in connections:
            connection.abort()


class HttpConnection(asyncio.Protocol):
    """One connection."""

    def __init__(self, owner: HttpConnections) -> None:
        self._owner = owner
        self._parser = RequestParser(owner.max_body)
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_writable = True
        self._is_reading = True
        self._is_refused = False
        self._is_finishing = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        self._owner.open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._owner.open.discard(self)
        self._transport = None

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        self._parser.feed(data)
        if self._task is None:
            self._advance()
        elif self._is_reading and self._parser.waiting > _MAX_WAITING and self._transport is not None:
            self._transport.pause_reading()
            self._is_reading = False

    def pause_writing(self) -> None:
        self._is_writable = False

    def resume_writing(self) -> None:
        self._is_writable = True
        if self._task is None:
            self._advance()

    def finish(self) -> asyncio.Task[None] | None:
        """Close when the answer owed is out. Returns the task that makes it, or None: closed at once."""
        self._is_finishing = True
        if self._task is None and self._transport is not None:
            self._transport.close()
        return self._task

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _advance(self) -> None:
        """Begin with the next request, if one is complete and may be answered."""
        transport = self._transport
        if transport is None or not self._is_writable or self._is_refused:
            return
        try:
            request = self._parser.next_request()
        except BadRequest as bad:
            self._refuse(bad.status)
            return
        if request is not None:
            self._task = asyncio.get_running_loop().create_task(self._answer(request), name="http request")
            return
        if self._parser.wants_continue:
            self._parser.wants_continue = False
            transport.write(_CONTINUE)
        if not self._is_reading:
            transport.resume_reading()
            self._is_reading = True

    async def _answer(self, request: HttpRequest) -> None:
        try:
            answer = await self._owner.handler(request)
        except BaseException:
            self.abort()
            raise
        self._task = None
        transport = self._transport
        if transport is None:
            return
        keep_alive = request.keep_alive and not self._is_finishing
        transport.write(encode_answer(answer, keep_alive=keep_alive, with_body=request.method != "HEAD"))
        if keep_alive:
            self._advance()
        else:
            transport.close()

    def _refuse(self, status: int) -> None:
        """Answer, and read on without listening until the client is done or its patience is over."""
        transport = self._transport
        if transport is None:
            return
        self._is_refused = True
        transport.write(encode_answer(self._owner.refusal(status), keep_alive=False))
        if transport.can_write_eof():
            transport.write_eof()
        if not self._is_reading:
            transport.resume_reading()
        asyncio.get_running_loop().call_later(_LINGER_SECONDS, transport.abort)
