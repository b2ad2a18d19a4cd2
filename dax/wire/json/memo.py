"""Repeated requests recognised by their bytes, so that a hit parses, validates and resolves nothing twice.

A body gets into the memo only after its request was executed in full once, and only when its answer depends
on one item-cache key alone. The memo is void as soon as a table's key schema is not what it was.
"""

from __future__ import annotations

from dax.cache.items import ItemKey

LARGEST_BODY = 4096
"""Bytes; longer ones are rarely repeated."""


class RequestMemo:
    """Item-cache keys by request body; the oldest make room."""

    def __init__(self, limit: int = 10_000) -> None:
        self._keys: dict[bytes, ItemKey] = {}
        self._limit = limit
        self._generation = 0

    def get(self, body: bytes, generation: int) -> ItemKey | None:
        """The key that `body` asks for, if it is known under this schema generation."""
        if generation != self._generation:
            self._keys.clear()
            self._generation = generation
        return self._keys.get(body)

    def put(self, body: bytes, key: ItemKey) -> None:
        """Remember what `body` asks for, as of the generation last asked with."""
        keys = self._keys
        if len(body) > LARGEST_BODY:
            return
        if len(keys) >= self._limit:
            del keys[next(iter(keys))]
        keys[body] = key
