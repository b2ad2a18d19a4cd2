"""The replication log under random delivery: it converges, and no fill replaces a newer write."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dax.cache.items import ItemCache
from dax.log import ORIGIN, Append, Cause, Change, FillToken, OfferFill, Position, RefuseFill, Resume, Warm
from dax.replication import Replication, Role

KEYS = [("Table", bytes([n])) for n in range(3)]


class Cluster:
    """Nodes' logs whose messages a test delivers, loses or reorders; `store` is the truth, by version."""

    def __init__(self, count: int, *, in_order: bool = True, **options: Any) -> None:
        self.in_order = in_order
        self.mail: list[tuple[str, str, Any]] = []
        self.time = 0.0
        self.epoch = 0
        self.primary = "n0"
        self.options = options
        self.nodes: dict[str, Replication] = {}
        self.caches: dict[str, ItemCache] = {}
        self.store: dict[Any, int] = dict.fromkeys(KEYS, 0)
        self.written: dict[Any, int] = dict.fromkeys(KEYS, 0)
        self.fills: list[tuple[str, FillToken, Any, int]] = []
        for n in range(count):
            self.add(f"n{n}")
        self.promote("n0")

    def add(self, name: str) -> None:
        self.caches[name] = ItemCache(10_000, 0, 100)
        send = lambda to, message: self.mail.append((name, to, message))  # noqa: E731
        self.nodes[name] = Replication(self.caches[name], send, lambda: self.time, **self.options)

    def promote(self, name: str) -> None:
        self.epoch += 1
        self.primary = name
        for other, node in self.nodes.items():
            if other != name:
                node.become_replica(self.epoch, name)
        self.nodes[name].become_primary(self.epoch, [other for other in self.nodes if other != name])

    def write(self, key: Any) -> None:
        self.store[key] += 1
        self.written[key] = self.store[key]
        self.nodes[self.primary].written(self.epoch, key, {"v": {"N": str(self.store[key])}})

    def begin_read(self, name: str, key: Any) -> None:
        self.fills.append((name, self.nodes[name].token(), key, self.store[key]))

    def end_read(self, index: int) -> None:
        name, token, key, version = self.fills.pop(index % len(self.fills))
        if name in self.nodes:
            self.nodes[name].fill(token, key, {"v": {"N": str(version)}})

    def deliver(self, index: int, *, lose: bool = False) -> None:
        """One message out of order, unless links keep the order: then the first of one link."""
        index %= len(self.mail)
        if self.in_order:
            index = next(i for i, (*link, _) in enumerate(self.mail) if link == [*self.mail[index][:2]])
        sender, to, message = self.mail.pop(index)
        # A fill is offered and refused once; where that is lost, it stays on the node that read it.
        lose = lose and not (self.in_order and isinstance(message, OfferFill | RefuseFill))
        if not lose and to in self.nodes:
            self.nodes[to].receive(sender, message)

    def deliver_all(self) -> None:
        queue = deque(self.mail)
        self.mail.clear()
        while queue:
            sender, to, message = queue.popleft()
            if to in self.nodes:
                self.nodes[to].receive(sender, message)
            queue.extend(self.mail)
            self.mail.clear()

    def heal(self) -> None:
        """What the timer does until every replica has confirmed everything."""
        for _ in range(5):
            self.deliver_all()
            primary = self.nodes[self.primary]
            primary.resend(primary.progress())
        self.deliver_all()
        assert not self.nodes[self.primary].unconfirmed

    def held(self, name: str, key: Any) -> int | None:
        entry = self.caches[name].peek(key)
        return None if entry is None or entry.item is None else int(entry.item["v"]["N"])


ACTIONS = st.one_of(
    st.tuples(st.just("write"), st.integers(0, 2)),
    st.tuples(st.just("begin"), st.integers(0, 2), st.integers(0, 2)),
    st.tuples(st.just("end"), st.integers(0, 9)),
    st.tuples(st.just("deliver"), st.integers(0, 9)),
    st.tuples(st.just("deliver"), st.integers(0, 9)),
    st.tuples(st.just("lose"), st.integers(0, 9)),
    st.tuples(st.just("around"), st.integers(0, 2)),
    st.tuples(st.just("replace")),
)


