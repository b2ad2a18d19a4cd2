"""The storage that lives in memory: sorted dictionaries and an undo journal.

Rules: reads go straight to the dictionary; each write first notes the row it replaces in the journal, so that
undoing a failed transaction is replaying the journal backwards. A committed transaction forgets its journal.

Cost: get O(1), put and delete O(log n) in the number of rows, a range O(log n) plus its length.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any

from sortedcontainers import SortedDict

from backend.storage.base import Row

_Note = tuple["SortedDict[bytes, Row]", bytes, Row | None]


class _Journal:
    """The transaction of a `MemoryStorage`: reused for each, because only one is open at a time."""

    __slots__ = ("notes", "open")

    def __init__(self) -> None:
        self.open = False
        self.notes: list[_Note] = []

    def __enter__(self) -> None:
        if self.open:
            raise RuntimeError("a storage transaction is open already; transactions do not nest")
        self.open = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.open = False
        if kind is not None:
            for rows, key, old in reversed(self.notes):
                if old is None:
                    rows.pop(key, None)
                else:
                    rows[key] = old
        self.notes.clear()


class MemoryMap:
    """An `OrderedMap` on a `SortedDict`."""

    __slots__ = ("_journal", "_rows", "get")

    def __init__(self, journal: _Journal) -> None:
        self._rows: SortedDict[bytes, Row] = SortedDict()
        self._journal = journal
        # The dictionary's own method: the hottest call of the engine needs no frame of ours.
        self.get: Any = self._rows.get

    def put(self, key: bytes, row: Row) -> None:
        journal = self._journal
        if not journal.open:
            raise RuntimeError("a row is written inside a storage transaction only")
        rows = self._rows
        journal.notes.append((rows, key, rows.get(key)))
        rows[key] = row

    def delete(self, key: bytes) -> None:
        journal = self._journal
        if not journal.open:
            raise RuntimeError("a row is deleted inside a storage transaction only")
        rows = self._rows
        old = rows.pop(key, None)
        if old is not None:
            journal.notes.append((rows, key, old))

    def range(
        self, start: bytes | None = None, stop: bytes | None = None, reverse: bool = False
    ) -> Iterator[tuple[bytes, Row]]:
        rows = self._rows
        for key in rows.irange(start, stop, inclusive=(True, False), reverse=reverse):
            yield key, rows[key]

    def __len__(self) -> int:
        return len(self._rows)


class MemoryStorage:
    """A `Storage` that ends with the process."""

    def __init__(self) -> None:
        self._journal = _Journal()
        self._maps: dict[str, MemoryMap] = {}

    def open(self, name: str) -> MemoryMap:
        found = self._maps.get(name)
        if found is None:
            found = self._maps[name] = MemoryMap(self._journal)
        return found

    def drop(self, name: str) -> None:
        self._maps.pop(name, None)

    def transaction(self) -> _Journal:
        return self._journal
