"""BatchWriteItem and BatchGetItem: their limits, what one wrong member does to the rest, what they answer."""

from __future__ import annotations

from typing import Any

import pytest

DUPLICATES = "Provided list of item keys contains duplicates"
MISMATCH = "The provided key element does not match the schema"
EMPTY_KEY = (
    "One or more parameter values are not valid. "
    "The AttributeValue for a key attribute cannot contain an empty string value. Key: pk"
)
NOT_FOUND = ("ResourceNotFoundException", "Requested resource not found")


def key(value: str) -> dict[str, Any]:
    return {"pk": {"S": value}}


def put(value: str, **more: Any) -> dict[str, Any]:
    return {"PutRequest": {"Item": {**key(value), **more}}}


def delete(value: str) -> dict[str, Any]:
    return {"DeleteRequest": {"Key": key(value)}}


def keys(count: int) -> list[dict[str, Any]]:
    return [key(str(number)) for number in range(count)]


def is_empty(dynamodb: Any, table: str) -> bool:
    return dynamodb("Scan", TableName=table, ConsistentRead=True)["Count"] == 0


# How much a batch holds


def test_25_writes_pass(dynamodb: Any, table: str) -> None:
    writes = [put(str(number)) for number in range(25)]
    assert dynamodb("BatchWriteItem", RequestItems={table: writes}) == {"UnprocessedItems": {}}
    assert dynamodb("Scan", TableName=table)["Count"] == 25


def test_26_writes_are_refused_and_none_is_made(dynamodb: Any, table: str) -> None:
    other = dynamodb.create("pk:S")
    writes = [put(str(number)) for number in range(26)]
    refused = dynamodb.invalid("BatchWriteItem", RequestItems={table: writes})
    assert refused.startswith(f"1 validation error detected: Value '{{{table}=[WriteRequest(putRequest=")
    assert refused.endswith(
        "at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: "
        "[Member must have length less than or equal to 25, "
        "Member must have length greater than or equal to 1]"
    )
    spread = {table: writes[:20], other: writes[20:]}
    assert dynamodb.invalid("BatchWriteItem", RequestItems=spread) == (
        "Too many items requested for the BatchWriteItem call"
    )
    assert is_empty(dynamodb, table)
    assert is_empty(dynamodb, other)


def test_100_keys_pass_and_101_do_not(dynamodb: Any, table: str) -> None:
    other = dynamodb.create("pk:S")
    assert dynamodb("BatchGetItem", RequestItems={table: {"Keys": keys(100)}})["UnprocessedKeys"] == {}
    assert dynamodb.invalid("BatchGetItem", RequestItems={table: {"Keys": keys(101)}}) == (
        f"1 validation error detected: Value at 'RequestItems.{table}.member.Keys' "
        "failed to satisfy constraint: Member must have length less than or equal to 100"
    )
    spread = {table: {"Keys": keys(60)}, other: {"Keys": keys(41)}}
    assert dynamodb.invalid("BatchGetItem", RequestItems=spread) == (
        "Too many items requested for the BatchGetItem call"
    )


@pytest.mark.parametrize("operation", ["BatchGetItem", "BatchWriteItem"])
def test_a_batch_holds_something(dynamodb: Any, operation: str) -> None:
    assert dynamodb.invalid(operation, RequestItems={}) == (
        f"The requestItems parameter is required for {operation}"
    )
    assert dynamodb.invalid(operation) == (
        "1 validation error detected: Value null at 'requestItems' failed to satisfy constraint: "
        "Member must not be null"
    )


def test_the_batch_of_a_table_holds_something(dynamodb: Any, table: str) -> None:
    assert dynamodb.invalid("BatchWriteItem", RequestItems={table: []}) == (
        f"1 validation error detected: Value '{{{table}=[]}}' at 'requestItems' "
        "failed to satisfy constraint: Map value must satisfy constraint: "
        "[Member must have length less than or equal to 25, "
        "Member must have length greater than or equal to 1]"
    )
    assert dynamodb.invalid("BatchGetItem", RequestItems={table: {"Keys": []}}) == (
        f"1 validation error detected: Value at 'RequestItems.{table}.member.Keys' "
        "failed to satisfy constraint: Member must have length greater than or equal to 1"
    )


