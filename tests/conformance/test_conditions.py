"""What conditions say of items: in filters, on writes, in transactions and as the parameters of old."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

KEY = {"pk": {"S": "k"}}
OF_EACH_TYPE: Mapping[str, Any] = {
    "S": {"S": "text"},
    "N": {"N": "12"},
    "B": {"B": "AAEC"},
    "BOOL": {"BOOL": True},
    "NULL": {"NULL": True},
    "SS": {"SS": ["a", "b"]},
    "NS": {"NS": ["1", "2"]},
    "BS": {"BS": ["AQ==", "Ag=="]},
    "L": {"L": [{"S": "text"}, {"N": "12"}]},
    "M": {"M": {"text": {"N": "12"}}},
}
ORDERED = ("S", "N", "B")
ORDERINGS = ("<", "<=", ">", ">=")


def text_of(value: str) -> dict[str, str]:
    return {"S": value}


def number(value: object) -> dict[str, str]:
    return {"N": str(value)}


def binary(value: bytes) -> dict[str, str]:
    return {"B": base64.b64encode(value).decode()}


def incorrect(name: str, datatype: str) -> str:
    return (
        f"Incorrect operand type for operator or function; operator or function: {name}, "
        f"operand type: {datatype}"
    )


# Types


def test_values_of_two_types_differ_and_have_no_order(holds: Any) -> None:
    item = {"a": number(1), "b": text_of("1")}
    for operator in ("=", *ORDERINGS):
        assert not holds(item, f"a {operator} :v OR :v {operator} a OR a {operator} b", v=text_of("1"))
    assert holds(item, "a <> :v AND :v <> a AND a <> b", v=text_of("1"))
    for condition in (
        "a BETWEEN :v AND :v OR a BETWEEN b AND b OR :v BETWEEN a AND :v",
        "a IN (:v, b)",
        "contains(a, :v) OR contains(b, a) OR begins_with(a, :v) OR begins_with(b, a)",
    ):
        assert not holds(item, condition, **({"v": text_of("1")} if ":v" in condition else {})), condition


@pytest.mark.store_only
@pytest.mark.parametrize("datatype", [one for one in OF_EACH_TYPE if one not in ORDERED])
def test_only_strings_numbers_and_binaries_have_an_order(holds: Any, problem: Any, datatype: str) -> None:
    """In the item another type makes the condition false; as a constant it is an error."""
    value = OF_EACH_TYPE[datatype]
    among = [f"a {operator} b" for operator in ORDERINGS] + ["a BETWEEN b AND c"]
    assert not holds({"a": value, "b": value, "c": value}, " OR ".join(among))
    assert not holds({"a": value}, "a < :v OR a >= :v", v=text_of(""))
    for operator in ORDERINGS:
        assert problem(f"a {operator} :v", v=value) == incorrect(operator, datatype)
    assert problem(":v < a", v=value) == incorrect("<", datatype)
    assert problem("a BETWEEN :v AND b", v=value) == incorrect("BETWEEN", datatype)
    assert holds({"a": value}, "a = :v AND NOT a <> :v AND a IN (:v)", v=value)


def test_two_constants_compare_like_any_operands(holds: Any) -> None:
    one, two = number(1), number(2)
    for condition, verdict in (
        (":v = :v", True),
        (":v <> :w", True),
        (":v < :w", True),
        (":w <= :v", False),
        (":v BETWEEN :v AND :w", True),
        (":w IN (:v)", False),
    ):
        used = {"v": one, "w": two} if ":w" in condition else {"v": one}
        assert holds({}, condition, **used) is verdict, condition


# Missing attributes


@pytest.mark.parametrize(
    "conditions",
    [
        *(
            [f"x {one} :v", f":v {one} x", f"x {one} a", f"x {one} y", f"size(x) {one} :v", f"a.x {one} :v"]
            for one in ("=", *ORDERINGS)
        ),
        ["x BETWEEN :v AND :v", "a BETWEEN x AND :v", "x IN (:v, a, y)", "a IN (x, y)", "a[3] = :v"],
        ["contains(x, a)", "contains(a, x)", "begins_with(x, a)", "begins_with(a, x)", "a = x", ":v < y"],
        ["attribute_exists(x)", "attribute_exists(a.x)", "attribute_exists(a[0])", "a.x[0] = :v"],
        ["NOT x <> :v", "NOT x <> y", "NOT attribute_not_exists(x)", "NOT size(x) <> :v"],
    ],
)
def test_what_is_missing_satisfies_nothing(holds: Any, conditions: list[str]) -> None:
    assert not holds({"a": number(1)}, " OR ".join(conditions), v=number(1)), conditions


@pytest.mark.parametrize(
    "conditions",
    [
        ["x <> :v", ":v <> x", "x <> a", "x <> y", "a.x <> :v", "a[0] <> :v", "size(x) <> :v"],
        ["NOT x = :v", "NOT x = y", "NOT x < :v", "NOT contains(x, :v)", "NOT x IN (:v)"],
        ["NOT :v BETWEEN x AND y", "attribute_not_exists(x)", "NOT attribute_exists(a.x)"],
    ],
)
def test_what_is_missing_differs_from_everything(holds: Any, conditions: list[str]) -> None:
    assert holds({"a": number(1)}, " AND ".join(conditions), v=number(1)), conditions


# BETWEEN and IN


def test_bounds_of_between(holds: Any, problem: Any, problem_of_old: Any) -> None:
    """Constants must be of one type and in order; what comes from the item just makes it false."""
    assert problem("a BETWEEN :v AND :w", v=number(2), w=number(1)) == (
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
        "lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}"
    )
    assert problem("a BETWEEN :v AND :w", v=number(1), w=text_of("2")) == (
        "The BETWEEN operator requires same data type for lower and upper bounds; "
        "lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:2}"
    )
    item = {"a": number("1.5"), "b": number(2), "c": number(1), "d": text_of("3")}
    for condition, verdict in (
        ("a BETWEEN b AND c", False),
        ("a BETWEEN c AND b", True),
        ("b BETWEEN c AND b", True),
        ("c BETWEEN c AND b", True),
        ("a BETWEEN c AND d", False),
        ("a BETWEEN d AND b", False),
    ):
        assert holds(item, condition) is verdict, condition
    assert not holds(item, "a BETWEEN :v AND c", v=number(2))
    assert problem_of_old("BETWEEN", number(2), number(1)) == (
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
    )
    assert problem_of_old("BETWEEN", number(1), text_of("2")) == (
        "One or more parameter values were invalid: "
        "AttributeValues inside AttributeValueList must be of same type"
    )


@pytest.mark.store_only
def test_candidates_of_in(holds: Any, problem: Any, holds_of_old: Any, problem_of_old: Any) -> None:
    candidates = ", ".join(f":v{index}" for index in range(100))
    values = {f"v{index}": number(index) for index in range(100)}
    assert problem(f"a IN ({candidates})", **values) == (
        "The IN operator is provided with too many operands; number of operands: 101"
    )
    del values["v99"]
    assert holds({"a": number("98.0")}, f"a IN ({candidates.removesuffix(', :v99')})", **values)
    item = {"a": number(1), "b": text_of("x"), "c": {"L": [number(1)]}}
    assert holds(item, "a IN (:v, :w, b)", v=text_of("1"), w=number("1.0"))
    assert holds(item, "c IN (a, :v)", v={"L": [number(1)]})
    assert not holds(item, "a IN (:v, b, c)", v=text_of("1"))
    assert problem("a IN ()") == 'Syntax error; token: ")", near: "()"'
    assert holds_of_old(item, "IN", number(2), number(1))
    assert not holds_of_old(item, "IN", number(2), number(3))
    assert problem_of_old("IN", number(1), text_of("1")) == (
        "One or more parameter values were invalid: "
        "AttributeValues inside AttributeValueList must be of same type"
    )


# Equality and order


def respelt(value: dict[str, Any]) -> dict[str, Any]:
    """The same value: sets and maps in another order, numbers in another spelling."""
    [(datatype, content)] = value.items()
    if datatype == "N":
        return number(f"{content}.0e0")
    if datatype == "NS":
        return {"NS": [f"{member}e0" for member in reversed(content)]}
    if datatype in ("SS", "BS"):
        return {datatype: content[::-1]}
    if datatype == "M":
        return {"M": {name: respelt(content[name]) for name in reversed(content)}}
    return {"L": [respelt(member) for member in content]} if datatype == "L" else value


SCALARS = st.one_of(
    st.text("ab\u00e9\U0001f600", max_size=3).map(text_of),
    st.integers(-99, 99).map(number),
    st.binary(max_size=2).map(binary),
    st.sampled_from([{"BOOL": True}, {"BOOL": False}, {"NULL": True}]),
    st.lists(st.integers(-9, 9).map(str), min_size=1, unique=True).map(lambda members: {"NS": members}),
    st.lists(st.text("abc", max_size=2), min_size=1, unique=True).map(lambda members: {"SS": members}),
    st.lists(st.sampled_from(["AQ==", "Ag==", "AwM="]), min_size=1, unique=True).map(lambda m: {"BS": m}),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda members: {"L": members}),
        st.dictionaries(st.text("xyz", min_size=1, max_size=2), inner, max_size=3).map(lambda m: {"M": m}),
    ),
    max_leaves=6,
)
a_few = settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.store_only
@a_few
@given(VALUES)
def test_equality_ignores_order_in_sets_and_maps_at_every_depth(holds: Any, value: dict[str, Any]) -> None:
    assert holds(
        {"a": value, "b": respelt(value)},
        "a = b AND a = :v AND b IN (:v) AND contains(:l, a) AND NOT a <> b",
        v=respelt(value),
        l={"L": [number(0), respelt(value)]},
    )


def test_equality_of_lists_is_that_of_their_elements_in_order(holds: Any) -> None:
    one_two = {"L": [number(1), {"SS": ["x", "y"]}]}
    assert holds({"a": one_two}, "a = :v", v={"L": [number("1.0"), {"SS": ["y", "x"]}]})
    for other in ([{"SS": ["x", "y"]}, number(1)], [number(1)], [number(1), {"SS": ["x"]}], []):
        assert holds({"a": one_two}, "a <> :v AND NOT a = :v", v={"L": other}), other
    assert not holds({"a": {"SS": ["1"]}, "b": {"NS": ["1"]}, "c": {"L": [text_of("1")]}}, "a = b OR a = c")


@pytest.mark.store_only
@a_few
@given(st.binary(max_size=3), st.binary(max_size=3))
def test_binaries_are_ordered_by_unsigned_bytes(holds: Any, one: bytes, two: bytes) -> None:
    check_order(holds, binary(one), binary(two), one, two)


@pytest.mark.store_only
@a_few
@given(*[st.text("AZaz\u007f\u00e9\ufffd\U0001f600", max_size=3)] * 2)
def test_strings_are_ordered_by_the_bytes_of_utf_8(holds: Any, one: str, two: str) -> None:
    """So upper case is before lower case, and what takes two units in UTF-16 is behind what takes one."""
    check_order(holds, text_of(one), text_of(two), one.encode(), two.encode())


@pytest.mark.store_only
@a_few
@given(*[st.decimals(-1000, 1000, places=2)] * 2)
def test_numbers_are_ordered_by_value(holds: Any, one: Decimal, two: Decimal) -> None:
    check_order(holds, number(one), number(two), one, two)


def check_order(holds: Any, a: dict[str, str], b: dict[str, str], one: Any, two: Any) -> None:
    """The operators say of `a` and `b` what Python says of `one` and `two`."""
    true = ["=", "<=", ">="] if one == two else ["<>", "<", "<="] if one < two else ["<>", ">", ">="]
    false = [operator for operator in ("=", "<>", *ORDERINGS) if operator not in true]
    assert holds({"a": a, "b": b}, " AND ".join(f"a {one} b AND a {one} :b" for one in true), b=b)
    assert not holds({"a": a, "b": b}, " OR ".join(f"a {one} b OR :a {one} b" for one in false), a=a)


# Failures


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("clause", ["expression", "legacy"])
@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem", "DeleteItem"])
def test_a_failed_condition_changes_nothing(
    dynamodb: Any, table: str, operation: str, clause: str, exists: bool
) -> None:
    """Not even an item comes to be that was not there."""
    item = {"pk": {"S": "k"}, "a": number(1)} if exists else None
    if item:
        dynamodb.put(table, item)
    request: dict[str, Any] = {"TableName": table, "Key": {"pk": {"S": "k"}}}
    if operation == "PutItem":
        request = {"TableName": table, "Item": {"pk": {"S": "k"}, "b": number(1)}}
    if clause == "legacy":
        request["Expected"] = {"a": {"Value": number(2)}}
        if operation == "UpdateItem":
            request["AttributeUpdates"] = {"b": {"Value": number(2)}}
    else:
        request |= {"ConditionExpression": "a = :v", "ExpressionAttributeValues": {":v": number(2)}}
        if operation == "UpdateItem":
            request["UpdateExpression"] = "SET b = :v"
    answer = dynamodb.answer(operation, **request)
    assert (answer.status, answer.json) == (
        400,
        {
            "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
            "message": "The conditional request failed",
        },
    )
    assert dynamodb.get(table, pk={"S": "k"}) == item


@pytest.mark.store_only
@pytest.mark.parametrize(
    "condition", ["{}.x = :v", "a = :v AND attribute_exists({}[0])", "size({}.x.y) > :v"]
)
def test_no_filter_looks_below_a_key_attribute(dynamodb: Any, condition: str) -> None:
    indexes = [dynamodb.index("by-i", "i")]
    table = dynamodb.create("pk:S", attributes=["i:S"], GlobalSecondaryIndexes=indexes)
    scalars = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
    scan: dict[str, Any] = {"TableName": table, "ExpressionAttributeValues": {":v": number(1)}}
    for name, shown in (("pk", "Key: pk"), ("i", "IndexKey: i")):
        scan["FilterExpression"] = condition.format(name)
        assert dynamodb.invalid("Scan", **scan) == scalars + shown
        assert dynamodb.invalid("Scan", **scan, ExclusiveStartKey={"x": number(1)}) == (
            "The provided starting key is invalid: The provided key element does not match the schema"
        )
    query = {"KeyConditionExpression": "pk = :k", "FilterExpression": condition.format("i")}
    values = {":v": number(1), ":k": text_of("k")}
    refused = dynamodb.invalid("Query", TableName=table, **query, ExpressionAttributeValues=values)
    assert refused == f"{scalars}IndexKey: i"
