"""Constraints and parameter rules, in the service's words and order, and a fuzz of all that comes first."""

from __future__ import annotations

import copy
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.errors import ServiceError
from backend.validation import rules
from backend.validation.shapes import check, decode
from backend.wire import decode_request

KEY = {"pk": {"S": "1"}}
NULL = "failed to satisfy constraint: Member must not be null"
PATTERN = "failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"


def refusal(operation: str, request: dict[str, Any]) -> str:
    """The message with which a request is refused."""
    with pytest.raises(ServiceError) as refused:
        check(operation, decode(operation, request))
    assert refused.value.code == "ValidationException"
    return str(refused.value.message)


def violations(operation: str, request: dict[str, Any]) -> list[str]:
    """The collected violations of a request, whose number the message tells."""
    told, _, rest = refusal(operation, request).partition(" detected: ")
    found = rest.split("; ")
    assert told == f"{len(found)} validation error{'s' if len(found) > 1 else ''}"
    return found


def long(what: str) -> str:
    return f"failed to satisfy constraint: Member must have {what}"


# Collected constraints


@pytest.mark.parametrize(
    ("operation", "request_", "expected"),
    [
        ("PutItem", {}, [f"Value null at 'tableName' {NULL}", f"Value null at 'item' {NULL}"]),
        (
            "PutItem",
            {"TableName": "a;"},
            [
                f"Value 'a;' at 'tableName' {PATTERN}",
                f"Value 'a;' at 'tableName' {long('length greater than or equal to 3')}",
                f"Value null at 'item' {NULL}",
            ],
        ),
        (
            "GetItem",
            {"TableName": "a" * 256, "Key": {}},
            [f"Value '{'a' * 256}' at 'tableName' {long('length less than or equal to 255')}"],
        ),
        (
            "TransactWriteItems",
            {"TransactItems": []},
            [f"Value '[]' at 'transactItems' {long('length greater than or equal to 1')}"],
        ),
        (
            "Scan",
            {"TableName": "abc", "Limit": 0},
            [f"Value '0' at 'limit' {long('value greater than or equal to 1')}"],
        ),
        ("ListTables", {"Limit": 101}, [f"Value '101' at 'limit' {long('value less than or equal to 100')}"]),
        (
            "BatchGetItem",
            {"RequestItems": {"abc": {}}},
            [f"Value null at 'requestItems.abc.member.keys' {NULL}"],
        ),
        (
            "BatchGetItem",
            {"RequestItems": {"abc": {"Keys": [None]}}},
            [f"Value null at 'requestItems.abc.member.keys.1.member' {NULL}"],
        ),
        (
            "CreateTable",
            {
                "TableName": "abc",
                "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "X"}],
                "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}, {"KeyType": "RANGE"}],
            },
            [
                "Value 'X' at 'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: "
                "Member must satisfy enum value set: [B, N, S]",
                f"Value null at 'keySchema.2.member.attributeName' {NULL}",
            ],
        ),
        (
            "Scan",
            {"TableName": "abc", "ScanFilter": {"a": {}}},
            [f"Value null at 'scanFilter.a.member.comparisonOperator' {NULL}"],
        ),
        (
            "UpdateTable",
            {"TableName": "abc", "GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "abc"}}]},
            [f"Value null at 'globalSecondaryIndexUpdates.1.member.update.provisionedThroughput' {NULL}"],
        ),
        (
            "TransactGetItems",
            {"TransactItems": [{}]},
            [f"Value null at 'transactItems.1.member.get' {NULL}"],
        ),
    ],
)
def test_violations_are_collected(operation: str, request_: dict[str, Any], expected: list[str]) -> None:
    assert violations(operation, request_) == expected


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("returnValues", "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"),
        ("returnConsumedCapacity", "[INDEXES, TOTAL, NONE]"),
        ("returnItemCollectionMetrics", "[SIZE, NONE]"),
        ("conditionalOperator", "[OR, AND]"),
    ],
)
def test_enumerations_print_in_the_order_of_the_service(name: str, values: str) -> None:
    request = {"TableName": "abc", "Key": KEY, name[0].upper() + name[1:]: "hi"}
    assert violations("UpdateItem", request) == [
        f"Value 'hi' at '{name}' failed to satisfy constraint: Member must satisfy enum value set: {values}"
    ]


