"""One user writes through the cache and another around it."""

from __future__ import annotations

from collections.abc import Iterator

from cluster.lab.history import STORE as THE_STORE
from cluster.lab.history import History
from cluster.lab.story import Stage, Story
from cluster.lab.verdict import ITEM_CACHE, STORE, Finding, disagree, fresh, served, stale

KEY = {"Id": {"N": "101"}}


async def play(stage: Stage) -> None:
    await stage.table("ProductCatalog", "Id:N")
    alice = stage.client("alice", through="node-1")
    bob = stage.client("bob", through=THE_STORE)

    stage.say("Alice writes through the cluster, Bob writes to DynamoDB directly.")
    await alice.put_item(TableName="ProductCatalog", Item={**KEY, "Price": {"N": "500"}})
    await alice.get_item(TableName="ProductCatalog", Key=KEY)
    await bob.put_item(TableName="ProductCatalog", Item={**KEY, "Price": {"N": "450"}})
    await alice.get_item(TableName="ProductCatalog", Key=KEY)
    await bob.get_item(TableName="ProductCatalog", Key=KEY)
    await stage.advance(301)
    await alice.get_item(TableName="ProductCatalog", Key=KEY)


def judge(history: History) -> Iterator[Finding]:
    (through,) = history.of("alice", "PutItem")
    (around,) = history.of("bob", "PutItem")
    own, old, new = history.of("alice", "GetItem")
    (direct,) = history.of("bob", "GetItem")
    yield fresh(own, through, "Price")
    yield stale(old, around, "Price")
    yield served(old, ITEM_CACHE)
    yield fresh(direct, around, "Price")
    yield disagree(old, direct, "Price")
    yield served(new, STORE, miss="expired")
    yield fresh(new, around, "Price")


STORY = Story(
    name="write-around",
    title="Alice writes through the cache, Bob around it",
    lesson="The cache does not notice what is written around it: it stays old until the TTL ends.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAX.consistency.html",
    play=play,
    judge=judge,
)
