"""The CBOR dialect: RFC 8949's own examples, what DAX adds, and what must be refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dax.wire.binary import cbor
from dax.wire.binary.cbor import DecimalFraction, Incomplete, Malformed, Scanner, Tagged

# RFC 8949, appendix A, as far as the dialect goes.
RFC_EXAMPLES = [
    ("00", 0),
    ("17", 23),
    ("1818", 24),
    ("1903e8", 1000),
    ("1a000f4240", 1000000),
    ("1b000000e8d4a51000", 1000000000000),
    ("1bffffffffffffffff", 18446744073709551615),
    ("c249010000000000000000", 18446744073709551616),
    ("3bffffffffffffffff", -18446744073709551616),
    ("c349010000000000000000", -18446744073709551617),
    ("20", -1),
    ("3903e7", -1000),
    ("fb3ff199999999999a", 1.1),
    ("f4", False),
    ("f5", True),
    ("f6", None),
    ("40", b""),
    ("4401020304", b"\x01\x02\x03\x04"),
    ("60", ""),
    ("6449455446", "IETF"),
    ("62c3bc", "ü"),
    ("64f0908591", "𐅑"),
    ("80", []),
    ("8301820203820405", [1, [2, 3], [4, 5]]),
    ("98190102030405060708090a0b0c0d0e0f101112131415161718181819", [*range(1, 26)]),
    ("a0", {}),
    ("a201020304", {1: 2, 3: 4}),
    ("826161a161626163", ["a", {"b": "c"}]),
]
DECODED_ONLY = [
    ("f93c00", 1.0),
    ("f90001", 5.960464477539063e-8),
    ("fa47c35000", 100000.0),
    ("5f42010243030405ff", b"\x01\x02\x03\x04\x05"),
    ("7f657374726561646d696e67ff", "streaming"),
    ("9fff", []),
    ("9f018202039f0405ffff", [1, [2, 3], [4, 5]]),
    ("bf61610161629f0203ffff", {"a": 1, "b": [2, 3]}),
    ("1800", 0),
    ("1900ff", 255),
    ("a201020103", {1: 3}),  # the last of a repeated key
    ("c48221196ab3", DecimalFraction(-2, 27315)),
    ("d90cf9816161", Tagged(3321, ["a"])),
    ("d90cfc02", Tagged(3324, 2)),
]
MALFORMED = [
    "1c",
    "1f",
    "ff",
    "f7",
    "f0",
    "f818",
    "81ff",
    "a1ff",
    "bf01ff",
    "5f6161ff",
    "5f5f4101ffff",
    "a18001",
    "61ff",
    "c1f6",
    "c200",
    "c48101",
    "c482f600",
    "d90cf900",
    "d90cfc6161",
    "d9ffff00",
]

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False)
    | st.binary(max_size=40)
    | st.text(max_size=40)
    | st.builds(DecimalFraction, st.integers(-200, 200), st.integers(-(2**130), 2**130))
    | st.builds(Tagged, st.just(3321), st.lists(st.text(max_size=5), max_size=3))
    | st.builds(Tagged, st.just(3324), st.integers(0, 100)),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(max_size=5) | st.integers(0, 30), inner, max_size=5)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize(("encoded", "value"), RFC_EXAMPLES)
def test_examples_both_ways(encoded, value):
    assert cbor.decode_whole(bytes.fromhex(encoded)) == value
    assert cbor.encode(value) == bytes.fromhex(encoded)


@pytest.mark.parametrize(("encoded", "value"), DECODED_ONLY)
def test_other_forms_are_decoded(encoded, value):
    assert cbor.decode_whole(bytes.fromhex(encoded)) == value


def test_special_floats():
    assert cbor.decode_whole(bytes.fromhex("f97c00")) == math.inf
    assert math.isnan(cbor.decode_whole(bytes.fromhex("f97e00")))


@pytest.mark.parametrize("encoded", MALFORMED)
def test_what_is_no_item_of_the_dialect(encoded):
    with pytest.raises(Malformed):
        cbor.decode(bytes.fromhex(encoded) + b"\x00" * 20)


def test_nesting_is_bounded():
    with pytest.raises(Malformed, match="too deeply"):
        cbor.decode(b"\x81" * 100 + b"\x00", 0)
    assert cbor.decode(b"\x81" * 60 + b"\x00", 0)[1] == 61
    with pytest.raises(Malformed, match="too deeply"):
        cbor.decode(b"\xc2" * 100 + b"\x40", 0)


def test_a_declared_length_costs_nothing():
    for head in ("9bffffffffffffffff", "bbffffffffffffffff", "5bffffffffffffffff", "7bffffffffffffffff"):
        with pytest.raises(Incomplete):
            cbor.decode(bytes.fromhex(head))


def test_a_run():
    assert cbor.decode_run(bytes.fromhex("01616180")) == [1, "a", []]
    assert cbor.decode_run(b"") == []
    with pytest.raises(Malformed, match="cut short"):
        cbor.decode_run(bytes.fromhex("0162"))
    with pytest.raises(Malformed, match="1 bytes follow"):
        cbor.decode_whole(bytes.fromhex("0101"))
    with pytest.raises(Malformed, match="cut short"):
        cbor.decode_whole(b"")


def test_what_has_no_encoding():
    with pytest.raises(TypeError):
        cbor.encode(object())


@given(values)
def test_round_trip(value):
    assert cbor.decode_whole(cbor.encode(value)) == value


@given(values)
def test_every_prefix_is_incomplete(value):
    encoded = cbor.encode(value)
    for end in range(len(encoded)):
        with pytest.raises(Incomplete):
            cbor.decode(encoded[:end])
    assert cbor.decode(encoded + b"\xff\x00") == (value, len(encoded))


@given(st.lists(values, min_size=1, max_size=4), st.integers(1, 7))
def test_the_scanner_finds_the_end_in_pieces(items, piece):
    encoded = b"".join(map(cbor.encode, items))
    buffer = bytearray()
    scanner = Scanner(len(items), 0, max_bytes=10_000, max_elements=1_000)
    for start in range(0, len(encoded), piece):
        assert not scanner.scan(buffer)
        buffer += encoded[start : start + piece]
    buffer += b"\xff"
    assert scanner.scan(buffer)
    assert scanner.position == len(encoded)


@given(st.binary(max_size=60))
def test_the_scanner_and_the_decoder_agree_on_noise(noise):
    try:
        _, end = cbor.decode(noise)
    except (Incomplete, Malformed):
        return
    scanner = Scanner(1, 0, max_bytes=1_000, max_elements=1_000)
    assert scanner.scan(noise)
    assert scanner.position == end


@given(st.integers(-(2**70), 2**70))
def test_integers_are_of_the_shortest_form(number):
    encoded = cbor.integer(number)
    if -(2**64) <= number < 2**64:
        magnitude = number if number >= 0 else -1 - number
        width = next(
            w for limit, w in ((24, 1), (2**8, 2), (2**16, 3), (2**32, 5), (2**64, 9)) if magnitude < limit
        )
        assert len(encoded) == width
    else:
        assert encoded[0] in (0xC2, 0xC3)


def test_a_number_that_nobody_could_store_or_print_is_refused():
    longest = cbor.encode(1 << 8191)
    assert cbor.decode_whole(longest) == 1 << 8191
    for value in (1 << 8192, -(1 << 8193)):
        with pytest.raises(Malformed, match="more digits"):
            cbor.decode_whole(cbor.encode(value))
