"""What is refused before any item is looked at: constraints, their words, which of many faults is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

INVALID = "ValidationException"
KEY = {"pk": {"S": "a"}}
NAMED: dict[str, Any] = {"TableName": "abc"}
KEYED = {**NAMED, "Key": KEY}
NOWHERE = "conformance-nowhere"
LONG = "a" * 256
NAME_PATTERN = "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
AT_LEAST_3 = "Member must have length greater than or equal to 3"
AT_MOST_255 = "Member must have length less than or equal to 255"


def at(path: str, value: str, constraint: str) -> str:
    """One violation of a constraint."""
    shown = value if value == "null" else f"'{value}'"
    return f"Value {shown} at '{path}' failed to satisfy constraint: {constraint}"


def missing(path: str) -> str:
    return at(path, "null", "Member must not be null")


def collected(*violations: str) -> tuple[str, str]:
    plural = "s" if len(violations) > 1 else ""
    return INVALID, f"{len(violations)} validation error{plural} detected: {'; '.join(violations)}"


RETURN_VALUES = "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
CAPACITY = "[INDEXES, TOTAL, NONE]"
METRICS = "[SIZE, NONE]"
SELECT = "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]"
COMPARISONS = "[IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]"


def not_one_of(path: str, values: str, value: str = "hi") -> str:
    return at(path, value, f"Member must satisfy enum value set: {values}")


# Constraints


@pytest.mark.parametrize(
    ("operation", "request_", "violations"),
    [
        ("GetItem", {}, [missing("tableName"), missing("key")]),
        ("PutItem", {}, [missing("tableName"), missing("item")]),
        ("UpdateItem", {}, [missing("tableName"), missing("key")]),
        ("DeleteItem", {}, [missing("tableName"), missing("key")]),
        ("Query", {}, [missing("tableName")]),
        ("Scan", {}, [missing("tableName")]),
        ("BatchGetItem", {}, [missing("requestItems")]),
        ("BatchWriteItem", {}, [missing("requestItems")]),
        ("TransactGetItems", {}, [missing("transactItems")]),
        ("TransactWriteItems", {}, [missing("transactItems")]),
        (
            "GetItem",
            {"TableName": "abc;", "ReturnConsumedCapacity": "hi", "AttributesToGet": []},
            [
                not_one_of("returnConsumedCapacity", CAPACITY),
                at("attributesToGet", "[]", "Member must have length greater than or equal to 1"),
                at("tableName", "abc;", NAME_PATTERN),
                missing("key"),
            ],
        ),
        (
            "PutItem",
            {
                "TableName": "abc;",
                "ReturnConsumedCapacity": "hi",
                "ReturnItemCollectionMetrics": "hi",
                "ReturnValues": "hi",
            },
            [
                not_one_of("returnConsumedCapacity", CAPACITY),
                at("tableName", "abc;", NAME_PATTERN),
                missing("item"),
                not_one_of("returnValues", RETURN_VALUES),
                not_one_of("returnItemCollectionMetrics", METRICS),
            ],
        ),
        (
            "Scan",
            {"TableName": LONG, "Limit": 0, "Segment": -1, "TotalSegments": 1000001, "Select": "count"},
            [
                not_one_of("select", SELECT, "count"),
                at("totalSegments", "1000001", "Member must have value less than or equal to 1000000"),
                at("tableName", LONG, AT_MOST_255),
                at("segment", "-1", "Member must have value greater than or equal to 0"),
                at("limit", "0", "Member must have value greater than or equal to 1"),
            ],
        ),
        (
            "TransactWriteItems",
            {"TransactItems": []},
            [at("transactItems", "[]", "Member must have length greater than or equal to 1")],
        ),
        (
            "TransactGetItems",
            {"TransactItems": []},
            [at("transactItems", "[]", "Member must have length greater than or equal to 1")],
        ),
    ],
)
def test_violations_are_collected_into_one_message(
    dynamodb: Any, operation: str, request_: dict[str, Any], violations: list[str]
) -> None:
    assert dynamodb.refusal(operation, **request_) == collected(*violations)


def test_ten_violations_are_told_at_most(dynamodb: Any) -> None:
    filters = {name: {} for name in "abcdefghijkl"}
    expected = [missing(f"scanFilter.{name}.member.comparisonOperator") for name in "abcdefghij"]
    assert dynamodb.refusal("Scan", TableName="abc", ScanFilter=filters) == collected(*expected)


def test_query_words_a_limit_that_is_the_only_fault_in_its_own_way(dynamodb: Any) -> None:
    constraint = "failed to satisfy constraint: Member must have value greater than or equal to 1"
    lone = dynamodb.refusal("Query", TableName="abc", Limit=0)
    assert lone == (INVALID, f"1 validation error detected: Value at 'Limit' {constraint}")
    both = dynamodb.refusal("Query", TableName="abc", Limit=0, Select="hi")
    assert both == collected(not_one_of("select", SELECT), f"Value '0' at 'limit' {constraint}")


@pytest.mark.parametrize(
    ("operation", "request_", "path"),
    [
        ("Query", {**NAMED, "QueryFilter": {"a": {}}}, "queryFilter.a.member.comparisonOperator"),
        ("Query", {**NAMED, "KeyConditions": {"a": {}}}, "keyConditions.a.member.comparisonOperator"),
        ("Scan", {**NAMED, "ScanFilter": {"a": {}}}, "scanFilter.a.member.comparisonOperator"),
        ("Scan", {**NAMED, "ScanFilter": {"a": None}}, "scanFilter.a.member"),
        ("GetItem", {**KEYED, "AttributesToGet": ["a", None]}, "attributesToGet.2.member"),
        ("BatchGetItem", {"RequestItems": {"abc": {}}}, "requestItems.abc.member.keys"),
        (
            "BatchGetItem",
            {"RequestItems": {"abc": {"Keys": [KEY, None]}}},
            "requestItems.abc.member.keys.2.member",
        ),
        ("BatchWriteItem", {"RequestItems": {"abc": [None]}}, "requestItems.abc.member.1.member"),
        (
            "BatchWriteItem",
            {"RequestItems": {"abc": [{"DeleteRequest": {"Key": KEY}}, {"PutRequest": {}}]}},
            "requestItems.abc.member.2.member.putRequest.item",
        ),
        ("TransactGetItems", {"TransactItems": [{}]}, "transactItems.1.member.get"),
        (
            "TransactGetItems",
            {"TransactItems": [{"Get": KEYED}, {"Get": NAMED}]},
            "transactItems.2.member.get.key",
        ),
        ("TransactWriteItems", {"TransactItems": [{"Put": NAMED}]}, "transactItems.1.member.put.item"),
        (
            "TransactWriteItems",
            {"TransactItems": [{"Delete": KEYED}, {"Update": KEYED}]},
            "transactItems.2.member.update.updateExpression",
        ),
        (
            "TransactWriteItems",
            {"TransactItems": [{"ConditionCheck": KEYED}]},
            "transactItems.1.member.conditionCheck.conditionExpression",
        ),
    ],
)
def test_a_path_counts_members_from_one_and_names_those_of_a_map(
    dynamodb: Any, operation: str, request_: dict[str, Any], path: str
) -> None:
    assert dynamodb.refusal(operation, **request_) == collected(missing(path))


@pytest.mark.store_only
def test_a_path_into_a_table_s_definition(dynamodb: Any) -> None:
    refused = dynamodb.refusal(
        "CreateTable",
        TableName="abc",
        AttributeDefinitions=[{"AttributeType": "S"}, {"AttributeName": "b", "AttributeType": "SS"}],
        KeySchema=[{"AttributeName": "a", "KeyType": "Woop"}, {"AttributeName": "b"}],
    )
    assert refused == collected(
        missing("attributeDefinitions.1.member.attributeName"),
        not_one_of("attributeDefinitions.2.member.attributeType", "[B, N, S]", "SS"),
        not_one_of("keySchema.1.member.keyType", "[HASH, RANGE]", "Woop"),
        missing("keySchema.2.member.keyType"),
    )


@pytest.mark.parametrize(
    ("operation", "request_", "path", "values"),
    [
        *(
            (op, {"ReturnValues": "hi"}, "returnValues", RETURN_VALUES)
            for op in ("PutItem", "UpdateItem", "DeleteItem")
        ),
        *(
            (op, {"ReturnItemCollectionMetrics": "hi"}, "returnItemCollectionMetrics", METRICS)
            for op in ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")
        ),
        *(
            (op, {"ReturnConsumedCapacity": "hi"}, "returnConsumedCapacity", CAPACITY)
            for op in (
                "GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan",
                "BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems",
            )
        ),
        *((op, {"Select": "hi"}, "select", SELECT) for op in ("Query", "Scan")),
        *(
            (op, {"ConditionalOperator": "hi"}, "conditionalOperator", "[OR, AND]")
            for op in ("PutItem", "UpdateItem", "DeleteItem", "Query", "Scan")
        ),
        *(
            (op, {member: {"a": {"ComparisonOperator": "hi"}}}, f"{path}.comparisonOperator", COMPARISONS)
            for op, member, path in (
                ("PutItem", "Expected", "expected.a.member"),
                ("Query", "QueryFilter", "queryFilter.a.member"),
                ("Scan", "ScanFilter", "scanFilter.a.member"),
            )
        ),
    ],
)  # fmt: skip
def test_the_values_of_an_enumeration_are_told_in_the_service_s_order(
    dynamodb: Any, operation: str, request_: dict[str, Any], path: str, values: str
) -> None:
    valid: dict[str, Any] = {
        "PutItem": {**NAMED, "Item": KEY},
        "Query": NAMED,
        "Scan": NAMED,
        "BatchGetItem": {"RequestItems": {"abc": {"Keys": [KEY]}}},
        "BatchWriteItem": {"RequestItems": {"abc": [{"DeleteRequest": {"Key": KEY}}]}},
        "TransactGetItems": {"TransactItems": [{"Get": KEYED}]},
        "TransactWriteItems": {"TransactItems": [{"Delete": KEYED}]},
    }.get(operation, KEYED)
    assert dynamodb.refusal(operation, **valid, **request_) == collected(not_one_of(path, values))


@pytest.mark.store_only
@pytest.mark.parametrize(
    ("member", "path", "values"),
    [
        ({"BillingMode": "hi"}, "billingMode", "[PROVISIONED, PAY_PER_REQUEST]"),
        (
            {
                "GlobalSecondaryIndexes": [
                    {
                        "IndexName": "abc",
                        "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "hi"},
                    }
                ]
            },
            "globalSecondaryIndexes.1.member.projection.projectionType",
            "[ALL, INCLUDE, KEYS_ONLY]",
        ),
    ],
)
def test_the_values_of_an_enumeration_of_tables_are_told_in_the_service_s_order(
    dynamodb: Any, member: dict[str, Any], path: str, values: str
) -> None:
    schema = {"AttributeDefinitions": [], "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}]}
    refused = dynamodb.refusal("CreateTable", TableName="abc", **schema, **member)
    assert refused == collected(not_one_of(path, values))


# Names of tables

TABLE_OPERATIONS = ["DescribeTable", "DeleteTable", "UpdateTable", "DescribeTimeToLive", "UpdateTimeToLive"]


@pytest.mark.store_only
@pytest.mark.parametrize("operation", ["CreateTable", *TABLE_OPERATIONS])
def test_operations_on_tables_miss_a_name_in_words_of_their_own(dynamodb: Any, operation: str) -> None:
    told = "The parameter 'TableName' is required but was not present in the request"
    assert dynamodb.refusal(operation) == (INVALID, told)


@pytest.mark.parametrize("operation", ["GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan"])
def test_operations_on_items_collect_what_is_wrong_with_a_name(dynamodb: Any, operation: str) -> None:
    item = {"Item" if operation == "PutItem" else "Key": KEY} if operation not in ("Query", "Scan") else {}
    for name, violations in [
        (None, [missing("tableName")]),
        ("", [at("tableName", "", "Member must have length greater than or equal to 1")]),
        ("ab", [at("tableName", "ab", AT_LEAST_3)]),
        ("a;", [at("tableName", "a;", NAME_PATTERN), at("tableName", "a;", AT_LEAST_3)]),
        ("abc!", [at("tableName", "abc!", NAME_PATTERN)]),
        ("abc\n", [at("tableName", "abc\n", NAME_PATTERN)]),
        (LONG, [at("tableName", LONG, AT_MOST_255)]),
        ("é" * 256, [at("tableName", "é" * 256, NAME_PATTERN), at("tableName", "é" * 256, AT_MOST_255)]),
    ]:
        assert dynamodb.refusal(operation, TableName=name, **item) == collected(*violations), name


def test_an_empty_name_is_all_that_is_told(dynamodb: Any) -> None:
    refused = dynamodb.refusal("PutItem", TableName="", Item={}, ReturnValues="hi")
    assert refused == collected(at("tableName", "", "Member must have length greater than or equal to 1"))


def test_an_empty_name_is_told_with_what_is_missing(dynamodb: Any) -> None:
    empty = at("tableName", "", "Member must have length greater than or equal to 1")
    update = {"TableName": "", "AttributeUpdates": {}, "ConditionalOperator": "XOR"}
    refused = dynamodb.refusal("UpdateItem", **update)
    operator = at("conditionalOperator", "XOR", "Member must satisfy enum value set: [OR, AND]")
    assert refused == collected(empty, operator, missing("key"))


def test_a_token_is_told_before_the_rest(dynamodb: Any) -> None:
    action = {"Delete": {"TableName": "abc", "Key": {}}}
    refused = dynamodb.refusal(
        "TransactWriteItems", TransactItems=[action], ClientRequestToken="x" * 37, ReturnConsumedCapacity="hi"
    )
    assert refused == collected(
        at("clientRequestToken", "x" * 37, "Member must have length less than or equal to 36"),
        at("returnConsumedCapacity", "hi", "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"),
    )


@pytest.mark.store_only
@pytest.mark.parametrize("operation", TABLE_OPERATIONS)
def test_operations_on_tables_word_a_length_in_their_own_way(dynamodb: Any, operation: str) -> None:
    for name in ("", "a;", "ab", LONG):
        refused = dynamodb.refusal(operation, TableName=name)
        told = "TableName must be at least 3 characters long and at most 255 characters long"
        assert refused == (INVALID, told)


@pytest.mark.store_only
def test_a_new_table_s_name_is_collected_with_the_rest(dynamodb: Any) -> None:
    request = {
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    short = dynamodb.refusal("CreateTable", TableName="ab", **request)
    assert short == collected(at("tableName", "ab", AT_LEAST_3))
    bare = dynamodb.refusal("CreateTable", TableName="abc;")
    assert bare == collected(
        missing("attributeDefinitions"), at("tableName", "abc;", NAME_PATTERN), missing("keySchema")
    )


# The order of faults

WRONG_TYPE = ("SerializationException", "NUMBER_VALUE cannot be converted to String")
NO_VALUE = (INVALID, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
NO_TABLE = ("ResourceNotFoundException", "Requested resource not found")
NO_SUCH_KEY = (INVALID, "The provided key element does not match the schema")
CONDITION_FAILED = ("ConditionalCheckFailedException", "The conditional request failed")
ATTRIBUTE = {"a": {"S": "a"}}
FALSE = {"ConditionExpression": "attribute_exists(nothing)"}

Fault = tuple[Mapping[str, Any], tuple[str, str]]


def mixed(legacy: str, expressions: str) -> tuple[str, str]:
    return (
        INVALID,
        "Can not use both expression and non-expression parameters in the same request: "
        f"Non-expression parameters: {{{legacy}}} Expression parameters: {{{expressions}}}",
    )


def empty_expression(kind: str) -> tuple[str, str]:
    return INVALID, f"Invalid {kind}Expression: The expression can not be empty;"


WRONG_CONSTANT: Fault = (
    {"ReturnConsumedCapacity": "hi"},
    collected(not_one_of("returnConsumedCapacity", CAPACITY)),
)
INVALID_START = (INVALID, f"The provided starting key is invalid: {NO_VALUE[1]}")

FAULTS: dict[str, list[Fault]] = {
    "GetItem": [
        ({"Key": {"pk": {"S": 5}}}, WRONG_TYPE),
        WRONG_CONSTANT,
        ({"AttributesToGet": ["a"]}, mixed("AttributesToGet", "ProjectionExpression")),
        ({"Key": {"pk": {}}}, NO_VALUE),
        ({"ProjectionExpression": ""}, empty_expression("Projection")),
        ({"TableName": NOWHERE}, NO_TABLE),
        ({"Key": ATTRIBUTE, "ProjectionExpression": "a"}, NO_SUCH_KEY),
    ],
    "PutItem": [
        ({"Item": {"pk": {"S": 5}}}, WRONG_TYPE),
        WRONG_CONSTANT,
        ({"Expected": {"a": {"Exists": False}}}, mixed("Expected", "ConditionExpression")),
        ({"Item": {"pk": {}}}, NO_VALUE),
        ({"ReturnValues": "ALL_NEW"}, (INVALID, "ReturnValues can only be ALL_OLD or NONE")),
        (
            {"Item": {"a": {"S": "x" * 409600}}},
            (INVALID, "Item size has exceeded the maximum allowed size"),
        ),
        ({"ConditionExpression": ""}, empty_expression("Condition")),
        ({"TableName": NOWHERE}, NO_TABLE),
        (
            {"Item": ATTRIBUTE},
            (INVALID, "One or more parameter values were invalid: Missing the key pk in the item"),
        ),
        (FALSE, CONDITION_FAILED),
    ],
    "DeleteItem": [
        ({"Key": {"pk": {"S": 5}}}, WRONG_TYPE),
        WRONG_CONSTANT,
        ({"Expected": {"a": {"Exists": False}}}, mixed("Expected", "ConditionExpression")),
        ({"Key": {"pk": {}}}, NO_VALUE),
        ({"ReturnValues": "ALL_NEW"}, (INVALID, "ReturnValues can only be ALL_OLD or NONE")),
        ({"ConditionExpression": ""}, empty_expression("Condition")),
        ({"TableName": NOWHERE}, NO_TABLE),
        ({"Key": ATTRIBUTE}, NO_SUCH_KEY),
        (FALSE, CONDITION_FAILED),
    ],
    "UpdateItem": [
        ({"Key": {"pk": {"S": 5}}}, WRONG_TYPE),
        WRONG_CONSTANT,
        (
            {"AttributeUpdates": {"a": {"Action": "DELETE"}}, "ConditionExpression": ""},
            mixed("AttributeUpdates", "UpdateExpression, ConditionExpression"),
        ),
        ({"Key": {"pk": {}}}, NO_VALUE),
        ({"UpdateExpression": ""}, empty_expression("Update")),
        ({"ConditionExpression": ""}, empty_expression("Condition")),
        ({"TableName": NOWHERE}, NO_TABLE),
        ({"Key": ATTRIBUTE}, NO_SUCH_KEY),
        (FALSE, CONDITION_FAILED),
        (
            {"UpdateExpression": "SET a = nothing"},
            (INVALID, "The provided expression refers to an attribute that does not exist in the item"),
        ),
    ],
    "Query": [
        ({"ExpressionAttributeValues": {":a": {"S": 5}}}, WRONG_TYPE),
        WRONG_CONSTANT,
        ({"AttributesToGet": ["a"]}, mixed("AttributesToGet", "KeyConditionExpression")),
        ({"ExclusiveStartKey": {"pk": {}}}, INVALID_START),
        ({"KeyConditionExpression": ""}, empty_expression("KeyCondition")),
        ({"TableName": NOWHERE}, NO_TABLE),
        ({"IndexName": "nothing"}, (INVALID, "The table does not have the specified index: nothing")),
        (
            {"KeyConditionExpression": "a = :a"},
            (INVALID, "Query condition missed key schema element: pk"),
        ),
    ],
    "Scan": [
        ({"ExclusiveStartKey": {"pk": {"S": 5}}}, WRONG_TYPE),
        WRONG_CONSTANT,
        ({"AttributesToGet": ["a"]}, mixed("AttributesToGet", "FilterExpression")),
        ({"ExclusiveStartKey": {"pk": {}}}, INVALID_START),
        ({"FilterExpression": ""}, empty_expression("Filter")),
        ({"TableName": NOWHERE}, NO_TABLE),
        ({"IndexName": "nothing"}, (INVALID, "The table does not have the specified index: nothing")),
    ],
}
"""What can be wrong with a request, first things first, and what is said of it."""


def sound(operation: str, table: str) -> dict[str, Any]:
    """The request without any of its faults."""
    request: dict[str, Any] = {
        "PutItem": {"Item": KEY, "ConditionExpression": "attribute_not_exists(nothing)"},
        "DeleteItem": {"Key": KEY, "ConditionExpression": "attribute_not_exists(nothing)"},
        "UpdateItem": {
            "Key": KEY,
            "UpdateExpression": "REMOVE a",
            "ConditionExpression": "attribute_not_exists(nothing)",
        },
        "GetItem": {"Key": KEY, "ProjectionExpression": "pk"},
        "Query": {"KeyConditionExpression": "pk = :a", "ExpressionAttributeValues": {":a": {"S": "a"}}},
        "Scan": {"FilterExpression": "attribute_exists(pk)"},
    }[operation]
    return {"TableName": table, **request}


@pytest.mark.parametrize("operation", FAULTS)
def test_the_earliest_fault_is_told(dynamodb: Any, table: str, operation: str) -> None:
    """The request has every fault; take away the first of them until there is none."""
    faults = FAULTS[operation]
    for first, (_, refused) in enumerate(faults):
        request = sound(operation, table)
        for fault, _ in reversed(faults[first:]):
            request |= fault
        assert dynamodb.refusal(operation, **request) == refused
    assert dynamodb.items(table) == []
    assert dynamodb.answer(operation, **sound(operation, table)).status == 200


@pytest.mark.parametrize(
    ("operation", "item", "refused"),
    [
        ("PutRequest", {"pk": {}}, NO_VALUE),
        ("DeleteRequest", {"pk": {}}, NO_VALUE),
        ("PutRequest", ATTRIBUTE, NO_TABLE),
        ("DeleteRequest", ATTRIBUTE, NO_TABLE),
    ],
)
def test_a_batch_of_writes_has_its_values_judged_first_and_its_keys_last(
    dynamodb: Any, operation: str, item: dict[str, Any], refused: tuple[str, str]
) -> None:
    write = {operation: {"Item" if operation == "PutRequest" else "Key": item}}
    assert dynamodb.refusal("BatchWriteItem", RequestItems={NOWHERE: [write]}) == refused


def test_a_batch_of_reads_has_its_expression_judged_first_and_its_keys_last(
    dynamodb: Any,
) -> None:
    def refusal(**read: Any) -> Any:
        return dynamodb.refusal("BatchGetItem", RequestItems={NOWHERE: read})

    assert refusal(Keys=[{"pk": {}}], ProjectionExpression="") == empty_expression("Projection")
    assert refusal(Keys=[{"pk": {}}]) == NO_VALUE
    assert refusal(Keys=[ATTRIBUTE]) == NO_TABLE


@pytest.mark.parametrize("action", ["Put", "Update", "Delete", "ConditionCheck"])
def test_a_transaction_has_its_values_and_expressions_judged_before_its_tables(
    dynamodb: Any, action: str
) -> None:
    def refusal(item: Any, condition: str) -> Any:
        member = {"TableName": NOWHERE, "Item" if action == "Put" else "Key": item}
        update = {"UpdateExpression": "REMOVE a"} if action == "Update" else {}
        written = {action: {**member, **update, "ConditionExpression": condition}}
        return dynamodb.refusal("TransactWriteItems", TransactItems=[written])

    assert refusal({"pk": {}}, "") == NO_VALUE
    assert refusal(ATTRIBUTE, "") == empty_expression("Condition")
    assert refusal(ATTRIBUTE, "attribute_exists(a)") == NO_TABLE
