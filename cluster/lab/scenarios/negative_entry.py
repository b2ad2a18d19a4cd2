"""The cache remembers that an item does not exist, and goes on saying so."""

from __future__ import annotations

from collections.abc import Iterator

from cluster.lab.history import STORE as THE_STORE
from cluster.lab.history import History
from cluster.lab.story import Stage, Story
from cluster.lab.verdict import NEGATIVE_ENTRY, STORE, Finding, found_nothing, fresh, served, succeeded

KEY = {"UserName": {"S": "dana"}}


async def play(stage: Stage) -> None:
    await stage.table("Users", "UserName:S")
    signup = stage.client("signup", through="node-1")
    importer = stage.client("importer", through=THE_STORE)

    await signup.get_item(TableName="Users", Key=KEY)
    await signup.get_item(TableName="Users", Key=KEY)
    stage.say("An import creates the user around the cache.")
    await importer.put_item(TableName="Users", Item={**KEY, "Plan": {"S": "basic"}})
    await signup.get_item(TableName="Users", Key=KEY)
    await stage.advance(301)
    await signup.get_item(TableName="Users", Key=KEY)


def judge(history: History) -> Iterator[Finding]:
    first, second, hidden, found = history.of("signup", "GetItem")
    (creation,) = history.of("importer", "PutItem")
    yield found_nothing(first)
    yield served(first, STORE, miss="never-seen")
    yield served(second, NEGATIVE_ENTRY)
    yield succeeded(creation)
    yield found_nothing(hidden)
    yield served(hidden, NEGATIVE_ENTRY)
    yield served(found, STORE, miss="expired")
    yield fresh(found, creation, "Plan")


STORY = Story(
    name="negative-entry",
    title="A negative entry hides an item created around the cache",
    lesson="Absence is cached too, until the TTL ends or someone writes the item through the cluster.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAX.consistency.html",
    play=play,
    judge=judge,
)
