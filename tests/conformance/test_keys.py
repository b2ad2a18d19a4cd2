"""Keys of tables and indexes: neither empty nor too long, in every request that has them."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

INVALID = "ValidationException"
ONE_OR_MORE = "One or more parameter values were invalid: "
NOT_VALID = "One or more parameter values are not valid. "

Call = tuple[str, dict[str, Any]]


def put_request(item: dict[str, Any]) -> dict[str, Any]:
    return {"PutRequest": {"Item": item}}


def transact(action: str, **parameters: Any) -> Call:
    return "TransactWriteItems", {"TransactItems": [{action: parameters}]}


def refusal(dynamodb: Any, call: Call) -> tuple[str, str]:
    operation, request = call
    code, message = dynamodb.refusal(operation, **request)
    return code, message


BINARY_KEY = {"S": "string", "B": "binary"}


def keyed(table: str, key: dict[str, Any]) -> list[Call]:
    """Every request that names an item by its key."""
    get, put = {"TableName": table, "Key": key}, {"TableName": table, "Item": key}
    return [
        ("PutItem", put),
        ("GetItem", get),
        ("UpdateItem", get),
        ("DeleteItem", get),
        ("BatchWriteItem", {"RequestItems": {table: [put_request(key)]}}),
        ("BatchWriteItem", {"RequestItems": {table: [{"DeleteRequest": {"Key": key}}]}}),
        ("BatchGetItem", {"RequestItems": {table: {"Keys": [key]}}}),
        transact("Put", **put),
        transact("Update", **get, UpdateExpression="SET a = :a", ExpressionAttributeValues={":a": {"S": ""}}),
        transact("Delete", **get),
        transact("ConditionCheck", **get, ConditionExpression="attribute_not_exists(b)"),
        ("TransactGetItems", {"TransactItems": [{"Get": get}]}),
    ]


@pytest.mark.parametrize("datatype", ["S", "B"])
def test_a_key_is_not_empty(dynamodb: Any, datatype: str) -> None:
    table = dynamodb.create(f"pk:{datatype}", f"sk:{datatype}")
    for name in ("pk", "sk"):
        key = {"pk": {datatype: "AA=="}, "sk": {datatype: "AA=="}, name: {datatype: ""}}
        told = (
            f"{NOT_VALID}The AttributeValue for a key attribute cannot contain "
            f"an empty {BINARY_KEY[datatype]} value. Key: {name}"
        )
        for operation, request in keyed(table, key):
            assert dynamodb.refusal(operation, **request) == (INVALID, told), operation
        condition = {
            "KeyConditionExpression": "pk = :pk AND sk = :sk",
            "ExpressionAttributeValues": {":pk": key["pk"], ":sk": key["sk"]},
        }
        assert dynamodb.refusal("Query", TableName=table, **condition) == (INVALID, told)
    assert dynamodb.items(table) == []


def indexed(dynamodb: Any, datatype: str) -> str:
    """A table with a global index by `gk` and a local one by `lk`."""
    return str(
        dynamodb.create(
            "pk:S",
            "sk:S",
            attributes=[f"gk:{datatype}", f"lk:{datatype}"],
            GlobalSecondaryIndexes=[dynamodb.index("global", "gk")],
            LocalSecondaryIndexes=[dynamodb.index("local", "pk", "lk")],
        )
    )


SORTED_KEY = {"pk": {"S": "a"}, "sk": {"S": "a"}}


@pytest.mark.parametrize("datatype", ["S", "B"])
def test_the_key_of_an_index_is_not_empty(dynamodb: Any, datatype: str) -> None:
    table = indexed(dynamodb, datatype)
    empty = f"The AttributeValue for a key attribute cannot contain an empty {BINARY_KEY[datatype]} value."
    for name, index_name in (("gk", "global"), ("lk", "local")):
        put = {**SORTED_KEY, name: {datatype: ""}}
        told = (
            f"{NOT_VALID}A value specified for a secondary index key is not supported. {empty} "
            f"IndexName: {index_name}, IndexKey: {name}"
        )
        for operation, request in [
            ("PutItem", {"TableName": table, "Item": put}),
            ("BatchWriteItem", {"RequestItems": {table: [put_request(put)]}}),
            transact("Put", TableName=table, Item=put),
        ]:
            assert dynamodb.refusal(operation, **request) == (INVALID, told), operation
        update = {
            "TableName": table,
            "Key": SORTED_KEY,
            "UpdateExpression": f"SET {name} = :x",
            "ExpressionAttributeValues": {":x": {datatype: ""}},
        }
        told = (
            f"{NOT_VALID}The update expression attempted to update a secondary index key "
            f"to a value that is not supported. {empty}"
        )
        assert dynamodb.refusal("UpdateItem", **update) == (INVALID, told)
        assert refusal(dynamodb, transact("Update", **update)) == (INVALID, told)
    assert dynamodb.items(table) == []


def test_of_several_indexes_that_refuse_the_first_by_name_is_named(dynamodb: Any) -> None:
    table = dynamodb.create(
        "pk:S",
        "sk:S",
        attributes=["x:S"],
        LocalSecondaryIndexes=[dynamodb.index("bbb", "pk", "x")],
        GlobalSecondaryIndexes=[dynamodb.index("ccc", "x"), dynamodb.index("aaa", "x")],
    )
    for value in ({"S": ""}, {"N": "1"}):
        message = dynamodb.invalid("PutItem", TableName=table, Item={**SORTED_KEY, "x": value})
        assert "IndexName: aaa" in message


LONG_PARTITION = f"{ONE_OR_MORE}Size of hashkey has exceeded the maximum size limit of2048 bytes"
LONG_SORT = f"{ONE_OR_MORE}Aggregated size of all range keys has exceeded the size limit of 1024 bytes"


def sized(datatype: str, size: int) -> dict[str, str]:
    """A value of that many bytes, of few characters if it is a string."""
    if datatype == "B":
        return {"B": b64encode(b"\xff" * size).decode()}
    return {"S": "é" * (size // 2) + "a" * (size % 2)}


@pytest.mark.parametrize("datatype", ["S", "B"])
def test_a_partition_key_has_2048_bytes_and_a_sort_key_1024(dynamodb: Any, datatype: str) -> None:
    table = dynamodb.create(f"pk:{datatype}", f"sk:{datatype}")
    longest = {"pk": sized(datatype, 2048), "sk": sized(datatype, 1024)}
    for name, size, told in [("pk", 2049, LONG_PARTITION), ("sk", 1025, LONG_SORT)]:
        too_long = {**longest, name: sized(datatype, size)}
        for operation, request in keyed(table, too_long):
            refused = dynamodb.answer(operation, **request).json
            [reason] = refused.get("CancellationReasons", [{"Message": refused["message"]}])
            assert reason["Message"] == told, request
        condition = {
            "KeyConditionExpression": "pk = :pk AND sk = :sk",
            "ExpressionAttributeValues": {":pk": too_long["pk"], ":sk": too_long["sk"]},
        }
        assert dynamodb.refusal("Query", TableName=table, **condition) == (INVALID, told)
    assert dynamodb.items(table) == []
    dynamodb.put(table, longest)
    assert dynamodb.get(table, **longest) == longest
    for operation, request in keyed(table, longest):
        assert dynamodb.answer(operation, **request).status == 200, operation


@pytest.mark.parametrize("datatype", ["S", "B"])
def test_the_keys_of_indexes_have_the_same_limits_each_for_itself(dynamodb: Any, datatype: str) -> None:
    table = indexed(dynamodb, datatype)
    longest = {
        "pk": sized("S", 2048),
        "sk": sized("S", 1024),
        "gk": sized(datatype, 2048),
        "lk": sized(datatype, 1024),
    }
    dynamodb.put(table, longest)
    for name in ("global", "local"):
        assert dynamodb("Scan", TableName=table, IndexName=name)["Items"] == [longest]
    for name, size, told in [("gk", 2049, LONG_PARTITION), ("lk", 1025, LONG_SORT)]:
        too_long = {**longest, name: sized(datatype, size)}
        assert dynamodb.refusal("PutItem", TableName=table, Item=too_long) == (INVALID, told)
        batch = {table: [put_request(too_long)]}
        assert dynamodb.refusal("BatchWriteItem", RequestItems=batch) == (INVALID, told)
        update = {
            "TableName": table,
            "Key": {"pk": longest["pk"], "sk": longest["sk"]},
            "UpdateExpression": f"SET {name} = :x",
            "ExpressionAttributeValues": {":x": too_long[name]},
        }
        told = "The update expression attempted to update the secondary index key beyond allowed size limits"
        assert dynamodb.refusal("UpdateItem", **update) == (INVALID, told)
    assert dynamodb.items(table) == [longest]
