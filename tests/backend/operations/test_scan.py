"""Scan: everything once, stable hash order, segments, indexes."""

import pytest


@pytest.fixture
def music(store, index_of):
    store.create(
        "music", "pk:S", attributes=["genre:S"], GlobalSecondaryIndexes=[index_of("by-genre", "genre")]
    )
    for number in range(40):
        item = {"pk": {"S": str(number)}, "odd": {"BOOL": number % 2 == 1}}
        if number % 4 == 0:
            item["genre"] = {"S": "rock"}
        store("PutItem", TableName="music", Item=item)
    return store


def keys(answer) -> list[str]:
    return [item["pk"]["S"] for item in answer["Items"]]


def test_everything_comes_once_in_a_stable_order(music):
    whole = keys(music("Scan", TableName="music"))
    assert sorted(whole, key=int) == [str(number) for number in range(40)]
    paged, start = [], {}
    while True:
        answer = music("Scan", TableName="music", Limit=7, **start)
        paged += keys(answer)
        if "LastEvaluatedKey" not in answer:
            break
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert paged == whole


def test_segments_share_the_table_out(music):
    segments = [keys(music("Scan", TableName="music", Segment=one, TotalSegments=4)) for one in range(4)]
    assert all(segments)
    assert [key for segment in segments for key in segment] == keys(music("Scan", TableName="music"))


def test_a_starting_key_of_another_segment_is_refused(music, refusal):
    elsewhere = music("Scan", TableName="music", Segment=1, TotalSegments=2, Limit=1)["LastEvaluatedKey"]
    refused = refusal(
        music, "Scan", TableName="music", Segment=0, TotalSegments=2, ExclusiveStartKey=elsewhere
    )
    assert refused.message == (
        "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with "
        "correct Segment. TotalSegments: 2 Segment: 0"
    )


def test_a_starting_key_that_does_not_fit_is_refused(music, refusal):
    refused = refusal(music, "Scan", TableName="music", ExclusiveStartKey={"pk": {"N": "1"}})
    assert refused.message == (
        "The provided starting key is invalid: The provided key element does not match the schema"
    )


def test_a_filter_may_name_the_key_and_counts_after_the_scan(music):
    answer = music(
        "Scan",
        TableName="music",
        FilterExpression="odd = :yes AND pk < :five",
        ExpressionAttributeValues={":yes": {"BOOL": True}, ":five": {"S": "5"}},
        Select="COUNT",
    )
    assert (answer["Count"], answer["ScannedCount"]) == (17, 40)


def test_a_sparse_index_holds_only_its_items(music):
    answer = music("Scan", TableName="music", IndexName="by-genre", ReturnConsumedCapacity="INDEXES")
    assert sorted(keys(answer), key=int) == [str(number) for number in range(0, 40, 4)]
    assert answer["ConsumedCapacity"]["GlobalSecondaryIndexes"] == {"by-genre": {"CapacityUnits": 0.5}}


def test_each_partition_bears_its_share_before_the_limiter(new_store, limiter, refusal):
    store = new_store(limiter=limiter)
    store.create("music", "pk:S")
    for number in range(4):
        store("PutItem", TableName="music", Item={"pk": {"S": str(number)}, "v": {"S": "x" * 2000}})
    limiter.asked.clear()
    limiter.collections.clear()
    store("Scan", TableName="music", ConsistentRead=True)
    assert len(limiter.collections) == 4
    assert sum(reads for _, _, reads, _ in limiter.asked) == pytest.approx(2.0)
    limiter.refused.add("music")
    assert refusal(store, "Scan", TableName="music").code == "ProvisionedThroughputExceededException"
