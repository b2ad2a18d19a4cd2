"""The two venues of a story: a simulated cluster, and a live one with boto3 as the client.

Rules of this file:

* live clients are real: boto3 (botocore's low-level client) on real sockets, in threads, reading the
  `x-daxsim-*` headers as any other client could;
* simulated clients call in memory;
* neither retries, so that a refusal is seen as a refusal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

import botocore.config
import botocore.exceptions
import botocore.session

from backend.errors import ServiceError
from cluster.config import ClusterConfig
from cluster.lab.client import Connection, Reply, Unreachable
from cluster.lab.history import STORE
from cluster.lab.story import CLUSTER
from cluster.live import LiveCluster
from cluster.runtime.live import BlockingCalls
from cluster.runtime.network import LinkBroken
from cluster.runtime.simulated import Simulation
from cluster.simulated import SimulatedCluster

_REASONS = ("ThrottlingReasons", "throttlingReasons")


class SimulatedVenue:
    """A story's cluster in virtual time."""

    def __init__(self, config: ClusterConfig, simulation: Simulation) -> None:
        self._cluster = SimulatedCluster(config, simulation)
        self.cluster = self._cluster.cluster
        self.faults = self._cluster.faults

    async def open(self) -> None:
        await self._cluster.start()

    async def close(self) -> None:
        await self._cluster.stop()

    def connect(self, through: str) -> Connection:
        if through == STORE:
            return _SimulatedStore(self._cluster)
        return _SimulatedConnection(self._cluster, None if through == CLUSTER else through)

    async def gather(self, works: Iterable[Coroutine[Any, Any, Any]]) -> list[Any]:
        return await asyncio.gather(*works)


class _SimulatedConnection:
    """To a node, or (None) to the cluster endpoint."""

    def __init__(self, cluster: SimulatedCluster, node_id: str | None) -> None:
        self._cluster = cluster
        self._node_id = node_id

    async def call(self, operation: str, request: Mapping[str, Any]) -> Reply:
        try:
            answer = await self._cluster.call(self._node_id, operation, request)
        except LinkBroken as broken:
            raise Unreachable(str(broken)) from broken
        age = None if answer.age is None else round(answer.age, 3)
        miss = None if answer.miss is None else str(answer.miss)
        return Reply(answer.response, answer.node, str(answer.served_from), age, miss)


class _SimulatedStore:
    """To the store, around the cache."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        self._cluster = cluster

    async def call(self, operation: str, request: Mapping[str, Any]) -> Reply:
        response = await self._cluster.call_store(operation, request)
        return Reply(response, node=STORE, served_from=STORE)


class LiveVenue:
    """A story's cluster on free ports of this machine."""

    def __init__(self, config: ClusterConfig) -> None:
        self._cluster = LiveCluster(config.but(port=0, store_port=0))
        self._threads = BlockingCalls()
        self._session = botocore.session.Session()
        self._clients: list[Any] = []
        self.cluster = self._cluster.cluster
        self.faults = self._cluster.faults

    async def open(self) -> None:
        await self._cluster.start()

    async def close(self) -> None:
        for client in self._clients:
            client.close()
        await self._cluster.stop()
        self._threads.close()

    def connect(self, through: str) -> Connection:
        if through == STORE:
            endpoint = self._cluster.store_endpoint
        elif through == CLUSTER:
            endpoint = self._cluster.endpoint
        else:
            endpoint = self._cluster.node_endpoint(through)
        client = self._session.create_client(
            "dynamodb",
            endpoint_url=endpoint,
            region_name="us-east-1",
            aws_access_key_id="local",
            aws_secret_access_key="local",
            config=botocore.config.Config(
                retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=20
            ),
        )
        self._clients.append(client)
        return _BotoConnection(client, self._threads, direct=through == STORE)

    async def gather(self, works: Iterable[Coroutine[Any, Any, Any]]) -> list[Any]:
        return await asyncio.gather(*works)


class _BotoConnection:
    """A botocore client; its answers say in their headers where they came from."""

    def __init__(self, client: Any, threads: BlockingCalls, *, direct: bool) -> None:
        self._client = client
        self._threads = threads
        self._direct = direct

    async def call(self, operation: str, request: Mapping[str, Any]) -> Reply:
        method: Callable[..., Any] = getattr(self._client, _method_name(operation))
        try:
            response = await self._threads.run(lambda: method(**request))
        except botocore.exceptions.ClientError as error:
            told = error.response["Error"]
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            reasons = {name: error.response[name] for name in _REASONS if name in error.response}
            raise ServiceError(
                told["Code"], told.get("Message") or None, status=status, fields=reasons
            ) from error
        except (botocore.exceptions.HTTPClientError, OSError) as error:
            raise Unreachable(str(error)) from error
        headers = response.pop("ResponseMetadata")["HTTPHeaders"]
        if self._direct:
            return Reply(response, node=STORE, served_from=STORE)
        age = headers.get("x-daxsim-age")
        return Reply(
            response,
            headers.get("x-daxsim-node"),
            headers.get("x-daxsim-served-from"),
            None if age is None else float(age),
            headers.get("x-daxsim-miss"),
        )


def _method_name(operation: str) -> str:
    """`BatchGetItem` -> `batch_get_item`, as botocore names its methods."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in operation).lstrip("_")
