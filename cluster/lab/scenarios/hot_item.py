"""One item is read for more than 3,000 units a second: its partition throttles, and a cache absorbs it."""

from __future__ import annotations

from collections.abc import Iterator

from backend.errors import ServiceError
from cluster.lab.client import Client
from cluster.lab.history import STORE as THE_STORE
from cluster.lab.history import History
from cluster.lab.story import CAPACITY, Stage, Story
from cluster.lab.units import PARTITION_READ_UNITS, at_most_each_second, none_refused, some_throttled
from cluster.lab.verdict import ITEM_CACHE, STORE, Finding, count_served

READS = 90
TEXT = "x" * 400_000
"""An eventually consistent read costs 49 units."""


async def read(client: Client) -> None:
    for _ in range(READS):
        try:
            await client.get_item(
                TableName="Catalogue",
                Key={"Sku": {"S": "bestseller"}},
                ProjectionExpression="Price",
                ReturnConsumedCapacity="TOTAL",
            )
        except ServiceError as refusal:
            if refusal.code != "ThrottlingException":
                raise


async def play(stage: Stage) -> None:
    item = {"Sku": {"S": "bestseller"}, "Price": {"N": "20"}, "Text": {"S": TEXT}}
    await stage.table("Catalogue", "Sku:S", items=[item])
    await stage.advance(1)
    stage.say(f"{READS} reads of one item within a second, at the table store.")
    await read(stage.client("shop", through=THE_STORE))
    await stage.advance(1)
    stage.say("The same through the cache.")
    await read(stage.client("cached-shop", through="node-1"))


def judge(history: History) -> Iterator[Finding]:
    direct, cached = history.of("shop", "GetItem"), history.of("cached-shop", "GetItem")
    yield some_throttled(direct, "TableReadKeyRangeThroughputExceeded", "at the store")
    yield at_most_each_second(direct, PARTITION_READ_UNITS, "the item's partition")
    yield none_refused(cached, "through the cache")
    yield count_served(cached, STORE, 1, "one read went to the store")
    yield count_served(cached, ITEM_CACHE, READS - 1, "the cache absorbed the others")


STORY = Story(
    name="hot-item",
    title="A hot item above 3,000 units a second, absorbed by the cache",
    lesson="No key design spreads one item; a cache in front of the table answers for it.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAX.html",
    settings={"throttling": True},
    play=play,
    judge=judge,
    group=CAPACITY,
)
