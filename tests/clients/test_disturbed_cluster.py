"""A client at work while nodes are killed, stopped and restarted, the primary among them.

One client writes a growing number to each of a few items and reads them back. What must hold, whatever
happens:

* a strongly consistent read gives the last acknowledged number, or one whose write was not acknowledged
  since;
* any other read gives a number that was the last acknowledged one at most `STALENESS` seconds ago, or a later
  one;
* an error has a cause: the client still believed in a killed node, or there was no primary, or a JavaScript
  client used a connection that the killed node had closed. A stop causes none: the node serves on until the
  clients have read the new roster.

The last test plants two defects, and sees that these rules find them.
"""

from __future__ import annotations

import collections
import random
import threading
import time
from dataclasses import dataclass, field

import pytest

pytestmark = [pytest.mark.live, pytest.mark.clients]

TABLE = {
    "TableName": "counters",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
FAILOVER_DELAY = 0.2
STALENESS = 2.0
"""Seconds. Replication takes milliseconds; the rest is what a busy machine may add."""

ROSTER_AGE = 6.0
"""Seconds for which a client may go on with a roster: it asks every 4 ± 0.5 s, and may repeat a request."""

GIVE_UP = 2.0
CONNECTION_ERRORS = {
    "ConnectionRefusedError",
    "ConnectionResetError",
    "BrokenPipeError",
    "ConnectionException",
    "NoRouteException",
    "ECONNRESET",
    "ECONNREFUSED",
    "EPIPE",
    None,  # the Python client's, when each of its attempts lost its connection
}
NO_PRIMARY = {"InternalServerError", "InternalServerErrorException"}


class WrongAnswer(AssertionError):
    """A read gave what it must not."""


class Unexplained(AssertionError):
    """An error that nothing done to the cluster explains."""


@dataclass
class Counter:
    """What may be read of one item.

    acknowledged: when each acknowledged write was so, and its number. unsettled: numbers whose write the
    client never said anything about, and may still send.
    """

    acknowledged: list[tuple[float, int]] = field(default_factory=lambda: [(0.0, 0)])
    unsettled: set[int] = field(default_factory=set)
    attempted: int = 0
    seen: int = 0

    def check(self, number, asked_at, *, strongly):
        before = asked_at if strongly else asked_at - STALENESS
        least = max(number for at, number in self.acknowledged if at <= before)
        if strongly:
            least = max(least, self.seen)
        if not least <= number <= self.attempted and number not in self.unsettled:
            kind = "strongly consistent" if strongly else "eventually consistent"
            raise WrongAnswer(
                f"a {kind} read gave {number}, not {least} .. {self.attempted}; last acknowledged: "
                f"{self.acknowledged[-1][1]}, {asked_at - self.acknowledged[-1][0]:.3f} s before"
            )
        if strongly and number not in self.unsettled:
            self.seen = number


class Client:
    """Writes and reads, checks each answer, and asks for the cause of each error."""

    def __init__(self, run, cause):
        self.run, self.cause = run, cause
        self.counters = [Counter() for _ in range(5)]
        self.random = random.Random(1)
        self.succeeded = 0
        self.errors = collections.Counter()

    def work(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            index = self.random.randrange(len(self.counters))
            kind = self.random.choice(("write", "read", "read", "read strongly"))
            self.request(kind, self.counters[index], {"pk": {"S": f"counter-{index}"}})

    def request(self, kind, counter, key):
        request = {"TableName": "counters"}
        if kind == "write":
            counter.attempted += 1
            operation, request["Item"] = "PutItem", {**key, "n": {"N": str(counter.attempted)}}
        else:
            operation, request["Key"], request["ConsistentRead"] = "GetItem", key, kind == "read strongly"
        asked_at = time.monotonic()
        try:
            outcome = self.run(operation, request)
        except OSError as failure:
            outcome = {"error": {"code": type(failure).__name__, "message": str(failure)}}
        if "error" in outcome:
            code = outcome["error"]["code"]
            if kind == "write" and code == "GivenUp":
                counter.unsettled.add(counter.attempted)
            self.errors[code, self.cause(asked_at, outcome["error"])] += 1
            time.sleep(0.02)
            return
        self.succeeded += 1
        if kind == "write":
            counter.acknowledged.append((time.monotonic(), counter.attempted))
        else:
            number = int(outcome["response"].get("Item", {"n": {"N": "0"}})["n"]["N"])
            counter.check(number, asked_at, strongly=kind == "read strongly")


class Disturber(threading.Thread):
    """Ends one node and brings it back, in turn, for as long as it is told, the primary first."""

    def __init__(self, running, pause):
        super().__init__()
        self.running, self.pause = running, pause
        self.enough = threading.Event()
        self.ends = []  # (when, "kill" | "stop", was it the primary)
        self.failure = None

    def run(self):
        try:
            while not self.enough.wait(self.pause):
                self._end_one(("kill", "stop", "stop", "kill")[len(self.ends) % 4])
        except BaseException as failure:
            self.failure = failure

    def _end_one(self, verb):
        cluster = self.running.cluster
        replicas = [f"node-{number}" for number in (1, 2, 3) if f"node-{number}" != cluster.cluster.primary]
        is_primary = len(self.ends) % 2 == 0
        node = cluster.cluster.primary if is_primary else replicas[len(self.ends) % 2]
        self.ends.append((time.monotonic(), verb, is_primary))
        if verb == "stop":
            self.running.call(cluster.stop_node(node))
        else:
            self.running.do(lambda: cluster.kill(node))
            self.enough.wait(self.pause)
        self.running.call(cluster.restart(node))

    def cause(self, asked_at, error):
        """Why a request may have failed. Raises Unexplained."""
        code, now = error["code"], time.monotonic()
        kills = [(at, is_primary) for at, verb, is_primary in self.ends if verb == "kill"]
        if code == "GivenUp" and kills:
            return "never settled by the client, on a connection that a killed node closed"
        if code in CONNECTION_ERRORS and any(asked_at - ROSTER_AGE <= at <= now for at, _ in kills):
            return "a killed node, in the roster still"
        without = FAILOVER_DELAY + 1.0
        if code in NO_PRIMARY and any(asked_at - without <= at <= now and primary for at, primary in kills):
            return "no primary"
        ends = [f"{verb} {now - at:.2f} s ago" for at, verb, _ in self.ends]
        raise Unexplained(f"{error}, asked {now - asked_at:.2f} s ago; {ends}")


def disturb(start_cluster, dax_driver, seconds, pause, monkeypatch):
    monkeypatch.setenv("DAX_TIMEOUT_MS", str(int(GIVE_UP * 1000)))
    name, driver = dax_driver
    running = start_cluster(nodes=3, failover_delay=FAILOVER_DELAY)
    running.store("CreateTable", TABLE)
    disturber = Disturber(running, pause)
    with driver(f"dax://{running.address}") as run:
        client = Client(run, disturber.cause)
        disturber.start()
        try:
            client.work(seconds)
        finally:
            disturber.enough.set()
            disturber.join(30)
        assert disturber.failure is None
        client.work(ROSTER_AGE / 2)
        before = client.succeeded
        client.work(1)
    verbs = collections.Counter(verb for _, verb, _ in disturber.ends)
    print(f"{name}: {client.succeeded} succeeded, {dict(client.errors)}, {dict(verbs)}")
    assert verbs["kill"] >= 1
    assert verbs["stop"] >= 1
    assert client.succeeded - before > 20


@pytest.mark.parametrize("dax_driver", ["python", "javascript-v3", "javascript-v1"], indirect=True)
def test_for_some_seconds(start_cluster, dax_driver, monkeypatch):
    disturb(start_cluster, dax_driver, 6, 1.0, monkeypatch)


@pytest.mark.slow
def test_for_a_minute(start_cluster, dax_driver, monkeypatch):
    disturb(start_cluster, dax_driver, 60, 2.5, monkeypatch)


def lose_writes(running, monkeypatch):
    """Some writes are acknowledged and not done."""
    backend = running.cluster.store.backend
    execute, count = backend.execute, iter(range(1_000_000))

    async def forgetful(operation, request):
        if operation == "PutItem" and next(count) % 20 == 19:
            return {}
        return await execute(operation, request)

    monkeypatch.setattr(backend, "execute", forgetful)


def keep_old_entries(running, monkeypatch):
    """A replica hears of no change to what it holds."""
    replica = running.cluster.cluster.node("node-2")
    monkeypatch.setattr(replica._replication, "receive", lambda sender, message: None)


@pytest.mark.parametrize("plant", [lose_writes, keep_old_entries])
@pytest.mark.parametrize("dax_driver", ["python"], indirect=True)
def test_a_wrong_answer_would_be_seen(start_cluster, dax_driver, plant, monkeypatch):
    _, driver = dax_driver
    running = start_cluster(nodes=3)
    running.store("CreateTable", TABLE)
    with driver(f"dax://{running.address}") as run:
        client = Client(run, lambda asked_at, error: "any")
        client.work(0.5)
        plant(running, monkeypatch)
        with pytest.raises(WrongAnswer):
            client.work(20)
