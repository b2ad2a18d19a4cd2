"""A scripted world for nodes: the test moves the clock, holds or breaks the store, delivers the messages.

A playbook is a test of a few lines against `world`: do something at a node, then say what the store was
asked, what came back and from where. The store is the real engine: its answers are nobody's invention.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from backend.engine import Engine
from backend.errors import ServiceError
from dax.answer import Answer
from dax.node import Node, NodeSettings


class ManualClock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.time = 1_000_000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self._count += 1
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.time + seconds, self._count, future))
        await future

    def advance(self, seconds: float) -> None:
        self.time += seconds
        while self._sleepers and self._sleepers[0][0] <= self.time:
            future = heapq.heappop(self._sleepers)[2]
            if not future.done():
                future.set_result(None)


class Held:
    """One operation at the store that waits for the test: before it is executed, or with its answer ready."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self._go = asyncio.Event()

    async def wait(self) -> None:
        self.reached.set()
        await self._go.wait()

    def release(self) -> None:
        self._go.set()


class ScriptedStore:
    """The engine as a backend, whose next answers a test can hold, replace or lose."""

    def __init__(self, clock: ManualClock) -> None:
        counter = itertools.count(1)
        self.engine = Engine(clock.now, lambda n: next(counter).to_bytes(n, "big"))
        self.calls: list[str] = []
        self.requests: list[tuple[str, Any]] = []
        self._held: dict[str, deque[tuple[Held, bool]]] = {}
        self._errors: dict[str, deque[tuple[BaseException, bool]]] = {}
        self._edits: dict[str, deque[Callable[[Any], Any]]] = {}

    def hold(self, operation: str, *, executed: bool = False) -> Held:
        """Let the next such operation wait: before it is executed, or with its answer under way."""
        held = Held()
        self._held.setdefault(operation, deque()).append((held, executed))
        return held

    def fail(self, operation: str, error: BaseException, *, executed: bool = False) -> None:
        """Let the next such operation fail: instead of being executed, or after it was."""
        self._errors.setdefault(operation, deque()).append((error, executed))

    def edit(self, operation: str, change: Callable[[Any], Any]) -> None:
        """Let the next answer of such an operation be another."""
        self._edits.setdefault(operation, deque()).append(change)

    async def execute(self, operation: str, request: Any) -> Any:
        self.calls.append(operation)
        self.requests.append((operation, request))
        held, executed = _next(self._held, operation) or (None, False)
        error, after = _next(self._errors, operation) or (None, False)
        edit = _next(self._edits, operation)
        if held is not None and not executed:
            await held.wait()
        if error is not None and not after:
            raise error
        response = self.engine.execute(operation, request)
        if held is not None and executed:
            await held.wait()
        if error is not None:
            raise error
        return response if edit is None else edit(response)

    async def close(self) -> None:
        pass

    def asked(self) -> list[str]:
        """The operations since the last call, DescribeTable left out."""
        calls, self.calls = [call for call in self.calls if call != "DescribeTable"], []
        return calls


def _next(script: dict[str, deque[Any]], operation: str) -> Any:
    queue = script.get(operation)
    return queue.popleft() if queue else None


class Tasks:
    def __init__(self) -> None:
        self.running: list[asyncio.Task[None]] = []

    def spawn(self, work: Any, *, name: str) -> None:
        self.running.append(asyncio.get_running_loop().create_task(work, name=name))


class Peers:
    def __init__(self, world: World, node_id: str) -> None:
        self._world = world
        self._node_id = node_id

    async def forward(self, operation: str, request: Any) -> Answer:
        primary = self._world.primary
        if primary is None:
            raise ServiceError("InternalServerError", "no primary", status=500)
        return await self._world.nodes[primary].execute(operation, request, forwarded=True)

    def send(self, to: str, message: Any) -> None:
        self._world.mail.append((self._node_id, to, message))


class Recorder:
    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, object]]] = []

    def record(self, event: str, **facts: object) -> None:
        self.events.append((event, facts))


TABLE = "Table"


