"""Statements that read, and the service's words for those that do not.

The messages are the ones that the public Parity Suite recorded on the live service.
"""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import ServiceError
from backend.partiql import ast
from backend.partiql.parser import parse

ENVELOPE = "Statement wasn't well formed, can't be processed: "
LEFTOVER = ENVELOPE + "Unexpected token after expression"
ALIASING = "Aliasing is not supported"


def refusal_of(text: str) -> str | None:
    with pytest.raises(ServiceError) as refusal:
        parse(text)
    assert refusal.value.code == "ValidationException"
    return refusal.value.message


# Statements


def test_select_with_everything():
    select = parse(
        'SELECT a.b[0], "c d" FROM "t"."i" WHERE pk = ? AND NOT sk > 5 OR x IS NOT MISSING ORDER BY sk DESC'
    )
    statement = select.statement
    assert isinstance(statement, ast.Select)
    assert [one.parts for one in statement.projection or ()] == [("a", "b", 0), ("c d",)]
    assert statement.target == ast.Target("t", "i")
    assert isinstance(statement.where, ast.Or)
    left, right = statement.where.operands
    assert isinstance(left, ast.And)
    assert isinstance(left.operands[1], ast.Not)
    assert isinstance(right, ast.IsType)
    assert (right.type, right.negated) == ("missing", True)
    assert [(one.path.parts, one.descending) for one in statement.order_by] == [(("sk",), True)]
    assert select.parameters == 1


def test_select_star_with_a_semicolon():
    assert parse("select * from Music;").statement == ast.Select(None, ast.Target("Music"), None)


def test_insert():
    statement = parse("INSERT INTO t VALUE {'pk': -.5e1, 'x': <<1, 2>>, 'n': null, 'l': [true, ?]}").statement
    assert isinstance(statement, ast.Insert)
    assert isinstance(statement.value, ast.MapLiteral)
    entries = dict(statement.value.entries)
    assert isinstance(entries["pk"], ast.Scalar)
    assert entries["pk"].content == "-.5e1"
    assert isinstance(entries["x"], ast.BagLiteral)
    assert isinstance(entries["l"], ast.ListLiteral)


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE t SET a = a + 1 SET b = 'x' REMOVE c[0] WHERE pk = '1' RETURNING MODIFIED NEW *",
        "UPDATE t SET a = a + 1, b = 'x' REMOVE c[0] WHERE pk = '1' returning modified new *",
        "FROM t WHERE pk = '1' SET a = a + 1 SET b = 'x' REMOVE c[0] RETURNING MODIFIED NEW *",
    ],
)
def test_the_forms_of_update_mean_the_same(text: str):
    statement = parse(text).statement
    assert isinstance(statement, ast.Update)
    first, second, third = statement.changes
    assert isinstance(first, ast.Assignment)
    assert isinstance(first.value, ast.Arithmetic)
    assert isinstance(second, ast.Assignment)
    assert isinstance(third, ast.Removal)
    assert third.path.parts == ("c", 0)
    assert isinstance(statement.where, ast.Comparison)
    assert statement.returning == ast.Returning("MODIFIED", "NEW")


def test_delete_and_exists():
    statement = parse("DELETE FROM t WHERE pk = '1' RETURNING ALL OLD *").statement
    assert isinstance(statement, ast.Delete)
    assert statement.returning == ast.Returning("ALL", "OLD")
    exists = parse("EXISTS(SELECT * FROM t WHERE pk = '1' AND a = 1)").statement
    assert isinstance(exists, ast.Exists)


def test_not_binds_tighter_than_and_and_looser_than_comparison():
    statement = parse(
        "SELECT * FROM t WHERE NOT a = 1 AND b NOT IN [1, 2] AND c NOT BETWEEN 1 AND 2"
    ).statement
    assert isinstance(statement, ast.Select)
    assert isinstance(statement.where, ast.And)
    first, second, third = statement.where.operands
    assert isinstance(first, ast.Not)
    assert isinstance(first.operand, ast.Comparison)
    assert isinstance(second, ast.Not)
    assert isinstance(second.operand, ast.In)
    assert isinstance(third, ast.Not)
    assert isinstance(third.operand, ast.Between)


