"""The write-ahead log: what it gives back after it was written, overwritten, cut off or damaged."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.storage.log import BLOCK, LogDamaged, Segment, read, room_for


def write(path: Path, first: int, payloads: list[bytes], offset: int = 0) -> int:
    """Write records from `first` on; where they end."""
    segment = Segment(path)
    for sequence, payload in enumerate(payloads, first):
        segment.write(offset, sequence, payload)
        offset += room_for(payload)
    segment.close()
    return offset


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    return [tmp_path / "one", tmp_path / "two"]


def test_records_come_back_in_their_order_over_both_segments(paths):
    write(paths[0], 5, [b"e", b"f" * 2000])
    write(paths[1], 3, [b"c", b"d"])
    assert read(paths, 2) == [(3, b"c"), (4, b"d"), (5, b"e"), (6, b"f" * 2000)]
    assert read(paths, 4) == [(5, b"e"), (6, b"f" * 2000)]
    assert read(paths, 6) == []


def test_what_a_segment_has_taken_is_on_the_disk(tmp_path, monkeypatch):
    opened: list[int] = []
    system_open = os.open

    def remember(*arguments):
        opened.append(system_open(*arguments))
        return opened[-1]

    monkeypatch.setattr(os, "open", remember)
    segment = Segment(tmp_path / "one")
    assert fcntl.fcntl(opened[0], fcntl.F_GETFL) & os.O_DSYNC
    segment.close()


def test_a_record_begins_on_a_block_of_its_own():
    assert [room_for(bytes(size)) for size in (0, 491, 492, 493, 1004, 1005)] == [
        BLOCK,
        BLOCK,
        BLOCK,
        2 * BLOCK,
        2 * BLOCK,
        3 * BLOCK,
    ]


def test_what_is_left_of_an_earlier_turn_is_not_read(paths):
    write(paths[0], 1, [b"old"] * 6)
    write(paths[0], 7, [b"new"] * 2)
    assert read(paths, 6) == [(7, b"new"), (8, b"new")]


def test_no_files_are_no_records(paths):
    assert read(paths, 0) == []


def test_a_gap_is_damage(paths):
    write(paths[0], 2, [b"b"])
    with pytest.raises(LogDamaged, match="record 1 is missing"):
        read(paths, 0)


def test_a_broken_first_record_before_whole_ones_is_damage(paths):
    write(paths[0], 1, [b"a", b"b"])
    spoil(paths[0], 20)
    with pytest.raises(LogDamaged, match="record 1 is damaged"):
        read(paths, 0)


def test_a_broken_record_of_an_earlier_turn_is_none(paths):
    write(paths[0], 1, [b"a", b"b"])
    spoil(paths[0], 20)
    assert read(paths, 2) == []


def spoil(path: Path, offset: int) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)
        file.seek(offset)
        file.write(bytes([byte[0] ^ 0xFF]))


several = st.lists(st.binary(min_size=1, max_size=1500), min_size=1, max_size=6)


@given(payloads=several, data=st.data())
def test_a_write_that_broke_off_anywhere_leaves_the_others(tmp_path_factory, payloads, data):
    path = tmp_path_factory.mktemp("log") / "one"
    begin = write(path, 1, payloads) - room_for(payloads[-1])
    written = data.draw(st.integers(0, 20 + len(payloads[-1]) - 1))
    found = bytearray(path.read_bytes())
    for place in range(begin + written, begin + 20 + len(payloads[-1])):
        found[place] ^= 0xFF
    path.write_bytes(found)
    assert read([path], 0) == list(enumerate(payloads[:-1], 1))


@given(payloads=several, data=st.data())
def test_a_file_that_was_cut_off_within_a_record_is_damage(tmp_path_factory, payloads, data):
    path = tmp_path_factory.mktemp("log") / "one"
    write(path, 1, payloads)
    victim = data.draw(st.integers(0, len(payloads) - 1))
    begin = sum(room_for(payload) for payload in payloads[:victim])
    with path.open("r+b") as file:
        file.truncate(begin + data.draw(st.integers(20, room_for(payloads[victim]) - 1)))
    with pytest.raises(LogDamaged, match="cut off"):
        read([path], 0)


@given(payloads=st.lists(st.binary(min_size=1, max_size=700), min_size=2, max_size=5), data=st.data())
def test_a_flipped_bit_is_never_taken_for_data(tmp_path_factory, payloads, data):
    path = tmp_path_factory.mktemp("log") / "one"
    write(path, 1, payloads)
    victim = data.draw(st.integers(0, len(payloads) - 1))
    begin = sum(room_for(payload) for payload in payloads[:victim])
    spoil(path, begin + data.draw(st.integers(0, 19 + len(payloads[victim]))))
    if victim == len(payloads) - 1:
        assert read([path], 0) == list(enumerate(payloads[:-1], 1))
    else:
        with pytest.raises(LogDamaged):
            read([path], 0)
