from __future__ import annotations

import threading

import boto3
import pytest

from cluster.config import ConfigError
from cluster.local import local_cluster, served_from
from cluster.topology import WrongState

pytestmark = pytest.mark.live


def test_a_block_has_a_cluster_and_leaves_no_thread():
    before = threading.active_count()
    with local_cluster(nodes=2) as cluster:
        assert [node["state"] for node in cluster.status()["nodes"]] == ["live", "live"]
        client = boto3.client("dynamodb", **cluster.boto3_settings("store"))
        assert served_from(client.list_tables()) == "store"
        client.close()
        cluster.stop_node("node-2")
        with pytest.raises(WrongState):
            cluster.stop_node("node-2")
        cluster.restart("node-2")
    assert threading.active_count() == before


def test_a_bad_setting_starts_nothing():
    before = threading.active_count()
    with pytest.raises(ConfigError, match="nodes must be between 1 and 11"), local_cluster(nodes=0):
        pass
    assert threading.active_count() == before


def test_a_failure_in_the_block_ends_the_cluster_too():
    before = threading.active_count()
    with pytest.raises(KeyError), local_cluster(nodes=1):
        raise KeyError("in the block")
    assert threading.active_count() == before
