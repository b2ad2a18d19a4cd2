"""One settings item for the whole application: read by key as the hot key, updated without a lost update."""

from __future__ import annotations

from collections.abc import Iterator

from backend.errors import ServiceError
from cluster.lab.client import Client, Reply
from cluster.lab.history import History, Operation
from cluster.lab.story import Stage, Story
from cluster.lab.verdict import ITEM_CACHE, Finding, count_served, found_nothing, returned, succeeded

TABLE = "App"
KEY = {"PK": {"S": "SETTINGS#APP"}, "SK": {"S": "FLAGS#V1"}}
NEXT_SHAPE = {"PK": {"S": "SETTINGS#APP"}, "SK": {"S": "FLAGS#V2"}}
SERVERS = ("node-1", "node-2", "node-3")


async def switch(admin: Client, flag: str, on: bool, version: int) -> bool:
    """Set one flag if the settings are still at `version`; False when somebody was faster."""
    try:
        await admin.update_item(
            TableName=TABLE,
            Key=KEY,
            UpdateExpression="SET #flag = :on, schema_version = :next",
            ConditionExpression="schema_version = :current",
            ExpressionAttributeNames={"#flag": flag},
            ExpressionAttributeValues={
                ":on": {"BOOL": on},
                ":next": {"N": str(version + 1)},
                ":current": {"N": str(version)},
            },
        )
    except ServiceError as refusal:
        if refusal.code != "ConditionalCheckFailedException":
            raise
        return False
    return True


def version_in(reply: Reply) -> int:
    assert reply.item is not None, "the settings item is always there"
    return int(reply.item["schema_version"]["N"])


async def administer(admin: Client, flag: str, on: bool, version: int) -> None:
    """Switch a flag, knowing `version`; when somebody was faster, again from what the store holds."""
    while not await switch(admin, flag, on, version):
        version = version_in(await admin.get_item(TableName=TABLE, Key=KEY, ConsistentRead=True))


async def play(stage: Stage) -> None:
    flags = {"signup_enabled": {"BOOL": False}, "maintenance_mode": {"BOOL": True}}
    await stage.table(TABLE, "PK:S", "SK:S", items=[{**KEY, **flags, "schema_version": {"N": "1"}}])

    stage.say("Every server of the application reads the one item again and again.")
    servers = [stage.client(f"server-{n}", through=node) for n, node in enumerate(SERVERS, start=1)]
    await servers[0].get_item(TableName=TABLE, Key=KEY)
    await stage.settle()
    for _ in range(2):
        for server in servers:
            await server.get_item(TableName=TABLE, Key=KEY)

    stage.say("Two administrators switch a flag each, at the same time, from the same version.")
    first = stage.client("admin-1", through="node-2")
    second = stage.client("admin-2", through="node-3")
    versions = [version_in(await admin.get_item(TableName=TABLE, Key=KEY)) for admin in (first, second)]
    await stage.together(
        administer(first, "signup_enabled", True, versions[0]),
        administer(second, "maintenance_mode", False, versions[1]),
    )
    await stage.settle()
    reader = stage.client("reader", through="node-2")
    await reader.get_item(TableName=TABLE, Key=KEY)
    stage.say("Flags of the next shape are not there yet: the reader falls back to its safe defaults.")
    await reader.get_item(TableName=TABLE, Key=NEXT_SHAPE)


def judge(history: History) -> Iterator[Finding]:
    hot = [read for n in range(1, 4) for read in history.of(f"server-{n}", "GetItem")]
    yield count_served(hot, ITEM_CACHE, len(hot) - 1, "all reads of the hot key but the first are hits")
    updates = [update for n in (1, 2) for update in history.of(f"admin-{n}", "UpdateItem")]
    final, absent = history.of("reader", "GetItem")
    yield succeeded(final)
    yield _one_lost_the_race(updates)
    yield _no_lost_update(updates, final)
    yield returned(final, "signup_enabled", True)
    yield returned(final, "maintenance_mode", False)
    yield found_nothing(absent)


def _one_lost_the_race(updates: list[Operation]) -> Finding:
    lost = [update for update in updates if update.error == "ConditionalCheckFailedException"]
    names = ", ".join(map(str, lost)) or "none"
    return Finding(
        len(lost) == 1,
        "exactly one of the racing updates is refused on its condition",
        f"refused with ConditionalCheckFailedException: {names}",
    )


def _no_lost_update(updates: list[Operation], final: Operation) -> Finding:
    accepted = [update for update in updates if update.outcome == "ok"]
    names = " and ".join(map(str, accepted))
    version = final.item["schema_version"] if final.item is not None else None
    return Finding(
        version == 1 + len(accepted),
        "no update is lost: the version counts every acknowledged one",
        f"version 1, then {names} were acknowledged, and {final} returned schema_version={version}",
    )


STORY = Story(
    name="singleton-settings",
    title="The singleton settings item",
    lesson="Read it by its fixed key and cache it; change one attribute on a version condition.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ConditionExpressions.html",
    play=play,
    judge=judge,
)
