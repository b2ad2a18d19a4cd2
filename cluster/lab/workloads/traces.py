"""Access traces: a file becomes a stream of accesses, one at a time, whatever its format.

Rules of this file:

* A trace is never held in memory: files are decompressed (`.xz`, `.gz`) and decoded as they are read.
* A binary trace is a sequence of fixed-width big-endian integers, one a read. Nothing in the file says how
  wide they are, so the format comes from the file's name or from whoever asks.
* A CSV trace with a header is recognised by the columns that its header names, in any order.
* What the formats call a scan, a lease or a compare-and-swap is a get or a put here; a row that is neither a
  read nor a write of a key is an error, not a guess.

Sources of the formats: the trace readers of `ben-manes/caffeine` (binary), `cacheMon/libCacheSim`
(CloudPhysics CSV), `facebook/CacheLib` (key-value CSV) and `twitter/cache-trace` (headerless CSV), each
described in that repository.
"""

from __future__ import annotations

import csv
import gzip
import lzma
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, cast

from cluster.lab.workloads.addresses import Address, cache2k_address, key_address

Op = Literal["get", "put", "delete"]
Key = int | str

_RECORDS_A_READ = 16_384


class TraceError(Exception):
    """The file is not the trace that it is said to be. The message is one line, and names the place."""


class Access(NamedTuple):
    """One request of a trace.

    `size` is the object's size in bytes and `time` the seconds since the trace's own epoch, where the format
    has them.
    """

    op: Op
    key: Key
    size: int | None = None
    time: float | None = None


@dataclass(frozen=True)
class Format:
    """How a file's bytes become accesses, and an access's key the address of an item."""

    name: str
    summary: str
    read: Callable[[BinaryIO], Iterator[Access]]
    address: Callable[[Key], Address] = key_address


@dataclass(frozen=True)
class Trace:
    """A trace file and its format. Iterating reads the file anew from its start."""

    path: Path
    format: Format

    def __iter__(self) -> Iterator[Access]:
        """Raises `TraceError` where the file ends in the middle of a record, or a row makes no sense."""
        try:
            with _open(self.path) as stream:
                yield from self.format.read(stream)
        except (lzma.LZMAError, gzip.BadGzipFile, EOFError) as error:
            raise TraceError(f"{self.path.name}: cannot be decompressed ({error})") from error
        except UnicodeDecodeError as error:
            raise TraceError(f"{self.path.name}: not a text file, so not a CSV trace ({error})") from error
        except csv.Error as error:
            raise TraceError(f"{self.path.name}: not a CSV trace ({error})") from error
        except TraceError as error:
            raise TraceError(f"{self.path.name}: {error}") from error


def open_trace(path: Path, format_name: str | None = None) -> Trace:
    """The trace in `path`, its format as named or, without a name, told from the file's name or its header.

    Raises `TraceError` where there is no such file or format, or nothing tells the format.
    """
    if not path.is_file():
        raise TraceError(f"no such trace file: {path}")
    if format_name is None:
        return Trace(path, _recognise(path))
    if format_name not in FORMATS:
        raise TraceError(f"unknown trace format {format_name!r}; there are {', '.join(FORMATS)}")
    return Trace(path, FORMATS[format_name])


def _open(path: Path) -> BinaryIO:
    if path.suffix == ".xz":
        return cast(BinaryIO, lzma.open(path))
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path))
    return path.open("rb")


# --- Which format -------------------------------------------------------------------------------------------

_BINARY_NAMES = (
    ("orm-", "cache2k"),
    ("web", "cache2k"),
    ("cloudphysics-w", "u4"),
    ("scarab-", "i8"),
    ("corda-", "i8"),
)

_HEADERS = (
    ({"version", "time", "op", "size", "lbn"}, "cloudphysics"),
    ({"op_time", "key", "op", "op_count", "size"}, "meta-kv"),
    ({"op", "key"}, "csv"),
)


def _recognise(path: Path) -> Format:
    name = path.name.removesuffix(".xz").removesuffix(".gz")
    if name.endswith(".trace"):
        for prefix, format_name in _BINARY_NAMES:
            if name.startswith(prefix):
                return FORMATS[format_name]
        raise TraceError(
            f"nothing in the name {path.name} tells the width of its keys: "
            "say --format i4, u4, i8 or cache2k (big-endian integers)"
        )
    if name.endswith(".csv"):
        return _recognise_header(path)
    raise TraceError(
        f"{path.name} is neither .trace nor .csv (each also .xz or .gz): say --format {', '.join(FORMATS)}"
    )


def _recognise_header(path: Path) -> Format:
    try:
        with _open(path) as stream:
            first = stream.readline(4096).decode()
    except (lzma.LZMAError, gzip.BadGzipFile, EOFError, UnicodeDecodeError) as error:
        raise TraceError(f"{path.name}: cannot be read as a CSV file ({error})") from error
    columns = {column.strip() for column in first.split(",")}
    for needed, format_name in _HEADERS:
        if needed <= columns:
            return FORMATS[format_name]
    raise TraceError(
        f"the header of {path.name} is of no known format: ours has the columns op,key[,size]; "
        "a file without a header needs --format twitter"
    )


# --- Binary -------------------------------------------------------------------------------------------------


