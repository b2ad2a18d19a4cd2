"""One seller's orders are more than a partition takes: split by sort key they are served, unless by time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backend.errors import ServiceError
from cluster.lab.client import Client
from cluster.lab.history import STORE, History, Operation
from cluster.lab.story import CAPACITY, Stage, Story
from cluster.lab.units import (
    PARTITION_WRITE_UNITS,
    at_most_each_second,
    consumed,
    none_refused,
    some_throttled,
)
from cluster.lab.verdict import Finding

HEAT_SECONDS = 2.0
"""The service takes minutes."""
ORDERS, SECONDS, SPLIT_AFTER = 5, 6, 3
"""Each second five orders; after three seconds two have been measured whole."""
TEXT = "x" * 245_000
"""An order costs 240 units: four fit into a second of one partition, all five into one of two."""


def sort_key(table: str, number: int) -> str:
    """The order's random id, or when it came."""
    return f"{number * 7919 % 10007:05}" if table == "ById" else f"12:00:{number:02}"


async def place(client: Client, number: int) -> None:
    """Write one order, without trying again."""
    key = {"Seller": {"S": "S1"}, "Order": {"S": sort_key(client.name, number)}}
    try:
        await client.put_item(
            TableName=client.name, Item={**key, "Text": {"S": TEXT}}, ReturnConsumedCapacity="TOTAL"
        )
    except ServiceError as refusal:
        if refusal.code != "ProvisionedThroughputExceededException":
            raise


async def play(stage: Stage) -> None:
    for table in ("ById", "ByTime"):
        await stage.table(table, "Seller:S", "Order:S", throughput=(100, 3000))
        client = stage.client(table, through=STORE)
        stage.say(f"Each second {ORDERS} orders of one seller, 1,200 units, go to {table}.")
        for second in range(SECONDS):
            await stage.advance(1)
            for number in range(second * ORDERS, (second + 1) * ORDERS):
                await place(client, number)


def judge(history: History) -> Iterator[Finding]:
    by_id, by_time = history.of("ById"), history.of("ByTime")
    split = by_id[SPLIT_AFTER * ORDERS :]
    yield some_throttled(by_id, "TableWriteKeyRangeThroughputExceeded", "sorted by id, at first")
    yield none_refused(split, "once the seller's orders are split by their ids")
    units = sum(map(consumed, split)) / (SECONDS - SPLIT_AFTER)
    yield Finding(
        units > PARTITION_WRITE_UNITS,
        "the seller then gets more in a second than one partition could give",
        f"it was {units:,.0f} units a second",
    )
    yield _throttled_to_the_end(by_time)
    yield at_most_each_second(by_time, PARTITION_WRITE_UNITS, "sorted by time")


def _throttled_to_the_end(orders: Sequence[Operation]) -> Finding:
    """A new order is always behind all others: no cut between old ones helps."""
    seconds = [orders[start : start + ORDERS] for start in range(0, len(orders), ORDERS)]
    throttled = sum(any(order.outcome != "ok" for order in second) for second in seconds)
    return Finding(
        throttled == len(seconds) > 0,
        "sorted by time, the same load is throttled to the end",
        f"orders were refused in {throttled} of {len(seconds)} seconds",
    )


STORY = Story(
    name="split-for-heat",
    title="A hot item collection is split by its sort key, and under time-ordered sort keys it is not",
    lesson="Splitting helps load that is spread over the sort keys: if all writes are newest, shard the key.",
    source="https://aws.amazon.com/blogs/database/"
    "part-2-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/",
    settings={"throttling": True, "heat_seconds": HEAT_SECONDS},
    play=play,
    judge=judge,
    group=CAPACITY,
)
