"""Streams: which changes are recorded, what a record holds, how shards are read and how streams end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.store_only

DAY = 24 * 3600
KINDS = ("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")
NO_SHARD = "shardId-00000000000000000000-00000000"


def streaming(kind: str = "NEW_AND_OLD_IMAGES") -> dict[str, Any]:
    return {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": kind}}


@pytest.fixture
def watched(dynamodb: Any) -> str:
    """A table with a stream of both images."""
    name: str = dynamodb.create("pk:S", **streaming())
    return name


def stream_of(dynamodb: Any, table: str) -> str:
    arn: str = dynamodb("DescribeTable", TableName=table)["Table"]["LatestStreamArn"]
    return arn


def shards(dynamodb: Any, arn: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = dynamodb("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]
    return found


def at(dynamodb: Any, arn: str, kind: str = "TRIM_HORIZON", number: str | None = None) -> dict[str, Any]:
    """The ShardIterator parameter to read the only shard from there."""
    (shard,) = shards(dynamodb, arn)
    more = {} if number is None else {"SequenceNumber": number}
    request = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": kind, **more}
    answer: dict[str, Any] = dynamodb("GetShardIterator", **request)
    return answer


def records(dynamodb: Any, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = dynamodb("GetRecords", **at(dynamodb, stream_of(dynamodb, table)))[
        "Records"
    ]
    return found


def told(found: list[dict[str, Any]]) -> list[tuple[str, Any, Any]]:
    """Each record as its event and its images."""
    return [
        (one["eventName"], one["dynamodb"].get("OldImage"), one["dynamodb"].get("NewImage")) for one in found
    ]


def item(value: str, **more: Any) -> dict[str, Any]:
    return {"pk": {"S": value}, **more}


def numbered(number: int) -> dict[str, Any]:
    return item("a", v={"N": str(number)})


# Switching on and off


def test_a_stream_is_switched_on_once_and_off_once(dynamodb: Any, table: str) -> None:
    on, off = streaming("NEW_IMAGE"), {"StreamSpecification": {"StreamEnabled": False}}
    never = dynamodb.invalid("UpdateTable", TableName=table, **off)
    assert never == f"Table has no stream to disable: TableName: {table}"
    dynamodb("UpdateTable", TableName=table, **on)
    arn = stream_of(dynamodb, table)
    for again in (on, streaming("OLD_IMAGE")):
        assert dynamodb.invalid("UpdateTable", TableName=table, **again) == (
            f"Table already has an enabled stream: TableName: {table}"
        )
    described = dynamodb("DescribeTable", TableName=table)["Table"]
    assert described["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    dynamodb("UpdateTable", TableName=table, **off)
    described = dynamodb("DescribeTable", TableName=table)["Table"]
    assert "StreamSpecification" not in described
    assert described["LatestStreamArn"] == arn
    dynamodb("UpdateTable", TableName=table, **streaming("OLD_IMAGE"))
    assert stream_of(dynamodb, table) != arn


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        ({"StreamEnabled": True}, "If stream is being enabled then UpdateViewType is required"),
        (
            {"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"},
            "If stream is being disabled, then UpdateViewType must not be specified",
        ),
    ],
)
def test_a_view_goes_with_a_stream(dynamodb: Any, table: str, specification: Any, message: str) -> None:
    refused = dynamodb.invalid("UpdateTable", TableName=table, StreamSpecification=specification)
    assert refused == f"One or more parameter values were invalid: {message}"


# Which changes are recorded


def test_what_changes_nothing_is_not_recorded(dynamodb: Any, watched: str) -> None:
    dynamodb("DeleteItem", TableName=watched, Key=item("nobody"))
    dynamodb("UpdateItem", TableName=watched, Key=item("nobody"), UpdateExpression="REMOVE v")
    dynamodb.put(watched, numbered(1), numbered(1), item("a", v={"N": "1.0"}))
    dynamodb(
        "UpdateItem",
        TableName=watched,
        Key=item("a"),
        UpdateExpression="SET v = :v",
        ExpressionAttributeValues={":v": {"N": "1"}},
    )
    dynamodb.put(watched, numbered(2))
    dynamodb("DeleteItem", TableName=watched, Key=item("a"))
    dynamodb("DeleteItem", TableName=watched, Key=item("a"))
    assert told(records(dynamodb, watched)) == [
        ("INSERT", None, numbered(1)),
        ("MODIFY", numbered(1), numbered(2)),
        ("REMOVE", numbered(2), None),
    ]


def test_what_is_refused_is_not_recorded(dynamodb: Any, watched: str) -> None:
    refused = dynamodb.refusal(
        "PutItem", TableName=watched, Item=item("a"), ConditionExpression="attribute_exists(pk)"
    )
    assert refused[0] == "ConditionalCheckFailedException"
    assert records(dynamodb, watched) == []


def test_an_item_of_nothing_but_its_key_has_images_too(dynamodb: Any, watched: str) -> None:
    dynamodb("UpdateItem", TableName=watched, Key=item("a"))
    dynamodb.put(watched, numbered(1))
    dynamodb("DeleteItem", TableName=watched, Key=item("a"))
    assert told(records(dynamodb, watched)) == [
        ("INSERT", None, item("a")),
        ("MODIFY", item("a"), numbered(1)),
        ("REMOVE", numbered(1), None),
    ]


def writes_one_by_one(dynamodb: Any, table: str) -> None:
    dynamodb.put(table, item("kept"), item("new"), item("kept", v={"S": "x"}))
    dynamodb("DeleteItem", TableName=table, Key=item("new"))


def writes_in_batches(dynamodb: Any, table: str) -> None:
    puts = [{"PutRequest": {"Item": item(name)}} for name in ("kept", "new")]
    dynamodb("BatchWriteItem", RequestItems={table: puts})
    changes = [{"PutRequest": {"Item": item("kept", v={"S": "x"})}}, {"DeleteRequest": {"Key": item("new")}}]
    dynamodb("BatchWriteItem", RequestItems={table: [*changes, {"PutRequest": {"Item": item("again")}}]})
    dynamodb("BatchWriteItem", RequestItems={table: [{"PutRequest": {"Item": item("again")}}]})


def writes_in_transactions(dynamodb: Any, table: str) -> None:
    unwatched = dynamodb.create("pk:S")
    puts = [{"Put": {"TableName": name, "Item": item("kept")}} for name in (table, unwatched)]
    dynamodb("TransactWriteItems", TransactItems=[*puts, {"Put": {"TableName": table, "Item": item("new")}}])
    update = {
        "TableName": table,
        "Key": item("kept"),
        "UpdateExpression": "SET v = :v",
        "ExpressionAttributeValues": {":v": {"S": "x"}},
    }
    delete = {"TableName": table, "Key": item("new")}
    dynamodb("TransactWriteItems", TransactItems=[{"Update": update}, {"Delete": delete}])
    dynamodb("TransactWriteItems", TransactItems=[{"Update": update}, {"Delete": delete}])


@pytest.mark.parametrize("write", [writes_one_by_one, writes_in_batches, writes_in_transactions])
def test_every_way_of_writing_makes_the_same_records(dynamodb: Any, watched: str, write: Any) -> None:
    write(dynamodb, watched)
    found = [one for one in records(dynamodb, watched) if one["dynamodb"]["Keys"] != item("again")]
    kept = [one for one in found if one["dynamodb"]["Keys"] == item("kept")]
    new = [one for one in found if one["dynamodb"]["Keys"] == item("new")]
    assert len(kept) + len(new) == len(found)
    assert told(kept) == [
        ("INSERT", None, item("kept")),
        ("MODIFY", item("kept"), item("kept", v={"S": "x"})),
    ]
    assert told(new) == [("INSERT", None, item("new")), ("REMOVE", item("new"), None)]


# What a record holds


def test_a_record(dynamodb: Any, watched: str) -> None:
    dynamodb.put(watched, item("Fred"))
    (record,) = records(dynamodb, watched)
    change = record["dynamodb"]
    number, time = change.pop("SequenceNumber"), change.pop("ApproximateCreationDateTime")
    assert number.isdigit()
    assert 21 <= len(number) <= 40
    assert time == int(time) > 1_500_000_000
    assert change == {
        "Keys": item("Fred"),
        "NewImage": item("Fred"),
        "SizeBytes": 12,
        "StreamViewType": "NEW_AND_OLD_IMAGES",
    }
    region = stream_of(dynamodb, watched).split(":")[3]
    identity = record.pop("eventID")
    assert len(identity) == 32
    del record["dynamodb"]
    assert record == {
        "eventName": "INSERT",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": region,
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_view_has_its_images_and_their_size(dynamodb: Any, kind: str) -> None:
    table = dynamodb.create("id:S", "n:N", **streaming(kind))
    key = {"id": {"S": "Fred"}, "n": {"N": "1"}}
    old, new = {**key, "v": {"S": "xx"}}, {**key, "v": {"S": "xxx"}}
    dynamodb.put(table, old, new)
    dynamodb("DeleteItem", TableName=table, Key=key)
    with_old, with_new = "OLD" in kind, "NEW" in kind
    found = records(dynamodb, table)
    assert told(found) == [
        ("INSERT", None, old if with_new else None),
        ("MODIFY", old if with_old else None, new if with_new else None),
        ("REMOVE", new if with_old else None, None),
    ]
    assert [one["dynamodb"]["Keys"] for one in found] == [key] * 3
    key_size, old_size, new_size = 9, 12, 13
    assert [one["dynamodb"]["SizeBytes"] for one in found] == [
        key_size + old_size * with_new,
        key_size + old_size * with_old + new_size * with_new,
        key_size + new_size * with_old,
    ]


def test_sequence_numbers_grow(dynamodb: Any, watched: str) -> None:
    dynamodb.put(watched, *map(numbered, range(12)))
    sequence = [int(one["dynamodb"]["SequenceNumber"]) for one in records(dynamodb, watched)]
    assert len(sequence) == 12
    assert sequence == sorted(set(sequence))
    (shard,) = shards(dynamodb, stream_of(dynamodb, watched))
    assert 28 <= len(shard["ShardId"]) <= 65
    assert int(shard["SequenceNumberRange"]["StartingSequenceNumber"]) <= sequence[0]


# Reading


def test_where_to_begin_to_read(dynamodb: Any, watched: str) -> None:
    arn = stream_of(dynamodb, watched)
    dynamodb.put(watched, numbered(1), numbered(2))
    latest = at(dynamodb, arn, "LATEST")
    dynamodb.put(watched, numbered(3))
    first, second, _ = (one["dynamodb"]["SequenceNumber"] for one in records(dynamodb, watched))

    def read(iterator: dict[str, Any]) -> list[str]:
        found = dynamodb("GetRecords", **iterator)["Records"]
        return [one["dynamodb"]["NewImage"]["v"]["N"] for one in found]

    assert read(at(dynamodb, arn, "TRIM_HORIZON")) == ["1", "2", "3"]
    assert read(latest) == ["3"]
    assert read(at(dynamodb, arn, "AT_SEQUENCE_NUMBER", second)) == ["2", "3"]
    assert read(at(dynamodb, arn, "AFTER_SEQUENCE_NUMBER", first)) == ["2", "3"]


INVALID = "One or more parameter values were invalid: "


@pytest.mark.parametrize("kind", ["AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER", "TRIM_HORIZON", "LATEST"])
def test_a_sequence_number_goes_with_two_kinds_of_iterators(dynamodb: Any, watched: str, kind: str) -> None:
    arn = stream_of(dynamodb, watched)
    (shard,) = shards(dynamodb, arn)
    request = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": kind}
    must = "must" if "SEQUENCE" in kind else "must not"
    if must == "must not":
        request["SequenceNumber"] = shard["SequenceNumberRange"]["StartingSequenceNumber"]
    assert dynamodb.invalid("GetShardIterator", **request) == (
        f"{INVALID}SequenceNumber {must} be specified for ShardIteratorType {kind}"
    )


def test_streams_and_shards_that_there_are_not(dynamodb: Any, watched: str) -> None:
    arn = stream_of(dynamodb, watched)
    gone = f"{arn.rpartition('/')[0]}/2024-11-18T14:36:44.149"
    no_stream = ("ResourceNotFoundException", f"Requested resource not found: Stream: {gone} not found")
    iterator = {"ShardId": NO_SHARD, "ShardIteratorType": "TRIM_HORIZON"}
    assert dynamodb.refusal("DescribeStream", StreamArn=gone) == no_stream
    assert dynamodb.refusal("GetShardIterator", StreamArn=gone, **iterator) == no_stream
    code, message = dynamodb.refusal("GetShardIterator", StreamArn=arn, **iterator)
    assert code == "ResourceNotFoundException"
    assert message.startswith("Requested resource not found: Shard: ")


@pytest.mark.parametrize("arn", ["x", "x" * 37, "arn:aws:dynamodb:us-east-1:123456789012:table/abc"])
@pytest.mark.parametrize("operation", ["DescribeStream", "GetShardIterator"])
def test_what_is_no_stream_arn_is_invalid(dynamodb: Any, operation: str, arn: str) -> None:
    more = {"ShardId": NO_SHARD, "ShardIteratorType": "LATEST"} if operation == "GetShardIterator" else {}
    message = dynamodb.invalid(operation, StreamArn=arn, **more)
    if len(arn) < 37:
        assert message == (
            "1 validation error detected: Value 'x' at 'streamArn' failed to satisfy constraint: "
            "Member must have length greater than or equal to 37"
        )
    else:
        assert message == "Invalid StreamArn"


def test_an_open_shard_always_goes_on(dynamodb: Any, watched: str) -> None:
    arn = stream_of(dynamodb, watched)
    page = dynamodb("GetRecords", **at(dynamodb, arn))
    assert page["Records"] == []
    dynamodb.put(watched, numbered(1))
    page = dynamodb("GetRecords", ShardIterator=page["NextShardIterator"])
    assert [one["eventName"] for one in page["Records"]] == ["INSERT"]
    page = dynamodb("GetRecords", ShardIterator=page["NextShardIterator"])
    assert page["Records"] == []
    assert "NextShardIterator" in page


def read_through(dynamodb: Any, iterator: dict[str, Any], limit: int) -> Iterator[list[str]]:
    """The pages of a closed shard, to its end."""
    while iterator:
        page = dynamodb("GetRecords", Limit=limit, **iterator)
        yield [one["dynamodb"]["NewImage"]["v"]["N"] for one in page["Records"]]
        iterator = {"ShardIterator": page["NextShardIterator"]} if "NextShardIterator" in page else {}


def test_a_closed_shard_ends(dynamodb: Any, watched: str) -> None:
    arn = stream_of(dynamodb, watched)
    dynamodb.put(watched, *map(numbered, range(5)))
    dynamodb("UpdateTable", TableName=watched, StreamSpecification={"StreamEnabled": False})
    pages = list(read_through(dynamodb, at(dynamodb, arn), limit=2))
    assert [number for page in pages for number in page] == ["0", "1", "2", "3", "4"]
    assert pages[:2] == [["0", "1"], ["2", "3"]]
    nothing = dynamodb("GetRecords", **at(dynamodb, arn, "LATEST"))
    assert nothing == {"Records": []}


@pytest.mark.parametrize(
    ("limit", "allowed"), [(0, "greater than or equal to 1"), (1001, "less than or equal to 1000")]
)
def test_how_many_records_may_be_read(dynamodb: Any, watched: str, limit: int, allowed: str) -> None:
    iterator = at(dynamodb, stream_of(dynamodb, watched))
    assert dynamodb.invalid("GetRecords", Limit=limit, **iterator) == (
        f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy constraint: "
        f"Member must have value {allowed}"
    )
    assert dynamodb.invalid("GetRecords", ShardIterator="x") == "Invalid ShardIterator"


def test_an_iterator_is_good_for_15_minutes(dynamodb: Any, watched: str) -> None:
    iterator = at(dynamodb, stream_of(dynamodb, watched))
    dynamodb.advance(899)
    assert dynamodb("GetRecords", **iterator)["Records"] == []
    dynamodb.advance(2)
    assert dynamodb.refusal("GetRecords", **iterator)[0] == "ExpiredIteratorException"


# How streams end


@pytest.mark.parametrize("end", ["disabled", "deleted"])
def test_a_stream_that_ended_is_readable_for_a_day(dynamodb: Any, watched: str, end: str) -> None:
    arn = stream_of(dynamodb, watched)
    dynamodb.put(watched, numbered(1))
    if end == "disabled":
        dynamodb("UpdateTable", TableName=watched, StreamSpecification={"StreamEnabled": False})
    else:
        dynamodb("DeleteTable", TableName=watched)
    dynamodb.put(dynamodb.create("pk:S"), numbered(2))

    def listed() -> list[str]:
        return [one["StreamArn"] for one in dynamodb("ListStreams", TableName=watched)["Streams"]]

    dynamodb.advance(DAY - 60)
    description = dynamodb("DescribeStream", StreamArn=arn)["StreamDescription"]
    assert description["StreamStatus"] == "DISABLED"
    (shard,) = description["Shards"]
    numbers = shard["SequenceNumberRange"]
    assert int(numbers["EndingSequenceNumber"]) >= int(numbers["StartingSequenceNumber"])
    assert [one["eventName"] for one in dynamodb("GetRecords", **at(dynamodb, arn))["Records"]] == ["INSERT"]
    assert listed() == [arn]
    dynamodb.advance(61)
    assert dynamodb.refusal("DescribeStream", StreamArn=arn)[0] == "ResourceNotFoundException"
    assert listed() == []


def test_records_are_kept_for_a_day(dynamodb: Any, watched: str) -> None:
    arn = stream_of(dynamodb, watched)
    dynamodb.put(watched, numbered(1))
    (first,) = records(dynamodb, watched)
    dynamodb.advance(DAY / 2)
    dynamodb.put(watched, numbered(2))
    dynamodb.advance(DAY / 2 + 1)
    assert told(records(dynamodb, watched)) == [("MODIFY", numbered(1), numbered(2))]
    (shard,) = shards(dynamodb, arn)
    trimmed = dynamodb.refusal(
        "GetShardIterator",
        StreamArn=arn,
        ShardId=shard["ShardId"],
        ShardIteratorType="AT_SEQUENCE_NUMBER",
        SequenceNumber=first["dynamodb"]["SequenceNumber"],
    )
    assert trimmed[0] == "TrimmedDataAccessException"


# Lists


def test_a_stream_is_described_with_its_shards(dynamodb: Any, watched: str) -> None:
    arn = stream_of(dynamodb, watched)
    description = dynamodb("DescribeStream", StreamArn=arn)["StreamDescription"]
    label, created = description["StreamLabel"], description.pop("CreationRequestDateTime")
    (shard,) = description.pop("Shards")
    assert description == {
        "StreamArn": arn,
        "StreamLabel": label,
        "StreamStatus": "ENABLED",
        "StreamViewType": "NEW_AND_OLD_IMAGES",
        "TableName": watched,
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }
    assert arn.endswith(f":table/{watched}/stream/{label}")
    assert created > 1_500_000_000
    assert shard.keys() == {"ShardId", "SequenceNumberRange"}
    assert shard["SequenceNumberRange"].keys() == {"StartingSequenceNumber"}


def test_an_unknown_shard_to_start_behind_gives_an_empty_list(dynamodb: Any, watched: str) -> None:
    arn = stream_of(dynamodb, watched)
    for start in (NO_SHARD, shards(dynamodb, arn)[0]["ShardId"]):
        answer = dynamodb("DescribeStream", StreamArn=arn, ExclusiveStartShardId=start)
        assert answer["StreamDescription"]["Shards"] == []


@pytest.mark.parametrize("operation", ["ListStreams", "DescribeStream"])
@pytest.mark.parametrize(
    ("limit", "allowed"), [(0, "greater than or equal to 1"), (101, "less than or equal to 100")]
)
def test_how_much_may_be_listed(
    dynamodb: Any, watched: str, operation: str, limit: int, allowed: str
) -> None:
    more = {"StreamArn": stream_of(dynamodb, watched)} if operation == "DescribeStream" else {}
    assert dynamodb.invalid(operation, Limit=limit, **more) == (
        f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy constraint: "
        f"Member must have value {allowed}"
    )


def test_streams_are_listed_by_table_and_in_pages(dynamodb: Any, watched: str) -> None:
    other = dynamodb.create("pk:S", **streaming("KEYS_ONLY"))
    ours = {stream_of(dynamodb, watched), stream_of(dynamodb, other)}
    (one,) = dynamodb("ListStreams", TableName=watched)["Streams"]
    arn = stream_of(dynamodb, watched)
    assert one == {"StreamArn": arn, "TableName": watched, "StreamLabel": arn.rpartition("/")[2]}
    assert dynamodb("ListStreams", TableName="nothing")["Streams"] == []
    listed: list[str] = []
    start: dict[str, str] = {}
    while True:
        page = dynamodb("ListStreams", Limit=1, **start)
        listed += [stream["StreamArn"] for stream in page["Streams"]]
        if "LastEvaluatedStreamArn" not in page:
            break
        start = {"ExclusiveStartStreamArn": page["LastEvaluatedStreamArn"]}
    assert ours <= set(listed)
    assert len(listed) == len(set(listed))
