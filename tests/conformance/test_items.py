"""Reading and writing single items: their keys, and the keys of indexes in them."""

from __future__ import annotations

from typing import Any

import pytest

ON_KEYS = ["GetItem", "DeleteItem", "UpdateItem"]
INVALID = "One or more parameter values were invalid: "
NO_SUCH_KEY = "The provided key element does not match the schema"
OTHER_TYPES: list[dict[str, Any]] = [
    {"N": "1"},
    {"B": "AQ=="},
    {"BOOL": True},
    {"NULL": True},
    {"SS": ["a"]},
    {"NS": ["1"]},
    {"BS": ["AQ=="]},
    {"L": []},
    {"M": {}},
]
"""A value of each type that is no string."""


# Keys


@pytest.mark.parametrize(
    "key", [{}, {"x": {"S": "a"}}, {"pk": {"S": "a"}, "x": {"S": "b"}}, *({"pk": one} for one in OTHER_TYPES)]
)
@pytest.mark.parametrize("operation", ON_KEYS)
def test_a_key_must_be_that_of_the_schema(
    dynamodb: Any, table: str, operation: str, key: dict[str, Any]
) -> None:
    assert dynamodb.invalid(operation, TableName=table, Key=key) == NO_SUCH_KEY
    assert dynamodb.items(table) == []


@pytest.mark.parametrize(
    "key",
    [
        {"pk": {"S": "a"}},
        {"sk": {"N": "1"}},
        {"pk": {"S": "a"}, "sk": {"S": "1"}},
        {"pk": {"S": "a"}, "sk": {"NULL": True}},
        {"pk": {"S": "a"}, "x": {"N": "1"}},
        {"pk": {"S": "a"}, "sk": {"N": "1"}, "x": {"N": "1"}},
    ],
)
def test_a_key_of_two_attributes_is_those_two(dynamodb: Any, sorted_table: str, key: dict[str, Any]) -> None:
    for operation in ON_KEYS:
        assert dynamodb.invalid(operation, TableName=sorted_table, Key=key) == NO_SUCH_KEY
    read, delete = {"Keys": [key]}, [{"DeleteRequest": {"Key": key}}]
    assert dynamodb.invalid("BatchGetItem", RequestItems={sorted_table: read}) == NO_SUCH_KEY
    assert dynamodb.invalid("BatchWriteItem", RequestItems={sorted_table: delete}) == NO_SUCH_KEY


def test_a_put_names_the_key_attribute_that_is_missing(dynamodb: Any, table: str, sorted_table: str) -> None:
    for name, item, missing in (
        (table, {}, "pk"),
        (table, {"x": {"S": "a"}}, "pk"),
        (sorted_table, {"sk": {"N": "1"}}, "pk"),
        (sorted_table, {"pk": {"S": "a"}, "x": {"N": "1"}}, "sk"),
    ):
        refused = dynamodb.invalid("PutItem", TableName=name, Item=item)
        assert refused == f"{INVALID}Missing the key {missing} in the item"
        assert dynamodb.items(name) == []


@pytest.mark.parametrize("value", OTHER_TYPES)
def test_a_put_names_the_key_attribute_that_is_of_another_type(
    dynamodb: Any, table: str, sorted_table: str, value: dict[str, Any]
) -> None:
    [datatype] = value
    refused = dynamodb.invalid("PutItem", TableName=table, Item={"pk": value})
    assert refused == f"{INVALID}Type mismatch for key pk expected: S actual: {datatype}"
    if datatype != "N":
        item = {"pk": {"S": "a"}, "sk": value}
        refused = dynamodb.invalid("PutItem", TableName=sorted_table, Item=item)
        assert refused == f"{INVALID}Type mismatch for key sk expected: N actual: {datatype}"
    assert dynamodb.items(table) + dynamodb.items(sorted_table) == []


# Keys of indexes


@pytest.fixture
def indexed(dynamodb: Any) -> str:
    """A table with a global index on `g`, a string, and a local one on `l`, a number."""
    return str(
        dynamodb.create(
            "pk:S",
            "sk:N",
            attributes=["g:S", "l:N"],
            GlobalSecondaryIndexes=[dynamodb.index("by-g", "g")],
            LocalSecondaryIndexes=[dynamodb.index("by-l", "pk", "l")],
        )
    )


KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}
MISMATCH = INVALID + "Type mismatch for Index Key {} Expected: {} Actual: {} IndexName: {}"
WRONG_INDEX_KEYS = [
    *(("g", "S", "by-g", one) for one in OTHER_TYPES),
    *(("l", "N", "by-l", one) for one in ({"S": "1"}, *OTHER_TYPES[1:])),
]


@pytest.mark.parametrize(("name", "expected", "index", "value"), WRONG_INDEX_KEYS)
def test_a_write_names_the_index_key_that_is_of_another_type(
    dynamodb: Any, indexed: str, name: str, expected: str, index: str, value: dict[str, Any]
) -> None:
    """A NULL is no missing attribute."""
    mismatch = MISMATCH.format(name, expected, next(iter(value)), index)
    item, update = {**KEY, name: value}, {"TableName": indexed, "Key": KEY}
    values = {"ExpressionAttributeValues": {":v": value}}
    assert dynamodb.invalid("PutItem", TableName=indexed, Item=item) == mismatch
    assert (
        dynamodb.invalid("BatchWriteItem", RequestItems={indexed: [{"PutRequest": {"Item": item}}]})
        == mismatch
    )
    assert dynamodb.invalid("UpdateItem", **update, UpdateExpression=f"SET {name} = :v", **values) == mismatch
    assert dynamodb.invalid("UpdateItem", **update, AttributeUpdates={name: {"Value": value}}) == mismatch
    assert dynamodb.items(indexed) == []


def test_an_update_may_find_an_index_key_of_another_type_in_the_item(dynamodb: Any, indexed: str) -> None:
    item = {**KEY, "x": {"BOOL": True}}
    dynamodb.put(indexed, item)
    for name in ("g", "l"):
        refused = dynamodb.invalid(
            "UpdateItem", TableName=indexed, Key=KEY, UpdateExpression=f"SET {name} = x"
        )
        assert refused == (
            "The update expression attempted to update the secondary index key to unsupported type"
        )
    assert dynamodb.items(indexed) == [item]


def test_an_item_need_not_have_the_keys_of_indexes(dynamodb: Any, indexed: str) -> None:
    dynamodb.put(indexed, KEY)
    update = {"TableName": indexed, "Key": KEY, "UpdateExpression": "SET g = pk, l = sk"}
    dynamodb("UpdateItem", **update)
    assert dynamodb.items(indexed) == [{**KEY, "g": {"S": "a"}, "l": {"N": "1"}}]
    dynamodb("UpdateItem", **{**update, "UpdateExpression": "REMOVE g, l"})
    assert dynamodb.items(indexed) == [KEY]


# Nothing there


def test_nothing_found_is_an_answer_without_an_item(dynamodb: Any, sorted_table: str) -> None:
    """Nor does the neighbour in the same partition show, or a projection or consistency make a difference."""
    dynamodb.put(sorted_table, {"pk": {"S": "a"}, "sk": {"N": "1"}})
    for key in ({"pk": {"S": "a"}, "sk": {"N": "2"}}, {"pk": {"S": "b"}, "sk": {"N": "1"}}):
        for more in ({}, {}, {"ConsistentRead": True}, {"ProjectionExpression": "pk"}):
            answer = dynamodb.answer("GetItem", TableName=sorted_table, Key=key, **more)
            assert (answer.status, answer.json) == (200, {})


def test_an_item_without_what_is_projected_is_empty(dynamodb: Any, table: str) -> None:
    dynamodb.put(table, {"pk": {"S": "a"}})
    for more in ({"ProjectionExpression": "x"}, {"AttributesToGet": ["x"]}):
        assert dynamodb("GetItem", TableName=table, Key={"pk": {"S": "a"}}, **more) == {"Item": {}}


def test_writes_that_report_nothing_answer_an_empty_object(dynamodb: Any, table: str) -> None:
    key = {"pk": {"S": "a"}}
    for operation, request in (
        ("PutItem", {"Item": key}),
        ("UpdateItem", {"Key": key}),
        ("DeleteItem", {"Key": key}),
    ):
        assert dynamodb.answer(operation, TableName=table, **request).body == b"{}"
    assert dynamodb("DeleteItem", TableName=table, Key=key) == {}
