"""A Query, a write that belongs into its result, and the same Query again."""

from __future__ import annotations

from collections.abc import Iterator

from cluster.lab.history import History
from cluster.lab.story import Stage, Story
from cluster.lab.verdict import ITEM_CACHE, QUERY_CACHE, STORE, Finding, listed, returned, same_result, served

FROM_REVISION_5 = {
    "TableName": "DocumentRevisions",
    "KeyConditionExpression": "DocId = :doc AND RevisionNumber >= :from",
    "ExpressionAttributeValues": {":doc": {"N": "101"}, ":from": {"N": "5"}},
}


def revision(number: int) -> dict[str, dict[str, str]]:
    return {"DocId": {"N": "101"}, "RevisionNumber": {"N": str(number)}, "Author": {"S": "eve"}}


async def play(stage: Stage) -> None:
    await stage.table(
        "DocumentRevisions", "DocId:N", "RevisionNumber:N", items=[revision(n) for n in (4, 5, 6)]
    )
    editor = stage.client("editor", through="node-1")

    await editor.query(**FROM_REVISION_5)
    stage.say("Revision 20 is written through the cluster, and would belong into the result.")
    await editor.put_item(TableName="DocumentRevisions", Item=revision(20))
    await editor.query(**FROM_REVISION_5)
    await editor.get_item(
        TableName="DocumentRevisions", Key={"DocId": {"N": "101"}, "RevisionNumber": {"N": "20"}}
    )
    await stage.advance(301)
    await editor.query(**FROM_REVISION_5)


def judge(history: History) -> Iterator[Finding]:
    first, second, third = history.of("editor", "Query")
    (item,) = history.of("editor", "GetItem")
    yield served(first, STORE, miss="never-seen")
    yield listed(first, "RevisionNumber", [5, 6])
    yield served(second, QUERY_CACHE)
    yield same_result(first, second)
    yield served(item, ITEM_CACHE)
    yield returned(item, "RevisionNumber", 20)
    yield served(third, STORE, miss="expired")
    yield listed(third, "RevisionNumber", [5, 6, 20])


STORY = Story(
    name="query-update-query",
    title="Query, put, and the same Query again",
    lesson="Writing an item never changes a cached Query result; only its TTL or eviction ends it.",
    source="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAX.consistency.html",
    play=play,
    judge=judge,
)
