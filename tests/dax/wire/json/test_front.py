"""A node's HTTP front, spoken to in raw HTTP: provenance headers, the ways of a hit, operators' routes."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from dax.wire.json.front import NodeFront

AUTHORIZATION = (
    "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=00"
)


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    def told(self, name: str) -> str | None:
        return self.headers.get(f"x-daxsim-{name}")


class Client:
    """One keep-alive connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def call(self, operation: str, request: Any, **headers: str) -> Reply:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        defaults = {"X-Amz-Target": f"DynamoDB_20120810.{operation}", "X-Amz-Date": "20260101T000000Z"}
        defaults |= {"Authorization": AUTHORIZATION, "Content-Type": "application/x-amz-json-1.0"}
        return await self.send("POST", "/", orjson.dumps(request), defaults | given)

    async def send(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> Reply:
        sent = {"host": "localhost", "content-length": str(len(body)), **(headers or {})}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items())]
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        pairs = [line.split(": ", 1) for line in head[1:] if line]
        found = {name.lower(): value for name, value in pairs}
        return Reply(
            int(head[0].split()[1]), found, await self.reader.readexactly(int(found["content-length"]))
        )


Connect = Callable[[], Awaitable[Client]]


@pytest.fixture
async def connect(world) -> AsyncIterator[Connect]:
    node = world.start(2)
    front = NodeFront(node, lambda n: b"\x01" * n)
    server = await asyncio.get_running_loop().create_server(front, "127.0.0.1", 0)
    clients: list[Client] = []

    async def connect_one() -> Client:
        clients.append(Client(*await asyncio.open_connection(*server.sockets[0].getsockname()[:2])))
        return clients[-1]

    yield connect_one
    for client in clients:
        client.writer.close()
    server.close()
    await front.shutdown(1.0)


GET = {"TableName": "Table", "Key": {"pk": {"S": "a"}}}

pytestmark = pytest.mark.live


async def test_a_miss_and_two_ways_of_a_hit_tell_where_they_came_from(world, connect):
    client = await connect()
    world.around_put("a", v="x")
    miss = await client.call("GetItem", GET)
    assert (miss.told("served-from"), miss.told("miss"), miss.told("node")) == (
        "store", "never-seen", "node-1",
    )  # fmt: skip
    world.clock.advance(1.5)
    recognised = await client.call("GetItem", GET)
    decoded = await client.call("GetItem", {**GET, "ReturnConsumedCapacity": "NONE"})
    for hit in (recognised, decoded):
        assert (hit.status, hit.told("served-from"), hit.told("age")) == (200, "item-cache", "1.500")
        assert (hit.told("node"), hit.told("miss"), hit.body) == ("node-1", None, miss.body)
        assert hit.headers["x-amz-crc32"] == str(zlib.crc32(hit.body))
        assert hit.headers["content-type"] == "application/x-amz-json-1.0"
        assert len(hit.headers["x-amzn-requestid"]) == 52
    assert recognised.headers["date"] == "Mon, 12 Jan 1970 13:46:41 GMT"
    assert set(recognised.headers) - {"date"} == set(decoded.headers) - {"date", "server"}
    assert world.nodes["node-1"].metrics.item_hits == 2
    assert world.nodes["node-1"].metrics.requests["GetItem"] == 3


async def test_recognised_requests_see_writes_expiry_and_flushes(world, connect):
    client = await connect()
    for _ in range(2):
        negative = await client.call("GetItem", GET)
    assert (negative.told("served-from"), negative.body) == ("negative-entry", b"{}")
    await world.put("a", v=2)
    assert (await client.call("GetItem", GET)).json["Item"]["v"] == {"N": "2"}
    world.clock.advance(300)
    assert (await client.call("GetItem", GET)).told("miss") == "expired"
    world.nodes["node-1"].flush()
    assert (await client.call("GetItem", GET)).told("miss") == "flushed"


async def test_a_recognised_request_is_forgotten_with_its_table_s_key(world, connect):
    client = await connect()
    await client.call("GetItem", GET)
    world.around("DeleteTable", TableName="Table")
    world.table("Table", "id:N")
    await world.run("GetItem", TableName="Table", Key={"id": {"N": "1"}})
    refused = await client.call("GetItem", GET)
    assert (refused.status, refused.json["__type"].split("#")[1]) == (400, "ValidationException")


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Authorization": ""}, "MissingAuthenticationTokenException"),
        ({"Authorization": "AWS4-HMAC-SHA256 Credential=a"}, "IncompleteSignatureException"),
        ({"X_Amz_Date": ""}, "IncompleteSignatureException"),
        ({"X_Amz_Target": "DynamoDB_20120810.Nonsense"}, "UnknownOperationException"),
    ],
    ids=str,
)
async def test_a_recognised_body_does_not_excuse_bad_headers(world, connect, headers, code):
    client = await connect()
    for _ in range(2):
        await client.call("GetItem", GET)
    refused = await client.call("GetItem", GET, **headers)
    assert (refused.status, refused.json["__type"].split("#")[1]) == (400, code)
    assert (await client.call("DeleteItem", GET)).told("served-from") == "store"


async def test_answers_are_compressed_and_shared_with_pages_as_at_the_store(world, connect):
    client = await connect()
    await world.put("a", v="x" * 5000)
    plain = await client.call("GetItem", GET)
    for _ in range(2):
        packed = await client.call("GetItem", GET, Accept_Encoding="gzip")
        assert (packed.headers["content-encoding"], packed.told("served-from")) == ("gzip", "item-cache")
        assert gzip.decompress(packed.body) == plain.body
    shared = await client.call("GetItem", GET, Origin="http://example.test")
    assert shared.headers["access-control-allow-origin"] == "*"


