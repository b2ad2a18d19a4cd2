"""A bulk load through the cache evicts the hot set; one around the cache does not."""

from __future__ import annotations

from collections.abc import Iterator

from cluster.lab.client import Client
from cluster.lab.history import STORE as THE_STORE
from cluster.lab.history import History
from cluster.lab.story import Stage, Story
from cluster.lab.verdict import ITEM_CACHE, STORE, Finding, count_served, succeeded

HOT = [f"hot-{n}" for n in range(8)]
BATCH, BATCHES = 25, 6


def item(name: str) -> dict[str, dict[str, str]]:
    return {"Sku": {"S": name}, "Text": {"S": "x" * 600}}


async def load(client: Client, prefix: str) -> None:
    for batch in range(BATCHES):
        names = [f"{prefix}-{batch}-{n}" for n in range(BATCH)]
        await client.batch_write_item(
            RequestItems={"Catalogue": [{"PutRequest": {"Item": item(name)}} for name in names]}
        )


async def read_hot_set(client: Client) -> None:
    for name in HOT:
        await client.get_item(TableName="Catalogue", Key={"Sku": {"S": name}})


async def play(stage: Stage) -> None:
    await stage.table("Catalogue", "Sku:S", items=[item(name) for name in HOT])
    shop = stage.client("shop", through="node-1")

    await read_hot_set(shop)
    stage.say("150 items are loaded around the cache.")
    await load(stage.client("loader-around", through=THE_STORE), "around")
    await read_hot_set(shop)
    stage.say("150 items are loaded through the cache, which has room for some forty.")
    await load(stage.client("loader-through", through="node-1"), "through")
    await read_hot_set(shop)


def judge(history: History) -> Iterator[Finding]:
    reads = history.of("shop", "GetItem")
    warm_up, after_around, after_through = (reads[i : i + len(HOT)] for i in range(0, 3 * len(HOT), len(HOT)))
    yield count_served(warm_up, STORE, len(HOT), "the hot set is read from the store once")
    for batch in history.of("loader-around") + history.of("loader-through"):
        if batch.outcome != "ok":
            yield succeeded(batch)
    yield count_served(
        after_around, ITEM_CACHE, len(HOT), "after the load around the cache all of it is a hit"
    )
    evicted = [read for read in after_through if read.miss == "evicted"]
    yield count_served(
        evicted, STORE, len(HOT), "after the load through the cache all of it has been evicted"
    )


STORY = Story(
    name="bulk-load",
    title="A write-through bulk load evicts the hot set, write-around does not",
    lesson="Load in bulk around the cache: what is written through it takes the place of what is read.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAX.consistency.html",
    settings={"item_cache_bytes": 64 * 1024},
    play=play,
    judge=judge,
)
