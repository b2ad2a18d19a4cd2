"""Attribute values: what is accepted, what becomes of it, and how two compare."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import ServiceError
from backend.model import values
from backend.model.sizes import item_size, value_size
from backend.model.values import (
    compare,
    contains,
    equal,
    normalise,
    normalise_and_measure,
    normalise_item,
    type_of,
)

INVALID = "One or more parameter values were invalid: "
EMPTY = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
SEVERAL = (
    "Supplied AttributeValue has more than one datatypes set, "
    "must contain exactly one of the supported datatypes"
)
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)

number_texts = st.integers(-1000, 1000).map(str)
scalars: st.SearchStrategy[Any] = st.one_of(
    st.text(max_size=5).map(lambda text: {"S": text}),
    number_texts.map(lambda text: {"N": text}),
    st.binary(max_size=5).map(lambda content: {"B": content}),
    st.booleans().map(lambda flag: {"BOOL": flag}),
    st.just({"NULL": True}),
    st.sets(st.text(max_size=3), min_size=1, max_size=4).map(lambda members: {"SS": sorted(members)}),
    st.sets(number_texts, min_size=1, max_size=4).map(lambda members: {"NS": sorted(members, key=int)}),
    st.sets(st.binary(max_size=3), min_size=1, max_size=4).map(lambda members: {"BS": sorted(members)}),
)
attribute_values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda elements: {"L": elements}),
        st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3).map(
            lambda members: {"M": members}
        ),
    ),
    max_leaves=8,
)


def refusal(act: Callable[[], object]) -> str | None:
    with pytest.raises(ServiceError) as refused:
        act()
    assert refused.value.code == "ValidationException"
    return refused.value.message


@given(attribute_values)
def test_canonical_values_pass_through_uncopied(value: Any) -> None:
    assert normalise(value) is value


@given(st.dictionaries(st.text(min_size=1, max_size=3), attribute_values, max_size=4))
def test_canonical_items_pass_through_uncopied(item: Any) -> None:
    assert normalise_item(item) is item


@given(st.dictionaries(st.text(min_size=1, max_size=3), attribute_values, max_size=4))
def test_one_walk_measures_what_it_normalises(item: Any) -> None:
    spelled = {**item, "spelled": {"M": {"n": {"N": "+01.50"}, "l": {"L": [{"N": "1e3"}]}}}}
    clean, size = normalise_and_measure(spelled)
    assert clean == normalise_item(spelled)
    assert size == item_size(clean)


@pytest.mark.parametrize("element", [{"N": "-1.5"}, {"S": "é"}, {"BOOL": True}, {"L": [{"N": "7"}]}])
def test_long_lists_are_what_their_elements_are_one_by_one(element: Any) -> None:
    listed, size = normalise_and_measure({"a": {"L": [element] * 1_000}})
    assert (listed, size) == ({"a": {"L": [element] * 1_000}}, 1 + 3 + 1_000 * (1 + value_size(element)))


@pytest.mark.parametrize(
    "wrong", [{"N": "x"}, {"N": None}, {"N": 5}, {"S": 5}, {"N": "1", "S": "x"}, {}, None, "1"]
)
def test_one_wrong_element_of_a_long_list_is_refused(wrong: Any) -> None:
    with pytest.raises(ServiceError):
        normalise({"L": [{"N": "1"}] * 1_000 + [wrong]})


def test_numbers_become_canonical_at_every_depth() -> None:
    sent: Any = {
        "n": {"N": "1.0"},
        "m": {"M": {"x": {"L": [{"N": "+2"}, {"S": "+2"}, {"NS": ["1e1", "2"]}]}, "y": {"BOOL": False}}},
    }
    kept = {
        "n": {"N": "1"},
        "m": {"M": {"x": {"L": [{"N": "2"}, {"S": "+2"}, {"NS": ["2", "10"]}]}, "y": {"BOOL": False}}},
    }
    assert normalise_item(sent) == kept
    assert sent["n"] == {"N": "1.0"}, "the argument is left alone"


def test_a_missing_name_is_told_before_anything_about_a_value() -> None:
    for item in ({"a": {"N": "x"}, "": {"S": "b"}}, {"": {"S": "b"}, "a": {"N": "x"}}):
        assert refusal(lambda item=item: normalise_item(item)) == "Empty attribute name"  # type: ignore[misc]


@pytest.mark.parametrize(
    "value", [{"S": ""}, {"B": b""}, {"S": "a\0b"}, {"B": b"\0"}, {"L": []}, {"M": {}}, {"SS": [""]}]
)
def test_empty_but_legal(value: Any) -> None:
    assert normalise(value) == value


def test_buffers_become_bytes() -> None:
    assert normalise({"B": bytearray(b"ab")}) == {"B": b"ab"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, EMPTY),
        ({"a": ""}, EMPTY),
        ({"S": None}, EMPTY),
        ({"M": {"a": {}}}, EMPTY),
        ({"L": [{}]}, EMPTY),
        ({"L": [{"a": {}}]}, EMPTY),
        ({"S": "a", "N": "1"}, SEVERAL),
        ({"S": "a", "N": "b"}, "The parameter cannot be converted to a numeric value: b"),
        ({"S": "", "N": ""}, "The parameter cannot be converted to a numeric value"),
        ({"NS": ["1", ""]}, "The parameter cannot be converted to a numeric value"),
        ({"NS": ["1", "b"]}, "The parameter cannot be converted to a numeric value: b"),
        ({"NS": ["1", "1"]}, "Input collection contains duplicates"),
        ({"NS": ["1", "1.0"]}, "Input collection contains duplicates"),
        ({"NULL": False}, f"{INVALID}Null attribute value types must have the value of true"),
        ({"NULL": "no"}, f"{INVALID}Null attribute value types must have the value of true"),
        ({"SS": []}, f"{INVALID}An string set  may not be empty"),
        ({"NS": []}, f"{INVALID}An number set  may not be empty"),
        ({"BS": []}, f"{INVALID}Binary sets should not be empty"),
        ({"L": [{"M": {"x": {"SS": []}}}]}, f"{INVALID}An string set  may not be empty"),
        ({"SS": ["a", "a"]}, f"{INVALID}Input collection [a, a] contains duplicates."),
        ({"BS": [b"b", b"b"]}, f"{INVALID}Input collection [Yg==, Yg==]of type BS contains duplicates."),
    ],
)
def test_refusals(value: Any, message: str) -> None:
    assert refusal(lambda: normalise(value)) == message
    assert refusal(lambda: normalise_item({"a": value})) == message


@pytest.mark.parametrize(
    "odd",
    [
        None,
        "S",
        5,
        [],
        {"S": 1},
        {"B": "text"},
        {"L": {}},
        {"M": []},
        {"SS": "ab"},
        {"BOOL": "x"},
        {"L": [None]},
    ],
)
def test_odd_shapes_are_refused_not_tripped_over(odd: Any) -> None:
    assert refusal(lambda: normalise(odd)) == EMPTY


def test_an_absent_member_beside_a_value_is_no_second_datatype() -> None:
    assert normalise({"S": "a", "N": None}) == {"S": "a"}


def nested(levels: int, kind: str) -> Any:
    value: Any = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]} if kind == "L" else {"M": {"a": value}}
    return value


@pytest.mark.parametrize("kind", ["L", "M"])
def test_nesting_ends_at_32(kind: str) -> None:
    """The scalar within counts: 31 lists or maps around it pass."""
    assert normalise(nested(31, kind)) == nested(31, kind)
    assert refusal(lambda: normalise(nested(32, kind))) == TOO_DEEP


@pytest.mark.parametrize("character", ["a", "é", "😀"])
def test_attribute_names_end_at_65535_bytes(character: str) -> None:
    longest = character * (65535 // len(character.encode()))
    normalise_item({longest: {"S": ""}})
    assert refusal(lambda: normalise_item({longest + character: {"S": ""}})) == (
        "Attribute name is too large, must be less than 65536 bytes"
    )


def test_attribute_names_are_not_empty() -> None:
    assert str(refusal(lambda: normalise_item({"": {"S": ""}}))) == "Empty attribute name"
    assert str(refusal(lambda: normalise({"M": {"": {"S": ""}}}))) == "Empty attribute name"


def plain(value: Any) -> Any:
    """A value whose Python equality is DynamoDB's: the model that `equal` is held against."""
    datatype, content = next(iter(value.items()))
    if datatype == "L":
        return (datatype, tuple(map(plain, content)))
    if datatype == "M":
        return (datatype, frozenset((name, plain(member)) for name, member in content.items()))
    if datatype in ("SS", "NS", "BS"):
        return (datatype, frozenset(content))
    return (datatype, content)


