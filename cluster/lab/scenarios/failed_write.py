"""A write that DynamoDB refuses, throttled or on its condition, leaves the cache untouched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from backend.errors import ServiceError
from cluster.lab.client import Client
from cluster.lab.history import History
from cluster.lab.story import Stage, Story
from cluster.lab.verdict import ITEM_CACHE, Finding, fresh, refused, returned, served

KEY = {"OrderId": {"S": "o-17"}}


async def set_state(client: Client, state: str, *, expected: str) -> None:
    await client.put_item(
        TableName="Orders",
        Item={**KEY, "State": {"S": state}},
        ConditionExpression="#state = :expected",
        ExpressionAttributeNames={"#state": "State"},
        ExpressionAttributeValues={":expected": {"S": expected}},
    )


async def play(stage: Stage) -> None:
    await stage.table("Orders", "OrderId:S", items=[{**KEY, "State": {"S": "placed"}}])
    desk = stage.client("desk", through="node-1")

    await desk.get_item(TableName="Orders", Key=KEY)
    stage.throttle_store(writes=1)
    with suppress(ServiceError):
        await set_state(desk, "shipped", expected="placed")
    await desk.get_item(TableName="Orders", Key=KEY)
    stage.say("The store takes writes again. This one expects a state that the order is not in.")
    with suppress(ServiceError):
        await set_state(desk, "returned", expected="delivered")
    await desk.get_item(TableName="Orders", Key=KEY)
    await set_state(desk, "shipped", expected="placed")
    await desk.get_item(TableName="Orders", Key=KEY)


def judge(history: History) -> Iterator[Finding]:
    throttled, unmet, accepted = history.of("desk", "PutItem")
    _, after_throttling, after_condition, after_success = history.of("desk", "GetItem")
    yield refused(throttled, "ProvisionedThroughputExceededException")
    yield served(after_throttling, ITEM_CACHE)
    yield returned(after_throttling, "State", "placed")
    yield refused(unmet, "ConditionalCheckFailedException")
    yield served(after_condition, ITEM_CACHE)
    yield returned(after_condition, "State", "placed")
    yield served(after_success, ITEM_CACHE)
    yield fresh(after_success, accepted, "State")


STORY = Story(
    name="failed-write",
    title="A failed write leaves the cache untouched",
    lesson="The cache holds only what the store has accepted; the error reaches whoever wrote.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAX.consistency.html",
    play=play,
    judge=judge,
)
