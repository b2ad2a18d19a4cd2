"""The HTTP/1.1 of the fronts: the parser piece by piece, and connections over a scripted transport."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.http1 import (
    MAX_HEAD,
    BadRequest,
    HttpAnswer,
    HttpConnection,
    HttpConnections,
    HttpRequest,
    RequestParser,
)

LENGTH = b"POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nX: 1\r\nx:  2 \r\n\r\nhello"
CHUNKED = (
    b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3;ext=1\r\nhel\r\n2\r\nlo\r\n0\r\nTrailer: x\r\n\r\n"
)
BARE = b"GET / HTTP/1.0\r\n\r\n"


def parse(parser: RequestParser, *pieces: bytes) -> list[HttpRequest]:
    found = []
    for piece in pieces:
        parser.feed(piece)
        while (request := parser.next_request()) is not None:
            found.append(request)
    return found


def test_requests_with_each_kind_of_body() -> None:
    with_length, chunked, bare = parse(RequestParser(100), LENGTH + CHUNKED + b"\r\n" + BARE)
    assert with_length == HttpRequest(
        "POST", "/a", "b=c", {"host": "x", "content-length": "5", "x": "1, 2"}, b"hello", True
    )
    assert (chunked.body, chunked.keep_alive) == (b"hello", True)
    assert (bare.method, bare.body, bare.keep_alive) == ("GET", b"", False)


@given(st.lists(st.integers(0, len(LENGTH + CHUNKED + BARE)), max_size=20))
def test_it_does_not_matter_in_which_pieces_data_comes(cuts: list[int]) -> None:
    data = LENGTH + CHUNKED + BARE
    marks = [0, *sorted(cuts), len(data)]
    pieces = [data[start:stop] for start, stop in pairwise(marks)]
    assert parse(RequestParser(100), *pieces) == parse(RequestParser(100), data)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"hello\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/2\r\n\r\n", 400),
        (b"\x16\x03\x01 / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nName : x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n folded: x\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 5000, 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 101\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n", 413),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * MAX_HEAD, 431),
    ],
)
def test_what_cannot_be_answered(data: bytes, status: int) -> None:
    with pytest.raises(BadRequest) as refused:
        parse(RequestParser(100), data)
    assert refused.value.status == status


@given(st.binary(max_size=200))
def test_noise_is_a_request_or_a_bad_one(noise: bytes) -> None:
    try:
        found = parse(RequestParser(100), noise)
    except BadRequest:
        found = []
    assert all(request.method.isalpha() for request in found)


class Wire(asyncio.Transport):
    """Keeps what is written and what was asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.calls: list[str] = []

    def write(self, data: Any) -> None:
        self.sent += data

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.calls.append("write_eof")

    def close(self) -> None:
        self.calls.append("close")

    def abort(self) -> None:
        self.calls.append("abort")

    def pause_reading(self) -> None:
        self.calls.append("pause_reading")

    def resume_reading(self) -> None:
        self.calls.append("resume_reading")


class Dialogue:
    """A connection whose handler echoes the body once the test lets it."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.connections = HttpConnections(self._handle, lambda status: HttpAnswer(status, {}, b""), 1 << 20)
        self.wire = Wire()
        self.connection: HttpConnection = self.connections()
        self.connection.connection_made(self.wire)

    async def _handle(self, request: HttpRequest) -> HttpAnswer:
        await self.gate.wait()
        return HttpAnswer(200, {}, request.body)

    async def receive(self, data: bytes) -> bytes:
        """Feed data and return everything sent until nothing moves."""
        self.connection.data_received(data)
        for _ in range(20):
            await asyncio.sleep(0)
        sent, self.wire.sent = self.wire.sent, b""
        return sent


def answer(body: bytes, *, close: bool = False) -> bytes:
    connection = b"Connection: close\r\n" if close else b""
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%b\r\n%b" % (len(body), connection, body)


async def test_pipelined_requests_are_answered_in_order() -> None:
    dialogue = Dialogue()
    second = LENGTH.replace(b"hello", b"world")
    assert await dialogue.receive(LENGTH + second) == answer(b"hello") + answer(b"world")
    assert dialogue.wire.calls == []


async def test_a_client_that_does_not_keep_alive_is_closed() -> None:
    dialogue = Dialogue()
    assert await dialogue.receive(BARE) == answer(b"", close=True)
    assert dialogue.wire.calls == ["close"]


async def test_leave_to_send_a_body_is_given_once() -> None:
    dialogue = Dialogue()
    head = b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
    assert await dialogue.receive(head) == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert await dialogue.receive(b"hel") == b""
    assert await dialogue.receive(b"lo") == answer(b"hello")


async def test_reading_stops_while_too_much_waits() -> None:
    dialogue = Dialogue()
    dialogue.gate.clear()
    await dialogue.receive(LENGTH)
    await dialogue.receive(b"POST / HTTP/1.1\r\nContent-Length: 600000\r\n\r\n" + b"x" * 300000)
    assert dialogue.wire.calls == ["pause_reading"]
    dialogue.gate.set()
    assert await dialogue.receive(b"") == answer(b"hello")
    assert dialogue.wire.calls == ["pause_reading", "resume_reading"]
    assert await dialogue.receive(b"x" * 300000) == answer(b"x" * 600000)


async def test_a_bad_request_is_answered_and_the_rest_ignored() -> None:
    dialogue = Dialogue()
    sent = await dialogue.receive(b"hello\r\n\r\n")
    assert sent == b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    assert await dialogue.receive(LENGTH) == b""
    assert dialogue.wire.calls == ["write_eof"]


async def test_shutdown_waits_for_the_answer_that_is_owed() -> None:
    dialogue, idle = Dialogue(), Dialogue()
    dialogue.gate.clear()
    await dialogue.receive(LENGTH)
    ending = asyncio.ensure_future(dialogue.connections.shutdown(5))
    await asyncio.sleep(0)
    dialogue.gate.set()
    await ending
    assert dialogue.wire.sent == answer(b"hello", close=True)
    await idle.connections.shutdown(5)
    assert idle.wire.calls == ["close", "abort"]
