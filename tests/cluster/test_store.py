"""The store of a configuration: what a data directory keeps from one cluster to the next."""

from __future__ import annotations

import pytest

from backend.storage.directory import DirectoryRefused
from cluster.config import ClusterConfig
from cluster.live import LiveCluster
from cluster.runtime.listener import PortInUse
from cluster.runtime.live import live_runtime
from cluster.store import attribute_lists_of, open_store

TABLE = {
    "TableName": "Things",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
ITEM = {"pk": {"S": "a"}, "v": {"N": "1"}}
KEY = {"TableName": "Things", "Key": {"pk": {"S": "a"}}}


@pytest.fixture
def config(tmp_path) -> ClusterConfig:
    return ClusterConfig(nodes=1, port=0, store_port=0, data_dir=str(tmp_path / "data"))


@pytest.mark.live
async def test_a_cluster_goes_on_where_the_last_one_ended(config):
    first = LiveCluster(config)
    await first.start()
    await first.backend.execute("CreateTable", TABLE)
    await first.backend.execute("PutItem", {"TableName": "Things", "Item": ITEM})
    await first.stop()
    second = LiveCluster(config)
    await second.start()
    assert await second.backend.execute("GetItem", KEY) == {"Item": ITEM}
    await second.stop()


async def test_attribute_lists_keep_their_ids_and_their_names(config):
    store = open_store(config, live_runtime())
    lists = attribute_lists_of(store)
    given = {names: lists.id_of(names) for names in ((), ("a",), ("a", "b"), ("b", "a"))}
    await store.close()
    store = open_store(config, live_runtime())
    lists = attribute_lists_of(store)
    assert {lists.names_of(identifier): identifier for identifier in given.values()} == given
    await store.close()


async def test_in_memory_attribute_lists_are_kept_nowhere(config):
    store = open_store(config.but(data_dir=None), live_runtime())
    assert attribute_lists_of(store).names_of(attribute_lists_of(store).id_of(("a",))) is None
    await store.close()


async def test_a_cluster_that_cannot_start_leaves_the_directory_to_others(config):
    taken = LiveCluster(config.but(data_dir=None))
    await taken.start()
    port = int(taken.store_endpoint.rpartition(":")[2])
    unlucky = LiveCluster(config.but(store_port=port))
    with pytest.raises(PortInUse):
        await unlucky.start()
    await taken.stop()
    store = open_store(config, live_runtime())
    with pytest.raises(DirectoryRefused):
        open_store(config, live_runtime())
    await store.close()
