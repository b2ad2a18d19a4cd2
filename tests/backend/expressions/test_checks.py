"""Refusals of conditions that parse, in the service's words and order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from backend.expressions.conditions import condition
from backend.expressions.scope import Scope

Refusal = Callable[[Callable[[], object]], str | None]
INVALID = "Invalid FilterExpression: "
OPERAND = f"{INVALID}Incorrect operand type for operator or function; operator or function: "


@pytest.fixture
def refused(refusal: Refusal) -> Callable[..., str | None]:
    def run(text: str, names: Any = None, values: Any = None) -> str | None:
        return refusal(lambda: condition(text, "FilterExpression", Scope(names, values)))

    return run


Refused = Callable[..., str | None]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a=a and whatever((:things)) > a", "whatever"),
        ("attRIbute_exIsts((views), #a)", "attRIbute_exIsts"),
        ("IF_NOT_EXISTS(a, b) = c", "IF_NOT_EXISTS"),
    ],
)
def test_unknown_functions(refused: Refused, text: str, name: str) -> None:
    assert refused(text) == f"{INVALID}Invalid function name; function: {name}"


def test_functions_of_updates(refused: Refused) -> None:
    assert refused("if_not_exists(a, b) = c") == (
        f"{INVALID}The function is not allowed in a condition expression; function: if_not_exists"
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a=a and attribute_exists((views), (#a)) > b", "attribute_exists"),
        ("attribute_not_exists(things) > b", "attribute_not_exists"),
        ("attribute_type(things, :a) > b", "attribute_type"),
        ("begins_with(things, a) > b", "begins_with"),
        ("contains(:things, c) > b", "contains"),
        ("size(contains(a, b)) > a", "contains"),
        ("size(things)", "size"),
        ("a between b and attribute_exists(things)", "attribute_exists"),
        ("a in (b, attribute_exists(things))", "attribute_exists"),
    ],
)
def test_functions_out_of_place(refused: Refused, text: str, name: str) -> None:
    assert refused(text) == (
        f"{INVALID}The function is not allowed to be used this way in an expression; function: {name}"
    )


@pytest.mark.parametrize(
    ("text", "word"),
    [("attribute_exists(views, #a)", "views"), (":a < abOrT", "abOrT"), ("a = b.Size", "Size")],
)
def test_reserved_words(refused: Refused, text: str, word: str) -> None:
    assert refused(text) == f"{INVALID}Attribute name is a reserved keyword; reserved keyword: {word}"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("attribute_exists(#Pictures.RearView, :a) and a=a", "#Pictures"),
        ("begins_with(Pictures.#RearView)", "#RearView"),
        ("(#P between :lo and :hi) and (#PC in (:cat1, :cat2))", "#P"),
        ("#4g > a", "#4g"),
        ("#_ > a", "#_"),
        ("(a)between(b.c[45].#d)and(:a)", "#d"),
    ],
)
def test_undefined_names(refused: Refused, text: str, name: str) -> None:
    assert refused(text) == (
        f"{INVALID}An expression attribute name used in the document path is not defined; "
        f"attribute name: {name}"
    )


@pytest.mark.parametrize(
    ("text", "value"), [("begins_with(:hello, #a, #b)", ":hello"), (":a < :b", ":a"), (":_ > a", ":_")]
)
def test_undefined_values(refused: Refused, text: str, value: str) -> None:
    assert refused(text) == (
        f"{INVALID}An expression attribute value used in expression is not defined; attribute value: {value}"
    )


@pytest.mark.parametrize(
    ("text", "name", "count"),
    [
        ("attribute_exists(things, a) and a=a", "attribute_exists", 2),
        ("attribute_not_exists(things, b)", "attribute_not_exists", 2),
        ("attribute_type(things)", "attribute_type", 1),
        ("begins_with(things)", "begins_with", 1),
        ("begins_with(things, size(a), b)", "begins_with", 3),
        ("contains(things)", "contains", 1),
        ("size(things, a) > b", "size", 2),
    ],
)
def test_numbers_of_operands(refused: Refused, text: str, name: str, count: int) -> None:
    assert refused(text) == (
        f"{INVALID}Incorrect number of operands for operator or function; "
        f"operator or function: {name}, number of operands: {count}"
    )


@pytest.mark.parametrize(
    ("text", "operator", "operand"),
    [
        ("a = a AND #a = b AND :views > a", "=", "[a]"),
        ("#a <> a", "<>", "[a]"),
        ("a > #a", ">", "[a]"),
        ("((a=a) OR (a=a))", "=", "[a]"),
        ("contains(ab.bc[1].a, ab.bc[1].#a)", "contains", "[ab, bc, [1], a]"),
        ("attribute_type(ab.bc[1].#a, ab.bc[1].a)", "attribute_type", "[ab, bc, [1], a]"),
        ("begins_with(ab.bc[1].a, ab.bc[1].#a)", "begins_with", "[ab, bc, [1], a]"),
    ],
)
def test_operands_must_differ(refused: Refused, text: str, operator: str, operand: str) -> None:
    assert refused(text, {"#a": "a"}) == (
        f"{INVALID}The first operand must be distinct from the remaining operands "
        "for this operator or function; "
        f"operator: {operator}, first operand: {operand}"
    )


def test_equal_constants_are_fine() -> None:
    scope = Scope(None, {":a": {"N": "1"}})
    assert not condition(":a > :a", "FilterExpression", scope).matches({})
    assert condition(":a = :a", "FilterExpression", scope).matches({})


@pytest.mark.parametrize(
    ("text", "name", "datatypes"),
    [
        ("attribute_type(a, :a)", "attribute_type", "N B BOOL NULL L M SS NS BS"),
        ("begins_with(a, :a)", "begins_with", "N BOOL NULL L M SS NS BS"),
        ("begins_with(:a, a)", "begins_with", "N BOOL NULL L M SS NS BS"),
        ("size(:a) > a", "size", "N BOOL NULL"),
        ("size(size(a)) > :a", "size", "N"),
        ("attribute_not_exists(size(:a))", "size", "N"),
        ("begins_with(a, size(a)) and a=:a", "begins_with", "N"),
        ("attribute_type(a, size(a)) and a=a and a=:a", "attribute_type", "N"),
        ("a < :a", "<", "BOOL NULL L M SS NS BS"),
        (":a >= a", ">=", "BOOL NULL L M SS NS BS"),
        (":a < :a", "<", "BOOL NULL L M SS NS BS"),
        ("b BETWEEN :a AND c", "BETWEEN", "BOOL NULL L M SS NS BS"),
    ],
)
def test_types_of_constants(
    refused: Refused, one_of_each: dict[str, Any], text: str, name: str, datatypes: str
) -> None:
    for datatype in datatypes.split():
        assert (
            refused(text, None, {":a": one_of_each[datatype]}) == f"{OPERAND}{name}, operand type: {datatype}"
        )


def test_a_type_that_passed_does_not_let_another_through(refused: Refused) -> None:
    condition("zz < :a", "FilterExpression", Scope(None, {":a": {"N": "1"}}))
    assert refused("zz < :a", None, {":a": {"BOOL": True}}) == f"{OPERAND}<, operand type: BOOL"


def test_names_of_types(refused: Refused) -> None:
    assert refused("attribute_type(a, :a)", None, {":a": {"S": "1"}}) == (
        f"{INVALID}Invalid attribute type name found; type: 1, valid types: {{B,NULL,SS,BOOL,L,BS,N,NS,S,M}}"
    )
    assert str(refused("attribute_type(a, b)")).startswith(f"{OPERAND}attribute_type, operand type: ")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("attribute_exists(:a) and a=a", "attribute_exists"),
        ("attribute_exists(size(:a))", "attribute_exists"),
        ("attribute_type(:a, :t)", "attribute_type"),
        ("a > size(:a)", "size"),
    ],
)
def test_functions_of_paths(refused: Refused, text: str, name: str) -> None:
    assert refused(text, None, {":a": {"S": "1"}, ":t": {"S": "S"}}) == (
        f"{INVALID}Operator or function requires a document path; operator or function: {name}"
    )


def test_bounds_of_between(refused: Refused) -> None:
    text = "a between :b and :a"
    assert refused(text, None, {":a": {"S": "a"}, ":b": {"N": "1"}}) == (
        f"{INVALID}The BETWEEN operator requires same data type for lower and upper bounds; "
        "lower bound operand: AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:a}"
    )
    assert refused(text, None, {":a": {"S": "a"}, ":b": {"S": "b"}}) == (
        f"{INVALID}The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
        "lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}"
    )
    assert refused(text, None, {":a": {"B": b"a"}, ":b": {"B": b"b"}}) == (
        f"{INVALID}The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
        "lower bound operand: AttributeValue: {B:Yg==}, upper bound operand: AttributeValue: {B:YQ==}"
    )


def test_in_takes_99_candidates(refused: Refused) -> None:
    values = {":v": {"N": "1"}}
    condition(f"a IN ({','.join([':v'] * 99)})", "FilterExpression", Scope(None, values))
    assert refused(f"a IN ({','.join([':v'] * 100)})", None, values) == (
        f"{INVALID}The IN operator is provided with too many operands; number of operands: 101"
    )


def test_paths_end_at_32_elements(refused: Refused) -> None:
    condition("attribute_exists(" + ".".join(["a"] * 32) + ")", "FilterExpression", Scope())
    assert refused("attribute_exists(" + ".".join(["a"] * 33) + ")") == (
        f"{INVALID}The document path has too many nesting levels; nesting levels: 33"
    )


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("size(a) AND foo(b)", "Invalid function name"),
        ("size(abort)", "not allowed to be used this way"),
        ("#x = b AND a = abort", "reserved keyword"),
        ("#x = b AND :y = :z", "attribute name: #x"),
        ("contains(a) AND #x = b", "Incorrect number of operands"),
        ("b = :y AND contains(#x)", "attribute value: :y"),
    ],
)
def test_which_of_several_faults_is_reported(refused: Refused, text: str, fragment: str) -> None:
    assert fragment in str(refused(text))
