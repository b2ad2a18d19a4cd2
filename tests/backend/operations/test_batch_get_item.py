"""BatchGetItem: per key, per table; unprocessed beyond the size and what is throttled."""

import pytest


@pytest.fixture
def shelves(store):
    for name in ("songs", "books"):
        store.create(name, "pk:S")
        for key in ("a", "b"):
            store("PutItem", TableName=name, Item={"pk": {"S": key}, "in": {"S": name}})
    return store


def keys(*names: str) -> list[dict]:
    return [{"pk": {"S": name}} for name in names]


def test_every_table_has_a_list(shelves):
    asked = {"songs": {"Keys": keys("a", "none")}, "books": {"Keys": keys("none")}}
    assert shelves("BatchGetItem", RequestItems=asked) == {
        "Responses": {"songs": [{"pk": {"S": "a"}, "in": {"S": "songs"}}], "books": []},
        "UnprocessedKeys": {},
    }


def test_each_table_has_its_projection_and_consistency(shelves):
    asked = {
        "songs": {"Keys": keys("a", "b", "none"), "ConsistentRead": True},
        "books": {
            "Keys": keys("a"),
            "ProjectionExpression": "#i",
            "ExpressionAttributeNames": {"#i": "in"},
        },
    }
    answer = shelves("BatchGetItem", RequestItems=asked, ReturnConsumedCapacity="TOTAL")
    assert answer["Responses"]["books"] == [{"in": {"S": "books"}}]
    assert answer["ConsumedCapacity"] == [
        {"TableName": "songs", "CapacityUnits": 3.0},
        {"TableName": "books", "CapacityUnits": 0.5},
    ]


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        (
            {"songs": {"Keys": keys("a", "a")}},
            "ValidationException",
            "Provided list of item keys contains duplicates",
        ),
        (
            {"songs": {"Keys": keys("a")}, "nothing": {"Keys": keys("a")}},
            "ResourceNotFoundException",
            "Requested resource not found",
        ),
        (
            {"songs": {"Keys": [{"pk": {"N": "1"}}]}},
            "ValidationException",
            "The provided key element does not match the schema",
        ),
    ],
)
def test_one_bad_key_refuses_the_batch(shelves, refusal, asked, code, message):
    refused = refusal(shelves, "BatchGetItem", RequestItems=asked)
    assert (refused.code, refused.message) == (code, message)


def test_what_does_not_fit_comes_back_with_its_settings(new_store):
    store = new_store(settings={"batch_get_bytes": 2500})
    store.create("songs", "pk:S")
    for key in "abc":
        store("PutItem", TableName="songs", Item={"pk": {"S": key}, "v": {"S": "x" * 1000}})
    settings = {"ConsistentRead": True, "ProjectionExpression": "pk"}
    answer = store("BatchGetItem", RequestItems={"songs": {"Keys": keys("a", "b", "c"), **settings}})
    assert answer["Responses"] == {"songs": keys("a", "b")}
    assert answer["UnprocessedKeys"] == {"songs": {"Keys": keys("c"), **settings}}
    again = store("BatchGetItem", RequestItems=answer["UnprocessedKeys"])
    assert again == {"Responses": {"songs": keys("c")}, "UnprocessedKeys": {}}


def test_throttled_keys_come_back_and_if_all_are_the_batch_fails(new_store, limiter, refusal):
    store = new_store(limiter=limiter)
    for name in ("songs", "books"):
        store.create(name, "pk:S")
    limiter.refused.add("songs")
    both = {"songs": {"Keys": keys("a")}, "books": {"Keys": keys("b")}}
    answer = store("BatchGetItem", RequestItems=both)
    assert answer["UnprocessedKeys"] == {"songs": {"Keys": keys("a")}}
    limiter.refused.add("books")
    assert refusal(store, "BatchGetItem", RequestItems=both).code == "ProvisionedThroughputExceededException"
