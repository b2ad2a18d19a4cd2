"""Literals and parameters as attribute values.

The messages are the ones that the public Parity Suite recorded on the live service.
"""

from __future__ import annotations

from typing import Any

import pytest

from backend.errors import ServiceError
from backend.partiql import ast
from backend.partiql.parser import parse
from backend.partiql.values import bind, item_of

OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
DIGITS = "Attempting to store more than 38 significant digits in a Number"
NEST = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)
UNCONVERTIBLE = "The parameter cannot be converted to a numeric value"


def item(text: str, *parameters: Any) -> Any:
    parsed = parse(f"INSERT INTO t VALUE {text}")
    assert isinstance(parsed.statement, ast.Insert)
    return item_of(parsed.statement.value, bind(parsed, parameters))


def refusal(text: str, *parameters: Any) -> str | None:
    with pytest.raises(ServiceError) as error:
        item(text, *parameters)
    assert error.value.code == "ValidationException"
    return error.value.message


def deep(levels: int, leaf: Any) -> Any:
    for _ in range(levels):
        leaf = {"M": {"n": leaf}}
    return leaf


def test_every_literal():
    assert item(
        "{'s': 'it''s', 'n': -1.50e1, 't': TRUE, 'z': null, 'l': [1, 'a'], 'm': {'x': {}}, 'e': []}"
    ) == {
        "s": {"S": "it's"},
        "n": {"N": "-15"},
        "t": {"BOOL": True},
        "z": {"NULL": True},
        "l": {"L": [{"N": "1"}, {"S": "a"}]},
        "m": {"M": {"x": {"M": {}}}},
        "e": {"L": []},
    }
    assert item("{'ss': <<'a', 'b'>>, 'ns': <<1, 2.0>>, 'bs': <<?>>}", {"B": b"x"}) == {
        "ss": {"SS": ["a", "b"]},
        "ns": {"NS": ["1", "2"]},
        "bs": {"BS": [b"x"]},
    }


def test_a_parameter_may_be_the_item():
    assert item("?", {"M": {"pk": {"N": "1.0"}}}) == {"pk": {"N": "1"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{'pk': 1e126}", f"{OVERFLOW} under root"),
        ("{'pk': 1e-131}", f"{UNDERFLOW} under root"),
        ("{'pk': 123456789012345678901234567890123456789}", f"{DIGITS} under root"),
        ("{'pk': 1, 'm': {'x': 1e126}}", f"{OVERFLOW} under root.x"),
        ("{'pk': 1, 'l': [1, 1e126]}", f"{OVERFLOW} under root[1]"),
        ("{'pk': <<>>}", "Empty bags are not supported"),
        ("{'s': set_add(<<'a'>>, <<'b'>>)}", "Unsupported data type: set_add under key root at 1:27:7"),
    ],
)
def test_literals_that_break_rules(text, message):
    assert refusal(text) == message


def test_bags_hold_one_scalar_type():
    assert refusal("{'pk': <<1, 'a'>>}") == refusal("{'pk': <<[1]>>}")


@pytest.mark.parametrize("number", ["1e99999999999", "-1e-99999999999", "1e2147483648", "abc"])
@pytest.mark.parametrize(
    "wrap", [lambda v: {"N": v}, lambda v: {"L": [{"N": v}]}, lambda v: {"NS": ["1", v]}]
)
def test_parameters_that_are_no_numbers(number, wrap):
    assert refusal("{'pk': ?}", wrap(number)) == f"{UNCONVERTIBLE}: {number}"


def test_magnitudes_wrap_in_32_bits():
    assert refusal("{'pk': ?}", {"N": "1e2147483647"}) == UNDERFLOW
    assert refusal("{'pk': ?}", {"N": "1e126"}) == OVERFLOW
    assert refusal("{'pk': ?}", {"N": ""}) == UNCONVERTIBLE


@pytest.mark.parametrize("levels", [40, 100])
def test_the_first_problem_in_document_order_is_told(levels):
    fine, bad = {"S": "leaf"}, {"N": "abc"}
    assert refusal("{'x': ?, 'y': ?}", deep(levels, fine), bad) == NEST
    assert refusal("{'x': ?, 'y': ?}", bad, deep(levels, fine)) == f"{UNCONVERTIBLE}: abc"
    assert refusal("{'x': ?}", {"M": {"d": deep(levels, fine), "bad": bad}}) == NEST
    assert refusal("{'x': ?}", {"M": {"bad": bad, "d": deep(levels, fine)}}) == f"{UNCONVERTIBLE}: abc"
    assert refusal("{'x': ?}", deep(levels, bad)) == NEST
