"""What the engine needs of a store: ordered maps of rows under byte keys, and one transaction around a write.

Rules every storage keeps:

* keys order as unsigned bytes, and a range yields them in that order or exactly reversed;
* a write happens inside `transaction()` and nowhere else; leaving the block normally makes all of its writes
  visible and (where the storage is durable) permanent; leaving it by an exception undoes every one of them;
* transactions do not nest: one operation is one transaction;
* a row handed in or out is shared, never copied, and never mutated by anybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from backend.protocol import Item

Row = tuple[Item, int]
"""An item and its size in bytes by the service's rules, so that metering a read never measures an item
again."""


class OrderedMap(Protocol):
    """Rows by byte key, in key order."""

    def get(self, key: bytes) -> Row | None:
        """The row under `key`, or None."""
        ...

    def put(self, key: bytes, row: Row) -> None:
        """Insert or replace. Raises RuntimeError outside a transaction."""
        ...

    def delete(self, key: bytes) -> None:
        """Remove `key` if it is there. Raises RuntimeError outside a transaction."""
        ...

    def range(
        self, start: bytes | None = None, stop: bytes | None = None, reverse: bool = False
    ) -> Iterator[tuple[bytes, Row]]:
        """Rows with start <= key < stop, ascending, or descending when `reverse`. None leaves a side open.

        The map must not be written while the iterator is in use.
        """
        ...

    def __len__(self) -> int: ...

    @property
    def stored_bytes(self) -> int:
        """The sizes of all rows together; reading it costs nothing."""
        ...


class Storage(Protocol):
    """Named ordered maps that one transaction spans."""

    def open(self, name: str) -> OrderedMap:
        """The map of that name, created empty at first use. The same name gives the same map."""
        ...

    def drop(self, name: str) -> None:
        """Forget the map and its rows. An unknown name is harmless."""
        ...

    def transaction(self) -> AbstractContextManager[object]:
        """All or nothing for every map of this storage."""
        ...