async def test_a_batch_tells_where_each_key_came_from(world, connect, make_item):
    client = await connect()
    await world.put("a", v=1)
    keys = [make_item("a"), make_item("b")]
    batch = await client.call("BatchGetItem", {"RequestItems": {"Table": {"Keys": keys}}})
    assert batch.told("keys") == "item-cache=1,store=1"


async def test_errors_name_the_node_and_blobs_are_base64(world, connect):
    client = await connect()
    refused = await client.call("CreateTable", {"TableName": "Other"})
    assert (refused.status, refused.told("node")) == (400, "node-1")
    assert refused.json["__type"] == "com.amazon.coral.service#UnknownOperationException"
    assert "table store" in refused.json["message"]
    stored = {"pk": {"S": "a"}, "b": {"B": "AAE="}}
    await client.call("PutItem", {"TableName": "Table", "Item": stored})
    assert (await client.call("GetItem", GET)).json == {"Item": stored}


async def test_a_defect_is_answered_as_an_internal_error(world, connect, caplog):
    client = await connect()
    world.store.fail("GetItem", RuntimeError("a secret"))
    broken = await client.call("GetItem", GET)
    assert (broken.status, broken.json["__type"].split("#")[1]) == (500, "InternalServerError")
    assert b"secret" not in broken.body
    assert "a secret" in caplog.text
    assert world.nodes["node-1"].metrics.faults == 1


async def test_a_request_in_pieces_is_one_request(world, connect):
    client = await connect()
    body = orjson.dumps(GET)
    head = (
        f"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\nX-Amz-Date: x\r\n"
        f"Content-Type: application/json\r\nAuthorization: {AUTHORIZATION}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    for piece in (head[:20], head[20:], body[:5]):
        client.writer.write(piece)
        await client.writer.drain()
        await asyncio.sleep(0.005)
    client.writer.write(body[5:])
    assert (await client.reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200")


# The operator's routes


async def admin(client: Client, route: str, message: Any = None) -> Reply:
    if message is None:
        return await client.send("GET", f"/_daxsim/{route}")
    headers = {"Content-Type": "application/json"}
    return await client.send("POST", f"/_daxsim/{route}", orjson.dumps(message), headers)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 415),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/json", "origin": "http://elsewhere.example"}, 403),
        ({"content-type": "application/json", "host": "rebound.example"}, 403),
    ],
    ids=str,
)
async def test_a_page_of_another_site_flushes_nothing(world, connect, headers, status):
    client = await connect()
    await world.put("a")
    refused = await client.send("POST", "/_daxsim/flush", b"{}", headers)
    assert (refused.status, world.nodes["node-1"].status()["item_cache"]["entries"]) == (status, 1)


async def test_no_preflight_is_granted_for_an_operator_s_route(world, connect):
    asking = {"Origin": "http://elsewhere.example", "Access-Control-Request-Method": "POST"}
    asking["Access-Control-Request-Headers"] = "content-type"
    answer = await (await connect()).send("OPTIONS", "/_daxsim/flush", headers=asking)
    assert answer.status == 403
    assert not [name for name in answer.headers if name.startswith("access-control-")]


async def test_status_inspect_and_flush(world, connect):
    client = await connect()
    await world.put("a", v=1)
    await world.get("a")
    status = (await admin(client, "status")).json
    assert (status["node"], status["role"], status["item_cache"]["hits"]) == ("node-1", "primary", 1)
    assert status["metrics"]["ClientConnections"] == 1
    world.clock.advance(100)
    report = (await admin(client, "inspect", {"operation": "GetItem", "request": GET})).json
    assert (report["present"], report["negative"], report["age"], report["ttl_left"]) == (
        True,
        False,
        100,
        200,
    )
    assert report["response"]["Item"]["v"] == {"N": "1"}
    flushed = (await admin(client, "flush", {"table": "Table", "key": GET["Key"]})).json
    assert flushed == {"node": "node-1", "flushed": 1}
    report = (await admin(client, "inspect", {"operation": "GetItem", "request": GET})).json
    assert (report["present"], report["miss"]) == (False, "flushed")


@pytest.mark.parametrize(
    ("route", "message", "status"),
    [
        ("nonsense", None, 404),
        ("flush", {"unknown": 1}, 400),
        ("flush", {"table": 1}, 400),
        ("flush", {"cache": "everything"}, 400),
        ("flush", {"key": {"pk": {"S": "a"}}}, 400),
        ("flush", {"table": "Table", "key": {"pk": "a"}}, 400),
        ("flush", [], 400),
        ("inspect", {"operation": "PutItem", "request": {"TableName": "Table", "Item": {}}}, 400),
        ("inspect", {"operation": "Nonsense", "request": {}}, 400),
        ("inspect", {"operation": "GetItem"}, 400),
        ("inspect", {"operation": "GetItem", "request": {"TableName": 1}}, 400),
    ],
    ids=str,
)
async def test_a_wrong_wish_of_an_operator_is_told_so(world, connect, route, message, status):
    client = await connect()
    refused = await admin(client, route, message)
    assert refused.status == status
    assert set(refused.json) >= {"__type"}
    assert refused.json.get("message") or refused.json.get("Message")
