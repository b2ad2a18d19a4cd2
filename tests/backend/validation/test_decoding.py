"""Type checks of whole requests: what is converted, what is dropped, what is refused and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from backend.errors import ServiceError
from backend.model.values import MAX_NESTING
from backend.validation.shapes import decode, decode_response

SCALARS = (True, False, 23, -2147483648, 2147483648, 34.56)
GENERIC = (
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class "
    "java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are "
    "in module java.base of loader 'bootstrap')"
)
OBJECT = "Start of structure or map found where not expected"
NAMESPACE = "com.amazonaws.dynamodb.v20120810."


def token(value: Any) -> str:
    names = {
        bool: f"{value}".upper() + "_VALUE",
        int: "NUMBER_VALUE",
        float: "DECIMAL_VALUE",
        str: "STRING_VALUE",
    }
    return names[type(value)]


def expectations(kind: str) -> list[tuple[Any, str]]:
    """(refused value, message) for a place of the given kind."""
    name, _, argument = kind.partition(":")
    unexpected = [(value, "Unexpected field type") for value in ("23", *SCALARS)]
    match name:
        case "String":
            refused = [(value, f"{token(value)} cannot be converted to String") for value in SCALARS]
            return [*refused, ([], "Unrecognized collection type class java.lang.String"), ({}, OBJECT)]
        case "Boolean":
            refused = [(value, f"{token(value)} cannot be converted to Boolean") for value in SCALARS[2:]]
            return [
                *refused,
                ("23", "Unexpected token received from parser"),
                ([], "Unrecognized collection type class java.lang.Boolean"),
                ({}, OBJECT),
            ]
        case "Integer" | "Long":
            refused = [
                (value, f"{token(value)} cannot be converted to {name}") for value in ("23", True, False)
            ]
            return [*refused, ([], f"Unrecognized collection type class java.lang.{name}"), ({}, OBJECT)]
        case "Blob":
            text = "only base-64-encoded strings are convertible to bytes"
            return [
                *((value, text) for value in SCALARS),
                ([], "Unrecognized collection type class java.nio.ByteBuffer"),
                ({}, OBJECT),
                ("23456", "Base64 encoded length is expected a multiple of 4 bytes but found: 5"),
                ("=+/=", "Invalid last non-pad Base64 character dectected"),
                ("+/+=", "Invalid last non-pad Base64 character dectected"),
            ]
        case "List":
            return [*unexpected, ({}, OBJECT)]
        case "NestedList":
            return [*((value, GENERIC) for value in ("23", *SCALARS)), ({}, OBJECT)]
        case "Map":
            java = f"java.util.Map<java.lang.String, {argument}>"
            return [*unexpected, ([], f"Unrecognized collection type {java}")]
        case "NestedMap":
            java = f"java.util.Map<java.lang.String, {NAMESPACE}AttributeValue>"
            refused = [(value, GENERIC) for value in ("23", *SCALARS)]
            return [*refused, ([], f"Unrecognized collection type {java}")]
        case "Element":
            refused = [(value, "Unexpected value type in payload") for value in ("23", *SCALARS)]
            return [*refused, ([], f"Unrecognized collection type class {NAMESPACE}{argument}")]
        case _:
            return [*unexpected, ([], f"Unrecognized collection type class {NAMESPACE}{argument}")]


def attribute_value(path: str, kind: str) -> list[tuple[str, str]]:
    return [
        (path, f"{kind}:AttributeValue"),
        *((f"{path}.{name}", "String") for name in ("S", "N", "SS.0", "NS.0")),
        *((f"{path}.{name}", "Blob") for name in ("B", "BS.0", "L.0.BS.0", "M.a.BS.0")),
        *((f"{path}.{name}", "Boolean") for name in ("BOOL", "NULL")),
        *((f"{path}.{name}", "List") for name in ("SS", "NS", "BS", "L", "L.0.BS")),
        (f"{path}.L.0", "Element:AttributeValue"),
        (f"{path}.M", f"Map:{NAMESPACE}AttributeValue"),
        (f"{path}.M.a", "Element:AttributeValue"),
    ]


PLACES: list[tuple[str, str, str]] = [
    *(
        ("PutItem", path, kind)
        for path, kind in [
            ("TableName", "String"),
            ("Item", f"Map:{NAMESPACE}AttributeValue"),
            *attribute_value("Item.a", "Element"),
            ("Expected", f"Map:{NAMESPACE}ExpectedAttributeValue"),
            ("Expected.a", "Element:ExpectedAttributeValue"),
            ("Expected.a.Exists", "Boolean"),
            *attribute_value("Expected.a.Value", "Field"),
            ("ExpressionAttributeNames", "Map:java.lang.String"),
            ("ExpressionAttributeNames.a", "String"),
        ]
    ),
    ("BatchWriteItem", "RequestItems", f"Map:java.util.List<{NAMESPACE}WriteRequest>"),
    ("BatchWriteItem", "RequestItems.a", "NestedList"),
    ("BatchWriteItem", "RequestItems.a.0", "Element:WriteRequest"),
    ("BatchWriteItem", "RequestItems.a.0.DeleteRequest", "Field:DeleteRequest"),
    ("BatchGetItem", "RequestItems", f"Map:{NAMESPACE}KeysAndAttributes"),
    ("BatchGetItem", "RequestItems.a", "Element:KeysAndAttributes"),
    ("BatchGetItem", "RequestItems.a.Keys.0", "NestedMap"),
    ("BatchGetItem", "RequestItems.a.Keys.0.b", "Element:AttributeValue"),
    ("ListTables", "Limit", "Integer"),
    ("CreateTable", "ProvisionedThroughput", "Field:ProvisionedThroughput"),
    ("CreateTable", "ProvisionedThroughput.ReadCapacityUnits", "Long"),
    ("CreateTable", "KeySchema.0", "Element:KeySchemaElement"),
    ("UpdateTable", "GlobalSecondaryIndexUpdates.0.Create", "Field:CreateGlobalSecondaryIndexAction"),
]


def place(path: str, value: Any) -> Any:
    """A request with `value` at the path; a segment `0` is the only element of a list."""
    first, _, rest = path.partition(".")
    inner = place(rest, value) if rest else value
    return [inner] if first == "0" else {first: inner}


@pytest.mark.parametrize(("operation", "path", "kind"), PLACES)
def test_a_wrong_type_is_refused_in_the_words_of_the_service(operation: str, path: str, kind: str) -> None:
    for value, message in expectations(kind):
        with pytest.raises(ServiceError) as refused:
            decode(operation, place(path, value))
        assert (refused.value.code, refused.value.message) == ("SerializationException", message)


@pytest.mark.parametrize("body", [[], "x", 5, 1.5, True, None])
def test_a_body_that_is_no_object_is_refused_without_a_message(body: Any) -> None:
    with pytest.raises(ServiceError) as refused:
        decode("GetItem", body)
    assert (refused.value.code, refused.value.message) == ("SerializationException", None)


def test_blobs_become_bytes_at_every_depth() -> None:
    item = {"b": {"B": "AP8="}, "l": {"L": [{"M": {"x": {"BS": ["AQ==", "Ag=="]}}}]}, "s": {"S": "AP8="}}
    assert decode("PutItem", {"Item": item})["Item"] == {
        "b": {"B": b"\x00\xff"},
        "l": {"L": [{"M": {"x": {"BS": [b"\x01", b"\x02"]}}}]},
        "s": {"S": "AP8="},
    }


def test_the_parsed_body_is_left_as_it_was() -> None:
    body = {"Item": {"b": {"B": "AP8="}, "x": {"S": "a", "Q": 1}}, "Unknown": 1}
    decode("PutItem", body)
    assert body == {"Item": {"b": {"B": "AP8="}, "x": {"S": "a", "Q": 1}}, "Unknown": 1}


def test_unknown_and_null_members_are_dropped() -> None:
    request = {"TableName": "t", "Unknown": {"x": 1}, "IndexName": None, "Limit": 5}
    assert decode("Query", request) == {"TableName": "t", "Limit": 5}
    item = {"a": {"S": "x", "Unknown": 1, "N": None}, "b": {"Unknown": 1}, "c": None}
    assert decode("PutItem", {"Item": item})["Item"] == {"a": {"S": "x"}, "b": {}, "c": {}}


def test_booleans_and_numbers_are_read_as_leniently_as_the_service_does() -> None:
    assert decode("Query", {"ConsistentRead": "true", "ScanIndexForward": "0"}) == {
        "ConsistentRead": True,
        "ScanIndexForward": False,
    }
    assert decode("Query", {"Limit": 1.9}) == {"Limit": 1}
    with pytest.raises(ServiceError, match="NUMBER_VALUE cannot be converted to Integer"):
        decode("Query", {"Limit": 2**31})


def test_a_set_with_a_null_is_refused() -> None:
    with pytest.raises(ServiceError, match="An string set may not have a null string as a member"):
        decode("PutItem", {"Item": {"a": {"SS": ["x", None]}}})


def test_bottomless_nesting_is_read_as_far_as_its_refusal_needs() -> None:
    value: dict[str, Any] = {"S": "x"}
    for _ in range(500):
        value = {"L": [value]}
    read = decode("PutItem", {"Item": {"a": value}})["Item"]["a"]
    levels = 0
    while read:
        [read] = read["L"]
        levels += 1
    assert MAX_NESTING < levels < 100


def test_responses_are_read_by_their_own_shape() -> None:
    response = decode_response(
        "GetItem", {"Item": {"b": {"B": "eA=="}}, "ConsumedCapacity": {"CapacityUnits": 0.5}}
    )
    assert response == {"Item": {"b": {"B": b"x"}}, "ConsumedCapacity": {"CapacityUnits": 0.5}}
    described = {"Table": {"CreationDateTime": 1.5e9, "ItemCount": 3}}
    assert decode_response("DescribeTable", described) == described


def test_an_unknown_operation() -> None:
    with pytest.raises(ServiceError) as refused:
        decode("GetItems", {})
    assert refused.value.code == "UnknownOperationException"
