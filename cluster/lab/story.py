"""What a story is, and the stage on which it is played.

A story is one file of `cluster.lab.scenarios`: a `play`, which acts through named clients and fault verbs,
and a `judge`, which looks at the recorded history and yields findings. Neither knows which runtime it is on.

    async def play(stage: Stage) -> None:
        alice = stage.client("alice", through="node-2")
        ...

    def judge(history: History) -> Iterator[Finding]: ...

`Changes` takes away what a story depends on: for tests and for the curious, who want to see a verdict fail.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from cluster.faults import Faults
from cluster.lab.client import Client, Connection, Reply
from cluster.lab.history import STORE, History, HistoryRecorder
from cluster.lab.verdict import Finding
from cluster.topology import Cluster

CLUSTER = "cluster"
"""The `through` of a client that connects to the cluster endpoint: any live node may answer."""

CONSISTENCY, CAPACITY = "consistency", "capacity"
"""The groups of stories: what a cache may answer, and what a table can take."""

Tamper = Callable[[str, str, Mapping[str, Any]], Mapping[str, Any]]
"""`tamper(client, operation, request)` gives the request that is sent instead."""


@dataclass(frozen=True, slots=True)
class Story:
    """One documented behaviour, played and judged.

    group: `consistency` or `capacity`.
    settings: those of `ClusterConfig` that it needs, where they differ from the defaults.
    lesson: one sentence that a reader should take home. source: where the behaviour is documented.
    """

    name: str
    title: str
    lesson: str
    source: str
    play: Callable[[Stage], Coroutine[Any, Any, None]]
    judge: Callable[[History], Iterable[Finding]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    group: str = CONSISTENCY


@dataclass(frozen=True, slots=True)
class Changes:
    """What is different from the story as written.

    settings: over the story's own. reroute: client name -> where it connects to instead.
    without: fault verbs that do nothing. tamper: what becomes of each request.
    write_price: US dollars for a million write units, where a story prices them; None: its own.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    reroute: Mapping[str, str] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    tamper: Tamper | None = None
    write_price: float | None = None


class Venue(Protocol):
    """A running cluster that a stage is built on: a live or a simulated one."""

    cluster: Cluster
    faults: Faults

    def connect(self, through: str) -> Connection:
        """A connection to a node, to `CLUSTER` or to `STORE`."""
        ...

    async def gather(self, works: Iterable[Coroutine[Any, Any, Any]]) -> list[Any]:
        """Run several works at the same time and give their results in order."""
        ...


class Stage:
    """Clients, a clock and faults for one story. Everything done here is in the history."""

    def __init__(self, venue: Venue, recorder: HistoryRecorder, changes: Changes) -> None:
        self._venue = venue
        self._recorder = recorder
        self._changes = changes

    # Clients

    def client(self, name: str, *, through: str = CLUSTER) -> Client:
        """A client that talks to one node ("node-2"), to the cluster endpoint, or to the store."""
        through = self._changes.reroute.get(name, through)
        connection = self._venue.connect(through)
        if self._changes.tamper is not None:
            connection = _Tampered(name, connection, self._changes.tamper)
        return Client(name, through, connection, self._recorder)

    async def table(
        self,
        name: str,
        *keys: str,
        items: Iterable[Mapping[str, Any]] = (),
        indexes: Mapping[str, str] | None = None,
        throughput: tuple[int, int] | None = None,
    ) -> None:
        """Make a table in the store and put items into it, around the cache.

        Keys are `"Id:N"`: the partition key, then the sort key if there is one. `indexes` are global ones of
        all attributes, each with its partition key. `throughput` is read and write units; None: on demand.
        """
        owner = self.client("owner", through=STORE)
        names = [key.split(":") for key in keys]
        indexed = [(index, *key.split(":")) for index, key in (indexes or {}).items()]
        more: dict[str, Any] = {"BillingMode": "PAY_PER_REQUEST"}
        if throughput is not None:
            read, write = throughput
            more = {"ProvisionedThroughput": {"ReadCapacityUnits": read, "WriteCapacityUnits": write}}
        if indexed:
            more["GlobalSecondaryIndexes"] = [
                {
                    "IndexName": index,
                    "KeySchema": [{"AttributeName": attribute, "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
                for index, attribute, _ in indexed
            ]
        await owner.create_table(
            TableName=name,
            AttributeDefinitions=[
                {"AttributeName": n, "AttributeType": t} for n, t in (*names, *(one[1:] for one in indexed))
            ],
            KeySchema=[
                {"AttributeName": n, "KeyType": kind}
                for (n, _), kind in zip(names, ("HASH", "RANGE"), strict=False)
            ],
            **more,
        )
        for item in items:
            await owner.put_item(TableName=name, Item=item)

    async def together(self, *works: Coroutine[Any, Any, Any]) -> list[Any]:
        """Run several works at the same time and give their results in order."""
        return await self._venue.gather(works)

    def say(self, text: str) -> None:
        """A sentence in the time line."""
        self._recorder.note(text)

    # Time and faults

    async def advance(self, seconds: float) -> None:
        """Let time pass: everything due in it happens."""
        self._recorder.fault("advance", seconds=seconds)
        if "advance" not in self._changes.without:
            await self._venue.faults.advance(seconds)

    async def settle(self) -> None:
        """Wait until no replication message is under way."""
        await self._venue.cluster.settle()

    def throttle_store(self, writes: int) -> None:
        """Let the store refuse the next writes as over its throughput."""
        if self._fault("throttle_store", writes=writes):
            self._venue.faults.store.throttle_next(writes)

    def fail_store(self, writes: int) -> None:
        """Let the store fail the next writes with an internal error."""
        if self._fault("fail_store", writes=writes):
            self._venue.faults.store.fail_next(writes)

    def hold_replication(self) -> None:
        """Stop replication messages at their receivers until `release_replication`."""
        if self._fault("hold_replication"):
            self._venue.faults.hold_replication()

    async def release_replication(self) -> None:
        """Deliver what was held, and wait until it has been applied."""
        if self._fault("release_replication"):
            self._venue.faults.release_replication()
            await self._venue.cluster.settle()

    def replication_delay(self, seconds: float) -> None:
        """Let replication messages sent from now on take so long."""
        if self._fault("replication_delay", seconds=seconds):
            self._venue.faults.set_replication_delay(seconds)

    def _fault(self, verb: str, **facts: Any) -> bool:
        self._recorder.fault(verb, **facts)
        return verb not in self._changes.without


class _Tampered:
    """A connection on which requests are altered, as the history will not show: it records what was meant."""

    def __init__(self, client: str, connection: Connection, tamper: Tamper) -> None:
        self._client = client
        self._connection = connection
        self._tamper = tamper

    async def call(self, operation: str, request: Mapping[str, Any]) -> Reply:
        return await self._connection.call(operation, self._tamper(self._client, operation, request))
