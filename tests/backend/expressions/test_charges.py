"""The charge of an UpdateExpression: each kind of action, to the byte as measured on the service."""

from __future__ import annotations

from typing import Any

import pytest

from backend.expressions.scope import Scope
from backend.expressions.updates import update

TEN: Any = {"S": "y" * 10}
VALUES: dict[str, Any] = {
    ":one": {"N": "1"},
    ":ten": TEN,
    ":list": {"L": [TEN]},
    ":map": {"M": {"a": {"S": "y" * 100}}},
    ":set": {"SS": ["p" * 5, "q" * 20]},
}
EMPTY_UPDATE = 3


@pytest.mark.parametrize(
    ("actions", "cost"),
    [
        ("SET a = :ten", 19 + 1 + 10),
        ("SET abcdefghij = :one", 19 + 10 + 2),
        ("SET a.bc = :ten", 19 + (1 + 4 + 2) + 10),
        ("SET a[10] = :ten", 19 + (1 + 4 + 2) + 10),
        ("SET a = :map", 19 + 1 + (3 + 1 + 1 + 100)),
        ("SET a = abcdefghij", 19 + 1 + (1 + 14 + 10)),
        ("SET a = b.c[10]", 19 + 1 + (1 + 14 + 1 + 14 + 1 + 14 + 2)),
        ("SET a = a + :one", 19 + 1 + 34 + (1 + 14 + 1) + 2),
        ("SET a = a - :one", 19 + 1 + 37 + (1 + 14 + 1) + 2),
        ("SET a = if_not_exists(a, :ten)", 19 + 1 + 39 + (1 + 14 + 1) + 10),
        ("SET a = list_append(a, :list)", 19 + 1 + 37 + (1 + 14 + 1) + (3 + 1 + 10)),
        ("SET a = :ten, b = :ten", 2 * (19 + 1 + 10)),
        ("ADD a :one", 19 + 1 + 2),
        ("ADD a :set", 19 + 1 + 25),
        ("REMOVE abcdefghij", 1 + 10),
        ("REMOVE a.bc, b[10]", 1 + (1 + 4 + 2) + 1 + (1 + 4 + 2)),
        ("DELETE a :set", 1 + 1),
    ],
)
def test_a_charge_is_a_matter_of_the_request(actions: str, cost: int) -> None:
    used = {name: value for name, value in VALUES.items() if name in actions}
    assert update(actions, Scope(None, used or None)).charge == EMPTY_UPDATE + cost


def test_a_name_costs_what_its_placeholder_stands_for() -> None:
    names = Scope({"#twelve_chars": "é"}, {":ten": TEN})
    assert update("SET #twelve_chars = :ten", names).charge == EMPTY_UPDATE + 19 + len("é".encode()) + 10
