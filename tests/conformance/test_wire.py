"""HTTP around an operation: methods, headers, bodies, authentication, and the form of an error."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

JSON = "application/json"
JSON_1_0 = "application/x-amz-json-1.0"
LARGEST_BODY = 16 * 1024 * 1024
TARGET = {"X-Amz-Target": "DynamoDB_20120810.ListTables"}
SERVICE = "com.amazon.coral.service#"
NAMESPACE = "com.amazonaws.dynamodb.v20120810."
KEY = {"pk": {"S": "a"}}
UNEXPECTED_FIELD = "Unexpected field type"
UNEXPECTED_ELEMENT = "Unexpected value type in payload"
UNEXPECTED_OBJECT = "Start of structure or map found where not expected"
READS = ["GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"]
WRITES = ["PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"]


def refused_type(answer: Any) -> str:
    """The message of a SerializationException, which is all that its body may hold."""
    assert (answer.status, set(answer.json)) == (400, {"__type", "Message"})
    assert answer.json["__type"] == SERVICE + "SerializationException"
    return str(answer.json["Message"])


# Requests and answers of HTTP


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
def test_an_operation_is_a_post(dynamodb: Any, table: str, method: str) -> None:
    body = json.dumps({"TableName": table, "Item": KEY}).encode()
    answer = dynamodb.wire.send(body, dynamodb.headers("PutItem", body), method=method)
    assert answer.status == (200 if method == "GET" else 404)
    assert dynamodb.get(table, **KEY) is None


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (JSON_1_0, JSON_1_0),
        (f"{JSON_1_0}; charset=utf-8", JSON_1_0),
        (JSON, JSON),
        (f"{JSON};charset=utf-8", JSON),
    ],
)
def test_an_answer_is_of_the_content_type_of_its_request(
    dynamodb: Any, table: str, asked: str, answered: str
) -> None:
    found = json.dumps({"TableName": table, "Key": KEY}).encode()
    for body, status in ((found, 200), (b"{}", 400), (b"{", 400)):
        answer = dynamodb.send("GetItem", body, **{"Content-Type": asked})
        assert (answer.status, answer.headers["content-type"]) == (status, answered)


def test_an_answer_has_a_request_id_and_the_checksum_of_its_body(dynamodb: Any, table: str) -> None:
    answers = [
        dynamodb.answer("GetItem", TableName=table, Key=KEY),
        dynamodb.answer("GetItem", TableName=table, Key=KEY),
        dynamodb.answer("GetItem", TableName=table, Key={}),
        dynamodb.answer("GetItem", TableName=5),
        dynamodb.send("GetItem", b"{"),
        dynamodb.wire.send(b"", TARGET),
        dynamodb.wire.send(b""),
        dynamodb.wire.send(method="GET"),
        dynamodb.wire.send(method="PUT"),
    ]
    ids = {answer.headers["x-amzn-requestid"] for answer in answers}
    assert len(ids) == len(answers)
    assert all(re.fullmatch("[A-Z0-9]{52}", one) for one in ids)
    for answer in answers:
        assert answer.headers["x-amz-crc32"] == str(zlib.crc32(answer.body))
        assert answer.headers["content-length"] == str(len(answer.body))


def test_a_get_is_a_health_check(dynamodb: Any) -> None:
    answer = dynamodb.wire.send(method="GET")
    assert answer.status == 200
    assert re.fullmatch(rb"healthy: dynamodb\.[a-z0-9-]+\.amazonaws\.com ", answer.body)


@pytest.mark.parametrize(
    ("method", "body", "content_type"),
    [
        ("PUT", b"", None),
        ("DELETE", b"", None),
        ("OPTIONS", b"", None),
        ("PUT", b"{}", JSON_1_0),
        ("DELETE", b"{}", JSON),
        ("POST", b"{}", None),
        ("POST", b"{}", "whatever"),
        ("POST", b"{}", "application/x-amz-json-1.1"),
        ("POST", b"{}", "application/jsonasdf"),
        ("POST", b"{}", "text/json"),
    ],
)
def test_what_is_not_the_protocol_is_not_found(
    dynamodb: Any, method: str, body: bytes, content_type: str | None
) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    answer = dynamodb.wire.send(body, {**TARGET, **headers}, method=method)
    assert (answer.status, answer.body) == (404, b"<UnknownOperationException/>\n")


def chunks(size: int) -> Iterator[bytes]:
    """A body of which no Content-Length is told."""
    piece = b" " * 65536
    for start in range(0, size, len(piece)):
        yield piece[: size - start]


def test_a_body_of_16_mib_is_read_and_a_larger_one_refused(dynamodb: Any) -> None:
    assert dynamodb.wire.send(b" " * LARGEST_BODY).status == 404
    assert dynamodb.wire.send(chunks(LARGEST_BODY)).status == 404
    for body in (b" " * (LARGEST_BODY + 1), chunks(LARGEST_BODY + 1)):
        answer = dynamodb.wire.send(body)
        assert (answer.status, answer.body) == (413, b"")


# What an operation is refused for before it is read


@pytest.mark.parametrize(
    "body",
    [
        b"", b"hi", b"{", b'{"TableName"}', b'{"TableName":}', b'{"TableName":"a', b'{"TableName":"a",}',
        b"{'TableName':'a'}", b"{TableName:1}", b'{"TableName":"a"]',
    ],
)  # fmt: skip
@pytest.mark.parametrize("operation", ["GetItem", "PutItem", "ListTables"])
def test_malformed_json_is_refused_without_a_message(dynamodb: Any, operation: str, body: bytes) -> None:
    answer = dynamodb.send(operation, body)
    assert (answer.status, answer.json) == (400, {"__type": SERVICE + "SerializationException"})


@pytest.mark.parametrize(
    "target",
    [
        None, "", "whatever", "GetItem", "DynamoDB_20120810", "DynamoDB_20120810.",
        "DynamoDB_20120810.getItem", "DynamoDB_20120810.GetItems", "DynamoDB_20111205.GetItem",
        "DynamoDBStreams_20120810.GetItem", "DynamoDB_20120810.GetRecords",
    ],
)  # fmt: skip
def test_an_unknown_target_is_refused_without_a_message(dynamodb: Any, target: str | None) -> None:
    headers = {
        name: value for name, value in dynamodb.headers("GetItem", b"{}").items() if name[:5] != "X-Amz"
    }
    headers |= {} if target is None else {"X-Amz-Target": target}
    for sent in (headers, {"Content-Type": JSON, **({} if target is None else {"X-Amz-Target": target})}):
        answer = dynamodb.wire.send(b"{}", sent)
        assert (answer.status, answer.json) == (400, {"__type": SERVICE + "UnknownOperationException"})


MISSING_TOKEN = ("MissingAuthenticationTokenException", "Request is missing Authentication Token")
BOTH = (
    "InvalidSignatureException",
    "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
)
NO_DATE = "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header."


def incomplete_header(authorization: str, *missing: str, date: bool = True) -> tuple[str, str]:
    told = [f"Authorization header requires '{one}' parameter." for one in missing]
    told += [] if date else [NO_DATE]
    return "IncompleteSignatureException", f"{' '.join(told)} Authorization={authorization}"


def incomplete_query(*missing: str) -> tuple[str, str]:
    told = [f"AWS query-string parameters must include 'X-Amz-{one}'." for one in missing]
    return "IncompleteSignatureException", f"{' '.join(told)} Re-examine the query-string parameters."


@pytest.mark.parametrize(
    ("headers", "query", "refused"),
    [
        ({}, "", MISSING_TOKEN),
        ({"Authorization": "AWS4"}, "", MISSING_TOKEN),
        ({"Authorization": "X"}, "?X-Amz-Algorith", MISSING_TOKEN),
        ({}, "?X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-SignedHeaders=c&X-Amz-Date=d", MISSING_TOKEN),
        (
            {"Authorization": "AWS4-"},
            "",
            incomplete_header("AWS4-", "Credential", "Signature", "SignedHeaders", date=False),
        ),
        (
            {"Authorization": "AWS4- Credential=a, SignedHeaders=b", "X-Amz-Date": "a"},
            "",
            incomplete_header("AWS4- Credential=a, SignedHeaders=b", "Signature"),
        ),
        (
            {"Authorization": "AWS4- Signature=b,Credential=a", "Date": "a"},
            "",
            incomplete_header("AWS4- Signature=b,Credential=a", "SignedHeaders"),
        ),
        (
            {"Authorization": "AWS4- Signature=b Credential= SignedHeaders=c", "Date": "a"},
            "",
            incomplete_header("AWS4- Signature=b Credential= SignedHeaders=c", "Credential"),
        ),
        ({"Authorization": "X"}, "?X-Amz-Algorithm", BOTH),
        ({"Authorization": "AWS4- Signature=b"}, "?X-Amz-Algorithm=a", BOTH),
        (
            {},
            "?X-Amz-Algorithm",
            incomplete_query("Algorithm", "Credential", "Signature", "SignedHeaders", "Date"),
        ),
        (
            {},
            "?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d",
            incomplete_query("SignedHeaders"),
        ),
    ],
)
@pytest.mark.parametrize("target", ["ListTables", "PutItem"])
def test_a_signature_is_asked_for_in_form(
    dynamodb: Any, target: str, headers: dict[str, str], query: str, refused: tuple[str, str]
) -> None:
    sent = {"X-Amz-Target": f"DynamoDB_20120810.{target}", **headers}
    answer = dynamodb.wire.send(b"", sent, path=f"/{query}")
    code, message = refused
    assert (answer.status, answer.json) == (400, {"__type": SERVICE + code, "message": message})


# The form of an error


def test_the_type_of_an_error_tells_which_layer_refused(dynamodb: Any, table: str) -> None:
    def type_of(operation: str, **request: Any) -> str:
        answer = dynamodb.answer(operation, **request)
        assert answer.status == 400
        return str(answer.json["__type"])

    exists = {"ConditionExpression": "attribute_exists(pk)"}
    put = {"TableName": table, "Item": KEY}
    assert type_of("GetItem") == "com.amazon.coral.validate#ValidationException"
    assert type_of("GetItem", TableName=table, Key={}) == "com.amazon.coral.validate#ValidationException"
    assert type_of("GetItem", TableName=5) == SERVICE + "SerializationException"
    theirs = {
        type_of("GetItem", TableName="conformance-nowhere", Key=KEY),
        type_of("PutItem", **put, **exists),
        type_of("TransactWriteItems", TransactItems=[{"Put": {**put, **exists}}]),
    }
    assert theirs == {
        "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",
        "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
        "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
    }


@pytest.mark.store_only
def test_the_type_of_a_table_s_error_is_dynamodb_s(dynamodb: Any, table: str) -> None:
    again = {
        "TableName": table,
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    assert dynamodb.answer("CreateTable", **again).json == {
        "__type": "com.amazonaws.dynamodb.v20120810#ResourceInUseException",
        "message": f"Table already exists: {table}",
    }
    denied = dynamodb.answer("ListTagsOfResource", ResourceArn="").json
    assert denied["__type"] == SERVICE + "AccessDeniedException"


def test_a_wrong_type_has_its_text_in_upper_case_and_all_else_in_lower_case(
    dynamodb: Any, table: str
) -> None:
    refused = [
        dynamodb.answer("GetItem", TableName=5),
        dynamodb.answer("GetItem"),
        dynamodb.answer("GetItem", TableName="conformance-nowhere", Key=KEY),
        dynamodb.answer("PutItem", TableName=table, Item=KEY, ConditionExpression="attribute_exists(pk)"),
    ]
    assert [sorted(answer.json) for answer in refused] == [
        ["Message", "__type"],
        *[["__type", "message"]] * 3,
    ]


# Types of JSON


def token(value: Any) -> str:
    """What the service calls a scalar of JSON."""
    if isinstance(value, bool):
        return f"{value}".upper() + "_VALUE"
    return {int: "NUMBER_VALUE", float: "DECIMAL_VALUE", str: "STRING_VALUE"}[type(value)]


NUMBERS = (23, -2147483648, 34.56)


def refused_as_scalar(java: str, *scalars: Any) -> list[tuple[Any, str]]:
    """(value, message) where a scalar of that Java class is expected."""
    return [
        *((value, f"{token(value)} cannot be converted to {java}") for value in scalars),
        ([], f"Unrecognized collection type class java.lang.{java}"),
        ({}, UNEXPECTED_OBJECT),
    ]


def refused_as_object(collection: str, unexpected: str = UNEXPECTED_FIELD) -> list[tuple[Any, str]]:
    """(value, message) where an object is expected, which the service calls `collection`."""
    scalars = [(value, unexpected) for value in ("23", True, *NUMBERS)]
    return [*scalars, ([], f"Unrecognized collection type {collection}")]


def member(structure: str) -> list[tuple[Any, str]]:
    return refused_as_object(f"class {NAMESPACE}{structure}")


def element(structure: str) -> list[tuple[Any, str]]:
    """The same in a list or a map."""
    return refused_as_object(f"class {NAMESPACE}{structure}", UNEXPECTED_ELEMENT)


def map_of(java: str) -> list[tuple[Any, str]]:
    return refused_as_object(f"java.util.Map<java.lang.String, {java}>")


STRING = refused_as_scalar("String", True, False, *NUMBERS)
BOOLEAN = [*refused_as_scalar("Boolean", *NUMBERS), ("yo", "Unexpected token received from parser")]
INTEGER = refused_as_scalar("Integer", "23", True, False)
BLOB = [
    *((value, "only base-64-encoded strings are convertible to bytes") for value in (True, *NUMBERS)),
    ([], "Unrecognized collection type class java.nio.ByteBuffer"),
    ({}, UNEXPECTED_OBJECT),
]
LIST = [*((value, UNEXPECTED_FIELD) for value in ("23", True, *NUMBERS)), ({}, UNEXPECTED_OBJECT)]


def check_types(dynamodb: Any, operation: str, path: str, expected: list[tuple[Any, str]]) -> None:
    """Put each value at the path of a request that has nothing else; `0` is the only element of a list."""
    for value, message in expected:
        content = value
        for segment in reversed(path.split(".")):
            content = [content] if segment == "0" else {segment: content}
        assert refused_type(dynamodb.answer(operation, **content)) == message, value


ATTRIBUTES = map_of(f"{NAMESPACE}AttributeValue")


@pytest.mark.parametrize(
    ("operation", "path", "expected"),
    [
        *((operation, "TableName", STRING) for operation in ("GetItem", "PutItem", "Query", "Scan")),
        ("GetItem", "ConsistentRead", BOOLEAN),
        ("Query", "ScanIndexForward", BOOLEAN),
        ("Query", "Limit", INTEGER),
        ("Scan", "TotalSegments", INTEGER),
        ("Scan", "AttributesToGet", LIST),
        ("Scan", "AttributesToGet.0", STRING),
        ("UpdateItem", "UpdateExpression", STRING),
        ("UpdateItem", "Key", ATTRIBUTES),
        ("UpdateItem", "ExpressionAttributeNames", map_of("java.lang.String")),
        ("UpdateItem", "ExpressionAttributeNames.a", STRING),
        ("UpdateItem", "ExpressionAttributeValues.a", element("AttributeValue")),
        ("UpdateItem", "AttributeUpdates.a", element("AttributeValueUpdate")),
        ("DeleteItem", "Expected.a.Value", member("AttributeValue")),
        ("PutItem", "Item", ATTRIBUTES),
        ("PutItem", "Item.a", element("AttributeValue")),
        *(("PutItem", f"Item.a.{kind}", STRING) for kind in ("S", "N", "SS.0", "NS.0", "L.0.S", "M.a.N")),
        *(("PutItem", f"Item.a.{kind}", BLOB) for kind in ("B", "BS.0", "L.0.B", "M.a.BS.0")),
        *(("PutItem", f"Item.a.{kind}", BOOLEAN) for kind in ("BOOL", "NULL")),
        *(("PutItem", f"Item.a.{kind}", LIST) for kind in ("SS", "NS", "BS", "L")),
        ("PutItem", "Item.a.L.0", element("AttributeValue")),
        ("PutItem", "Item.a.M", ATTRIBUTES),
        ("BatchGetItem", "RequestItems.abc", element("KeysAndAttributes")),
        ("BatchGetItem", "RequestItems.abc.Keys.0.a.S", STRING),
        ("BatchWriteItem", "RequestItems.abc.0", element("WriteRequest")),
        ("BatchWriteItem", "RequestItems.abc.0.PutRequest.Item.a.N", STRING),
        ("TransactGetItems", "TransactItems.0.Get.Key.a.B", BLOB),
        ("TransactWriteItems", "TransactItems", LIST),
        ("TransactWriteItems", "TransactItems.0.Put", member("Put")),
        ("TransactWriteItems", "TransactItems.0.Update.Key.a.N", STRING),
    ],
)  # fmt: skip
def test_a_wrong_type_of_json_is_refused_by_name(
    dynamodb: Any, operation: str, path: str, expected: list[tuple[Any, str]]
) -> None:
    check_types(dynamodb, operation, path, expected)


@pytest.mark.store_only
@pytest.mark.parametrize(
    ("operation", "path", "expected"),
    [
        ("ListTables", "Limit", INTEGER),
        ("DescribeTable", "TableName", STRING),
        ("CreateTable", "DeletionProtectionEnabled", BOOLEAN),
        ("CreateTable", "KeySchema", LIST),
        (
            "CreateTable",
            "ProvisionedThroughput.ReadCapacityUnits",
            refused_as_scalar("Long", "23", True, False),
        ),
    ],
)
def test_a_wrong_type_of_json_is_refused_for_tables_too(
    dynamodb: Any, operation: str, path: str, expected: list[tuple[Any, str]]
) -> None:
    check_types(dynamodb, operation, path, expected)


@pytest.mark.parametrize("operation", [*READS, *WRITES])
def test_types_are_checked_in_all_of_a_request_before_anything_else(dynamodb: Any, operation: str) -> None:
    """Each request breaks constraints at its beginning, and has its wrong type at the very end."""
    last = {"a": {"L": [{"M": {"b": {"S": 5}}}]}}
    request = {
        "GetItem": {"TableName": "", "ReturnConsumedCapacity": "x", "Key": last},
        "PutItem": {"TableName": "", "ReturnValues": "x", "Item": last},
        "UpdateItem": {"TableName": "", "UpdateExpression": "", "Key": last},
        "DeleteItem": {"TableName": "", "ReturnValues": "x", "Key": last},
        "Query": {"TableName": "", "Limit": 0, "Select": "x", "ExpressionAttributeValues": last},
        "Scan": {"TableName": "", "Limit": 0, "ExclusiveStartKey": last},
        "BatchGetItem": {"RequestItems": {"": {"Keys": [{"a": {}}, last]}}},
        "BatchWriteItem": {"RequestItems": {"": [{}, {"PutRequest": {"Item": last}}]}},
        "TransactGetItems": {"TransactItems": [{}, {"Get": {"Key": last}}]},
        "TransactWriteItems": {"TransactItems": [{}, {"Put": {"Item": last}}]},
    }[operation]
    refused = refused_type(dynamodb.answer(operation, **request))
    assert refused == "NUMBER_VALUE cannot be converted to String"


# What is let pass


def test_members_that_there_are_not_are_ignored(dynamodb: Any, table: str) -> None:
    odd = {"Unknown": {"x": [1, None]}, "tableName": 5}
    item = {"pk": {"S": "a", "Unknown": 1}}
    asked = {"Keys": [item], **odd}
    put, get = {"TableName": table, "Item": item}, {"TableName": table, "Key": item}
    assert dynamodb("PutItem", **put, **odd) == {}
    assert dynamodb("GetItem", **get, ConsistentRead=True, **odd) == {"Item": KEY}
    assert dynamodb(
        "BatchWriteItem", RequestItems={table: [{"PutRequest": {"Item": item, **odd}, **odd}]}
    ) == {"UnprocessedItems": {}}
    assert dynamodb("BatchGetItem", RequestItems={table: asked}, **odd)["Responses"] == {table: [KEY]}
    assert dynamodb("TransactWriteItems", TransactItems=[{"Put": {**put, **odd}, **odd}]) == {}
    assert dynamodb("TransactGetItems", TransactItems=[{"Get": {**get, **odd}}]) == {
        "Responses": [{"Item": KEY}]
    }
    assert dynamodb("Scan", TableName=table, **odd)["Items"] == [KEY]


def test_any_origin_may_ask(dynamodb: Any, table: str) -> None:
    asked = {"Access-Control-Request-Headers": "a, b, c", "Access-Control-Request-Method": "d"}
    preflight = dynamodb.wire.send(b"", {"Origin": "https://example.com", **asked}, method="OPTIONS")
    assert (preflight.status, preflight.body) == (200, b"")
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert preflight.headers["access-control-max-age"] == "172800"
    assert preflight.headers["access-control-allow-headers"] == "a, b, c"
    assert preflight.headers["access-control-allow-methods"] == "d"
    bare = dynamodb.wire.send(b"", {"Origin": "x"}, method="OPTIONS")
    assert bare.headers["access-control-allow-origin"] == "*"
    assert not {"access-control-allow-headers", "access-control-allow-methods"} & set(bare.headers)

    body = json.dumps({"TableName": table, "Key": KEY}).encode()
    for sent, status in ((body, 200), (b"{}", 400), (b"{", 400)):
        crossing = dynamodb.send("GetItem", sent, Origin="https://example.com")
        assert (crossing.status, crossing.headers["access-control-allow-origin"]) == (status, "*")
        assert "access-control-allow-origin" not in dynamodb.send("GetItem", sent).headers


def test_nothing_to_report_is_an_empty_object(dynamodb: Any, table: str) -> None:
    put, key = {"TableName": table, "Item": KEY}, {"TableName": table, "Key": KEY}
    for operation, request in [
        ("DeleteItem", key),
        ("DeleteItem", {**key, "ReturnValues": "ALL_OLD"}),
        ("PutItem", {**put, "ReturnValues": "ALL_OLD"}),
        ("PutItem", put),
        ("UpdateItem", key),
        ("DeleteItem", key),
        ("GetItem", key),
        ("TransactWriteItems", {"TransactItems": [{"Put": put}]}),
    ]:
        answer = dynamodb.answer(operation, **request)
        assert (answer.status, answer.body) == (200, b"{}"), operation
