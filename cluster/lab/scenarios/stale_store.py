"""Two kinds of staleness: the store's own, of seconds, and the cache's, which keeps it for its TTL."""

from __future__ import annotations

from collections.abc import Iterator

from cluster.lab.history import STORE as THE_STORE
from cluster.lab.history import History
from cluster.lab.story import CAPACITY, Stage, Story
from cluster.lab.verdict import ITEM_CACHE, STORE, Finding, fresh, served, stale

LAG = 30.0
ASKED = {"TableName": "Prices", "Key": {"Sku": {"S": "shirt"}}}


async def play(stage: Stage) -> None:
    old = {"Sku": {"S": "shirt"}, "Price": {"N": "10"}}
    await stage.table("Prices", "Sku:S", items=[old])
    await stage.advance(2 * LAG)
    owner, bob = stage.client("alice", through=THE_STORE), stage.client("bob", through=THE_STORE)
    carol = stage.client("carol", through="node-1")

    stage.say("Alice changes the price; a replica of the store does not know it yet.")
    await owner.put_item(TableName="Prices", Item={**old, "Price": {"N": "12"}})
    await bob.get_item(**ASKED)
    await bob.get_item(**ASKED, ConsistentRead=True)
    stage.say("Carol's node has never seen the item: its miss reads the store, and caches what it gets.")
    await carol.get_item(**ASKED)
    await stage.advance(2 * LAG)
    stage.say("Every replica has the new price, and the cache has the old one.")
    await bob.get_item(**ASKED)
    await carol.get_item(**ASKED)
    await stage.advance(300)
    await carol.get_item(**ASKED)


def judge(history: History) -> Iterator[Finding]:
    (write,) = history.of("alice", "PutItem")
    at_once, strong, later = history.of("bob", "GetItem")
    miss, hit, refreshed = history.of("carol", "GetItem")
    yield stale(at_once, write, "Price")
    yield fresh(strong, write, "Price")
    yield served(miss, STORE, miss="never-seen")
    yield stale(miss, write, "Price")
    yield fresh(later, write, "Price")
    yield served(hit, ITEM_CACHE, age_at_least=2 * LAG)
    yield stale(hit, write, "Price")
    yield fresh(refreshed, write, "Price")


STORY = Story(
    name="stale-store",
    title="Store-side staleness, and the cache that keeps it",
    lesson="An eventually consistent miss can cache a state that was old already; it stays until its TTL.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.ReadConsistency.html",
    settings={"stale_reads": LAG},
    play=play,
    judge=judge,
    group=CAPACITY,
)
