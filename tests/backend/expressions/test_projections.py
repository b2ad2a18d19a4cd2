"""Projections of items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.expressions import ast
from backend.expressions.paths import getter
from backend.expressions.projections import Projection, projection
from backend.expressions.scope import Scope

Refusal = Callable[[Callable[[], object]], str | None]
INVALID = "Invalid ProjectionExpression: "
REWRITE = "with each other; must remove or rewrite one of these paths; "
ITEM: Any = {
    "a": {"M": {"b": {"L": [{"S": "0"}, {"S": "1"}, {"M": {"c": {"N": "2"}}}]}, "d": {"NULL": True}}},
    "e.f": {"S": "dotted"},
    "g": {"S": "x"},
}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("g", {"g": {"S": "x"}}),
        ("g, z", {"g": {"S": "x"}}),
        ("z", {}),
        ("#n", {"e.f": {"S": "dotted"}}),
        ("a.d, g", {"a": {"M": {"d": {"NULL": True}}}, "g": {"S": "x"}}),
        ("a.b[2].c, a.b[0]", {"a": {"M": {"b": {"L": [{"S": "0"}, {"M": {"c": {"N": "2"}}}]}}}}),
        ("a.b[7], a.b[1]", {"a": {"M": {"b": {"L": [{"S": "1"}]}}}}),
        ("a.b[1].c", {}),
        ("a.z.y", {}),
        ("g.h", {}),
        ("g[0]", {}),
        ("a[0]", {}),
        ("a.b.c", {}),
    ],
)
def test_apply(text: str, result: Any) -> None:
    scope = Scope({"#n": "e.f"} if "#n" in text else None)
    assert projection(text, scope).apply(ITEM) == result


def test_what_is_picked_is_not_copied() -> None:
    assert projection("a", Scope()).apply(ITEM)["a"] is ITEM["a"]


def test_top_level_names() -> None:
    assert projection("a.b[1], g, a.d", Scope()).top_level_names == ("a", "g")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "a, #a",
            f"overlap {REWRITE}path one: [a], path two: [a]",
        ),
        (
            "a, a.b",
            f"overlap {REWRITE}path one: [a], path two: [a, b]",
        ),
        (
            "a.b[0], #a[1]",
            f"conflict {REWRITE}path one: [a, b, [0]], path two: [a, [1]]",
        ),
        (
            "a.c, a[0], a.c.d",
            f"overlap {REWRITE}path one: [a, c], path two: [a, c, d]",
        ),
    ],
)
def test_paths_that_exclude_each_other(refusal: Refusal, text: str, problem: str) -> None:
    assert refusal(lambda: projection(text, Scope({"#a": "a"}))) == f"{INVALID}Two document paths {problem}"


def test_order_of_refusals(refusal: Refusal) -> None:
    assert refusal(lambda: projection("#a, abort", Scope())) == (
        f"{INVALID}Attribute name is a reserved keyword; reserved keyword: abort"
    )
    assert refusal(lambda: projection("b, b, #a", Scope())) == (
        f"{INVALID}An expression attribute name used in the document path is not defined; attribute name: #a"
    )
    assert str(refusal(lambda: projection(".".join(["a"] * 33), Scope()))).startswith(
        f"{INVALID}The document path has too many nesting"
    )


elements = st.sampled_from(("a", "b")) | st.integers(0, 2)
some_paths = st.lists(elements, max_size=3).map(lambda rest: ast.Path(("a", *rest)))
documents: st.SearchStrategy[Any] = st.recursive(
    st.just({"S": "x"}),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda found: {"L": found})
        | st.dictionaries(st.sampled_from(("a", "b")), inner, max_size=2).map(lambda found: {"M": found})
    ),
    max_leaves=8,
)


@given(some_paths, documents)
def test_a_single_path_gives_its_value_in_its_parents(path: ast.Path, document: Any) -> None:
    item = {"a": document}
    value = getter(path)(item, {})
    expected: Any = value
    for element in reversed(path.elements[1:]):
        if expected is not None:
            expected = {"L": [expected]} if isinstance(element, int) else {"M": {element: expected}}
    assert Projection([path]).apply(item) == ({} if expected is None else {"a": expected})
