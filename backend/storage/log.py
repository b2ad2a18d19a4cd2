"""The write-ahead log: what has been acknowledged and is not yet in the row file.

Rules:

* a record is written whole, flushed to the disk, and only then counts. Records bear consecutive sequence
  numbers; one is written at a time;
* there are two segments, each a file. While one is written, the other's records move into the row file; then
  they change places, and records of the new turn overwrite the old. Overwriting what the file system has
  allocated already is what makes a flush cheap, so that a segment grows in steps of a megabyte of zeros;
* a record begins on a block boundary and shares no block with another, so that writing one cannot harm the
  last. Layout: magic, length of the payload, sequence number, CRC-32 of sequence number and payload;
* a record that is not whole ends the log: it is what a crash left of a write that nobody was told of. Whole
  records that follow it, a gap in the numbers, or an end of the file within a record, mean damage: a segment
  has grown before anything is written there.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

BLOCK = 512
_MAGIC = b"dxsL"
_HEADER = struct.Struct(">4sIQI")
_SEQUENCE = struct.Struct(">Q")
_STEP = 1024 * 1024

Record = tuple[int, bytes]
"""A sequence number and a payload."""


class LogDamaged(Exception):
    """The log does not say what it once said."""


class Segment:
    """One file of the log, open for writing. What is written to it is on the disk when the call returns: one
    call of the system a record, and so one wait for the interpreter's lock."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DSYNC, 0o644)
        self._size = os.fstat(self._descriptor).st_size

    def write(self, offset: int, sequence: int, payload: bytes) -> None:
        """Make a record durable. Raises OSError, and then nothing may be built on the record."""
        checksum = zlib.crc32(payload, zlib.crc32(_SEQUENCE.pack(sequence)))
        self._reserve(offset + room_for(payload))
        self._write(offset, _HEADER.pack(_MAGIC, len(payload), sequence, checksum) + payload)

    def _reserve(self, end: int) -> None:
        while self._size < end:
            self._write(self._size, bytes(_STEP))
            self._size += _STEP

    def _write(self, offset: int, data: bytes) -> None:
        written = 0
        while written < len(data):
            written += os.pwrite(self._descriptor, data[written:], offset + written)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def room_for(payload: bytes) -> int:
    """How many bytes of a segment a record with that payload takes."""
    return _room(len(payload))


def _room(payload_bytes: int) -> int:
    return -(-(_HEADER.size + payload_bytes) // BLOCK) * BLOCK


def read(paths: list[Path], after: int) -> list[Record]:
    """The records with sequence numbers above `after`, in their order. Raises LogDamaged.

    Records up to `after` are of a turn that has been moved away, and may be overwritten in part.
    """
    segments = [path.read_bytes() for path in paths if path.exists()]
    runs = sorted((run for run in map(_Run, segments) if run.records), key=lambda run: run.records[0][0])
    found = [record for run in runs for record in run.records if record[0] > after]
    for expected, (sequence, _) in enumerate(found, after + 1):
        if sequence != expected:
            raise LogDamaged(f"record {expected} is missing")
    last = found[-1][0] if found else after
    # Also in a segment whose very first record is broken: it has no run to judge by.
    for data in segments:
        if _later_record(data, last) is not None:
            raise LogDamaged(f"record {last + 1} is damaged")
        if _is_cut_off(data, last):
            raise LogDamaged(f"it was cut off behind record {last}")
    return found


class _Run:
    """The whole records of consecutive numbers that a segment begins with."""

    def __init__(self, data: bytes) -> None:
        self.records: list[Record] = []
        offset = 0
        while (record := _record_at(data, offset)) is not None:
            if self.records and record[0] != self.records[-1][0] + 1:
                break
            self.records.append(record)
            offset += room_for(record[1])


def _record_at(data: bytes, offset: int) -> Record | None:
    if offset + _HEADER.size > len(data):
        return None
    magic, length, sequence, checksum = _HEADER.unpack_from(data, offset)
    payload = data[offset + _HEADER.size : offset + _HEADER.size + length]
    whole = magic == _MAGIC and len(payload) == length
    if not whole or zlib.crc32(payload, zlib.crc32(_SEQUENCE.pack(sequence))) != checksum:
        return None
    return sequence, payload


def _later_record(data: bytes, last: int) -> Record | None:
    """A whole record of a number above `last`, wherever it is."""
    for offset in _magics(data):
        record = _record_at(data, offset)
        if record is not None and record[0] > last:
            return record
    return None


def _is_cut_off(data: bytes, last: int) -> bool:
    """Whether the last record, or one behind it, reaches beyond the segment."""
    for offset in _magics(data):
        if offset + _HEADER.size <= len(data):
            _, length, sequence, _ = _HEADER.unpack_from(data, offset)
            if sequence in (last, last + 1) and offset + _room(length) > len(data):
                return True
    return False


def _magics(data: bytes) -> Iterator[int]:
    offset = data.find(_MAGIC)
    while offset >= 0:
        if offset % BLOCK == 0:
            yield offset
        offset = data.find(_MAGIC, offset + 1)
