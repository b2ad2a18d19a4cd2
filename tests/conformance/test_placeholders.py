"""Placeholders of expressions: what they are, what they stand for, and that each one is used and defined."""

from __future__ import annotations

from typing import Any

import pytest

KEY = {"pk": {"S": "a"}}
NAMES, VALUES = "ExpressionAttributeNames", "ExpressionAttributeValues"
NOWHERE = "conformance-nowhere"
"""Placeholders are judged before the table is looked for."""


def with_placeholders(operation: str, table: str, placeholders: dict[str, Any], **expressions: str) -> Any:
    """A request of that operation, or of that action of a transaction, with such expressions."""
    own = {"TableName": table, **expressions, **placeholders}
    if operation in ("Put", "Update", "Delete", "ConditionCheck"):
        item = {"Item" if operation == "Put" else "Key": KEY}
        return "TransactWriteItems", {"TransactItems": [{operation: {**own, **item}}]}
    if operation == "Get":
        return "TransactGetItems", {"TransactItems": [{"Get": {**own, "Key": KEY}}]}
    if operation == "BatchGetItem":
        return operation, {"RequestItems": {table: {"Keys": [KEY], **expressions, **placeholders}}}
    if operation == "PutItem":
        return operation, {**own, "Item": KEY}
    return operation, own if operation in ("Query", "Scan") else {**own, "Key": KEY}


def refusal(dynamodb: Any, operation: str, placeholders: dict[str, Any], **expressions: str) -> str:
    """The message of the ValidationException for such a request."""
    operation, request = with_placeholders(operation, NOWHERE, placeholders, **expressions)
    return str(dynamodb.invalid(operation, **request))


EXPRESSIONS: dict[str, dict[str, str]] = {
    "GetItem": {"ProjectionExpression": "a"},
    "BatchGetItem": {"ProjectionExpression": "a"},
    "Get": {"ProjectionExpression": "a"},
    "PutItem": {"ConditionExpression": "attribute_exists(a)"},
    "DeleteItem": {"ConditionExpression": "attribute_exists(a)"},
    "UpdateItem": {"UpdateExpression": "REMOVE a"},
    "Query": {"KeyConditionExpression": "pk = a"},
    "Scan": {"FilterExpression": "attribute_exists(a)"},
    "Put": {"ConditionExpression": "attribute_exists(a)"},
    "Delete": {"ConditionExpression": "attribute_exists(a)"},
    "Update": {"UpdateExpression": "REMOVE a"},
    "ConditionCheck": {"ConditionExpression": "attribute_exists(a)"},
}
"""Expressions without placeholders."""
WITHOUT_VALUES = ("GetItem", "BatchGetItem", "Get")
WITH_VALUES = [operation for operation in EXPRESSIONS if operation not in WITHOUT_VALUES]


@pytest.mark.parametrize("operation", [op for op in EXPRESSIONS if op not in ("Update", "ConditionCheck")])
def test_names_need_an_expression(dynamodb: Any, operation: str) -> None:
    told = "ExpressionAttributeNames can only be specified when using expressions"
    assert refusal(dynamodb, operation, {NAMES: {"#a": "a"}}) == told


@pytest.mark.parametrize(
    ("operation", "expressions", "absent"),
    [
        ("PutItem", {}, "ConditionExpression is null"),
        ("DeleteItem", {}, "ConditionExpression is null"),
        ("Put", {}, "ConditionExpression is null"),
        ("Delete", {}, "ConditionExpression is null"),
        ("UpdateItem", {}, "UpdateExpression and ConditionExpression are null"),
        ("Query", {}, "FilterExpression and KeyConditionExpression are null"),
        ("Query", {"ProjectionExpression": "a"}, "FilterExpression and KeyConditionExpression are null"),
        ("Scan", {}, "FilterExpression is null"),
        ("Scan", {"ProjectionExpression": "a"}, "FilterExpression is null"),
    ],
)
def test_values_need_an_expression_that_can_hold_them(
    dynamodb: Any, operation: str, expressions: dict[str, str], absent: str
) -> None:
    told = f"ExpressionAttributeValues can only be specified when using expressions: {absent}"
    assert refusal(dynamodb, operation, {VALUES: {":a": {"S": "a"}}}, **expressions) == told


@pytest.mark.parametrize("operation", EXPRESSIONS)
def test_placeholders_must_not_be_none(dynamodb: Any, operation: str) -> None:
    for member in (NAMES,) if operation in WITHOUT_VALUES else (NAMES, VALUES):
        refused = refusal(dynamodb, operation, {member: {}}, **EXPRESSIONS[operation])
        assert refused == f"{member} must not be empty"


@pytest.mark.parametrize("operation", EXPRESSIONS)
def test_every_placeholder_must_be_used(dynamodb: Any, operation: str) -> None:
    used = {":pk": {"S": "a"}} if operation == "Query" else {}
    expressions = {"KeyConditionExpression": "pk = :pk"} if operation == "Query" else EXPRESSIONS[operation]
    unused = [({NAMES: {"#x": "x"}, **({VALUES: used} if used else {})}, NAMES, "#x")]
    if operation in WITH_VALUES:
        unused.append(({VALUES: {**used, ":x": {"S": "x"}}}, VALUES, ":x"))
    for placeholders, member, key in unused:
        refused = refusal(dynamodb, operation, placeholders, **expressions)
        assert refused == f"Value provided in {member} unused in expressions: keys: {{{key}}}"