def test_the_first_ten_violations_are_told_in_the_order_of_the_service() -> None:
    filters = {"a": {}, "b": {"ComparisonOperator": ""}}
    request = {
        "TableName": "abc;",
        "ReturnConsumedCapacity": "hi",
        "AttributesToGet": [],
        "IndexName": "abc;",
        "Select": "hi",
        "Limit": -1,
        "KeyConditions": filters,
        "ConditionalOperator": "AN",
        "QueryFilter": filters,
    }
    told = [one.split("'")[-2 if one.startswith("Value null") else 3] for one in violations("Query", request)]
    assert told == [
        "select",
        "indexName",
        "returnConsumedCapacity",
        "queryFilter.a.member.comparisonOperator",
        "queryFilter.b.member.comparisonOperator",
        "tableName",
        "conditionalOperator",
        "attributesToGet",
        "limit",
        "keyConditions.a.member.comparisonOperator",
    ]


def test_a_refused_list_or_map_is_printed_as_java_does() -> None:
    schema = [{"AttributeName": name, "KeyType": "HASH"} for name in "abc"]
    request = {"TableName": "abc", "AttributeDefinitions": [], "KeySchema": schema}
    printed = ", ".join(f"KeySchemaElement(attributeName={name}, keyType=HASH)" for name in "abc")
    assert violations("CreateTable", request) == [
        f"Value '[{printed}]' at 'keySchema' {long('length less than or equal to 2')}"
    ]
    writes = [{"PutRequest": {"Item": {"a": {"B": "eA=="}}}}] * 26
    refused = violations("BatchWriteItem", {"RequestItems": {"abc": writes}})[0]
    assert refused.startswith(
        "Value '{abc=[WriteRequest(putRequest=PutRequest(item={a=AttributeValue(s=null, "
    )
    assert "b=java.nio.HeapByteBuffer[pos=0 lim=1 cap=1]" in refused
    assert refused.endswith(
        "]}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: "
        "[Member must have length less than or equal to 25, "
        "Member must have length greater than or equal to 1]"
    )


def test_names_of_tables_as_keys_of_a_map() -> None:
    refused = violations("BatchGetItem", {"RequestItems": {"a": {"Keys": [KEY]}}})
    assert len(refused) == 1
    assert refused[0].endswith(
        "at 'requestItems' failed to satisfy constraint: Map keys must satisfy constraint: "
        "[Member must have length less than or equal to 255, "
        "Member must have length greater than or equal to 3, "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
    )


def test_an_empty_table_name_is_all_that_is_told() -> None:
    request = {"TableName": "", "Item": {}, "ReturnValues": "INVALID"}
    assert violations("PutItem", request) == [
        f"Value '' at 'tableName' {long('length greater than or equal to 1')}"
    ]


def test_a_table_may_be_named_by_arn() -> None:
    arn = "arn:aws:dynamodb:us-east-1:123456789012:table/users"
    check("GetItem", {"TableName": arn, "Key": KEY})
    check("BatchGetItem", {"RequestItems": {arn: {"Keys": [KEY]}}})
    check("DescribeTable", {"TableName": arn})
    assert "tableName" in refusal("GetItem", {"TableName": "arn:aws:dynamodb:x", "Key": KEY})


# Rules of single operations


