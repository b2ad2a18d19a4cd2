"""The functions of conditions: what they say of items, and what they take."""

from __future__ import annotations

from typing import Any

import pytest

OF_EACH_TYPE: dict[str, Any] = {
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
JOINS = (" AND ", " OR ")


def incorrect(name: str, datatype: str) -> str:
    return (
        f"Incorrect operand type for operator or function; operator or function: {name}, "
        f"operand type: {datatype}"
    )


@pytest.mark.store_only
@pytest.mark.parametrize(
    ("value", "inside", "outside"),
    [
        (
            {"S": "abcd"},
            [{"S": "bc"}, {"S": "abcd"}, {"S": ""}],
            [{"S": "BC"}, {"S": "ac"}, {"N": "1"}],
        ),
        ({"B": "YWJjZA=="}, [{"B": "YmM="}, {"B": ""}], [{"B": "YWM="}, {"S": "bc"}]),
        ({"SS": ["ab", "c"]}, [{"S": "ab"}], [{"S": "a"}, {"S": ""}, {"N": "1"}]),
        ({"NS": ["1", "20"]}, [{"N": "2E1"}, {"N": "1.0"}], [{"N": "2"}, {"S": "1"}]),
        ({"BS": ["AQ==", "Ag=="]}, [{"B": "AQ=="}], [{"B": "AQI="}, {"S": "AQ=="}]),
        (
            {"L": [{"S": "ab"}, {"N": "1"}, {"M": {"x": {"N": "1"}}}, {"NS": ["1", "2"]}]},
            [{"S": "ab"}, {"N": "1.0"}, {"M": {"x": {"N": "1e0"}}}, {"NS": ["2", "1"]}],
            [{"S": "a"}, {"S": "1"}, {"M": {}}, {"NS": ["1"]}, {"NULL": True}],
        ),
        ({"M": {"x": {"N": "1"}}}, [], [{"S": "x"}, {"N": "1"}]),
        ({"N": "12"}, [], [{"N": "1"}, {"S": "1"}]),
        ({"BOOL": True}, [], [{"BOOL": True}]),
        ({"NULL": True}, [], [{"NULL": True}]),
    ],
)
def test_contains(
    holds: Any, holds_of_old: Any, value: dict[str, Any], inside: list[Any], outside: list[Any]
) -> None:
    """A substring of a string or binary, a member of a set, an element of a list; no name in a map."""
    in_all, in_any = (join.join(["contains(a, :v)", "contains(a, b)", "contains(:w, b)"]) for join in JOINS)
    for part, verdict in [(part, True) for part in inside] + [(part, False) for part in outside]:
        item = {"a": value, "b": part}
        assert holds(item, in_all if verdict else in_any, v=part, w=value) is verdict, part
        if next(iter(part)) in ("S", "N", "B", "BOOL", "NULL"):
            assert holds_of_old(item, "CONTAINS", part) is verdict, part
            assert holds_of_old(item, "NOT_CONTAINS", part) is not verdict, part


@pytest.mark.store_only
@pytest.mark.parametrize(
    ("condition", "operator", "shown"),
    [
        ("contains(a, a)", "contains", "[a]"),
        ("begins_with(a.b[1], a.b[1])", "begins_with", "[a, b, [1]]"),
        *((f"a {operator} a", operator, "[a]") for operator in ("=", "<>", "<", "<=", ">", ">=")),
        ("b = :v OR a[0] = a[0]", "=", "[a, [0]]"),
    ],
)
def test_the_operands_of_a_comparison_must_differ(
    problem: Any, condition: str, operator: str, shown: str
) -> None:
    assert problem(condition, **({"v": {"N": "1"}} if ":v" in condition else {})) == (
        "The first operand must be distinct from the remaining operands for this operator or function; "
        f"operator: {operator}, first operand: {shown}"
    )


@pytest.mark.store_only
@pytest.mark.parametrize("datatype", OF_EACH_TYPE)
def test_attribute_type(holds: Any, problem: Any, datatype: str) -> None:
    value = OF_EACH_TYPE[datatype]
    assert holds({"a": value}, "attribute_type(a, :v)", v={"S": datatype})
    others = {one: {"S": one} for one in OF_EACH_TYPE if one != datatype}
    assert not holds({"a": value}, " OR ".join(f"attribute_type(a, :{one})" for one in others), **others)
    if datatype != "S":
        assert problem("attribute_type(a, :v)", v=value) == incorrect("attribute_type", datatype)


@pytest.mark.store_only
def test_attribute_type_needs_the_name_of_a_type(problem: Any) -> None:
    for name in ("s", "STRING", "", "SSS"):
        found = problem("attribute_type(a, :v)", v={"S": name})
        types, _, valid = found.partition(", valid types: ")
        assert types == f"Invalid attribute type name found; type: {name}"
        assert set(valid.strip("{}").split(",")) == set(OF_EACH_TYPE)
    assert problem("attribute_type(a, b)").startswith(incorrect("attribute_type", "{"))


@pytest.mark.store_only
@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": ""}, 0),
        ({"S": "ab\u00ff"}, 3),
        ({"B": "AAEC"}, 3),
        ({"SS": ["a", "b"]}, 2),
        ({"NS": ["1"]}, 1),
        ({"BS": ["AQ==", "Ag==", "Aw=="]}, 3),
        ({"L": []}, 0),
        ({"L": [{"L": [{"N": "1"}, {"N": "2"}]}]}, 1),
        ({"M": {"a": {"N": "1"}, "b": {"M": {"c": {"N": "1"}}}}}, 2),
        ({"N": "123"}, None),
        ({"BOOL": True}, None),
        ({"NULL": True}, None),
    ],
)
def test_size(holds: Any, value: dict[str, Any], size: int | None) -> None:
    """Characters, bytes, members or elements; what has no size makes a comparison false."""
    item = {"a": value, "b": {"M": {"x": value}}, "c": {"L": [value]}}
    found = [
        "size(a) = :v",
        "size(b.x) <= :v",
        "size(c[0]) BETWEEN :v AND :v",
        "size(a) IN (:v)",
        ":v >= size(a)",
    ]
    if size is None:
        assert not holds(item, " OR ".join(found), v={"N": "0"})
        assert not holds(item, "size(a) > :v", v={"N": "-1"})
    else:
        assert holds(item, " AND ".join(found), v={"N": str(size)})
        not_found = "size(a) <> :v OR size(a) < :v OR size(a) = :w"
        assert not holds(item, not_found, v={"N": str(size)}, w={"S": str(size)})


