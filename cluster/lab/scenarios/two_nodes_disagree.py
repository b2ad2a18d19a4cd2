"""Two nodes of one cluster answer differently until replication catches up."""

from __future__ import annotations

from collections.abc import Iterator

from cluster.lab.history import History
from cluster.lab.story import Stage, Story
from cluster.lab.verdict import ITEM_CACHE, Finding, agree, disagree, fresh, served, stale

KEY = {"Id": {"N": "7"}}


async def play(stage: Stage) -> None:
    await stage.table("Tickets", "Id:N", items=[{**KEY, "Status": {"S": "open"}}])
    alice = stage.client("alice", through="node-1")
    bob = stage.client("bob", through="node-2")

    await alice.get_item(TableName="Tickets", Key=KEY)
    await stage.advance(60)
    await bob.get_item(TableName="Tickets", Key=KEY)
    stage.say("Both nodes hold the ticket. Replication takes ten seconds here, so that it can be watched.")
    await alice.update_item(
        TableName="Tickets",
        Key=KEY,
        UpdateExpression="SET #status = :closed",
        ExpressionAttributeNames={"#status": "Status"},
        ExpressionAttributeValues={":closed": {"S": "closed"}},
        ReturnValues="UPDATED_NEW",
    )
    await alice.get_item(TableName="Tickets", Key=KEY)
    await bob.get_item(TableName="Tickets", Key=KEY)
    await stage.advance(11)
    await bob.get_item(TableName="Tickets", Key=KEY)


def judge(history: History) -> Iterator[Finding]:
    (write,) = history.of("alice", "UpdateItem")
    alice = history.of("alice", "GetItem")[-1]
    _, before, after = history.of("bob", "GetItem")
    yield fresh(alice, write, "Status")
    yield stale(before, write, "Status")
    yield served(before, ITEM_CACHE)
    yield disagree(alice, before, "Status")
    yield served(after, ITEM_CACHE)
    yield agree(alice, after, "Status")


STORY = Story(
    name="two-nodes-disagree",
    title="Two nodes disagree until replication catches up",
    lesson="Item caches are replicated with eventual consistency: what you read depends on the node you ask.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAX.consistency.html",
    settings={"replication_delay": 10},
    play=play,
    judge=judge,
)
