"""The remote backend against our own HTTP front over a scripted backend, and against bad endpoints."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web
from botocore.credentials import Credentials

from backend.errors import ServiceError
from backend.http import StoreFront
from backend.protocol import Request, Response
from backend.remote import RemoteBackend, RemoteSettings, find_credentials

pytestmark = pytest.mark.live

Step = Response | Exception


class ScriptedBackend:
    """Answers the steps of the script in turn, then with the last for ever."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.requests: list[tuple[str, Request]] = []

    async def execute(self, operation: str, request: Request) -> Response:
        self.requests.append((operation, request))
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        if isinstance(step, Exception):
            raise step
        return step

    async def close(self) -> None: ...


class World:
    """Servers and clients of one test; delays are recorded, not waited for."""

    def __init__(self) -> None:
        self.delays: list[float] = []
        self._ends: list[Callable[[], Any]] = []

    async def _sleep(self, seconds: float) -> None:
        self.delays.append(seconds)

    async def serve(self, factory: Callable[[], asyncio.Protocol]) -> str:
        server = await asyncio.get_running_loop().create_server(factory, "127.0.0.1", 0)
        self._ends.append(server.close)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    def client(self, url: str, **settings: Any) -> RemoteBackend:
        client = RemoteBackend(
            url,
            sleep=self._sleep,
            entropy=lambda n: b"\x80" + bytes(n - 1),
            credentials=Credentials("key", "secret"),
            settings=RemoteSettings(**settings),
        )
        self._ends.append(client.close)
        return client

    async def front(self, backend: ScriptedBackend, **settings: Any) -> RemoteBackend:
        front = StoreFront(backend, bytes, lambda: 0.0)
        client = self.client(await self.serve(front), **settings)
        self._ends.append(lambda: front.shutdown(1))
        return client

    async def answering(
        self, status: int, body: bytes, headers: dict[str, str] | None = None
    ) -> RemoteBackend:
        async def handle(request: web.BaseRequest) -> web.Response:
            await request.content.read()
            return web.Response(status=status, body=body, headers=headers)

        server = web.Server(handle)
        self._ends.append(server.shutdown)
        return self.client(await self.serve(server), attempts=2)

    async def end(self) -> None:
        for end in reversed(self._ends):
            ended = end()
            if ended is not None:
                await ended


@pytest_asyncio.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    yield world
    await world.end()


async def refusal(client: RemoteBackend, operation: str = "GetItem") -> ServiceError:
    with pytest.raises(ServiceError) as refused:
        await client.execute(operation, {"TableName": "users", "Key": {"pk": {"S": "1"}}})
    return refused.value


async def test_requests_and_answers_keep_their_shape(world: World) -> None:
    answer = {"Item": {"pk": {"S": "1"}, "b": {"BS": [b"\x00", b"\xff"]}}}
    backend = ScriptedBackend(answer)
    request = {"TableName": "users", "Key": {"pk": {"B": b"\x01"}}, "ConsistentRead": True}
    client = await world.front(backend)
    assert await client.execute("GetItem", request) == answer
    assert backend.requests == [("GetItem", request)]


async def test_streams_operations_go_to_their_own_target(world: World) -> None:
    backend = ScriptedBackend({"Streams": []})
    assert await (await world.front(backend)).execute("ListStreams", {}) == {"Streams": []}


async def test_errors_arrive_as_they_were_raised(world: World) -> None:
    reasons = [
        {"Code": "None"},
        {"Code": "ConditionalCheckFailed", "Message": "m", "Item": {"b": {"B": b"x"}}},
    ]
    raised = ServiceError(
        "TransactionCanceledException", "cancelled", fields={"CancellationReasons": reasons}
    )
    client = await world.front(ScriptedBackend(raised))
    arrived = await refusal(client)
    assert (arrived.code, arrived.message, arrived.status) == (raised.code, raised.message, 400)
    assert arrived.fields == raised.fields
    assert world.delays == []


