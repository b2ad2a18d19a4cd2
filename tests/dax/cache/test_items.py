"""The item cache: weights, times, snapshots and attribute lists."""

from __future__ import annotations

from dax.answer import MissReason
from dax.cache.entries import FOREVER
from dax.cache.items import ENTRY_OVERHEAD, ItemCache

KEY = ("Table", b"key")


def test_an_entry_weighs_its_key_its_item_and_an_overhead():
    cache = ItemCache(10_000, 300, 10)
    cache.keep(KEY, None, 0.0, 1, 0.0)
    assert cache.size == len("Table") + len(b"key") + ENTRY_OVERHEAD
    cache.keep(KEY, {"v": {"S": "x" * 50}}, 0.0, 2, 0.0)
    assert cache.size == len("Table") + len(b"key") + ENTRY_OVERHEAD + 51
    unit = ItemCache(3, 300, 10, unit_size=True)
    unit.keep(KEY, {"v": {"S": "x" * 50}}, 0.0, 1, 0.0)
    assert unit.size == 1


def test_an_entry_lives_from_when_it_was_stored():
    cache = ItemCache(10_000, 300, 10)
    cache.keep(KEY, None, 100.0, 1, 350.0)
    assert cache.lookup(KEY, 399.9) is not None
    assert cache.lookup(KEY, 400.0) is None
    eternal = ItemCache(10_000, 0, 10)
    eternal.keep(KEY, None, 100.0, 1, 350.0)
    entry = eternal.peek(KEY)
    assert entry is not None
    assert (entry.expires_at, entry.negative, entry.response) == (FOREVER, True, {})


def test_a_snapshot_keeps_recency_and_leaves_out_what_has_expired():
    cache = ItemCache(10_000, 10, 10)
    for n in range(3):
        cache.keep(("Table", bytes([n])), {"v": {"N": str(n)}}, float(n), n, 5.0)
    cache.lookup(("Table", b"\x01"), 5.0)
    entries = cache.snapshot(10.0)
    assert [kept.key[1] for kept in entries] == [b"\x02", b"\x01"]
    copy = ItemCache(10_000, 10, 10)
    copy.keep(KEY, None, 0.0, 1, 0.0)
    copy.replace(entries, 10.0)
    assert (copy.snapshot(10.0), copy.keys()) == (entries, [kept.key for kept in entries])


def test_flushing_takes_an_entry_a_table_or_all():
    cache = ItemCache(10_000, 10, 10)
    for table in ("One", "Two"):
        for n in range(2):
            cache.keep((table, bytes([n])), None, 0.0, 1, 0.0)
    assert (cache.flush(0, "One", b"\x00"), cache.flush(0, "One"), cache.flush(0, "One"), cache.flush(0)) == (
        1,
        1,
        0,
        2,
    )


def test_what_is_of_before_a_flush_is_not_kept_after_it():
    cache = ItemCache(10_000, 0, 10)
    cache.flush(5.0, "Table", b"key")
    cache.flush(6.0, "Other")
    for table, key, stored_at, kept in (
        ("Table", b"key", 4.9, False),
        ("Table", b"key", 5.0, True),
        ("Table", b"another", 4.9, True),
        ("Other", b"key", 5.9, False),
    ):
        assert cache.keep((table, key), None, stored_at, 1, 7.0) is kept
    cache.keep(KEY, {"v": {"N": "1"}}, 4.0, 2, 7.0)
    assert (KEY in cache, cache.miss_reason(KEY)) == (False, MissReason.FLUSHED)
    cache.flush(8.0)
    assert not cache.keep(("Table", b"another"), None, 7.9, 3, 9.0)


def test_flushes_past_remembering_count_for_everything():
    cache = ItemCache(10_000, 0, 10)
    for n in range(1_001):
        cache.flush(float(n), "Table", n.to_bytes(2, "big"))
    assert not cache.keep(KEY, None, 999.0, 1, 2000.0)
    assert cache.keep(KEY, None, 1000.0, 1, 2000.0)
    assert len(cache._flushed) == 1


def test_each_list_of_names_is_charged_once_and_for_ever():
    cache = ItemCache(10_000, 10, 10)
    for item in ({"a": {"S": "x"}, "é": {"S": "x"}}, {"é": {"S": "y"}, "a": {"S": "y"}}, {"a": {"S": "x"}}):
        cache.keep(KEY, item, 0.0, 1, 0.0)
    cache.flush(0)
    assert (len(cache.attribute_lists), cache.attribute_lists.size) == (2, 4)
