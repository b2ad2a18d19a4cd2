"""Document paths on their own."""

from __future__ import annotations

from typing import Any

import pytest

from backend.expressions.ast import Path
from backend.expressions.paths import aliases, getter, resolve, shown, top_level_name

ITEM: Any = {"a": {"L": [{"M": {"b.c": {"S": "x"}}}]}}


def test_resolve_replaces_placeholders_only() -> None:
    path = Path(("#n", 0, "n", "#m"))
    assert resolve(path, {"#n": "a.b", "#m": "#n"}) == Path(("a.b", 0, "n", "#n"))
    assert aliases(path) == ["#n", "#m"]
    with pytest.raises(KeyError):
        resolve(path, {"#n": "a"})


def test_shown() -> None:
    assert shown(("a", 1, "b.c")) == "[a, [1], b.c]"


@pytest.mark.parametrize(
    ("elements", "found"),
    [
        (("a",), ITEM["a"]),
        (("a", 0, "b.c"), {"S": "x"}),
        (("a", 1), None),
        (("a", "b"), None),
        (("a", 0, 0), None),
        (("a", 0, "b.c", "d"), None),
        (("z", "y", 3), None),
    ],
)
def test_getter(elements: Any, found: Any) -> None:
    assert getter(Path(elements))(ITEM, {}) == found


def test_top_level_name() -> None:
    assert top_level_name(Path(("b.c", 1))) == "b.c"
