"""Faults as verbs, the same on both runtimes.

`FaultyStore` stands between the nodes and the store and spoils what passes, as told: the next few writes are
throttled or fail, an operation is slow. `Faults` holds the verbs of a whole cluster.

A refused request never reaches the store, as with the service: a throttled write has written nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backend.errors import ServiceError
from backend.protocol import Backend, Request, Response
from cluster.topology import Cluster
from dax.world import Clock, NodeId

WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})


def throttled() -> ServiceError:
    """What DynamoDB answers when a table's provisioned throughput is used up."""
    return ServiceError(
        "ProvisionedThroughputExceededException",
        "The level of configured provisioned throughput for the table was exceeded. "
        "Consider increasing your provisioning level with the UpdateTable API.",
    )


def failed() -> ServiceError:
    """What DynamoDB answers when it fails itself."""
    return ServiceError("InternalServerError", "Internal server error", status=500)


@dataclass(slots=True)
class _Refusal:
    operations: frozenset[str]
    left: int
    error: Callable[[], ServiceError]


class FaultyStore:
    """A `Backend` that does as the one behind it, but for the faults that were asked for."""

    def __init__(self, backend: Backend, clock: Clock) -> None:
        self.backend = backend
        self._clock = clock
        self._refusals: list[_Refusal] = []
        self._delays: dict[str, float] = {}

    def throttle_next(self, requests: int, operations: frozenset[str] = WRITES) -> None:
        """Refuse the next requests of these operations as over the provisioned throughput."""
        self._refusals.append(_Refusal(operations, requests, throttled))

    def fail_next(self, requests: int, operations: frozenset[str] = WRITES) -> None:
        """Answer the next requests of these operations with InternalServerError; they do nothing."""
        self._refusals.append(_Refusal(operations, requests, failed))

    def slow(self, operation: str, seconds: float) -> None:
        """Let every request of one operation wait so long before it reaches the store; 0 ends it."""
        self._delays[operation] = seconds

    async def execute(self, operation: str, request: Request) -> Response:
        if self._refusals:
            self._refuse(operation)
        delay = self._delays.get(operation, 0.0)
        if delay > 0:
            await self._clock.sleep(delay)
        return await self.backend.execute(operation, request)

    def _refuse(self, operation: str) -> None:
        for refusal in self._refusals:
            if operation in refusal.operations:
                refusal.left -= 1
                if refusal.left <= 0:
                    self._refusals.remove(refusal)
                raise refusal.error()

    async def close(self) -> None:
        await self.backend.close()


class Faults:
    """The verbs of one cluster. Each takes effect at once and lasts until it is undone."""

    def __init__(self, cluster: Cluster, store: FaultyStore) -> None:
        self._cluster = cluster
        self.store = store

    def crash(self, node_id: NodeId) -> None:
        """Kill a node."""
        self._cluster.kill(node_id)

    async def restart(self, node_id: NodeId) -> None:
        """Bring a node back, warm."""
        await self._cluster.restart(node_id)

    def set_replication_delay(self, seconds: float) -> None:
        """Let replication messages sent from now on be under way so long."""
        if seconds < 0:
            raise ValueError(f"a delay of {seconds} s")
        self._cluster.runtime.network.replication_delay = seconds

    def hold_replication(self) -> None:
        """Keep every replication message at its receiver's door."""
        for sender, to in self._links():
            self._cluster.runtime.network.hold(sender, to)

    def release_replication(self) -> None:
        """Deliver, in order, what `hold_replication` kept."""
        for sender, to in self._links():
            self._cluster.runtime.network.release(sender, to)

    def partition(self, one: NodeId, other: NodeId) -> None:
        """Cut two nodes off from each other: what they send is lost."""
        self._cluster.runtime.network.partition(one, other)
        self._cluster.runtime.network.partition(other, one)

    def repair(self, one: NodeId, other: NodeId) -> None:
        """End a partition."""
        self._cluster.runtime.network.repair(one, other)
        self._cluster.runtime.network.repair(other, one)

    async def advance(self, seconds: float) -> None:
        """Let time pass at once."""
        await self._cluster.runtime.clock.advance(seconds)

    def _links(self) -> list[tuple[NodeId, NodeId]]:
        ids = self._cluster.config.node_ids()
        return [(sender, to) for sender in ids for to in ids if sender != to]