@pytest.mark.parametrize(
    ("operation", "request_", "message"),
    [
        ("DescribeTable", {}, "The parameter 'TableName' is required but was not present in the request"),
        ("CreateTable", {}, "The parameter 'TableName' is required but was not present in the request"),
        (
            "DeleteTable",
            {"TableName": "a;"},
            "TableName must be at least 3 characters long and at most 255 characters long",
        ),
        ("BatchGetItem", {"RequestItems": {}}, "The requestItems parameter is required for BatchGetItem"),
        ("BatchWriteItem", {"RequestItems": {}}, "The requestItems parameter is required for BatchWriteItem"),
        (
            "BatchGetItem",
            {"RequestItems": {"abc": {"Keys": [{"a": {"N": str(n)}} for n in range(101)]}}},
            "1 validation error detected: Value at 'RequestItems.abc.member.Keys' failed to satisfy "
            "constraint: Member must have length less than or equal to 100",
        ),
        (
            "BatchGetItem",
            {
                "RequestItems": {
                    t: {"Keys": [{"a": {"N": str(n)}} for n in range(51)]} for t in ("abc", "abd")
                }
            },
            "Too many items requested for the BatchGetItem call",
        ),
        (
            "BatchWriteItem",
            {"RequestItems": {t: [{"DeleteRequest": {"Key": KEY}}] * 13 for t in ("abc", "abd")}},
            "Too many items requested for the BatchWriteItem call",
        ),
        (
            "BatchWriteItem",
            {"RequestItems": {"abc": [{}]}},
            "Supplied AttributeValue has more than one datatypes set, "
            "must contain exactly one of the supported datatypes",
        ),
        (
            "TransactWriteItems",
            {
                "TransactItems": [
                    {"Put": {"TableName": "abc", "Item": KEY}, "Delete": {"TableName": "abc", "Key": KEY}}
                ]
            },
            "TransactItems can only contain one of Check, Put, Update or Delete",
        ),
        (
            "Query",
            {"TableName": "abc", "Limit": 0},
            "1 validation error detected: Value at 'Limit' failed to satisfy constraint: "
            "Member must have value greater than or equal to 1",
        ),
        (
            "UpdateItem",
            {
                "TableName": "abc",
                "Key": KEY,
                "Expected": {"a": {}},
                "AttributeUpdates": {},
                "ConditionExpression": "",
                "UpdateExpression": "",
            },
            "Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {AttributeUpdates, Expected} "
            "Expression parameters: {UpdateExpression, ConditionExpression}",
        ),
        (
            "GetItem",
            {"TableName": "abc", "Key": KEY, "ExpressionAttributeNames": {}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            "PutItem",
            {"TableName": "abc", "Item": KEY, "ExpressionAttributeValues": {}},
            "ExpressionAttributeValues can only be specified when using expressions: "
            "ConditionExpression is null",
        ),
        (
            "UpdateItem",
            {"TableName": "abc", "Key": KEY, "ExpressionAttributeValues": {}},
            "ExpressionAttributeValues can only be specified when using expressions: "
            "UpdateExpression and ConditionExpression are null",
        ),
        (
            "TransactWriteItems",
            {
                "TransactItems": [
                    {"Put": {"TableName": "abc", "Item": KEY, "ExpressionAttributeNames": {"#a": "a"}}}
                ]
            },
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
    ],
)
def test_rules_between_parameters(operation: str, request_: dict[str, Any], message: str) -> None:
    assert refusal(operation, request_) == message


def test_key_conditions_may_stand_beside_a_filter_expression() -> None:
    conditions = {"a": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "x"}]}}
    check("Query", {"TableName": "abc", "KeyConditions": conditions, "FilterExpression": "b = :b"})
    assert "{KeyConditions}" in refusal(
        "Query", {"TableName": "abc", "KeyConditions": conditions, "KeyConditionExpression": "a = :a"}
    )


# Rules that operations call after the attribute values


@pytest.mark.parametrize(
    ("rule", "request_", "message"),
    [
        (
            rules.key_condition_present,
            {},
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.",
        ),
        (
            rules.segments,
            {"Segment": 0},
            "The TotalSegments parameter is required but was not present in the request "
            "when Segment parameter is present",
        ),
        (
            rules.segments,
            {"TotalSegments": 4},
            "The Segment parameter is required but was not present in the request "
            "when parameter TotalSegments is present",
        ),
        (
            rules.segments,
            {"Segment": 5, "TotalSegments": 5},
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            "Segment: 5 is not less than TotalSegments: 5",
        ),
        (
            rules.return_values_of_replaced_item,
            {"ReturnValues": "ALL_NEW"},
            "ReturnValues can only be ALL_OLD or NONE",
        ),
        (
            rules.attributes_to_get_once,
            {"AttributesToGet": ["a", "b", "a"]},
            "One or more parameter values were invalid: Duplicate value in attribute name: a",
        ),
    ],
)
def test_rules_of_later_places(rule: rules.Rule, request_: dict[str, Any], message: str) -> None:
    with pytest.raises(ServiceError) as refused:
        rule(request_)
    assert refused.value.message == message
    rule({"KeyConditionExpression": "", "Segment": 1, "TotalSegments": 2, "AttributesToGet": ["a", "b"]})


# Whatever a body holds


