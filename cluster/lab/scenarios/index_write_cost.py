"""What three global indexes add to the price of a write, and that an update of their keys pays twice."""

from __future__ import annotations

from collections.abc import Iterator

from cluster.lab.client import Client
from cluster.lab.history import STORE, History
from cluster.lab.story import CAPACITY, Stage, Story
from cluster.lab.units import consumed, costs, price_of_writes
from cluster.lab.verdict import Finding

INDEXES = {"by-colour": "Colour:S", "by-fit": "Fit:S", "by-shop": "Shop:S"}


async def write(client: Client, table: str) -> None:
    """Put an item of less than 1 KB, change its index keys, change them to the same, change another
    attribute."""
    key = {"Sku": {"S": "shirt"}}
    item = {"Colour": {"S": "red"}, "Fit": {"S": "M"}, "Shop": {"S": "Bern"}, "Text": {"S": "x" * 500}}
    await client.put_item(TableName=table, Item={**key, **item}, ReturnConsumedCapacity="INDEXES")
    for _ in range(2):
        await client.update_item(
            TableName=table,
            Key=key,
            UpdateExpression="SET Colour = :c, Fit = :s, Shop = :h",
            ExpressionAttributeValues={":c": {"S": "blue"}, ":s": {"S": "L"}, ":h": {"S": "Basel"}},
            ReturnConsumedCapacity="INDEXES",
        )
    await client.update_item(
        TableName=table,
        Key=key,
        UpdateExpression="SET Stock = :n",
        ExpressionAttributeValues={":n": {"N": "4"}},
        ReturnConsumedCapacity="INDEXES",
    )


async def play(stage: Stage) -> None:
    await stage.table("Plain", "Sku:S")
    await stage.table("Indexed", "Sku:S", indexes=INDEXES)
    await write(stage.client("plain", through=STORE), "Plain")
    await write(stage.client("indexed", through=STORE), "Indexed")


def judge(history: History) -> Iterator[Finding]:
    for operation in history.of("plain"):
        yield costs(operation, 1, "the item alone")
    put, moved, unchanged, touched = history.of("indexed")
    yield costs(put, 4, "the item, and a row in each of three indexes")
    yield costs(moved, 7, "the item, and a delete and a put in each index whose key changes")
    yield costs(unchanged, 1, "no row changes, and no index is written")
    yield costs(touched, 4, "each index projects the attribute, and writes its row anew")
    price = price_of_writes(history)
    plain = history.of("plain")[1]
    dear, cheap = price.of(consumed(moved)), price.of(consumed(plain))
    yield Finding(
        dear == 7 * cheap,
        f"a million updates of three index keys cost ${dear:,.2f}, and ${cheap:,.2f} without indexes",
        f"at ${price.dollars:g} for a million write units ({price.since}; {price.source})",
    )


STORY = Story(
    name="index-write-cost",
    title="What global indexes add to the price of a write",
    lesson="Every index is written with its item; changing an index key is a delete and a put there.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html",
    play=play,
    judge=judge,
    group=CAPACITY,
)
