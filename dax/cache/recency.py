"""DAX's eviction order: by first write into the cache or last read from it, whichever is later.

Overwriting a key that is present does not make it more recent; that alone distinguishes this policy from
cachetools' LRUCache. Source: "Item cache" in the DAX concepts page of the DynamoDB developer guide.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

from cachetools import Cache

K = TypeVar("K")
V = TypeVar("V")


class RecencyCache(Cache[K, V]):
    """A cachetools `Cache` that evicts the key least recently read or first written.

    `evicted(key, value)` is called for each key that had to make room.
    """

    def __init__(
        self, maxsize: float, getsizeof: Callable[[V], float], evicted: Callable[[K, V], None]
    ) -> None:
        super().__init__(maxsize, getsizeof)
        self._order: OrderedDict[K, None] = OrderedDict()
        self._evicted = evicted

    def __getitem__(self, key: K) -> V:
        """The value, which becomes the most recent. Runtime complexity: O(1)."""
        value = super().__getitem__(key)
        self._order.move_to_end(key)
        return value

    def peek(self, key: K) -> V | None:
        """The value, its recency unchanged. Runtime complexity: O(1)."""
        return super().__getitem__(key) if key in self._order else None

    def __setitem__(self, key: K, value: V) -> None:
        """Keep `value`, evicting as needed. Raises `ValueError` if it can never fit. O(1) per eviction."""
        super().__setitem__(key, value)
        self._order[key] = None

    def __delitem__(self, key: K) -> None:
        super().__delitem__(key)
        del self._order[key]

    def popitem(self) -> tuple[K, V]:
        """Evict the least recent key. Raises `KeyError` when empty. Runtime complexity: O(1)."""
        try:
            key = next(iter(self._order))
        except StopIteration:
            raise KeyError("the cache is empty") from None
        value = super().__getitem__(key)
        del self[key]
        self._evicted(key, value)
        return key, value

    def clear(self) -> None:
        for key in list(self._order):
            del self[key]

    def keys_by_recency(self) -> list[K]:
        """The keys, least recent first."""
        return list(self._order)
