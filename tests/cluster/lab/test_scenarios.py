"""Every story, on both runtimes; and every verdict, made to fail by taking away what its story depends on."""

from __future__ import annotations

import pytest

from cluster.lab.history import STORE, History
from cluster.lab.run import play_live, play_simulated, simulated_program
from cluster.lab.scenarios import STORIES, story
from cluster.lab.story import Changes
from cluster.runtime.live import run
from cluster.runtime.simulated import check

NAMES = [one.name for one in STORIES]


def contradictions(outcome):
    return [finding for finding in outcome.findings if not finding.holds]


def test_there_are_thirteen_with_names_of_their_own():
    assert len(set(NAMES)) == 13
    with pytest.raises(LookupError, match="no story 'nonesuch'; there are product-catalogue, "):
        story("nonesuch")


@pytest.mark.sim
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [1, 7, 8, 1234])
def test_a_story_passes_in_the_simulation(name, seed):
    outcome = play_simulated(story(name), seed)
    assert contradictions(outcome) == []
    assert outcome.passed


@pytest.mark.live
@pytest.mark.parametrize("name", NAMES)
async def test_a_story_passes_live(name):
    outcome = await play_live(story(name))
    assert contradictions(outcome) == []
    assert outcome.passed


@pytest.mark.live
@pytest.mark.parametrize("name", NAMES)
def test_both_runtimes_tell_the_same_story(name):
    """The same operations, answered by the same nodes from the same sources, with the same items."""

    def told(history):
        return sorted(
            (o.client, o.operation, o.through, o.outcome, o.served_from, o.miss, o.error, str(o.item))
            for o in history.operations()
            # Who of two racing administrators is refused is chance, in both runtimes.
            if not o.client.startswith("admin")
        )

    live, simulated = run(play_live(story(name))), play_simulated(story(name), 7)
    assert told(live.history) == told(simulated.history)
    assert [f.holds for f in live.findings] == [f.holds for f in simulated.findings]


@pytest.mark.sim
@pytest.mark.parametrize("name", NAMES)
def test_a_seed_gives_one_history_byte_for_byte(name):
    history = check(7, _encoded(name))
    assert history == play_simulated(story(name), 7).history.encode()
    assert History.decode(history).encode() == history


def _encoded(name):
    program = simulated_program(story(name), Changes())

    async def encoded(simulation):
        return (await program(simulation)).history.encode()

    return encoded


@pytest.mark.sim
@pytest.mark.parametrize("name", NAMES)
def test_a_verdict_is_computed_from_the_written_history_alone(name):
    told = story(name)
    outcome = play_simulated(told, 7)
    assert tuple(told.judge(History.decode(outcome.history.encode()))) == outcome.findings


def unconditional(client, operation, request):
    """An update without its condition, as of someone who does not know better."""
    if operation != "UpdateItem" or "ConditionExpression" not in request:
        return request
    values = {n: v for n, v in request["ExpressionAttributeValues"].items() if n != ":current"}
    kept = {n: v for n, v in request.items() if n != "ConditionExpression"}
    return {**kept, "ExpressionAttributeValues": values}


def eventually(client, operation, request):
    """A read without ConsistentRead."""
    return {name: value for name, value in request.items() if name != "ConsistentRead"}


# What each story depends on, and a part of the claim that then fails.
TAKEN_AWAY = [
    ("product-catalogue", Changes(settings={"item_ttl": 300}), "answered by the item cache, from an entry"),
    ("product-catalogue", Changes(reroute={"warehouse": STORE}), "sees #4"),
    ("two-nodes-disagree", Changes(reroute={"bob": "node-1"}), "disagree"),
    ("two-nodes-disagree", Changes(without=frozenset({"advance"})), "agree"),
    ("write-around", Changes(reroute={"bob": "node-1"}), "does not see #4"),
    ("write-around", Changes(settings={"item_ttl": 1000}), "its entry has expired"),
    ("query-update-query", Changes(settings={"query_ttl": 0}), "answered by the query cache"),
    ("query-update-query", Changes(without=frozenset({"advance"})), "lists RevisionNumber 5, 6, 20"),
    ("missing-high-score", Changes(settings={"query_ttl": 0}), "lists TopScore 5842, 1000"),
    ("missing-high-score", Changes(settings={"query_ttl": 1000}), "lists TopScore 5842, 9999"),
    ("negative-entry", Changes(reroute={"importer": "node-1"}), "finds no item"),
    ("negative-entry", Changes(settings={"item_ttl": 1000}), "its entry has expired"),
    ("strong-read", Changes(tamper=eventually), "passes through to the store"),
    ("strong-read", Changes(reroute={"bank": "node-1"}), "does not see"),
    ("scan-does-not-warm", Changes(settings={"query_ttl": 0}), "answered by the query cache"),
    ("scan-does-not-warm", Changes(settings={"item_cache_bytes": 1}), "answered by the item cache"),
    ("failed-write", Changes(without=frozenset({"throttle_store"})), "played to its end"),
    ("transactional-write", Changes(settings={"transaction_refresh_delay": 3600}), "returns Coins=7"),
    ("transactional-write", Changes(settings={"item_cache_bytes": 1}), "answered by the item cache"),
    ("zero-ttl", Changes(settings={"item_ttl": 300}), "from an entry at least 365 days old"),
    ("zero-ttl", Changes(settings={"query_ttl": 300}), "lists Currency EUR"),
    ("bulk-load", Changes(settings={"item_cache_bytes": 64 * 1024 * 1024}), "all of it has been evicted"),
    ("bulk-load", Changes(reroute={"loader-around": "node-1"}), "all of it is a hit"),
    ("singleton-settings", Changes(tamper=unconditional), "no update is lost"),
    ("singleton-settings", Changes(settings={"item_cache_bytes": 1}), "all reads of the hot key"),
]


@pytest.mark.sim
@pytest.mark.parametrize(("name", "changes", "claim"), TAKEN_AWAY)
def test_without_what_it_depends_on_the_verdict_fails_and_says_why(name, changes, claim):
    outcome = play_simulated(story(name), 7, changes)
    assert not outcome.passed
    broken = [finding for finding in contradictions(outcome) if claim in finding.claim]
    assert broken, [finding.claim for finding in contradictions(outcome)]
    assert all(finding.evidence for finding in broken)


@pytest.mark.live
async def test_a_verdict_can_fail_live_too():
    outcome = await play_live(story("two-nodes-disagree"), Changes(settings={"replication_delay": 0}))
    assert [finding.claim for finding in contradictions(outcome)] == [
        "#7 (bob's GetItem) does not see #5 (alice's UpdateItem)",
        "#6 (alice's GetItem) and #7 (bob's GetItem) disagree",
    ]


def test_every_story_has_something_taken_away():
    assert {name for name, _, _ in TAKEN_AWAY} == set(NAMES)