# Refusals


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM t WHERE pk = 1 foo",
        "SELECT * FROM t WHERE pk = 1 e5",
        "INSERT INTO t VALUE {'pk': 1} foo",
        "UPDATE t SET a = 9 WHERE pk = 1 foo",
        "DELETE FROM t WHERE pk = 1 foo",
        "SELECT * FROM t WHERE pk = 1)",
        "DELETE FROM t WHERE pk = 1 ORDER BY pk",
        "SELECT * FROM t ORDER BY pk WHERE pk = 1",
        "INSERT INTO t u VALUE {'pk': 'x'}",
        "FROM t SET c = 1 WHERE pk = 'a'",
        "FROM t SET c = 1 WHERE pk = 'a' SET d = 2",
    ],
)
def test_leftover_tokens(text: str):
    assert refusal_of(text) == LEFTOVER


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM t u WHERE pk = 'x'",
        "SELECT * FROM t AS u WHERE pk = 'x'",
        "UPDATE t u SET a = 3 WHERE pk = 'x'",
        "DELETE FROM t u WHERE pk = 'x'",
    ],
)
def test_aliases(text: str):
    assert refusal_of(text) == ALIASING


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("SELECT * FROM t WHERE", "Unexpected term"),
        ("SELECT * FROM t WHERE;", "Unexpected term"),
        ("UPDATE t SET a = 1 WHERE", "Unexpected term"),
        ("DELETE FROM t WHERE", "Unexpected term"),
        ("SELECT * FROM t WHERE NOT", "Unexpected term"),
        ("SELECT * FROM t WHERE (", "Unexpected term"),
        ("SELECT * FROM", "Unexpected term"),
        ("SELECT * FROM t WHERE pk = 'p1' AND", "Missing right-hand side expression of infix operator"),
        ("SELECT * FROM t WHERE pk = 'p1' OR", "Missing right-hand side expression of infix operator"),
        ("SELECT * FROM t WHERE ORDER BY pk", "Unexpected keyword"),
        ("SELECT * FROM t WHERE pk = 'a' AND x IS FOO", "Expected type name"),
        ("SELECT * FROM t WHERE IS NULL", "Unexpected operator"),
        ("SELECT * FROM t WHERE pk = LIKE", "Unexpected operator"),
        ("DELETE FROM", "Expected identifier for simple path"),
        ("DELETE FROM;", "Expected identifier for simple path"),
        ("DELETE FROM WHERE pk = 'a'", "Expected identifier for simple path"),
        ("SELECT * FROM t WHERE attribute_exists(m.inner)", "Invalid path dot component"),
        ("UPDATE Payment-dev SET active = ? WHERE id = ?", "Expected data manipulation"),
        ("SELECTT * FROMM t", "Expected data manipulation"),
    ],
)
def test_not_well_formed(text: str, detail: str):
    assert refusal_of(text) == ENVELOPE + detail


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x IS DOUBLE PRECISION", "Unsupported operation: IsType"),
        ("x IS CHARACTER VARYING", "Unsupported operation: IsType"),
        (
            'SELECT * FROM "t"."i"."extra" WHERE pk = 1',
            "A path may contain at most 2 components in the FROM clause",
        ),
        ('SELECT * FROM "t"."" WHERE pk = 1', "Path component cannot be an empty string"),
        ('SELECT * FROM "" WHERE pk = 1', "Path component cannot be an empty string"),
        ("INSERT INTO t.i VALUE {'pk': 1}", "FROM clause may only contain a single table name"),
        ("SELECT COUNT(*) n FROM t", "Unexpected path component at 1:8:5"),
    ],
)
def test_refusals_without_the_envelope(text: str, message: str):
    assert refusal_of(text) == message


def test_deep_nesting_is_refused_rather_than_crashing():
    assert refusal_of("SELECT * FROM t WHERE " + "(" * 4000).startswith(ENVELOPE)  # type: ignore[union-attr]
    assert refusal_of("SELECT * FROM t WHERE " + "NOT " * 2000).startswith(ENVELOPE)  # type: ignore[union-attr]
    assert refusal_of("INSERT INTO t VALUE " + "[" * 4000).startswith(ENVELOPE)  # type: ignore[union-attr]


_SAMPLE = """
SELECT * FROM t WHERE pk = 1 AND NOT OR IN [ ] ( ) { } << >> 'x' ? , . : a "b" IS MISSING BETWEEN + - INSERT
INTO VALUE UPDATE SET REMOVE DELETE RETURNING ALL OLD ORDER BY DESC size begins_with ;
"""
_WORDS = st.sampled_from(_SAMPLE.split())


@given(st.lists(_WORDS, max_size=30).map(" ".join))
def test_any_sequence_of_tokens_is_read_or_refused(text: str):
    with suppress(ServiceError):
        assert parse(text).parameters == text.count("?")
