"""Item collections: their limit, met with a small one, by every way of writing."""

from __future__ import annotations

import pytest

from backend.errors import ServiceError

LIMIT = 10_000
FULL = ("ItemCollectionSizeLimitExceededException", "Collection size exceeded.")


@pytest.fixture
def posts(new_store, index_of):
    """A table whose collection `full` has reached the limit: 6 items of 1 KB, each with its index row."""
    store = new_store(settings={"item_collection_bytes": LIMIT})
    by_day = index_of("by-day", "forum", "day")
    store.create("posts", "forum:S", "id:S", attributes=["day:S"], LocalSecondaryIndexes=[by_day])
    for number in range(6):
        store("PutItem", TableName="posts", Item=post("full", str(number)))
    return store


def post(forum, identifier, size=1000):
    item = {"forum": {"S": forum}, "id": {"S": identifier}, "day": {"S": "1"}}
    return item | {"text": {"S": "x" * (size - 30)}}


KEY = {"forum": {"S": "full"}, "id": {"S": "0"}}
INSERT = "INSERT INTO posts VALUE {'forum':'full','id':'new'}"
GROW = {
    "TableName": "posts",
    "Key": KEY,
    "UpdateExpression": "SET more = :more",
    "ExpressionAttributeValues": {":more": {"S": "x"}},
}
WRITES = {
    "PutItem": {"TableName": "posts", "Item": post("full", "new")},
    "UpdateItem": GROW,
    "BatchWriteItem": {"RequestItems": {"posts": [{"PutRequest": {"Item": post("full", "new")}}]}},
    "ExecuteStatement": {"Statement": INSERT},
}


@pytest.mark.parametrize("operation", WRITES)
def test_a_full_collection_takes_nothing_more(posts, refusal, operation):
    before = posts("Scan", TableName="posts")
    refused = refusal(posts, operation, **WRITES[operation])
    assert (refused.code, refused.message) == FULL
    assert posts("Scan", TableName="posts") == before


@pytest.mark.parametrize(
    ("operation", "actions"),
    [
        ("TransactWriteItems", {"TransactItems": [{"Update": GROW}]}),
        ("ExecuteTransaction", {"TransactStatements": [{"Statement": INSERT}]}),
    ],
)
def test_it_is_a_reason_to_cancel_a_transaction(posts, refusal, operation, actions):
    refused = refusal(posts, operation, **actions)
    assert refused.code == "TransactionCanceledException"
    assert refused.fields["CancellationReasons"] == [
        {"Code": "ItemCollectionSizeLimitExceeded", "Message": FULL[1]}
    ]


def test_it_is_the_error_of_a_statement_in_a_batch(posts):
    answer = posts("BatchExecuteStatement", Statements=[{"Statement": INSERT}])
    assert answer["Responses"][0]["Error"] == {"Code": "ItemCollectionSizeLimitExceeded", "Message": FULL[1]}


def test_what_shrinks_a_full_collection_is_allowed_and_makes_room(posts):
    posts("PutItem", TableName="posts", Item=post("full", "0", 900))
    for identifier in "123":
        posts("DeleteItem", TableName="posts", Key={"forum": {"S": "full"}, "id": {"S": identifier}})
    posts("PutItem", TableName="posts", Item=post("full", "new"))


def test_other_collections_and_tables_without_local_indexes_have_room(posts):
    posts("PutItem", TableName="posts", Item=post("other", "0"))
    posts.create("plain", "forum:S", "id:S")
    for number in range(20):
        posts("PutItem", TableName="plain", Item=post("full", str(number)))


def test_a_condition_is_judged_before(posts):
    with pytest.raises(ServiceError) as refused:
        posts(
            "PutItem", TableName="posts", Item=post("full", "new"), ConditionExpression="attribute_exists(id)"
        )
    assert refused.value.code == "ConditionalCheckFailedException"
