"""Printing and parsing undo each other."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from backend.expressions import ast
from backend.expressions.conditions import resolve
from backend.expressions.parser import parse_condition, parse_projection, parse_update
from backend.expressions.paths import resolve as resolve_path
from backend.expressions.printing import Printer
from backend.expressions.updates import resolve as resolve_update

names = st.sampled_from(("a", "b.c", "size", "#n", "AND", "", "é ü"))
paths = st.builds(
    lambda first, rest: ast.Path((first, *rest)), names, st.lists(names | st.integers(0, 9), max_size=2)
)
placeholders = st.sampled_from((":v0", ":x")).map(ast.Placeholder)
operands = paths | placeholders | st.builds(ast.Function, st.just("size"), paths.map(lambda path: (path,)))
predicates: st.SearchStrategy[Any] = st.one_of(
    st.builds(ast.Comparison, st.sampled_from(("=", "<>", "<", "<=", ">", ">=")), operands, operands),
    st.builds(ast.Between, operands, operands, operands),
    st.builds(ast.In, operands, st.lists(operands, min_size=1, max_size=3).map(tuple)),
    st.builds(ast.Function, st.just("contains"), st.tuples(operands, operands)),
)
conditions: st.SearchStrategy[Any] = st.recursive(
    predicates,
    lambda inner: st.one_of(
        st.builds(ast.And, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(ast.Or, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(ast.Not, inner),
    ),
    max_leaves=6,
)
right_hand_sides: st.SearchStrategy[Any] = st.one_of(
    operands,
    st.builds(ast.Function, st.just("if_not_exists"), st.tuples(paths, operands)),
    st.builds(ast.Arithmetic, st.sampled_from("+-"), operands, operands),
)
actions: st.SearchStrategy[Any] = st.one_of(
    st.builds(ast.Set, paths, right_hand_sides),
    st.builds(ast.Remove, paths),
    st.builds(ast.Add, paths, placeholders),
    st.builds(ast.Delete, paths, placeholders),
)


@given(conditions)
def test_conditions_come_back(tree: Any) -> None:
    printer = Printer()
    text = printer.condition(tree)
    assert resolve(parse_condition(text, "FilterExpression"), printer.names) == tree


@given(st.lists(actions, min_size=1, max_size=5))
def test_updates_come_back_by_section(actions: Any) -> None:
    printer = Printer()
    parsed = resolve_update(parse_update(printer.update(ast.Update(tuple(actions)))), printer.names)
    first_seen = list(dict.fromkeys(map(type, actions)))
    assert parsed == ast.Update(tuple(sorted(actions, key=lambda action: first_seen.index(type(action)))))


@given(st.lists(paths, min_size=1, max_size=4))
def test_projections_come_back(found: Any) -> None:
    printer = Printer()
    text = printer.projection(ast.Projection(tuple(found)))
    assert tuple(resolve_path(path, printer.names) for path in parse_projection(text).paths) == tuple(found)


def test_constants_get_placeholders_of_their_own() -> None:
    printer = Printer(taken=[":v1"])
    one, two = ast.Constant({"N": "1"}), ast.Constant({"S": "two"})
    path = ast.Path(("a", 0, "a"))
    text = printer.condition(ast.And((ast.Comparison("=", path, one), ast.Between(path, two, one))))
    assert text == "#n0[0].#n0 = :v0 AND #n0[0].#n0 BETWEEN :v2 AND :v3"
    assert printer.names == {"#n0": "a"}
    assert printer.values == {":v0": {"N": "1"}, ":v2": {"S": "two"}, ":v3": {"N": "1"}}


def test_one_printer_serves_all_expressions_of_a_request() -> None:
    printer = Printer()
    assert printer.condition(ast.Function("attribute_exists", (ast.Path(("a",)),))) == "attribute_exists(#n0)"
    update = ast.Update((ast.Set(ast.Path(("b",)), ast.Constant({"N": "1"})), ast.Remove(ast.Path(("a",)))))
    assert printer.update(update) == "SET #n1 = :v0 REMOVE #n0"
    assert printer.projection(ast.Projection((ast.Path(("b",)),))) == "#n1"
