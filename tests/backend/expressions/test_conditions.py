"""Conditions on items: by example, and against a model that knows nothing of compilation."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.expressions import ast
from backend.expressions.conditions import condition, from_tree
from backend.expressions.scope import Scope

ITEM: Any = {
    "s": {"S": "hello"},
    "n": {"N": "5"},
    "b": {"B": b"\x80a"},
    "t": {"BOOL": True},
    "nil": {"NULL": True},
    "ss": {"SS": ["x", "y"]},
    "ns": {"NS": ["1", "2"]},
    "l": {"L": [{"N": "1"}, {"M": {"k": {"S": "v"}}}, {"SS": ["p", "q"]}]},
    "m": {"M": {"k": {"L": [{"S": "deep"}]}, "d.t": {"N": "7"}}},
}
VALUES: Any = {
    ":hello": {"S": "hello"},
    ":ell": {"S": "ell"},
    ":he": {"S": "he"},
    ":five": {"N": "5.0"},
    ":nine": {"N": "9"},
    ":one": {"N": "1"},
    ":five_text": {"S": "5"},
    ":x80": {"B": b"\x80"},
    ":yx": {"SS": ["y", "x"]},
    ":x": {"S": "x"},
    ":qp": {"SS": ["q", "p"]},
    ":true": {"BOOL": True},
    ":null": {"NULL": True},
    ":S": {"S": "S"},
    ":L": {"S": "L"},
    ":deep": {"S": "deep"},
    ":k": {"S": "k"},
}


def holds(text: str, item: Any = ITEM, names: Any = None) -> bool:
    used = {key: VALUES[key] for key in re.findall(r":\w+", text)}
    scope = Scope(names, used or None)
    return condition(text, "ConditionExpression", scope).matches(item)


@pytest.mark.parametrize(
    "text",
    [
        *("s = :hello", "n = :five", "ss = :yx", "t = :true", "nil = :null", ":five = n", "n <> :five_text"),
        *(
            "s <> :he",
            "n < :nine",
            "n <= :five",
            "n >= :five",
            ":nine > n",
            "b > :x80",
            "n BETWEEN :one AND :nine",
        ),
        *("n BETWEEN :five AND :five", "s IN (:x, :hello)", "n IN (:x, :five)", "contains(s, :ell)"),
        *(
            "contains(ss, :x)",
            "contains(ns, :one)",
            "contains(l, :one)",
            "contains(l, :qp)",
            "begins_with(s, :he)",
        ),
        *(
            "begins_with(b, :x80)",
            "attribute_exists(m.k[0])",
            "attribute_not_exists(m.k[1])",
            "m.k[0] = :deep",
        ),
        *("attribute_not_exists(m.z.y)", "attribute_not_exists(s.z)", "attribute_not_exists(s[0])"),
        *("attribute_type(s, :S)", "attribute_type(l, :L)", "size(s) = :five", "size(l[0]) <> :one"),
        *("size(ss) < :five", "size(m.k) = :one", "NOT s = :he", "s = :he OR n = :five", "size(m) > :one"),
        *("s = :hello AND (n = :nine OR t = :true)", "zip <> zap", "zip <> :he", "contains(:hello, s)"),
        *("l[1].k <> :k", "NOT (s = :he AND n = :five)"),
    ],
)
def test_true(text: str) -> None:
    assert holds(text)
    assert not holds(f"NOT ({text})")


@pytest.mark.parametrize(
    "text",
    [
        *("s = :he", "n = :five_text", "zip = :he", "zip = zap", "zip < :nine", "zip BETWEEN :one AND :nine"),
        *("s < :nine", "n BETWEEN s AND m", "n BETWEEN :nine AND zip", "zip IN (:x, :he)", "s IN (zip, zap)"),
        *(
            "contains(zip, :he)",
            "contains(n, :five)",
            "contains(m, :k)",
            "begins_with(zip, :he)",
            "begins_with(n, s)",
        ),
        *(
            "attribute_exists(m.z)",
            "attribute_exists(l[3])",
            "attribute_exists(l.a)",
            "attribute_exists(m[0])",
        ),
        *(
            "attribute_type(zip, :S)",
            "attribute_type(n, :S)",
            "size(n) = :one",
            "size(t) < :nine",
            "size(zip) = :one",
        ),
        *("contains(s, :five)", "n > s", "t > n"),
    ],
)
def test_false(text: str) -> None:
    assert not holds(text)


@pytest.mark.parametrize(("text", "size"), [("", 0), ("abc", 3), ("é𝄞", 3), ("😀😀", 4)])
def test_strings_are_sized_in_utf16_code_units(text: str, size: int) -> None:
    scope = Scope(None, {":n": {"N": str(size)}})
    assert condition("size(s) = :n", "FilterExpression", scope).matches({"s": {"S": text}})


def test_names_are_never_split_at_dots() -> None:
    assert holds("m.#n < :nine", names={"#n": "d.t"})
    assert not holds("attribute_exists(#n)", names={"#n": "m.k"})


def test_names_may_look_like_placeholders() -> None:
    item: Any = {"#n": {"S": "hello"}}
    assert holds("#n = :hello", item, names={"#n": "#n"})


def test_the_item_that_does_not_exist() -> None:
    assert holds("attribute_not_exists(s)", None)
    assert holds("s <> :he", None)
    assert not holds("s = :he", None)


def test_bounds_in_the_wrong_order_in_the_item_are_just_false() -> None:
    assert not holds("n BETWEEN hi AND lo", {**ITEM, "hi": {"N": "9"}, "lo": {"N": "1"}})


def test_top_level_names_are_those_of_all_paths() -> None:
    bound = condition("size(m.k) > n AND NOT #x IN (m, l[0])", "FilterExpression", Scope({"#x": "x.y"}))
    assert bound.top_level_names == ("m", "n", "x.y", "l")


def test_one_compiled_form_serves_other_values_and_names() -> None:
    for number in ("5", "6"):
        scope = Scope({"#n": "n"}, {":v": {"N": number}})
        assert condition("#n = :v", "ConditionExpression", scope).matches(ITEM) is (number == "5")
    scope = Scope({"#n": "s"}, {":v": {"N": "5"}})
    assert not condition("#n = :v", "ConditionExpression", scope).matches(ITEM)


# A model: evaluates trees directly, with Python values instead of attribute values.

simple_values = st.one_of(
    st.integers(-3, 3).map(lambda number: {"N": str(number)}),
    st.text("ab", max_size=3).map(lambda text: {"S": text}),
    st.lists(st.sampled_from("abc"), min_size=1, unique=True).map(lambda members: {"SS": members}),
    st.booleans().map(lambda flag: {"BOOL": flag}),
)
names = st.sampled_from("pqr")
paths = names.map(lambda name: ast.Path((name,)))
operands = paths | simple_values.map(ast.Constant) | paths.map(lambda path: ast.Function("size", (path,)))
predicates = st.one_of(
    st.builds(ast.Comparison, st.sampled_from(("=", "<>", "<", "<=", ">", ">=")), operands, operands),
    st.builds(ast.Between, operands, operands, operands),
    st.builds(ast.In, operands, st.lists(operands, min_size=1, max_size=3).map(tuple)),
    st.builds(ast.Function, st.just("attribute_exists"), paths.map(lambda path: (path,))),
    st.builds(ast.Function, st.just("attribute_not_exists"), paths.map(lambda path: (path,))),
    st.builds(ast.Function, st.just("contains"), st.tuples(operands, operands)),
    st.builds(ast.Function, st.just("begins_with"), st.tuples(operands, operands)),
)
conditions = st.recursive(
    predicates,
    lambda inner: st.one_of(
        st.builds(ast.And, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(ast.Or, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(ast.Not, inner),
    ),
    max_leaves=6,
)
items = st.dictionaries(names, simple_values, max_size=3)


def native(value: Any) -> Any:
    if value is None:
        return None
    datatype, content = next(iter(value.items()))
    return {"N": Decimal, "SS": frozenset}.get(datatype, lambda same: same)(content)


def model_operand(operand: Any, item: Any) -> Any:
    if isinstance(operand, ast.Path):
        return native(item.get(operand.elements[0]))
    if isinstance(operand, ast.Constant):
        return native(operand.value)
    sized = model_operand(operand.arguments[0], item)
    return Decimal(len(sized)) if isinstance(sized, str | frozenset) else None


def same(a: Any, b: Any) -> bool:
    return a is not None and type(a) is type(b) and bool(a == b)


def less(a: Any, b: Any) -> bool:
    return type(a) is type(b) and isinstance(a, str | Decimal) and bool(a < b)


def model(tree: Any, item: Any) -> bool:
    if isinstance(tree, ast.And):
        return all(model(part, item) for part in tree.conditions)
    if isinstance(tree, ast.Or):
        return any(model(part, item) for part in tree.conditions)
    if isinstance(tree, ast.Not):
        return not model(tree.condition, item)
    if isinstance(tree, ast.In):
        found = model_operand(tree.operand, item)
        return any(same(found, model_operand(candidate, item)) for candidate in tree.candidates)
    if isinstance(tree, ast.Between):
        value, low, high = (model_operand(part, item) for part in (tree.operand, tree.lower, tree.upper))
        ordered = isinstance(value, str | Decimal)
        return ordered and (less(low, value) or same(low, value)) and (less(value, high) or same(value, high))
    if isinstance(tree, ast.Comparison):
        a, b = model_operand(tree.left, item), model_operand(tree.right, item)
        ordered = isinstance(a, str | Decimal)
        return {
            "=": same(a, b),
            "<>": not same(a, b),
            "<": less(a, b),
            "<=": less(a, b) or (ordered and same(a, b)),
            ">": less(b, a),
            ">=": less(b, a) or (ordered and same(a, b)),
        }[tree.operator]
    first = model_operand(tree.arguments[0], item)
    if tree.name == "attribute_exists":
        return first is not None
    if tree.name == "attribute_not_exists":
        return first is None
    second = model_operand(tree.arguments[1], item)
    if not isinstance(second, str):
        return False
    if tree.name == "begins_with":
        return isinstance(first, str) and first.startswith(second)
    return isinstance(first, str | frozenset) and second in first


@given(conditions, items)
def test_compiled_conditions_agree_with_the_model(tree: Any, item: Any) -> None:
    assert from_tree(tree).matches(item) == model(tree, item)
