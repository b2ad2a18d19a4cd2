"""Attribute values: what each datatype may hold, wherever a value stands."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

INVALID = "ValidationException"
KEY = {"pk": {"S": "a"}}
ONE_OR_MORE = "One or more parameter values were invalid: "
EMPTY = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
SEVERAL = (
    "Supplied AttributeValue has more than one datatypes set, "
    "must contain exactly one of the supported datatypes"
)


Call = tuple[str, dict[str, Any]]


def item(value: Any) -> dict[str, Any]:
    return {**KEY, "x": value}


def calls_with(table: str, value: Any) -> dict[str, Call]:
    """A request for each place where a value may stand."""

    def put(**request: Any) -> Call:
        return "PutItem", {"TableName": table, "Item": KEY, **request}

    def batch(*writes: Any) -> Call:
        return "BatchWriteItem", {"RequestItems": {table: list(writes)}}

    def transact(action: str, **request: Any) -> Call:
        return "TransactWriteItems", {"TransactItems": [{action: {"TableName": table, **request}}]}

    key = {"pk": value}
    keyed = {"TableName": table, "Key": key}
    compared = {"x": {"ComparisonOperator": "EQ", "AttributeValueList": [value]}}
    update = {"x": {"Action": "PUT", "Value": value}}
    other = {"PutRequest": {"Item": {"pk": {"S": "b"}}}}
    return {
        "an item": put(Item=item(value)),
        "a list": put(Item=item({"L": [{"S": "a"}, value]})),
        "a map": put(Item=item({"M": {"a": {"S": "a"}, "b": {"L": [value]}}})),
        "a batch": batch(other, {"PutRequest": {"Item": item(value)}}),
        "a transaction": transact("Put", Item=item(value)),
        "an update": ("UpdateItem", {"TableName": table, "Key": KEY, "AttributeUpdates": update}),
        "an expected value": put(Expected={"x": {"Value": value}}),
        "an expected list": ("DeleteItem", {"TableName": table, "Key": KEY, "Expected": compared}),
        "a filter": ("Scan", {"TableName": table, "ScanFilter": compared}),
        "a key to get": ("GetItem", keyed),
        "a key to update": ("UpdateItem", keyed),
        "a key to delete": ("DeleteItem", keyed),
        "a key in a batch of writes": batch(other, {"DeleteRequest": {"Key": key}}),
        "a key in a batch of reads": ("BatchGetItem", {"RequestItems": {table: {"Keys": [key]}}}),
        "a key in a transaction": transact("Delete", Key=key),
        "a key in a transaction of reads": ("TransactGetItems", {"TransactItems": [{"Get": keyed}]}),
    }


def check_refused(dynamodb: Any, table: str, *cases: tuple[Any, str], code: str = INVALID) -> None:
    """Each value is refused in an item with its message, the first in every place; nothing is written."""
    for number, (value, message) in enumerate(cases):
        calls = calls_with(table, value)
        for place in calls if number == 0 else ["an item"]:
            operation, request = calls[place]
            assert dynamodb.refusal(operation, **request) == (code, message), (place, value)
    assert dynamodb.items(table) == []


def test_a_value_has_exactly_one_datatype(dynamodb: Any, table: str) -> None:
    check_refused(
        dynamodb,
        table,
        ({}, EMPTY),
        ({"X": "a"}, EMPTY),
        ({"S": None}, EMPTY),
        ({"L": [{}]}, EMPTY),
        ({"L": [None]}, EMPTY),
        ({"M": {"a": {"M": {"b": {"X": "a"}}}}}, EMPTY),
    )
    check_refused(
        dynamodb,
        table,
        ({"S": "a", "N": "1"}, SEVERAL),
        ({"NULL": True, "BOOL": False}, SEVERAL),
        ({"L": [{"M": {}, "L": []}]}, SEVERAL),
    )


def test_a_set_is_not_empty(dynamodb: Any, table: str) -> None:
    check_refused(
        dynamodb,
        table,
        ({"SS": []}, f"{ONE_OR_MORE}An string set  may not be empty"),
        ({"NS": []}, f"{ONE_OR_MORE}An number set  may not be empty"),
        ({"BS": []}, f"{ONE_OR_MORE}Binary sets should not be empty"),
        ({"L": [{"SS": []}]}, f"{ONE_OR_MORE}An string set  may not be empty"),
        ({"M": {"a": {"L": [{"NS": []}]}}}, f"{ONE_OR_MORE}An number set  may not be empty"),
        ({"M": {"a": {"BS": []}}}, f"{ONE_OR_MORE}Binary sets should not be empty"),
    )


def test_a_set_has_no_duplicates(dynamodb: Any, table: str) -> None:
    strings = f"{ONE_OR_MORE}Input collection [b, a, b] contains duplicates."
    binaries = f"{ONE_OR_MORE}Input collection [Yg==, Yg==]of type BS contains duplicates."
    check_refused(
        dynamodb,
        table,
        ({"SS": ["b", "a", "b"]}, strings),
        ({"L": [{"M": {"a": {"SS": ["b", "a", "b"]}}}]}, strings),
        ({"BS": ["Yg==", "Yg=="]}, binaries),
        ({"NS": ["1", "1"]}, "Input collection contains duplicates"),
    )


def test_a_set_has_no_number_twice_in_two_spellings(dynamodb: Any, table: str) -> None:
    spellings = [["1", "2", "1.0"], ["100", "1e2"], ["0", "-0.0"], ["+1.5", "0015e-1"]]
    cases = [({"NS": numbers}, "Input collection contains duplicates") for numbers in spellings]
    check_refused(dynamodb, table, *cases)


def test_null_is_true(dynamodb: Any, table: str) -> None:
    told = f"{ONE_OR_MORE}Null attribute value types must have the value of true"
    values = [{"NULL": False}, {"NULL": "no"}, {"L": [{"NULL": False}]}]
    check_refused(dynamodb, table, *((value, told) for value in values))


def test_base64_is_padded_and_ends_where_its_bytes_end(dynamodb: Any, table: str) -> None:
    def check(told: str, *texts: str) -> None:
        nested = [{"BS": ["AA==", texts[0]]}, {"L": [{"M": {"a": {"B": texts[0]}}}]}]
        values = [*({"B": text} for text in texts), *nested]
        check_refused(dynamodb, table, *((value, told) for value in values), code="SerializationException")

    for text in ("23456", "A", "AA", "AAA"):
        check(f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(text)}", text)
    stray = ["=+/=", "+/+=", "AA=A", "A===", "AB==", "AAB="]
    check("Invalid last non-pad Base64 character dectected", *stray)


# What is allowed


def check_kept(dynamodb: Any, table: str, value: Any) -> None:
    dynamodb.put(table, item(value))
    assert dynamodb.get(table, **KEY) == item(value)


@pytest.mark.parametrize(
    "value",
    [
        {"S": ""},
        {"B": ""},
        {"SS": [""]},
        {"SS": ["", "a"]},
        {"BS": [""]},
        {"L": [{"S": ""}, {"B": ""}, {"L": []}, {"M": {}}]},
        {"M": {"a": {"S": ""}, "b": {"B": ""}}},
        {"L": []},
        {"M": {}},
    ],
)
def test_strings_and_binaries_lists_and_maps_may_be_empty(dynamodb: Any, table: str, value: Any) -> None:
    check_kept(dynamodb, table, value)
    updated = {"ExpressionAttributeValues": {":x": value}, "UpdateExpression": "SET y = :x"}
    dynamodb("UpdateItem", TableName=table, Key=KEY, **updated)
    assert dynamodb.get(table, **KEY) == {**item(value), "y": value}


@pytest.mark.parametrize(
    "value",
    [
        {"S": "\x00"},
        {"S": "a\x00b\x00"},
        {"B": b64encode(b"\x00\x00").decode()},
        {"SS": ["\x00", "a\x00"]},
        {"M": {"\x00": {"S": "\x00"}}},
    ],
)
def test_a_zero_character_is_one_like_any_other(dynamodb: Any, table: str, value: Any) -> None:
    check_kept(dynamodb, table, value)


def test_a_key_may_hold_zeros(dynamodb: Any) -> None:
    table = dynamodb.create("pk:S", "sk:B")
    keys = [b"\x00", b"\x00\x00", b"\x00\x01", b"\x01", b"\x01\x00"]
    for sort in reversed(keys):
        dynamodb.put(table, {"pk": {"S": "a\x00"}, "sk": {"B": b64encode(sort).decode()}})
    found = dynamodb(
        "Query",
        TableName=table,
        KeyConditionExpression="pk = :a",
        ExpressionAttributeValues={":a": {"S": "a\x00"}},
    )
    assert [one["sk"]["B"] for one in found["Items"]] == [b64encode(sort).decode() for sort in keys]


def test_every_datatype_comes_back_as_it_was_sent(dynamodb: Any, table: str) -> None:
    scalars = [
        {"S": "ä😀"},
        {"N": "-56.789"},
        {"B": "AP8="},
        {"BOOL": True},
        {"BOOL": False},
        {"NULL": True},
        {"SS": ["a"]},
        {"NS": ["1"]},
        {"BS": ["Yg=="]},
    ]
    named = {f"v{number}": scalar for number, scalar in enumerate(scalars)}
    whole = {**KEY, **named, "l": {"L": [*scalars, {"L": scalars}]}, "m": {"M": {**named, "m": {"M": named}}}}
    dynamodb.put(table, whole)
    assert dynamodb.get(table, **KEY) == whole
    for datatype, members in {
        "SS": ["b", "", "a"],
        "NS": ["2", "-1", "10"],
        "BS": ["Yg==", "", "YQ=="],
    }.items():
        dynamodb.put(table, item({datatype: members}))
        assert sorted(dynamodb.get(table, **KEY)["x"][datatype]) == sorted(members)


# Sets that lose and gain members


@pytest.mark.parametrize(
    ("members", "one"), [({"SS": ["a"]}, "a"), ({"NS": ["1"]}, "1.0"), ({"BS": ["AA=="]}, "AA==")]
)
def test_a_set_goes_with_its_last_member(
    dynamodb: Any, table: str, members: dict[str, Any], one: str
) -> None:
    [datatype] = members
    taken = {"ExpressionAttributeValues": {":x": {datatype: [one]}}}
    dynamodb.put(table, {**item(members), "m": {"M": {"x": members}}})
    dynamodb("UpdateItem", TableName=table, Key=KEY, UpdateExpression="DELETE x :x, m.x :x", **taken)
    assert dynamodb.get(table, **KEY) == {**KEY, "m": {"M": {}}}

    dynamodb.put(table, item(members))
    legacy = {"x": {"Action": "DELETE", "Value": {datatype: [one]}}}
    dynamodb("UpdateItem", TableName=table, Key=KEY, AttributeUpdates=legacy)
    assert dynamodb.get(table, **KEY) == KEY


@pytest.mark.parametrize(
    ("sent", "added", "kept"),
    [
        ({"SS": ["b", "é", "Z", "a"]}, {"SS": ["", "aa"]}, {"SS": ["", "Z", "a", "aa", "b", "é"]}),
        ({"NS": ["10", "9", "-1"]}, {"NS": ["0.5", "-20"]}, {"NS": ["-20", "-1", "0.5", "9", "10"]}),
        ({"BS": ["/w==", "AQ=="]}, {"BS": ["AA==", ""]}, {"BS": ["", "AA==", "AQ==", "/w=="]}),
    ],
)
def test_the_members_of_a_set_have_an_order_of_their_own(
    dynamodb: Any, table: str, sent: dict[str, Any], added: dict[str, Any], kept: dict[str, Any]
) -> None:
    dynamodb.put(table, item(sent))
    dynamodb(
        "UpdateItem",
        TableName=table,
        Key=KEY,
        UpdateExpression="ADD x :x",
        ExpressionAttributeValues={":x": added},
    )
    assert dynamodb.get(table, **KEY) == item(kept)


def test_a_list_and_a_map_stay_when_they_are_empty(dynamodb: Any, table: str) -> None:
    dynamodb.put(table, {**KEY, "l": {"L": [{"S": "a"}]}, "m": {"M": {"a": {"S": "a"}}}})
    dynamodb("UpdateItem", TableName=table, Key=KEY, UpdateExpression="REMOVE l[0], m.a")
    assert dynamodb.get(table, **KEY) == {**KEY, "l": {"L": []}, "m": {"M": {}}}


def test_a_number_is_in_a_set_in_all_its_spellings(dynamodb: Any, table: str) -> None:
    dynamodb.put(table, item({"NS": ["1", "20"]}))

    def update(expression: str, *numbers: str) -> list[str]:
        values = {":x": {"NS": list(numbers)}}
        dynamodb(
            "UpdateItem",
            TableName=table,
            Key=KEY,
            UpdateExpression=expression,
            ExpressionAttributeValues=values,
        )
        return sorted(dynamodb.get(table, **KEY)["x"]["NS"])

    assert update("ADD x :x", "1.0", "2e1") == ["1", "20"]
    assert update("ADD x :x", "0.3e1", "01") == ["1", "20", "3"]
    assert update("DELETE x :x", "+1", "5") == ["20", "3"]
