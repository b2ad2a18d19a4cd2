"""LexDecimal: the published vectors, the order, and every spelling."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.model.numbers import canonical
from dax.wire.binary import lexdecimal
from dax.wire.binary.cbor import Malformed

VECTORS = {
    "0": "80",
    "1": "c11c0000",
    "12": "c2210010",
    "123": "c321c020",
    "1234": "c421d9c000",
    "1E+125": "fe8000007e1c0000",
    "1E-130": "817fffff7f1c0000",
    "9" * 38: "e6fcff3fcff3fcff3fcff3fcff3fcff3fa8010",
    "-1": "3ee3fff0",
    "-1234": "3bde263ffc",
    "-0.001": "41e3fff0",
    "0.5": "c0800000",
    "1.5": "c1288010",
    "-1E+125": "017fffff81e3fff0",
    "42": "c26c0010",
    "-" + "9" * 38: "190300c0300c0300c0300c0300c0300c057fe0",
}
canonical_numbers = st.builds(
    lambda mantissa, exponent: canonical(f"{mantissa}E{exponent}"),
    st.integers(-(10**38) + 1, 10**38 - 1),
    st.integers(-130, 87),
)


@pytest.mark.parametrize(("number", "encoded"), VECTORS.items())
def test_vectors(number, encoded):
    assert lexdecimal.encode(canonical(number)).hex() == encoded
    assert lexdecimal.decode(bytes.fromhex(encoded)) == canonical(number)


def test_other_spellings():
    assert lexdecimal.decode(bytes.fromhex("7f")) == "0"
    assert lexdecimal.decode(bytes.fromhex("c31c0020")) == "100"
    assert lexdecimal.decode(bytes.fromhex("c31c0000")) == "100"


@given(canonical_numbers)
def test_round_trip(number):
    assert lexdecimal.decode(lexdecimal.encode(number)) == number


@given(canonical_numbers, canonical_numbers)
def test_it_sorts_like_the_number(one, other):
    if Decimal(one) < Decimal(other):
        assert lexdecimal.encode(one) < lexdecimal.encode(other)


@pytest.mark.parametrize(
    "data", ["", "00", "ff", "c1", "c11c", "fe8000", "c10000", "c1ffffff", "c1" + "1c" * 300]
)
def test_what_is_none(data):
    with pytest.raises(Malformed):
        lexdecimal.decode(bytes.fromhex(data))
