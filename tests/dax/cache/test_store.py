"""The entry cache against a naive model that keeps a plain list in order of recency."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dax.answer import MissReason
from dax.cache.entries import FOREVER, Entry, RemovalReason
from dax.cache.store import EntryCache

CAPACITY = 10
KEYS = st.sampled_from("abcdefg")


def entry(size: int, expires_at: float = FOREVER) -> Entry:
    return Entry(0.0, expires_at, size, 0)


class EntryCacheMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.reserved = 0
        self.now = 0.0
        self.cache: EntryCache[str, Entry] = EntryCache(CAPACITY, 1000, lambda: self.reserved)
        self.order: list[str] = []  # least recent first
        self.model: dict[str, Entry] = {}
        self.reasons: dict[str, MissReason] = {}

    def drop(self, key: str, reason: MissReason) -> None:
        self.order.remove(key)
        del self.model[key]
        self.reasons[key] = reason

    def make_room(self, needed: int, room: int) -> None:
        while self.order and sum(e.size for e in self.model.values()) + needed > room:
            self.drop_oldest()

    def drop_oldest(self) -> None:
        oldest = self.order[0]
        expired = self.model[oldest].expires_at <= self.now
        self.drop(oldest, MissReason.EXPIRED if expired else MissReason.EVICTED)

    @rule(key=KEYS, size=st.integers(0, CAPACITY + 2), ttl=st.none() | st.integers(0, 5))
    def put(self, key: str, size: int, ttl: int | None) -> None:
        made = entry(size, FOREVER if ttl is None else self.now + ttl)
        room = CAPACITY - self.reserved
        fits = self.cache.put(key, made, self.now)
        assert fits == (size <= room)
        if not fits:
            if key in self.model:
                self.drop(key, MissReason.EVICTED)
            self.reasons[key] = MissReason.EVICTED
            self.make_room(0, room)
            return
        present = self.model.get(key)
        while sum(e.size for e in self.model.values()) + size - (present.size if present else 0) > room:
            self.drop_oldest()
            present = self.model.get(key)
        if key not in self.order:
            self.order.append(key)
        self.model[key] = made
        self.reasons.pop(key, None)

    @rule(key=KEYS)
    def lookup(self, key: str) -> None:
        found = self.cache.lookup(key, self.now)
        expected = self.model.get(key)
        if expected is not None and expected.expires_at <= self.now:
            self.drop(key, MissReason.EXPIRED)
            expected = None
        assert found is expected
        if found is None:
            assert self.cache.miss_reason(key) == self.reasons.get(key, MissReason.NEVER_SEEN)
        else:
            self.order.remove(key)
            self.order.append(key)

    @rule(key=KEYS, reason=st.sampled_from([RemovalReason.WRITTEN, RemovalReason.FLUSH]))
    def remove(self, key: str, reason: RemovalReason) -> None:
        assert self.cache.remove(key, reason) == (key in self.model)
        if key in self.model:
            written = reason is RemovalReason.WRITTEN
            self.drop(key, MissReason.WRITTEN if written else MissReason.FLUSHED)

    @rule(seconds=st.integers(1, 3))
    def pass_time(self, seconds: int) -> None:
        self.now += seconds

    @precondition(lambda self: self.reserved < 6)
    @rule()
    def reserve(self) -> None:
        self.reserved += 1

    @rule()
    def clear(self) -> None:
        self.cache.clear()
        self.order, self.model, self.reasons = [], {}, {}

    @invariant()
    def agrees(self) -> None:
        self.cache._check()
        assert self.cache.keys() == self.order
        assert all(self.cache.peek(key) is held for key, held in self.model.items())
        assert self.cache.size == sum(held.size for held in self.model.values())


TestEntryCache = EntryCacheMachine.TestCase
TestEntryCache.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_removals_are_counted_by_reason() -> None:
    cache: EntryCache[str, Entry] = EntryCache(2, 10)
    cache.put("a", entry(1), 0)
    cache.put("b", entry(1, 5.0), 0)
    cache.put("c", entry(1), 0)  # evicts a
    cache.put("d", entry(1), 9)  # makes room by b, which has expired
    cache.remove("c", RemovalReason.WRITTEN)
    assert cache.remove_if(lambda key: key == "d", RemovalReason.FLUSH) == 1
    assert cache.removals == dict.fromkeys(RemovalReason, 1)
    assert (cache.evictions, cache.evicted_size, len(cache)) == (1, 1, 0)


def test_the_memory_of_removed_keys_is_bounded() -> None:
    cache: EntryCache[int, Entry] = EntryCache(1, 2)
    for key in range(4):
        cache.put(key, entry(1), 0)
    reasons = [cache.miss_reason(key) for key in range(3)]
    assert reasons == [MissReason.NEVER_SEEN, MissReason.EVICTED, MissReason.EVICTED]


@pytest.mark.parametrize("capacity", [0, 3])
def test_an_entry_larger_than_the_cache_is_not_kept(capacity: int) -> None:
    cache: EntryCache[str, Entry] = EntryCache(capacity, 10)
    assert cache.put("a", entry(capacity + 1), 0) is False
    assert (cache.lookup("a", 0), cache.miss_reason("a")) == (None, MissReason.EVICTED)
