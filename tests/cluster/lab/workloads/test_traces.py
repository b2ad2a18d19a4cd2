from __future__ import annotations

import gzip
import lzma
import struct
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from cluster.lab.workloads.traces import Access, TraceError, open_trace

META_1 = "op_time,key,key_size,op,op_count,size,cache_hits,ttl,usecase,sub_usecase\n"
META_2 = "op_time,key,key_size,op,op_count,size,cache_hits,usecase,sub_usecase,ttl\n"


def write(path: Path, content: bytes | str) -> Path:
    data = content.encode() if isinstance(content, str) else content
    if path.suffix == ".xz":
        data = lzma.compress(data)
    elif path.suffix == ".gz":
        data = gzip.compress(data)
    path.write_bytes(data)
    return path


# --- Binary formats -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code", "keys"),
    [
        ("web99.trace", "i", [1, -1, 2**31 - 1]),
        ("orm-x.trace.xz", "i", [5, -(2**31)]),
        ("cloudphysics-w9.trace.gz", "I", [2**32 - 1, 0]),
        ("scarab-x.trace.gz", "q", [-(2**63), 2**63 - 1]),
        ("corda-x.trace.xz", "q", [7]),
    ],
)
def test_a_binary_trace_is_told_by_its_name(tmp_path: Path, name: str, code: str, keys: list[int]) -> None:
    path = write(tmp_path / name, struct.pack(f">{len(keys)}{code}", *keys))
    assert list(open_trace(path)) == [Access("get", key) for key in keys]


def test_a_trace_longer_than_one_read_loses_nothing(tmp_path: Path) -> None:
    keys = list(range(50_001))
    path = write(tmp_path / "web.trace.xz", struct.pack(f">{len(keys)}i", *keys))
    assert [access.key for access in open_trace(path)] == keys


def test_a_trace_can_be_read_twice(fixture_trace: Path) -> None:
    trace = open_trace(fixture_trace)
    assert sum(1 for _ in trace) == sum(1 for _ in trace) == 20_000


def test_a_named_format_overrules_the_file_name(tmp_path: Path) -> None:
    path = write(tmp_path / "web.trace", struct.pack(">q", 9))
    assert [access.key for access in open_trace(path, "i8")] == [9]


def test_a_cut_binary_trace_is_refused_with_its_place(tmp_path: Path) -> None:
    path = write(tmp_path / "web.trace", struct.pack(">2i", 1, 2) + b"\x00")
    with pytest.raises(TraceError, match=r"web\.trace: ends in the middle of record 3 of 4 bytes"):
        list(open_trace(path))


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    whole = lzma.compress(struct.pack(">1000i", *range(1000)))
    (tmp_path / "web.trace.xz").write_bytes(whole[:-20])
    with pytest.raises(TraceError, match=r"web\.trace\.xz: cannot be decompressed"):
        list(open_trace(tmp_path / "web.trace.xz"))


# --- CSV formats --------------------------------------------------------------------------------------------


