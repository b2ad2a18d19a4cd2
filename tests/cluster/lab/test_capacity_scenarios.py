"""The stories about capacity: both runtimes, the same bytes for a seed, and every verdict made to fail."""

from __future__ import annotations

import pytest

from cluster.lab.history import History
from cluster.lab.run import play_live, play_simulated, simulated_program
from cluster.lab.scenarios import CAPACITY_STORIES, split_for_heat, story
from cluster.lab.story import CAPACITY, Changes
from cluster.runtime.simulated import check

NAMES = [one.name for one in CAPACITY_STORIES]


def contradictions(outcome):
    return [finding for finding in outcome.findings if not finding.holds]


def test_there_are_eight_of_one_group():
    assert len(set(NAMES)) == 8
    assert {one.group for one in CAPACITY_STORIES} == {CAPACITY}


@pytest.mark.sim
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [1, 7, 1234])
def test_a_story_passes_in_the_simulation(name, seed):
    outcome = play_simulated(story(name), seed)
    assert contradictions(outcome) == []
    assert outcome.passed


# A limit of a second is one of the clock: where a story counts them, a slow machine may see one more.
@pytest.mark.live
@pytest.mark.parametrize("name", ["scan-eats-reads", "index-write-cost", "stale-store", "write-sharding"])
async def test_a_story_passes_live(name):
    outcome = await play_live(story(name))
    assert contradictions(outcome) == []
    assert outcome.passed


@pytest.mark.live
async def test_the_reason_of_a_throttling_is_recorded_live_too():
    outcome = await play_live(story("hot-partition"))
    refused = [o for o in outcome.history.of("shop", "UpdateItem") if o.outcome == "fail"]
    assert {o.reason for o in refused} == {"TableWriteKeyRangeThroughputExceeded"}


@pytest.mark.live
async def test_a_hot_item_collection_is_split_and_served_live_too():
    outcome = await play_live(story("split-for-heat"))
    assert {finding.claim for finding in contradictions(outcome)} <= {
        "sorted by time: no second gives more than 1,000 units",
        "sorted by time, the same load is throttled to the end",
    }


@pytest.mark.sim
@pytest.mark.parametrize("name", NAMES)
def test_a_seed_gives_one_history_byte_for_byte(name):
    program = simulated_program(story(name), Changes())

    async def encoded(simulation):
        return (await program(simulation)).history.encode()

    history = check(7, encoded)
    assert History.decode(history).encode() == history
    assert tuple(story(name).judge(History.decode(history))) == play_simulated(story(name), 7).findings


def without_index_keys(client, operation, request):
    """An update that leaves the index keys alone."""
    if operation != "UpdateItem":
        return request
    return {
        **request,
        "UpdateExpression": "SET Stock = :n",
        "ExpressionAttributeValues": {":n": {"N": "1"}},
    }


def strongly(client, operation, request):
    """Consistent reads only."""
    return {**request, "ConsistentRead": True} if operation == "GetItem" else request


def unsharded(client, operation, request):
    """All orders under one key after all."""
    member = {"PutItem": "Item", "UpdateItem": "Key"}.get(operation)
    if member is None:
        return request
    return {**request, member: {**request[member], "Status": {"S": "PENDING#0"}}}


def by_id_after_all(client, operation, request):
    """Orders that are sorted by their ids in both tables."""
    if operation != "PutItem" or client != "ByTime":
        return request
    number = int(request["Item"]["Order"]["S"].rpartition(":")[2])
    return {**request, "Item": {**request["Item"], "Order": {"S": split_for_heat.sort_key("ById", number)}}}


def one_partition_key(client, operation, request):
    """Every message belongs to one user."""
    if operation != "BatchWriteItem":
        return request
    ((table, puts),) = request["RequestItems"].items()
    users = {"U1": 0, "U2": 100, "U4": 200}
    moved = []
    for one in puts:
        item = one["PutRequest"]["Item"]
        number = int(item["MessageID"]["N"]) + users.get(item["UserID"]["S"], 0)
        moved.append(
            {"PutRequest": {"Item": {**item, "UserID": {"S": "X"}, "MessageID": {"N": str(number)}}}}
        )
    return {**request, "RequestItems": {table: moved}}


# What each story depends on, and a part of the claim that then fails.
TAKEN_AWAY = [
    ("hot-partition", Changes(settings={"throttling": False}), "PENDING: some are throttled"),
    ("hot-partition", Changes(settings={"throttling": False}), "no second gives more than 1,000"),
    ("hot-partition", Changes(settings={"throttling": False}), "less than 25%"),
    ("write-sharding", Changes(tamper=unsharded), "the same load: none is throttled"),
    ("write-sharding", Changes(tamper=unsharded), "more in a second than one partition"),
    (
        "split-for-heat",
        Changes(settings={"split_for_heat": False, "heat_seconds": 300.0}),
        "once the seller's",
    ),
    ("split-for-heat", Changes(settings={"heat_seconds": 300.0}), "more in a second than one partition"),
    ("split-for-heat", Changes(tamper=by_id_after_all), "sorted by time, the same load is throttled"),
    ("split-for-heat", Changes(tamper=by_id_after_all), "no second gives more than 1,000"),
    ("scan-eats-reads", Changes(settings={"throttling": False}), "is refused with Provisioned"),
    ("scan-eats-reads", Changes(without=frozenset({"advance"})), "played to its end"),
    ("hot-item", Changes(settings={"throttling": False}), "at the store: some are throttled"),
    ("hot-item", Changes(reroute={"cached-shop": "store"}), "through the cache: none is throttled"),
    ("hot-item", Changes(settings={"item_cache_bytes": 1}), "the cache absorbed the others"),
    ("upload-order", Changes(settings={"throttling": False}), "in key order every user's partition"),
    ("upload-order", Changes(settings={"throttling": False}), "takes half as long"),
    ("index-write-cost", Changes(tamper=without_index_keys), "costs 7 units"),
    ("index-write-cost", Changes(tamper=without_index_keys), "a million updates"),
    ("stale-store", Changes(settings={"stale_reads": 0}), "does not see #3"),
    ("stale-store", Changes(settings={"stale_reads": 600}), "sees #3"),
    ("stale-store", Changes(tamper=strongly), "is answered by the item cache"),
    ("stale-store", Changes(reroute={"alice": "node-1"}), "never had an entry"),
]


@pytest.mark.sim
@pytest.mark.parametrize(("name", "changes", "claim"), TAKEN_AWAY)
def test_without_what_it_depends_on_the_verdict_fails_and_says_why(name, changes, claim):
    outcome = play_simulated(story(name), 7, changes)
    assert not outcome.passed
    broken = [finding for finding in contradictions(outcome) if claim in finding.claim]
    assert broken, [finding.claim for finding in contradictions(outcome)]
    assert all(finding.evidence for finding in broken)


def test_every_story_has_something_taken_away():
    assert {name for name, _, _ in TAKEN_AWAY} == set(NAMES)


@pytest.mark.sim
def test_one_user_makes_the_interleaved_upload_throttle():
    outcome = play_simulated(story("upload-order"), 7, Changes(tamper=one_partition_key))
    assert not outcome.passed
