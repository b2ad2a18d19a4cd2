"""The partitions of a table or a global index: ranges of its storage keys, in the order of their hashes.

Rules, with their public sources:

* a partition takes 3,000 read and 1,000 write units a second and holds 10 GB, whatever its table has
  (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html);
* provisioned throughput must find room for all of its reads and all of its writes at once, so their needs
  add up; what an on-demand or warm table takes is one "or a linear combination of both", so the larger need
  decides: a new on-demand table has four partitions
  (https://repost.aws/knowledge-center/on-demand-table-throttling-dynamodb,
  https://aws.amazon.com/blogs/database/part-3-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/);
* partitions are split and never merged (same article);
* one that stays near its limit is split where `backend.tables.heat` finds that it helps.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from copy import copy
from itertools import pairwise
from math import ceil

from backend.model.keys import HASH_BYTES, HASH_SPACE
from backend.settings import ThrottlingSettings
from backend.tables.buckets import SecondWindow, TokenBucket
from backend.tables.heat import Heat

_NEAR_THE_LIMIT = 0.9
"""A partition is hot when this share of its limit has been asked of it throughout."""


def partitions_for_provisioned(read: float, write: float, size: int, settings: ThrottlingSettings) -> int:
    """How many partitions provisioned throughput and `size` bytes need."""
    by_rate = ceil(read / settings.partition_read_units + write / settings.partition_write_units)
    return max(1, by_rate, ceil(size / settings.partition_bytes))


def partitions_for_peak(read: float, write: float, size: int, settings: ThrottlingSettings) -> int:
    """How many partitions a table needs that can take `read` or `write` units a second."""
    by_rate = ceil(max(read / settings.partition_read_units, write / settings.partition_write_units))
    return max(1, by_rate, ceil(size / settings.partition_bytes))


class Side:
    """The reads or the writes of one partition: its limit, its share, its heat, and what became of them."""

    __slots__ = ("_heat_seconds", "heat", "share", "throttled", "units", "window")

    def __init__(self, limit: float, heat_seconds: float, now: float) -> None:
        self.window = SecondWindow(limit)
        self.share: TokenBucket | None = None
        self.units = 0.0
        self.throttled = 0
        self._heat_seconds = heat_seconds
        self.heat = self._new_heat(now)

    def follow(self, whole: Side, *, is_first: bool) -> None:
        """Go on as a part of `whole`: the first has its counts, and none gives in this second what the whole
        has given."""
        self.window = copy(whole.window)
        if is_first:
            self.units, self.throttled = whole.units, whole.throttled

    def hot_keys(self, now: float) -> list[bytes]:
        """The keys that were asked for if the partition was hot all the time, else none. The heat is measured
        anew from here."""
        heat = self.heat
        self.heat = self._new_heat(now)
        is_hot = heat.offered >= _NEAR_THE_LIMIT * self.window.limit * (now - heat.since)
        return heat.keys if is_hot else []

    def _new_heat(self, now: float) -> Heat:
        return Heat(now, self._heat_seconds, self.window.limit)


class Partition:
    """The keys with start <= key < stop; None is the end of all keys."""

    __slots__ = ("reads", "start", "stop", "writes")

    def __init__(self, start: bytes, stop: bytes | None, settings: ThrottlingSettings, now: float) -> None:
        self.start = start
        self.stop = stop
        self.reads = Side(settings.partition_read_units, settings.heat_seconds, now)
        self.writes = Side(settings.partition_write_units, settings.heat_seconds, now)

    def has_inside(self, key: bytes) -> bool:
        """Whether the partition can be cut before the key."""
        return self.start < key and (self.stop is None or key < self.stop)

    @property
    def width(self) -> int:
        """How many hashes begin in it."""
        return (HASH_SPACE if self.stop is None else _hash(self.stop)) - _hash(self.start)


class PartitionMap:
    """All partitions of a table or index: together they cover all keys, without overlap."""

    def __init__(self, starts: Sequence[bytes], settings: ThrottlingSettings, now: float) -> None:
        """One partition from each of these keys, the first of which is empty."""
        self._settings = settings
        self.starts = list(starts)
        self.all = [
            Partition(start, stop, settings, now)
            for start, stop in zip(starts, [*starts[1:], None], strict=True)
        ]

    @classmethod
    def even(cls, count: int, settings: ThrottlingSettings, now: float) -> PartitionMap:
        """So many partitions, each of as many hashes."""
        inner = [_first_key(HASH_SPACE * number // count) for number in range(1, count)]
        return cls([b"", *inner], settings, now)

    def __len__(self) -> int:
        return len(self.all)

    def find(self, key: bytes) -> Partition:
        """The partition of a storage key. O(log n) in the number of partitions."""
        return self.all[bisect_right(self.starts, key) - 1]

    def grow_to(self, count: int, now: float) -> None:
        """Halve the widest partitions until there are `count`; more stay as they are."""
        while len(self.all) < count:
            widest = max(self.all, key=lambda partition: partition.width)
            self.split(widest, [_first_key(_hash(widest.start) + widest.width // 2)], now)

    def split(self, partition: Partition, edges: Sequence[bytes], now: float) -> bool:
        """Replace a partition by those between the edges. False when no edge is inside."""
        inner = sorted({edge for edge in edges if partition.has_inside(edge)})
        if not inner:
            return False
        number = self.all.index(partition)
        starts, stops = [partition.start, *inner], [*inner, partition.stop]
        parts = [
            Partition(start, stop, self._settings, now) for start, stop in zip(starts, stops, strict=True)
        ]
        for part in parts:
            part.reads.follow(partition.reads, is_first=part is parts[0])
            part.writes.follow(partition.writes, is_first=part is parts[0])
        self.all[number : number + 1] = parts
        self.starts[number : number + 1] = starts
        return True

    def check(self) -> None:
        """Assert that every key has exactly one partition."""
        assert self.starts == [partition.start for partition in self.all]
        assert self.all[0].start == b""
        assert self.all[-1].stop is None
        for one, following in pairwise(self.all):
            assert one.start < following.start == one.stop


def _first_key(position: int) -> bytes:
    """Before all storage keys whose hash is at or behind that position."""
    return position.to_bytes(HASH_BYTES, "big")


def _hash(key: bytes) -> int:
    return int.from_bytes(key[:HASH_BYTES].ljust(HASH_BYTES, b"\x00"), "big")
