"""Clusters for tests: simulated ones to run a program on, live ones on free ports."""

from __future__ import annotations

import pytest

from cluster.config import ClusterConfig
from cluster.live import LiveCluster
from cluster.runtime.simulated import simulate
from cluster.simulated import SimulatedCluster


@pytest.fixture
def play():
    """`play(program, seed=7, **settings)` runs `program(cluster)` in virtual time and gives its result."""

    def run(program, *, seed=7, **settings):
        return simulate(seed, on_cluster(program, **settings))

    return run


@pytest.fixture
def simulated_program():
    """`program(cluster)` as what `simulate` and `check` take."""
    return on_cluster


def on_cluster(program, **settings):
    async def main(simulation):
        cluster = SimulatedCluster(ClusterConfig(**settings), simulation)
        await cluster.start()
        try:
            return await program(cluster)
        finally:
            await cluster.stop()

    return main


@pytest.fixture
async def live_cluster():
    """`await live_cluster(**settings)` starts a cluster on free ports; it is stopped after the test."""
    started = []

    async def start(**settings):
        cluster = LiveCluster(ClusterConfig(**{"port": 0, "store_port": 0, **settings}))
        await cluster.start()
        started.append(cluster)
        return cluster

    yield start
    for cluster in started:
        await cluster.stop()
