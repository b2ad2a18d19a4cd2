"""Many nodes made one cluster: who lives, who is the primary, and what happens when one dies.

Rules of this file:

* it runs on either runtime, and reaches sockets only through an `Edge`;
* one supervisor in one process gives out the role of primary, and never to two nodes: a promotion is one
  synchronous step that makes every other live node a replica. Each one begins a new epoch, which the log
  messages carry, so that what a former primary sent is refused by those who have heard of a later epoch;
* a dead primary's successor is the live replica with the highest applied sequence, `failover_delay` after the
  death; the lowest number wins a tie. Until then writes are answered with InternalServerError;
* a node that comes back is a new node: it is warmed from a live peer and joins the log in the same step, so
  that it misses no write, and only then serves. It comes back as a replica unless it is alone;
* `kill` is a death: connections break, work ends where it stands. It can come at any moment of a node's life,
  also while it drains or warms up, and then nothing of that goes on. `stop_node` drains first.

What a single coordinator cannot do: it does not survive its own process, and so needs no election.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from backend.errors import ServiceError
from backend.protocol import Backend, Request, Response
from cluster.config import ClusterConfig
from cluster.runtime.base import Runtime, Timer
from cluster.runtime.network import LinkBroken
from cluster.runtime.tasks import TaskGroup
from dax.answer import Answer
from dax.cache.items import ItemKey
from dax.node import Node
from dax.world import NodeId, Recorder


class NodeState(StrEnum):
    """The life of a node, as `status` shows it."""

    LIVE = "live"
    WARMING = "warming"
    DRAINING = "draining"
    STOPPED = "stopped"
    DEAD = "dead"


_RUNNING = frozenset({NodeState.LIVE, NodeState.WARMING, NodeState.DRAINING})


class UnknownNode(LookupError):
    """No node of this cluster has that id."""


class WrongState(RuntimeError):
    """The node is not in a state in which that can be done to it."""


@dataclass(frozen=True, slots=True)
class Member:
    """A live node, as discovery tells clients. `role` is "primary" or "replica"."""

    node_id: NodeId
    role: str
    host: str
    port: int


class Edge(Protocol):
    """Where clients reach one node: sockets when live, plain calls when simulated."""

    @property
    def address(self) -> tuple[str, int]:
        """Host and port; the port is known once open."""
        ...

    async def open(self, node: Node, requests: TaskGroup) -> None:
        """Begin to serve `node`. What has no task of its own runs in `requests`. Raises CannotListen."""
        ...

    def abort(self) -> None:
        """Break every connection now and stop to serve."""
        ...

    async def leave(self) -> None:
        """Serve on, unlisted, for as long as clients take to learn that the node leaves."""
        ...

    async def drain(self) -> None:
        """Accept nothing new, finish what is being answered, and close."""
        ...


MakeEdge = Callable[[NodeId], Edge]


@dataclass(slots=True)
class _Host:
    """A place for a node: its door, which outlives its deaths, and its present node with its work.

    `requests` are answers that somebody waits for, `tasks` the node's own work in the background.
    """

    node_id: NodeId
    edge: Edge
    node: Node
    store: _StoreLine
    requests: TaskGroup
    tasks: TaskGroup
    state: NodeState


class _StoreLine:
    """The store as one node has it until its end: what it still does after that does not get there."""

    def __init__(self, node_id: NodeId, backend: Backend) -> None:
        self._node_id = node_id
        self._backend = backend
        self._is_cut = False

    def cut(self) -> None:
        self._is_cut = True

    async def execute(self, operation: str, request: Request) -> Response:
        if self._is_cut:
            raise ServiceError("InternalServerError", f"{self._node_id} is not running", status=500)
        return await self._backend.execute(operation, request)

    async def close(self) -> None:
        """The store belongs to the cluster, which closes it."""


class _Peers:
    """`dax.world.Peers` of one node."""

    def __init__(self, cluster: Cluster, node_id: NodeId) -> None:
        self._cluster = cluster
        self._node_id = node_id

    async def forward(self, operation: str, request: Request) -> Answer:
        return await self._cluster._forward(self._node_id, operation, request)

    def send(self, to: NodeId, message: object) -> None:
        self._cluster.runtime.network.send(self._node_id, to, message)


class Cluster:
    """The nodes of `config` over one store and one runtime. Serves between `start()` and `stop()`."""

    def __init__(
        self,
        config: ClusterConfig,
        runtime: Runtime,
        backend: Backend,
        make_edge: MakeEdge,
        *,
        recorder: Callable[[NodeId], Recorder | None] = lambda _node_id: None,
    ) -> None:
        self.config = config
        self.runtime = runtime
        self.backend = backend
        self.epoch = 0
        self.primary: NodeId | None = None
        self.store_endpoint: str | None = None
        self._recorder = recorder
        self._make_edge = make_edge
        self._hosts: dict[NodeId, _Host] = {}
        self._promotion: Timer | None = None
        self._stopped = False
        # What stopped nodes wrote late, and no primary has been told of yet.
        self._late_writes: list[ItemKey] = []
        # Doors that are being opened: a cluster that stops has to wait for them, or it would leave one open.
        self._openings = TaskGroup("cluster")

    # Life

    async def start(self) -> None:
        """Start every node, the first as primary. If one cannot, none is left behind."""
        for node_id in self.config.node_ids():
            self._hosts[node_id] = self._new_host(node_id, self._make_edge(node_id))
        self._promote(self.config.node_ids()[0])
        try:
            for host in self._hosts.values():
                await self._open(host)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Drain and end every node. Stopping twice is harmless."""
        if self._promotion is not None:
            self._promotion.cancel()
            self._promotion = None
        serving = [host for host in self._hosts.values() if host.state in _RUNNING]
        for host in serving:
            host.state = NodeState.DRAINING
        self._stopped = True
        await self._openings.drain()
        await asyncio.gather(*(host.edge.drain() for host in serving))
        # Only when no node takes requests any more: the last writes still want their primary.
        self.primary = None
        for host in self._hosts.values():
            self.runtime.network.detach(host.node_id)
            await host.requests.close()
            await host.tasks.close()
            if host.state is NodeState.DRAINING:
                host.state = NodeState.STOPPED

    def kill(self, node_id: NodeId) -> None:
        """The node dies at once, whatever it is doing. A dead primary is replaced after `failover_delay`.

        Raises UnknownNode, or WrongState when there is nothing left to kill.
        """
        host = self._host(node_id)
        if host.state not in _RUNNING:
            raise WrongState(f"{node_id} is {host.state}")
        host.state = NodeState.DEAD
        host.store.cut()
        self.runtime.network.detach(node_id)
        host.edge.abort()
        host.requests.abort()
        host.tasks.abort()
        self._lost(node_id)

    async def stop_node(self, node_id: NodeId) -> None:
        """Drain one node and end it. A primary answers its writes first, then hands over all it knows.

        While other nodes live the node stays at its clients' service until they have learnt that it leaves:
        that may take some seconds, and then none of their requests fails. Raises UnknownNode or WrongState,
        also when the node is killed meanwhile.
        """
        host = self._live(node_id)
        host.state = NodeState.DRAINING
        for step in (self._hand_over, self._leave, self._finish):
            await step(host)
            if host.state is NodeState.DEAD:
                raise WrongState(f"{node_id} was killed while it stopped")
        self.runtime.network.detach(node_id)
        host.state = NodeState.STOPPED
        self._lost(node_id)
        self._late_writes += host.node.late_writes
        self._tell_late_writes()

    async def _hand_over(self, host: _Host) -> None:
        """Make another node the primary, if this one is and there is another."""
        if self.primary != host.node_id:
            return
        # Writes keep coming, so that the node waits for what there is and hands over; what has come
        # meanwhile it reports to its successor.
        await host.requests.drain_present()
        successor = self._best()
        if successor is not None and host.state is NodeState.DRAINING:
            successor.node.warm(host.node.snapshot())
            self._promote(successor.node_id)

    async def _leave(self, host: _Host) -> None:
        """Let the clients go to another node, if there is one."""
        if self._best() is not None:
            await host.edge.leave()

    async def _finish(self, host: _Host) -> None:
        """Answer what was asked, and end the node's own work."""
        await host.edge.drain()
        await host.requests.drain()
        host.store.cut()
        # Work in the background ends before the links do: what it leaves undone is reported as well.
        await host.tasks.close()

    async def restart(self, node_id: NodeId) -> None:
        """Bring a dead or stopped node back, warm; a live one is stopped first.

        Raises UnknownNode, CannotListen, or WrongState, also when the node is killed or the cluster stopped
        before it serves.
        """
        host = self._host(node_id)
        if host.state is NodeState.LIVE:
            await self.stop_node(node_id)
        # A node that was killed while it started may still be busy with its door.
        await self._openings.drain()
        if self._stopped:
            raise WrongState("the cluster is stopped")
        host = self._hosts[node_id]
        if host.state in _RUNNING:
            raise WrongState(f"{node_id} is {host.state}")
        fresh = self._new_host(node_id, host.edge)
        fresh.state = NodeState.WARMING
        peer = self._peer_to_warm_from()
        self._hosts[node_id] = fresh
        if peer is not None:
            fresh.node.warm(peer.snapshot())
        self._tell_roles()
        try:
            await self._open(fresh)
        except BaseException:
            fresh.state = host.state
            self._hosts[node_id] = host
            self.runtime.network.detach(node_id)
            self._tell_roles()
            raise
        if fresh.state is not NodeState.WARMING:
            raise WrongState(f"{node_id} was ended while it started")
        fresh.state = NodeState.LIVE
        alone = all(host is fresh or host.state is not NodeState.LIVE for host in self._hosts.values())
        if self.primary is None and (alone or self._promotion is None):
            # Nobody else could take over: there is nothing to wait for.
            self._elect()

    async def _open(self, host: _Host) -> None:
        """Let clients in, unless the node is ended meanwhile. Raises CannotListen."""

        async def opening() -> None:
            await host.edge.open(host.node, host.requests)
            if host.state not in (NodeState.LIVE, NodeState.WARMING):
                host.edge.abort()

        await self._openings.run(opening(), name=f"opens {host.node_id}")

    def _peer_to_warm_from(self) -> Node | None:
        """The primary, which has every write, or else the live replica that has most of them."""
        if self.primary is not None:
            return self._hosts[self.primary].node
        best = self._best()
        return None if best is None else best.node

    async def settle(self) -> None:
        """Return when no replication message is under way; held ones do not count."""
        await self.runtime.network.wait_until_quiet()

    # What others ask

    def members(self) -> list[Member]:
        """The live nodes, in the order of their numbers."""
        return [
            Member(host.node_id, str(host.node.role), *host.edge.address)
            for host in self._hosts.values()
            if host.state is NodeState.LIVE
        ]

    def node(self, node_id: NodeId) -> Node:
        """The live node of that id. Raises UnknownNode or WrongState."""
        return self._live(node_id).node

    def address(self, node_id: NodeId) -> tuple[str, int]:
        """Host and port of one node, whatever its state. Raises UnknownNode."""
        return self._host(node_id).edge.address

    def status(self) -> Mapping[str, Any]:
        """The cluster and each node, as JSON-ready values."""
        return {
            "epoch": self.epoch,
            "primary": self.primary,
            "nodes": [self._node_status(host) for host in self._hosts.values()],
        }

    def _node_status(self, host: _Host) -> Mapping[str, Any]:
        address, port = host.edge.address
        place = {"node": host.node_id, "state": str(host.state), "host": address, "port": port}
        if host.state is not NodeState.LIVE:
            return place
        return {**host.node.status(), **place}

    # Primary and replicas

    def _promote(self, node_id: NodeId) -> None:
        """Begin an epoch with this primary: one step, in which nothing else runs."""
        self.epoch += 1
        self.primary = node_id
        self._tell_roles()
        self._tell_late_writes()

    def _tell_late_writes(self) -> None:
        """Let the primary hear what a stopped node may have reported to one that did not get it."""
        if self.primary is not None:
            self._hosts[self.primary].node.heed(self._late_writes)
            self._late_writes.clear()

    def _tell_roles(self) -> None:
        replicas = [
            host for host in self._hosts.values() if host.state in _RUNNING and host.node_id != self.primary
        ]
        for host in replicas:
            host.node.become_replica(self.epoch, self.primary)
        if self.primary is not None:
            # Those that drain are among them: they serve on for a while, and have to hear of writes.
            ids = tuple(host.node_id for host in replicas)
            self._hosts[self.primary].node.become_primary(self.epoch, ids)

    def _elect(self) -> None:
        """Promote the live replica that knows most, if there is any."""
        if self._promotion is not None:
            self._promotion.cancel()
            self._promotion = None
        best = self._best()
        if self.primary is None and best is not None:
            self._promote(best.node_id)

    def _best(self) -> _Host | None:
        """The live node with the highest applied sequence; the lowest number of several."""
        live = [host for host in self._hosts.values() if host.state is NodeState.LIVE]
        return max(live, key=lambda host: host.node.applied_sequence, default=None)

    def _lost(self, node_id: NodeId) -> None:
        """A node is gone: go on without it, and replace it if it was the primary."""
        if self.primary == node_id:
            self.primary = None
            due = self.runtime.clock.now() + self.config.failover_delay
            self._promotion = self.runtime.clock.call_at(due, self._elect)
        self._tell_roles()

    async def _forward(self, sender: NodeId, operation: str, request: Request) -> Answer:
        primary = self.primary
        if primary is None:
            raise ServiceError("InternalServerError", "The cluster has no primary at the moment", status=500)
        node = self._hosts[primary].node
        try:
            return await self.runtime.network.round_trip(
                sender, primary, lambda: node.execute(operation, request, forwarded=True)
            )
        except LinkBroken as broken:
            raise ServiceError("InternalServerError", str(broken), status=500) from broken

    # Hosts

    def _new_host(self, node_id: NodeId, edge: Edge) -> _Host:
        tasks = TaskGroup(node_id)
        store = _StoreLine(node_id, self.runtime.store_link(node_id, self.backend))
        node = Node(
            node_id,
            self.runtime.clock,
            store,
            _Peers(self, node_id),
            tasks,
            self.config.node_settings(self.store_endpoint),
            self._recorder(node_id),
        )
        requests = TaskGroup(node_id)
        self.runtime.network.attach(node_id, node.receive, requests)
        return _Host(node_id, edge, node, store, requests, tasks, NodeState.LIVE)

    def _host(self, node_id: NodeId) -> _Host:
        try:
            return self._hosts[node_id]
        except KeyError:
            known = ", ".join(self._hosts)
            raise UnknownNode(f"no node {node_id!r}; there are {known}") from None

    def _live(self, node_id: NodeId) -> _Host:
        host = self._host(node_id)
        if host.state is not NodeState.LIVE:
            raise WrongState(f"{node_id} is {host.state}")
        return host
