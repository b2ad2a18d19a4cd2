"""The eviction order, alone."""

from __future__ import annotations

import pytest

from dax.cache.recency import RecencyCache


def make(maxsize: int) -> tuple[RecencyCache[str, int], list[str]]:
    evicted: list[str] = []
    return RecencyCache(maxsize, lambda value: value, lambda key, value: evicted.append(key)), evicted


def test_a_read_makes_recent_and_an_overwrite_does_not():
    cache, evicted = make(3)
    for key in "abc":
        cache[key] = 1
    assert cache["a"] == 1
    cache["b"] = 1
    cache["d"] = 1
    assert (evicted, cache.keys_by_recency()) == (["b"], ["c", "a", "d"])


def test_looking_on_changes_nothing():
    cache, evicted = make(2)
    cache["a"] = cache["b"] = 1
    assert (cache.peek("a"), cache.peek("z"), "a" in cache) == (1, None, True)
    cache["c"] = 1
    assert evicted == ["a"]


def test_a_larger_value_in_the_place_of_a_smaller_makes_room():
    cache, evicted = make(4)
    cache["a"], cache["b"], cache["c"] = 1, 1, 1
    cache["c"] = 3
    assert (evicted, cache.currsize) == (["a"], 4)


def test_what_can_never_fit_is_refused_and_an_empty_cache_has_nothing_to_evict():
    cache, evicted = make(2)
    with pytest.raises(ValueError, match="too large"):
        cache["a"] = 3
    with pytest.raises(KeyError):
        cache.popitem()
    cache["a"] = 1
    cache.clear()
    assert (len(cache), cache.currsize, evicted) == (0, 0, [])