class World:
    """Nodes `node-1` (the primary), `node-2`, ... over one store. Messages wait in `mail` until delivered."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = ScriptedStore(self.clock)
        self.mail: deque[tuple[str, str, Any]] = deque()
        self.nodes: dict[str, Node] = {}
        self.primary: str | None = None
        self.epoch = 0
        self.tasks = Tasks()
        self.recorder = Recorder()

    def start(self, count: int = 1, **settings: Any) -> Node:
        """Start nodes with `settings`; the primary is returned."""
        for number in range(1, count + 1):
            self.add(f"node-{number}", **settings)
        self.promote("node-1")
        self.deliver()
        self.table(TABLE)
        return self.nodes["node-1"]

    def add(self, node_id: str, **settings: Any) -> Node:
        node = Node(
            node_id,
            self.clock,
            self.store,
            Peers(self, node_id),
            self.tasks,
            NodeSettings(**settings),
            self.recorder,
        )
        self.nodes[node_id] = node
        return node

    def promote(self, primary: str) -> None:
        self.epoch += 1
        self.primary = primary
        for node_id, node in self.nodes.items():
            if node_id != primary:
                node.become_replica(self.epoch, primary)
        self.nodes[primary].become_primary(self.epoch, [n for n in self.nodes if n != primary])

    def table(self, name: str, partition: str = "pk:S", sort: str | None = None) -> None:
        """Make a table at the store, around the cluster. Keys are given as `name:type`."""
        keys = [partition] if sort is None else [partition, sort]
        pairs = [key.split(":") for key in keys]
        roles = ["HASH", "RANGE"]
        self.around(
            "CreateTable",
            TableName=name,
            AttributeDefinitions=[{"AttributeName": n, "AttributeType": t} for n, t in pairs],
            KeySchema=[
                {"AttributeName": n, "KeyType": role} for (n, _), role in zip(pairs, roles, strict=False)
            ],
            BillingMode="PAY_PER_REQUEST",
        )

    def around(self, operation: str, **request: Any) -> Any:
        """Run an operation at the store, around the cluster."""
        return self.store.engine.execute(operation, request)

    def around_put(self, pk: str, table: str = TABLE, **attributes: Any) -> None:
        self.around("PutItem", TableName=table, Item=item(pk, **attributes))

    def deliver(self) -> None:
        """Deliver all messages, and those they cause."""
        while self.mail:
            sender, to, message = self.mail.popleft()
            if to in self.nodes:
                self.nodes[to].receive(sender, message)

    async def settle(self) -> None:
        """Let everything that can run, run."""
        for _ in range(50):
            await asyncio.sleep(0)

    async def run(self, operation: str, node: str = "node-1", **request: Any) -> Answer:
        return await self.nodes[node].execute(operation, request)

    def begin(self, operation: str, node: str = "node-1", **request: Any) -> asyncio.Task[Answer]:
        return asyncio.get_running_loop().create_task(self.run(operation, node, **request))

    async def get(self, pk: str, node: str = "node-1", table: str = TABLE, **more: Any) -> Answer:
        return await self.run("GetItem", node, TableName=table, Key=item(pk), **more)

    async def put(self, pk: str, node: str = "node-1", table: str = TABLE, **attributes: Any) -> Answer:
        return await self.run("PutItem", node, TableName=table, Item=item(pk, **attributes))

    async def update(self, pk: str, expression: str, node: str = "node-1", **more: Any) -> Answer:
        return await self.run(
            "UpdateItem", node, TableName=TABLE, Key=item(pk), UpdateExpression=expression, **more
        )

    async def close(self) -> None:
        """End the background work, and raise what it failed of."""
        for task in self.tasks.running:
            task.cancel()
        for outcome in await asyncio.gather(*self.tasks.running, return_exceptions=True):
            if isinstance(outcome, BaseException) and not isinstance(outcome, asyncio.CancelledError):
                raise outcome

    def held(self, pk: str, node: str = "node-1", table: str = TABLE) -> Any:
        """What a node's item cache holds: an item, "nothing" for a negative entry, None without an entry."""
        report = self.nodes[node].inspect("GetItem", {"TableName": table, "Key": item(pk)})
        if not report["present"]:
            return None
        return report["response"].get("Item", "nothing")


def item(pk: str, **attributes: Any) -> dict[str, Any]:
    """A typed item: strings become S, whole numbers N."""
    return {"pk": {"S": pk}, **{name: value_of(value) for name, value in attributes.items()}}


def value_of(value: Any) -> dict[str, Any]:
    return {"N": str(value)} if isinstance(value, int) else {"S": value}


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = World()
    yield made
    await made.close()


@pytest.fixture(scope="session")
def make_world() -> Callable[[], World]:
    return World


@pytest.fixture
def make_item() -> Callable[..., dict[str, Any]]:
    return item
