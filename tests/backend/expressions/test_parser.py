"""Texts to trees, and the texts that are none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import ServiceError
from backend.expressions.ast import (
    Add,
    And,
    Arithmetic,
    Between,
    Comparison,
    Condition,
    Delete,
    Function,
    In,
    Not,
    Or,
    Path,
    Placeholder,
    Projection,
    Remove,
    Set,
    Update,
)
from backend.expressions.parser import parse_condition, parse_projection, parse_update

Refusal = Callable[[Callable[[], object]], str | None]

A, B, C = Path(("a",)), Path(("b",)), Path(("c",))
V = Placeholder(":v")
FILTER = "FilterExpression"


def parsed(text: str) -> Condition:
    return parse_condition(text, FILTER)


def equals(left: Path, right: Path | Placeholder = V) -> Comparison:
    return Comparison("=", left, right)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a=:v", equals(A)),
        ("a <> :v", Comparison("<>", A, V)),
        (":v<=a", Comparison("<=", V, A)),
        ("a.#n[3].b > :v", Comparison(">", Path(("a", "#n", 3, "b")), V)),
        ("a BETWEEN b AND :v", Between(A, B, V)),
        ("(a)between(b)and(:v)", Between(A, B, V)),
        ("a in (b, :v)", In(A, (B, V))),
        ("attribute_exists(a)", Function("attribute_exists", (A,))),
        ("size ( a ) > :v", Comparison(">", Function("size", (A,)), V)),
        ("(attribute_exists((a)))", Function("attribute_exists", (A,))),
        ("not a=:v", Not(equals(A))),
        ("NOT NOT a=:v", Not(Not(equals(A)))),
        ("a=:v AND b=:v OR c=:v", Or((And((equals(A), equals(B))), equals(C)))),
        ("a=:v OR b=:v AND c=:v", Or((equals(A), And((equals(B), equals(C)))))),
        ("a=:v AND b=:v and c=:v", And((equals(A), equals(B), equals(C)))),
        ("a=:v AND (b=:v AND c=:v)", And((equals(A), And((equals(B), equals(C)))))),
        ("(a=:v OR b=:v) AND c=:v", And((Or((equals(A), equals(B))), equals(C)))),
        ("NOT a=:v AND b=:v", And((Not(equals(A)), equals(B)))),
        ("NOT (a=:v AND b=:v)", Not(And((equals(A), equals(B))))),
        ("a BETWEEN b AND c AND a=:v", And((Between(A, B, C), equals(A)))),
        ("((a=:v) OR (b=:v))", Or((equals(A), equals(B)))),
        ("(a) = (:v)", equals(A)),
        ("#0 = :_", Comparison("=", Path(("#0",)), Placeholder(":_"))),
    ],
)
def test_conditions(text: str, tree: Condition) -> None:
    assert parsed(text) == tree


@pytest.mark.parametrize(
    "text",
    [
        *("things are not gonna be ok", "a > 4", "attribute_exists(Pictures-RearView)"),
        *('attribute_exists("Pictures.RearView")', "attribute_exists(Pictures..RearView)"),
        *("attribute_exists(Pi#ctures.RearView)", "attribute_exists(asdf[a])", "a in b, c", "a > between"),
        *("a in b", "a in (b,c,)", "a in ()", "(a)between(b.(c.d))and(c)", "(a)between(b.c.d)and((c)"),
        *(
            "#$.b > a",
            "a > :things.stuff",
            "b[:a] > a",
            "b[#_] > a",
            "ü > a",
            "(a)between(b.c[4.5].#d)and(:a)",
        ),
        *("size(a).b > a", "(size(a)).b > a", "size(a)[0] > a", "(size(a))[0] > a"),
        *(
            "a",
            "a AND b = c",
            "NOT a",
            "(a)",
            "a = b = c",
            "a = (b = c)",
            "a = b)",
            "(a = b",
            "_a = b",
            "1a = b",
        ),
        *(
            "a = b AND",
            "AND",
            "a = b OR OR b = c",
            "a BETWEEN b",
            "a BETWEEN b OR c",
            "a !== b",
            "a = :",
            "# = a",
        ),
        *(
            "contains()",
            "contains(a,)",
            "contains(a b)",
            "a + b = c",
            "a IN (b) IN (c)",
            "a[] = b",
            "a[-1] = b",
        ),
    ],
)
def test_syntax_errors(refusal: Refusal, text: str) -> None:
    assert str(refusal(lambda: parsed(text))).startswith("Invalid FilterExpression: Syntax error; token: ")


@pytest.mark.parametrize(
    "text",
    [
        "a=a and a > ((views))",
        "(a)between(((b.c)).d)and(c)",
        "a > whatever((:things), ((a)))",
        "a=a AND ((a=a AND a=a)) AND a=a",
        "a=a OR ((a=a OR a=a)) OR a=a",
        "a=a AND ((a=a AND (a=a AND a=a)))",
        "a=a OR ((a=a OR (a=a OR a=a)))",
        "((a=:v))",
        "((((a=:v))))",
        "(" * 2000 + "a=:v" + ")" * 2000,
    ],
)
def test_redundant_parentheses(refusal: Refusal, text: str) -> None:
    assert (
        refusal(lambda: parsed(text)) == "Invalid FilterExpression: The expression has redundant parentheses;"
    )


@pytest.mark.parametrize("text", ["", " ", "\t\n"])
def test_empty_expressions(refusal: Refusal, text: str) -> None:
    assert refusal(lambda: parsed(text)) == "Invalid FilterExpression: The expression can not be empty;"
    assert refusal(lambda: parse_update(text)) == "Invalid UpdateExpression: The expression can not be empty;"
    assert (
        refusal(lambda: parse_projection(text))
        == "Invalid ProjectionExpression: The expression can not be empty;"
    )


def test_operators_end_at_300(refusal: Refusal) -> None:
    """Comparisons and AND, OR, NOT count; functions and parentheses do not."""
    assert isinstance(parsed(" AND ".join(["a=b"] * 150)), And)
    parsed("NOT " + " OR ".join(["(a=b)"] * 150))
    assert refusal(lambda: parsed(" AND ".join(["a=b"] * 151))) == (
        "Invalid FilterExpression: The expression contains too many operators; operator count: 301"
    )
    parsed(" AND ".join(["contains(a,b)"] * 200))


def test_deep_nesting_is_no_problem(refusal: Refusal) -> None:
    parsed("NOT " * 299 + "a=b")
    parsed("(a=b OR " * 149 + "a=b" + ")" * 149)
    parsed("NOT (" * 299 + "a=b" + ")" * 299)
    assert refusal(lambda: parsed("f(" * 1500 + "a" + ")" * 1500)) is not None


@pytest.mark.parametrize(
    ("text", "actions"),
    [
        ("SET a = :v", (Set(A, V),)),
        ("set a = b + :v, b = a - :v", (Set(A, Arithmetic("+", B, V)), Set(B, Arithmetic("-", A, V)))),
        ("SET a = (b + :v)", (Set(A, Arithmetic("+", B, V)),)),
        ("SET a = (b) + (:v)", (Set(A, Arithmetic("+", B, V)),)),
        ("SET a = (b)", (Set(A, B),)),
        ("SET a=if_not_exists(a,:v)+b", (Set(A, Arithmetic("+", Function("if_not_exists", (A, V)), B)),)),
        ("REMOVE a, b[1].c", (Remove(A), Remove(Path(("b", 1, "c"))))),
        ("ADD a :v delete b :v", (Add(A, V), Delete(B, V))),
        ("REMOVE c SET a = :v ADD b :v", (Remove(C), Set(A, V), Add(B, V))),
        ("SET between = :v", (Set(Path(("between",)), V),)),
    ],
)
def test_updates(text: str, actions: tuple[object, ...]) -> None:
    assert parse_update(text) == Update(actions)  # type: ignore[arg-type]


def test_a_section_opened_twice_is_noted() -> None:
    assert parse_update("set a=b remove c set d=e remove f").repeated_section == "SET"


@pytest.mark.parametrize(
    "text",
    [
        *("whatever", "set a", "add a", "delete a", "set a=set", "remove a = b", "add a = b", "delete a = b"),
        *(
            "delete a b",
            "delete a if_not_exist(b)",
            "add abort b",
            "add a if_not_exist(b)",
            "remove a b",
            "set a b",
        ),
        *("set :a = b", "add :a b", "delete :a b", "remove :a", "set a = b / c", "set a = b * c"),
        *('set a[1] = "eight"', "set a[1] = 1", "SET a = if_not_exist(a, 100)", "SET if_not_exist(a, b) = a"),
        *(
            "set (a = (b + c))",
            "set a = (b.c).d + e",
            "set a = (b.c)[0] + e",
            "set a = b + c + d",
            "set a = b,",
        ),
        *(
            "a = b",
            "set",
            "remove",
            "set a = :v, remove b",
            "set a = list_append(a, b + c)",
            "set a = :v set",
        ),
    ],
)
def test_syntax_errors_in_updates(refusal: Refusal, text: str) -> None:
    assert str(refusal(lambda: parse_update(text))).startswith(
        "Invalid UpdateExpression: Syntax error; token: "
    )


def test_list_indexes_have_a_range(refusal: Refusal) -> None:
    assert parse_projection("a[4294967294]") == Projection((Path(("a", 4294967294)),))
    for parse, kind in ((parse_projection, "Projection"), (parse_update, "Update")):
        text = "a[4294967295]" if kind == "Projection" else "REMOVE a[4294967295]"
        assert refusal(lambda parse=parse, text=text: parse(text)) == (  # type: ignore[misc]
            f"Invalid {kind}Expression: List index is not within the allowable range; index: [4294967295]"
        )


def test_projections(refusal: Refusal) -> None:
    assert parse_projection("a, b.#c[0]") == Projection((A, Path(("b", "#c", 0))))
    assert refusal(lambda: parse_projection("!!!INVALID")) == (
        'Invalid ProjectionExpression: Syntax error; token: "!", near: "!!"'
    )
    for text in ("a,", "a b", ",a", "a,,b", "a.", ":v", "size(a)", "a = b"):
        assert "Syntax error" in str(refusal(lambda text=text: parse_projection(text)))  # type: ignore[misc]


fragments = st.lists(
    st.sampled_from(
        (
            *("a", "b.c", "#n", ":v", "(", ")", "[", "0", "]", ",", ".", "=", "<>", "<", "+", "-", "!"),
            *("AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE", "size", "contains"),
        )
    ),
    max_size=12,
).map(" ".join)


@given(fragments)
def test_any_text_parses_or_is_refused(text: str) -> None:
    for parse in (parsed, parse_update, parse_projection):
        code = None
        try:
            parse(text)
        except ServiceError as error:
            code = error.code
        assert code in (None, "ValidationException")