@pytest.mark.store_only
@pytest.mark.parametrize(
    ("condition", "found"),
    [
        *((f"{name}(a) = b", name) for name in ("attribute_exists", "attribute_not_exists")),
        *((f"{name}(a, b) < c", name) for name in ("attribute_type", "begins_with", "contains")),
        ("size(a)", "size"),
        ("NOT size(a)", "size"),
        ("a = b AND size(c)", "size"),
        ("size(contains(a, b)) > c", "contains"),
        ("a BETWEEN b AND attribute_exists(c)", "attribute_exists"),
        ("a IN (b, begins_with(c, d))", "begins_with"),
    ],
)
def test_a_function_has_its_place(problem: Any, condition: str, found: str) -> None:
    assert problem(condition) == (
        f"The function is not allowed to be used this way in an expression; function: {found}"
    )


@pytest.mark.store_only
def test_functions_are_known_by_their_exact_names(problem: Any) -> None:
    for name in ("nonsense", "SIZE", "Attribute_Exists"):
        assert problem(f"{name}(a) = b") == f"Invalid function name; function: {name}"
    for name in ("if_not_exists", "list_append"):
        assert problem(f"a = {name}(b, c)") == (
            f"The function is not allowed in a condition expression; function: {name}"
        )


@pytest.mark.store_only
@pytest.mark.parametrize(
    ("condition", "name", "count"),
    [
        ("attribute_exists(a, b)", "attribute_exists", 2),
        ("attribute_not_exists(a, b)", "attribute_not_exists", 2),
        ("attribute_type(a)", "attribute_type", 1),
        ("begins_with(a)", "begins_with", 1),
        ("begins_with(a, b, c)", "begins_with", 3),
        ("contains(a)", "contains", 1),
        ("size(a, b) > c", "size", 2),
    ],
)
def test_a_function_has_its_number_of_operands(problem: Any, condition: str, name: str, count: int) -> None:
    assert problem(condition) == (
        "Incorrect number of operands for operator or function; "
        f"operator or function: {name}, number of operands: {count}"
    )


@pytest.mark.store_only
@pytest.mark.parametrize(
    ("condition", "name"),
    [
        ("attribute_exists(:v)", "attribute_exists"),
        ("attribute_not_exists(:v)", "attribute_not_exists"),
        ("attribute_type(:v, :v)", "attribute_type"),
        ("size(:v) > a", "size"),
        ("attribute_exists(size(:v))", "attribute_exists"),
    ],
)
def test_a_function_of_a_path_takes_no_value(problem: Any, condition: str, name: str) -> None:
    assert problem(condition, v={"S": "S"}) == (
        f"Operator or function requires a document path; operator or function: {name}"
    )


@pytest.mark.store_only
@pytest.mark.parametrize("datatype", OF_EACH_TYPE)
def test_begins_with_takes_strings_and_binaries(holds: Any, problem: Any, datatype: str) -> None:
    value = OF_EACH_TYPE[datatype]
    if datatype in ("S", "B"):
        item = {"a": value, "b": {datatype: ""}}
        assert holds(item, "begins_with(a, :v) AND begins_with(:v, a) AND begins_with(a, b)", v=value)
        assert not holds(item, "begins_with(b, :v) OR begins_with(b, a)", v=value)
    else:
        assert not holds({"a": value, "b": value}, "begins_with(a, b)")
        assert problem("begins_with(a, :v)", v=value) == incorrect("begins_with", datatype)
        assert problem("begins_with(:v, a)", v=value) == incorrect("begins_with", datatype)
