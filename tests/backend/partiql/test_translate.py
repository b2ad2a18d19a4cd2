"""Statements' conditions and changes as the expression trees that one evaluator knows."""

from __future__ import annotations

import pytest

from backend.errors import ServiceError
from backend.expressions import ast as tree
from backend.partiql import ast, translate
from backend.partiql.parser import parse


def where(condition: str) -> ast.Expression:
    statement = parse(f"SELECT * FROM t WHERE {condition}").statement
    assert isinstance(statement, ast.Select)
    assert statement.where is not None
    return statement.where


def changes(text: str) -> tuple[ast.Assignment | ast.Removal, ...]:
    statement = parse(f"UPDATE t {text}").statement
    assert isinstance(statement, ast.Update)
    return statement.changes


A = tree.Path(("a",))


def number(text: str) -> tree.Constant:
    return tree.Constant({"N": text})


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("a != 1", tree.Comparison("<>", A, number("1"))),
        ("a = ?", tree.Comparison("=", A, tree.Constant({"S": "given"}))),
        ("a = 5 - 2 + 1", tree.Comparison("=", A, number("4"))),
        ("SIZE(a) > 1", tree.Comparison(">", tree.Function("size", (A,)), number("1"))),
        ("a IS MISSING", tree.Function("attribute_not_exists", (A,))),
        ("a IS NOT MISSING", tree.Function("attribute_exists", (A,))),
        ("a IS NOT NULL", tree.Not(tree.Function("attribute_type", (A, tree.Constant({"S": "NULL"}))))),
        ("attribute_exists(a) <> true", tree.Not(tree.Function("attribute_exists", (A,)))),
        ("a NOT BETWEEN 1 AND 2", tree.Not(tree.Between(A, number("1"), number("2")))),
        ("a IN <<1, 2>>", tree.In(A, (number("1"), number("2")))),
    ],
)
def test_conditions(condition, expected):
    assert translate.condition(where(condition), ({"S": "given"},)) == expected


def test_an_attribute_whose_name_begins_with_a_hash_is_no_placeholder():
    condition = translate.compiled((where('"#a" = 1 AND contains("#b", \'#c\')'),), ())
    assert condition is not None
    assert condition.matches({"#a": {"N": "1"}, "#b": {"S": "x#c"}})


def test_reserved_words_of_expressions_are_names_here():
    assert translate.compiled((where("status = 1 AND data = 2"),), ()) is not None


def test_no_conditions_are_no_condition():
    assert translate.compiled((), ()) is None


def test_changes_become_actions():
    update = translate.compiled_update(
        changes("SET a = b - 1 SET l = list_append([1], l) SET s = set_add(s, <<'x'>>) REMOVE c.d"), ()
    )
    assert update.tree.actions == (
        tree.Set(A, tree.Arithmetic("-", tree.Path(("b",)), number("1"))),
        tree.Set(
            tree.Path(("l",)),
            tree.Function("list_append", (tree.Constant({"L": [{"N": "1"}]}), tree.Path(("l",)))),
        ),
        tree.Add(tree.Path(("s",)), tree.Constant({"SS": ["x"]})),
        tree.Remove(tree.Path(("c", "d"))),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "SET a = 1 SET a.b = 2",
            "Two document paths overlap with each other; must remove or rewrite one of these paths; "
            "path one: [a], path two: [a, b]",
        ),
        (
            "SET a = list_append(a, 1)",
            "Incorrect operand type for operator or function; "
            "operator or function: list_append, operand type: N",
        ),
        ("SET a = if_not_exists(a, 1)", "Unrecognized function: if_not_exists at 1:18:13"),
        ("SET a = list_append(a)", "LIST_APPEND must have exactly two arguments at 1:18:11"),
        ("SET a = a + 1 + 1", "An arithmetic operator takes two operands at 1:20:1"),
    ],
)
def test_changes_that_are_refused_name_no_expression(text, message):
    with pytest.raises(ServiceError) as refusal:
        translate.compiled_update(changes(text), ())
    assert refusal.value.message == message


@pytest.mark.parametrize(
    "condition", ["a", "5", "lower(a) = 'x'", "(a = 1) = 2", "a IS CLOB", "begins_with(a, 1)"]
)
def test_what_is_no_condition(condition):
    with pytest.raises(ServiceError) as refusal:
        translate.compiled((where(condition),), ())
    assert refusal.value.code == "ValidationException"
    assert not str(refusal.value.message).startswith("Invalid ")
