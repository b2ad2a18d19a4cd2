"""Everything a cluster can be told, checked in one place.

Rules of this file:

* a `ClusterConfig` that exists is valid: a bad value raises `ConfigError`, whose text names the setting;
* times are seconds, sizes are bytes;
* both runtimes read the same configuration. Hosts and ports mean something to the live one only.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from backend.settings import EngineSettings, StaleReadSettings, ThrottlingSettings
from dax.settings import NodeSettings

MAX_NODES = 11
"""One primary and up to ten replicas, DAX's own limit."""

_NODE = NodeSettings()
_THROTTLING = ThrottlingSettings()
_GROUP_COMMIT = 0.005
_ENGINE = EngineSettings()
_OF_THE_EMBEDDED_STORE = ("throttling", "stale_reads", "gsi_lag", "table_delay", "ttl_delay")


class ConfigError(ValueError):
    """A setting has a value that no cluster can run with; the text is one line for a person."""


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """The settings of one cluster.

    nodes: 1 to 11, one of which is the primary.
    item_ttl, query_ttl: seconds. Item TTL 0: entries never expire. Query TTL 0: no result is cached.
    item_cache_bytes, query_cache_bytes: the memory of each cache on each node.
    unit_size: every cache entry counts 1, so that cache "bytes" are numbers of entries, as in traces.
    fill_guard: a slow miss-fill never replaces a newer write. Off only for experiments.
    transaction_refresh_delay: seconds between a TransactWriteItems and the background read that caches it.
    replication_delay: seconds that a replication message is under way, on top of the network's latency.
    gsi_lag: seconds until a write reaches the global secondary indexes of the embedded store.
    table_delay: seconds that a table or index of the embedded store stays CREATING, UPDATING or DELETING;
        0: until it is next looked at.
    ttl_delay: seconds between an item's time to live and its removal from the embedded store.
    failover_delay: seconds between the death of a primary and the promotion of a replica.
    host: the address to bind to, and the one that discovery gives to clients.
    port: the cluster endpoint; nodes follow on port+1, port+2, ... With 0 every port is a free one.
    store_port: the store's own DynamoDB endpoint, for writing around the cache; None leaves it closed.
    backend_url: front this DynamoDB-compatible endpoint instead of the embedded engine.
    data_dir: keep the embedded store in this directory; None: in memory, until the process ends.
    throttling: the embedded store throttles tables, indexes and their partitions as the service does.
    adaptive_capacity, split_for_heat: what throttling does for a hot partition.
    heat_seconds: how long a partition is near its limit before it is split.
    stale_reads: how old, in seconds, what eventually consistent reads of the embedded store see may be.
    monotonic_reads: such a read never sees an older state of a partition than the read before it.
    group_commit: how long, in seconds, the writes of a data directory gather at most to be made durable
        together; 0: each by itself. An answer waits until what it says is durable, either way.
    region: the region in which the embedded engine says its tables are.
    credentials: secret keys by access key id, to verify the DAX clients' signatures with; None accepts all.
    advertise: the address that DAX clients are told to connect to, where it is not the one bound to.
    tls_certificate, tls_key: PEM files. With them every port of the cluster also speaks TLS (daxs://).
    """

    nodes: int = 3
    item_ttl: float = _NODE.item_ttl
    query_ttl: float = _NODE.query_ttl
    item_cache_bytes: int = _NODE.item_cache_bytes
    query_cache_bytes: int = _NODE.query_cache_bytes
    unit_size: bool = _NODE.unit_size
    fill_guard: bool = _NODE.fill_guard
    transaction_refresh_delay: float = _NODE.transaction_refresh_delay
    replication_delay: float = 0.0
    gsi_lag: float = 0.0
    table_delay: float = _ENGINE.table_delay
    ttl_delay: float = _ENGINE.ttl_delay
    failover_delay: float = 1.0
    host: str = "127.0.0.1"
    port: int = 8111
    store_port: int | None = 8000
    backend_url: str | None = None
    data_dir: str | None = None
    throttling: bool = False
    adaptive_capacity: bool = True
    split_for_heat: bool = True
    heat_seconds: float = _THROTTLING.heat_seconds
    stale_reads: float = 0.0
    monotonic_reads: bool = False
    group_commit: float = _GROUP_COMMIT
    region: str = "us-east-1"
    credentials: Mapping[str, str] | None = None
    advertise: str | None = None
    tls_certificate: str | None = None
    tls_key: str | None = None

    def __post_init__(self) -> None:
        for name in ("nodes", "port", "store_port", "item_cache_bytes", "query_cache_bytes"):
            number = getattr(self, name)
            if type(number) is not int and not (name == "store_port" and number is None):
                raise ConfigError(f"{name} must be a whole number, not {number!r}")
        if not 1 <= self.nodes <= MAX_NODES:
            raise ConfigError(f"nodes must be between 1 and {MAX_NODES}, not {self.nodes}")
        for name in (
            "item_ttl",
            "query_ttl",
            "replication_delay",
            "transaction_refresh_delay",
            "gsi_lag",
            "table_delay",
            "ttl_delay",
            "stale_reads",
            "failover_delay",
            "group_commit",
        ):
            seconds = getattr(self, name)
            if not 0 <= seconds < float("inf"):
                raise ConfigError(f"{name} must be a number of seconds, 0 or more, not {seconds}")
        for name in ("item_cache_bytes", "query_cache_bytes"):
            size = getattr(self, name)
            if size < 1:
                raise ConfigError(f"{name} must be a number of bytes, 1 or more, not {size}")
        if not 0 <= self.port <= 65535 - self.nodes:
            raise ConfigError(f"port must be between 0 and {65535 - self.nodes}, not {self.port}")
        if self.store_port is not None and not 0 <= self.store_port <= 65535:
            raise ConfigError(f"store_port must be between 0 and 65535, not {self.store_port}")
        if self.store_port and self.port and self.store_port in self.cluster_ports():
            raise ConfigError(f"store_port {self.store_port} is also a port of the cluster")
        if self.backend_url is not None and not self.backend_url.startswith(("http://", "https://")):
            raise ConfigError(f"backend_url must begin with http:// or https://, not {self.backend_url!r}")
        if self.backend_url is not None and self.data_dir is not None:
            raise ConfigError("data_dir is for the embedded store, and backend_url names another one")
        for field in fields(self):
            is_set = field.name in _OF_THE_EMBEDDED_STORE and getattr(self, field.name) != field.default
            if self.backend_url is not None and is_set:
                raise ConfigError(f"{field.name} is of the embedded store, not of a backend_url")
        if not 1 <= self.heat_seconds < float("inf"):
            raise ConfigError(f"heat_seconds must be a number of seconds, 1 or more, not {self.heat_seconds}")
        is_tuned = self.heat_seconds != _THROTTLING.heat_seconds
        if not self.throttling and (is_tuned or not (self.adaptive_capacity and self.split_for_heat)):
            told = "adaptive_capacity, split_for_heat and heat_seconds mean something with throttling only"
            raise ConfigError(told)
        if is_tuned and not self.split_for_heat:
            raise ConfigError("heat_seconds means something with split_for_heat only")
        if self.monotonic_reads and not self.stale_reads:
            raise ConfigError("monotonic_reads means something with stale_reads only")
        if self.data_dir is None and self.group_commit != _GROUP_COMMIT:
            raise ConfigError("group_commit means something with data_dir only")
        if self.advertise is not None:
            try:
                ipaddress.ip_address(self.advertise)
            except ValueError:
                raise ConfigError(f"advertise must be an IP address, not {self.advertise!r}") from None
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ConfigError("tls_certificate and tls_key are given together or not at all")

    def node_ids(self) -> tuple[str, ...]:
        """`node-1`, `node-2`, ...: the first starts as the primary."""
        return tuple(f"node-{number}" for number in range(1, self.nodes + 1))

    def cluster_ports(self) -> tuple[int, ...]:
        """The endpoint's port and then each node's; all 0 when free ones are wanted."""
        if self.port == 0:
            return (0,) * (self.nodes + 1)
        return tuple(range(self.port, self.port + self.nodes + 1))

    def node_settings(self, store_endpoint: str | None = None) -> NodeSettings:
        """What of it concerns one node. A refused table operation names `store_endpoint`."""
        return NodeSettings(
            item_ttl=self.item_ttl,
            query_ttl=self.query_ttl,
            item_cache_bytes=self.item_cache_bytes,
            query_cache_bytes=self.query_cache_bytes,
            unit_size=self.unit_size,
            fill_guard=self.fill_guard,
            transaction_refresh_delay=self.transaction_refresh_delay,
            store_endpoint=store_endpoint,
        )

    def engine_settings(self) -> EngineSettings:
        """What of it concerns the embedded store."""
        throttling = ThrottlingSettings(
            adaptive_capacity=self.adaptive_capacity,
            split_for_heat=self.split_for_heat,
            heat_seconds=self.heat_seconds,
        )
        stale_reads = StaleReadSettings(self.stale_reads, self.monotonic_reads)
        return EngineSettings(
            region=self.region,
            gsi_lag=self.gsi_lag,
            table_delay=self.table_delay,
            ttl_delay=self.ttl_delay,
            throttling=throttling if self.throttling else None,
            stale_reads=stale_reads if self.stale_reads else None,
        )

    def but(self, **changes: Any) -> ClusterConfig:
        """The same settings with some changed. Raises `ConfigError` for a name that is not a setting."""
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        unknown = sorted(changes.keys() - settings.keys())
        if unknown:
            raise ConfigError(f"no such setting: {', '.join(unknown)}")
        return ClusterConfig(**(settings | changes))
