"""GetItem: items, projections, key errors, capacity."""

import pytest

BIG = {"pk": {"S": "big"}, "v": {"S": "x" * 5000}}


@pytest.fixture
def music(store):
    store.create("music", "pk:S")
    store(
        "PutItem",
        TableName="music",
        Item={"pk": {"S": "a"}, "v": {"N": "1.0"}, "m": {"M": {"k": {"S": "x"}}}},
    )
    store("PutItem", TableName="music", Item=BIG)
    return store


def test_an_item_comes_back_canonical(music):
    answer = music("GetItem", TableName="music", Key={"pk": {"S": "a"}})
    assert answer == {"Item": {"pk": {"S": "a"}, "v": {"N": "1"}, "m": {"M": {"k": {"S": "x"}}}}}


def test_the_stored_item_is_shared_and_not_copied(music):
    one = music("GetItem", TableName="music", Key={"pk": {"S": "a"}})["Item"]
    assert music("GetItem", TableName="music", Key={"pk": {"S": "a"}})["Item"] is one


def test_no_item_has_no_member(music):
    assert music("GetItem", TableName="music", Key={"pk": {"S": "none"}}) == {}


@pytest.mark.parametrize(
    "projection",
    [
        {"ProjectionExpression": "#v, m.k", "ExpressionAttributeNames": {"#v": "v"}},
        {"AttributesToGet": ["v", "m"]},
    ],
)
def test_a_projection_cuts_the_item(music, projection):
    answer = music("GetItem", TableName="music", Key={"pk": {"S": "a"}}, **projection)
    assert answer == {"Item": {"v": {"N": "1"}, "m": {"M": {"k": {"S": "x"}}}}}


@pytest.mark.parametrize(
    ("key", "consistent", "units"),
    [("a", False, 0.5), ("a", True, 1.0), ("big", False, 1.0), ("big", True, 2.0), ("none", False, 0.5)],
)
def test_capacity_follows_stored_size_and_consistency(music, key, consistent, units):
    answer = music(
        "GetItem",
        TableName="music",
        Key={"pk": {"S": key}},
        ConsistentRead=consistent,
        ProjectionExpression="pk",
        ReturnConsumedCapacity="TOTAL",
    )
    assert answer["ConsumedCapacity"] == {"TableName": "music", "CapacityUnits": units}


def test_counters_add_up(music):
    for key in ("a", "big", "none"):
        music("GetItem", TableName="music", Key={"pk": {"S": key}}, ReturnConsumedCapacity="NONE")
    assert music.engine.catalog.get("music").counters.read_units == 2.0


@pytest.mark.parametrize(
    "key", [{}, {"sk": {"S": "a"}}, {"pk": {"N": "1"}}, {"pk": {"S": "a"}, "x": {"S": "a"}}]
)
def test_a_key_that_does_not_fit_is_refused(music, refusal, key):
    refused = refusal(music, "GetItem", TableName="music", Key=key)
    assert (refused.code, refused.message) == (
        "ValidationException",
        "The provided key element does not match the schema",
    )


def test_a_bad_value_comes_before_the_missing_table_and_a_bad_key_after(music, refusal):
    assert refusal(music, "GetItem", TableName="nothing", Key={"pk": {}}).code == "ValidationException"
    assert refusal(music, "GetItem", TableName="nothing", Key={"zz": {"S": "a"}}).code == (
        "ResourceNotFoundException"
    )
    projection = {"ProjectionExpression": "a..b"}
    assert refusal(music, "GetItem", TableName="nothing", Key={"zz": {"S": "a"}}, **projection).code == (
        "ValidationException"
    )


def test_the_limiter_hears_of_the_read_first(new_store, limiter, refusal):
    store = new_store(limiter=limiter)
    store.create("music", "pk:S")
    store("GetItem", TableName="music", Key={"pk": {"S": "a"}}, ConsistentRead=True)
    assert limiter.asked == [("music", None, 1.0, 0.0)]
    limiter.refused.add("music")
    refused = refusal(store, "GetItem", TableName="music", Key={"pk": {"S": "a"}})
    assert refused.code == "ProvisionedThroughputExceededException"
    assert store.engine.catalog.get("music").counters.read_units == 1.0
