"""TTL 0 means for ever in the item cache, and never in the query cache."""

from __future__ import annotations

from collections.abc import Iterator

from cluster.lab.history import STORE as THE_STORE
from cluster.lab.history import History
from cluster.lab.story import Stage, Story
from cluster.lab.verdict import ITEM_CACHE, STORE, Finding, listed, served, stale

YEAR = 365 * 24 * 3600
KEY = {"Country": {"S": "IS"}}


async def play(stage: Stage) -> None:
    await stage.table("Countries", "Country:S", items=[{**KEY, "Currency": {"S": "ISK"}}])
    app = stage.client("app", through="node-1")
    editor = stage.client("editor", through=THE_STORE)

    await app.get_item(TableName="Countries", Key=KEY)
    await app.scan(TableName="Countries")
    await editor.put_item(TableName="Countries", Item={**KEY, "Currency": {"S": "EUR"}})
    await app.scan(TableName="Countries")
    stage.say("A year passes.")
    await stage.advance(YEAR)
    await app.get_item(TableName="Countries", Key=KEY)


def judge(history: History) -> Iterator[Finding]:
    _, a_year_later = history.of("app", "GetItem")
    first, second = history.of("app", "Scan")
    (write,) = history.of("editor", "PutItem")
    yield served(first, STORE, miss="not-cacheable")
    yield listed(first, "Currency", ["ISK"])
    yield served(second, STORE, miss="not-cacheable")
    yield listed(second, "Currency", ["EUR"])
    yield served(a_year_later, ITEM_CACHE, age_at_least=YEAR)
    yield stale(a_year_later, write, "Currency")


STORY = Story(
    name="zero-ttl",
    title="Item TTL 0 and query TTL 0",
    lesson="Item TTL 0: entries never expire. Query TTL 0: results are not cached at all.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAX.cluster-management.html",
    settings={"item_ttl": 0, "query_ttl": 0},
    play=play,
    judge=judge,
)
