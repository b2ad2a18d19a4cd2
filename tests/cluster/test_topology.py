"""Who is the primary, what a death does, and what survives it. In virtual time."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.errors import ServiceError
from cluster.config import ClusterConfig, ConfigError
from cluster.runtime.network import LinkBroken
from cluster.runtime.simulated import check, simulate
from cluster.simulated import SimulatedCluster, _MemoryEdge
from cluster.topology import UnknownNode, WrongState

pytestmark = pytest.mark.sim

TABLE = {
    "TableName": "Table",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


async def put(cluster, through, key, value):
    item = {"pk": {"S": key}, "v": {"N": str(value)}}
    return await cluster.call(through, "PutItem", {"TableName": "Table", "Item": item})


async def get(cluster, through, key):
    """The value (None if no item) and where it came from."""
    answer = await cluster.call(through, "GetItem", {"TableName": "Table", "Key": {"pk": {"S": key}}})
    item = answer.response.get("Item")
    return (None if item is None else int(item["v"]["N"])), str(answer.served_from)


async def stored(cluster, key):
    request = {"TableName": "Table", "Key": {"pk": {"S": key}}, "ConsistentRead": True}
    item = (await cluster.call_store("GetItem", request)).get("Item")
    return None if item is None else int(item["v"]["N"])


def roles(cluster):
    return {member.node_id: member.role for member in cluster.cluster.members()}


def with_table(program):
    async def main(cluster):
        await cluster.call_store("CreateTable", TABLE)
        return await program(cluster)

    return main


@pytest.fixture
def slow_doors(monkeypatch):
    """Every door takes three seconds to open, and clients a second to leave."""
    opening, leaving = _MemoryEdge.open, _MemoryEdge.leave

    async def open_slowly(edge, node, requests):
        await asyncio.sleep(3)
        await opening(edge, node, requests)

    async def leave_slowly(edge):
        await asyncio.sleep(1)
        await leaving(edge)

    monkeypatch.setattr(_MemoryEdge, "open", open_slowly)
    monkeypatch.setattr(_MemoryEdge, "leave", leave_slowly)


def test_the_first_node_is_the_primary_and_the_others_are_replicas(play):
    async def main(cluster):
        assert roles(cluster) == {"node-1": "primary", "node-2": "replica", "node-3": "replica"}
        assert cluster.cluster.epoch == 1

    play(main)


@pytest.mark.parametrize("setting", [{"backend_url": "http://a"}, {"data_dir": "b"}], ids=str)
def test_a_simulation_refuses_a_store_of_another_kind(play, setting):
    async def main(cluster):
        raise AssertionError("it started")

    with pytest.raises(ConfigError, match=f"{next(iter(setting))} cannot be set"):
        play(main, **setting)


def test_a_write_at_a_replica_reaches_store_and_caches_through_the_primary(play):
    async def main(cluster):
        answer = await put(cluster, "node-3", "a", 1)
        assert answer.node == "node-1"
        assert await stored(cluster, "a") == 1
        await cluster.cluster.settle()
        for node in ("node-1", "node-2", "node-3"):
            assert await get(cluster, node, "a") == (1, "item-cache")

    play(with_table(main))


def test_a_dead_primary_is_replaced_by_the_replica_that_knows_most(play):
    async def main(cluster):
        network = cluster.runtime.network
        network.hold("node-1", "node-2")
        await put(cluster, "node-1", "a", 1)
        await cluster.cluster.settle()
        cluster.cluster.kill("node-1")
        assert cluster.cluster.primary is None
        with pytest.raises(ServiceError, match="no primary") as refused:
            await put(cluster, "node-2", "a", 2)
        assert (refused.value.code, refused.value.status) == ("InternalServerError", 500)
        assert await get(cluster, "node-3", "a") == (1, "item-cache")
        await cluster.runtime.clock.sleep(1.1)
        assert roles(cluster) == {"node-2": "replica", "node-3": "primary"}
        assert cluster.cluster.epoch == 2
        assert (await put(cluster, "node-2", "a", 3)).node == "node-3"
        await cluster.cluster.settle()
        assert await get(cluster, "node-2", "a") == (3, "item-cache")

    play(with_table(main), failover_delay=1.0)


def test_a_node_that_returns_is_warm_and_a_replica(play):
    async def main(cluster):
        await put(cluster, "node-1", "a", 1)
        cluster.cluster.kill("node-1")
        with pytest.raises(LinkBroken, match="node-1 refuses connections"):
            await get(cluster, "node-1", "a")
        await cluster.runtime.clock.sleep(2)
        await put(cluster, "node-2", "b", 2)
        await cluster.cluster.restart("node-1")
        assert roles(cluster)["node-1"] == "replica"
        assert sorted(roles(cluster).values()) == ["primary", "replica", "replica"]
        assert await get(cluster, "node-1", "b") == (2, "item-cache")
        await put(cluster, "node-3", "b", 3)
        await cluster.cluster.settle()
        assert await get(cluster, "node-1", "b") == (3, "item-cache")

    play(with_table(main))


def test_a_primary_that_returns_before_its_replacement_is_no_primary_any_more(play):
    async def main(cluster):
        cluster.cluster.kill("node-1")
        await cluster.cluster.restart("node-1")
        assert cluster.cluster.primary is None
        await cluster.runtime.clock.sleep(2)
        assert list(roles(cluster).values()).count("primary") == 1
        assert cluster.cluster.epoch == 2

    play(main)


def test_a_node_is_not_warmed_with_a_fill_that_no_log_has(play):
    async def main(cluster):
        cluster.faults.hold_replication()
        assert await get(cluster, "node-2", "a") == (None, "store")
        await put(cluster, "node-1", "a", 1)
        cluster.cluster.kill("node-1")
        cluster.cluster.kill("node-3")
        # Warmed from node-2, which takes its fill back when it becomes the primary.
        await cluster.cluster.restart("node-3")
        cluster.faults.release_replication()
        await cluster.runtime.clock.sleep(10)
        assert roles(cluster)["node-2"] == "primary"
        assert (await get(cluster, "node-3", "a"))[0] == 1

    play(with_table(main))


def test_a_fill_whose_offer_is_lost_stays_with_its_node_and_hides_no_write(play):
    async def main(cluster):
        cluster.faults.partition("node-1", "node-2")
        assert await get(cluster, "node-2", "a") == (None, "store")
        cluster.faults.repair("node-1", "node-2")
        assert await get(cluster, "node-2", "a") == (None, "negative-entry")
        assert await get(cluster, "node-3", "a") == (None, "store")
        await put(cluster, "node-3", "a", 1)
        await cluster.runtime.clock.sleep(20)
        for node in cluster.config.node_ids():
            assert await get(cluster, node, "a") == (1, "item-cache")

    play(with_table(main), item_ttl=0)


def test_a_lone_primary_that_returns_is_the_primary_at_once(play):
    async def main(cluster):
        cluster.cluster.kill("node-1")
        await cluster.cluster.restart("node-1")
        assert roles(cluster) == {"node-1": "primary"}
        await cluster.runtime.clock.sleep(2)
        assert (roles(cluster), cluster.cluster.epoch) == ({"node-1": "primary"}, 2)

    play(main, nodes=1)


def test_a_cluster_that_lost_every_node_starts_again(play):
    async def main(cluster):
        await put(cluster, "node-1", "a", 1)
        for node in ("node-1", "node-2"):
            cluster.cluster.kill(node)
        await cluster.runtime.clock.sleep(10)
        assert roles(cluster) == {}
        await cluster.cluster.restart("node-2")
        assert roles(cluster) == {"node-2": "primary"}
        assert await get(cluster, "node-2", "a") == (1, "store")

    play(with_table(main), nodes=2)


def test_a_stopped_primary_hands_over_all_it_knows(play):
    async def main(cluster):
        cluster.faults.hold_replication()
        await put(cluster, "node-1", "a", 1)
        await cluster.cluster.stop_node("node-1")
        assert cluster.cluster.primary == "node-2"
        assert await get(cluster, "node-2", "a") == (1, "item-cache")
        cluster.faults.release_replication()
        await cluster.cluster.settle()
        await cluster.runtime.clock.sleep(20)
        assert await get(cluster, "node-3", "a") == (1, "item-cache")

    play(with_table(main))


def test_a_former_primary_hears_of_writes_for_as_long_as_it_serves(play, monkeypatch):
    async def main(cluster):
        left = asyncio.Event()
        monkeypatch.setattr(cluster._edges["node-1"], "leave", left.wait)
        await put(cluster, "node-1", "a", 1)
        leaving = asyncio.ensure_future(cluster.cluster.stop_node("node-1"))
        await cluster.runtime.clock.sleep(1)
        assert (await put(cluster, "node-2", "a", 2)).node == "node-2"
        await cluster.cluster.settle()
        assert await get(cluster, "node-1", "a") == (2, "item-cache")
        left.set()
        await leaving
        assert list(cluster.cluster.node("node-2").status()["replication"]["replicas"]) == ["node-3"]

    play(with_table(main))


def test_a_stopping_node_finishes_what_it_was_asked(play):
    async def main(cluster):
        cluster.store.slow("PutItem", 5)
        writing = [
            asyncio.ensure_future(put(cluster, node, node, number))
            for number, node in enumerate(("node-1", "node-2"))
        ]
        await cluster.runtime.clock.sleep(1)
        await cluster.cluster.stop_node("node-1")
        assert [answer.node for answer in await asyncio.gather(*writing)] == ["node-1", "node-1"]

    play(with_table(main))


@pytest.mark.parametrize("delay", [0.0, 60.0])
def test_a_stopped_primary_s_transactions_are_not_forgotten(play, delay):
    """Their background read may never end; then the old states are dropped, not kept."""

    async def main(cluster):
        await put(cluster, "node-1", "a", 1)
        await cluster.cluster.settle()
        cluster.store.slow("TransactGetItems", 5)
        item = {"pk": {"S": "a"}, "v": {"N": "2"}}
        action = {"Put": {"TableName": "Table", "Item": item}}
        await cluster.call("node-3", "TransactWriteItems", {"TransactItems": [action]})
        assert (await get(cluster, "node-2", "a"))[0] == 1
        await cluster.cluster.stop_node("node-1")
        await cluster.runtime.clock.sleep(20)
        for node in ("node-2", "node-3"):
            assert (await get(cluster, node, "a"))[0] == 2

    play(with_table(main), item_ttl=0, transaction_refresh_delay=delay)


@pytest.mark.parametrize("lost", ["the link is cut", "the successor is dead"])
def test_what_a_stopped_primary_wrote_late_is_heard_of_though_its_report_is_lost(play, slow_doors, lost):
    async def main(cluster):
        await put(cluster, "node-1", "a", 1)
        await cluster.cluster.settle()
        cluster.store.slow("TransactGetItems", 5)
        action = {"Put": {"TableName": "Table", "Item": {"pk": {"S": "a"}, "v": {"N": "2"}}}}
        await cluster.call("node-3", "TransactWriteItems", {"TransactItems": [action]})
        stopping = asyncio.ensure_future(cluster.cluster.stop_node("node-1"))
        await cluster.runtime.clock.sleep(0.5)
        assert cluster.cluster.primary == "node-2"
        if lost == "the link is cut":
            cluster.faults.partition("node-1", "node-2")
        else:
            cluster.cluster.kill("node-2")
        await stopping
        await cluster.runtime.clock.sleep(20)
        for node in roles(cluster):
            assert (await get(cluster, node, "a"))[0] == 2

    play(with_table(main), item_ttl=0)


def test_a_primary_is_replaced_under_writes_without_losing_one(play):
    """A planned stop: some writes may be refused, none is forgotten, and no cache stays behind the store."""

    async def main(cluster):
        acknowledged, attempted, running = set(), [], True

        async def write(writer, through):
            number = 0
            while running:
                number += 1
                attempted.append(key := f"{writer}-{number}")
                # Its absence is cached, so that a write which a cache does not hear of would stay hidden.
                await get(cluster, through, key)
                with suppress(ServiceError):
                    await put(cluster, through, key, number)
                    acknowledged.add(key)

        writers = [asyncio.ensure_future(write(writer, f"node-{2 + writer % 2}")) for writer in range(1, 9)]
        await cluster.runtime.clock.sleep(0.1)
        before = len(acknowledged)
        await cluster.cluster.restart("node-1")
        assert cluster.cluster.primary == "node-2"
        await cluster.runtime.clock.sleep(0.1)
        running = False
        await asyncio.gather(*writers)
        await cluster.runtime.clock.sleep(20)
        assert len(acknowledged) > before > 0
        for key in attempted:
            value = await stored(cluster, key)
            assert value is not None or key not in acknowledged
            for node in cluster.config.node_ids():
                assert (key, node, (await get(cluster, node, key))[0]) == (key, node, value)

    for seed in range(5):
        play(with_table(main), seed=seed)


@pytest.mark.parametrize(("dies_after", "reached"), [(0.0002, False), (2.0, True)])
def test_a_write_in_flight_at_a_death_is_never_acknowledged(play, dies_after, reached):
    """It may have reached the store or not; who asked learns neither, at the primary or at a replica."""

    async def main(cluster):
        await get(cluster, "node-1", "a")
        cluster.runtime.clock.call_at(
            cluster.runtime.clock.now() + dies_after, lambda: cluster.cluster.kill("node-1")
        )
        direct, forwarded = await asyncio.gather(
            put(cluster, "node-1", "a", 1), put(cluster, "node-2", "b", 1), return_exceptions=True
        )
        assert isinstance(direct, LinkBroken)
        assert isinstance(forwarded, ServiceError)
        assert forwarded.code == "InternalServerError"
        assert (await stored(cluster, "a") == 1) is reached

    async def slow_way_back(cluster):
        """The store takes a write at once, and its answer takes long."""
        execute = cluster.store.execute

        async def slow(operation, request):
            response = await execute(operation, request)
            if operation == "PutItem":
                await cluster.runtime.clock.sleep(10)
            return response

        cluster.store.execute = slow
        await main(cluster)

    play(with_table(slow_way_back if reached else main))


def test_a_former_primary_s_messages_are_void(play):
    async def main(cluster):
        await put(cluster, "node-1", "a", 1)
        await cluster.cluster.settle()
        cluster.faults.set_replication_delay(30)
        await put(cluster, "node-1", "a", 2)
        cluster.cluster.kill("node-1")
        cluster.faults.set_replication_delay(0)
        await cluster.runtime.clock.sleep(2)
        await put(cluster, "node-2", "a", 3)
        await cluster.runtime.clock.sleep(60)
        for node in ("node-2", "node-3"):
            assert await get(cluster, node, "a") == (3, "item-cache")

    play(with_table(main))


@pytest.mark.parametrize("begun", ["start", "restart of a dead node", "restart of a live node"])
@pytest.mark.parametrize("after", [0.5, 3.5])
def test_what_is_stopped_while_it_starts_leaves_no_door_open(slow_doors, begun, after):
    async def main(simulation):
        cluster = SimulatedCluster(ClusterConfig(nodes=2), simulation)
        starting = asyncio.ensure_future(cluster.start())
        if begun != "start":
            await starting
            if begun == "restart of a dead node":
                cluster.cluster.kill("node-2")
            starting = asyncio.ensure_future(cluster.cluster.restart("node-2"))
        await asyncio.sleep(after)
        done = starting.done()
        await cluster.stop()
        assert not any(edge.is_open for edge in cluster._edges.values())
        await asyncio.sleep(10)
        assert not any(edge.is_open for edge in cluster._edges.values())
        assert {node["state"] for node in cluster.cluster.status()["nodes"]} <= {"stopped", "dead"}
        if begun != "start" and not done:
            with pytest.raises(WrongState):
                await starting

    simulate(1, main)


@pytest.mark.parametrize("moment", ["handing over", "leaving", "finishing", "warming"])
def test_a_node_can_be_killed_whatever_it_is_doing(play, slow_doors, moment):
    async def main(cluster):
        cluster.store.slow("PutItem", 5)
        cluster.store.slow("GetItem", 5)
        asked = [asyncio.ensure_future(put(cluster, "node-1", "a", 1))]
        await asyncio.sleep(0)
        if moment == "warming":
            cluster.cluster.kill("node-3")
            ending, victim, wait = cluster.cluster.restart("node-3"), "node-3", 2.5
        else:
            ending, victim = cluster.cluster.stop_node("node-1"), "node-1"
            wait = {"handing over": 4, "leaving": 5.5, "finishing": 7}[moment]
        busy = asyncio.ensure_future(ending)
        await asyncio.sleep(wait - 2)
        if moment == "finishing":
            asked.append(asyncio.ensure_future(get(cluster, "node-1", "a")))
        await asyncio.sleep(2)
        cluster.cluster.kill(victim)
        await cluster.cluster.restart(victim)
        with pytest.raises(WrongState, match=f"{victim} was (killed|ended) while it (stopped|started)"):
            await busy
        await asyncio.gather(*asked, return_exceptions=True)
        await asyncio.sleep(10)
        assert sorted(roles(cluster).values()) == ["primary", "replica", "replica"]
        await put(cluster, victim, "b", 2)
        await cluster.cluster.settle()
        for node in cluster.config.node_ids():
            assert await get(cluster, node, "b") == (2, "item-cache")

    play(with_table(main))


def test_unknown_nodes_and_wrong_states_are_named(play):
    async def main(cluster):
        with pytest.raises(UnknownNode, match="no node 'node-9'; there are node-1, node-2, node-3"):
            cluster.cluster.kill("node-9")
        cluster.cluster.kill("node-2")
        with pytest.raises(WrongState, match="node-2 is dead"):
            cluster.cluster.kill("node-2")
        with pytest.raises(WrongState, match="node-2 is dead"):
            await cluster.cluster.stop_node("node-2")
        with pytest.raises(WrongState, match="node-2 is dead"):
            cluster.cluster.node("node-2")

    play(main)


def test_status_tells_each_node_and_its_state(play):
    async def main(cluster):
        cluster.cluster.kill("node-3")
        await cluster.cluster.stop_node("node-2")
        return cluster.cluster.status()

    status = play(main)
    assert (status["primary"], status["epoch"]) == ("node-1", 1)
    assert [node["state"] for node in status["nodes"]] == ["live", "stopped", "dead"]
    assert status["nodes"][0]["role"] == "primary"
    assert "item_cache" in status["nodes"][0]
    assert "item_cache" not in status["nodes"][1]


VERBS = ("put", "get", "transact", "kill", "stop", "restart", "restart meanwhile", "wait")
VERBS += ("hold", "release", "cut", "repair")
ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(VERBS),
        st.integers(1, 3),
        st.sampled_from(["a", "b"]),
    ),
    max_size=25,
)


@pytest.mark.parametrize("under_way", ["write", "fill of a replica"])
def test_what_is_flushed_everywhere_does_not_come_back(play, under_way):
    """Someone writes around the cache and flushes it: the old state must not arrive by a later message."""

    async def main(cluster):
        if under_way == "write":
            await put(cluster, "node-1", "a", 1)
        else:
            await cluster.call_store("PutItem", {"TableName": "Table", "Item": {"pk": {"S": "a"}}})
            await cluster.call("node-2", "GetItem", {"TableName": "Table", "Key": {"pk": {"S": "a"}}})
        await cluster.runtime.clock.sleep(1)
        item = {"pk": {"S": "a"}, "v": {"N": "2"}}
        await cluster.call_store("PutItem", {"TableName": "Table", "Item": item})
        for member in cluster.cluster.members():
            cluster.cluster.node(member.node_id).flush(cache="both")
        await cluster.runtime.clock.sleep(60)
        for node in cluster.config.node_ids():
            assert (await get(cluster, node, "a"))[0] == 2

    play(with_table(main), replication_delay=5.0, item_ttl=0)


@settings(max_examples=60, deadline=None)
@given(ACTIONS, st.integers(0, 1000))
def test_whatever_happens_one_primary_no_lost_write_and_caches_that_converge(actions, seed):
    async def main(simulation):
        cluster = SimulatedCluster(ClusterConfig(item_ttl=0), simulation)
        await cluster.start()
        await cluster.call_store("CreateTable", TABLE)
        for operation in ("PutItem", "TransactGetItems"):
            cluster.store.slow(operation, 0.5)
        acknowledged: dict[str, int] = {}
        attempted: dict[str, set[int]] = {"a": set(), "b": set()}
        meanwhile = []
        for number, (action, node, key) in enumerate(actions, start=1):
            node_id, epoch = f"node-{node}", cluster.cluster.epoch
            try:
                match action:
                    case "put":
                        attempted[key].add(number)
                        await put(cluster, node_id, key, number)
                        acknowledged[key] = number
                    case "transact":
                        attempted[key].add(number)
                        item = {"pk": {"S": key}, "v": {"N": str(number)}}
                        action = {"Put": {"TableName": "Table", "Item": item}}
                        await cluster.call(node_id, "TransactWriteItems", {"TransactItems": [action]})
                        acknowledged[key] = number
                    case "get":
                        await get(cluster, node_id, key)
                    case "kill":
                        cluster.cluster.kill(node_id)
                    case "stop":
                        await cluster.cluster.stop_node(node_id)
                    case "restart":
                        await cluster.cluster.restart(node_id)
                    case "restart meanwhile":
                        meanwhile.append(asyncio.ensure_future(cluster.cluster.restart(node_id)))
                        await cluster.runtime.clock.sleep(0)
                    case "wait":
                        await cluster.runtime.clock.sleep(1.5)
                    case "hold":
                        cluster.faults.hold_replication()
                    case "release":
                        cluster.faults.release_replication()
                    case "cut":
                        cluster.faults.partition(node_id, f"node-{node % 3 + 1}")
                    case "repair":
                        cluster.faults.repair(node_id, f"node-{node % 3 + 1}")
            except (ServiceError, LinkBroken, WrongState):
                pass
            assert list(roles(cluster).values()).count("primary") <= 1
            assert cluster.cluster.epoch >= epoch
        cluster.faults.release_replication()
        for one, other in (("node-1", "node-2"), ("node-2", "node-3"), ("node-3", "node-1")):
            cluster.faults.repair(one, other)
        ended = await asyncio.gather(*meanwhile, return_exceptions=True)
        assert all(isinstance(outcome, WrongState | None) for outcome in ended), ended
        for node_id in cluster.config.node_ids():
            if node_id not in roles(cluster):
                await cluster.cluster.restart(node_id)
        await cluster.runtime.clock.sleep(60)
        assert sorted(roles(cluster).values()) == ["primary", "replica", "replica"]
        for key in ("a", "b"):
            value = await stored(cluster, key)
            assert value in attempted[key] | {None}
            assert (value or 0) >= acknowledged.get(key, 0)
            seen = [await get(cluster, node_id, key) for node_id in cluster.config.node_ids()]
            assert len({found for found, _ in seen}) == 1, seen
        await cluster.stop()

    simulate(seed, main)


def test_a_failover_is_the_same_in_every_run_of_a_seed(simulated_program):
    async def main(cluster):
        await asyncio.gather(*(put(cluster, f"node-{n % 3 + 1}", f"k{n}", n) for n in range(20)))
        cluster.cluster.kill("node-1")
        await cluster.runtime.clock.sleep(2)
        await asyncio.gather(*(get(cluster, None, f"k{n}") for n in range(20)))
        await cluster.cluster.restart("node-1")
        return cluster.cluster.status()

    check(11, simulated_program(with_table(main)))
