"""A cache of entries: capacity by recency, expiry by time, and a memory of what left and why.

Entries are evicted by their first write into the cache or last read from it, whichever is later; overwriting
one that is present does not make it more recent. Source: "Item cache" in the DAX concepts page of the
DynamoDB developer guide. One `OrderedDict` holds it all, least recent first: an assignment to a key that is
present keeps its place, and there may be very many entries.

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

K = TypeVar("K", bound=Hashable)
E = TypeVar("E", bound=Entry)

_MISS_REASONS = {
    RemovalReason.TTL: MissReason.EXPIRED,
    RemovalReason.CAPACITY: MissReason.EVICTED,
    RemovalReason.WRITTEN: MissReason.WRITTEN,
    RemovalReason.FLUSH: MissReason.FLUSHED,
}


class EntryCache(Generic[K, E]):
    """Entries by key, within `capacity` (the unit of `Entry.size`).

    `reserved()` is what others occupy of the same capacity. `size` is the sum of the entries' sizes;
    `removals` counts entries by reason, `evicted_size` sums the sizes that made room.
    """

    def __init__(self, capacity: int, removal_memory: int, reserved: Callable[[], int] = lambda: 0) -> None:
        self.capacity = capacity
        self.size = 0
        self.removals: dict[RemovalReason, int] = dict.fromkeys(RemovalReason, 0)
        self.evicted_size = 0
        self._entries: OrderedDict[K, E] = OrderedDict()
        self._reserved = reserved
        self._removed: OrderedDict[K, RemovalReason] = OrderedDict()
        self._removal_memory = removal_memory

    def lookup(self, key: K, now: float) -> E | None:
        """The live entry for `key`, which becomes the most recent; None on a miss. O(1)."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if now < entry.expires_at:
            self._entries.move_to_end(key)
            return entry
        self._remove(key, RemovalReason.TTL)
        return None

    def peek(self, key: K) -> E | None:
        """The entry for `key`, expired or not; nothing changes. O(1)."""
        return self._entries.get(key)

    def put(self, key: K, entry: E, now: float) -> bool:
        """Keep `entry` in place of what is there. False when it can never fit. O(1) per eviction."""
        room = self.capacity - self._reserved()
        if entry.size > room:
            self.forget(key, RemovalReason.CAPACITY)
            while self.size > max(room, 0):
                self._evict(now)
            return False
        while self.size + entry.size - self._size_of(key) > room:
            self._evict(now)
        self.size += entry.size - self._size_of(key)
        self._entries[key] = entry
        self._removed.pop(key, None)
        return True

    def _size_of(self, key: K) -> int:
        present = self._entries.get(key)
        return 0 if present is None else present.size

    def _evict(self, now: float) -> None:
        """Take out the least recent entry."""
        key, entry = next(iter(self._entries.items()))
        self._remove(key, RemovalReason.TTL if entry.expires_at <= now else RemovalReason.CAPACITY)

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
        keys = [key for key in self._entries if unwanted(key)]
        for key in keys:
            self._remove(key, reason)
        return len(keys)

    def clear(self) -> None:
        """Forget everything, removed keys included, as a restarted node has. Counts nothing. O(n)."""
        self._entries.clear()
        self._removed.clear()
        self.size = 0

    def miss_reason(self, key: K) -> MissReason:
        """Why a lookup of an absent `key` misses, as far as it is remembered. O(1)."""
        reason = self._removed.get(key)
        return MissReason.NEVER_SEEN if reason is None else _MISS_REASONS[reason]

    def keys(self) -> list[K]:
        """The keys, least recent first. O(n)."""
        return list(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    @property
    def evictions(self) -> int:
        """How many entries had to make room."""
        return self.removals[RemovalReason.CAPACITY]

    def _remove(self, key: K, reason: RemovalReason) -> None:
        entry = self._entries.pop(key)
        self.size -= entry.size
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
        assert self.size == sum(entry.size for entry in self._entries.values())
        assert self.size <= self.capacity
        assert not self._entries.keys() & self._removed.keys()
        assert len(self._removed) <= self._removal_memory
