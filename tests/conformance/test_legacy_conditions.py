"""The conditions of old: Expected, ScanFilter and QueryFilter, with their operators and arguments."""

from __future__ import annotations

from typing import Any

import pytest

KEY = {"pk": {"S": "k"}}
INVALID = "One or more parameter values were invalid: "
ONE, TWO, TEXT = {"N": "1"}, {"N": "2"}, {"S": "text"}
OF_EACH_TYPE: dict[str, Any] = {
    "S": TEXT,
    "N": ONE,
    "B": {"B": "AAEC"},
    "BOOL": {"BOOL": True},
    "NULL": {"NULL": True},
    "SS": {"SS": ["a"]},
    "NS": {"NS": ["1"]},
    "BS": {"BS": ["AQ=="]},
    "L": {"L": [ONE]},
    "M": {"M": {"x": ONE}},
}
OPERATORS = {
    "EQ": (1, set(OF_EACH_TYPE)),
    "NE": (1, set(OF_EACH_TYPE)),
    **dict.fromkeys(("LT", "LE", "GT", "GE"), (1, {"S", "N", "B"})),
    **dict.fromkeys(("CONTAINS", "NOT_CONTAINS"), (1, {"S", "N", "B", "BOOL", "NULL"})),
    "BEGINS_WITH": (1, {"S", "B"}),
    "BETWEEN": (2, {"S", "N", "B"}),
    "IN": (None, {"S", "N", "B"}),
    **dict.fromkeys(("NULL", "NOT_NULL"), (0, set())),
}
"""How many arguments each operator takes, None for one or more, and of which types."""


@pytest.mark.store_only
@pytest.mark.parametrize(
    ("operator", "arguments", "true_of", "false_of"),
    [
        ("EQ", [ONE], [{"N": "1"}], [TWO, {"S": "1"}, {"NS": ["1"]}]),
        ("NE", [ONE], [TWO, {"S": "1"}], [ONE]),
        ("LT", [TWO], [ONE], [TWO, TEXT]),
        ("LE", [TWO], [ONE, TWO], [{"N": "2.1"}, TEXT]),
        ("GT", [ONE], [TWO], [ONE, TEXT]),
        ("GE", [TWO], [TWO], [ONE, TEXT]),
        ("BETWEEN", [ONE, TWO], [ONE, {"N": "1.5"}, TWO], [{"N": "0.9"}, TEXT]),
        ("BEGINS_WITH", [{"S": "te"}], [TEXT], [{"S": "et"}, ONE]),
        ("IN", [TWO, ONE], [ONE, TWO], [{"N": "3"}, {"S": "1"}]),
        ("NULL", [], [], [{"NULL": True}]),
        ("NOT_NULL", [], [ONE, {"NULL": True}], []),
        ("EQ", [{"SS": ["a", "b"]}], [{"SS": ["b", "a"]}], [{"SS": ["a"]}]),
        ("NE", [{"SS": ["a", "b"]}], [{"SS": ["a"]}], [{"SS": ["b", "a"]}]),
    ],
)
def test_operators(
    holds_of_old: Any, operator: str, arguments: list[Any], true_of: list[Any], false_of: list[Any]
) -> None:
    for value in true_of:
        assert holds_of_old({"a": value}, operator, *arguments), value
    for value in false_of:
        assert not holds_of_old({"a": value}, operator, *arguments), value


@pytest.mark.parametrize(
    ("operator", "arguments", "verdict"),
    [
        *((operator, [ONE], False) for operator in ("EQ", "LT", "LE", "GT", "GE", "IN")),
        ("NE", [ONE], True),
        ("BETWEEN", [ONE, ONE], False),
        ("BEGINS_WITH", [{"S": ""}], False),
        ("CONTAINS", [{"S": ""}], False),
        ("NOT_CONTAINS", [{"S": ""}], False),
        ("NULL", [], True),
        ("NOT_NULL", [], False),
    ],
)
def test_missing_attributes_in_legacy_conditions(
    holds_of_old: Any, operator: str, arguments: list[Any], verdict: bool
) -> None:
    assert holds_of_old({"b": ONE}, operator, *arguments) is verdict


@pytest.mark.store_only
@pytest.mark.parametrize("operator", OPERATORS)
def test_an_operator_has_its_number_of_arguments(problem_of_old: Any, operator: str) -> None:
    right, _ = OPERATORS[operator]
    for count in range(4):
        if count != right and not (right is None and count):
            assert problem_of_old(operator, *[TEXT] * count) == (
                f"{INVALID}Invalid number of argument(s) for the {operator} ComparisonOperator"
            )


@pytest.mark.store_only
@pytest.mark.parametrize("operator", [name for name, (count, _) in OPERATORS.items() if count != 0])
def test_an_operator_takes_certain_types(problem_of_old: Any, operator: str) -> None:
    count, types = OPERATORS[operator]
    for datatype, value in OF_EACH_TYPE.items():
        if datatype not in types:
            assert problem_of_old(operator, *[value] * (count or 1)) == (
                f"{INVALID}ComparisonOperator {operator} is not valid for {datatype} AttributeValue type"
            )


