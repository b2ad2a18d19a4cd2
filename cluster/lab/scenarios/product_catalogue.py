"""A cached 42 becomes 41 because the write goes through the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from cluster.lab.history import History
from cluster.lab.story import Stage, Story
from cluster.lab.verdict import ITEM_CACHE, STORE, Finding, fresh, returned, served

KEY = {"Id": {"N": "101"}}


async def play(stage: Stage) -> None:
    await stage.table(
        "ProductCatalog", "Id:N", items=[{**KEY, "Title": {"S": "Bicycle"}, "QuantityOnHand": {"N": "42"}}]
    )
    shop = stage.client("shop", through="node-2")
    warehouse = stage.client("warehouse", through="node-3")

    await shop.get_item(TableName="ProductCatalog", Key=KEY)
    await stage.advance(180)
    stage.say("Three minutes later one bicycle is sold. The warehouse writes through the cluster.")
    await warehouse.update_item(
        TableName="ProductCatalog",
        Key=KEY,
        UpdateExpression="SET QuantityOnHand = QuantityOnHand - :sold",
        ExpressionAttributeValues={":sold": {"N": "1"}},
        ReturnValues="UPDATED_NEW",
    )
    await stage.settle()
    await shop.get_item(TableName="ProductCatalog", Key=KEY)
    await stage.advance(590)
    stage.say("The ten minutes of the TTL count from the write, and are not over yet.")
    await shop.get_item(TableName="ProductCatalog", Key=KEY)


def judge(history: History) -> Iterator[Finding]:
    first, second, third = history.of("shop", "GetItem")
    (sale,) = history.of("warehouse", "UpdateItem")
    yield served(first, STORE, miss="never-seen")
    yield returned(first, "QuantityOnHand", 42)
    yield fresh(second, sale, "QuantityOnHand")
    yield served(second, ITEM_CACHE)
    yield returned(third, "QuantityOnHand", 41)
    yield served(third, ITEM_CACHE, age_at_least=590)


STORY = Story(
    name="product-catalogue",
    title="A product's stock, read through the cache and updated through the cache",
    lesson="A write through the cluster updates the cached item, whatever is left of its TTL.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAX.consistency.html",
    settings={"item_ttl": 600},
    play=play,
    judge=judge,
)
