"""A bulk upload user by user writes to one partition at a time; interleaved it writes to all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from cluster.lab.client import Client
from cluster.lab.history import STORE, History, Operation
from cluster.lab.story import CAPACITY, Stage, Story
from cluster.lab.units import consumed
from cluster.lab.verdict import Finding

USERS, MESSAGES = ("U1", "U2", "U4"), 15
"""Their partitions differ."""
BATCH = 15
"""Written each second: 1,200 units, more than one partition takes."""
TEXT = "x" * 81_000
"""A message of 80 KB costs 80 units."""

Message = tuple[str, int]


def put(message: Message) -> dict[str, Any]:
    user, number = message
    item = {"UserID": {"S": user}, "MessageID": {"N": str(number)}, "Text": {"S": TEXT}}
    return {"PutRequest": {"Item": item}}


async def upload(stage: Stage, client: Client, table: str, batches: Sequence[Sequence[Message]]) -> None:
    """One batch a second, and the next when nothing of it is left."""
    for batch in batches:
        left: Any = [put(message) for message in batch]
        while left:
            await stage.advance(1)
            reply = await client.batch_write_item(RequestItems={table: left}, ReturnConsumedCapacity="TOTAL")
            left = reply.response.get("UnprocessedItems", {}).get(table)


async def play(stage: Stage) -> None:
    by_key = [(user, number) for user in USERS for number in range(MESSAGES)]
    interleaved = sorted(by_key, key=lambda message: message[1])
    for table, order in (("ByKey", by_key), ("Interleaved", interleaved)):
        await stage.table(table, "UserID:S", "MessageID:N", throughput=(100, 3000))
        stage.say(f"{len(order)} messages are uploaded to {table}, 1,200 units a second.")
        batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
        await upload(stage, stage.client(table, through=STORE), table, batches)


def judge(history: History) -> Iterator[Finding]:
    by_key, interleaved = history.of("ByKey"), history.of("Interleaved")
    left_by_key, left_interleaved = sum(map(_left, by_key)), sum(map(_left, interleaved))
    yield Finding(
        left_by_key > 0,
        "in key order every user's partition throttles: items come back unprocessed",
        f"{left_by_key} items came back in {len(by_key)} batches",
    )
    yield Finding(
        left_interleaved == 0,
        "interleaved, nothing comes back",
        f"{left_interleaved} items came back in {len(interleaved)} batches",
    )
    rates = [sum(map(consumed, batches)) / len(batches) for batches in (by_key, interleaved)]
    yield Finding(
        len(interleaved) == len(USERS) * MESSAGES / BATCH and len(by_key) >= 2 * len(interleaved),
        "the interleaved upload takes half as long, or less",
        f"{len(by_key)} seconds at {rates[0]:,.0f} units against {len(interleaved)} at {rates[1]:,.0f}",
    )
    written = Counter({"ByKey": _written(by_key), "Interleaved": _written(interleaved)})
    yield Finding(
        set(written.values()) == {len(USERS) * MESSAGES},
        "both uploads are complete",
        ", ".join(f"{table}: {count} items" for table, count in written.items()),
    )


def _left(batch: Operation) -> int:
    return sum(map(len, batch.response.get("UnprocessedItems", {}).values()))


def _written(batches: Sequence[Operation]) -> int:
    return sum(len(puts) for batch in batches for puts in batch.request["RequestItems"].values()) - sum(
        map(_left, batches)
    )


STORY = Story(
    name="upload-order",
    title="A bulk upload in key order against one that is interleaved",
    lesson="Upload one item of each partition key in turn: all partitions work, and none is throttled.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-data-upload.html",
    settings={"throttling": True},
    play=play,
    judge=judge,
    group=CAPACITY,
)
