"""A cluster for a program without an event loop: examples, tests, notebooks.

    from cluster.local import local_cluster

    with local_cluster(item_ttl=600) as cluster:
        dynamodb = boto3.resource("dynamodb", **cluster.boto3_settings("node-2"))

The cluster runs in a thread of this process, on free ports of 127.0.0.1, and ends with the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from cluster.config import ClusterConfig
from cluster.live import LiveCluster, start_live
from cluster.runtime.background import BackgroundLoop

T = TypeVar("T")


class LocalCluster:
    """A running cluster, and what can be done to it. Every method returns when it is done."""

    def __init__(self, cluster: LiveCluster, loop: BackgroundLoop) -> None:
        self._cluster = cluster
        self._loop = loop

    @property
    def endpoint(self) -> str:
        """The cluster's URL: each new connection goes to the next live node."""
        return self._cluster.endpoint

    @property
    def dax_endpoint(self) -> str:
        """The cluster's URL for the DAX clients."""
        return self._cluster.dax_endpoint

    @property
    def store_endpoint(self) -> str:
        """The store's own URL, where tables are made and where one writes around the cache."""
        endpoint = self._cluster.store_endpoint
        assert endpoint is not None, "local_cluster always opens it"
        return endpoint

    def node_endpoint(self, node_id: str) -> str:
        """The URL of one node, such as "node-2". Raises UnknownNode."""
        return self._cluster.node_endpoint(node_id)

    def boto3_settings(self, through: str = "cluster") -> dict[str, Any]:
        """Arguments for `boto3.client` and `boto3.resource`, through "cluster", "store" or a node."""
        if through == "cluster":
            endpoint = self.endpoint
        elif through == "store":
            endpoint = self.store_endpoint
        else:
            endpoint = self.node_endpoint(through)
        return {
            "endpoint_url": endpoint,
            "region_name": self._cluster.config.region,
            "aws_access_key_id": "local",
            "aws_secret_access_key": "local",
        }

    def status(self) -> Mapping[str, Any]:
        """The cluster and each node."""
        return self._loop.call(_calling(self._cluster.status))

    def advance(self, seconds: float) -> None:
        """Let time pass at once, so that a TTL of minutes ends in a moment."""
        self._loop.call(self._cluster.faults.advance(seconds))

    def wait_for_replication(self) -> None:
        """Return when no replication message is under way."""
        self._loop.call(self._cluster.cluster.settle())

    def set_replication_delay(self, seconds: float) -> None:
        """Let replication messages take so long from now on."""
        self._loop.call(_calling(lambda: self._cluster.faults.set_replication_delay(seconds)))

    def hold_replication(self) -> None:
        """Stop replication until `release_replication`."""
        self._loop.call(_calling(self._cluster.faults.hold_replication))

    def release_replication(self) -> None:
        """Deliver, in order, what was held."""
        self._loop.call(_calling(self._cluster.faults.release_replication))

    def throttle_store(self, writes: int) -> None:
        """Let the store refuse the next writes as over its provisioned throughput."""
        self._loop.call(_calling(lambda: self._cluster.store.throttle_next(writes)))

    def kill(self, node_id: str) -> None:
        """The node dies. Raises UnknownNode or WrongState."""
        self._loop.call(_calling(lambda: self._cluster.kill(node_id)))

    def stop_node(self, node_id: str) -> None:
        """Drain one node and end it. Raises UnknownNode or WrongState."""
        self._loop.call(self._cluster.stop_node(node_id))

    def restart(self, node_id: str) -> None:
        """Bring a node back, warm. Raises UnknownNode or WrongState."""
        self._loop.call(self._cluster.restart(node_id))


@contextmanager
def local_cluster(**settings: Any) -> Iterator[LocalCluster]:
    """A running cluster for the time of the block; `settings` are those of `ClusterConfig`.

    Raises ConfigError for a setting that there is not or that has no such value.
    """
    config = ClusterConfig().but(**{"port": 0, "store_port": 0, **settings})
    loop = BackgroundLoop("daxsim-cluster")
    try:
        cluster = loop.call(start_live(config))
        try:
            yield LocalCluster(cluster, loop)
        finally:
            loop.call(cluster.stop())
    finally:
        loop.close()


def served_from(response: Mapping[str, Any]) -> str:
    """Where a boto3 response came from: "item-cache", "query-cache", "negative-entry", "store", ..."""
    headers = response["ResponseMetadata"]["HTTPHeaders"]
    return str(headers.get("x-daxsim-served-from", "store"))


async def _calling(function: Callable[[], T]) -> T:
    """The result of a function, called in the cluster's thread."""
    return function()