@given(attribute_values, attribute_values)
def test_equal_is_equality_of_the_model(left: Any, right: Any) -> None:
    assert equal(left, right) == (plain(left) == plain(right))
    assert equal(left, left)


def shuffled(value: Any) -> Any:
    datatype, content = next(iter(value.items()))
    if datatype == "L":
        return {"L": [shuffled(element) for element in content]}
    if datatype == "M":
        return {"M": {name: shuffled(content[name]) for name in reversed(list(content))}}
    return {datatype: content[::-1]} if datatype in ("SS", "NS", "BS") else value


@given(attribute_values)
def test_order_in_sets_and_maps_does_not_matter_at_any_depth(value: Any) -> None:
    assert equal(value, shuffled(value))


def test_order_in_lists_matters() -> None:
    assert not equal({"L": [{"S": "a"}, {"S": "b"}]}, {"L": [{"S": "b"}, {"S": "a"}]})


@given(st.text(), st.text())
def test_strings_compare_by_utf8_bytes(left: str, right: str) -> None:
    a, b = left.encode("utf-8", "surrogatepass"), right.encode("utf-8", "surrogatepass")
    assert compare({"S": left}, {"S": right}) == (a > b) - (a < b)


@given(st.binary(), st.binary())
def test_binaries_compare_as_unsigned_bytes(left: bytes, right: bytes) -> None:
    assert compare({"B": left}, {"B": right}) == (left > right) - (left < right)