SEEDS: list[tuple[str, dict[str, Any]]] = [
    (
        "PutItem",
        {
            "TableName": "users",
            "Item": {"pk": {"S": "1"}, "b": {"B": "eA=="}, "l": {"L": [{"M": {"x": {"NS": ["1", "2"]}}}]}},
            "ConditionExpression": "attribute_not_exists(pk)",
            "ExpressionAttributeValues": {":a": {"BOOL": True}},
            "ReturnValues": "ALL_OLD",
        },
    ),
    ("GetItem", {"TableName": "users", "Key": KEY, "ConsistentRead": True, "AttributesToGet": ["a"]}),
    (
        "Query",
        {
            "TableName": "users",
            "KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "x"}]}},
            "Limit": 5,
            "ExclusiveStartKey": KEY,
        },
    ),
    ("Scan", {"TableName": "users", "Segment": 1, "TotalSegments": 2, "Select": "COUNT"}),
    ("BatchGetItem", {"RequestItems": {"users": {"Keys": [KEY], "ConsistentRead": False}}}),
    (
        "BatchWriteItem",
        {"RequestItems": {"users": [{"PutRequest": {"Item": KEY}}, {"DeleteRequest": {"Key": KEY}}]}},
    ),
    (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": "users", "Item": KEY}},
                {"Update": {"TableName": "users", "Key": KEY, "UpdateExpression": "SET a = :a"}},
                {"ConditionCheck": {"TableName": "users", "Key": KEY, "ConditionExpression": "a = :a"}},
            ],
            "ClientRequestToken": "token",
        },
    ),
    ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "users", "Key": KEY}}]}),
    (
        "CreateTable",
        {
            "TableName": "users",
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "a")
            ],
            "KeySchema": [
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            "LocalSecondaryIndexes": [
                {
                    "IndexName": "local",
                    "KeySchema": [
                        {"AttributeName": "pk", "KeyType": "HASH"},
                        {"AttributeName": "a", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]},
                }
            ],
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "global",
                    "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
            "BillingMode": "PAY_PER_REQUEST",
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
            "Tags": [{"Key": "a", "Value": "b"}],
        },
    ),
    (
        "UpdateTable",
        {
            "TableName": "users",
            "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "abc"}}],
            "BillingMode": "PAY_PER_REQUEST",
        },
    ),
    ("ListTables", {"Limit": 5, "ExclusiveStartTableName": "abc"}),
    ("TagResource", {"ResourceArn": "arn", "Tags": [{"Key": "a", "Value": "b"}]}),
    (
        "UpdateTimeToLive",
        {"TableName": "users", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}},
    ),
    ("ExecuteStatement", {"Statement": "SELECT * FROM users", "Parameters": [{"S": "x"}]}),
    ("GetRecords", {"ShardIterator": "x", "Limit": 5}),
]


@pytest.mark.parametrize(("operation", "request_"), SEEDS)
def test_valid_requests_pass(operation: str, request_: dict[str, Any]) -> None:
    check(operation, decode(operation, request_))


JUNK = st.sampled_from(
    [
        None, True, False, 0, -1, 1.5, 2**31, 2**63, 1e300, "", "x", "\x00", "TRUE", "eA==", "a" * 300,
        "arn:aws:dynamodb:", [], {}, [None], [[]], [{}], {"x": None}, {"": {}}, {"S": "x", "N": "1"},
        {"S": 5}, {"L": [None]}, {"M": {"": 1}}, {"B": "="}, {"BS": [None]}, {"NULL": "yes"},
    ]
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything in a JSON value."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [path, *(one for key, part in inner for one in places(part, (*path, key)))]


def mutate(request: Any, draw: st.DrawFn) -> Any:
    """Put junk somewhere, take something away, or add a member, up to three times."""
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(places(request)))
        if not path:
            continue
        *parents, last = path
        target = request
        for key in parents:
            target = target[key]
        junk = copy.deepcopy(draw(JUNK))
        match draw(st.sampled_from(["replace", "remove", "add"])):
            case "replace":
                target[last] = junk
            case "remove":
                del target[last]
            case _ if isinstance(target, dict):
                target[draw(st.sampled_from(["S", "L", "Unknown", "Limit", "Key", "users2", ""]))] = junk
            case _:
                target.append(junk)
    return request


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, Any]:
    operation, request = draw(st.sampled_from(SEEDS))
    return operation, mutate(copy.deepcopy(request), draw)


def judge(operation: str, body: bytes) -> None:
    """Pass or refuse: anything but a ServiceError fails the test."""
    code = "none"
    try:
        check(operation, decode_request(operation, body))
    except ServiceError as refused:
        code = refused.code
    assert code in ("none", "ValidationException", "SerializationException")


@settings(max_examples=1000, deadline=None)
@given(mutated())
def test_a_mutated_request_passes_or_is_refused(case: tuple[str, Any]) -> None:
    operation, request = case
    judge(operation, orjson.dumps(request))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(SEEDS), st.binary(max_size=4), st.data())
def test_damaged_bytes_pass_or_are_refused(seed: tuple[str, Any], noise: bytes, data: st.DataObject) -> None:
    operation, request = seed
    body = orjson.dumps(request)
    at = data.draw(st.integers(0, len(body)))
    judge(operation, body[:at] + noise + body[at + data.draw(st.integers(0, 3)) :])


@pytest.mark.parametrize(
    "body",
    [
        b'{"Limit":123456789012345678901234567890}',
        b'{"Limit":1e400}',
        b'{"Limit":-0}',
        b'{"TableName":"a","TableName":"abc"}',
    ],
)
def test_odd_numbers_and_repeated_members(body: bytes) -> None:
    judge("Query", body)
