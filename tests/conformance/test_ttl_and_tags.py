"""Time to live: how it is set, and what expires. Tags: what they may be, and which ARNs have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

pytestmark = pytest.mark.store_only

DAY = 24 * 3600
YEAR = 365 * DAY
NOTHING = {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}


def setting(table: str, enabled: bool, attribute: str) -> dict[str, Any]:
    return {
        "TableName": table,
        "TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": attribute},
    }


def described(dynamodb: Any, table: str) -> Any:
    return dynamodb("DescribeTimeToLive", TableName=table)


def now(dynamodb: Any) -> int:
    """The time of whoever answers."""
    table = dynamodb("DescribeTable", TableName=dynamodb.create("pk:S"))["Table"]
    return int(table["CreationDateTime"])


def remaining(dynamodb: Any, table: str) -> set[str]:
    """The keys of what is left when all that is to be removed has been."""
    dynamodb.advance(3 * DAY)
    items = dynamodb("Scan", TableName=table, ConsistentRead=True)["Items"]
    return {next(iter(item["pk"].values())) for item in items}


# Setting the time to live


def test_what_is_on_is_not_switched_on_again(dynamodb: Any, table: str) -> None:
    answer = dynamodb("UpdateTimeToLive", **setting(table, True, "ttl"))
    assert answer == {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}}
    again = dynamodb.invalid("UpdateTimeToLive", **setting(table, True, "ttl"))
    assert again == "TimeToLive is already enabled"
    other = dynamodb.invalid("UpdateTimeToLive", **setting(table, True, "other"))
    assert other == "TimeToLive is active on a different AttributeName: current AttributeName is ttl"
    assert described(dynamodb, table) == {
        "TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
    }


def test_what_is_off_is_not_switched_off_again(dynamodb: Any, table: str) -> None:
    off = setting(table, False, "ttl")
    assert dynamodb.invalid("UpdateTimeToLive", **off) == "TimeToLive is already disabled"
    dynamodb("UpdateTimeToLive", **setting(table, True, "ttl"))
    answer = dynamodb("UpdateTimeToLive", **off)
    assert answer == {"TimeToLiveSpecification": {"Enabled": False, "AttributeName": "ttl"}}
    assert dynamodb.invalid("UpdateTimeToLive", **off) == "TimeToLive is already disabled"


def test_it_is_switched_off_by_its_attribute(dynamodb: Any, table: str) -> None:
    dynamodb("UpdateTimeToLive", **setting(table, True, "ttl"))
    refused = dynamodb.invalid("UpdateTimeToLive", **setting(table, False, "other"))
    assert refused == "TimeToLive is active on a different AttributeName: current AttributeName is ttl"
    assert described(dynamodb, table)["TimeToLiveDescription"]["TimeToLiveStatus"] == "ENABLED"


def test_what_is_off_has_no_attribute(dynamodb: Any, table: str) -> None:
    assert described(dynamodb, table) == NOTHING
    dynamodb("UpdateTimeToLive", **setting(table, True, "ttl"))
    dynamodb("UpdateTimeToLive", **setting(table, False, "ttl"))
    assert described(dynamodb, table) == NOTHING


def test_the_attribute_has_1_to_255_characters(dynamodb: Any, table: str) -> None:
    for attribute, broken in [("", "greater than or equal to 1"), ("x" * 256, "less than or equal to 255")]:
        assert dynamodb.invalid("UpdateTimeToLive", **setting(table, True, attribute)) == (
            f"1 validation error detected: Value '{attribute}' at 'timeToLiveSpecification.attributeName' "
            f"failed to satisfy constraint: Member must have length {broken}"
        )
    assert described(dynamodb, table) == NOTHING
    dynamodb("UpdateTimeToLive", **setting(table, True, "x" * 255))


def test_a_setting_is_whole(dynamodb: Any, table: str) -> None:
    assert dynamodb.invalid("UpdateTimeToLive", TableName=table) == (
        "1 validation error detected: Value null at 'timeToLiveSpecification' "
        "failed to satisfy constraint: Member must not be null"
    )
    empty = dynamodb.invalid("UpdateTimeToLive", TableName=table, TimeToLiveSpecification={})
    assert empty.startswith("2 validation errors detected: Value null at 'timeToLiveSpecification.")


# What expires


def test_only_recent_numbers_expire(dynamodb: Any, table: str) -> None:
    dynamodb("UpdateTimeToLive", **setting(table, True, "ttl"))
    time = now(dynamodb)
    values: Mapping[str, Any] = {
        "soon": {"N": str(time + 60)},
        "past": {"N": str(time - YEAR)},
        "nearly five years ago": {"N": str(time - 5 * YEAR + DAY)},
        "over five years ago": {"N": str(time - 5 * YEAR - DAY)},
        "milliseconds": {"N": f"{time}000"},
        "a string": {"S": str(time)},
        "a set": {"NS": [str(time)]},
        "a list": {"L": [{"N": str(time)}]},
        "negative": {"N": "-1"},
        "zero": {"N": "0"},
        "far away": {"N": str(time + YEAR)},
        "beyond all time": {"N": "1e100"},
    }
    dynamodb.put(table, {"pk": {"S": "nothing"}})
    dynamodb.put(table, *({"pk": {"S": name}, "ttl": value} for name, value in values.items()))
    expired = {"soon", "past", "nearly five years ago"}
    assert remaining(dynamodb, table) == ({*values} | {"nothing"}) - expired


def test_an_expired_item_is_there_until_it_is_removed(dynamodb: Any, table: str) -> None:
    dynamodb("UpdateTimeToLive", **setting(table, True, "ttl"))
    time = now(dynamodb)
    for name in ("left", "renewed", "freed"):
        dynamodb.put(table, {"pk": {"S": name}, "ttl": {"N": str(time + 60)}})
    dynamodb.advance(120)
    assert dynamodb("Scan", TableName=table)["Count"] == 3
    dynamodb.put(table, {"pk": {"S": "renewed"}, "ttl": {"N": str(time + YEAR)}})
    free = {"UpdateExpression": "REMOVE #ttl", "ExpressionAttributeNames": {"#ttl": "ttl"}}
    dynamodb("UpdateItem", TableName=table, Key={"pk": {"S": "freed"}}, **free)
    assert remaining(dynamodb, table) == {"renewed", "freed"}


def test_items_that_were_there_before_expire_too_and_none_after(dynamodb: Any, table: str) -> None:
    time = now(dynamodb)
    dynamodb.put(table, {"pk": {"S": "before"}, "ttl": {"N": str(time)}})
    dynamodb("UpdateTimeToLive", **setting(table, True, "ttl"))
    assert remaining(dynamodb, table) == set()
    dynamodb("UpdateTimeToLive", **setting(table, False, "ttl"))
    dynamodb.put(table, {"pk": {"S": "after"}, "ttl": {"N": str(now(dynamodb))}})
    assert remaining(dynamodb, table) == {"after"}


def test_an_expiry_is_recorded_as_the_service_s_own_deed(dynamodb: Any) -> None:
    table = dynamodb.create(
        "pk:S",
        attributes=["ttl:N"],
        GlobalSecondaryIndexes=[dynamodb.index("by-ttl", "ttl")],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    dynamodb("UpdateTimeToLive", **setting(table, True, "ttl"))
    item = {"pk": {"S": "a"}, "ttl": {"N": str(now(dynamodb))}}
    dynamodb.put(table, item, {"pk": {"S": "b"}})
    dynamodb("DeleteItem", TableName=table, Key={"pk": {"S": "b"}})
    assert remaining(dynamodb, table) == set()
    arn = dynamodb("DescribeTable", TableName=table)["Table"]["LatestStreamArn"]
    (shard,) = dynamodb("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]
    iterator = dynamodb(
        "GetShardIterator", StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )
    # What the user did was days ago, and is no longer kept.
    (record,) = dynamodb("GetRecords", **iterator)["Records"]
    assert record["eventName"] == "REMOVE"
    assert record["userIdentity"] == {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
    assert record["dynamodb"]["OldImage"] == item
    assert "NewImage" not in record["dynamodb"]
    assert dynamodb("Scan", TableName=table, IndexName="by-ttl")["Count"] == 0


def test_a_user_s_delete_names_nobody(dynamodb: Any) -> None:
    table = dynamodb.create(
        "pk:S", StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    )
    dynamodb("UpdateTimeToLive", **setting(table, True, "ttl"))
    dynamodb.put(table, {"pk": {"S": "a"}, "ttl": {"N": str(now(dynamodb))}})
    dynamodb("DeleteItem", TableName=table, Key={"pk": {"S": "a"}})
    arn = dynamodb("DescribeTable", TableName=table)["Table"]["LatestStreamArn"]
    (shard,) = dynamodb("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]
    iterator = dynamodb(
        "GetShardIterator", StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )
    found = dynamodb("GetRecords", **iterator)["Records"]
    assert [one["eventName"] for one in found] == ["INSERT", "REMOVE"]
    assert "userIdentity" not in found[1]


@pytest.mark.parametrize("role", ["partition key", "sort key", "local index", "global index"])
def test_a_key_can_be_the_time_to_live(dynamodb: Any, role: str) -> None:
    index = dynamodb.index("by-ttl", "ttl")
    if role == "partition key":
        table, name = dynamodb.create("pk:N", "sk:S"), "pk"
    elif role == "sort key":
        table, name = dynamodb.create("pk:S", "sk:N"), "sk"
    elif role == "global index":
        table = dynamodb.create("pk:S", "sk:S", attributes=["ttl:N"], GlobalSecondaryIndexes=[index])
        name = "ttl"
    else:
        local = dynamodb.index("by-ttl", "pk", "ttl")
        table = dynamodb.create("pk:S", "sk:S", attributes=["ttl:N"], LocalSecondaryIndexes=[local])
        name = "ttl"
    dynamodb("UpdateTimeToLive", **setting(table, True, name))
    time = now(dynamodb)
    for moment in (time, time + YEAR):
        item = {"pk": {"S": str(moment)}, "sk": {"S": "s"}, name: {"N": str(moment)}}
        dynamodb.put(table, item)
    assert remaining(dynamodb, table) == {str(time + YEAR)}
    if name == "ttl":
        assert dynamodb("Scan", TableName=table, IndexName="by-ttl")["Count"] == 1


# Tags


@pytest.fixture
def arn(dynamodb: Any, table: str) -> str:
    found: str = dynamodb("DescribeTable", TableName=table)["Table"]["TableArn"]
    return found


def tag(key: str, value: str = "") -> dict[str, str]:
    return {"Key": key, "Value": value}


def tags(dynamodb: Any, arn: str) -> dict[str, str]:
    answer = dynamodb("ListTagsOfResource", ResourceArn=arn)
    assert answer.keys() == {"Tags"}
    return {one["Key"]: one["Value"] for one in answer["Tags"]}


def test_tags_are_added_overwritten_and_removed(dynamodb: Any, arn: str) -> None:
    assert dynamodb("ListTagsOfResource", ResourceArn=arn) == {"Tags": []}
    dynamodb("TagResource", ResourceArn=arn, Tags=[tag("a", "1"), tag("b", "2")])
    dynamodb("TagResource", ResourceArn=arn, Tags=[tag("b", "3"), tag("c")])
    assert tags(dynamodb, arn) == {"a": "1", "b": "3", "c": ""}
    dynamodb("UntagResource", ResourceArn=arn, TagKeys=["a", "nothing"])
    assert tags(dynamodb, arn) == {"b": "3", "c": ""}


def test_a_table_may_be_born_with_tags(dynamodb: Any) -> None:
    table = dynamodb.create("pk:S", Tags=[tag("a", "1")])
    described = dynamodb("DescribeTable", TableName=table)["Table"]
    assert "Tags" not in described
    assert tags(dynamodb, described["TableArn"]) == {"a": "1"}


def test_a_table_has_50_tags_at_most(dynamodb: Any, arn: str) -> None:
    fifty = [tag(str(number)) for number in range(50)]
    dynamodb("TagResource", ResourceArn=arn, Tags=fifty)
    one_more = dynamodb.refusal("TagResource", ResourceArn=arn, Tags=[tag("0", "again"), tag("one more")])
    told = "Number of Tags exceed the current limit for the provided ResourceArn"
    assert one_more == ("ValidationException", told)
    assert len(tags(dynamodb, arn)) == 50
    assert tags(dynamodb, arn)["0"] == ""
    dynamodb("TagResource", ResourceArn=arn, Tags=[tag("0", "again")])
    too_many = {
        "TableName": "conformance-never-tagged",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
        "Tags": [*fifty, tag("one more")],
    }
    assert dynamodb.refusal("CreateTable", **too_many) == ("ValidationException", told)
    every_key = [one["Key"] for one in too_many["Tags"]]
    assert dynamodb.invalid("UntagResource", ResourceArn=arn, TagKeys=every_key) == told
    assert "conformance-never-tagged" not in dynamodb("ListTables")["TableNames"]


@pytest.mark.parametrize(
    "fits",
    [
        tag("k" * 128, "v" * 256),
        tag("\N{GREEK SMALL LETTER ALPHA}" * 128, "\N{CJK UNIFIED IDEOGRAPH-4E00}" * 256),
        tag("k", ""),
        tag("a_b.c:d/e=f+g-h@i j", "_.:/=+-@ 9"),
    ],
)
def test_tags_that_pass(dynamodb: Any, arn: str, fits: dict[str, str]) -> None:
    dynamodb("TagResource", ResourceArn=arn, Tags=[fits])
    assert tags(dynamodb, arn) == {fits["Key"]: fits["Value"]}


WRONG_KEY = "The Tag Key provided is invalid, Key:"
WRONG_VALUE = "The Tag Value provided is invalid, Value:"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (tag(""), f"{WRONG_KEY} "),
        (tag("k" * 129), f"{WRONG_KEY} {'k' * 129}"),
        (tag("k", "v" * 257), f"{WRONG_VALUE} {'v' * 257}"),
        ({}, f"{WRONG_KEY} null"),
        ({"Value": "v"}, f"{WRONG_KEY} null"),
        ({"Key": "k"}, f"{WRONG_VALUE} null"),
    ],
)
def test_tags_of_wrong_lengths(dynamodb: Any, arn: str, wrong: dict[str, str], message: str) -> None:
    assert dynamodb.invalid("TagResource", ResourceArn=arn, Tags=[wrong]) == message
    assert tags(dynamodb, arn) == {}


@pytest.mark.parametrize("character", "!#$%&()*,;<>?[]^`{|}~\"'\\")
def test_other_punctuation_is_refused(dynamodb: Any, arn: str, character: str) -> None:
    for wrong, told in [
        (tag(f"k{character}"), f"{WRONG_KEY} k{character}"),
        (tag("k", f"v{character}"), f"{WRONG_VALUE} v{character}"),
    ]:
        assert dynamodb.invalid("TagResource", ResourceArn=arn, Tags=[tag("good"), wrong]) == told
    assert tags(dynamodb, arn) == {}


@pytest.mark.parametrize(
    ("pair", "told"),
    [
        ([tag("aws:k")], "Tag Key cannot be prefixed with aws:, Key: aws:k"),
        (
            [tag("k", "1"), tag("k", "2")],
            "Duplicate Tag Keys provided as input: Duplicate Tag Key found k",
        ),
    ],
)
def test_reserved_and_repeated_keys_are_refused(dynamodb: Any, arn: str, pair: Any, told: str) -> None:
    assert dynamodb.invalid("TagResource", ResourceArn=arn, Tags=pair) == told
    assert tags(dynamodb, arn) == {}


# Calls on tags


CALLS: Mapping[str, dict[str, Any]] = {
    "TagResource": {"Tags": [tag("a")]},
    "UntagResource": {"TagKeys": ["a"]},
    "ListTagsOfResource": {},
}


@pytest.mark.parametrize("operation", CALLS)
def test_an_empty_arn_is_nobody_s_business(dynamodb: Any, operation: str) -> None:
    for empty, resource in [("", "*"), ("a:b:c:d:e:f", "a:b:c:d:e:f")]:
        code, message = dynamodb.refusal(operation, ResourceArn=empty, **CALLS[operation])
        assert code == "AccessDeniedException"
        assert message.startswith("User: arn:aws:iam::")
        assert message.endswith(
            f" is not authorized to perform: dynamodb:{operation} on resource: {resource}"
        )
    assert dynamodb.invalid(operation, **CALLS[operation]) == "Invalid TableArn"


def test_a_text_without_a_colon_is_no_arn_to_tag(dynamodb: Any) -> None:
    for tags in ([tag("a")], []):
        refused = dynamodb.invalid("TagResource", ResourceArn="abcd", Tags=tags)
        assert refused == "Invalid TableArn: Invalid ResourceArn provided as input abcd"
    for operation in ("UntagResource", "ListTagsOfResource"):
        code, _ = dynamodb.refusal(operation, ResourceArn="abcd", **CALLS[operation])
        assert code == "AccessDeniedException"


@pytest.mark.parametrize("operation", CALLS)
def test_only_tables_have_tags(dynamodb: Any, arn: str, operation: str) -> None:
    prefix = arn.rpartition("/")[0]
    for wrong in ("a:b:c:d:e:f/g", f"{prefix}/ab", f"{arn}/index/by-a", f"{arn}/stream/2026"):
        assert dynamodb.invalid(operation, ResourceArn=wrong, **CALLS[operation]) == (
            f"Invalid TableArn: Invalid ResourceArn provided as input {wrong}"
        )
    gone = f"{prefix}/conformance-no-such-table"
    told = "" if operation == "UntagResource" else f": ResourcArn: {gone} not found"
    assert dynamodb.refusal(operation, ResourceArn=gone, **CALLS[operation]) == (
        "ResourceNotFoundException",
        f"Requested resource not found{told}",
    )


@pytest.mark.parametrize(
    ("operation", "parameter", "what"),
    [("TagResource", "Tags", "Tag"), ("UntagResource", "TagKeys", "Tag Key")],
)
def test_there_must_be_something_to_tag_with(
    dynamodb: Any, arn: str, operation: str, parameter: str, what: str
) -> None:
    assert dynamodb.invalid(operation, ResourceArn=arn, **{parameter: []}) == (
        f"Atleast one {what} needs to be provided as Input."
    )
    path = parameter[0].lower() + parameter[1:]
    assert dynamodb.invalid(operation, ResourceArn=arn) == (
        f"1 validation error detected: Value null at '{path}' failed to satisfy constraint: "
        "Member must not be null"
    )
