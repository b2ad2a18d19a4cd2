"""Ranges of the hash space: how many, who belongs where, and how they are split."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.model.keys import HASH_SPACE
from backend.settings import ThrottlingSettings
from backend.tables.partitions import (
    PartitionMap,
    heat_edges,
    partitions_for_peak,
    partitions_for_provisioned,
)

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
    partitions = PartitionMap(3, SETTINGS, now=0)
    partitions.check()
    assert max(p.width for p in partitions.all) - min(p.width for p in partitions.all) <= 1
    partitions.grow_to(5, now=0)
    partitions.check()
    assert len(partitions) == 5
    partitions.grow_to(2, now=0)
    assert len(partitions) == 5


def test_load_is_halved_or_a_hot_key_is_set_apart():
    assert heat_edges({10: 5.0, 20: 5.0, 30: 5.0, 40: 5.0}) == [30]
    assert heat_edges({10: 1.0, 20: 9.0, 30: 1.0}) == [20, 21]
    assert heat_edges({10: 5.0, 20: 5.0}) == [20]


def test_a_partition_of_one_key_is_not_split_any_more():
    partitions = PartitionMap(1, SETTINGS, now=0)
    assert partitions.split_for_heat(partitions.find(77), {77: 10.0}, now=0)
    partitions.check()
    alone = partitions.find(77)
    assert (alone.start, alone.stop) == (77, 78)
    assert not partitions.split_for_heat(alone, {77: 10.0}, now=0)


def test_what_was_counted_is_not_lost_by_a_split():
    partitions = PartitionMap(1, SETTINGS, now=0)
    partitions.all[0].writes.units = 5.0
    partitions.all[0].reads.throttled = 2
    partitions.grow_to(4, now=0)
    assert sum(p.writes.units for p in partitions.all) == 5.0
    assert sum(p.reads.throttled for p in partitions.all) == 2


@given(
    st.lists(st.dictionaries(st.integers(0, HASH_SPACE - 1), st.floats(0.5, 100), min_size=1), max_size=20)
)
def test_every_hash_has_one_partition_after_any_splits(loads):
    partitions = PartitionMap(2, SETTINGS, now=0)
    for by_key in loads:
        target = partitions.find(next(iter(by_key)))
        inside = {key: load for key, load in by_key.items() if target.start <= key < target.stop}
        partitions.split_for_heat(target, inside, now=0)
        partitions.check()
        for key in by_key:
            found = partitions.find(key)
            assert found.start <= key < found.stop
