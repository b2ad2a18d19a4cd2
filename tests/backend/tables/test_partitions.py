"""Ranges of storage keys: how many, who belongs where, and how they are split."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.settings import ThrottlingSettings
from backend.tables.partitions import PartitionMap, partitions_for_peak, partitions_for_provisioned

SETTINGS = ThrottlingSettings()
GB = 1024**3


@pytest.mark.parametrize(
    ("read", "write", "size", "count"),
    [
        (1, 1, 0, 1),
        (3000, 0, 0, 1),
        (3000, 1000, 0, 2),
        (3000, 9000, 0, 10),
        (3001, 0, 0, 2),
        (1, 1, 10 * GB, 1),
        (1, 1, 10 * GB + 1, 2),
        (3000, 1000, 95 * GB, 10),
    ],
)
def test_provisioned_reads_and_writes_need_room_together(read, write, size, count):
    assert partitions_for_provisioned(read, write, size, SETTINGS) == count


@pytest.mark.parametrize(
    ("read", "write", "size", "count"), [(12000, 4000, 0, 4), (30000, 4000, 0, 10), (0, 0, 25 * GB, 3)]
)
def test_a_peak_needs_room_for_the_larger_of_the_two(read, write, size, count):
    assert partitions_for_peak(read, write, size, SETTINGS) == count


def test_a_new_map_is_even_and_grows_by_halving_the_widest():
    partitions = PartitionMap.even(3, SETTINGS, now=0)
    partitions.check()
    assert max(p.width for p in partitions.all) - min(p.width for p in partitions.all) <= 1
    partitions.grow_to(5, now=0)
    partitions.check()
    assert len(partitions) == 5
    partitions.grow_to(2, now=0)
    assert len(partitions) == 5


def test_what_was_counted_is_not_lost_by_a_split():
    partitions = PartitionMap.even(1, SETTINGS, now=0)
    partitions.all[0].writes.units = 5.0
    partitions.all[0].reads.throttled = 2
    partitions.grow_to(4, now=0)
    assert sum(p.writes.units for p in partitions.all) == 5.0
    assert sum(p.reads.throttled for p in partitions.all) == 2


def test_what_was_used_of_a_second_is_used_in_each_part():
    partitions = PartitionMap.even(1, SETTINGS, now=0)
    partitions.all[0].writes.window.take(900.0)
    partitions.grow_to(2, now=0)
    for part in partitions.all:
        assert not part.writes.window.has(200.0, now=0)
        assert part.writes.window.has(200.0, now=1)
        part.writes.window.take(50.0)


def test_a_cut_at_the_edge_of_a_partition_is_none():
    partitions = PartitionMap.even(2, SETTINGS, now=0)
    last = partitions.all[1]
    assert not partitions.split(last, [last.start], now=0)
    assert partitions.split(last, [last.start, last.start + b"x"], now=0)
    partitions.check()
    assert len(partitions) == 3


def test_a_map_goes_on_from_its_starts():
    partitions = PartitionMap.even(3, SETTINGS, now=0)
    partitions.split(partitions.all[1], [partitions.all[1].start + b"k"], now=0)
    again = PartitionMap(partitions.starts, SETTINGS, now=0)
    again.check()
    assert again.starts == partitions.starts


keys = st.binary(min_size=10, max_size=14)


@given(st.lists(st.lists(keys, min_size=1, max_size=3), max_size=20), st.integers(1, 8))
def test_every_key_has_one_partition_after_any_splits(cuts, count):
    partitions = PartitionMap.even(2, SETTINGS, now=0)
    for edges in cuts:
        partitions.split(partitions.find(edges[0]), edges, now=0)
        partitions.check()
    partitions.grow_to(count, now=0)
    partitions.check()
    for key in (key for edges in cuts for key in edges):
        found = partitions.find(key)
        assert found.start <= key
        assert found.stop is None or key < found.stop
