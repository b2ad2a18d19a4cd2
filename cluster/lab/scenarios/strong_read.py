"""A strongly consistent read sees the new value, and leaves the cache as it was."""

from __future__ import annotations

from collections.abc import Iterator

from cluster.lab.history import STORE as THE_STORE
from cluster.lab.history import History
from cluster.lab.story import Stage, Story
from cluster.lab.verdict import ITEM_CACHE, PASS_THROUGH, Finding, disagree, fresh, served, stale

KEY = {"AccountId": {"S": "acct-1"}}


async def play(stage: Stage) -> None:
    await stage.table("Accounts", "AccountId:S", items=[{**KEY, "Balance": {"N": "100"}}])
    teller = stage.client("teller", through="node-2")
    bank = stage.client("bank", through=THE_STORE)

    await teller.get_item(TableName="Accounts", Key=KEY)
    await bank.put_item(TableName="Accounts", Item={**KEY, "Balance": {"N": "60"}})
    stage.say("The teller asks with ConsistentRead, and then without it again.")
    await teller.get_item(TableName="Accounts", Key=KEY, ConsistentRead=True)
    await teller.get_item(TableName="Accounts", Key=KEY)


def judge(history: History) -> Iterator[Finding]:
    _, strong, eventual = history.of("teller", "GetItem")
    (write,) = history.of("bank", "PutItem")
    yield served(strong, PASS_THROUGH)
    yield fresh(strong, write, "Balance")
    yield served(eventual, ITEM_CACHE)
    yield stale(eventual, write, "Balance")
    yield disagree(strong, eventual, "Balance")


STORY = Story(
    name="strong-read",
    title="A strong read sees the new value and does not refresh the cache",
    lesson="ConsistentRead passes the cache by in both directions: it neither reads nor fills it.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAX.consistency.html",
    play=play,
    judge=judge,
)
