"""The storage that lives in memory: sorted dictionaries and an undo journal.

Rules: reads go straight to the dictionary; each write first notes the row it replaces in the journal, so that
undoing a failed transaction is replaying the journal backwards. A committed transaction forgets its journal.

Cost: get O(1), put and delete O(log n) in the number of rows, a range O(log n) plus its length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any

from sortedcontainers import SortedDict

from backend.storage.base import Row

Note = tuple["MemoryMap", bytes, Row | None]
"""A map, a key that was written, and the row that was there before."""


class Journal:
    """The transaction of a `MemoryStorage`: reused for each, because only one is open at a time.

    `committing` is told the notes of each transaction before it counts; what it raises undoes it.
    """

    __slots__ = ("_committing", "notes", "open")

    def __init__(self, committing: Callable[[list[Note]], None] | None = None) -> None:
        self.open = False
        self.notes: list[Note] = []
        self._committing = committing

    def __enter__(self) -> None:
        if self.open:
            raise RuntimeError("a storage transaction is open already; transactions do not nest")
        self.open = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.open = False
        if kind is not None:
            self._undo()
        elif self._committing is not None:
            try:
                self._committing(self.notes)
            except BaseException:
                self._undo()
                raise
        self.notes.clear()

    def _undo(self) -> None:
        for written, key, old in reversed(self.notes):
            written.restore(key, old)
        self.notes.clear()


class MemoryMap:
    """An `OrderedMap` on a `SortedDict`. `prefix` is what a storage puts before its keys to keep them."""

    __slots__ = ("_journal", "get", "prefix", "rows", "stored_bytes")

    def __init__(self, journal: Journal, prefix: bytes = b"") -> None:
        self.rows: SortedDict[bytes, Row] = SortedDict()
        self.prefix = prefix
        self.stored_bytes = 0
        self._journal = journal
        # The dictionary's own method: the hottest call of the engine needs no frame of ours.
        self.get: Any = self.rows.get

    def put(self, key: bytes, row: Row) -> None:
        journal = self._journal
        if not journal.open:
            raise RuntimeError("a row is written inside a storage transaction only")
        rows = self.rows
        old = rows.get(key)
        journal.notes.append((self, key, old))
        if old is None:
            rows[key] = row
            self.stored_bytes += row[1]
        else:
            # The key keeps its place in the order, which need not hear of it.
            dict.__setitem__(rows, key, row)
            self.stored_bytes += row[1] - old[1]

    def delete(self, key: bytes) -> None:
        journal = self._journal
        if not journal.open:
            raise RuntimeError("a row is deleted inside a storage transaction only")
        old = self.rows.pop(key, None)
        if old is not None:
            journal.notes.append((self, key, old))
            self.stored_bytes -= old[1]

    def restore(self, key: bytes, old: Row | None) -> None:
        """Put back what was under `key`, of which the journal holds a note."""
        current = self.rows.pop(key, None)
        if current is not None:
            self.stored_bytes -= current[1]
        if old is not None:
            self.rows[key] = old
            self.stored_bytes += old[1]

    def fill(self, rows: Mapping[bytes, Row]) -> None:
        """Take over rows that a storage has kept, outside any transaction."""
        self.rows.update(rows)
        self.stored_bytes = sum(row[1] for row in self.rows.values())

    def range(
        self, start: bytes | None = None, stop: bytes | None = None, reverse: bool = False
    ) -> Iterator[tuple[bytes, Row]]:
        rows = self.rows
        for key in rows.irange(start, stop, inclusive=(True, False), reverse=reverse):
            yield key, rows[key]

    def __len__(self) -> int:
        return len(self.rows)


class MemoryStorage:
    """A `Storage` that ends with the process."""

    def __init__(self) -> None:
        self._journal = Journal()
        self._maps: dict[str, MemoryMap] = {}

    def open(self, name: str) -> MemoryMap:
        found = self._maps.get(name)
        if found is None:
            found = self._maps[name] = MemoryMap(self._journal)
        return found

    def drop(self, name: str) -> None:
        self._maps.pop(name, None)

    def transaction(self) -> Journal:
        return self._journal
