"""A cache of entries: capacity by recency, expiry by time, and a memory of what left and why.

The node reads its clock once per operation and passes `now` in, so a compound operation sees one instant.
An expired entry is found by the read that would have used it, or by the eviction that needed its room;
either way it counts as removed by TTL.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from dax.answer import MissReason
from dax.cache.entries import Entry, RemovalReason
from dax.cache.recency import RecencyCache

K = TypeVar("K", bound=Hashable)
E = TypeVar("E", bound=Entry)

_MISS_REASONS = {
    RemovalReason.TTL: MissReason.EXPIRED,
    RemovalReason.CAPACITY: MissReason.EVICTED,
    RemovalReason.WRITTEN: MissReason.WRITTEN,
    RemovalReason.FLUSH: MissReason.FLUSHED,
}


def _size(entry: Entry) -> int:
    return entry.size


class EntryCache(Generic[K, E]):
    """Entries by key, within `capacity` (the unit of `Entry.size`).

    `reserved()` is what others occupy of the same capacity. `removals` counts entries by reason;
    `evicted_size` sums the sizes that made room.
    """

    def __init__(self, capacity: int, removal_memory: int, reserved: Callable[[], int] = lambda: 0) -> None:
        self.capacity = capacity
        self.removals: dict[RemovalReason, int] = dict.fromkeys(RemovalReason, 0)
        self.evicted_size = 0
        self._entries: RecencyCache[K, E] = RecencyCache(capacity, _size, self._on_evicted)
        self._reserved = reserved
        self._removed: OrderedDict[K, RemovalReason] = OrderedDict()
        self._removal_memory = removal_memory
        self._now = 0.0

    def lookup(self, key: K, now: float) -> E | None:
        """The live entry for `key`, which becomes the most recent; None on a miss. O(1)."""
        try:
            entry = self._entries[key]
        except KeyError:
            return None
        if now < entry.expires_at:
            return entry
        self._remove(key, RemovalReason.TTL)
        return None

    def peek(self, key: K) -> E | None:
        """The entry for `key`, expired or not; nothing changes. O(1)."""
        return self._entries.peek(key)

    def put(self, key: K, entry: E, now: float) -> bool:
        """Keep `entry` in place of what is there. False when it can never fit. O(1) per eviction."""
        self._now = now
        entries = self._entries
        room = self.capacity - self._reserved()
        if entry.size > room:
            self.forget(key, RemovalReason.CAPACITY)
            while entries.currsize > max(room, 0):
                entries.popitem()
            return False
        present = entries.peek(key)
        growth = entry.size if present is None else entry.size - present.size
        while entries.currsize + growth > room:
            if entries.popitem()[0] == key:
                growth = entry.size
        entries[key] = entry
        self._removed.pop(key, None)
        return True

    def remove(self, key: K, reason: RemovalReason) -> bool:
        """Take the entry out, if there is one. O(1)."""
        if key not in self._entries:
            return False
        self._remove(key, reason)
        return True

    def forget(self, key: K, reason: RemovalReason) -> None:
        """Take the entry out if there is one, and let `reason` explain the next miss in any case. O(1)."""
        if not self.remove(key, reason):
            self._remember(key, reason)

    def remove_if(self, unwanted: Callable[[K], bool], reason: RemovalReason) -> int:
        """Take out every entry whose key is `unwanted`; how many there were. O(n)."""
        keys = [key for key in self._entries.keys_by_recency() if unwanted(key)]
        for key in keys:
            self._remove(key, reason)
        return len(keys)

    def clear(self) -> None:
        """Forget everything, removed keys included, as a restarted node has. Counts nothing. O(n)."""
        self._entries.clear()
        self._removed.clear()

    def miss_reason(self, key: K) -> MissReason:
        """Why a lookup of an absent `key` misses, as far as it is remembered. O(1)."""
        reason = self._removed.get(key)
        return MissReason.NEVER_SEEN if reason is None else _MISS_REASONS[reason]

    def keys(self) -> list[K]:
        """The keys, least recent first. O(n)."""
        return self._entries.keys_by_recency()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    @property
    def size(self) -> int:
        """The sum of the entries' sizes. O(1)."""
        return int(self._entries.currsize)

    @property
    def evictions(self) -> int:
        """How many entries had to make room."""
        return self.removals[RemovalReason.CAPACITY]

    def _on_evicted(self, key: K, entry: E) -> None:
        expired = entry.expires_at <= self._now
        self._note(key, entry, RemovalReason.TTL if expired else RemovalReason.CAPACITY)

    def _remove(self, key: K, reason: RemovalReason) -> None:
        self._note(key, self._entries.pop(key), reason)

    def _note(self, key: K, entry: E, reason: RemovalReason) -> None:
        self.removals[reason] += 1
        if reason is RemovalReason.CAPACITY:
            self.evicted_size += entry.size
        self._remember(key, reason)

    def _remember(self, key: K, reason: RemovalReason) -> None:
        removed = self._removed
        removed[key] = reason
        removed.move_to_end(key)
        if len(removed) > self._removal_memory:
            removed.popitem(last=False)

    def _check(self) -> None:
        """Assert every invariant; for tests."""
        keys = self._entries.keys_by_recency()
        assert set(keys) == set(self._entries), (keys, list(self._entries))
        entries = [self._entries.peek(key) for key in keys]
        assert self.size == sum(entry.size for entry in entries if entry is not None)
        assert self.size <= self.capacity
        assert not set(keys) & set(self._removed)
        assert len(self._removed) <= self._removal_memory