def _integers(code: str) -> Callable[[BinaryIO], Iterator[Access]]:
    """A reader of big-endian integers of the `struct` type `code`."""
    width = struct.calcsize(f">{code}")

    def read(stream: BinaryIO) -> Iterator[Access]:
        position = 0
        while chunk := stream.read(width * _RECORDS_A_READ):
            whole, rest = divmod(len(chunk), width)
            for key in struct.unpack(f">{whole}{code}", chunk[: whole * width]):
                yield Access("get", key)
            position += whole
            if rest:
                # A decompressor may hand out less than asked; only the end of the file may not.
                chunk = chunk[whole * width :] + stream.read(width - rest)
                if len(chunk) < width:
                    raise TraceError(f"ends in the middle of record {position + 1} of {width} bytes")
                yield Access("get", struct.unpack(f">{code}", chunk)[0])
                position += 1

    return read


# --- CSV ----------------------------------------------------------------------------------------------------


def _lines(stream: BinaryIO) -> Iterator[str]:
    return (line.decode() for line in stream)


class _Rows:
    """The rows of a CSV file by column name, with typed access that names the line on an error."""

    def __init__(self, stream: BinaryIO, needed: Iterable[str], columns: list[str] | None = None) -> None:
        self._reader = csv.reader(_lines(stream))
        names = columns if columns is not None else [name.strip() for name in next(self._reader, [])]
        self._at = {name: index for index, name in enumerate(names)}
        missing = [name for name in needed if name not in self._at]
        if missing:
            raise TraceError(f"the header lacks the column {missing[0]}")
        self._row: list[str] = []

    def __iter__(self) -> Iterator[_Rows]:
        for row in self._reader:
            if row:
                self._row = row
                yield self

    def text(self, column: str) -> str:
        try:
            return self._row[self._at[column]].strip()
        except IndexError:
            raise self.error(f"has no {column}") from None

    def natural(self, column: str) -> int:
        text = self.text(column)
        if not (text.isascii() and text.isdigit()):
            raise self.error(f"{column} is {text!r}, not a whole number")
        return int(text)

    def key(self, column: str = "key") -> str:
        text = self.text(column)
        if not text:
            raise self.error(f"{column} is empty")
        return text

    def op(self, ops: dict[str, Op], column: str = "op") -> Op:
        text = self.text(column)
        if text not in ops:
            raise self.error(f"{column} is {text!r}, not one of {', '.join(ops)}")
        return ops[text]

    def has(self, column: str) -> bool:
        return column in self._at

    def error(self, what: str) -> TraceError:
        return TraceError(f"line {self._reader.line_num}: {what}")


def _read_plain(stream: BinaryIO) -> Iterator[Access]:
    ops: dict[str, Op] = {"get": "get", "put": "put", "delete": "delete"}
    rows = _Rows(stream, ("op", "key"))
    sized = rows.has("size")
    for row in rows:
        size = row.natural("size") if sized and row.text("size") else None
        yield Access(row.op(ops), row.key(), size)


def _read_cloudphysics(stream: BinaryIO) -> Iterator[Access]:
    # SCSI command codes: READ(10) and WRITE(10). The time is in seconds.
    ops: dict[str, Op] = {"28": "get", "2a": "put"}
    for row in _Rows(stream, ("time", "op", "size", "lbn")):
        yield Access(row.op(ops), row.natural("lbn"), row.natural("size"), float(row.natural("time")))


def _read_meta(stream: BinaryIO) -> Iterator[Access]:
    # A row stands for `op_count` like requests. Size 0 says that the object was not cached, so it tells no
    # size.
    ops: dict[str, Op] = {
        "GET": "get",
        "GET_LEASE": "get",
        "SET": "put",
        "SET_LEASE": "put",
        "DELETE": "delete",
    }
    for row in _Rows(stream, ("op_time", "key", "op", "op_count", "size")):
        access = Access(row.op(ops), row.key(), row.natural("size") or None, float(row.natural("op_time")))
        for _ in range(row.natural("op_count")):
            yield access


_TWITTER_COLUMNS = ["timestamp", "key", "key_size", "value_size", "client_id", "op", "ttl"]


def _read_twitter(stream: BinaryIO) -> Iterator[Access]:
    writes = ("set", "add", "replace", "cas", "append", "prepend", "incr", "decr")
    ops: dict[str, Op] = {"get": "get", "gets": "get", **dict.fromkeys(writes, "put"), "delete": "delete"}
    for row in _Rows(stream, (), _TWITTER_COLUMNS):
        size = row.natural("key_size") + row.natural("value_size")
        yield Access(row.op(ops), row.key(), size or None, float(row.natural("timestamp")))


FORMATS: dict[str, Format] = {
    each.name: each
    for each in (
        Format(
            "cache2k",
            "4-byte keys of type, id and index (the orm and web traces)",
            _integers("i"),
            cache2k_address,
        ),
        Format("i4", "4-byte signed keys", _integers("i")),
        Format("u4", "4-byte unsigned keys", _integers("I")),
        Format("i8", "8-byte signed keys", _integers("q")),
        Format("cloudphysics", "CSV with the header version,time,op,size,lbn", _read_cloudphysics),
        Format("meta-kv", "CSV of CacheLib's key-value traces, by header", _read_meta),
        Format(
            "twitter", "CSV without header: timestamp,key,key_size,value_size,client,op,ttl", _read_twitter
        ),
        Format("csv", "CSV with the header op,key[,size]; op is get, put or delete", _read_plain),
    )
}
