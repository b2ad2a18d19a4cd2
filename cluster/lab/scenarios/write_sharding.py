"""The load of the hot partition, its key spread over ten shards: nothing throttles, and reading asks ten
times."""

from __future__ import annotations

from collections.abc import Iterator

from cluster.lab.history import STORE, History
from cluster.lab.scenarios.hot_partition import ORDERS, READ, SECONDS, UPDATES, WRITE, order, touch
from cluster.lab.story import CAPACITY, Stage, Story
from cluster.lab.units import PARTITION_WRITE_UNITS, consumed, none_refused
from cluster.lab.verdict import Finding

SHARDS = 10


def shard(number: int) -> str:
    """The partition key of an order, computed from its id, so that it can be found again."""
    return f"PENDING#{number % SHARDS}"


async def play(stage: Stage) -> None:
    items = [order(shard(number), number) for number in range(ORDERS)]
    await stage.table("Orders", "Status:S", "OrderId:N", throughput=(READ, WRITE), items=items)
    shop = stage.client("shop", through=STORE)
    stage.say(f"Each second the shop writes {UPDATES} pending orders of 50 units, on ten shards.")
    for _ in range(SECONDS):
        await stage.advance(1)
        for number in range(UPDATES):
            await touch(shop, shard(number % ORDERS), number % ORDERS)
    stage.say("The pending orders are listed: one Query a shard.")
    for number in range(SHARDS):
        await shop.query(
            TableName="Orders",
            KeyConditionExpression="#s = :shard",
            ProjectionExpression="OrderId",
            ExpressionAttributeNames={"#s": "Status"},
            ExpressionAttributeValues={":shard": {"S": shard(number)}},
        )


def judge(history: History) -> Iterator[Finding]:
    writes, queries = history.of("shop", "UpdateItem"), history.of("shop", "Query")
    yield none_refused(writes, "the same load")
    units = sum(map(consumed, writes)) / SECONDS
    yield Finding(
        units > PARTITION_WRITE_UNITS,
        "the table gives more in a second than one partition could",
        f"it gave {units:,.0f} units a second",
    )
    found = sorted(item["OrderId"] for query in queries for item in query.items)
    yield Finding(
        found == list(range(ORDERS)) and len(queries) == SHARDS,
        f"{SHARDS} queries together list every pending order",
        f"{len(queries)} queries found {len(found)} orders",
    )


STORY = Story(
    name="write-sharding",
    title="The same load, write-sharded, throttles nowhere",
    lesson="A computed suffix on the partition key spreads a hot key; reading all of it asks every shard.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-sharding.html",
    settings={"throttling": True},
    play=play,
    judge=judge,
    group=CAPACITY,
)
