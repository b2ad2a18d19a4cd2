from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from backend.errors import ServiceError
from cluster.lab.workloads.http_client import Connection, Reply

pytestmark = pytest.mark.live

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Daxsim-Served-From: item-cache\r\n\r\n{}"

Answer = Callable[[int], list[bytes]]


@asynccontextmanager
async def server(answer: Answer) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Answers the n-th request with the chunks `answer(n)`; an empty chunk closes the connection."""
    received: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                received.append(head + await reader.readexactly(length))
                for chunk in answer(len(received)):
                    if not chunk:
                        return
                    writer.write(chunk)
                    await writer.drain()
        except asyncio.IncompleteReadError:
            return
        finally:
            writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listener:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}", received


async def test_requests_share_a_connection_and_have_what_the_service_wants() -> None:
    async with server(lambda _n: [OK]) as (url, received):
        connection = Connection(url)
        for _ in range(3):
            reply = await connection.send("GetItem", b'{"a":1}')
            assert (reply.status, reply.body) == (200, b"{}")
            assert reply.header(b"x-daxsim-served-from") == "item-cache"
            assert reply.header(b"x-other") is None
        connection.close()
    assert len(received) == 3
    head, _, body = received[0].partition(b"\r\n\r\n")
    assert body == b'{"a":1}'
    assert b"\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\n" in head
    assert b"\r\nAuthorization: AWS4-HMAC-SHA256 Credential=" in head


@pytest.mark.parametrize("size", [1, 3, 20])
async def test_a_reply_may_come_in_pieces(size: int) -> None:
    pieces = [OK[start : start + size] for start in range(0, len(OK), size)]
    async with server(lambda _n: pieces) as (url, _):
        connection = Connection(url)
        assert (await connection.send("GetItem", b"{}")).body == b"{}"
        assert (await connection.send("GetItem", b"{}")).body == b"{}"
        connection.close()


async def test_a_refusal_is_the_error_that_the_service_names() -> None:
    body = b'{"__type":"com.amazon.coral.validate#ValidationException","message":"No"}'
    reply = b"HTTP/1.1 400 Bad Request\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    async with server(lambda _n: [reply]) as (url, _):
        connection = Connection(url)
        with pytest.raises(ServiceError) as caught:
            await connection.call("GetItem", {})
        connection.close()
    assert (caught.value.code, caught.value.message, caught.value.status) == (
        "ValidationException",
        "No",
        400,
    )


async def test_a_connection_that_breaks_is_an_error_and_the_next_request_gets_a_new_one() -> None:
    async with server(lambda n: [b""] if n == 1 else [OK]) as (url, _):
        connection = Connection(url)
        with pytest.raises(ConnectionError):
            await connection.send("GetItem", b"{}")
        assert (await connection.send("GetItem", b"{}")).status == 200
        connection.close()
        connection.close()


async def test_a_reply_without_a_length_is_an_error() -> None:
    async with server(lambda _n: [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"]) as (url, _):
        connection = Connection(url)
        with pytest.raises(ConnectionError, match="no Content-Length"):
            await connection.send("GetItem", b"{}")
        connection.close()


@pytest.mark.parametrize("url", ["127.0.0.1:8111", "https://127.0.0.1", "http://", "dax://127.0.0.1:8111"])
def test_only_http_urls_are_endpoints(url: str) -> None:
    with pytest.raises(ValueError, match="http://host:port"):
        Connection(url)


def test_a_header_is_found_by_its_whole_name() -> None:
    reply = Reply(200, b"http/1.1 200 ok\r\nx-daxsim-age: 1.5\r\nage: 7\r\n", b"")
    assert reply.header(b"age") == "7"
