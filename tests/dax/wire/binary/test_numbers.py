"""Numbers: every encoding a client uses, and the one that answers use."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import ServiceError
from backend.model.numbers import canonical
from dax.wire.binary import cbor, numbers
from dax.wire.binary.cbor import Malformed

# Every canonical number: up to 38 digits, any place of the point within the range.
canonical_numbers = st.builds(
    lambda mantissa, exponent: canonical(f"{mantissa}E{exponent}"),
    st.integers(-(10**38) + 1, 10**38 - 1),
    st.integers(-130, 87),
)


@pytest.mark.parametrize(
    ("encoded", "text"),
    [
        ("00", "0"),
        ("18 2a", "42"),
        ("3bffffffffffffffff", "-18446744073709551616"),
        ("c249010000000000000000", "18446744073709551616"),
        ("c48220387c", "-12.5"),
        ("c482 21 1896", "1.5"),
        ("c482 03 01", "1000"),
        ("fb3fb999999999999a", "0.1"),
        ("fb3ff8000000000000", "1.5"),
        ("f93e00", "1.5"),
        ("fb8000000000000000", "0"),
        ("fb3e7ad7f29abcaf48", "0.0000001"),
        ("c482 00 00", "0"),
        ("c482 3a7fffffff 00", "0"),
    ],
)
def test_decoding(encoded, text):
    assert numbers.from_cbor(cbor.decode_whole(bytes.fromhex(encoded))) == text


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("0", "00"),
        ("-1", "20"),
        ("18446744073709551615", "1bffffffffffffffff"),
        ("18446744073709551616", "c249010000000000000000"),
        ("-12.5", "c48220387c"),
        ("0.05", "c4822105"),
        ("1.0", "01"),
        ("1E3", "1903e8"),
    ],
)
def test_encoding(text, encoded):
    assert numbers.to_cbor(text).hex() == encoded


@given(canonical_numbers)
def test_round_trip(number):
    encoded = numbers.to_cbor(number)
    assert numbers.from_cbor(cbor.decode_whole(encoded)) == number
    assert encoded[0] not in (0xF9, 0xFA, 0xFB)


@given(st.integers(-(10**20), 10**20), st.integers(-20, 20))
def test_all_spellings_of_a_number_are_one(mantissa, exponent):
    as_sent = numbers.from_cbor(cbor.DecimalFraction(exponent, mantissa))
    padded = numbers.from_cbor(cbor.DecimalFraction(exponent - 3, mantissa * 1000))
    assert as_sent == padded
    assert Decimal(as_sent) == Decimal(mantissa).scaleb(exponent)


@pytest.mark.parametrize(
    "value",
    [
        10**126,
        -(10**126),
        10**38 + 1,
        1 << 5000,
        -(1 << 5000),
        float("nan"),
        float("inf"),
        cbor.DecimalFraction(126, 1),
        cbor.DecimalFraction(-131, 1),
        cbor.DecimalFraction(10**18, 1),
        cbor.DecimalFraction(-(10**18), 1),
        cbor.DecimalFraction(0, 1 << 5000),
    ],
)
def test_out_of_range(value):
    with pytest.raises(ServiceError) as refused:
        numbers.from_cbor(value)
    assert refused.value.code == "ValidationException"


@pytest.mark.parametrize("value", [None, "1", b"1", True, []])
def test_what_is_no_number(value):
    with pytest.raises(Malformed):
        numbers.from_cbor(value)
