"""The item cache: items and negative entries by table and primary key, and the attribute-name lists beside
it.

DAX keeps each distinct list of top-level attribute names for ever and charges it to the node's memory, so
that items with unbounded names exhaust a node. Here the lists take their bytes from the item cache's
capacity.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from backend.model.sizes import item_size
from backend.protocol import Item
from dax.cache.entries import FOREVER, ItemEntry, RemovalReason
from dax.cache.store import EntryCache

ItemKey = tuple[str, bytes]
"""Table name, and the primary key as `backend.model.keys.encode` writes it."""

ENTRY_OVERHEAD = 100
"""Bytes charged to an entry besides its key and its item: DynamoDB charges so much per stored item."""


NEVER = float("-inf")
_FLUSHES = 1_000
"""How many flushes of tables and entries are remembered one by one."""


@dataclass(frozen=True, slots=True)
class KeptItem:
    """An item-cache entry as a snapshot carries it."""

    key: ItemKey
    item: Item | None
    stored_at: float
    sequence: int


class AttributeLists:
    """The distinct lists of attribute names seen, never forgotten."""

    def __init__(self) -> None:
        self._seen: set[frozenset[str]] = set()
        self.size = 0

    def note(self, item: Item) -> None:
        """Charge the item's list of names if it is new. O(number of names)."""
        names = frozenset(item)
        if names not in self._seen:
            self._seen.add(names)
            self.size += sum(len(name.encode()) for name in names)

    def __len__(self) -> int:
        return len(self._seen)


class ItemCache(EntryCache[ItemKey, ItemEntry]):
    """Items by key. `ttl` in seconds, 0 = entries never expire by time."""

    def __init__(self, capacity: int, ttl: float, removal_memory: int, *, unit_size: bool = False) -> None:
        self.attribute_lists = AttributeLists()
        super().__init__(capacity, removal_memory, self._metadata_size)
        self.ttl = ttl
        # When what was last flushed: everything (None), a table, or an entry.
        self._flushed: dict[str | ItemKey | None, float] = {}
        self._unit_size = unit_size

    def keep(self, key: ItemKey, item: Item | None, stored_at: float, sequence: int, now: float) -> bool:
        """Make `item` (None: no such item) the state of `key`. False when it does not fit, or when it is of
        before a flush, which may be so of a change that was under way.
        """
        if self._flushed and stored_at < self._flushed_at(key):
            self.forget(key, RemovalReason.FLUSH)
            return False
        if item is not None:
            self.attribute_lists.note(item)
        size = 1 if self._unit_size else self._weight(key, item)
        expires_at = stored_at + self.ttl if self.ttl else FOREVER
        return self.put(key, ItemEntry(item, stored_at, expires_at, size, sequence), now)

    def snapshot(self, now: float) -> tuple[KeptItem, ...]:
        """The live entries, least recent first, so that putting them in order keeps their recency."""
        kept = []
        for key in self.keys():
            entry = self.peek(key)
            if entry is not None and now < entry.expires_at:
                kept.append(KeptItem(key, entry.item, entry.stored_at, entry.sequence))
        return tuple(kept)

    def replace(self, entries: Iterable[KeptItem], now: float) -> None:
        """Forget everything and keep `entries` instead."""
        self.clear()
        for kept in entries:
            self.keep(kept.key, kept.item, kept.stored_at, kept.sequence, now)

    def flush(self, now: float, table: str | None = None, key: bytes | None = None) -> int:
        """Empty one entry, one table or everything; how many entries that were.

        What was stored before `now` and arrives later is flushed as well.
        """
        if table is not None and key is not None:
            self._note_flush((table, key), now)
            return int(self.remove((table, key), RemovalReason.FLUSH))
        self._note_flush(table, now)
        return self.remove_if(lambda held: table is None or held[0] == table, RemovalReason.FLUSH)

    def _note_flush(self, what: str | ItemKey | None, now: float) -> None:
        if what is None or len(self._flushed) >= _FLUSHES:
            # More than is worth telling apart: from here on everything of before counts as flushed.
            self._flushed.clear()
            what = None
        self._flushed[what] = now

    def _flushed_at(self, key: ItemKey) -> float:
        """When `key` was last flushed, alone or with others."""
        flushed = self._flushed
        return max(flushed.get(None, NEVER), flushed.get(key[0], NEVER), flushed.get(key, NEVER))

    def _metadata_size(self) -> int:
        return 0 if self._unit_size else self.attribute_lists.size

    def _weight(self, key: ItemKey, item: Item | None) -> int:
        held = len(key[0]) + len(key[1]) + ENTRY_OVERHEAD
        return held if item is None else held + item_size(item)
