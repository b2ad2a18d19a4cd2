"""The storage that outlives the process: everything in memory, every change in a data directory.

Rules:

* reads are those of `MemoryStorage`, from the same sorted dictionaries: the data must fit into memory;
* the changes of committed transactions gather in an open group. `cut` closes it, `write` puts it into the log
  as one flushed record: from then on the group is durable, all of it. Whoever runs the storage cuts groups
  only between operations, so that an operation of several transactions is durable as a whole;
* a log segment that is full is folded into the row file, in one LMDB transaction, while the other segment
  goes on. A start reads the row file, then the log, and folds it;
* `cut` and everything that reads or changes rows belong to one thread. `write` and `fold` block on the disk
  and may run in another each; groups are written one after the other in the order of their cutting;
* after a write that failed nothing more is accepted: memory is ahead of the directory, and stays so.

Why a log in front of LMDB: committing there rewrites every page that a row falls on and flushes twice, which
for a group of 32 random rows costs ten times the one sequential write of the log.
"""

from __future__ import annotations

import gc
import struct
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import lmdb

from backend.storage import log, row_file
from backend.storage.base import Row
from backend.storage.directory import DataDirectory, DirectoryRefused
from backend.storage.memory import Journal, MemoryMap, Note
from backend.storage.row_file import Changes, Progress, RowFile
from backend.storage.rows import decode_row, encode_row

ROW_FILE = "rows.mdb"
SEGMENTS = ("log-0", "log-1")
SEGMENT_BYTES = 32 * 1024 * 1024
MAP_BYTES = 1024 * 1024 * 1024
"""Address space set aside for the row file at first; it doubles when it is used up."""

_NUMBER = struct.Struct(">I")
_ENTRY = struct.Struct(">BII")
_PUT, _DELETE, _NAME, _DROP = 1, 2, 3, 4


class StorageFailed(Exception):
    """A change could not be made durable; the storage takes no more."""


@dataclass(frozen=True, slots=True)
class Group:
    """A record to be: the changes of some operations, and where in the log they go."""

    sequence: int
    payload: bytes
    segment: log.Segment
    offset: int


class DurableStorage:
    """A `Storage` in a data directory."""

    def __init__(
        self,
        path: Path,
        *,
        segment_bytes: int = SEGMENT_BYTES,
        map_bytes: int = MAP_BYTES,
        progress: Progress | None = None,
    ) -> None:
        """Open the directory, or make it. Raises DirectoryRefused.

        `progress(done, total)` is told now and then how many rows have been read.
        """
        self.failure: StorageFailed | None = None
        self._journal = Journal(self._record)
        self._maps: dict[str, MemoryMap] = {}
        self._next_number = 1
        self._open = Changes()
        self._unfolded = Changes()
        self._frozen: Changes | None = None
        self._segment_bytes = segment_bytes
        self._active, self._offset = 0, 0
        self._closed = False
        with ExitStack() as opened:
            self._directory = opened.enter_context(closing(DataDirectory(path)))
            try:
                logged = self._start(path, progress)
                self._file = opened.enter_context(closing(RowFile(path / ROW_FILE, map_bytes)))
                if logged is not None:
                    self._file.apply(logged)
                self._segments = [
                    opened.enter_context(closing(log.Segment(path / name))) for name in SEGMENTS
                ]
                if self._directory.is_new:
                    self._directory.mark_ready()
            except OSError as failure:
                raise DirectoryRefused(path, f"cannot be used: {failure.strerror}") from failure
            except lmdb.Error as failure:
                raise DirectoryRefused(path, f"cannot be used: {failure}") from failure
            self._opened = opened.pop_all()

    # Storage

    def open(self, name: str) -> MemoryMap:
        found = self._maps.get(name)
        if found is None:
            number = self._next_number
            self._next_number += 1
            found = self._maps[name] = MemoryMap(self._journal, _NUMBER.pack(number))
            self._open.names[number] = name
        return found

    def drop(self, name: str) -> None:
        found = self._maps.pop(name, None)
        if found is not None:
            self._open.dropped.add(*_NUMBER.unpack(found.prefix))
            # Whoever still holds the map changes nothing any more that would be kept.
            found.prefix = b""

    def transaction(self) -> Journal:
        return self._journal

    def _record(self, notes: list[Note]) -> None:
        """Take a transaction into the open group, all of it or nothing."""
        changed = [
            (written.prefix + key, None if (row := written.get(key)) is None else encode_row(row))
            for written, key, _ in notes
            if written.prefix
        ]
        self._open.rows.update(changed)

    # Durability

    @property
    def has_changes(self) -> bool:
        """Whether there is anything in the open group."""
        return not self._open.is_empty

    @property
    def change_count(self) -> int:
        """How many rows the open group changes: it has grown when this has."""
        return len(self._open.rows)

    @property
    def must_fold(self) -> bool:
        """Whether a full segment waits for `fold`."""
        return self._frozen is not None

    def cut(self) -> Group:
        """Close the open group and give it, to be written before any later one."""
        changes, self._open = self._open, Changes()
        changes.through = self._unfolded.through + 1
        payload = _encode(changes)
        room = log.room_for(payload)
        if self._offset + room > self._segment_bytes and self._offset and self._frozen is None:
            self._frozen, self._unfolded = self._unfolded, Changes()
            self._active, self._offset = 1 - self._active, 0
        group = Group(changes.through, payload, self._segments[self._active], self._offset)
        self._offset += room
        self._unfolded.add(changes)
        return group

    def write(self, group: Group) -> None:
        """Make a group durable. Raises StorageFailed."""
        if self.failure is not None:
            raise self.failure
        try:
            group.segment.write(group.offset, group.sequence, group.payload)
        except Exception as failure:
            # Of whatever kind: a record that is missing ends the log, and nothing may follow it.
            raise self._failed(failure) from failure

    def fold(self) -> None:
        """Move the full segment into the row file, if there is one. Raises StorageFailed."""
        frozen = self._frozen
        if frozen is not None:
            self._apply(frozen)
            self._frozen = None

    def flush(self) -> None:
        """Make everything durable at once, for whoever may block. Raises StorageFailed."""
        if self.has_changes:
            self.write(self.cut())

    def close(self) -> None:
        """Make everything durable and leave the directory to others. Closing twice is harmless."""
        if self._closed:
            return
        self._closed = True
        try:
            if self.failure is None:
                self.flush()
                self.fold()
                if not self._unfolded.is_empty:
                    self._apply(self._unfolded)
        finally:
            self._release()

    def _release(self) -> None:
        self._opened.close()

    def _apply(self, changes: Changes) -> None:
        try:
            self._file.apply(changes)
        except Exception as failure:
            raise self._failed(failure) from failure

    def _failed(self, failure: Exception) -> StorageFailed:
        why = f"the data directory {self._directory.path} could not be written: {failure}"
        self.failure = StorageFailed(why)
        return self.failure

    # Starting

    def _start(self, path: Path, progress: Progress | None) -> Changes | None:
        """Fill the maps with what the directory holds; gives what its row file has not got yet."""
        if self._directory.is_new:
            for name in (ROW_FILE, *SEGMENTS):
                (path / name).unlink(missing_ok=True)
            return Changes()
        for name in (ROW_FILE, *SEGMENTS):
            if not (path / name).is_file():
                raise DirectoryRefused(path, f"is damaged: {name} is missing")
        try:
            with _no_garbage_collection(), row_file.contents(path / ROW_FILE, progress) as found:
                logged = self._load(found, [path / name for name in SEGMENTS])
        except row_file.RowFileDamaged as damage:
            raise DirectoryRefused(path, f"is damaged: {ROW_FILE}: {damage}") from damage
        except log.LogDamaged as damage:
            raise DirectoryRefused(path, f"is damaged: the log: {damage}") from damage
        return logged if logged.through > found.applied else None

    def _load(self, found: row_file.Contents, segments: list[Path]) -> Changes:
        """Fill the maps from the row file and the log; the changes that are in the log only."""
        names = dict(found.names)
        contents: dict[int, dict[bytes, Row]] = {number: {} for number in names}
        for number, key, row in found.rows:
            if number not in names:
                raise row_file.RowFileDamaged(f"it has rows of the unknown map {number}")
            contents[number][key] = decode_row(row)
        logged = Changes(through=found.applied)
        for sequence, payload in log.read(segments, found.applied):
            changes = _decode(sequence, payload)
            logged.add(changes)
            names |= changes.names
        _replay(logged, contents)
        for number, name in names.items():
            if number not in logged.dropped:
                loaded = self._maps[name] = MemoryMap(self._journal, _NUMBER.pack(number))
                loaded.fill(contents.pop(number))
        self._next_number = max(names, default=0) + 1
        self._unfolded.through = logged.through
        return logged


