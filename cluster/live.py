"""A cluster on real sockets, in this process.

    cluster = await start_live(ClusterConfig())
    ...boto3 to cluster.endpoint, from another thread or program...
    await cluster.stop()

Rules of this file:

* every node has one port for both wires; the cluster endpoint has one more, where each new connection is
  given to the next live node in turn; the store has its own, which no cache stands in front of;
* a start that fails leaves nothing behind, and a stop leaves no task, socket or thread.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backend.embedded import EmbeddedBackend
from backend.http import StoreFront
from backend.protocol import Backend
from backend.storage.row_file import Progress
from cluster.admin import PREFIXES, AdminFront
from cluster.config import ClusterConfig, ConfigError
from cluster.faults import Faults, FaultyStore
from cluster.runtime.certificates import server_context
from cluster.runtime.listener import Fronts, Listener
from cluster.runtime.live import LiveClock, live_runtime, next_turn
from cluster.runtime.tasks import TaskGroup
from cluster.runtime.wall import wall_time
from cluster.store import attribute_lists_of, open_store
from cluster.topology import Cluster, Member
from dax.node import Node
from dax.wire.binary.server import BinaryFront, BinaryOptions
from dax.wire.binary.service import ServiceOptions
from dax.wire.binary.trace import Trace
from dax.wire.json.front import NodeFront
from dax.world import NodeId

_DRAIN_SECONDS = 5.0
"""How long a stopping node waits for the answers it owes."""

_ROSTER_SECONDS = 6.0
"""How long a stopping node waits for its DAX clients to go: they ask for the roster every 4 seconds or so."""


class _SocketEdge:
    """`cluster.topology.Edge` of one node: its port, and what answers there."""

    _http: NodeFront
    _binary: BinaryFront

    def __init__(self, cluster: LiveCluster, port: int) -> None:
        self._entropy = cluster.runtime.entropy
        self._region = cluster.config.region
        self._directory = cluster
        self._attribute_lists = cluster.attribute_lists
        self._options = cluster.binary_options
        self._listener = Listener(cluster.config.host, port, lambda: self.fronts, tls=cluster.tls)
        self.fronts: Fronts | None = None
        self.leaving = False

    @property
    def address(self) -> tuple[str, int]:
        return self._listener.host, self._listener.port

    async def open(self, node: Node, requests: TaskGroup) -> None:
        self._http = NodeFront(node, self._entropy, region=self._region, host=self._listener.host)
        self._binary = BinaryFront(
            node,
            self._directory,
            self._attribute_lists,
            self._options,
            tasks=requests,
            now=wall_time,
            entropy=self._entropy,
            call_later=asyncio.get_running_loop().call_later,
        )
        await self._listener.open()
        self.fronts = Fronts(self._http, self._binary)
        self.leaving = False

    def abort(self) -> None:
        self._listener.close()
        if self.fronts is not None:
            self.fronts.connections.abort()
            self.fronts = None

    async def leave(self) -> None:
        self.leaving = True
        await self._binary.wait_until_left(_ROSTER_SECONDS)

    async def drain(self) -> None:
        self._listener.close()
        fronts, self.fronts = self.fronts, None
        if fronts is not None:
            await asyncio.gather(self._http.shutdown(_DRAIN_SECONDS), self._binary.shutdown(_DRAIN_SECONDS))
            fronts.connections.abort()


class LiveCluster:
    """The nodes of a `ClusterConfig` on sockets. `start()` once, `stop()` as often as one likes."""

    def __init__(
        self, config: ClusterConfig, trace: Trace | None = None, loading: Progress | None = None
    ) -> None:
        self.config = config
        self.binary_options = _binary_options(config, trace)
        self.tls = _tls(config)
        self.runtime = live_runtime(replication_delay=config.replication_delay)
        store = open_store(config, self.runtime, loading)
        self.store = FaultyStore(store, self.runtime.clock)
        self.attribute_lists = attribute_lists_of(store)
        ports = config.cluster_ports()
        self._node_ports = dict(zip(config.node_ids(), ports[1:], strict=True))
        self._edges: dict[NodeId, _SocketEdge] = {}
        self.cluster = Cluster(config, self.runtime, self.store, self._make_edge)
        self.faults = Faults(self.cluster, self.store)
        self._turn = 0
        self._admin_front = AdminFront(self, config.host)
        self._admin_fronts = Fronts(self._admin_front)
        self._endpoint = Listener(
            config.host, ports[0], self._next_fronts, self._claim_for_operator, self.tls
        )
        self._store_front = StoreFront(
            self.store, self.runtime.entropy, self.runtime.clock.now, region=config.region
        )
        self._store_fronts = Fronts(self._store_front)
        self._store_listener = Listener(config.host, config.store_port or 0, lambda: self._store_fronts)

    def _make_edge(self, node_id: NodeId) -> _SocketEdge:
        edge = _SocketEdge(self, self._node_ports[node_id])
        self._edges[node_id] = edge
        return edge

    def _next_fronts(self) -> Fronts | None:
        """The fronts of the next live node, round robin."""
        live = [
            fronts
            for edge in self._edges.values()
            if (fronts := edge.fronts) is not None and not edge.leaving
        ]
        if not live:
            return None
        self._turn += 1
        return live[self._turn % len(live)]

    def _claim_for_operator(self, first_bytes: bytes) -> Fronts | None:
        return self._admin_fronts if first_bytes.startswith(PREFIXES) else None

    # Life

    async def start(self) -> None:
        """Open every port. Raises CannotListen, and then nothing is left open."""
        try:
            if self.config.store_port is not None:
                await self._store_listener.open()
            self.cluster.store_endpoint = self.store_endpoint
            await self._endpoint.open()
            await self.cluster.start()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Answer what was asked, close every connection and port, and end every task."""
        self._endpoint.close()
        await self._admin_front.shutdown(_DRAIN_SECONDS)
        self._admin_fronts.connections.abort()
        await self.cluster.stop()
        self._store_listener.close()
        await self._store_front.shutdown(_DRAIN_SECONDS)
        self._store_fronts.connections.abort()
        await self.store.close()
        if isinstance(self.runtime.clock, LiveClock):
            self.runtime.clock.close()
        # An aborted transport is closed by the loop's next turn; whoever asks for the port then must get it.
        await next_turn()

    def kill(self, node_id: NodeId) -> None:
        """The node dies: its connections break at once."""
        self.cluster.kill(node_id)

    async def stop_node(self, node_id: NodeId) -> None:
        """Drain one node and end it."""
        await self.cluster.stop_node(node_id)

    async def restart(self, node_id: NodeId) -> None:
        """Bring a node back on its port, warm."""
        await self.cluster.restart(node_id)

    # What others ask

    def members(self) -> list[Member]:
        """The live nodes with their roles and addresses."""
        return self.cluster.members()

    def status(self) -> Mapping[str, Any]:
        """The cluster and each node, as JSON-ready values."""
        answer = {**self.cluster.status(), "endpoint": self.endpoint, "store_endpoint": self.store_endpoint}
        backend = self.store.backend
        if isinstance(backend, EmbeddedBackend):
            answer["store"] = backend.engine.capacity()
        return answer

    @property
    def backend(self) -> Backend:
        """The store, faults included: what is written here goes around the cache."""
        return self.store

    @property
    def endpoint(self) -> str:
        """The cluster's URL, for boto3's `endpoint_url`."""
        return _url(self._endpoint.host, self._endpoint.port)

    @property
    def dax_endpoint(self) -> str:
        """The cluster's URL for the DAX clients, clear; with TLS, `daxs://` at the same address works too."""
        return f"dax://{self._endpoint.host}:{self._endpoint.port}"

    @property
    def store_endpoint(self) -> str | None:
        """The store's own URL; None when `store_port` is None."""
        if self.config.store_port is None:
            return None
        return _url(self._store_listener.host, self._store_listener.port)

    def node_endpoint(self, node_id: NodeId) -> str:
        """The URL of one node, live or not. Raises UnknownNode."""
        return _url(*self.cluster.address(node_id))


def _binary_options(config: ClusterConfig, trace: Trace | None) -> BinaryOptions:
    advertise = () if config.advertise is None else (ipaddress.ip_address(config.advertise),)
    zone = f"{config.region}a"
    return BinaryOptions(ServiceOptions(config.credentials, advertise, zone, trace))


def _tls(config: ClusterConfig) -> ssl.SSLContext | None:
    if config.tls_certificate is None or config.tls_key is None:
        return None
    try:
        return server_context(Path(config.tls_certificate), Path(config.tls_key))
    except (OSError, ssl.SSLError) as failure:
        raise ConfigError(f"the TLS certificate cannot be used: {failure}") from None


def _url(host: str, port: int) -> str:
    """How a client of this machine gets there: a wildcard address is none to connect to."""
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


async def start_live(
    config: ClusterConfig, trace: Trace | None = None, loading: Progress | None = None
) -> LiveCluster:
    """Start a cluster and give it, running. Raises ConfigError, DirectoryRefused or CannotListen.

    `trace` gets a line for each request of a DAX client; `loading(done, total)` is told how much of a data
    directory has been read.
    """
    cluster = LiveCluster(config, trace, loading)
    await cluster.start()
    return cluster
