"""PutItem: replacement, conditions, index keys, sizes, capacity; a refused put changes nothing."""

import pytest


@pytest.fixture
def music(store, index_of):
    store.create(
        "music",
        "pk:S",
        "sk:S",
        attributes=["genre:S", "year:N"],
        LocalSecondaryIndexes=[index_of("by-year", "pk", "year", "KEYS_ONLY")],
        GlobalSecondaryIndexes=[index_of("by-genre", "genre", "year")],
    )
    return store


def song(genre="rock", year="1999", **more):
    return {"pk": {"S": "a"}, "sk": {"S": "b"}, "genre": {"S": genre}, "year": {"N": year}, **more}


def get(store, pk="a", sk="b"):
    return store("GetItem", TableName="music", Key={"pk": {"S": pk}, "sk": {"S": sk}}).get("Item")


def test_a_put_replaces_the_whole_item(music):
    assert music("PutItem", TableName="music", Item=song(x={"S": "1"}), ReturnValues="ALL_OLD") == {}
    answer = music("PutItem", TableName="music", Item=song("jazz"), ReturnValues="ALL_OLD")
    assert answer == {"Attributes": song(x={"S": "1"})}
    assert get(music) == song("jazz")
    assert music("PutItem", TableName="music", Item=song("jazz")) == {}


def test_a_failed_condition_changes_nothing_and_shows_the_item_if_asked(music, refusal):
    music("PutItem", TableName="music", Item=song())
    request = {"TableName": "music", "Item": song("jazz"), "ConditionExpression": "attribute_not_exists(pk)"}
    refused = refusal(music, "PutItem", **request)
    assert (refused.code, refused.message, refused.fields) == (
        "ConditionalCheckFailedException",
        "The conditional request failed",
        {},
    )
    refused = refusal(music, "PutItem", **request, ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert refused.fields == {"Item": song()}
    assert get(music) == song()


def test_a_condition_on_a_missing_item_has_no_item_to_show(music, refusal):
    refused = refusal(
        music,
        "PutItem",
        TableName="music",
        Item=song(),
        ConditionExpression="attribute_exists(pk)",
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
    )
    assert refused.fields == {}
    assert get(music) is None


def test_expected_is_a_condition_too(music, refusal):
    music("PutItem", TableName="music", Item=song(), Expected={"pk": {"Exists": False}})
    refused = refusal(music, "PutItem", TableName="music", Item=song(), Expected={"pk": {"Exists": False}})
    assert refused.code == "ConditionalCheckFailedException"


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (
            {"pk": {"S": "a"}},
            "One or more parameter values were invalid: Missing the key sk in the item",
        ),
        (
            {"pk": {"N": "1"}, "sk": {"S": "b"}},
            "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N",
        ),
        (
            {"pk": {"S": ""}, "sk": {"S": "b"}},
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: pk",
        ),
        (
            song(genre="", year="1"),
            "One or more parameter values are not valid. A value specified for a secondary index key is not "
            "supported. The AttributeValue for a key attribute cannot contain an empty string value. "
            "IndexName: by-genre, IndexKey: genre",
        ),
        (
            {**song(), "genre": {"N": "1"}},
            "One or more parameter values were invalid: Type mismatch for Index Key genre "
            "Expected: S Actual: N IndexName: by-genre",
        ),
        (song(x={"S": "x" * 409_600}), "Item size has exceeded the maximum allowed size"),
    ],
)
def test_a_bad_item_is_refused_and_nothing_changes(music, refusal, item, message):
    music("PutItem", TableName="music", Item=song())
    refused = refusal(music, "PutItem", TableName="music", Item=item)
    assert (refused.code, refused.message) == ("ValidationException", message)
    table = music.engine.catalog.get("music")
    assert (len(table.items), len(table.indexes["by-genre"].rows)) == (1, 1)
    assert get(music) == song()


def test_write_amplification_is_visible(music):
    def put(item):
        answer = music("PutItem", TableName="music", Item=item, ReturnConsumedCapacity="INDEXES")
        return answer["ConsumedCapacity"]

    assert put(song()) == {
        "TableName": "music",
        "CapacityUnits": 3.0,
        "Table": {"CapacityUnits": 1.0},
        "LocalSecondaryIndexes": {"by-year": {"CapacityUnits": 1.0}},
        "GlobalSecondaryIndexes": {"by-genre": {"CapacityUnits": 1.0}},
    }
    moved_in_both = put(song("jazz", "2001"))
    assert moved_in_both["LocalSecondaryIndexes"] == {"by-year": {"CapacityUnits": 2.0}}
    assert moved_in_both["GlobalSecondaryIndexes"] == {"by-genre": {"CapacityUnits": 2.0}}
    unseen_by_one = put(song("jazz", "2001", note={"S": "x" * 3000}))
    assert unseen_by_one["Table"] == {"CapacityUnits": 3.0}
    assert "LocalSecondaryIndexes" not in unseen_by_one
    assert unseen_by_one["GlobalSecondaryIndexes"] == {"by-genre": {"CapacityUnits": 3.0}}


def test_counters_hold_what_was_reported(music):
    music("PutItem", TableName="music", Item=song())
    music("PutItem", TableName="music", Item=song("jazz"))
    table = music.engine.catalog.get("music")
    assert table.counters.write_units == 2.0
    assert table.indexes["by-genre"].counters.write_units == 3.0
    assert table.indexes["by-year"].counters.write_units == 1.0


def test_a_failed_condition_costs_the_item_that_is_there(music, refusal):
    music("PutItem", TableName="music", Item=song(x={"S": "x" * 3000}))
    before = music.engine.catalog.get("music").counters.write_units
    refusal(music, "PutItem", TableName="music", Item=song(), ConditionExpression="attribute_not_exists(pk)")
    assert music.engine.catalog.get("music").counters.write_units == before + 3.0


def test_item_collection_metrics_need_a_local_index(music, store):
    answer = music("PutItem", TableName="music", Item=song(), ReturnItemCollectionMetrics="SIZE")
    assert answer == {
        "ItemCollectionMetrics": {
            "ItemCollectionKey": {"pk": {"S": "a"}},
            "SizeEstimateRangeGB": [0.0, 1.0],
        }
    }
    store.create("plain", "pk:S")
    item = {"pk": {"S": "a"}}
    assert store("PutItem", TableName="plain", Item=item, ReturnItemCollectionMetrics="SIZE") == {}


def test_a_throttled_put_changes_nothing(new_store, limiter, refusal, index_of):
    store = new_store(limiter=limiter)
    store.create(
        "music", "pk:S", attributes=["genre:S"], GlobalSecondaryIndexes=[index_of("by-genre", "genre")]
    )
    item = {"pk": {"S": "a"}, "genre": {"S": "rock"}}
    store("PutItem", TableName="music", Item=item)
    assert limiter.asked == [("music", None, 0.0, 1.0), ("music", "by-genre", 0.0, 1.0)]
    assert len(limiter.collections) == 2
    limiter.refused.add("music")
    refused = refusal(store, "PutItem", TableName="music", Item={**item, "x": {"S": "new"}})
    assert refused.code == "ProvisionedThroughputExceededException"
    limiter.refused.clear()
    assert store("GetItem", TableName="music", Key={"pk": {"S": "a"}}) == {"Item": item}
