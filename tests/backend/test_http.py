"""The HTTP front over a scripted backend, driven with raw requests."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import re
import zlib
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from backend.errors import ServiceError
from backend.http import StoreFront
from backend.incomplete import IncompleteRequests
from backend.protocol import Request, Response
from backend.protocol_checks import MAX_BODY

pytestmark = pytest.mark.live

SIGNED = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=a/b/c, SignedHeaders=host, Signature=d",
    "X-Amz-Date": "20260101T000000Z",
    "Content-Type": "application/x-amz-json-1.0",
}


class ScriptedBackend:
    """Answers with what the test put there, and remembers what it was asked."""

    def __init__(self) -> None:
        self.answer: Response | Exception = {}
        self.requests: list[tuple[str, Request]] = []

    async def execute(self, operation: str, request: Request) -> Response:
        self.requests.append((operation, request))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def close(self) -> None: ...


class Endpoint:
    """One front on a port, and a session to it."""

    def __init__(self, session: aiohttp.ClientSession, url: str, backend: ScriptedBackend) -> None:
        self.session, self.url, self.backend = session, url, backend

    async def send(
        self,
        body: Any = b"",
        headers: Mapping[str, str] | None = None,
        *,
        method: str = "POST",
        query: str = "",
    ) -> tuple[int, Mapping[str, str], bytes]:
        async with self.session.request(
            method,
            f"{self.url}/{query}",
            data=body,
            headers=headers,
            skip_auto_headers=("Content-Type", "Accept-Encoding"),
        ) as answer:
            return answer.status, answer.headers, await answer.read()

    async def call(self, operation: str, request: object) -> tuple[int, Mapping[str, str], Any]:
        status, headers, body = await self.send(
            json.dumps(request).encode(), {**SIGNED, "X-Amz-Target": f"DynamoDB_20120810.{operation}"}
        )
        return status, headers, json.loads(body)


@pytest_asyncio.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    backend = ScriptedBackend()
    front = StoreFront(backend, lambda n: bytes(range(n)), lambda: 0.0)
    server = await asyncio.get_running_loop().create_server(front, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        yield Endpoint(session, url, backend)
    server.close()
    await front.shutdown(1)


async def test_a_request_reaches_the_backend_decoded_and_its_answer_comes_back_encoded(
    endpoint: Endpoint,
) -> None:
    endpoint.backend.answer = {"Item": {"a": {"B": b"\x00\xff"}}}
    status, headers, body = await endpoint.call(
        "GetItem", {"TableName": "t", "Key": {"a": {"B": "AP8="}}, "X": 1}
    )
    assert endpoint.backend.requests == [("GetItem", {"TableName": "t", "Key": {"a": {"B": b"\x00\xff"}}})]
    assert (status, body) == (200, {"Item": {"a": {"B": "AP8="}}})
    assert headers["Content-Type"] == "application/x-amz-json-1.0"
    assert re.fullmatch("[0-9A-Z]{52}", headers["x-amzn-RequestId"])
    assert headers["x-amz-crc32"] == str(zlib.crc32(b'{"Item":{"a":{"B":"AP8="}}}'))


async def test_request_ids_differ(endpoint: Endpoint) -> None:
    ids = {(await endpoint.call("ListTables", {}))[1]["x-amzn-RequestId"] for _ in range(5)}
    assert len(ids) == 5


async def test_the_streams_target_is_served_too(endpoint: Endpoint) -> None:
    headers = {**SIGNED, "X-Amz-Target": "DynamoDBStreams_20120810.ListStreams"}
    assert (await endpoint.send(b"{}", headers))[0] == 200
    assert endpoint.backend.requests == [("ListStreams", {})]
    headers["X-Amz-Target"] = "DynamoDBStreams_20120810.GetItem"
    assert (await endpoint.send(b"{}", headers))[
        2
    ] == b'{"__type":"com.amazon.coral.service#UnknownOperationException"}'


async def test_a_service_error_is_answered_with_its_status_and_fields(endpoint: Endpoint) -> None:
    item = {"a": {"B": b"x"}}
    endpoint.backend.answer = ServiceError(
        "ConditionalCheckFailedException", "The conditional request failed", fields={"Item": item}
    )
    status, _, body = await endpoint.call("PutItem", {})
    assert status == 400
    assert body == {
        "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
        "message": "The conditional request failed",
        "Item": {"a": {"B": "eA=="}},
    }


async def test_a_defect_is_logged_and_told_nothing_of(
    endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.backend.answer = KeyError("a secret")
    with caplog.at_level(logging.ERROR):
        status, _, body = await endpoint.call("PutItem", {})
    assert status == 500
    assert body["__type"] == "com.amazonaws.dynamodb.v20120810#InternalServerError"
    assert "secret" not in str(body)
    assert "a secret" in caplog.text


async def test_health_check(endpoint: Endpoint) -> None:
    status, headers, body = await endpoint.send(method="GET")
    assert (status, body) == (200, b"healthy: dynamodb.us-east-1.amazonaws.com ")
    assert headers["x-amz-crc32"] == "3128867991"
    assert headers["Content-Length"] == "42"


@pytest.mark.parametrize(
    ("method", "body", "headers"),
    [
        ("PUT", b"", {}),
        ("DELETE", b"", {}),
        ("OPTIONS", b"", {}),
        ("POST", b"hi", {}),
        ("POST", b"hi", {"Content-Type": "whatever"}),
        ("POST", b"hi", {"Content-Type": "application/x-amz-json-1.1"}),
        ("POST", b"hi", {"Content-Type": "application/jsonasdf"}),
    ],
)
async def test_what_is_not_the_protocol_is_not_found(
    endpoint: Endpoint, method: str, body: bytes, headers: dict[str, str]
) -> None:
    status, answered, text = await endpoint.send(body, headers, method=method)
    assert (status, text) == (404, b"<UnknownOperationException/>\n")
    assert answered["x-amz-crc32"] == "3552371480"
    assert answered["Content-Length"] == "29"


@pytest.mark.parametrize(
    ("content_type", "answered"),
    [
        ("application/json", "application/json"),
        ("application/json;blahblah", "application/json"),
        ("  application/json  ;   asfd", "application/json"),
        ("application/x-amz-json-1.0", "application/x-amz-json-1.0"),
        ("application/x-amz-json-1.0;blahblah", "application/x-amz-json-1.0"),
    ],
)
async def test_malformed_json_is_refused_without_a_message(
    endpoint: Endpoint, content_type: str, answered: str
) -> None:
    status, headers, body = await endpoint.send(b"hi", {"Content-Type": content_type})
    assert (status, body) == (400, b'{"__type":"com.amazon.coral.service#SerializationException"}')
    assert headers["Content-Type"] == answered
    assert headers["x-amz-crc32"] == "3948637019"


@pytest.mark.parametrize(
    "body", [b"[]", b"5", b'"x"', b"null", b'{"a":NaN}', b'{"a":"\xff"}', b'{"a":"\\ud800"}']
)
async def test_a_body_that_is_no_json_object_is_refused(endpoint: Endpoint, body: bytes) -> None:
    headers = {**SIGNED, "X-Amz-Target": "DynamoDB_20120810.GetItem"}
    status, _, answer = await endpoint.send(body, headers)
    assert (status, json.loads(answer)["__type"]) == (400, "com.amazon.coral.service#SerializationException")


@pytest.mark.parametrize(
    "target", [None, "whatever", "DynamoDB_20120810.ListTable", "DynamoDB_20120810", "X.GetItem"]
)
async def test_unknown_targets(endpoint: Endpoint, target: str | None) -> None:
    status, headers, body = await endpoint.send(b"", {"X-Amz-Target": target} if target else {})
    assert (status, body) == (400, b'{"__type":"com.amazon.coral.service#UnknownOperationException"}')
    assert headers["Content-Type"] == "application/json"
    assert headers["x-amz-crc32"] == "1368724161"


@pytest.mark.parametrize(
    ("headers", "query", "code", "crc32"),
    [
        ({}, "", "MissingAuthenticationTokenException", "2088342776"),
        ({"Authorization": "AWS4"}, "", "MissingAuthenticationTokenException", "2088342776"),
        ({"Authorization": "X"}, "?X-Amz-Algorith", "MissingAuthenticationTokenException", "2088342776"),
        ({"Authorization": "X"}, "?X-Amz-Algorithm", "InvalidSignatureException", "2139606068"),
        ({"Authorization": "AWS4-"}, "", "IncompleteSignatureException", "1828866742"),
        (
            {"Authorization": "AWS4- Signature=b, Credential=a", "Date": "a"},
            "",
            "IncompleteSignatureException",
            "164353342",
        ),
        ({}, "?X-Amz-Algorithm", "IncompleteSignatureException", "2900502663"),
        (
            {},
            "?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d",
            "IncompleteSignatureException",
            "3712057481",
        ),
    ],
)
async def test_authentication_is_asked_for_in_form(
    endpoint: Endpoint, headers: dict[str, str], query: str, code: str, crc32: str
) -> None:
    """The checksum pins the whole body, message included, as the service sends it."""
    target = {"X-Amz-Target": "DynamoDB_20120810.ListTables"}
    status, answered, body = await endpoint.send(b"", {**target, **headers}, query=query)
    assert (status, json.loads(body)["__type"]) == (400, f"com.amazon.coral.service#{code}")
    assert answered["x-amz-crc32"] == crc32


async def test_a_missing_body_is_missed_last(endpoint: Endpoint) -> None:
    target = {"X-Amz-Target": "DynamoDB_20120810.ListTables"}
    _, _, body = await endpoint.send(b"", target)
    assert json.loads(body)["__type"] == "com.amazon.coral.service#MissingAuthenticationTokenException"
    status, _, body = await endpoint.send(b"", {**SIGNED, **target})
    assert (status, body) == (400, b'{"__type":"com.amazon.coral.service#SerializationException"}')


async def test_a_signature_in_the_query_string_will_do(endpoint: Endpoint) -> None:
    query = "?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-SignedHeaders=d&X-Amz-Date=e"
    headers = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/json"}
    status, _, _ = await endpoint.send(b"{}", headers, query=query)
    assert status == 200


async def test_cors(endpoint: Endpoint) -> None:
    asked = {
        "Origin": "whatever",
        "Access-Control-Request-Headers": "a, b, c",
        "Access-Control-Request-Method": "d",
    }
    status, headers, body = await endpoint.send(headers=asked, method="OPTIONS")
    assert (status, body, headers["Content-Length"]) == (200, b"", "0")
    assert headers["Access-Control-Allow-Origin"] == "*"
    assert headers["Access-Control-Allow-Headers"] == "a, b, c"
    assert headers["Access-Control-Allow-Methods"] == "d"
    assert headers["Access-Control-Max-Age"] == "172800"
    assert (await endpoint.send(headers={"Origin": "x"}))[1]["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Origin" not in (await endpoint.send())[1]


async def test_the_limit_of_a_body_is_16_mib_exactly(endpoint: Endpoint) -> None:
    assert (await endpoint.send(b"a" * MAX_BODY))[0] == 404
    status, headers, _ = await endpoint.send(b"a" * (MAX_BODY + 1))
    assert (status, headers["Transfer-Encoding"]) == (413, "chunked")


async def test_the_limit_holds_for_chunked_bodies(endpoint: Endpoint) -> None:
    async def chunks(total: int) -> AsyncIterator[bytes]:
        for _ in range(total // 65536):
            yield b"a" * 65536
        yield b"a" * (total % 65536)

    assert (await endpoint.send(chunks(MAX_BODY)))[0] == 404
    assert (await endpoint.send(chunks(MAX_BODY + 1)))[0] == 413


async def test_half_requests_are_bounded_over_all_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    arrived: asyncio.Queue[int] = asyncio.Queue()

    class Watched(IncompleteRequests[asyncio.Transport]):
        def note(self, connection: asyncio.Transport, size: int) -> None:
            super().note(connection, size)
            arrived.put_nowait(size)

    monkeypatch.setattr("backend.http_edge.INCOMPLETE_BYTES", 20_000)
    monkeypatch.setattr("backend.http_edge.IncompleteRequests", Watched)
    front = StoreFront(ScriptedBackend(), lambda n: bytes(range(n)), lambda: 0.0)
    server = await asyncio.get_running_loop().create_server(front, "127.0.0.1", 0)
    connections = []
    for _ in range(3):
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8000\r\n\r\n" + b"a" * 7_000)
        while await arrived.get() < 7_000:
            pass
        connections.append((reader, writer))
    with suppress(ConnectionResetError):
        assert await connections[0][0].read() == b""  # it has waited for longest
    for reader, writer in connections[1:]:
        writer.write(b"a" * 1_000)
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 404")
    for _, writer in connections:
        writer.close()
    server.close()
    await front.shutdown(1)


@pytest.mark.parametrize("body", [gzip.compress(b"{}", mtime=0), b"no gzip", b"{}"])
async def test_a_request_is_not_unpacked(endpoint: Endpoint, body: bytes) -> None:
    headers = {**SIGNED, "X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Encoding": "gzip"}
    status, _, answer = await endpoint.send(body, headers)
    refused = (400, b'{"__type":"com.amazon.coral.service#SerializationException"}')
    assert (status, answer) == ((200, b"{}") if body == b"{}" else refused)


async def test_large_answers_are_compressed_on_request(endpoint: Endpoint) -> None:
    endpoint.backend.answer = {"Item": {"a": {"S": "x" * 5000}}}
    headers = {**SIGNED, "X-Amz-Target": "DynamoDB_20120810.GetItem"}
    _, answered, plain = await endpoint.send(b"{}", headers)
    assert "Content-Encoding" not in answered
    _, answered, body = await endpoint.send(b"{}", {**headers, "Accept-Encoding": "gzip, deflate"})
    assert answered["Content-Encoding"] == "gzip"
    assert answered["x-amz-crc32"] == str(zlib.crc32(body))
    assert gzip.decompress(body) == plain


@pytest.mark.parametrize(
    "sent",
    [
        b"GARBAGE\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\n" + b"X" * 100_000 + b": 1\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n",
    ],
    ids=["method", "version", "length", "chunk", "header", "path", "half"],
)
async def test_what_clients_send_or_break_off_is_nothing_to_complain_of(
    endpoint: Endpoint, caplog: pytest.LogCaptureFixture, sent: bytes
) -> None:
    host, _, port = endpoint.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(sent)
    if not sent.endswith(b"10\r\n\r\n"):
        assert (await reader.readline()).startswith(b"HTTP/1.0 400 ")
    writer.close()
    assert (await endpoint.send(method="GET"))[0] == 200
    assert caplog.records == []


async def test_connections_are_kept_alive(endpoint: Endpoint) -> None:
    reader, writer = await asyncio.open_connection(*endpoint.url.removeprefix("http://").split(":"))
    for _ in range(2):
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert await reader.readexactly(42) == b"healthy: dynamodb.us-east-1.amazonaws.com "
    writer.close()
    await writer.wait_closed()
