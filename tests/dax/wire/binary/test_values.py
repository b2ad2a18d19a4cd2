"""Attribute values both ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.model.numbers import canonical
from dax.wire.binary import cbor, values
from dax.wire.binary.cbor import Malformed, Tagged

numbers = st.builds(
    lambda m, e: canonical(f"{m}E{e}"), st.integers(-(10**38) + 1, 10**38 - 1), st.integers(-130, 87)
)
attribute_values = st.recursive(
    st.builds(lambda v: {"S": v}, st.text(max_size=20))
    | st.builds(lambda v: {"B": v}, st.binary(max_size=20))
    | st.builds(lambda v: {"N": v}, numbers)
    | st.builds(lambda v: {"BOOL": v}, st.booleans())
    | st.just({"NULL": True})
    | st.builds(lambda v: {"SS": v}, st.lists(st.text(max_size=5), min_size=1, unique=True))
    | st.builds(lambda v: {"NS": v}, st.lists(numbers, min_size=1, unique=True))
    | st.builds(lambda v: {"BS": v}, st.lists(st.binary(max_size=5), min_size=1, unique=True)),
    lambda inner: (
        st.builds(lambda v: {"L": v}, st.lists(inner, max_size=4))
        | st.builds(lambda v: {"M": v}, st.dictionaries(st.text(max_size=5), inner, max_size=4))
    ),
    max_leaves=12,
)


@given(attribute_values)
def test_round_trip(value):
    assert values.from_cbor(cbor.decode_whole(values.to_cbor(value))) == value


@given(attribute_values)
def test_no_float_and_no_indefinite_length_is_sent(value):
    def check(item):
        assert type(item) is not float
        for inner in item if isinstance(item, list) else item.values() if isinstance(item, dict) else ():
            check(inner)

    encoded = values.to_cbor(value)
    decoded = cbor.decode_whole(encoded)
    check(decoded)
    assert cbor.encode(decoded) == encoded


@pytest.mark.parametrize(
    "item",
    [
        {1: "x"},
        {b"k": "x"},
        Tagged(3321, [b"x"]),
        Tagged(3321, [1]),
        Tagged(3322, ["1"]),
        Tagged(3323, ["x"]),
        Tagged(3324, 1),
        [Tagged(3324, 1)],
    ],
)
def test_what_is_no_value(item):
    with pytest.raises(Malformed):
        values.from_cbor(item)
