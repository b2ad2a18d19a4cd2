"""DynamoDB Streams through the engine: reading a stream from both ends, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from backend.errors import ServiceError


def s(text: str) -> dict[str, str]:
    return {"S": text}


@pytest.fixture
def arn(store):
    store.create("orders", "pk:S", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
    return store("DescribeTable", TableName="orders")["Table"]["LatestStreamArn"]


@pytest.fixture
def put(store):
    def write(*keys: str) -> None:
        for key in keys:
            store("PutItem", TableName="orders", Item={"pk": s(key)})

    return write


@pytest.fixture
def shard(store, arn):
    (found,) = store("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]
    return found


@pytest.fixture
def iterator(store, arn, shard):
    def get(kind: str, **more: Any) -> str:
        request = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": kind, **more}
        token: str = store("GetShardIterator", **request)["ShardIterator"]
        return token

    return get


@pytest.fixture
def refusal(store):
    def refused(operation: str, **request: Any) -> tuple[str, str | None]:
        with pytest.raises(ServiceError) as error:
            store(operation, **request)
        return error.value.code, error.value.message

    return refused


def keys(answer: dict[str, Any]) -> list[str]:
    return [record["dynamodb"]["Keys"]["pk"]["S"] for record in answer["Records"]]


def number_of(record: dict[str, Any]) -> str:
    number: str = record["dynamodb"]["SequenceNumber"]
    return number


# Finding streams


def test_a_stream_describes_itself(store, arn):
    description = store("DescribeStream", StreamArn=arn)["StreamDescription"]
    (shard,) = description.pop("Shards")
    assert description == {
        "StreamArn": arn,
        "StreamLabel": arn.rpartition("/")[2],
        "StreamStatus": "ENABLED",
        "StreamViewType": "NEW_IMAGE",
        "CreationRequestDateTime": store.clock.time,
        "TableName": "orders",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }
    assert 28 <= len(shard["ShardId"]) <= 65
    assert set(shard["SequenceNumberRange"]) == {"StartingSequenceNumber"}


def test_streams_are_listed_by_table_and_in_pages(store, arn):
    store.create("users", "pk:S", StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    first = store("ListStreams", Limit=1)
    assert [one["TableName"] for one in first["Streams"]] == ["orders"]
    rest = store("ListStreams", ExclusiveStartStreamArn=first["LastEvaluatedStreamArn"])
    assert [one["TableName"] for one in rest["Streams"]] == ["users"]
    assert "LastEvaluatedStreamArn" not in rest
    assert store("ListStreams", TableName="orders")["Streams"] == [
        {"StreamArn": arn, "TableName": "orders", "StreamLabel": arn.rpartition("/")[2]}
    ]


def test_behind_the_only_shard_there_is_none(store, arn, shard):
    for more in (
        {"ExclusiveStartShardId": shard["ShardId"]},
        {"ShardFilter": {"Type": "CHILD_SHARDS", "ShardId": shard["ShardId"]}},
    ):
        assert store("DescribeStream", StreamArn=arn, **more)["StreamDescription"]["Shards"] == []


# Reading records


def test_from_the_oldest_and_from_now_on(store, put, iterator):
    put("a", "b")
    oldest, latest = iterator("TRIM_HORIZON"), iterator("LATEST")
    put("c")
    assert keys(store("GetRecords", ShardIterator=oldest)) == ["a", "b", "c"]
    assert keys(store("GetRecords", ShardIterator=latest)) == ["c"]


def test_an_open_shard_always_goes_on(store, put, iterator):
    empty = store("GetRecords", ShardIterator=iterator("TRIM_HORIZON"))
    assert empty["Records"] == []
    put("a", "b")
    one = store("GetRecords", ShardIterator=empty["NextShardIterator"], Limit=1)
    assert keys(one) == ["a"]
    assert keys(store("GetRecords", ShardIterator=one["NextShardIterator"])) == ["b"]
    assert keys(store("GetRecords", ShardIterator=one["NextShardIterator"])) == [
        "b"
    ]  # iterators do not wear out


def test_at_and_after_a_sequence_number_and_at_a_time(store, put, iterator, clock):
    put("a")
    clock.advance(10)
    put("b")
    first, second = store("GetRecords", ShardIterator=iterator("TRIM_HORIZON"))["Records"]
    for kind, expected in (("AT_SEQUENCE_NUMBER", ["a", "b"]), ("AFTER_SEQUENCE_NUMBER", ["b"])):
        token = iterator(kind, SequenceNumber=number_of(first))
        assert keys(store("GetRecords", ShardIterator=token)) == expected
    token = iterator("AT_TIMESTAMP", Timestamp=clock.time - 5)
    assert [number_of(one) for one in store("GetRecords", ShardIterator=token)["Records"]] == [
        number_of(second)
    ]


def test_a_page_ends_before_a_megabyte(store, iterator, arn):
    for number in range(4):
        store("PutItem", TableName="orders", Item={"pk": s(str(number)), "x": s("x" * 300_000)})
    page = store("GetRecords", ShardIterator=iterator("TRIM_HORIZON"))
    assert keys(page) == ["0", "1", "2"]
    assert keys(store("GetRecords", ShardIterator=page["NextShardIterator"])) == ["3"]


def test_every_way_of_writing_is_recorded(store, arn, iterator):
    store("BatchWriteItem", RequestItems={"orders": [{"PutRequest": {"Item": {"pk": s("a")}}}]})
    store("TransactWriteItems", TransactItems=[{"Put": {"TableName": "orders", "Item": {"pk": s("b")}}}])
    store("ExecuteStatement", Statement="INSERT INTO orders VALUE {'pk': 'c'}")
    store("UpdateItem", TableName="orders", Key={"pk": s("d")})
    store("DeleteItem", TableName="orders", Key={"pk": s("a")})
    records = store("GetRecords", ShardIterator=iterator("TRIM_HORIZON"))["Records"]
    found = [(one["eventName"], one["dynamodb"]["Keys"]["pk"]["S"]) for one in records]
    assert found == [("INSERT", "a"), ("INSERT", "b"), ("INSERT", "c"), ("INSERT", "d"), ("REMOVE", "a")]


def test_a_closed_shard_ends(store, put, iterator, arn, clock):
    put("a", "b")
    token = iterator("TRIM_HORIZON")
    store("UpdateTable", TableName="orders", StreamSpecification={"StreamEnabled": False})
    description = store("DescribeStream", StreamArn=arn)["StreamDescription"]
    assert description["StreamStatus"] == "DISABLED"
    part = store("GetRecords", ShardIterator=token, Limit=1)
    rest = store("GetRecords", ShardIterator=part["NextShardIterator"])
    assert keys(rest) == ["b"]
    assert "NextShardIterator" not in rest
    ending = description["Shards"][0]["SequenceNumberRange"]["EndingSequenceNumber"]
    assert number_of(rest["Records"][-1]) == ending


def test_the_stream_outlives_its_table_for_a_day(store, put, iterator, arn, clock, refusal):
    put("a")
    store("DeleteTable", TableName="orders")
    assert keys(store("GetRecords", ShardIterator=iterator("TRIM_HORIZON"))) == ["a"]
    clock.advance(24 * 3600)
    assert refusal("DescribeStream", StreamArn=arn)[0] == "ResourceNotFoundException"


def test_an_expired_item_leaves_a_marked_record(store, arn, iterator, clock):
    specification = {"Enabled": True, "AttributeName": "ttl"}
    store("UpdateTimeToLive", TableName="orders", TimeToLiveSpecification=specification)
    expires = {"N": str(int(clock.time) + 60)}
    store("PutItem", TableName="orders", Item={"pk": s("a"), "ttl": expires})
    clock.advance(60 + 47 * 3600)
    assert "Item" in store("GetItem", TableName="orders", Key={"pk": s("a")})  # expired, not yet removed
    clock.advance(3600)
    assert store("GetItem", TableName="orders", Key={"pk": s("a")}) == {}
    (record,) = store("GetRecords", ShardIterator=iterator("TRIM_HORIZON"))["Records"]
    assert record["eventName"] == "REMOVE"
    assert record["userIdentity"] == {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}


def test_without_a_delay_an_item_is_removed_at_its_time(new_store, clock):
    store = new_store(settings={"ttl_delay": 0.0})
    store.create("sessions", "pk:S")
    specification = {"Enabled": True, "AttributeName": "ttl"}
    store("UpdateTimeToLive", TableName="sessions", TimeToLiveSpecification=specification)
    expires = {"N": str(int(clock.time) + 60)}
    store("PutItem", TableName="sessions", Item={"pk": s("a"), "ttl": expires})
    clock.advance(59)
    assert "Item" in store("GetItem", TableName="sessions", Key={"pk": s("a")})
    clock.advance(1)
    assert store("GetItem", TableName="sessions", Key={"pk": s("a")}) == {}


# Refusals


def test_an_iterator_lasts_fifteen_minutes(iterator, refusal, clock, store):
    token = iterator("TRIM_HORIZON")
    clock.advance(15 * 60)
    store("GetRecords", ShardIterator=token)
    clock.advance(1)
    assert refusal("GetRecords", ShardIterator=token)[0] == "ExpiredIteratorException"


def test_trimmed_records_are_out_of_reach(store, put, iterator, refusal, arn, shard, clock):
    put("a")
    (record,) = store("GetRecords", ShardIterator=iterator("TRIM_HORIZON"))["Records"]
    clock.advance(24 * 3600 - 1)
    token = iterator("TRIM_HORIZON")
    clock.advance(1)
    assert refusal("GetRecords", ShardIterator=token)[0] == "TrimmedDataAccessException"
    code, _ = refusal(
        "GetShardIterator",
        StreamArn=arn,
        ShardId=shard["ShardId"],
        ShardIteratorType="AT_SEQUENCE_NUMBER",
        SequenceNumber=number_of(record),
    )
    assert code == "TrimmedDataAccessException"
    put("b")
    assert keys(store("GetRecords", ShardIterator=iterator("TRIM_HORIZON"))) == ["b"]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"ShardIteratorType": "AT_SEQUENCE_NUMBER"}, "ValidationException"),
        ({"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": "9" * 25}, "ValidationException"),
        ({"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": "x" * 25}, "ValidationException"),
        ({"ShardIteratorType": "TRIM_HORIZON", "SequenceNumber": "1" * 25}, "ValidationException"),
        ({"ShardIteratorType": "LATEST", "SequenceNumber": "1" * 25}, "ValidationException"),
        ({"ShardIteratorType": "AT_TIMESTAMP"}, "ValidationException"),
        ({"ShardIteratorType": "LATEST", "Timestamp": 1.0}, "ValidationException"),
        ({"ShardIteratorType": "LATEST", "ShardId": "shardId-" + "0" * 30}, "ResourceNotFoundException"),
        ({"ShardIteratorType": "LATEST", "StreamArn": "no-arn-" * 6}, "ValidationException"),
    ],
)
def test_iterators_there_are_none_of(refusal, arn, shard, more, code):
    request = {"StreamArn": arn, "ShardId": shard["ShardId"], **more}
    assert refusal("GetShardIterator", **request)[0] == code


def test_tokens_and_limits_are_checked(refusal, iterator, arn):
    assert refusal("GetRecords", ShardIterator="nonsense") == ("ValidationException", "Invalid ShardIterator")
    token = iterator("LATEST")
    for operation, request, most in (
        ("GetRecords", {"ShardIterator": token}, 1000),
        ("ListStreams", {}, 100),
        ("DescribeStream", {"StreamArn": arn}, 100),
    ):
        code, message = refusal(operation, **request, Limit=most + 1)
        assert code == "ValidationException"
        assert message is not None
        assert message.endswith(f"Member must have value less than or equal to {most}")
        assert refusal(operation, **request, Limit=0)[0] == "ValidationException"


def test_an_unknown_stream(refusal, arn):
    code, message = refusal("DescribeStream", StreamArn=arn[:-3] + "999")
    assert code == "ResourceNotFoundException"
    assert message is not None
    assert arn[:-3] in message
