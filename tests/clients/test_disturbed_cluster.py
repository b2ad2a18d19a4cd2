"""A client at work while nodes are killed, stopped and restarted.

One client writes a growing number to each of a few items and reads them back. What must hold, whatever
happens:

* a strongly consistent read gives the last acknowledged number, or one whose write was not acknowledged
  since;
* any read gives a number that was written, or one that may have been;
* an error is one of a connection or of a cluster without a primary, and the client recovers from it.
"""

from __future__ import annotations

import itertools
import random
import threading
import time

import pytest

pytestmark = [pytest.mark.live, pytest.mark.clients]

TABLE = {
    "TableName": "counters",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
ACCEPTED_ERRORS = {
    "InternalServerError",
    "InternalServerErrorException",
    "ConnectionException",
    "NoRouteException",
    "GivenUp",
    "ECONNRESET",
    "ECONNREFUSED",
    "EPIPE",
    "DaxClientError",
    None,
}


class Disturber(threading.Thread):
    """Ends one node and brings it back, in turn, for as long as it is told."""

    def __init__(self, running, pause):
        super().__init__()
        self.running, self.pause = running, pause
        self.enough = threading.Event()
        self.ends = 0
        self.failure = None

    def run(self):
        cluster = self.running.cluster
        try:
            for turn in itertools.count():
                if self.enough.wait(self.pause):
                    return
                node = f"node-{turn % 3 + 1}"
                if turn % 2:
                    self.running.call(cluster.stop_node(node))
                else:
                    self.running.do(lambda node=node: cluster.kill(node))
                self.ends += 1
                self.enough.wait(self.pause)
                self.running.call(cluster.restart(node))
        except BaseException as failure:
            self.failure = failure


class Counter:
    """What may be read of one item: numbers whose writes were acknowledged, or may have happened."""

    def __init__(self):
        self.acknowledged, self.attempted = 0, 0

    def may_be(self, number, *, strongly):
        return (self.acknowledged if strongly else 0) <= number <= self.attempted


def work(run, counters, seconds):
    """Write and read; how many requests succeeded, and how many of each error there were."""
    rng = random.Random(1)
    succeeded, errors = 0, {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        index = rng.randrange(len(counters))
        counter, key = counters[index], {"pk": {"S": f"counter-{index}"}}
        kind = rng.choice(("write", "read", "read", "read strongly"))
        if kind == "write":
            counter.attempted += 1
            request = (
                "PutItem",
                {"TableName": "counters", "Item": {**key, "n": {"N": str(counter.attempted)}}},
            )
        else:
            request = (
                "GetItem",
                {"TableName": "counters", "Key": key, "ConsistentRead": kind == "read strongly"},
            )
        try:
            outcome = run(*request)
        except OSError as failure:
            outcome = {"error": {"code": None, "message": str(failure)}}
        if "error" in outcome:
            code = outcome["error"]["code"]
            assert code in ACCEPTED_ERRORS, outcome
            errors[code] = errors.get(code, 0) + 1
            time.sleep(0.05)
            continue
        succeeded += 1
        if kind == "write":
            counter.acknowledged = counter.attempted
        else:
            number = int(outcome["response"].get("Item", {"n": {"N": "0"}})["n"]["N"])
            assert counter.may_be(number, strongly=kind == "read strongly"), (kind, number, vars(counter))
    return succeeded, errors


def disturb(start_cluster, dax_driver, seconds, pause, monkeypatch):
    monkeypatch.setenv("DAX_TIMEOUT_MS", "2000")
    _, driver = dax_driver
    running = start_cluster(nodes=3, failover_delay=0.2)
    running.store("CreateTable", TABLE)
    disturber, counters = Disturber(running, pause), [Counter() for _ in range(5)]
    with driver(f"dax://{running.address}") as run:
        disturber.start()
        try:
            succeeded, errors = work(run, counters, seconds)
        finally:
            disturber.enough.set()
            disturber.join(30)
        assert disturber.failure is None
        print(f"{succeeded} succeeded, errors {errors}, {disturber.ends} ends of nodes")
        assert disturber.ends >= 1
        recovered, _ = work(run, counters, 6)
    assert succeeded > 20
    assert recovered > 20


@pytest.mark.slow
def test_for_a_minute(start_cluster, dax_driver, monkeypatch):
    disturb(start_cluster, dax_driver, 60, 3.0, monkeypatch)
