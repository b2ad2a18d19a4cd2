"""The partitions of a table or a global index: ranges of the hash of the partition key.

Rules, with their public sources:

* a partition takes 3,000 read and 1,000 write units a second and holds 10 GB, whatever its table has
  (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html);
* provisioned throughput must find room for all of its reads and all of its writes at once, so their needs
  add up; what an on-demand or warm table takes is one "or a linear combination of both", so the larger need
  decides: a new on-demand table has four partitions
  (https://repost.aws/knowledge-center/on-demand-table-throttling-dynamodb,
  https://aws.amazon.com/blogs/database/part-3-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/);
* partitions are split and never merged (same article);
* a partition that stays near its limit is split where its load is halved, and a key that alone makes more
  than half of it gets a partition of its own, which no split helps any more
  (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/burst-adaptive-capacity.html).

Not modelled: splitting the items of one partition key by their sort keys.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from math import ceil

from backend.model.keys import HASH_SPACE
from backend.settings import ThrottlingSettings
from backend.tables.buckets import SecondWindow, TokenBucket

_NEAR_THE_LIMIT = 0.9
"""A partition is hot when this share of its limit has been asked of it throughout."""
_WATCHED_KEYS = 10_000
"""How many partition keys the heat of one partition is told apart by."""


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

    __slots__ = ("_by_key", "_offered", "_since", "share", "throttled", "units", "window")

    def __init__(self, limit: float, now: float) -> None:
        self.window = SecondWindow(limit)
        self.share: TokenBucket | None = None
        self.units = 0.0
        self.throttled = 0
        self._offered = 0.0
        self._since = now
        self._by_key: dict[int, float] = {}

    def offer(self, position: int, units: float) -> None:
        """Note what is asked of the partition, granted or not: that is its heat."""
        self._offered += units
        if position in self._by_key or len(self._by_key) < _WATCHED_KEYS:
            self._by_key[position] = self._by_key.get(position, 0.0) + units

    def hot_keys(self, now: float, seconds: float) -> dict[int, float] | None:
        """Once in `seconds`: the units asked for by hash of the key, if the partition was hot all the
        time."""
        elapsed = now - self._since
        if elapsed < seconds:
            return None
        hot = self._offered >= _NEAR_THE_LIMIT * self.window.limit * elapsed
        by_key = self._by_key
        self._offered, self._since, self._by_key = 0.0, now, {}
        return by_key if hot else None


class Partition:
    """The keys with start <= hash < stop."""

    __slots__ = ("reads", "start", "stop", "writes")

    def __init__(self, start: int, stop: int, settings: ThrottlingSettings, now: float) -> None:
        self.start = start
        self.stop = stop
        self.reads = Side(settings.partition_read_units, now)
        self.writes = Side(settings.partition_write_units, now)

    @property
    def width(self) -> int:
        return self.stop - self.start


class PartitionMap:
    """All partitions of a table or index: together they cover the hash space, without overlap."""

    def __init__(self, count: int, settings: ThrottlingSettings, now: float) -> None:
        self._settings = settings
        edges = [HASH_SPACE * number // count for number in range(count + 1)]
        self.all = [Partition(start, stop, settings, now) for start, stop in pairwise(edges)]
        self._starts = edges[:-1]

    def __len__(self) -> int:
        return len(self.all)

    def find(self, position: int) -> Partition:
        """The partition of a hash. O(log n) in the number of partitions."""
        return self.all[bisect_right(self._starts, position) - 1]

    def grow_to(self, count: int, now: float) -> None:
        """Halve the widest partitions until there are `count`; more stay as they are."""
        while len(self.all) < count:
            widest = max(self.all, key=lambda partition: partition.width)
            self.split(widest, [widest.start + widest.width // 2], now)

    def split(self, partition: Partition, edges: list[int], now: float) -> None:
        """Replace a partition by those between the edges; the first keeps what was counted."""
        number = self.all.index(partition)
        inner = sorted({edge for edge in edges if partition.start < edge < partition.stop})
        bounds = [partition.start, *inner, partition.stop]
        parts = [Partition(start, stop, self._settings, now) for start, stop in pairwise(bounds)]
        for side, old in ((parts[0].reads, partition.reads), (parts[0].writes, partition.writes)):
            side.units, side.throttled = old.units, old.throttled
        self.all[number : number + 1] = parts
        self._starts[number : number + 1] = [part.start for part in parts]

    def split_for_heat(self, partition: Partition, by_key: dict[int, float], now: float) -> bool:
        """Part a hot partition by the load of its keys; False when it is one key's already."""
        edges = heat_edges(by_key)
        if not any(partition.start < edge < partition.stop for edge in edges):
            return False
        self.split(partition, edges, now)
        return True

    def check(self) -> None:
        """Assert that every hash has exactly one partition."""
        assert self._starts == [partition.start for partition in self.all]
        assert self.all[0].start == 0
        assert self.all[-1].stop == HASH_SPACE
        for one, following in pairwise(self.all):
            assert one.start < one.stop == following.start


def heat_edges(by_key: dict[int, float]) -> list[int]:
    """Where to cut a partition whose keys are asked for like that: around a key that makes more than half
    of the load, or else where the load is halved."""
    total = sum(by_key.values())
    hottest = max(by_key, key=lambda position: (by_key[position], -position))
    if by_key[hottest] > total / 2:
        return [hottest, hottest + 1]
    passed = 0.0
    for position in sorted(by_key):
        if passed >= total / 2:
            return [position]
        passed += by_key[position]
    return [max(by_key)]