@pytest.mark.parametrize(
    ("operation", "expressions"),
    [
        ("UpdateItem", {"UpdateExpression": "SET #a = :a", "ConditionExpression": "#b <> :b"}),
        ("Update", {"UpdateExpression": "SET #a = :a", "ConditionExpression": "#b <> :b"}),
        ("Query", {"KeyConditionExpression": "#a = :a", "FilterExpression": "#b <> :b"}),
        (
            "Query",
            {
                "KeyConditionExpression": "pk = :a",
                "FilterExpression": "c <> :b",
                "ProjectionExpression": "#a, #b",
            },
        ),
        ("Scan", {"FilterExpression": "#a <> :a OR c <> :b", "ProjectionExpression": "#b"}),
    ],
)
def test_a_placeholder_may_be_used_by_any_expression_of_the_request(
    dynamodb: Any, table: str, operation: str, expressions: dict[str, str]
) -> None:
    names = {"#a": "pk" if operation == "Query" else "a", "#b": "b"}
    values = {":a": {"S": "a"}, ":b": {"S": "b"}}
    operation, request = with_placeholders(operation, table, {NAMES: names, VALUES: values}, **expressions)
    assert dynamodb.answer(operation, **request).status == 200


@pytest.mark.parametrize("operation", WITH_VALUES)
def test_a_placeholder_that_is_used_must_be_defined(dynamodb: Any, operation: str) -> None:
    member, kind = {
        "UpdateItem": ("UpdateExpression", "SET a = {}"),
        "Update": ("UpdateExpression", "SET a = {}"),
        "Query": ("KeyConditionExpression", "pk = {}"),
        "Scan": ("FilterExpression", "a = {}"),
    }.get(operation, ("ConditionExpression", "a = {}"))
    assert refusal(dynamodb, operation, {}, **{member: kind.format(":x")}) == (
        f"Invalid {member}: An expression attribute value used in expression is not defined; "
        "attribute value: :x"
    )
    assert refusal(dynamodb, operation, {}, **{member: kind.format("#x")}) == (
        f"Invalid {member}: An expression attribute name used in the document path is not defined; "
        "attribute name: #x"
    )


@pytest.mark.parametrize("operation", EXPRESSIONS)
def test_a_placeholder_is_a_mark_and_letters_digits_and_underscores(dynamodb: Any, operation: str) -> None:
    content: Any
    for member, mark, content in [(NAMES, "#", "a"), (VALUES, ":", {"S": "a"})]:
        if member == VALUES and operation in WITHOUT_VALUES:
            continue
        for key in ["a", "", "{}", "{}a-b", "{}a b", " {}a", "{}a.b", "{}é", "{}{}a"]:
            wrong = key.replace("{}", mark)
            refused = refusal(dynamodb, operation, {member: {wrong: content}}, **EXPRESSIONS[operation])
            assert refused == f'{member} contains invalid key: Syntax error; key: "{wrong}"'


@pytest.mark.parametrize("operation", WITH_VALUES)
def test_the_placeholders_of_values_are_judged_before_the_values(dynamodb: Any, operation: str) -> None:
    values = {":a": {"S": "a", "N": "1"}, ":b": {}, "c": {"S": "a"}}
    refused = refusal(dynamodb, operation, {VALUES: values}, **EXPRESSIONS[operation])
    assert refused == f'{VALUES} contains invalid key: Syntax error; key: "c"'


def test_a_placeholder_may_begin_with_a_digit_or_an_underscore(dynamodb: Any, table: str) -> None:
    for name in ["a", "A", "0", "_", "0a", "_0", "A_b9", "9" * 100]:
        dynamodb(
            "UpdateItem",
            TableName=table,
            Key=KEY,
            UpdateExpression=f"SET #{name} = :{name}",
            ExpressionAttributeNames={f"#{name}": "a"},
            ExpressionAttributeValues={f":{name}": {"S": name}},
        )
        assert dynamodb.get(table, **KEY) == {**KEY, "a": {"S": name}}


@pytest.mark.parametrize("operation", EXPRESSIONS)
def test_a_name_s_placeholder_must_not_stand_for_nothing(dynamodb: Any, operation: str) -> None:
    told = "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a"
    assert refusal(dynamodb, operation, {NAMES: {"#a": ""}}, **EXPRESSIONS[operation]) == told


@pytest.mark.parametrize("operation", WITH_VALUES)
def test_a_value_s_placeholder_must_stand_for_a_valid_value(dynamodb: Any, operation: str) -> None:
    for value, told in [
        ({}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
        ({"N": "b"}, "The parameter cannot be converted to a numeric value: b"),
        ({"SS": []}, "One or more parameter values were invalid: An string set  may not be empty"),
    ]:
        refused = refusal(dynamodb, operation, {VALUES: {":a": value}}, **EXPRESSIONS[operation])
        assert refused == f"ExpressionAttributeValues contains invalid value: {told} for key :a"