def play(cluster: Cluster, actions: list[tuple[Any, ...]], *, failover: bool = False) -> None:
    for action in actions:
        match action:
            case ("write", n):
                cluster.write(KEYS[n])
            case ("around", n):
                cluster.store[KEYS[n]] += 1
            case ("begin", n, key):
                cluster.begin_read(f"n{n}", KEYS[key])
            case ("end", n) if cluster.fills:
                cluster.end_read(n)
            case ("deliver", n) if cluster.mail:
                cluster.deliver(n)
            case ("lose", n) if cluster.mail:
                cluster.deliver(n, lose=True)
            case ("replace",) if failover:
                # As a coordinator does: the most advanced of the others takes over, the former one follows.
                others = [name for name in cluster.nodes if name != cluster.primary]
                cluster.promote(max(others, key=lambda name: cluster.nodes[name].log.last.sequence))


LIMITS = st.fixed_dictionaries(
    {"log_limit": st.sampled_from([100_000, 3]), "recent_limit": st.sampled_from([100_000, 2])}
)


def finish(cluster: Cluster) -> None:
    while cluster.fills:
        cluster.end_read(0)
    cluster.heal()


@settings(max_examples=300, deadline=None)
@given(st.lists(ACTIONS, max_size=60), LIMITS)
def test_caches_converge(actions, limits):
    cluster = Cluster(3, **limits)
    play(cluster, actions)
    finish(cluster)
    for key in KEYS:
        assert len({cluster.held(name, key) for name in cluster.nodes}) == 1, key


@settings(max_examples=300, deadline=None)
@given(st.lists(ACTIONS, max_size=60), LIMITS)
def test_no_fill_replaces_a_newer_write_whatever_the_network_does(actions, limits):
    cluster = Cluster(3, in_order=False, **limits)
    play(cluster, actions)
    finish(cluster)
    for key in KEYS:
        for name in cluster.nodes:
            held = cluster.held(name, key)
            assert held is None or held >= cluster.written[key], (name, key)


@settings(max_examples=300, deadline=None)
@given(st.lists(ACTIONS, max_size=60))
def test_caches_converge_after_primaries_were_replaced(actions):
    cluster = Cluster(3)
    play(cluster, actions, failover=True)
    finish(cluster)
    for key in KEYS:
        # A fill that a new primary took back may have stood in the place of what others still hold.
        held = {cluster.held(name, key) for name in cluster.nodes} - {None}
        assert len(held) <= 1, (key, held)


@settings(max_examples=200, deadline=None)
@given(st.lists(ACTIONS, max_size=40))
def test_the_log_ends_empty_on_every_node(actions):
    cluster = Cluster(3)
    play(cluster, actions)
    cluster.heal()
    cluster.write(KEYS[0])
    cluster.heal()
    primary = cluster.nodes["n0"].log
    assert len(primary) == 0
    assert {node.log.last for node in cluster.nodes.values()} == {primary.last}


def test_without_the_guard_a_slow_fill_wins():
    cluster = Cluster(2, guard=False)
    cluster.begin_read("n1", KEYS[0])
    cluster.write(KEYS[0])
    cluster.deliver_all()
    cluster.end_read(0)
    cluster.heal()
    assert cluster.held("n0", KEYS[0]) == cluster.held("n1", KEYS[0]) == 0


def test_a_gap_is_asked_for_once():
    cluster = Cluster(2)
    cluster.deliver_all()
    for _ in range(3):
        cluster.write(KEYS[0])
    cluster.deliver(0, lose=True)
    cluster.deliver(0)
    cluster.deliver(0)
    assert [message for _, _, message in cluster.mail] == [Resume(1, ORIGIN)]
    cluster.deliver_all()
    assert cluster.held("n1", KEYS[0]) == 3


