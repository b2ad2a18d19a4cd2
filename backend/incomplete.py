"""Requests that have begun to arrive and are not complete: how many bytes of all of them are kept.

One connection can keep no more than the largest request, but there may be thousands of connections. Beyond
the limit for all together, whoever began its request first, and so has been slowest to end it, is cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

C = TypeVar("C", bound=Hashable)

INCOMPLETE_BYTES = 512 * 1024 * 1024
"""A limit that the largest requests of DynamoDB, of 16 MB, reach when 32 of them arrive at a time."""


class IncompleteRequests(Generic[C]):
    """The incomplete requests of one server by connection, those first that began first."""

    def __init__(self, limit: int, cut_off: Callable[[C], None]) -> None:
        self._limit = limit
        self._cut_off = cut_off
        self._sizes: dict[C, int] = {}
        self._total = 0

    def note(self, connection: C, size: int) -> None:
        """So many bytes of a request are here by now. Cuts off whom it has to, perhaps this connection."""
        self._total += size - self._sizes.get(connection, 0)
        self._sizes[connection] = size
        while self._total > self._limit:
            slowest = next(iter(self._sizes))
            self.forget(slowest)
            self._cut_off(slowest)

    def forget(self, connection: C) -> None:
        """The request is complete, or its connection gone. Harmless for one that is not noted."""
        self._total -= self._sizes.pop(connection, 0)

    def __len__(self) -> int:
        return len(self._sizes)
