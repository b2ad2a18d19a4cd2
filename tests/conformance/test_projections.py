"""Projections: what of an item comes back, in every operation that reads."""

from __future__ import annotations

from typing import Any

import pytest

KEY = {"pk": {"S": "k"}}
OPERATIONS = ["GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan"]
TEXTS = [{"S": letter} for letter in "abcd"]
ITEM: dict[str, Any] = {
    **KEY,
    "a": {"N": "1"},
    "m": {"M": {"x": {"N": "1"}, "y": {"M": {"z": {"L": TEXTS}}}, "b.c": {"N": "2"}}},
    "l": {"L": [*TEXTS, {"L": TEXTS}, {"M": {"x": {"N": "1"}, "y": {"N": "2"}}}]},
}


def request(operation: str, table: str, **clauses: Any) -> dict[str, Any]:
    if operation == "BatchGetItem":
        return {"RequestItems": {table: {"Keys": [KEY], **clauses}}}
    clauses["TableName"] = table
    if operation == "Query" and "AttributesToGet" in clauses:
        clauses["KeyConditions"] = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [KEY["pk"]]}}
    elif operation == "Query":
        clauses |= {"KeyConditionExpression": "pk = :pk", "ExpressionAttributeValues": {":pk": KEY["pk"]}}
    elif operation != "Scan":
        clauses["Key"] = KEY
    return {"TransactItems": [{"Get": clauses}]} if operation == "TransactGetItems" else clauses


def read(dynamodb: Any, operation: str, table: str, **clauses: Any) -> Any:
    """What comes back of the one item: the same read consistently, or twice not so, as a cache may answer."""
    choices = (
        [{}] if operation == "TransactGetItems" else [{"ConsistentRead": c} for c in (True, False, False)]
    )
    answers = [dynamodb(operation, **request(operation, table, **clauses, **choice)) for choice in choices]
    assert all(answer == answers[0] for answer in answers)
    if operation == "GetItem":
        return answers[0]["Item"]
    if operation == "BatchGetItem":
        return answers[0]["Responses"][table][0]
    return answers[0]["Responses"][0]["Item"] if operation == "TransactGetItems" else answers[0]["Items"][0]


def refusal(dynamodb: Any, operation: str, table: str, **clauses: Any) -> Any:
    return dynamodb.refusal(operation, **request(operation, table, **clauses))


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a", {"a": {"N": "1"}}),
        ("pk, a", {**KEY, "a": {"N": "1"}}),
        ("m", {"m": ITEM["m"]}),
        ("m.x", {"m": {"M": {"x": {"N": "1"}}}}),
        ("m.y.z[1]", {"m": {"M": {"y": {"M": {"z": {"L": [{"S": "b"}]}}}}}}),
        ("m.x, a, m.y.z", {"a": {"N": "1"}, "m": {"M": {"x": {"N": "1"}, "y": {"M": {"z": {"L": TEXTS}}}}}}),
        ("l[2], l[0]", {"l": {"L": [{"S": "a"}, {"S": "c"}]}}),
        ("l[3], l[99], l[1]", {"l": {"L": [{"S": "b"}, {"S": "d"}]}}),
        (
            "l[4][3], l[4][1], l[5].y",
            {"l": {"L": [{"L": [{"S": "b"}, {"S": "d"}]}, {"M": {"y": {"N": "2"}}}]}},
        ),
        ("x", {}),
        ("a.x, m.x.x, m.y.x, l[9], x.y[0]", {}),
        ("a[0], m[0], l.x", {}),
        ("l[0].x, l[1]", {"l": {"L": [{"S": "b"}]}}),
        ("m.x, x, m.z", {"m": {"M": {"x": {"N": "1"}}}}),
    ],
)
def test_paths_pick_what_is_there(
    dynamodb: Any, table: str, operation: str, text: str, found: dict[str, Any]
) -> None:
    """Picked elements of a list move together; what is missing vanishes, and what holds nothing else."""
    dynamodb.put(table, ITEM)
    assert read(dynamodb, operation, table, ProjectionExpression=text) == found


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_placeholder_is_one_name_whatever_is_in_it(dynamodb: Any, table: str, operation: str) -> None:
    dynamodb.put(table, {**ITEM, "m.x": {"N": "3"}})
    names = {"#m": "m", "#bc": "b.c", "#mx": "m.x", "#l": "l[0]"}
    clauses = {"ProjectionExpression": "#m.#bc, #mx, #l", "ExpressionAttributeNames": names}
    found = read(dynamodb, operation, table, **clauses)
    assert found == {"m": {"M": {"b.c": {"N": "2"}}}, "m.x": {"N": "3"}}


