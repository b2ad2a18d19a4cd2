"""BatchWriteItem: all judged before any is written; throttled ones come back."""

import pytest


@pytest.fixture
def shelves(store, index_of):
    store.create(
        "songs", "pk:S", attributes=["genre:S"], GlobalSecondaryIndexes=[index_of("by-genre", "genre")]
    )
    store.create(
        "books", "pk:S", "sk:S", attributes=["l:S"], LocalSecondaryIndexes=[index_of("by-l", "pk", "l")]
    )
    store("PutItem", TableName="songs", Item={"pk": {"S": "old"}, "v": {"S": "x" * 2000}})
    return store


def put(key: str, **more) -> dict:
    return {"PutRequest": {"Item": {"pk": {"S": key}, **more}}}


def delete(key: str) -> dict:
    return {"DeleteRequest": {"Key": {"pk": {"S": key}}}}


def songs(store) -> list[str]:
    return sorted(item["pk"]["S"] for item in store("Scan", TableName="songs")["Items"])


def test_puts_and_deletes_of_several_tables(shelves):
    answer = shelves(
        "BatchWriteItem",
        RequestItems={"songs": [put("a"), put("b"), delete("old")], "books": [put("a", sk={"S": "1"})]},
        ReturnConsumedCapacity="TOTAL",
        ReturnItemCollectionMetrics="SIZE",
    )
    assert answer == {
        "UnprocessedItems": {},
        "ConsumedCapacity": [
            {"TableName": "songs", "CapacityUnits": 4.0},
            {"TableName": "books", "CapacityUnits": 1.0},
        ],
        "ItemCollectionMetrics": {
            "books": [{"ItemCollectionKey": {"pk": {"S": "a"}}, "SizeEstimateRangeGB": [0.0, 1.0]}]
        },
    }
    assert songs(shelves) == ["a", "b"]


@pytest.mark.parametrize(
    ("requests", "code"),
    [
        ({"songs": [put("a"), put("a")]}, "ValidationException"),
        ({"songs": [put("a"), delete("a")]}, "ValidationException"),
        ({"songs": [put("a"), put("b", genre={"S": ""})]}, "ValidationException"),
        ({"songs": [put("a"), put("b", v={"S": "x" * 409_600})]}, "ValidationException"),
        ({"songs": [put("a")], "nothing": [put("b")]}, "ResourceNotFoundException"),
        ({"songs": [put("a")], "books": [put("b")]}, "ValidationException"),
    ],
)
def test_one_bad_request_writes_nothing(shelves, refusal, requests, code):
    assert refusal(shelves, "BatchWriteItem", RequestItems=requests).code == code
    assert songs(shelves) == ["old"]


@pytest.mark.parametrize(
    ("requests", "message"),
    [
        ([put("a"), put("a"), put("b", genre={"N": "1"})], "contains duplicates"),
        ([put("b", genre={"N": "1"}), put("a"), put("a")], "Type mismatch for Index Key"),
    ],
)
def test_the_first_of_several_bad_requests_is_told(shelves, refusal, requests, message):
    assert message in refusal(shelves, "BatchWriteItem", RequestItems={"songs": requests}).message


def test_one_key_in_two_tables_is_no_duplicate(shelves):
    requests = {"songs": [put("a")], "books": [put("a", sk={"S": "1"})]}
    assert shelves("BatchWriteItem", RequestItems=requests) == {"UnprocessedItems": {}}


def test_throttled_writes_come_back_and_if_all_are_the_batch_fails(new_store, limiter, refusal):
    store = new_store(limiter=limiter)
    for name in ("songs", "books"):
        store.create(name, "pk:S")
    limiter.refused.add("songs")
    both = {"songs": [put("a")], "books": [put("b")]}
    assert store("BatchWriteItem", RequestItems=both) == {"UnprocessedItems": {"songs": [put("a")]}}
    assert (songs_count(store, "songs"), songs_count(store, "books")) == (0, 1)
    limiter.refused.add("books")
    assert refusal(store, "BatchWriteItem", RequestItems=both).code == (
        "ProvisionedThroughputExceededException"
    )


def songs_count(store, name: str) -> int:
    return len(store.engine.catalog.get(name).items)
