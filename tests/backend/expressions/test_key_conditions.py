"""Key conditions: ranges of storage keys, and the service's refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.expressions.conditions import condition
from backend.expressions.key_conditions import KeyCondition, key_condition
from backend.expressions.scope import Scope
from backend.model.keys import KeyAttribute, KeySchema, encode

Refusal = Callable[[Callable[[], object]], str | None]
HASH = KeySchema(KeyAttribute("a", "S"))
RANGE = KeySchema(KeyAttribute("a", "S"), KeyAttribute("b", "S"))
NUMBERS = KeySchema(KeyAttribute("a", "S"), KeyAttribute("b", "N"))
WIDE = KeySchema(
    KeyAttribute("a", "S"),
    KeyAttribute("b", "S"),
    more_partition=(KeyAttribute("c", "N"),),
    more_sort=(KeyAttribute("d", "B"),),
)
INVALID = "One or more parameter values were invalid: "
TOO_MANY = (
    "The number of query conditions ({}) exceeds the number of key attributes defined in the schema ({})"
)
BAD_CONDITION = "Invalid condition in KeyConditionExpression: "


def bound(text: str, schema: KeySchema, names: Any = None, **values: Any) -> KeyCondition:
    given_values = {
        f":{name}": value if isinstance(value, dict) else {"S": value} for name, value in values.items()
    }
    return key_condition(text, Scope(names, given_values or None)).bind(schema)


sort_texts = st.text(st.sampled_from("\0\x01a\x7fé😀"), min_size=1, max_size=3)


@given(
    sort_texts,
    sort_texts,
    sort_texts,
    st.sampled_from(("=", "<", "<=", ">", ">=", "BETWEEN", "begins_with")),
    st.booleans(),
)
def test_a_range_holds_exactly_what_the_condition_matches(
    x: str, low: str, high: str, operator: str, index: bool
) -> None:
    low, high = sorted((low, high), key=str.encode)
    text = {"BETWEEN": "b BETWEEN :v AND :w", "begins_with": "begins_with(b, :v)"}.get(
        operator, f"b {operator} :v"
    )
    values: Any = {":p": {"S": "p"}, ":v": {"S": low}}
    if operator == "BETWEEN":
        values[":w"] = {"S": high}
    scope = Scope(None, values)
    found = key_condition(f"a = :p AND {text}", scope).bind(RANGE)
    item: Any = {"a": {"S": "p"}, "b": {"S": x}}
    # Behind the storage key of an index entry stands the one of its table.
    storage_key = encode(RANGE, item) + (b"\xff table key" if index else b"")
    assert found.contains(storage_key) == condition(text, "FilterExpression", scope).matches(item)
    assert not found.contains(encode(RANGE, {**item, "a": {"S": "q"}}))


@given(st.integers(-50, 50), st.integers(-50, 50), st.sampled_from(("=", "<", "<=", ">", ">=")))
def test_number_ranges(x: int, y: int, operator: str) -> None:
    found = bound(f"a = :p AND :v {operator} b", NUMBERS, p="p", v={"N": f"{y}.0"})
    expected = {"=": y == x, "<": y < x, "<=": y <= x, ">": y > x, ">=": y >= x}[operator]
    assert found.contains(encode(NUMBERS, {"a": {"S": "p"}, "b": {"N": str(x)}})) is expected


def test_a_whole_partition() -> None:
    found = bound("#k = :p", RANGE, {"#k": "a"}, p="p")
    assert found.partition == {"a": {"S": "p"}}
    assert found.sort == ()
    assert found.start == found.prefix
    for text in ("\0", "é", "\U0010ffff"):
        assert found.contains(encode(RANGE, {"a": {"S": "p"}, "b": {"S": text}}))
    assert not found.contains(encode(RANGE, {"a": {"S": "p!"}, "b": {"S": "x"}}))


def test_the_value_may_come_first_and_parentheses_are_fine() -> None:
    for text in (
        ":p = a AND :v <= b",
        "(a = :p) AND (b >= :v)",
        "(a = :p AND (b >= :v))",
        "b >= :v and a = :p",
    ):
        found = bound(text, RANGE, p="p", v="m")
        assert [test.operator for test in found.sort] == [">="]
        assert found.contains(encode(RANGE, {"a": {"S": "p"}, "b": {"S": "m"}}))
        assert not found.contains(encode(RANGE, {"a": {"S": "p"}, "b": {"S": "l"}}))


def test_keys_of_several_attributes(refusal: Refusal) -> None:
    both = "a = :p AND c = :n"
    values: Any = {"p": "p", "n": {"N": "1"}}
    key: Any = {"a": {"S": "p"}, "c": {"N": "1"}, "b": {"S": "m"}, "d": {"B": b"x"}}
    assert bound(both, WIDE, **values).contains(encode(WIDE, key))
    assert bound(f"{both} AND b = :b AND d > :d", WIDE, b="m", d={"B": b"w"}, **values).contains(
        encode(WIDE, key)
    )
    assert not bound(f"{both} AND b = :b AND d > :d", WIDE, b="m", d={"B": b"x"}, **values).contains(
        encode(WIDE, key)
    )
    assert refusal(lambda: bound(f"{both} AND d = :d", WIDE, d={"B": b"w"}, **values)) == (
        "RANGE key attributes b must have equality conditions specified in the query "
        "because a condition is present on key attribute d"
    )
    assert refusal(lambda: bound("a = :p AND b = :b", WIDE, p="p", b="m")) == (
        "HASH key attributes c must have equality conditions specified in the query"
    )


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("a > b and size(b) > c or a > c", "OR"),
        ("a in (b, size(c), d)", "IN"),
        ("attribute_exists(a)", "attribute_exists"),
        ("attribute_not_exists(a)", "attribute_not_exists"),
        ("contains(a.d, b)", "contains"),
        ("not a > b", "NOT"),
        ("a <> b", "<>"),
        ("attribute_type(a, :S)", "attribute_type"),
    ],
)
def test_operators_that_keys_do_not_have(refusal: Refusal, text: str, operator: str) -> None:
    values: Any = {"S": "S"} if ":S" in text else {}
    assert (
        refusal(lambda: bound(text, HASH, **values))
        == f"Invalid operator used in KeyConditionExpression: {operator}"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            ":a between size(b) and size(a) and b > :a",
            f"{BAD_CONDITION}BETWEEN operator must have the key attribute as its first operand",
        ),
        (
            "begins_with(:a, b) and a > :a",
            f"{BAD_CONDITION}begins_with operator must have the key attribute as its first operand",
        ),
        ("size(b) > a AND a.b > b AND b > c", "KeyConditionExpressions cannot contain nested operations"),
        ("a > size(b.d)", "KeyConditionExpressions cannot contain nested operations"),
        ("a between size(b) and size(a)", "KeyConditionExpressions cannot contain nested operations"),
        ("b > a.b", f"{BAD_CONDITION}Multiple attribute names used in one condition"),
        ("b between c[1] and d", f"{BAD_CONDITION}Multiple attribute names used in one condition"),
        ("a between b and size(a)", f"{BAD_CONDITION}Multiple attribute names used in one condition"),
        ("begins_with(a, b)", f"{BAD_CONDITION}Multiple attribute names used in one condition"),
        ("b.d > a AND c.d > e.f", "KeyConditionExpressions cannot have conditions on nested attributes"),
        ("b[0] > a", "KeyConditionExpressions cannot have conditions on nested attributes"),
        (":a > :a AND a < :a", f"{BAD_CONDITION}No key attribute specified"),
        (":a > b AND :a < :a", f"{BAD_CONDITION}No key attribute specified"),
        (
            "b > :a AND b < :a and c = :a and d = :a",
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
        ),
        (
            "(a > :a and b > :a) and (b > :a and c > :a)",
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
        ),
    ],
)
def test_what_no_key_could_satisfy(refusal: Refusal, text: str, message: str) -> None:
    value = {"S": "1"} if "begins_with" in text else {"N": "1"}
    conditions = key_condition(text, Scope(None, {":a": value} if ":a" in text else None))
    assert refusal(conditions.check) == message


@pytest.mark.parametrize(
    ("schema", "text", "message"),
    [
        (HASH, "z = :a", "Query condition missed key schema element: a"),
        (RANGE, "z between :a and :a", "Query condition missed key schema element: a"),
        (RANGE, "b = :a", "Query condition missed key schema element: a"),
        (RANGE, "a = :a and c = :a", "Query condition missed key schema element: b"),
        (HASH, ":n > a", f"{INVALID}Condition parameter type does not match schema type"),
        (RANGE, "a = :a AND b = :n", f"{INVALID}Condition parameter type does not match schema type"),
        *(
            (HASH, text, "Query key condition not supported")
            for text in ("a > :a", "a < :a", ":a <= a", ":a >= a")
        ),
        *(
            (RANGE, f"{text} AND b = :a", "Query key condition not supported")
            for text in ("a > :a", "begins_with(a, :a)")
        ),
        (HASH, "a between :a and :a", "Query key condition not supported"),
        (HASH, "a = :a AND b = :a", TOO_MANY.format(2, 1)),
        (HASH, "y = :a and z = :a", TOO_MANY.format(2, 1)),
        (RANGE, ":a = a and b = :a and :a = c", TOO_MANY.format(3, 2)),
        (
            HASH,
            "a = :empty",
            "One or more parameter values are not valid. "
            "The AttributeValue for a key attribute cannot contain an empty string value. Key: a",
        ),
        (HASH, "a = :long", f"{INVALID}Size of hashkey has exceeded the maximum size limit of2048 bytes"),
        (
            RANGE,
            "a = :a AND b < :long",
            f"{INVALID}Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
        ),
    ],
)
def test_what_a_schema_does_not_take(refusal: Refusal, schema: KeySchema, text: str, message: str) -> None:
    values: Any = {":a": {"S": "1"}, ":n": {"N": "1"}, ":empty": {"S": ""}, ":long": {"S": "x" * 2049}}
    assert refusal(lambda: key_condition(text, Scope(None, values)).bind(schema)) == message


def test_errors_of_expressions_keep_their_words(refusal: Refusal) -> None:
    assert refusal(lambda: bound("a between :b and :a", HASH, a="a", b="b")) == (
        "Invalid KeyConditionExpression: "
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
        "lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}"
    )
    assert refusal(lambda: bound("a = :p AND begins_with(b, :n)", NUMBERS, p="p", n={"N": "1"})) == (
        "Invalid KeyConditionExpression: Incorrect operand type for operator or function; "
        "operator or function: begins_with, operand type: N"
    )
