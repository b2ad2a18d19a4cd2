"""A Scan reads every item, and the item cache is as empty as before."""

from __future__ import annotations

from collections.abc import Iterator

from cluster.lab.history import History
from cluster.lab.story import Stage, Story
from cluster.lab.verdict import ITEM_CACHE, QUERY_CACHE, STORE, Finding, returned, same_result, served

KEY = {"Id": {"N": "3"}}


async def play(stage: Stage) -> None:
    await stage.table(
        "Products", "Id:N", items=[{"Id": {"N": str(n)}, "Price": {"N": str(10 * n)}} for n in range(1, 6)]
    )
    app = stage.client("app", through="node-1")

    stage.say("The application scans its table at the start, in the hope of a warm cache.")
    await app.scan(TableName="Products")
    await app.get_item(TableName="Products", Key=KEY)
    await app.get_item(TableName="Products", Key=KEY)
    await app.scan(TableName="Products")


def judge(history: History) -> Iterator[Finding]:
    scan, again = history.of("app", "Scan")
    cold, warm = history.of("app", "GetItem")
    yield served(scan, STORE, miss="never-seen")
    yield served(cold, STORE, miss="never-seen")
    yield returned(cold, "Price", 30)
    yield served(warm, ITEM_CACHE)
    yield served(again, QUERY_CACHE)
    yield same_result(scan, again)


STORY = Story(
    name="scan-does-not-warm",
    title="A Scan does not warm the item cache",
    lesson="Query and Scan fill the query cache only; items are cached by GetItem, BatchGetItem and writes.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAX.consistency.html",
    play=play,
    judge=judge,
)