def _replay(logged: Changes, contents: dict[int, dict[bytes, Row]]) -> None:
    for number in logged.names:
        contents[number] = {}
    for full_key, row in logged.rows.items():
        (number,) = _NUMBER.unpack_from(full_key)
        if number in logged.dropped:
            continue
        if number not in contents:
            raise log.LogDamaged(f"it has rows of the unknown map {number}")
        key = full_key[_NUMBER.size :]
        if row is None:
            contents[number].pop(key, None)
        else:
            contents[number][key] = decode_row(row)


def _encode(changes: Changes) -> bytes:
    parts: list[bytes] = []
    for number, name in changes.names.items():
        text = name.encode()
        parts += (_ENTRY.pack(_NAME, _NUMBER.size, len(text)), _NUMBER.pack(number), text)
    head = _ENTRY.pack
    for key, row in changes.rows.items():
        if row is None:
            parts += (head(_DELETE, len(key), 0), key)
        else:
            parts += (head(_PUT, len(key), len(row)), key, row)
    for number in changes.dropped:
        parts += (_ENTRY.pack(_DROP, _NUMBER.size, 0), _NUMBER.pack(number))
    return b"".join(parts)


def _decode(sequence: int, payload: bytes) -> Changes:
    changes = Changes(through=sequence)
    offset = 0
    while offset < len(payload):
        kind, key_bytes, row_bytes = _ENTRY.unpack_from(payload, offset)
        offset += _ENTRY.size
        key = payload[offset : offset + key_bytes]
        offset += key_bytes
        row = payload[offset : offset + row_bytes]
        offset += row_bytes
        if kind == _PUT:
            changes.rows[key] = row
        elif kind == _DELETE:
            changes.rows[key] = None
        elif kind == _NAME:
            changes.names[_NUMBER.unpack(key)[0]] = row.decode()
        elif kind == _DROP:
            changes.dropped.add(_NUMBER.unpack(key)[0])
        else:
            raise log.LogDamaged(f"record {sequence} holds an entry of the unknown kind {kind}")
    return changes


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Millions of new objects, none of them garbage: looking for it would cost more than the reading."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