@pytest.mark.store_only
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    ("text", "relation", "one", "two"),
    [
        ("a, #a", "overlap", "[a]", "[a]"),
        ("a, b, a.b", "overlap", "[a]", "[a, b]"),
        ("a.b, c, #a", "overlap", "[a, b]", "[a]"),
        ("a[1].b, a[1]", "overlap", "[a, [1], b]", "[a, [1]]"),
        ("a.b, a[1]", "conflict", "[a, b]", "[a, [1]]"),
        ("a[0].b, a.b[0]", "conflict", "[a, [0], b]", "[a, b, [0]]"),
        ("a.b, a[0], #a.b", "overlap", "[a, b]", "[a, b]"),
    ],
)
def test_paths_exclude_each_other(
    dynamodb: Any, table: str, operation: str, text: str, relation: str, one: str, two: str
) -> None:
    names = {"ExpressionAttributeNames": {"#a": "a"}} if "#a" in text else {}
    assert refusal(dynamodb, operation, table, ProjectionExpression=text, **names) == (
        "ValidationException",
        f"Invalid ProjectionExpression: Two document paths {relation} with each other; "
        f"must remove or rewrite one of these paths; path one: {one}, path two: {two}",
    )


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if one != "TransactGetItems"])
def test_attributes_to_get_are_whole_names(dynamodb: Any, table: str, operation: str) -> None:
    """A dot or a bracket in one is a part of it, and reserved words are names like any other."""
    dynamodb.put(table, {**ITEM, "m.x": {"N": "3"}, "status": {"N": "4"}})
    found = read(dynamodb, operation, table, AttributesToGet=["m.x", "l[0]", "status"])
    assert found == {"m.x": {"N": "3"}, "status": {"N": "4"}}


SCALARS = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("path", ["pk.x", "#pk[0].y", "a, pk.x.y"])
def test_no_path_leads_below_a_key_attribute(dynamodb: Any, table: str, operation: str, path: str) -> None:
    """Whether the item is there, or in a cache, or not."""
    clauses = {"ProjectionExpression": path}
    if "#pk" in path:
        clauses |= {"ExpressionAttributeNames": {"#pk": "pk"}}
    for _ in range(2):
        code, message = refusal(dynamodb, operation, table, **clauses)
        if operation == "TransactGetItems":
            assert (code, message) == (
                "TransactionCanceledException",
                "Transaction cancelled, please refer cancellation reasons for specific reasons "
                "[ValidationError]",
            )
        else:
            assert (code, message) == ("ValidationException", f"{SCALARS}Key: pk")
        dynamodb.put(table, ITEM)
        dynamodb("GetItem", TableName=table, Key=KEY)


@pytest.mark.store_only
@pytest.mark.parametrize("operation", [one for one in OPERATIONS if one != "TransactGetItems"])
def test_no_path_leads_below_an_index_key_attribute(dynamodb: Any, operation: str) -> None:
    """A node does not know the indexes: of an item in its cache it answers what is there, nothing."""
    index = dynamodb.index("by-a", "a")
    table = dynamodb.create("pk:S", attributes=["a:N"], GlobalSecondaryIndexes=[index])
    for path in ("a.x", "l, a[0]"):
        assert refusal(dynamodb, operation, table, ProjectionExpression=path) == (
            "ValidationException",
            f"{SCALARS}IndexKey: a",
        )