async def test_the_item_of_a_failed_condition_arrives_with_its_bytes(world: World) -> None:
    item = {"pk": {"S": "1"}, "b": {"B": b"\xff"}}
    raised = ServiceError("ConditionalCheckFailedException", "failed", fields={"Item": item})
    assert (await refusal(await world.front(ScriptedBackend(raised)))).fields == {"Item": item}


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("ThrottlingException", 400),
        ("ProvisionedThroughputExceededException", 400),
        ("InternalServerError", 500),
    ],
)
async def test_passing_errors_are_tried_again_after_doubling_delays(
    world: World, code: str, status: int
) -> None:
    error = ServiceError(code, "slow down", status=status)
    backend = ScriptedBackend(error, error, error, {"Item": {}})
    client = await world.front(backend, base_delay=1.0, max_delay=3.0)
    assert await client.execute("GetItem", {"TableName": "users"}) == {"Item": {}}
    assert world.delays == [0.5, 1.0, 1.5]


async def test_a_refusal_tells_whether_an_earlier_attempt_may_have_been_carried_out(world: World) -> None:
    refused = ServiceError("ConditionalCheckFailedException", "The conditional request failed")
    throttled = ServiceError("ThrottlingException", "slow down")
    lost = ServiceError("InternalServerError", "lost", status=500)
    for steps, told in (
        ([refused], False),
        ([throttled, refused], False),
        ([lost, throttled, refused], True),
    ):
        error = await refusal(await world.front(ScriptedBackend(*steps)))
        assert (error.code, error.after_unknown_outcome) == ("ConditionalCheckFailedException", told)


async def test_attempts_come_to_an_end(world: World) -> None:
    backend = ScriptedBackend(ServiceError("ThrottlingException", "slow down"))
    assert (await refusal(await world.front(backend, attempts=3))).code == "ThrottlingException"
    assert len(backend.requests) == 3


async def test_other_errors_are_final(world: World) -> None:
    backend = ScriptedBackend(ServiceError("ValidationException", "no"))
    assert (await refusal(await world.front(backend))).message == "no"
    assert len(backend.requests) == 1


async def test_an_endpoint_that_is_not_there(world: World) -> None:
    url = await world.serve(asyncio.Protocol)
    await world.end()
    error = await refusal(world.client(url, attempts=2))
    assert (error.code, error.status) == ("InternalServerError", 500)
    assert str(error.message).startswith(f"The table store at {url}")
    assert "cannot be reached" in str(error.message)
    assert len(world.delays) == 1


async def test_an_endpoint_that_never_answers(world: World) -> None:
    client = world.client(await world.serve(asyncio.Protocol), attempts=1, read_timeout=0.05)
    assert "did not answer in time" in str((await refusal(client)).message)


@pytest.mark.parametrize(
    ("status", "body", "headers", "told"),
    [
        (502, b"<html>", None, "HTTP status 502 and no DynamoDB error"),
        (400, b"[]", None, "HTTP status 400 and no DynamoDB error"),
        (200, b"<html>", None, "none of GetItem"),
        (200, b'{"Item":5}', None, "none of GetItem"),
        (200, b"{}", {"x-amz-crc32": "1"}, "does not match its checksum"),
    ],
)
async def test_answers_that_are_none(
    world: World, status: int, body: bytes, headers: dict[str, str] | None, told: str
) -> None:
    error = await refusal(await world.answering(status, body, headers))
    assert (error.code, error.status // 100) == ("InternalServerError", 5)
    assert told in str(error.message)


async def test_a_checksum_that_fits(world: World) -> None:
    client = await world.answering(200, b"{}", {"x-amz-crc32": str(zlib.crc32(b"{}"))})
    assert await client.execute("GetItem", {}) == {}


async def test_closing_is_final_and_may_be_repeated(world: World) -> None:
    client = await world.front(ScriptedBackend({}), attempts=1)
    await client.execute("ListTables", {})
    await client.close()
    await client.close()
    assert "closed" in str((await refusal(client)).message)


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x", "http://"])
def test_what_is_no_endpoint_is_told_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="is no endpoint"):
        RemoteBackend(url, sleep=asyncio.sleep, entropy=bytes)


def test_credentials_are_demanded_for_aws_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    assert find_credentials("localhost").access_key == "local"
    with pytest.raises(ValueError, match="No AWS credentials found"):
        find_credentials("dynamodb.us-east-1.amazonaws.com")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "mine")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    assert find_credentials("localhost").access_key == "mine"
