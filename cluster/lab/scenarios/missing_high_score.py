"""Charlie's new high score is in the table, and not in his list."""

from __future__ import annotations

from collections.abc import Iterator

from cluster.lab.history import STORE as THE_STORE
from cluster.lab.history import History
from cluster.lab.story import Stage, Story
from cluster.lab.verdict import QUERY_CACHE, STORE, Finding, listed, returned, served

ALL_OF_CHARLIE = {
    "TableName": "GameScores",
    "KeyConditionExpression": "UserId = :user",
    "ExpressionAttributeValues": {":user": {"S": "charlie"}},
}
METEOR_BLASTERS = {"UserId": {"S": "charlie"}, "GameTitle": {"S": "Meteor Blasters"}}


async def play(stage: Stage) -> None:
    await stage.table(
        "GameScores",
        "UserId:S",
        "GameTitle:S",
        items=[
            {"UserId": {"S": "charlie"}, "GameTitle": {"S": "Galaxy Invaders"}, "TopScore": {"N": "5842"}},
            {**METEOR_BLASTERS, "TopScore": {"N": "1000"}},
        ],
    )
    charlie = stage.client("charlie", through="node-2")
    game = stage.client("game", through=THE_STORE)

    await charlie.query(**ALL_OF_CHARLIE)
    stage.say("Charlie plays Meteor Blasters. The game writes his score to DynamoDB directly.")
    await game.update_item(
        TableName="GameScores",
        Key=METEOR_BLASTERS,
        UpdateExpression="SET TopScore = :score",
        ExpressionAttributeValues={":score": {"N": "9999"}},
    )
    await charlie.query(**ALL_OF_CHARLIE)
    await charlie.get_item(TableName="GameScores", Key=METEOR_BLASTERS)
    await stage.advance(301)
    await charlie.query(**ALL_OF_CHARLIE)


def judge(history: History) -> Iterator[Finding]:
    before, after, later = history.of("charlie", "Query")
    (item,) = history.of("charlie", "GetItem")
    yield listed(before, "TopScore", [5842, 1000])
    yield served(after, QUERY_CACHE)
    yield listed(after, "TopScore", [5842, 1000])
    yield served(item, STORE, miss="never-seen")
    yield returned(item, "TopScore", 9999)
    yield served(later, STORE, miss="expired")
    yield listed(later, "TopScore", [5842, 9999])


STORY = Story(
    name="missing-high-score",
    title="A player's missing high score",
    lesson="A cached Query result is as old as the moment it was made; the item may tell another value.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAX.consistency.html",
    play=play,
    judge=judge,
)
