"""A cluster on real sockets: both wires on one port, deaths, returns, and a stop without remains."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
import socket

import boto3
import botocore.exceptions
import pytest
from amazondax import AmazonDaxClient
from botocore.config import Config

from cluster.config import ClusterConfig
from cluster.live import LiveCluster, start_live
from cluster.runtime.listener import PortInUse
from cluster.runtime.live import BlockingCalls, run
from dax.wire.binary import methods
from dax.wire.binary.connection import NEED_DATA, Connection
from dax.wire.binary.events import Authorization, Call, Greeting
from dax.wire.binary.state import Role

pytestmark = pytest.mark.live

TABLE = {
    "TableName": "Things",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
ITEM = {"pk": {"S": "a"}, "v": {"N": "1"}}
KEY = {"TableName": "Things", "Key": {"pk": {"S": "a"}}}


@pytest.fixture
def in_thread():
    threads = BlockingCalls()
    yield threads.run
    threads.close()


@pytest.fixture
def client():
    """`client(endpoint)`: an unmodified boto3 client that tries once."""
    made = []

    def make(endpoint):
        made.append(
            boto3.client(
                "dynamodb",
                endpoint_url=endpoint,
                region_name="us-east-1",
                aws_access_key_id="local",
                aws_secret_access_key="local",
                config=Config(retries={"total_max_attempts": 1}, read_timeout=10),
            )
        )
        return made[-1]

    yield make
    for one in made:
        one.close()


def headers(answer):
    told = answer["ResponseMetadata"]["HTTPHeaders"]
    return {name.removeprefix("x-daxsim-"): v for name, v in told.items() if name.startswith("x-daxsim-")}


async def test_boto3_writes_and_reads_through_nodes_and_endpoint(live_cluster, client, in_thread):
    cluster = await live_cluster()

    def work():
        client(cluster.store_endpoint).create_table(**TABLE)
        client(cluster.node_endpoint("node-2")).put_item(TableName="Things", Item=ITEM)
        read = client(cluster.node_endpoint("node-1")).get_item(**KEY)
        assert read["Item"] == ITEM
        assert headers(read)["served-from"] == "item-cache"
        with pytest.raises(botocore.exceptions.ClientError, match=cluster.store_endpoint):
            client(cluster.endpoint).create_table(**TABLE)
        nodes = {headers(client(cluster.endpoint).get_item(**KEY))["node"] for _ in range(6)}
        assert nodes == {"node-1", "node-2", "node-3"}

    await in_thread(work)


def test_both_wires_share_one_port_on_uvloop():
    async def main():
        cluster = await start_live(ClusterConfig(port=0, store_port=0))
        threads = BlockingCalls()
        try:
            await cluster.backend.execute("CreateTable", TABLE)
            host, port = cluster.endpoint.removeprefix("http://").split(":")
            found = await threads.run(lambda: over_both_wires(host, int(port)))
        finally:
            threads.close()
            await cluster.stop()
        return found

    def over_both_wires(host, port):
        with AmazonDaxClient(
            endpoint_url=f"{host}:{port}",
            region_name="us-east-1",
            aws_access_key_id="local",
            aws_secret_access_key="local",
        ) as dax:
            dax.put_item(TableName="Things", Item=ITEM)
            binary = dax.get_item(**KEY)["Item"]
        connection = http.client.HTTPConnection(host, port)
        connection.request("GET", "/_daxsim/cluster")
        members = json.loads(connection.getresponse().read())["nodes"]
        connection.close()
        return binary, [member["state"] for member in members]

    assert run(main()) == (ITEM, ["live", "live", "live"])


async def test_a_killed_replica_breaks_its_connections_and_the_others_serve(live_cluster, client, in_thread):
    cluster = await live_cluster()
    await cluster.backend.execute("CreateTable", TABLE)
    host, port = cluster.cluster.address("node-3")
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n")
    await writer.drain()
    await in_thread(lambda: client(cluster.node_endpoint("node-3")).put_item(TableName="Things", Item=ITEM))
    cluster.kill("node-3")
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await reader.readexactly(1)
    writer.close()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(host, port)
    assert [member.node_id for member in cluster.members()] == ["node-1", "node-2"]
    for _ in range(4):
        answer = await in_thread(lambda: client(cluster.endpoint).get_item(**KEY))
        assert headers(answer)["node"] in ("node-1", "node-2")


async def test_failover_by_the_clock_and_a_warm_return(live_cluster, client, in_thread):
    cluster = await live_cluster(failover_delay=60)
    await cluster.backend.execute("CreateTable", TABLE)
    replica = client(cluster.node_endpoint("node-2"))
    await in_thread(lambda: replica.put_item(TableName="Things", Item=ITEM))
    await cluster.cluster.settle()
    cluster.kill("node-1")
    with pytest.raises(botocore.exceptions.ClientError, match="InternalServerError") as refused:
        await in_thread(lambda: replica.put_item(TableName="Things", Item=ITEM))
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
    await cluster.faults.advance(61)
    answer = await in_thread(lambda: replica.put_item(TableName="Things", Item=ITEM))
    assert headers(answer)["node"] == "node-2"
    await cluster.restart("node-1")
    assert {member.node_id: member.role for member in cluster.members()} == {
        "node-1": "replica",
        "node-2": "primary",
        "node-3": "replica",
    }
    returned = client(cluster.node_endpoint("node-1"))
    assert headers(await in_thread(lambda: returned.get_item(**KEY)))["served-from"] == "item-cache"


async def test_a_ttl_passes_in_a_moment(live_cluster, client, in_thread):
    cluster = await live_cluster(item_ttl=300)
    await cluster.backend.execute("CreateTable", TABLE)
    node = client(cluster.node_endpoint("node-1"))
    await in_thread(lambda: node.put_item(TableName="Things", Item=ITEM))
    assert headers(await in_thread(lambda: node.get_item(**KEY)))["served-from"] == "item-cache"
    await cluster.faults.advance(301)
    told = headers(await in_thread(lambda: node.get_item(**KEY)))
    assert (told["served-from"], told["miss"]) == ("store", "expired")


async def test_a_stopped_node_drains_and_its_port_is_free(live_cluster, client, in_thread):
    cluster = await live_cluster()
    await cluster.backend.execute("CreateTable", TABLE)
    node = client(cluster.node_endpoint("node-2"))
    execute, arrived = cluster.store.execute, asyncio.Event()

    async def slow(operation, request):
        arrived.set()
        await asyncio.sleep(0.2)
        return await execute(operation, request)

    cluster.store.execute = slow
    writing = asyncio.ensure_future(in_thread(lambda: node.put_item(TableName="Things", Item=ITEM)))
    await arrived.wait()
    await cluster.stop_node("node-2")
    assert headers(await writing)["node"] == "node-1"
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(*cluster.cluster.address("node-2"))
    await cluster.restart("node-2")
    assert len(cluster.members()) == 3


class DaxConnection:
    """A connection as the DAX clients pool them."""

    async def open(self, address):
        self.codec = Connection(Role.CLIENT)
        self.reader, self.writer = await asyncio.open_connection(*address)
        self.writer.write(
            self.codec.send(Greeting(b"", "test")) + self.codec.send(Authorization("a", "0", b""))
        )
        return self

    async def call(self, method, *arguments):
        self.writer.write(self.codec.send(Call(method, list(arguments))))
        while True:
            self.codec.receive_data(await asyncio.wait_for(self.reader.read(65536), 5))
            event = self.codec.next_event()
            if not isinstance(event, type(NEED_DATA)):
                return event.items()


@pytest.mark.parametrize("stopped", ["node-1", "node-3"])
async def test_a_stopping_node_serves_until_its_dax_clients_have_gone(live_cluster, stopped):
    cluster = await live_cluster()
    await cluster.backend.execute("CreateTable", TABLE)
    address = cluster.cluster.address(stopped)
    pooled = await DaxConnection().open(address)
    await pooled.call(methods.ENDPOINTS)
    stopping = asyncio.ensure_future(cluster.stop_node(stopped))
    await asyncio.sleep(0)
    listed = (await pooled.call(methods.ENDPOINTS))[0]
    assert stopped not in [node[1] for node in listed]
    assert [node[4] for node in listed].count(1) == 1  # a client that reads this roster finds a primary
    for number in range(20):
        await pooled.call(methods.PUT_ITEM, b"Things", b"%d" % number, b"\x01", None)
    late = await DaxConnection().open(address)  # a client that has not read it yet
    assert len((await late.call(methods.ENDPOINTS))[0]) == 2
    assert not stopping.done()
    pooled.writer.close()
    late.writer.close()
    await asyncio.wait_for(stopping, 2)
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(*address)
    assert (await cluster.backend.execute("Scan", {"TableName": "Things"}))["Count"] == 20


async def test_a_cluster_stops_at_once_though_a_node_is_leaving(live_cluster):
    cluster = await live_cluster()
    pooled = await DaxConnection().open(cluster.cluster.address("node-2"))
    await pooled.call(methods.ENDPOINTS)
    stopping = asyncio.ensure_future(cluster.stop_node("node-2"))
    await asyncio.sleep(0)
    await asyncio.wait_for(cluster.stop(), 2)
    await asyncio.wait_for(stopping, 2)
    assert await pooled.reader.read() == b""
    pooled.writer.close()


async def test_a_taken_port_is_named_and_nothing_is_left_open():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        cluster = LiveCluster(ClusterConfig(port=0, store_port=0))
        cluster._node_ports["node-2"] = port
        with pytest.raises(PortInUse, match=f"port {port} on 127.0.0.1 is in use"):
            await cluster.start()
    for opened in (cluster.endpoint, cluster.store_endpoint, cluster.node_endpoint("node-1")):
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", int(opened.rsplit(":", 1)[1]))


async def test_a_stop_leaves_no_task_no_socket_and_no_complaint(client, in_thread, caplog):
    before = asyncio.all_tasks()
    cluster = await start_live(ClusterConfig(port=0, store_port=0))
    ports = [member.port for member in cluster.members()]
    with caplog.at_level(logging.WARNING):
        await cluster.backend.execute("CreateTable", TABLE)
        idle = [await asyncio.open_connection("127.0.0.1", port) for port in ports]
        for number in range(10):
            item = {"pk": {"S": f"k{number}"}}
            await in_thread(
                lambda item=item: client(cluster.endpoint).put_item(TableName="Things", Item=item)
            )
        cluster.kill("node-2")
        await cluster.stop()
        await cluster.stop()
        for _, writer in idle:
            writer.close()
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == before
    assert caplog.records == []
    for port in [*ports, int(cluster.endpoint.rsplit(":", 1)[1])]:
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)


async def test_what_a_dead_primary_had_still_to_write_is_not_written(live_cluster, client, in_thread):
    cluster = await live_cluster(failover_delay=0)
    await cluster.backend.execute("CreateTable", TABLE)
    execute, gate, arrived = cluster.store.backend.execute, asyncio.Event(), asyncio.Event()

    async def slow(operation, request):
        if operation == "PutItem":
            arrived.set()
            await gate.wait()
        return await execute(operation, request)

    primary = client(cluster.node_endpoint("node-1"))
    cluster.store.backend.execute = slow
    first = asyncio.ensure_future(in_thread(lambda: primary.put_item(TableName="Things", Item=ITEM)))
    await arrived.wait()
    # The second write of the key waits inside the node until the first is through.
    newer = {**ITEM, "v": {"N": "2"}}
    second = asyncio.ensure_future(in_thread(lambda: primary.put_item(TableName="Things", Item=newer)))
    while cluster.cluster.node("node-1").metrics.requests["PutItem"] < 2:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    cluster.kill("node-1")
    gate.set()
    for outcome in await asyncio.gather(first, second, return_exceptions=True):
        assert isinstance(outcome, botocore.exceptions.HTTPClientError)
    assert (await cluster.backend.execute("GetItem", KEY))["Item"] == ITEM


async def test_a_port_taken_meanwhile_keeps_a_node_from_returning_and_harms_no_other(live_cluster):
    cluster = await live_cluster()
    host, port = cluster.cluster.address("node-3")
    cluster.kill("node-3")
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, port))
        taken.listen()
        with pytest.raises(PortInUse):
            await cluster.restart("node-3")
        assert [node["state"] for node in cluster.status()["nodes"]] == ["live", "live", "dead"]
    await cluster.restart("node-3")
    assert len(cluster.members()) == 3


async def test_a_cluster_on_every_address_tells_one_that_can_be_connected_to(live_cluster, client, in_thread):
    cluster = await live_cluster(host="0.0.0.0", nodes=1)
    assert cluster.endpoint.startswith("http://127.0.0.1:")
    await cluster.backend.execute("CreateTable", TABLE)
    await in_thread(lambda: client(cluster.endpoint).put_item(TableName="Things", Item=ITEM))


async def test_a_cluster_in_front_of_another_store(live_cluster, client, in_thread):
    store = await live_cluster(nodes=1)
    cluster = await live_cluster(backend_url=store.store_endpoint, nodes=2)

    def work():
        client(store.store_endpoint).create_table(**TABLE)
        client(cluster.endpoint).put_item(TableName="Things", Item=ITEM)
        assert client(store.store_endpoint).get_item(**KEY)["Item"] == ITEM
        assert client(cluster.endpoint).get_item(**KEY)["Item"] == ITEM

    await in_thread(work)
