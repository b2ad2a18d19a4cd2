"""Links: order, delay, hold, partition, death."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.runtime.network import LinkBroken, Network
from cluster.runtime.simulated import SimulatedClock
from cluster.runtime.tasks import TaskGroup
from cluster.runtime.virtual_loop import VirtualTimeLoop

pytestmark = pytest.mark.sim


class World:
    """Two nodes, "a" and "b", on a virtual loop; what arrives is kept with its time."""

    def __init__(self, latency=lambda sender, to: 0.001):
        self.loop = VirtualTimeLoop()
        self.clock = SimulatedClock(self.loop)
        self.network = Network(self.clock, latency)
        self.received = []
        self.groups = {}
        for node in ("a", "b"):
            self.attach(node)

    def attach(self, node):
        self.groups[node] = TaskGroup(node)
        self.network.attach(
            node,
            lambda sender, message: self.received.append((round(self.loop.time(), 6), node, message)),
            self.groups[node],
        )

    def run(self, program):
        return self.loop.run_until_complete(program)

    @property
    def messages(self):
        return [message for _, _, message in self.received]


@pytest.fixture
def world():
    return World()


def test_messages_arrive_after_latency_and_replication_delay(world):
    async def main():
        world.network.send("a", "b", "one")
        world.network.replication_delay = 2.0
        world.network.send("a", "b", "two")
        await world.network.wait_until_quiet()

    world.run(main())
    assert world.received == [(0.001, "b", "one"), (2.001, "b", "two")]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_a_link_keeps_the_order_whatever_the_latencies(latencies):
    draws = iter(latencies)
    world = World(lambda sender, to: next(draws))

    async def main():
        for number in range(len(latencies)):
            world.network.send("a", "b", number)
        await world.network.wait_until_quiet()

    world.run(main())
    assert world.messages == list(range(len(latencies)))


def test_a_held_link_keeps_messages_in_order_until_release(world):
    async def main():
        world.network.send("a", "b", 1)
        world.network.hold("a", "b")
        world.network.send("a", "b", 2)
        await asyncio.sleep(1)
        world.network.send("b", "a", "other way")
        await world.network.wait_until_quiet()
        assert world.messages == ["other way"]
        world.network.release("a", "b")
        world.network.send("a", "b", 3)
        await world.network.wait_until_quiet()

    world.run(main())
    assert world.messages == ["other way", 1, 2, 3]


def test_a_partition_loses_one_direction(world):
    async def main():
        world.network.partition("a", "b")
        world.network.send("a", "b", "lost")
        world.network.send("b", "a", "arrives")
        await world.network.wait_until_quiet()
        world.network.repair("a", "b")
        world.network.send("a", "b", "arrives too")
        await world.network.wait_until_quiet()

    world.run(main())
    assert world.messages == ["arrives", "arrives too"]


def test_messages_under_way_to_a_dead_node_are_lost_even_if_it_returns(world):
    async def main():
        world.network.send("a", "b", "to the old one")
        world.network.detach("b")
        world.attach("b")
        world.network.send("a", "b", "to the new one")
        await world.network.wait_until_quiet()

    world.run(main())
    assert world.messages == ["to the new one"]


def test_a_round_trip_brings_back_results_and_errors(world):
    async def work():
        await asyncio.sleep(1)
        return "done"

    async def failing():
        raise KeyError("there")

    async def main():
        assert await world.network.round_trip("a", "b", work) == "done"
        assert world.loop.time() == pytest.approx(1.002)
        with pytest.raises(KeyError):
            await world.network.round_trip("a", "b", failing)

    world.run(main())


def test_a_round_trip_breaks_when_the_other_node_dies_under_it(world):
    finished = []

    async def work():
        await asyncio.sleep(10)
        finished.append(True)

    async def main():
        world.loop.call_later(5, world.groups["b"].abort)
        with pytest.raises(LinkBroken, match="b died"):
            await world.network.round_trip("a", "b", work)
        world.network.detach("b")
        with pytest.raises(LinkBroken, match="a cannot reach b"):
            await world.network.round_trip("a", "b", work)
        await asyncio.sleep(100)

    world.run(main())
    assert not finished


def test_a_round_trip_whose_answer_is_cut_off_has_still_happened(world):
    happened = []

    async def work():
        happened.append(True)
        world.network.partition("b", "a")

    async def main():
        with pytest.raises(LinkBroken, match="b cannot reach a"):
            await world.network.round_trip("a", "b", work)

    world.run(main())
    assert happened
