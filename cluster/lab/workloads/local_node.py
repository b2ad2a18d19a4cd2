"""One node on an engine of its own, in this process, without sockets: what exact miss ratios are counted on.

It is the node that clusters are made of, and its item cache is the one that they use. It has no peers: it is
the primary and only node, and its misses and writes are replicated to nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from backend.embedded import EmbeddedBackend
from backend.engine import Engine
from backend.protocol import Request
from cluster.lab.workloads.replay import NodeTarget, PacedClock
from cluster.runtime.simulated import Draws
from cluster.runtime.tasks import TaskGroup
from dax.answer import Answer
from dax.node import Node
from dax.settings import NodeSettings
from dax.world import NodeId

_NODE = "node-1"


class NoPeers:
    """`dax.world.Peers` of a node that is alone."""

    async def forward(self, operation: str, request: Request) -> Answer:
        raise AssertionError(f"the only node is the primary, and forwards no {operation}")

    def send(self, to: NodeId, message: object) -> None:
        raise AssertionError(f"the only node has nobody to send {message!r} to")


class LocalNode:
    """A node, its engine and the clock that a replay moves."""

    def __init__(self, settings: NodeSettings, rate: float) -> None:
        """`rate`: requests a second, for a trace that has no times."""
        self._clock = PacedClock(rate)
        self._engine = Engine(self._clock.now, Draws(0, self._clock.now).entropy)
        self._tasks = TaskGroup(_NODE)
        backend = EmbeddedBackend(self._engine)
        self.node = Node(_NODE, self._clock, backend, NoPeers(), self._tasks, settings)
        self.node.become_primary(0, [])

    def load(self, tables: Iterable[dict[str, Any]], puts: Iterable[dict[str, Any]]) -> None:
        """Create the tables and put the items, beneath the cache."""
        for table in tables:
            self._engine.execute("CreateTable", table)
        for put in puts:
            self._engine.execute("PutItem", put)

    def target(self) -> NodeTarget:
        """The node as the target of a replay."""
        return NodeTarget(self.node, self._clock)

    async def close(self) -> None:
        """End what the node does in the background."""
        await self._tasks.close()
