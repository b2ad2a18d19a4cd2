from __future__ import annotations

import pytest

from backend.settings import EngineSettings
from cluster.config import ClusterConfig, ConfigError
from dax.settings import NodeSettings


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"nodes": 0}, "nodes must be between 1 and 11, not 0"),
        ({"nodes": 12}, "nodes must be between 1 and 11, not 12"),
        ({"item_ttl": -1}, "item_ttl must be a number of seconds, 0 or more, not -1"),
        ({"query_ttl": float("nan")}, "query_ttl must be a number of seconds, 0 or more, not nan"),
        ({"failover_delay": float("inf")}, "failover_delay must be a number of seconds"),
        ({"item_cache_bytes": 0}, "item_cache_bytes must be a number of bytes, 1 or more, not 0"),
        ({"port": 65533}, "port must be between 0 and 65532, not 65533"),
        ({"store_port": 70000}, "store_port must be between 0 and 65535, not 70000"),
        ({"port": 8000}, "store_port 8000 is also a port of the cluster"),
        ({"backend_url": "localhost:8000"}, "backend_url must begin with http:// or https://"),
        ({"group_commit": -0.1}, "group_commit must be a number of seconds, 0 or more, not -0.1"),
        ({"backend_url": "http://a", "data_dir": "b"}, "data_dir is for the embedded store"),
        ({"stale_reads": -1}, "stale_reads must be a number of seconds, 0 or more, not -1"),
        ({"ttl_delay": -1}, "ttl_delay must be a number of seconds, 0 or more, not -1"),
        ({"table_delay": -1}, "table_delay must be a number of seconds, 0 or more, not -1"),
        *(
            (
                {"backend_url": "http://a", name: value},
                f"{name} is of the embedded store, not of a backend_url",
            )
            for name, value in (
                ("throttling", True),
                ("stale_reads", 1.0),
                ("gsi_lag", 1.0),
                ("table_delay", 1.0),
                ("ttl_delay", 0.0),
            )
        ),
        ({"adaptive_capacity": False}, "heat_seconds mean something with throttling only"),
        ({"split_for_heat": False}, "heat_seconds mean something with throttling only"),
        ({"heat_seconds": 9.0}, "heat_seconds mean something with throttling only"),
        ({"throttling": True, "heat_seconds": 0.5}, "heat_seconds must be a number of seconds, 1 or more"),
        (
            {"throttling": True, "split_for_heat": False, "heat_seconds": 9.0},
            "heat_seconds means something with split_for_heat only",
        ),
        ({"monotonic_reads": True}, "monotonic_reads means something with stale_reads only"),
        ({"group_commit": 0.0}, "group_commit means something with data_dir only"),
        ({"group_commit": 0.01}, "group_commit means something with data_dir only"),
        ({"nodes": 1.5}, "nodes must be a whole number, not 1.5"),
        ({"nodes": True}, "nodes must be a whole number, not True"),
        ({"item_cache_bytes": 1e6}, "item_cache_bytes must be a whole number, not 1000000.0"),
        ({"ttl": 3}, "no such setting: ttl"),
    ],
)
def test_a_bad_setting_is_named(changes, text):
    with pytest.raises(ConfigError, match=text.replace("(", r"\(")):
        ClusterConfig().but(**changes)


def test_ports_follow_the_endpoint_or_are_all_free():
    assert ClusterConfig(nodes=2, port=9000).cluster_ports() == (9000, 9001, 9002)
    assert ClusterConfig(nodes=2, port=0).cluster_ports() == (0, 0, 0)
    assert ClusterConfig(nodes=2).node_ids() == ("node-1", "node-2")


def test_a_node_s_defaults_are_the_cluster_s():
    assert ClusterConfig().node_settings() == NodeSettings()


def test_what_concerns_a_node_reaches_it():
    settings = ClusterConfig(item_ttl=1, query_ttl=2, item_cache_bytes=3, query_cache_bytes=4).node_settings(
        "http://store"
    )
    assert (settings.item_ttl, settings.query_ttl) == (1, 2)
    assert (settings.item_cache_bytes, settings.query_cache_bytes) == (3, 4)
    assert settings.store_endpoint == "http://store"


def test_what_lags_in_the_store_is_told_to_it():
    settings = ClusterConfig(gsi_lag=1.0, ttl_delay=2.0, table_delay=3.0).engine_settings()
    assert (settings.gsi_lag, settings.ttl_delay, settings.table_delay) == (1.0, 2.0, 3.0)
    assert ClusterConfig().engine_settings() == EngineSettings()


def test_the_engine_throttles_and_lags_only_when_asked_to():
    settings = ClusterConfig().engine_settings()
    assert (settings.throttling, settings.stale_reads) == (None, None)
    asked = ClusterConfig(
        throttling=True, adaptive_capacity=False, split_for_heat=False, stale_reads=2.0, monotonic_reads=True
    ).engine_settings()
    assert (asked.throttling.adaptive_capacity, asked.throttling.split_for_heat) == (False, False)
    assert ClusterConfig(throttling=True, heat_seconds=9.0).engine_settings().throttling.heat_seconds == 9.0
    assert (asked.stale_reads.lag, asked.stale_reads.monotonic) == (2.0, True)