@pytest.mark.store_only
@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem", "DeleteItem"])
@pytest.mark.parametrize(
    ("expected", "problem"),
    [
        ({}, "Value must be provided when Exists is null for Attribute: a"),
        ({"Exists": True}, "Value must be provided when Exists is true for Attribute: a"),
        ({"Exists": False, "Value": ONE}, "Value cannot be used when Exists is false for Attribute: a"),
        (
            {"ComparisonOperator": "LT"},
            "Value or AttributeValueList must be used with ComparisonOperator: LT for Attribute: a",
        ),
        (
            {"ComparisonOperator": "NULL", "Exists": False},
            "Exists and ComparisonOperator cannot be used together for Attribute: a",
        ),
        (
            {"ComparisonOperator": "EQ", "Value": ONE, "AttributeValueList": [ONE]},
            "Value and AttributeValueList cannot be used together for Attribute: a",
        ),
        (
            {"AttributeValueList": [ONE]},
            "AttributeValueList can only be used with a ComparisonOperator for Attribute: a",
        ),
        (
            {"Value": ONE, "ComparisonOperator": "BETWEEN"},
            "Invalid number of argument(s) for the BETWEEN ComparisonOperator",
        ),
        (
            {"Value": ONE, "ComparisonOperator": "NOT_NULL"},
            "Invalid number of argument(s) for the NOT_NULL ComparisonOperator",
        ),
    ],
)
def test_the_parts_of_expected_fit_together(
    dynamodb: Any, table: str, operation: str, expected: Any, problem: str
) -> None:
    subject = {"Item": KEY} if operation == "PutItem" else {"Key": KEY}
    refused = dynamodb.refusal(operation, TableName=table, **subject, Expected={"a": expected})
    assert refused == ("ValidationException", INVALID + problem)
    assert dynamodb.get(table, **KEY) is None


@pytest.mark.parametrize(
    ("expected", "holds"),
    [
        ({"a": {"Value": ONE}}, True),
        ({"a": {"Value": ONE, "Exists": True}}, True),
        ({"a": {"Value": TWO}}, False),
        ({"a": {"Exists": False}}, False),
        ({"x": {"Exists": False}}, True),
        ({"x": {"Value": ONE}}, False),
        ({"a": {"Value": ONE, "ComparisonOperator": "GE"}}, True),
        ({"a": {"Value": ONE}, "b": {"Value": TWO}}, True),
        ({"a": {"Value": ONE}, "b": {"Value": ONE}}, False),
    ],
)
def test_expected_with_a_value_or_without(dynamodb: Any, table: str, expected: Any, holds: bool) -> None:
    item = {**KEY, "a": ONE, "b": TWO}
    dynamodb.put(table, item)
    for operation, subject in (
        ("PutItem", {"Item": item}),
        ("UpdateItem", {"Key": KEY}),
        ("DeleteItem", {"Key": KEY}),
    ):
        answer = dynamodb.answer(operation, TableName=table, **subject, Expected=expected)
        assert (answer.status == 200) is holds, operation
        assert holds or b"ConditionalCheckFailedException" in answer.body


def test_legacy_conditions_are_joined_by_and_or_by_or(dynamodb: Any, table: str) -> None:
    item = {**KEY, "a": ONE, "b": TWO}
    dynamodb.put(table, item)
    one_holds = {"a": {"Value": ONE}, "b": {"Value": ONE}}
    put = {"TableName": table, "Item": item}
    refused = ("ConditionalCheckFailedException", "The conditional request failed")
    assert dynamodb.refusal("PutItem", **put, Expected=one_holds) == refused
    assert dynamodb.refusal("PutItem", **put, Expected=one_holds, ConditionalOperator="AND") == refused
    dynamodb("PutItem", **put, Expected=one_holds, ConditionalOperator="OR")
    is_one = {"ComparisonOperator": "EQ", "AttributeValueList": [ONE]}
    for operator, count in (("AND", 0), ("OR", 1)):
        conditions = {"ScanFilter": {"a": is_one, "b": is_one}, "ConditionalOperator": operator}
        assert dynamodb("Scan", TableName=table, **conditions)["Count"] == count


@pytest.mark.parametrize("operator", ["AND", "OR"])
def test_a_conditional_operator_joins_two_conditions_at_least(
    dynamodb: Any, table: str, operator: str
) -> None:
    is_one = {"ComparisonOperator": "EQ", "AttributeValueList": [ONE]}
    by_key = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [KEY["pk"]]}}
    for operation, subject, parameter in (
        ("PutItem", {"Item": KEY}, "Expected"),
        ("UpdateItem", {"Key": KEY}, "Expected"),
        ("DeleteItem", {"Key": KEY}, "Expected"),
        ("Scan", {}, "ScanFilter"),
        ("Query", {"KeyConditions": by_key}, "QueryFilter"),
    ):
        request = {"TableName": table, **subject, "ConditionalOperator": operator}
        assert dynamodb.refusal(operation, **request) == (
            "ValidationException",
            f"{INVALID}ConditionalOperator cannot be used without Filter or Expected",
        )
        assert dynamodb.refusal(operation, **request, **{parameter: {"a": is_one}}) == (
            "ValidationException",
            f"{INVALID}ConditionalOperator can only be used when Filter or Expected has two or more elements",
        )
    assert dynamodb.get(table, **KEY) is None