@pytest.mark.parametrize("name", ["ab", "bad!name"])
@pytest.mark.parametrize(
    ("operation", "content"), [("BatchWriteItem", [put("a")]), ("BatchGetItem", {"Keys": keys(1)})]
)
def test_a_table_has_a_name(dynamodb: Any, operation: str, content: Any, name: str) -> None:
    refused = dynamodb.invalid(operation, RequestItems={name: content})
    assert refused.startswith("1 validation error detected: Value '{")
    assert refused.endswith(
        "at 'requestItems' failed to satisfy constraint: Map keys must satisfy constraint: "
        "[Member must have length less than or equal to 255, "
        "Member must have length greater than or equal to 3, "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
    )


@pytest.mark.parametrize("write", [{}, {**put("a"), **delete("b")}])
def test_a_write_is_a_put_or_a_delete(dynamodb: Any, table: str, write: Any) -> None:
    assert dynamodb.invalid("BatchWriteItem", RequestItems={table: [write]}) == (
        "Supplied AttributeValue has more than one datatypes set, "
        "must contain exactly one of the supported datatypes"
    )


# Duplicates


@pytest.mark.parametrize(
    "writes",
    [[put("a"), put("a", v={"N": "1"})], [put("a"), delete("a")], [delete("a"), delete("a")]],
)
def test_an_item_is_written_once(dynamodb: Any, table: str, writes: Any) -> None:
    assert dynamodb.invalid("BatchWriteItem", RequestItems={table: [put("b"), *writes]}) == DUPLICATES
    assert is_empty(dynamodb, table)


def test_a_number_is_one_key_in_all_its_spellings(dynamodb: Any) -> None:
    table = dynamodb.create("pk:N")
    one, again = {"pk": {"N": "1"}}, {"pk": {"N": "1.0e0"}}
    writes = [{"PutRequest": {"Item": one}}, {"DeleteRequest": {"Key": again}}]
    assert dynamodb.invalid("BatchWriteItem", RequestItems={table: writes}) == DUPLICATES
    assert dynamodb.invalid("BatchGetItem", RequestItems={table: {"Keys": [one, again]}}) == DUPLICATES


def test_an_item_is_read_once(dynamodb: Any, table: str) -> None:
    twice = [*keys(2), key("0")]
    assert dynamodb.invalid("BatchGetItem", RequestItems={table: {"Keys": twice}}) == DUPLICATES


def test_the_same_key_in_two_tables_is_two_items(dynamodb: Any, table: str) -> None:
    other = dynamodb.create("pk:S")
    dynamodb("BatchWriteItem", RequestItems={table: [put("a")], other: [put("a", v={"N": "2"})]})
    reads = {name: {"Keys": [key("a")], "ConsistentRead": True} for name in (table, other)}
    assert dynamodb("BatchGetItem", RequestItems=reads) == {
        "Responses": {table: [key("a")], other: [{**key("a"), "v": {"N": "2"}}]},
        "UnprocessedKeys": {},
    }


@pytest.mark.store_only
def test_a_table_by_name_and_by_arn_is_one_table(dynamodb: Any) -> None:
    index = dynamodb.index("by-g", "g")
    table = dynamodb.create("pk:S", attributes=["g:S"], GlobalSecondaryIndexes=[index])
    arn = dynamodb("DescribeTable", TableName=table)["Table"]["TableArn"]
    writes = {table: [put("a", g={"S": "x"})], arn: [put("a", g={"S": "y"})]}
    assert dynamodb.invalid("BatchWriteItem", RequestItems=writes) == DUPLICATES
    assert is_empty(dynamodb, table)
    reads = {table: {"Keys": [key("a")]}, arn: {"Keys": [key("a")]}}
    assert dynamodb.invalid("BatchGetItem", RequestItems=reads) == DUPLICATES


# Sixteen megabytes


def test_what_exceeds_16_megabytes_is_left_unprocessed(dynamodb: Any, table: str) -> None:
    big = {"S": "x" * (400 * 1024 - 100)}
    for number in range(42):
        dynamodb("PutItem", TableName=table, Item={**key(str(number)), "v": big, "w": {"N": "1"}})
    asked = {
        "Keys": keys(42),
        "ConsistentRead": True,
        "ProjectionExpression": "pk, #w",
        "ExpressionAttributeNames": {"#w": "w"},
    }
    answer = dynamodb("BatchGetItem", RequestItems={table: asked})
    found, rest = answer["Responses"][table], answer["UnprocessedKeys"][table]
    assert len(found) == 40
    assert found[0].keys() == {"pk", "w"}
    assert {name: rest[name] for name in asked if name != "Keys"} == {
        name: content for name, content in asked.items() if name != "Keys"
    }
    again = dynamodb("BatchGetItem", RequestItems=answer["UnprocessedKeys"])
    assert sorted(int(one["pk"]["S"]) for one in [*found, *again["Responses"][table]]) == [*range(42)]
    assert again["UnprocessedKeys"] == {}


