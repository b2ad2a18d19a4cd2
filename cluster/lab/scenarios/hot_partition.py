"""All writes go to the orders that are PENDING: one partition throttles, and nine others idle."""

from __future__ import annotations

from collections.abc import Iterator

from backend.errors import ServiceError
from cluster.lab.client import Client
from cluster.lab.history import STORE, History
from cluster.lab.story import CAPACITY, Stage, Story
from cluster.lab.units import (
    PARTITION_WRITE_UNITS,
    at_most_each_second,
    none_refused,
    some_throttled,
    uses_share,
)
from cluster.lab.verdict import Finding

OTHERS = (
    "APPROVED",
    "STARTED",
    "PACKED",
    "HELD",
    "BACKORDERED",
    "RETURNED",
    "REPLACED",
    "CANCELLED",
    "ARCHIVED",
)
"""With PENDING, one for each of the ten partitions."""
READ, WRITE = 3000, 9000
"""Provisioned: ten partitions, by 3,000 reads and 1,000 writes each."""
ORDERS, UPDATES, SECONDS = 10, 36, 3
TEXT = "x" * 51_000
"""An order is 50 KB: each write of it costs 50 units."""


def order(status: str, number: int) -> dict[str, dict[str, str]]:
    return {"Status": {"S": status}, "OrderId": {"N": str(number)}, "Text": {"S": TEXT}}


async def touch(client: Client, status: str, number: int) -> None:
    """Write one order anew, without trying again."""
    try:
        await client.update_item(
            TableName="Orders",
            Key={"Status": {"S": status}, "OrderId": {"N": str(number)}},
            UpdateExpression="SET Seen = :yes",
            ExpressionAttributeValues={":yes": {"BOOL": True}},
            ReturnConsumedCapacity="TOTAL",
        )
    except ServiceError as refusal:
        if refusal.code != "ProvisionedThroughputExceededException":
            raise


async def play(stage: Stage) -> None:
    items = [order("PENDING", number) for number in range(ORDERS)] + [order(other, 0) for other in OTHERS]
    await stage.table("Orders", "Status:S", "OrderId:N", throughput=(READ, WRITE), items=items)
    shop = stage.client("shop", through=STORE)
    office = stage.client("office", through=STORE)
    stage.say(
        f"Each second the shop writes {UPDATES} pending orders of 50 units, and the office nine others."
    )
    for _ in range(SECONDS):
        await stage.advance(1)
        for number in range(UPDATES):
            await touch(shop, "PENDING", number % ORDERS)
        for other in OTHERS:
            await touch(office, other, 0)


def judge(history: History) -> Iterator[Finding]:
    pending, others = history.of("shop", "UpdateItem"), history.of("office", "UpdateItem")
    yield some_throttled(pending, "TableWriteKeyRangeThroughputExceeded", "PENDING")
    yield at_most_each_second(pending, PARTITION_WRITE_UNITS, "PENDING")
    yield none_refused(others, "the nine other statuses")
    yield uses_share(pending + others, SECONDS, WRITE, 0.25)


STORY = Story(
    name="hot-partition",
    title="The hot PENDING partition throttles while nine others idle",
    lesson="A partition takes 1,000 write units a second, whatever the table has: choose keys that spread.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html",
    settings={"throttling": True},
    play=play,
    judge=judge,
    group=CAPACITY,
)
