"""The row file: all rows as they were at some record of the log, in LMDB.

Rules:

* one LMDB transaction takes the file from one record of the log to a later one, so that it never holds half
  of anything. Its commit is flushed;
* a key of the file is the number of a map (4 bytes) and the row's key. LMDB takes keys of 511 bytes at most:
  a longer one keeps its beginning, ends in its SHA-256, and the value begins with the whole key;
* a value begins with the CRC-32 of key and value: LMDB has no checksums of its own;
* map 0 is ours: the names of the maps, and the last log record that is in the file;
* nobody reads while it is written: rows are read once, at the start, from a file opened for reading only,
  and after its pages have been checked, which LMDB never does.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import lmdb
from lmdb.verify import VerifyError, verify

_LONGEST_KEY = 511
_DIGEST_BYTES = 32
_NUMBER = struct.Struct(">I")
_LENGTH = struct.Struct(">I")
_SEQUENCE = struct.Struct(">Q")
_OURS = _NUMBER.pack(0)
_APPLIED = _OURS + b"applied"
_NAME = _OURS + b"name"
_AT_ONCE = 1000
"""Rows handed to LMDB in one call: it holds the interpreter for so long."""

Progress = Callable[[int, int], None]
"""`progress(done, total)`: rows read so far, and in all."""


class RowFileDamaged(Exception):
    """The row file is not what was written."""


@dataclass(slots=True)
class Changes:
    """What one transaction does to the file."""

    rows: dict[bytes, bytes | None] = field(default_factory=dict)
    """Number and key -> encoded row, or None to delete it."""
    names: dict[int, str] = field(default_factory=dict)
    """New maps."""
    dropped: set[int] = field(default_factory=set)
    """Maps to delete with all their rows."""
    through: int = 0
    """The log record after which the file then is."""

    @property
    def is_empty(self) -> bool:
        return not (self.rows or self.names or self.dropped)

    def add(self, later: Changes) -> None:
        """Put what happened later on top."""
        self.rows.update(later.rows)
        self.names.update(later.names)
        self.dropped |= later.dropped
        self.through = later.through


@dataclass(slots=True)
class Contents:
    """What a row file says."""

    names: dict[int, str]
    applied: int
    rows: Iterator[tuple[int, bytes, bytes]]
    """Number of the map, key, encoded row; in key order but for long keys."""
    total: int


class RowFile:
    """The file, open for writing. `map_bytes` is how large it may grow before the map is enlarged."""

    def __init__(self, path: Path, map_bytes: int) -> None:
        self._environment: Any = lmdb.open(str(path), subdir=False, lock=False, map_size=map_bytes)

    def apply(self, changes: Changes) -> None:
        """Make the changes in one flushed transaction. Raises lmdb.Error, and then they are not made."""
        while True:
            try:
                with self._environment.begin(write=True) as transaction:
                    _apply(transaction, changes)
            except lmdb.MapFullError:
                self._environment.set_mapsize(self._environment.info()["map_size"] * 2)
            else:
                return

    def close(self) -> None:
        """Closing twice is harmless."""
        self._environment.close()


def _apply(transaction: Any, changes: Changes) -> None:
    for number in changes.dropped:
        transaction.delete(_NAME + _NUMBER.pack(number))
        _delete_map(transaction, number)
    put: list[tuple[bytes, bytes]] = [
        _checked(_NAME + _NUMBER.pack(number), name.encode())
        for number, name in changes.names.items()
        if number not in changes.dropped
    ]
    put.append(_checked(_APPLIED, _SEQUENCE.pack(changes.through)))
    dropped = {_NUMBER.pack(number) for number in changes.dropped}
    for key, row in sorted(changes.rows.items()):
        if key[: _NUMBER.size] in dropped:
            continue
        if row is None:
            transaction.delete(_file_key(key))
        else:
            put.append(_entry(key, row))
    cursor = transaction.cursor()
    for start in range(0, len(put), _AT_ONCE):
        cursor.putmulti(put[start : start + _AT_ONCE])


def _delete_map(transaction: Any, number: int) -> None:
    prefix = _NUMBER.pack(number)
    cursor = transaction.cursor()
    more = cursor.set_range(prefix)
    while more and cursor.key()[: _NUMBER.size] == prefix:
        more = cursor.delete()


def _entry(key: bytes, row: bytes) -> tuple[bytes, bytes]:
    short = _file_key(key)
    if len(short) == _LONGEST_KEY:
        row = _LENGTH.pack(len(key)) + key + row
    return _checked(short, row)


def _file_key(key: bytes) -> bytes:
    """The key as LMDB takes it: its full length says that it was shortened."""
    if len(key) < _LONGEST_KEY:
        return key
    return key[: _LONGEST_KEY - _DIGEST_BYTES] + sha256(key).digest()


def _checked(key: bytes, value: bytes) -> tuple[bytes, bytes]:
    return key, _LENGTH.pack(zlib.crc32(value, zlib.crc32(key))) + value


# Reading


@contextmanager
def contents(path: Path, progress: Progress | None = None) -> Iterator[Contents]:
    """The contents of a file that nobody writes; the file stays untouched. Raises RowFileDamaged, also while
    the rows are read."""
    try:
        _check_pages(path)
        with _opened(path) as environment, environment.begin() as transaction:
            yield _read(transaction, progress)
    except (lmdb.Error, ValueError, struct.error) as damage:
        raise RowFileDamaged(str(damage)) from damage


def _check_pages(path: Path) -> None:
    """Raises RowFileDamaged unless the pages are all that LMDB takes them for: where one is missing, or is
    none, it does not complain but ends the process."""
    try:
        problems: list[str] = verify(str(path), subdir=False)  # type: ignore[no-untyped-call]
    except VerifyError as damage:
        raise RowFileDamaged(str(damage)) from damage
    if problems:
        raise RowFileDamaged(problems[0])


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    environment = lmdb.open(str(path), subdir=False, lock=False, readonly=True)
    try:
        yield environment
    finally:
        environment.close()


def _read(transaction: Any, progress: Progress | None) -> Contents:
    total = transaction.stat()["entries"]
    cursor = transaction.cursor()
    applied: int | None = None
    names: dict[int, str] = {}
    ours = 0
    for key, value in _ours(cursor):
        ours += 1
        content = _content(key, value)
        if key == _APPLIED:
            (applied,) = _SEQUENCE.unpack(content)
        elif key.startswith(_NAME):
            (number,) = _NUMBER.unpack(key[len(_NAME) :])
            names[number] = content.decode()
    if applied is None:
        raise RowFileDamaged("it does not say which state it holds")
    return Contents(names, applied, _rows(transaction, total, ours, progress), total - ours)


def _ours(cursor: Any) -> Iterable[tuple[bytes, bytes]]:
    if cursor.first():
        for key, value in cursor.iternext():
            if not key.startswith(_OURS):
                return
            yield key, value


def _rows(
    transaction: Any, total: int, ours: int, progress: Progress | None
) -> Iterator[tuple[int, bytes, bytes]]:
    cursor = transaction.cursor()
    seen = 0
    if cursor.set_range(_NUMBER.pack(1)):
        for file_key, value in cursor.iternext():
            seen += 1
            row = _content(file_key, value)
            key = file_key
            if len(file_key) == _LONGEST_KEY:
                (length,) = _LENGTH.unpack_from(row)
                key, row = row[_LENGTH.size : _LENGTH.size + length], row[_LENGTH.size + length :]
            if progress is not None and seen % _AT_ONCE == 0:
                progress(seen, total - ours)
            yield _NUMBER.unpack_from(key)[0], key[_NUMBER.size :], row
    if seen + ours != total:
        raise RowFileDamaged(f"{total - ours} rows were written, and {seen} are there")


def _content(key: bytes, value: bytes) -> bytes:
    content = value[_LENGTH.size :]
    if len(value) < _LENGTH.size or _LENGTH.unpack_from(value)[0] != zlib.crc32(content, zlib.crc32(key)):
        raise RowFileDamaged("a row is not what was written")
    return content
