"""One writer at a time for each key, so that the store's order of its writes is the cache's order.

Keys are locked in sorted order, so that two batches never wait for each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from dax.cache.items import ItemKey


class KeyLocks:
    """Locks by key, kept while somebody holds or awaits them."""

    def __init__(self) -> None:
        self._locks: dict[ItemKey, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def holding(self, keys: Iterable[ItemKey]) -> AsyncIterator[None]:
        """Wait for every key, hold them all, and let them go."""
        taken: list[ItemKey] = []
        try:
            for key in sorted(set(keys)):
                lock, users = self._locks.get(key) or (asyncio.Lock(), 0)
                self._locks[key] = (lock, users + 1)
                try:
                    await lock.acquire()
                except BaseException:
                    self._leave(key)
                    raise
                taken.append(key)
            yield
        finally:
            for key in reversed(taken):
                self._locks[key][0].release()
                self._leave(key)

    def _leave(self, key: ItemKey) -> None:
        lock, users = self._locks[key]
        if users == 1:
            del self._locks[key]
        else:
            self._locks[key] = (lock, users - 1)

    def __len__(self) -> int:
        return len(self._locks)
