"""DurableStorage: what it holds after it was closed, left or cut off, and which directories it refuses."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import lmdb
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from backend.storage import log
from backend.storage.base import Row
from backend.storage.directory import MARKER, DirectoryRefused
from backend.storage.durable import ROW_FILE, SEGMENTS, DurableStorage, StorageFailed
from backend.storage.memory import MemoryStorage
from backend.storage.row_file import RowFile

SMALL = {"segment_bytes": 4096, "map_bytes": 65536}
"""A log and a map of so few bytes that both come to their ends all the time."""


def row(text: str) -> Row:
    return ({"v": {"S": text}}, len(text))


def put(storage: DurableStorage, name: str, **rows: str) -> None:
    with storage.transaction():
        for key, text in rows.items():
            storage.open(name).put(key.encode(), row(text))


def contents(storage: DurableStorage, name: str) -> dict[str, str]:
    return {key.decode(): item["v"]["S"] for key, (item, _) in storage.open(name).range()}


def leave(storage: DurableStorage) -> None:
    """End as a crash does: what was not flushed is lost, and the lock with it."""
    storage._release()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data"


def filled(path: Path, **options: Any) -> None:
    """A closed directory with a map of three rows."""
    storage = DurableStorage(path, **options)
    put(storage, "map", a="1", b="2", c="3")
    storage.close()


# Coming back


def test_what_was_closed_comes_back(path):
    storage = DurableStorage(path)
    put(storage, "one", a="1", b="2")
    put(storage, "two", a="other")
    storage.close()
    reopened = DurableStorage(path)
    assert contents(reopened, "one") == {"a": "1", "b": "2"}
    assert contents(reopened, "two") == {"a": "other"}
    reopened.close()


def test_what_was_written_survives_without_a_close(path):
    storage = DurableStorage(path)
    put(storage, "map", a="1", b="2")
    storage.flush()
    with storage.transaction():
        storage.open("map").delete(b"a")
    storage.flush()
    put(storage, "map", late="lost")
    leave(storage)
    reopened = DurableStorage(path)
    assert contents(reopened, "map") == {"b": "2"}
    reopened.close()


def fail_half_way(storage: DurableStorage) -> None:
    with storage.transaction():
        storage.open("map").put(b"a", row("2"))
        raise ZeroDivisionError


def test_a_transaction_that_failed_is_not_written(path):
    storage = DurableStorage(path)
    put(storage, "map", a="1")
    with pytest.raises(ZeroDivisionError):
        fail_half_way(storage)
    storage.close()
    reopened = DurableStorage(path)
    assert contents(reopened, "map") == {"a": "1"}
    reopened.close()


def test_a_row_that_cannot_be_encoded_undoes_its_transaction(path):
    storage = DurableStorage(path)
    put(storage, "map", a="1")
    with pytest.raises(TypeError):
        put(storage, "map", a="2", b=object())
    assert contents(storage, "map") == {"a": "1"}
    storage.close()


def test_a_dropped_map_stays_dropped_and_its_name_is_free(path):
    storage = DurableStorage(path)
    old = storage.open("map")
    put(storage, "map", a="1", b="2")
    storage.flush()
    storage.drop("map")
    put(storage, "map", b="new")
    with storage.transaction():
        old.put(b"a", row("nobody asked"))
    storage.flush()
    leave(storage)
    for _ in range(2):
        reopened = DurableStorage(path)
        assert contents(reopened, "map") == {"b": "new"}
        reopened.close()


def test_keys_longer_than_those_of_lmdb_and_equal_at_their_beginning(path):
    keys = [
        bytes(505),
        bytes(506),
        bytes(507),
        bytes(508),
        *(bytes(3000) + bytes([last]) for last in range(4)),
    ]
    storage = DurableStorage(path)
    with storage.transaction():
        for key in keys:
            storage.open("map").put(key, row(f"{len(key)} {key[-1]}"))
    storage.close()
    reopened = DurableStorage(path)
    assert dict(reopened.open("map").range()) == {key: row(f"{len(key)} {key[-1]}") for key in keys}
    with reopened.transaction():
        for key in keys[1:]:
            reopened.open("map").delete(key)
    reopened.close()
    again = DurableStorage(path)
    assert [key for key, _ in again.open("map").range()] == keys[:1]
    again.close()


def test_the_map_grows_as_often_as_it_must(path):
    storage = DurableStorage(path, **SMALL)
    for number in range(40):
        put(storage, "map", **{f"{number}-{one}": "x" * 1000 for one in range(20)})
        storage.flush()
        storage.fold()
    storage.close()
    assert (path / ROW_FILE).stat().st_size > SMALL["map_bytes"]
    reopened = DurableStorage(path)
    assert len(reopened.open("map")) == 800
    reopened.close()


def test_progress_tells_how_many_rows_there_are(path):
    storage = DurableStorage(path)
    put(storage, "map", **{str(number): "x" for number in range(2500)})
    storage.close()
    told: list[tuple[int, int]] = []
    DurableStorage(path, progress=lambda done, total: told.append((done, total))).close()
    assert told == [(1000, 2500), (2000, 2500)]


# The log


def test_a_record_that_was_cut_off_ends_the_log(path):
    storage = DurableStorage(path)
    put(storage, "map", a="1")
    storage.flush()
    put(storage, "map", b="x" * 2000)
    group = storage.cut()
    storage.write(group)
    leave(storage)
    with (path / SEGMENTS[0]).open("r+b") as file:
        file.seek(group.offset + 1000)
        file.write(bytes(1000))
    reopened = DurableStorage(path)
    assert contents(reopened, "map") == {"a": "1"}
    reopened.close()


def test_a_damaged_record_before_a_whole_one_is_no_end_but_damage(path):
    storage = DurableStorage(path)
    put(storage, "map", a="1")
    first = storage.cut()
    storage.write(first)
    put(storage, "map", b="2")
    storage.flush()
    leave(storage)
    with (path / SEGMENTS[0]).open("r+b") as file:
        file.seek(first.offset + 30)
        file.write(b"\xff")
    refused(path, "is damaged: the log: record 1 is damaged")


def test_records_of_a_full_segment_are_read_while_they_are_not_folded(path):
    storage = DurableStorage(path, **SMALL)
    for number in range(8):
        put(storage, "map", **{str(number): "x" * 1500})
        storage.flush()
    assert storage.must_fold
    leave(storage)
    reopened = DurableStorage(path)
    assert len(reopened.open("map")) == 8
    reopened.close()


def test_a_missing_segment_is_damage(path):
    filled(path)
    (path / SEGMENTS[1]).unlink()
    refused(path, "is damaged: log-1 is missing")


# Refusing


def refused(path: Path, why: str) -> None:
    """Opening is refused in these words, and changes nothing."""
    before = {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in path.iterdir()}
    with pytest.raises(DirectoryRefused) as error:
        DurableStorage(path)
    assert str(error.value).startswith(f"the data directory {path} {why}")
    assert "\n" not in str(error.value)
    assert {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in path.iterdir()} == before


def test_a_directory_of_something_else_is_refused(path):
    path.mkdir()
    (path / "letters.txt").write_text("dear")
    refused(path, "is not empty and not daxsim's")


def test_a_database_of_somebody_else_is_refused(path):
    lmdb.open(str(path)).close()
    refused(path, "is not empty and not daxsim's")


def test_what_is_no_directory_is_refused(path):
    path.write_text("a file")
    with pytest.raises(DirectoryRefused, match="is no directory"):
        DurableStorage(path)
    with pytest.raises(DirectoryRefused, match="cannot be used: Not a directory"):
        DurableStorage(path / "below")


def test_a_name_that_no_file_can_have_is_refused(path):
    with pytest.raises(DirectoryRefused, match="cannot be used: File name too long"):
        DurableStorage(path / ("x" * 300))


@pytest.mark.parametrize(
    ("kind", "failure"),
    [
        (RowFile, lmdb.ReadonlyError("Permission denied")),
        (log.Segment, PermissionError(13, "Permission denied")),
    ],
)
def test_a_file_that_may_not_be_written_is_refused_and_no_damage(path, monkeypatch, kind, failure):
    filled(path)

    def forbidden(*arguments: Any) -> None:
        raise failure

    monkeypatch.setattr(kind, "__init__", forbidden)
    refused(path, "cannot be used: Permission denied")
    monkeypatch.undo()
    # Nothing is left open, the lock included.
    DurableStorage(path).close()


@pytest.mark.parametrize("is_new", [True, False])
def test_a_disk_that_is_full_at_the_start_is_no_damage(path, is_new, monkeypatch):
    if not is_new:
        storage = DurableStorage(path)
        put(storage, "map", a="1")
        storage.flush()
        leave(storage)

    def full(file: RowFile, changes: object) -> None:
        raise lmdb.DiskError("mdb_txn_commit: No space left on device")

    monkeypatch.setattr(RowFile, "apply", full)
    with pytest.raises(DirectoryRefused, match=r"cannot be used: .*No space left on device"):
        DurableStorage(path)
    monkeypatch.undo()
    reopened = DurableStorage(path)
    assert contents(reopened, "map") == ({} if is_new else {"a": "1"})
    reopened.close()


@pytest.mark.parametrize("other", [1, 7])
def test_another_format_is_refused(path, other):
    filled(path)
    marker = path / MARKER
    marker.write_bytes(marker.read_bytes().replace(b'"format":2', b'"format":%d' % other))
    refused(path, f"has format {other}, and this daxsim reads format 2: use the daxsim that made it, or give")


def test_a_broken_marker_is_refused(path):
    filled(path)
    (path / MARKER).write_bytes(b"{")
    refused(path, "is damaged: daxsim.json is not what daxsim wrote")


def test_a_directory_in_use_is_refused_until_it_is_left(path):
    storage = DurableStorage(path)
    with pytest.raises(DirectoryRefused, match="is in use by another process"):
        DurableStorage(path)
    storage.close()
    DurableStorage(path).close()


@pytest.mark.parametrize("left", [0, 100, 4096, 8192, 20_000])
def test_a_row_file_that_was_truncated_is_refused(path, left):
    storage = DurableStorage(path)
    put(storage, "map", **{str(number): "x" * 500 for number in range(100)})
    storage.close()
    os.truncate(path / ROW_FILE, left)
    refused(path, f"is damaged: {ROW_FILE}")


def test_a_row_file_that_is_missing_is_damage(path):
    filled(path)
    (path / ROW_FILE).unlink()
    refused(path, f"is damaged: {ROW_FILE} is missing")


def test_a_row_that_was_altered_is_damage(path):
    filled(path)
    file = path / ROW_FILE
    data = file.read_bytes()
    assert b'"3"' in data
    file.write_bytes(data.replace(b'"3"', b'"4"'))
    refused(path, f"is damaged: {ROW_FILE}: a row is not what was written")


def test_a_start_that_was_cut_short_is_made_anew(path, monkeypatch):
    monkeypatch.setattr("backend.storage.directory.DataDirectory.mark_ready", lambda directory: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        DurableStorage(path)
    monkeypatch.undo()
    filled(path)
    reopened = DurableStorage(path)
    assert contents(reopened, "map") == {"a": "1", "b": "2", "c": "3"}
    reopened.close()


# Failing


def test_after_a_write_that_failed_nothing_more_is_taken(path, monkeypatch):
    storage = DurableStorage(path)
    put(storage, "map", a="1")
    storage.flush()

    def full(segment: log.Segment, offset: int, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(log.Segment, "_write", full)
    put(storage, "map", b="2")
    with pytest.raises(StorageFailed, match=r"could not be written: .*No space left on device"):
        storage.flush()
    monkeypatch.undo()
    put(storage, "map", c="3")
    with pytest.raises(StorageFailed):
        storage.flush()
    storage.close()
    reopened = DurableStorage(path)
    assert contents(reopened, "map") == {"a": "1"}
    reopened.close()


def test_a_fold_that_failed_leaves_everything_in_the_log(path, monkeypatch):
    storage = DurableStorage(path, **SMALL)
    for number in range(8):
        put(storage, "map", **{str(number): "x" * 1500})
        storage.flush()

    def full(file: RowFile, changes: object) -> None:
        raise lmdb.DiskError("No space left on device")

    monkeypatch.setattr(RowFile, "apply", full)
    with pytest.raises(StorageFailed):
        storage.fold()
    storage.close()
    monkeypatch.undo()
    reopened = DurableStorage(path)
    assert len(reopened.open("map")) == 8
    reopened.close()


# Against the storage in memory

names = st.sampled_from(["one", "two", "three"])
keys = st.one_of(
    st.binary(max_size=3), st.builds(lambda end: bytes(600) + end, st.binary(min_size=1, max_size=2))
)
values = st.one_of(
    st.builds(lambda text: {"S": text}, st.text(max_size=20)),
    st.builds(lambda data: {"B": data}, st.binary(max_size=20)),
    st.builds(lambda data: {"BS": data}, st.lists(st.binary(max_size=3), max_size=3)),
    st.builds(lambda data: {"L": [{"M": {"deep": {"B": data}}}, {"BOOL": True}]}, st.binary(max_size=3)),
)
rows = st.builds(lambda value, size: ({"v": value}, size), values, st.integers(0, 10**6))
changes = st.lists(st.tuples(names, keys, st.one_of(st.none(), rows)), max_size=8)


class DurableAgainstMemory(RuleBasedStateMachine):
    """The same changes to both; what is flushed survives being left, and the rest does not."""

    path: Path

    @initialize()
    def start(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self.durable = DurableStorage(self.path, **SMALL)
        self.memory = MemoryStorage()
        self.flushed = self.snapshot(self.memory)

    @staticmethod
    def snapshot(storage: Any) -> dict[str, list[tuple[bytes, Row]]]:
        return {name: list(storage.open(name).range()) for name in ("one", "two", "three")}

    @rule(changes=changes, fails=st.booleans())
    def change(self, changes, fails):
        for storage in (self.durable, self.memory):
            try:
                with storage.transaction():
                    for name, key, row in changes:
                        if row is None:
                            storage.open(name).delete(key)
                        else:
                            storage.open(name).put(key, row)
                    if fails:
                        raise ZeroDivisionError
            except ZeroDivisionError:
                pass

    @rule(name=names)
    def drop(self, name):
        self.durable.drop(name)
        self.memory.drop(name)

    @rule(name=names, start=keys, stop=keys, reverse=st.booleans())
    def read(self, name, start, stop, reverse):
        ranges = [list(one.open(name).range(start, stop, reverse)) for one in (self.durable, self.memory)]
        assert ranges[0] == ranges[1]

    @rule()
    def flush(self):
        self.durable.flush()
        self.flushed = self.snapshot(self.memory)

    @rule()
    def fold(self):
        self.durable.fold()

    @rule()
    def reopen(self):
        self.durable.close()
        self.durable = DurableStorage(self.path, **SMALL)
        self.flushed = self.snapshot(self.memory)

    @rule()
    def crash(self):
        leave(self.durable)
        self.durable = DurableStorage(self.path, **SMALL)
        self.memory = MemoryStorage()
        with self.memory.transaction():
            for name, found in self.flushed.items():
                for key, row in found:
                    self.memory.open(name).put(key, row)

    @invariant()
    def same(self):
        if hasattr(self, "durable"):
            assert self.snapshot(self.durable) == self.snapshot(self.memory)

    def teardown(self):
        if hasattr(self, "durable"):
            self.durable.close()


def compare(path: Path, runs: int, steps: int) -> None:
    run_state_machine_as_test(
        type("InThatDirectory", (DurableAgainstMemory,), {"path": path}),
        settings=settings(
            max_examples=runs,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_it_holds_what_the_storage_in_memory_holds(path):
    compare(path, runs=10, steps=30)


@pytest.mark.slow
def test_it_holds_what_the_storage_in_memory_holds_for_ten_thousand_steps(path):
    compare(path, runs=100, steps=100)
