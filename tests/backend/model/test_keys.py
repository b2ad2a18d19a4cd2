"""Storage keys keep the order of keys, tell keys apart, and are refused with the service's words."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import ServiceError
from backend.model import keys
from backend.model.keys import KeyAttribute, KeySchema, check_index_attributes, check_item, check_key, encode
from backend.model.numbers import canonical

HASH = KeySchema(KeyAttribute("a", "S"))
TABLES = {sort: KeySchema(KeyAttribute("a", "S"), KeyAttribute("b", sort)) for sort in "SNB"}
WIDE = KeySchema(
    KeyAttribute("a", "S"),
    KeyAttribute("b", "S"),
    more_partition=(KeyAttribute("c", "N"),),
    more_sort=(KeyAttribute("d", "B"),),
)
MISMATCH = "The provided key element does not match the schema"

texts = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=4)
binaries = st.binary(min_size=1, max_size=4) | st.lists(
    st.sampled_from([b"\x00", b"\x01", b"\xff"]), min_size=1, max_size=4
).map(b"".join)
numerals = st.decimals(-1000, 1000, places=2).map(lambda value: canonical(str(value)))


def message_of(act: Callable[[], object]) -> str | None:
    with pytest.raises(ServiceError) as refused:
        act()
    assert refused.value.code == "ValidationException"
    return refused.value.message


@given(binaries, binaries)
def test_binary_sort_keys_keep_their_order(left: bytes, right: bytes) -> None:
    schema = TABLES["B"]
    a, b = (encode(schema, {"a": {"S": "p"}, "b": {"B": content}}) for content in (left, right))
    assert (a < b) == (left < right)
    assert (a == b) == (left == right)
    assert left == right or not b.startswith(a)


@given(texts, texts)
def test_string_sort_keys_keep_their_order(left: str, right: str) -> None:
    schema = TABLES["S"]
    a, b = (encode(schema, {"a": {"S": "p"}, "b": {"S": content}}) for content in (left, right))
    assert (a < b) == (left.encode() < right.encode())
    assert (a == b) == (left == right)


@given(numerals, numerals)
def test_number_sort_keys_keep_their_order(left: str, right: str) -> None:
    schema = TABLES["N"]
    a, b = (encode(schema, {"a": {"S": "p"}, "b": {"N": content}}) for content in (left, right))
    assert (a < b) == (Decimal(left) < Decimal(right))
    assert (a == b) == (Decimal(left) == Decimal(right))


wide_keys = st.fixed_dictionaries(
    {
        "a": texts.map(lambda text: {"S": text}),
        "b": texts.map(lambda text: {"S": text}),
        "c": numerals.map(lambda text: {"N": text}),
        "d": binaries.map(lambda content: {"B": content}),
    }
)


@given(wide_keys, wide_keys)
def test_encoding_tells_all_keys_apart(left: Any, right: Any) -> None:
    for schema in (HASH, TABLES["S"], WIDE):
        a, b = keys.key_of(schema, left), keys.key_of(schema, right)
        assert (encode(schema, a) == encode(schema, b)) == (a == b)
        assert a == b or not encode(schema, a).startswith(encode(schema, b))


@given(wide_keys, wide_keys)
def test_several_sort_attributes_order_one_after_the_other(left: Any, right: Any) -> None:
    right = {**right, "a": left["a"], "c": left["c"]}
    order = [(key["b"]["S"].encode(), key["d"]["B"]) for key in (left, right)]
    assert (encode(WIDE, left) < encode(WIDE, right)) == (order[0] < order[1])


@given(wide_keys)
def test_a_partition_is_one_prefix(key: Any) -> None:
    for schema in (HASH, TABLES["S"], WIDE):
        assert encode(schema, key).startswith(keys.partition_prefix(schema, key))


def test_no_partition_is_a_prefix_of_another() -> None:
    prefixes = {keys.partition_prefix(HASH, {"a": {"S": "x" * n}})[8:] for n in range(1, 50)}
    assert not any(a != b and a.startswith(b) for a in prefixes for b in prefixes)


def test_the_hash_never_changes() -> None:
    """Stored tables and recorded seeds depend on it."""
    assert encode(HASH, {"a": {"S": "user#1"}}).hex() == "8b542929238862fe0006" + b"user#1".hex()


@given(wide_keys, wide_keys)
def test_the_tail_of_an_index_key_tells_all_table_keys_apart(left: Any, right: Any) -> None:
    for schema in (HASH, TABLES["S"]):
        a, b = (keys.index_tail(encode(schema, key)) for key in (left, right))
        assert (a == b) == (keys.key_of(schema, left) == keys.key_of(schema, right))
        assert a == b or not a.startswith(b)


@pytest.mark.parametrize("sort", [b"x", b"\x00", b"a\x00\x01\x00"])
def test_the_tail_of_an_index_key_has_the_hash_of_the_whole_table_key(sort: bytes) -> None:
    table_key = encode(TABLES["B"], {"a": {"S": "p"}, "b": {"B": sort}})
    whole = encode(HASH, {"a": {"S": "p" + sort.decode()}})
    assert keys.index_tail(table_key) == whole[:8] + table_key[8:]


@given(st.integers(1, 1000), wide_keys)
def test_segments_cover_every_key_once(total: int, key: Any) -> None:
    storage_key = encode(HASH, key)
    holders = []
    for segment in range(total):
        start, stop = keys.segment_bounds(segment, total)
        if start <= storage_key and (stop is None or storage_key < stop):
            holders.append(segment)
    assert len(holders) == 1


@given(st.binary(max_size=4), st.binary(max_size=6))
def test_successor_bounds_a_prefix(prefix: bytes, other: bytes) -> None:
    end = keys.successor(prefix)
    inside = other >= prefix and (end is None or other < end)
    assert inside == other.startswith(prefix)


def test_check_key_gives_the_canonical_key() -> None:
    assert check_key(TABLES["N"], {"b": {"N": "1.0"}, "a": {"S": "x"}}) == {"a": {"S": "x"}, "b": {"N": "1"}}


@pytest.mark.parametrize(
    "key",
    [
        {},
        {"b": {"S": "x"}},
        {"a": {"S": "x"}, "b": {"S": "x"}},
        {"a": {"N": "1"}},
        {"a": {"NULL": True}},
        {"a": {"SS": ["x"]}},
    ],
)
def test_keys_that_are_not_the_schemas(key: Any) -> None:
    assert message_of(lambda: check_key(HASH, key)) == MISMATCH


@pytest.mark.parametrize("odd", [5, "x", [], {}, {"S": 5}, {"S": "x", "N": "1"}])
def test_odd_shapes_are_refused_not_tripped_over(odd: Any) -> None:
    assert message_of(lambda: check_key(HASH, {"a": odd})) is not None


def test_empty_keys() -> None:
    empty = "The AttributeValue for a key attribute cannot contain an empty"
    assert message_of(lambda: check_key(HASH, {"a": {"S": ""}})) == (
        f"One or more parameter values are not valid. {empty} string value. Key: a"
    )
    assert message_of(lambda: check_key(TABLES["B"], {"a": {"S": "x"}, "b": {"B": b""}})) == (
        f"One or more parameter values are not valid. {empty} binary value. Key: b"
    )


@pytest.mark.parametrize("character", ["x", "é", "😀"])
def test_key_lengths(character: str) -> None:
    width = len(character.encode())
    partition, sort = character * (2048 // width), character * (1024 // width)
    check_key(TABLES["S"], {"a": {"S": partition}, "b": {"S": sort}})
    assert message_of(lambda: check_key(HASH, {"a": {"S": partition + "x"}})) == (
        "One or more parameter values were invalid: "
        "Size of hashkey has exceeded the maximum size limit of2048 bytes"
    )
    assert message_of(lambda: check_item(TABLES["S"], {"a": {"S": "x"}, "b": {"S": sort + "x"}})) == (
        "One or more parameter values were invalid: "
        "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
    )


def test_items_to_put() -> None:
    check_item(TABLES["S"], {"a": {"S": "x"}, "b": {"S": "y"}, "c": {"NULL": True}})
    assert message_of(lambda: check_item(TABLES["S"], {"a": {"S": "x"}})) == (
        "One or more parameter values were invalid: Missing the key b in the item"
    )
    assert message_of(lambda: check_item(HASH, {"a": {"N": "1"}})) == (
        "One or more parameter values were invalid: Type mismatch for key a expected: S actual: N"
    )


def test_index_attributes() -> None:
    index = KeySchema(KeyAttribute("c", "S"), KeyAttribute("d", "N"))
    check_index_attributes(index, "i", {"a": {"S": "x"}})
    check_index_attributes(index, "i", {"c": {"S": "x"}, "d": {"N": "1"}})
    assert message_of(lambda: check_index_attributes(index, "i", {"c": {"NULL": True}})) == (
        "One or more parameter values were invalid: "
        "Type mismatch for Index Key c Expected: S Actual: NULL IndexName: i"
    )
    assert message_of(lambda: check_index_attributes(index, "i", {"c": {"NULL": True}}, update=True)) == (
        "The update expression attempted to update the secondary index key to unsupported type"
    )
    assert message_of(lambda: check_index_attributes(index, "i", {"c": {"S": ""}})) == (
        "One or more parameter values are not valid. "
        "A value specified for a secondary index key is not supported. "
        "The AttributeValue for a key attribute cannot contain an empty string value. "
        "IndexName: i, IndexKey: c"
    )
    assert message_of(lambda: check_index_attributes(index, "i", {"c": {"S": ""}}, update=True)) == (
        "One or more parameter values are not valid. "
        "The update expression attempted to update a secondary index key to a value that is not supported. "
        "The AttributeValue for a key attribute cannot contain an empty string value."
    )
    with pytest.raises(ServiceError, match="Size of hashkey"):
        check_index_attributes(index, "i", {"c": {"S": "x" * 2049}})
    assert message_of(lambda: check_index_attributes(index, "i", {"c": {"S": "x" * 2049}}, update=True)) == (
        "The update expression attempted to update the secondary index key beyond allowed size limits"
    )


def test_has_key() -> None:
    index = KeySchema(KeyAttribute("c", "S"), KeyAttribute("d", "N"))
    assert keys.has_key(index, {"c": {"S": "x"}, "d": {"N": "0"}})
    for item in ({"c": {"S": "x"}}, {"c": {"S": ""}, "d": {"N": "0"}}, {"c": {"N": "1"}, "d": {"N": "0"}}):
        assert not keys.has_key(index, item)