# What is answered


def test_what_is_not_there_is_an_empty_list(dynamodb: Any, table: str) -> None:
    other = dynamodb.create("pk:S")
    dynamodb.put(other, key("a"))
    reads = {table: {"Keys": keys(2)}, other: {"Keys": [key("a"), key("b")]}}
    assert dynamodb("BatchGetItem", RequestItems=reads) == {
        "Responses": {table: [], other: [key("a")]},
        "UnprocessedKeys": {},
    }


def test_a_delete_of_nothing_is_no_error(dynamodb: Any, table: str) -> None:
    answer = dynamodb("BatchWriteItem", RequestItems={table: [delete("nobody"), put("a")]})
    assert answer == {"UnprocessedItems": {}}
    assert dynamodb.get(table, pk={"S": "a"}) == key("a")


def test_each_table_has_its_own_projection(dynamodb: Any, table: str) -> None:
    other = dynamodb.create("pk:S")
    item = {**key("a"), "v": {"L": [{"N": "1"}, {"N": "2"}]}, "w": {"S": "x"}}
    dynamodb.put(table, item)
    dynamodb.put(other, item)
    reads = {
        table: {"Keys": [key("a")], "ProjectionExpression": "v[1]"},
        other: {"Keys": [key("a")], "ProjectionExpression": "#w", "ExpressionAttributeNames": {"#w": "w"}},
    }
    answer = dynamodb("BatchGetItem", RequestItems=reads)["Responses"]
    assert answer == {table: [{"v": {"L": [{"N": "2"}]}}], other: [{"w": {"S": "x"}}]}
    legacy = {table: {"Keys": [key("a")], "AttributesToGet": ["w"]}}
    assert dynamodb("BatchGetItem", RequestItems=legacy)["Responses"] == {table: [{"w": {"S": "x"}}]}


def test_capacity_and_metrics_are_answered_to_those_who_ask(dynamodb: Any) -> None:
    local = dynamodb.index("by-l", "pk", "l")
    table = dynamodb.create("pk:S", "sk:S", attributes=["l:S"], LocalSecondaryIndexes=[local])
    request = {"RequestItems": {table: [put("a", sk={"S": "b"})]}}
    not_asked = {"ReturnConsumedCapacity": "NONE", "ReturnItemCollectionMetrics": "NONE"}
    for quiet in (request, {**request, **not_asked}):
        assert dynamodb("BatchWriteItem", **quiet) == {"UnprocessedItems": {}}
    asked = {"ReturnConsumedCapacity": "TOTAL", "ReturnItemCollectionMetrics": "SIZE"}
    assert dynamodb("BatchWriteItem", **request, **asked) == {
        "UnprocessedItems": {},
        "ConsumedCapacity": [{"TableName": table, "CapacityUnits": 1.0}],
        "ItemCollectionMetrics": {
            table: [{"ItemCollectionKey": key("a"), "SizeEstimateRangeGB": [0.0, 1.0]}]
        },
    }


@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem", "DeleteItem", "GetItem", "Query", "Scan"])
def test_nothing_is_answered_that_was_not_asked_for(dynamodb: Any, operation: str) -> None:
    local = dynamodb.index("by-l", "pk", "l")
    table = dynamodb.create("pk:S", "sk:S", attributes=["l:S"], LocalSecondaryIndexes=[local])
    whole = {"pk": {"S": "a"}, "sk": {"S": "b"}}
    by_operation: dict[str, Any] = {
        "PutItem": {"Item": whole},
        "Query": {"KeyConditionExpression": "pk = :a", "ExpressionAttributeValues": {":a": {"S": "a"}}},
        "Scan": {},
    }
    answer = dynamodb(operation, TableName=table, **by_operation.get(operation, {"Key": whole}))
    expected = {"Count", "ScannedCount", "Items"} if operation in ("Query", "Scan") else set()
    assert answer.keys() == expected


@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem", "DeleteItem"])
def test_item_collection_metrics_are_a_range_of_gigabytes(dynamodb: Any, operation: str) -> None:
    local = dynamodb.index("by-l", "pk", "l")
    table = dynamodb.create("pk:S", "sk:S", attributes=["l:S"], LocalSecondaryIndexes=[local])
    whole = {"pk": {"S": "a"}, "sk": {"S": "b"}}
    request = {"Item" if operation == "PutItem" else "Key": whole, "ReturnItemCollectionMetrics": "SIZE"}
    assert dynamodb(operation, TableName=table, **request)["ItemCollectionMetrics"] == {
        "ItemCollectionKey": {"pk": {"S": "a"}},
        "SizeEstimateRangeGB": [0.0, 1.0],
    }
    plain = dynamodb.create("pk:S", "sk:S")
    assert dynamodb(operation, TableName=plain, **request) == {}