def test_our_own_csv(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv", "op,key,size\nget,a,10\nput,b,\n\ndelete,c,3\n")
    assert list(open_trace(path)) == [
        Access("get", "a", 10),
        Access("put", "b"),
        Access("delete", "c", 3),
    ]


def test_our_own_csv_needs_no_size(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.csv.gz", "key,op\na,get\n")
    assert list(open_trace(path)) == [Access("get", "a")]


def test_cloudphysics_csv(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "version,time,op,size,lbn\n1,56,2a,512,42\n1,57,28,1024,43\n")
    assert list(open_trace(path)) == [Access("put", 42, 512, 56.0), Access("get", 43, 1024, 57.0)]


@pytest.mark.parametrize(
    "text",
    [
        META_1 + "60,k,48,GET,2,87,1,0,3,4\n61,j,9,SET,1,0,0,300,3,4\n",
        META_2 + "60,k,48,GET,2,87,1,3,4,0\n61,j,9,SET,1,0,0,3,4,300\n",
    ],
    ids=["ttl in the middle", "ttl last"],
)
def test_meta_csv_is_read_by_column_name_and_repeats_count(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "kv.csv", text)
    assert list(open_trace(path)) == [
        Access("get", "k", 87, 60.0),
        Access("get", "k", 87, 60.0),
        Access("put", "j", None, 61.0),
    ]


def test_twitter_csv_has_no_header(tmp_path: Path) -> None:
    path = write(tmp_path / "cluster052.csv", "5,key-a,10,90,7,gets,0\n6,key-b,10,0,7,delete,0\n")
    assert list(open_trace(path, "twitter")) == [
        Access("get", "key-a", 100, 5.0),
        Access("delete", "key-b", 10, 6.0),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("op,key\nfetch,a\n", "line 2: op is 'fetch', not one of get, put, delete"),
        ("op,key\nget,\n", "line 2: key is empty"),
        ("op,key\nget,a\nget\n", "line 3: has no key"),
        ("op,key,size\nget,a,-1\n", "line 2: size is '-1', not a whole number"),
        (META_1 + "x,k,48,GET,1,87,1,0,3,4\n", "line 2: op_time is 'x', not a whole number"),
        (b"op,key\nget,\xff\n", "not a text file"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(tmp_path: Path, content: bytes | str, message: str) -> None:
    path = write(tmp_path / "bad.csv", content)
    with pytest.raises(TraceError, match=message):
        list(open_trace(path))


def test_a_named_csv_format_needs_its_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "op,key\nget,a\n")
    with pytest.raises(TraceError, match="the header lacks the column time"):
        list(open_trace(path, "cloudphysics"))


# --- No format ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("mystery.trace", b"\x00", "say --format i4, u4, i8 or cache2k"),
        ("mystery.csv", "a,b\n1,2\n", "the header of mystery.csv is of no known format"),
        ("mystery.bin", b"", "neither .trace nor .csv"),
        ("mystery.csv", b"\xff\xfe\n", "cannot be read as a CSV file"),
    ],
)
def test_a_file_that_tells_no_format_is_refused(
    tmp_path: Path, name: str, content: bytes | str, message: str
) -> None:
    with pytest.raises(TraceError, match=message):
        open_trace(write(tmp_path / name, content))


def test_an_unknown_format_is_refused_with_the_known_ones(fixture_trace: Path) -> None:
    with pytest.raises(TraceError, match=r"unknown trace format 'i16'; there are cache2k, i4"):
        open_trace(fixture_trace, "i16")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no such trace file"):
        open_trace(tmp_path / "none.trace")


# --- The public traces, where they are to be had ------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "requests", "unique"),
    [
        ("web07.trace.xz", 76_118, 20_484),
        ("web12.trace.xz", 95_607, 13_756),
        ("corda-vaultservice.trace.gz", 135_702, 90_468),
        ("cloudphysics-io.csv.xz", 113_872, 48_974),
        ("meta-kv-sample-1.csv", 691, 52),
        ("meta-kv-sample-2.csv", 433, 62),
    ],
)
def test_the_public_traces_are_read_whole(
    shared_trace: Callable[[str], Path], name: str, requests: int, unique: int
) -> None:
    keys = [access.key for access in open_trace(shared_trace(name))]
    assert (len(keys), len(set(keys))) == (requests, unique)


def test_the_fixture_is_the_start_of_the_public_trace(
    shared_trace: Callable[[str], Path], fixture_trace: Path
) -> None:
    shipped = [access.key for access in open_trace(fixture_trace)]
    whole: Iterable[Access] = open_trace(shared_trace("web12.trace.xz"))
    assert shipped == [access.key for _, access in zip(range(20_000), whole, strict=False)]


@pytest.mark.parametrize(
    ("name", "capacity", "ratio"),
    [("web07.trace.xz", 204, 0.6085), ("cloudphysics-io.csv.xz", 489, 0.8380)],
)
def test_the_reference_lru_agrees_with_published_figures(
    shared_trace: Callable[[str], Path],
    lru_misses: Callable[[Iterable[object], int], int],
    name: str,
    capacity: int,
    ratio: float,
) -> None:
    keys = [access.key for access in open_trace(shared_trace(name))]
    assert round(lru_misses(keys, capacity) / len(keys), 4) == ratio
