"""A transaction is acknowledged first, and reaches the item cache in the background."""

from __future__ import annotations

from collections.abc import Iterator

from cluster.lab.history import History
from cluster.lab.story import Stage, Story
from cluster.lab.verdict import ITEM_CACHE, PASS_THROUGH, Finding, returned, served, succeeded

FROM = {"Wallet": {"S": "ann"}}
TO = {"Wallet": {"S": "ben"}}


async def play(stage: Stage) -> None:
    await stage.table(
        "Wallets", "Wallet:S", items=[{**FROM, "Coins": {"N": "10"}}, {**TO, "Coins": {"N": "0"}}]
    )
    app = stage.client("app", through="node-1")

    await app.get_item(TableName="Wallets", Key=FROM)
    await app.get_item(TableName="Wallets", Key=TO)
    stage.say(
        "Three coins change hands in one transaction. Its refresh waits ten seconds here, to be watched."
    )
    await app.transact_write_items(
        TransactItems=[
            {
                "Update": {
                    "TableName": "Wallets",
                    "Key": key,
                    "UpdateExpression": "ADD Coins :coins",
                    "ExpressionAttributeValues": {":coins": {"N": coins}},
                }
            }
            for key, coins in ((FROM, "-3"), (TO, "3"))
        ]
    )
    await app.get_item(TableName="Wallets", Key=FROM)
    await app.get_item(TableName="Wallets", Key=FROM, ConsistentRead=True)
    await stage.advance(11)
    await app.get_item(TableName="Wallets", Key=FROM)
    await app.get_item(TableName="Wallets", Key=TO)


def judge(history: History) -> Iterator[Finding]:
    (transaction,) = history.of("app", "TransactWriteItems")
    _, _, at_once, strong, sender, receiver = history.of("app", "GetItem")
    yield succeeded(transaction)
    yield served(at_once, ITEM_CACHE)
    yield returned(at_once, "Coins", 10)
    yield served(strong, PASS_THROUGH)
    yield returned(strong, "Coins", 7)
    yield served(sender, ITEM_CACHE)
    yield returned(sender, "Coins", 7)
    yield served(receiver, ITEM_CACHE)
    yield returned(receiver, "Coins", 3)


STORY = Story(
    name="transactional-write",
    title="A transactional write reaches the cache in the background",
    lesson="TransactWriteItems is answered before the cache knows of it; a read in between may be old.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAX.consistency.html",
    settings={"transaction_refresh_delay": 10},
    play=play,
    judge=judge,
)
