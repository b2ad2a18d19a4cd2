"""Placeholders of a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from backend.expressions.conditions import condition
from backend.expressions.projections import projection
from backend.expressions.scope import Scope
from backend.expressions.updates import update

Refusal = Callable[[Callable[[], object]], str | None]


def test_absent_and_empty_are_different(refusal: Refusal) -> None:
    Scope(None, None).check_all_used()
    assert refusal(lambda: Scope({}, None)) == "ExpressionAttributeNames must not be empty"
    assert refusal(lambda: Scope(None, {})) == "ExpressionAttributeValues must not be empty"


@pytest.mark.parametrize("key", ["a", "", "#", "#a.b", "# a", "#é", "a#", "##a", "#a\n"])
def test_malformed_name_placeholders(refusal: Refusal, key: str) -> None:
    assert refusal(lambda: Scope({key: "a"})) == (
        f'ExpressionAttributeNames contains invalid key: Syntax error; key: "{key}"'
    )


@pytest.mark.parametrize("key", ["a", ":", ":a b", "::a", "#a"])
def test_malformed_value_placeholders(refusal: Refusal, key: str) -> None:
    assert refusal(lambda: Scope(None, {key: {"S": "a"}})) == (
        f'ExpressionAttributeValues contains invalid key: Syntax error; key: "{key}"'
    )


def test_digits_and_underscores_may_come_first() -> None:
    Scope({"#0": "a", "#_": "b"}, {":0": {"S": "a"}, ":_": {"S": "b"}})


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
        (
            {"S": "a", "N": "1"},
            "Supplied AttributeValue has more than one datatypes set, "
            "must contain exactly one of the supported datatypes",
        ),
        ({"SS": []}, "One or more parameter values were invalid: An string set  may not be empty"),
        ({"S": "a", "N": "b"}, "The parameter cannot be converted to a numeric value: b"),
        ({"NS": ["1", "1"]}, "Input collection contains duplicates"),
    ],
)
def test_values_are_validated(refusal: Refusal, value: Any, problem: str) -> None:
    assert refusal(lambda: Scope(None, {":b": value})) == (
        f"ExpressionAttributeValues contains invalid value: {problem} for key :b"
    )


def test_values_become_canonical() -> None:
    assert Scope(None, {":n": {"N": "1.0"}}).values == {":n": {"N": "1"}}


def test_use_is_judged_over_all_expressions_together(refusal: Refusal) -> None:
    scope = Scope({"#a": "a", "#b": "b", "#c": "c"}, {":v": {"N": "1"}, ":w": {"N": "2"}})
    condition("#a = :v", "ConditionExpression", scope)
    assert refusal(scope.check_all_used) == (
        "Value provided in ExpressionAttributeNames unused in expressions: keys: {#b, #c}"
    )
    projection("x.#b", scope)
    update("REMOVE y[0].#c", scope)
    assert refusal(scope.check_all_used) == (
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}"
    )
    update("SET z = if_not_exists(z, :w)", scope)
    scope.check_all_used()


def test_use_is_noted_from_cached_forms_too(refusal: Refusal) -> None:
    for _ in range(2):
        scope = Scope({"#a": "a"}, {":v": {"N": "1"}})
        condition("#a = :v", "ConditionExpression", scope)
        scope.check_all_used()
