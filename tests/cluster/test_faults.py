"""The verbs on the store and on the links."""

from __future__ import annotations

import pytest

from backend.errors import ServiceError

pytestmark = pytest.mark.sim

TABLE = {
    "TableName": "Things",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
PUT = {"TableName": "Things", "Item": {"pk": {"S": "a"}}}
GET = {"TableName": "Things", "Key": {"pk": {"S": "a"}}}


@pytest.mark.parametrize(
    ("verb", "code", "status"),
    [
        ("throttle_next", "ProvisionedThroughputExceededException", 400),
        ("fail_next", "InternalServerError", 500),
    ],
)
def test_the_next_writes_are_refused_reads_are_not_and_nothing_is_written(play, verb, code, status):
    async def main(cluster):
        await cluster.call_store("CreateTable", TABLE)
        getattr(cluster.store, verb)(2)
        for through in ("node-1", "node-2"):
            with pytest.raises(ServiceError) as refused:
                await cluster.call(through, "PutItem", PUT)
            assert (refused.value.code, refused.value.status) == (code, status)
        assert "Item" not in await cluster.call_store("GetItem", GET)
        await cluster.call("node-2", "PutItem", PUT)
        assert "Item" in await cluster.call_store("GetItem", GET)

    play(main)


def test_a_slow_operation_waits_on_the_clock(play):
    async def main(cluster):
        await cluster.call_store("CreateTable", TABLE)
        cluster.store.slow("PutItem", 7)
        before = cluster.runtime.clock.now()
        await cluster.call("node-1", "PutItem", PUT)
        assert 7 < cluster.runtime.clock.now() - before < 7.1
        cluster.store.slow("PutItem", 0)
        await cluster.call("node-1", "PutItem", PUT)
        assert cluster.runtime.clock.now() - before < 7.2

    play(main)


def test_held_replication_keeps_replicas_behind_until_release(play):
    async def main(cluster):
        await cluster.call_store("CreateTable", TABLE)
        await cluster.call("node-1", "PutItem", PUT)
        await cluster.cluster.settle()
        cluster.faults.hold_replication()
        await cluster.call("node-1", "DeleteItem", GET)
        await cluster.cluster.settle()
        assert "Item" in (await cluster.call("node-2", "GetItem", GET)).response
        cluster.faults.release_replication()
        assert "Item" not in (await cluster.call("node-2", "GetItem", GET)).response

    play(main)


def test_a_partition_keeps_a_replica_from_writing_and_repair_ends_it(play):
    async def main(cluster):
        await cluster.call_store("CreateTable", TABLE)
        cluster.faults.partition("node-1", "node-2")
        with pytest.raises(ServiceError, match="node-2 cannot reach node-1"):
            await cluster.call("node-2", "PutItem", PUT)
        await cluster.call("node-3", "PutItem", PUT)
        cluster.faults.repair("node-1", "node-2")
        await cluster.runtime.clock.sleep(20)
        answer = await cluster.call("node-2", "GetItem", GET)
        assert str(answer.served_from) == "item-cache"

    play(main)


def test_a_negative_delay_is_refused(play):
    async def main(cluster):
        with pytest.raises(ValueError, match="a delay of -1 s"):
            cluster.faults.set_replication_delay(-1)

    play(main)