# One wrong member


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (put(""), EMPTY_KEY),
        (delete(""), EMPTY_KEY),
        ({"PutRequest": {"Item": {"x": {"S": "a"}}}}, MISMATCH),
        ({"PutRequest": {"Item": {"pk": {"N": "1"}}}}, MISMATCH),
        ({"PutRequest": {"Item": {"pk": {"L": [{"S": "a"}]}}}}, MISMATCH),
        ({"DeleteRequest": {"Key": {"x": {"S": "a"}}}}, MISMATCH),
        ({"DeleteRequest": {"Key": {"pk": {"N": "1"}}}}, MISMATCH),
        ({"DeleteRequest": {"Key": {"pk": {"S": "a"}, "x": {"S": "a"}}}}, MISMATCH),
        (
            put("b", g={"S": ""}),
            "One or more parameter values are not valid. A value specified for a secondary index key is not "
            "supported. The AttributeValue for a key attribute cannot contain an empty string value. "
            "IndexName: by-g, IndexKey: g",
        ),
        (
            put("b", g={"N": "1"}),
            "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: N "
            "IndexName: by-g",
        ),
        (put("b", v={"S": "x" * 409_600}), "Item size has exceeded the maximum allowed size"),
        (
            put("b", v={"SS": []}),
            "One or more parameter values were invalid: An string set  may not be empty",
        ),
        (
            put("b", v={}),
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
        ),
    ],
)
def test_one_wrong_write_refuses_all(dynamodb: Any, write: Any, message: str) -> None:
    index = dynamodb.index("by-g", "g")
    table = dynamodb.create("pk:S", attributes=["g:S"], GlobalSecondaryIndexes=[index])
    for writes in ([put("good"), write], [write, put("good")]):
        assert dynamodb.invalid("BatchWriteItem", RequestItems={table: writes}) == message
    assert is_empty(dynamodb, table)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, MISMATCH),
        ({"x": {"S": "a"}}, MISMATCH),
        ({"pk": {"N": "1"}}, MISMATCH),
        ({"pk": {"S": "a"}, "x": {"S": "a"}}, MISMATCH),
        ({"pk": {"S": ""}}, EMPTY_KEY),
    ],
)
def test_one_wrong_key_refuses_all(dynamodb: Any, table: str, wrong: Any, message: str) -> None:
    dynamodb.put(table, key("good"))
    for pair in ([key("good"), wrong], [wrong, key("good")]):
        assert dynamodb.invalid("BatchGetItem", RequestItems={table: {"Keys": pair}}) == message


def test_a_missing_table_refuses_all(dynamodb: Any, table: str) -> None:
    writes = {table: [put("a")], "missing": [put("a"), put("a")]}
    assert dynamodb.refusal("BatchWriteItem", RequestItems=writes) == NOT_FOUND
    assert is_empty(dynamodb, table)
    reads = {table: {"Keys": [key("a")]}, "missing": {"Keys": [{}]}}
    assert dynamodb.refusal("BatchGetItem", RequestItems=reads) == NOT_FOUND


def test_one_wrong_projection_refuses_all(dynamodb: Any, table: str) -> None:
    other = dynamodb.create("pk:S")
    reads = {
        table: {"Keys": [key("a")], "ProjectionExpression": "a, a.b"},
        other: {"Keys": [key("a")], "ProjectionExpression": "a"},
    }
    assert dynamodb.invalid("BatchGetItem", RequestItems=reads) == (
        "Invalid ProjectionExpression: Two document paths overlap with each other; "
        "must remove or rewrite one of these paths; path one: [a], path two: [a, b]"
    )


@pytest.mark.parametrize("is_one_table", [True, False])
def test_a_batch_projects_in_one_way(dynamodb: Any, table: str, is_one_table: bool) -> None:
    legacy, modern = {"AttributesToGet": ["pk"]}, {"ProjectionExpression": "pk"}
    reads = {"other-table": {"Keys": [key("a")], **modern}, table: {"Keys": [key("a")], **legacy}}
    if is_one_table:
        reads = {table: {"Keys": [key("a")], **legacy, **modern}}
    assert dynamodb.invalid("BatchGetItem", RequestItems=reads) == (
        "Can not use both expression and non-expression parameters in the same request: "
        "Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}"
    )
