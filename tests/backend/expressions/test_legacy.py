"""The parameters before expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from backend.expressions.legacy import (
    attribute_updates,
    attributes_to_get,
    expected_condition,
    filter_condition,
    key_conditions,
)
from backend.model.keys import KeyAttribute, KeySchema, encode

Refusal = Callable[[Callable[[], object]], str | None]
INVALID = "One or more parameter values were invalid: "
SCHEMA = KeySchema(KeyAttribute("pk", "S"))
RANGE = KeySchema(KeyAttribute("pk", "S"), KeyAttribute("sk", "S"))
KEY: Any = {"pk": {"S": "x"}}
ITEM: Any = {
    "s": {"S": "hello"},
    "n": {"N": "5"},
    "ss": {"SS": ["x", "y"]},
    "l": {"L": [{"S": "x"}]},
    "d.t": {"N": "1"},
}


def test(operator: str, *arguments: Any) -> Any:
    return {"ComparisonOperator": operator, "AttributeValueList": list(arguments)}


test.__test__ = False  # type: ignore[attr-defined]


def matches(name: str, operator: str, *arguments: Any) -> bool:
    condition = filter_condition({name: test(operator, *arguments)})
    assert condition is not None
    return condition.matches(ITEM)


@pytest.mark.parametrize(
    ("name", "operator", "arguments", "result"),
    [
        ("n", "EQ", [{"N": "5.0"}], True),
        ("ss", "EQ", [{"SS": ["y", "x"]}], True),
        ("l", "EQ", [{"L": [{"S": "x"}]}], True),
        ("n", "NE", [{"S": "5"}], True),
        ("zip", "EQ", [{"N": "5"}], False),
        ("zip", "NE", [{"N": "5"}], True),
        ("n", "LT", [{"N": "6"}], True),
        ("n", "LE", [{"N": "5"}], True),
        ("n", "GT", [{"N": "6"}], False),
        ("n", "GE", [{"S": "a"}], False),
        ("zip", "LT", [{"N": "6"}], False),
        ("n", "BETWEEN", [{"N": "5"}, {"N": "6"}], True),
        ("n", "IN", [{"N": "1"}, {"N": "5"}], True),
        ("s", "BEGINS_WITH", [{"S": "he"}], True),
        ("s", "CONTAINS", [{"S": "ell"}], True),
        ("ss", "CONTAINS", [{"S": "x"}], True),
        ("l", "CONTAINS", [{"S": "x"}], True),
        ("zip", "CONTAINS", [{"S": "x"}], False),
        ("s", "NOT_CONTAINS", [{"S": "z"}], True),
        ("s", "NOT_CONTAINS", [{"S": "ell"}], False),
        ("zip", "NOT_CONTAINS", [{"S": "z"}], False),
        ("s", "NOT_NULL", [], True),
        ("zip", "NOT_NULL", [], False),
        ("zip", "NULL", [], True),
        ("s", "NULL", [], False),
        ("d.t", "EQ", [{"N": "1"}], True),
    ],
)
def test_filters(name: str, operator: str, arguments: list[Any], result: bool) -> None:
    assert matches(name, operator, *arguments) is result


@pytest.mark.parametrize(("operator", "result"), [(None, False), ("AND", False), ("OR", True)])
def test_conditional_operators(operator: str | None, result: bool) -> None:
    conditions = {"n": test("EQ", {"N": "5"}), "s": test("EQ", {"S": "no"})}
    for read in (filter_condition, expected_condition):
        condition = read(conditions, operator)
        assert condition is not None
        assert condition.matches(ITEM) is result


def test_no_conditions_at_all(refusal: Refusal) -> None:
    assert filter_condition({}) is None
    assert expected_condition({}) is None
    assert (
        refusal(lambda: filter_condition({}, "AND"))
        == "ConditionalOperator cannot be used without Filter or Expected"
    )


ONE_OF_EACH: Any = {
    "BOOL": {"BOOL": True},
    "NULL": {"NULL": True},
    "SS": {"SS": ["a"]},
    "NS": {"NS": ["1"]},
    "BS": {"BS": [b"abcd"]},
    "M": {"M": {}},
    "L": {"L": []},
}


@pytest.mark.parametrize("operator", ["LT", "LE", "GT", "GE", "IN", "BETWEEN", "BEGINS_WITH"])
@pytest.mark.parametrize("datatype", list(ONE_OF_EACH))
def test_types_of_arguments(refusal: Refusal, operator: str, datatype: str) -> None:
    arguments = [ONE_OF_EACH[datatype]] * (2 if operator == "BETWEEN" else 1)
    for read in (filter_condition, key_conditions):
        assert refusal(lambda read=read: read({"a": test(operator, *arguments)})) == (  # type: ignore[misc]
            f"{INVALID}ComparisonOperator {operator} is not valid for {datatype} AttributeValue type"
        )


@pytest.mark.parametrize("operator", ["CONTAINS", "NOT_CONTAINS"])
@pytest.mark.parametrize("datatype", ["SS", "NS", "BS", "M", "L"])
def test_types_of_members(refusal: Refusal, operator: str, datatype: str) -> None:
    assert refusal(lambda: matches("a", operator, ONE_OF_EACH[datatype])) == (
        f"{INVALID}ComparisonOperator {operator} is not valid for {datatype} AttributeValue type"
    )


@pytest.mark.parametrize(
    ("operator", "count"),
    [
        ("EQ", 0),
        ("EQ", 2),
        ("NULL", 1),
        ("NOT_NULL", 2),
        ("IN", 0),
        ("BETWEEN", 1),
        ("BETWEEN", 3),
        ("CONTAINS", 0),
    ],
)
def test_numbers_of_arguments(refusal: Refusal, operator: str, count: int) -> None:
    message = f"{INVALID}Invalid number of argument(s) for the {operator} ComparisonOperator"
    arguments = [{"S": "a"}] * count
    assert refusal(lambda: matches("a", operator, *arguments)) == message
    assert refusal(lambda: expected_condition({"a": test(operator, *arguments)})) == message


def test_arguments_that_do_not_go_together(refusal: Refusal) -> None:
    assert refusal(lambda: matches("a", "IN", {"S": "b"}, {"N": "1"})) == (
        f"{INVALID}AttributeValues inside AttributeValueList must be of same type"
    )
    assert refusal(lambda: matches("a", "BETWEEN", {"S": "b"}, {"S": "a"})) == (
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
    )


@pytest.mark.parametrize(
    ("expectation", "item", "result"),
    [
        ({"Exists": False}, {}, True),
        ({"Exists": False}, {"a": {"S": "x"}}, False),
        ({"Value": {"N": "1.0"}}, {"a": {"N": "1"}}, True),
        ({"Value": {"N": "1"}, "Exists": True}, {"a": {"N": "2"}}, False),
        ({"Value": {"N": "1"}}, {}, False),
        ({"ComparisonOperator": "GT", "Value": {"N": "1"}}, {"a": {"N": "2"}}, True),
        ({"ComparisonOperator": "NULL"}, {}, True),
        ({"ComparisonOperator": "NE", "AttributeValueList": [{"S": "x"}]}, {}, True),
    ],
)
def test_expected(expectation: Any, item: Any, result: bool) -> None:
    condition = expected_condition({"a": expectation})
    assert condition is not None
    assert condition.matches(item) is result


@pytest.mark.parametrize(
    ("expectation", "problem"),
    [
        ({}, "Value must be provided when Exists is null for Attribute: a"),
        ({"Exists": True}, "Value must be provided when Exists is true for Attribute: a"),
        (
            {"Exists": False, "Value": {"S": "x"}},
            "Value cannot be used when Exists is false for Attribute: a",
        ),
        (
            {"AttributeValueList": [{"S": "x"}]},
            "AttributeValueList can only be used with a ComparisonOperator for Attribute: a",
        ),
        (
            {"AttributeValueList": [{"S": "x"}], "Value": {"S": "x"}},
            "Value and AttributeValueList cannot be used together for Attribute: a",
        ),
        (
            {"Exists": True, "ComparisonOperator": "EQ", "Value": {"S": "x"}},
            "Exists and ComparisonOperator cannot be used together for Attribute: a",
        ),
        (
            {"ComparisonOperator": "LT"},
            "Value or AttributeValueList must be used with ComparisonOperator: LT for Attribute: a",
        ),
        (
            {"ComparisonOperator": "BETWEEN", "Value": {"S": "x"}},
            "Invalid number of argument(s) for the BETWEEN ComparisonOperator",
        ),
    ],
)
def test_refused_expectations(refusal: Refusal, expectation: Any, problem: str) -> None:
    assert refusal(lambda: expected_condition({"a": expectation})) == INVALID + problem


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        ({"Value": {"N": "1.0"}}, {}, {"N": "1"}),
        ({"Action": "PUT", "Value": {"S": "new"}}, {"N": "1"}, {"S": "new"}),
        ({"Action": "DELETE"}, {"N": "1"}, None),
        ({"Action": "DELETE"}, None, None),
        ({"Action": "DELETE", "Value": {"SS": ["a"]}}, {"SS": ["a", "b"]}, {"SS": ["b"]}),
        ({"Action": "DELETE", "Value": {"SS": ["a"]}}, {"SS": ["a"]}, None),
        ({"Action": "ADD", "Value": {"N": "2"}}, {"N": "1"}, {"N": "3"}),
        ({"Action": "ADD", "Value": {"N": "2"}}, None, {"N": "2"}),
        ({"Action": "ADD", "Value": {"NS": ["1", "2"]}}, {"NS": ["1"]}, {"NS": ["1", "2"]}),
        (
            {"Action": "ADD", "Value": {"L": [{"S": "b"}]}},
            {"L": [{"S": "a"}]},
            {"L": [{"S": "a"}, {"S": "b"}]},
        ),
        ({"Action": "ADD", "Value": {"L": [{"S": "b"}]}}, None, {"L": [{"S": "b"}]}),
    ],
)
def test_attribute_updates(change: Any, before: Any, after: Any) -> None:
    item = dict(KEY) | ({"a.b": before} if before else {})
    result = attribute_updates({"a.b": change}).apply(item, KEY, SCHEMA)
    assert result == dict(KEY) | ({"a.b": after} if after else {})


def test_attribute_updates_of_no_item() -> None:
    assert attribute_updates({"a": {"Action": "DELETE"}}).apply(None, KEY, SCHEMA) is None
    assert attribute_updates({"a": {"Action": "ADD", "Value": {"N": "1"}}}).apply(None, KEY, SCHEMA) == {
        **KEY,
        "a": {"N": "1"},
    }
    assert attribute_updates({}).apply(None, KEY, SCHEMA) == KEY


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, "Only DELETE action is allowed when no attribute value is specified"),
        ({"Action": "ADD"}, "Only DELETE action is allowed when no attribute value is specified"),
        (
            {"Action": "DELETE", "Value": {"N": "1"}},
            "DELETE action with value is not supported for the type N",
        ),
        (
            {"Action": "DELETE", "Value": {"L": []}},
            "DELETE action with value is not supported for the type L",
        ),
        ({"Action": "ADD", "Value": {"S": "x"}}, "ADD action is not supported for the type S"),
        ({"Action": "ADD", "Value": {"BOOL": True}}, "ADD action is not supported for the type BOOL"),
    ],
)
def test_refused_attribute_updates(refusal: Refusal, change: Any, problem: str) -> None:
    assert refusal(lambda: attribute_updates({"a": change})) == INVALID + problem


@pytest.mark.parametrize(
    "change",
    [
        {"Action": "DELETE", "Value": {"NS": ["1"]}},
        {"Action": "ADD", "Value": {"NS": ["1"]}},
        {"Action": "ADD", "Value": {"N": "1"}},
    ],
)
def test_updates_of_another_type(refusal: Refusal, change: Any) -> None:
    item = {**KEY, "a": {"SS": ["1"]}}
    assert refusal(lambda: attribute_updates({"a": change}).apply(item, KEY, SCHEMA)) == (
        "Type mismatch for attribute to update"
    )


def test_attribute_updates_of_keys(refusal: Refusal) -> None:
    assert refusal(lambda: attribute_updates({"pk": {"Value": {"S": "y"}}}).apply(KEY, KEY, SCHEMA)) == (
        f"{INVALID}Cannot update attribute pk. This attribute is part of the key"
    )


def test_attributes_to_get(refusal: Refusal) -> None:
    assert attributes_to_get(["d.t", "zip"]).apply(ITEM) == {"d.t": {"N": "1"}}
    assert (
        refusal(lambda: attributes_to_get(["a", "b", "a"]))
        == f"{INVALID}Duplicate value in attribute name: a"
    )


def test_key_conditions() -> None:
    bound = key_conditions({"pk": test("EQ", {"S": "x"}), "sk": test("BEGINS_WITH", {"S": "m"})}).bind(RANGE)
    assert bound.contains(encode(RANGE, {"pk": {"S": "x"}, "sk": {"S": "mm"}}))
    assert not bound.contains(encode(RANGE, {"pk": {"S": "x"}, "sk": {"S": "n"}}))


@pytest.mark.parametrize("operator", ["NULL", "NOT_NULL", "NE", "CONTAINS", "NOT_CONTAINS", "IN"])
def test_operators_without_a_range(refusal: Refusal, operator: str) -> None:
    condition = test(operator, *([] if "NULL" in operator else [{"S": "a"}]))
    message = "Attempted conditional constraint is not an indexable operation"
    assert refusal(lambda: key_conditions({"pk": condition}).bind(SCHEMA)) == message
    assert (
        refusal(lambda: key_conditions({"pk": test("EQ", {"S": "x"}), "sk": condition}).bind(RANGE))
        == message
    )


@pytest.mark.parametrize("operator", ["LE", "LT", "GE", "GT", "BEGINS_WITH"])
def test_partition_keys_are_equal_to_something(refusal: Refusal, operator: str) -> None:
    assert refusal(lambda: key_conditions({"pk": test(operator, {"S": "a"})}).bind(SCHEMA)) == (
        "Query key condition not supported"
    )


def test_number_of_key_conditions(refusal: Refusal) -> None:
    assert refusal(key_conditions({}).check) == "Conditions can be of length 1 or 2 only"
    conditions = {name: test("NULL") for name in "abc"}
    assert refusal(lambda: key_conditions(conditions).bind(RANGE)) == (
        "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)"
    )
