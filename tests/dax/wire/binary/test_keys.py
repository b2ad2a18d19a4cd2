"""Keys of all twelve schemas."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import ServiceError
from backend.model.keys import KeyAttribute, KeySchema
from backend.model.numbers import canonical
from dax.wire.binary import keys
from dax.wire.binary.cbor import Malformed

numbers = st.builds(
    lambda m, e: canonical(f"{m}E{e}"), st.integers(-(10**38) + 1, 10**38 - 1), st.integers(-130, 87)
)
contents = {"S": st.text(min_size=1, max_size=20), "N": numbers, "B": st.binary(min_size=1, max_size=20)}


def schema_of(partition, sort=None):
    return KeySchema(KeyAttribute("h", partition), KeyAttribute("r", sort) if sort else None)


@pytest.mark.parametrize("partition", "SNB")
@pytest.mark.parametrize("sort", [None, "S", "N", "B"])
@given(data=st.data())
def test_round_trip(partition, sort, data):
    key = {"h": {partition: data.draw(contents[partition])}}
    if sort:
        key["r"] = {sort: data.draw(contents[sort])}
    schema = schema_of(partition, sort)
    assert keys.decode(schema, keys.encode(schema, {**key, "other": {"S": "x"}})) == key


@pytest.mark.parametrize(
    ("schema", "encoded", "key"),
    [
        (schema_of("S"), "7276", {"h": {"S": "rv"}}),
        (schema_of("B"), "00ff", {"h": {"B": b"\x00\xff"}}),
        (schema_of("N"), "182a", {"h": {"N": "42"}}),
        (schema_of("N"), "c482201901a4", {"h": {"N": "42"}}),
        (schema_of("N"), "fb4045000000000000", {"h": {"N": "42"}}),
        (schema_of("S", "S"), "615431", {"h": {"S": "T"}, "r": {"S": "1"}}),
        (schema_of("N", "N"), "01c26c0010", {"h": {"N": "1"}, "r": {"N": "42"}}),
        (schema_of("B", "B"), "4100ff", {"h": {"B": b"\x00"}, "r": {"B": b"\xff"}}),
        (schema_of("S", "S"), "6154", {"h": {"S": "T"}, "r": {"S": ""}}),
    ],
)
def test_decoding(schema, encoded, key):
    assert keys.decode(schema, bytes.fromhex(encoded)) == key


@pytest.mark.parametrize(
    ("schema", "data"),
    [
        (schema_of("S"), b"\xff"),
        (schema_of("S"), "text"),
        (schema_of("N"), b""),
        (schema_of("N"), b"\x01\x01"),
        (schema_of("N"), b"\x61x"),
        (schema_of("S", "S"), b""),
        (schema_of("S", "S"), b"\x62x"),
        (schema_of("S", "S"), b"\x61x\xff"),
        (schema_of("S", "N"), b"\x61x"),
    ],
)
def test_what_is_no_key(schema, data):
    with pytest.raises(Malformed):
        keys.decode(schema, data)


def test_a_partition_key_of_another_type():
    with pytest.raises(ServiceError, match="does not match the schema"):
        keys.decode(schema_of("S", "S"), b"\x01x")
