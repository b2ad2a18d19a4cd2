"""DeleteItem: what was there, conditions, the cost of deleting nothing."""

import pytest


@pytest.fixture
def music(store):
    store.create("music", "pk:S")
    store("PutItem", TableName="music", Item={"pk": {"S": "a"}, "v": {"S": "x" * 2000}})
    return store


def test_a_delete_returns_the_item_if_asked(music):
    answer = music("DeleteItem", TableName="music", Key={"pk": {"S": "a"}}, ReturnValues="ALL_OLD")
    assert answer == {"Attributes": {"pk": {"S": "a"}, "v": {"S": "x" * 2000}}}
    assert music("GetItem", TableName="music", Key={"pk": {"S": "a"}}) == {}
    assert music.engine.catalog.get("music").items.stored_bytes == 0


@pytest.mark.parametrize(("key", "units"), [("a", 2.0), ("none", 1.0)])
def test_a_delete_costs_the_item_and_at_least_one_unit(music, key, units):
    answer = music("DeleteItem", TableName="music", Key={"pk": {"S": key}}, ReturnConsumedCapacity="TOTAL")
    assert answer == {"ConsumedCapacity": {"TableName": "music", "CapacityUnits": units}}


def test_a_failed_condition_deletes_nothing(music, refusal):
    request = {
        "TableName": "music",
        "Key": {"pk": {"S": "a"}},
        "ConditionExpression": "v = :v",
        "ExpressionAttributeValues": {":v": {"S": "y"}},
    }
    assert refusal(music, "DeleteItem", **request).code == "ConditionalCheckFailedException"
    assert "Item" in music("GetItem", TableName="music", Key={"pk": {"S": "a"}})


def test_metrics_of_deleting_nothing_name_the_collection(store, index_of):
    store.create(
        "near", "pk:S", "sk:S", attributes=["l:S"], LocalSecondaryIndexes=[index_of("by-l", "pk", "l")]
    )
    key = {"pk": {"S": "a"}, "sk": {"S": "b"}}
    answer = store("DeleteItem", TableName="near", Key=key, ReturnItemCollectionMetrics="SIZE")
    assert answer["ItemCollectionMetrics"]["ItemCollectionKey"] == {"pk": {"S": "a"}}