@given(number_texts, number_texts)
def test_numbers_compare_by_value(left: str, right: str) -> None:
    a, b = Decimal(left), Decimal(right)
    assert compare({"N": left}, {"N": right}) == (a > b) - (a < b)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"S": "1"}, {"N": "1"}),
        ({"BOOL": True}, {"BOOL": True}),
        ({"SS": ["a"]}, {"SS": ["a"]}),
        ({"L": []}, {"L": []}),
    ],
)
def test_other_pairs_have_no_order(left: Any, right: Any) -> None:
    assert compare(left, right) is None


@pytest.mark.parametrize(
    ("container", "operand", "result"),
    [
        ({"S": "abc"}, {"S": "bc"}, True),
        ({"S": "abc"}, {"S": "cb"}, False),
        ({"B": b"abc"}, {"B": b"bc"}, True),
        ({"S": "abc"}, {"B": b"bc"}, False),
        ({"SS": ["a", "b"]}, {"S": "b"}, True),
        ({"SS": ["a", "b"]}, {"SS": ["b"]}, False),
        ({"NS": ["1", "2"]}, {"N": "2"}, True),
        ({"NS": ["1", "2"]}, {"S": "2"}, False),
        ({"BS": [b"a"]}, {"B": b"a"}, True),
        ({"L": [{"SS": ["a", "b"]}]}, {"SS": ["b", "a"]}, True),
        ({"L": [{"N": "1"}]}, {"S": "1"}, False),
        ({"M": {"a": {"S": "a"}}}, {"S": "a"}, False),
        ({"N": "123"}, {"N": "2"}, False),
        ({"BOOL": True}, {"BOOL": True}, False),
    ],
)
def test_contains(container: Any, operand: Any, result: bool) -> None:
    assert contains(container, operand) is result


@pytest.mark.parametrize("datatype", values.DATATYPES)
def test_type_of(datatype: str) -> None:
    assert type_of({datatype: None}) == datatype
