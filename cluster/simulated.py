"""A cluster in virtual time: nodes, engine, replication and failover as in the live one, without a socket.

Rules of this file:

* clients call a node in memory, and the way takes no time (`cluster.runtime.simulated` says why);
* a client's request runs as the node's own work: it dies with the node, and the client then learns nothing.
"""

from __future__ import annotations

from backend.embedded import EmbeddedBackend
from backend.engine import Engine
from backend.protocol import Request, Response
from cluster.config import ClusterConfig, ConfigError
from cluster.faults import Faults, FaultyStore
from cluster.runtime.network import LinkBroken
from cluster.runtime.simulated import Simulation
from cluster.runtime.tasks import OwnerEnded, TaskGroup
from cluster.topology import Cluster, UnknownNode
from dax.answer import Answer
from dax.node import Node
from dax.world import NodeId


class _MemoryEdge:
    """`cluster.topology.Edge` without sockets: a client's request is a call."""

    def __init__(self, node_id: NodeId, number: int) -> None:
        self._node_id = node_id
        self._number = number
        self._open: tuple[Node, TaskGroup] | None = None

    @property
    def address(self) -> tuple[str, int]:
        """A name that tells the node, and its number for a port: nothing listens there."""
        return f"{self._node_id}.simulated", self._number

    async def open(self, node: Node, requests: TaskGroup) -> None:
        self._open = (node, requests)

    def abort(self) -> None:
        self._open = None

    async def leave(self) -> None:
        pass  # its clients ask the cluster whom to call, each time

    async def drain(self) -> None:
        """The requests that run end among the node's own."""
        self._open = None

    @property
    def is_open(self) -> bool:
        return self._open is not None

    async def call(self, operation: str, request: Request) -> Answer:
        """Run a request here. Raises LinkBroken if the node does not serve, or dies before it answers."""
        if self._open is None:
            raise LinkBroken(f"{self._node_id} refuses connections")
        node, requests = self._open
        try:
            return await requests.run(node.execute(operation, request), name=f"client's {operation}")
        except OwnerEnded as ended:
            raise LinkBroken(str(ended)) from None


class SimulatedCluster:
    """The nodes of a `ClusterConfig` in one simulation. Use it within `Simulation.run`."""

    def __init__(self, config: ClusterConfig, simulation: Simulation) -> None:
        if config.backend_url is not None:
            raise ConfigError("a simulation has the embedded store only: backend_url cannot be set")
        if config.data_dir is not None:
            raise ConfigError("a simulation keeps its store in memory: data_dir cannot be set")
        self.config = config
        self.runtime = simulation.runtime
        self.runtime.network.replication_delay = config.replication_delay
        settings = config.engine_settings()
        engine = Engine(self.runtime.clock.now, self.runtime.entropy, settings)
        self.store = FaultyStore(EmbeddedBackend(engine), self.runtime.clock)
        self._edges: dict[NodeId, _MemoryEdge] = {}
        self.cluster = Cluster(config, self.runtime, self.store, self._make_edge)
        self.faults = Faults(self.cluster, self.store)
        self._turn = 0

    def _make_edge(self, node_id: NodeId) -> _MemoryEdge:
        edge = _MemoryEdge(node_id, len(self._edges) + 1)
        self._edges[node_id] = edge
        return edge

    async def start(self) -> None:
        await self.cluster.start()

    async def stop(self) -> None:
        await self.cluster.stop()
        await self.store.close()

    async def call(self, node_id: NodeId | None, operation: str, request: Request) -> Answer:
        """A client's request to one node, or with None to the next live one in turn.

        Raises ServiceError as the node does, LinkBroken when no answer comes, UnknownNode.
        """
        if node_id is not None:
            edge = self._edges.get(node_id)
            if edge is None:
                raise UnknownNode(f"no node {node_id!r}")
            return await edge.call(operation, request)
        serving = [edge for edge in self._edges.values() if edge.is_open]
        if not serving:
            raise LinkBroken("no node serves")
        self._turn += 1
        return await serving[self._turn % len(serving)].call(operation, request)

    async def call_store(self, operation: str, request: Request) -> Response:
        """A request to the store itself, around the cache."""
        return await self.store.execute(operation, request)