def test_a_replica_too_far_behind_is_warmed_anew():
    cluster = Cluster(2, log_limit=2)
    cluster.deliver_all()
    for _ in range(5):
        cluster.write(KEYS[0])
    cluster.mail = cluster.mail[-1:]
    cluster.deliver(0)
    cluster.deliver(0)
    assert isinstance(cluster.mail[0][2], Warm)
    cluster.deliver_all()
    assert cluster.held("n1", KEYS[0]) == 5


def test_a_former_primary_loses_what_only_it_had():
    cluster = Cluster(3)
    cluster.deliver_all()
    cluster.write(KEYS[0])
    cluster.mail.clear()  # it reached no replica
    cluster.promote("n1")
    cluster.write(KEYS[1])
    cluster.heal()
    for name in cluster.nodes:
        assert (cluster.held(name, KEYS[0]), cluster.held(name, KEYS[1])) == (None, 1)
    assert len({node.log.last for node in cluster.nodes.values()}) == 1


def test_a_write_that_ends_while_there_is_no_primary_is_reported_to_the_next():
    cluster = Cluster(2)
    cluster.write(KEYS[0])
    cluster.deliver_all()
    late = cluster.nodes["n0"]
    late.become_replica(1, None)
    late.written(1, KEYS[0], None)
    cluster.promote("n1")
    cluster.heal()
    assert [cluster.caches[name].peek(KEYS[0]) for name in cluster.nodes] == [None, None]


def test_a_fill_that_began_before_a_warming_is_refused():
    cluster = Cluster(2)
    cluster.deliver_all()
    cluster.begin_read("n1", KEYS[0])
    cluster.nodes["n1"].warm(cluster.nodes["n0"].snapshot())
    cluster.end_read(0)
    assert cluster.nodes["n1"].fills_refused == 1
    assert cluster.held("n1", KEYS[0]) is None


def test_a_fill_that_began_under_a_former_primary_is_refused():
    # A write that died with its primary is in no log, so nothing else tells that the slow fill is older.
    cluster = Cluster(2)
    cluster.deliver_all()
    cluster.begin_read("n1", KEYS[0])
    cluster.write(KEYS[0])
    cluster.mail.clear()  # it reached no replica
    cluster.nodes["n1"].become_replica(1, None)
    cluster.promote("n1")
    cluster.begin_read("n1", KEYS[0])
    cluster.end_read(1)
    assert cluster.held("n1", KEYS[0]) == 1
    cluster.end_read(0)
    assert cluster.held("n1", KEYS[0]) == 1


@pytest.mark.parametrize(
    "message",
    [
        Append(0, ORIGIN, (Change(Position(1, 0), Cause.WRITE, KEYS[0], None, 0.0),), 0),
        OfferFill(1, ORIGIN, KEYS[0], None, 0.0),
    ],
    ids=["of another epoch", "for another role"],
)
def test_void_messages_change_nothing(message):
    cluster = Cluster(2)
    cluster.deliver_all()
    cluster.nodes["n1"].receive("n0", message)
    assert (cluster.nodes["n1"].log.last, cluster.mail) == (ORIGIN, [])


def test_roles_and_lag():
    cluster = Cluster(2)
    cluster.deliver_all()
    cluster.write(KEYS[0])
    cluster.time = 3.0
    assert cluster.nodes["n0"].lag() == {"n1": (1, 3.0)}
    cluster.deliver_all()
    assert cluster.nodes["n0"].lag() == {"n1": (0, 0.0)}
    assert cluster.nodes["n1"].apply_delay == 3.0
    assert (cluster.nodes["n0"].role, cluster.nodes["n1"].role) == (Role.PRIMARY, Role.REPLICA)


def test_a_primary_told_again_keeps_what_it_knows_of_its_replicas():
    cluster = Cluster(3)
    cluster.heal()
    cluster.nodes["n0"].become_primary(1, ["n1"])
    assert (cluster.nodes["n0"].lag(), cluster.mail) == ({"n1": (0, 0.0)}, [])
