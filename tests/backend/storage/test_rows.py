"""Rows as bytes and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.storage.rows import decode_row, encode_row

scalars = st.one_of(
    st.builds(lambda text: {"S": text}, st.text()),
    st.builds(lambda number: {"N": str(number)}, st.integers()),
    st.builds(lambda data: {"B": data}, st.binary()),
    st.builds(lambda flag: {"BOOL": flag}, st.booleans()),
    st.just({"NULL": True}),
    st.builds(lambda texts: {"SS": texts}, st.lists(st.text())),
    st.builds(lambda data: {"BS": data}, st.lists(st.binary())),
)
names = st.one_of(st.text(max_size=5), st.sampled_from(["B", "BS", "L", "M", "S"]))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.builds(lambda items: {"L": items}, st.lists(inner, max_size=3)),
        st.builds(lambda items: {"M": items}, st.dictionaries(names, inner, max_size=3)),
    ),
    max_leaves=8,
)


@given(item=st.dictionaries(names, values, max_size=5), size=st.integers(0, 2**40))
def test_a_row_comes_back_equal(item, size):
    assert decode_row(encode_row((item, size))) == (item, size)


def test_an_item_without_binary_is_not_walked():
    assert encode_row(({"B": {"S": "B"}}, 2))[:1] == b"\x01"
    assert encode_row(({"B": {"B": b""}}, 1))[:1] == b"\x02"


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x03[{},0]", b"\x01", b"\x01[1"])
def test_other_bytes_are_refused(data):
    with pytest.raises(ValueError):
        decode_row(data)


def test_what_no_attribute_can_be_is_refused():
    with pytest.raises(TypeError):
        encode_row(({"a": {"S": object()}}, 1))
