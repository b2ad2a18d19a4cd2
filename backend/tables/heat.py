"""The heat of a partition: which keys its load asks for, and where a split would share the load out.

Rules, with their public sources
(https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/burst-adaptive-capacity.html and, of the
series "Scaling DynamoDB: How partitions, hot keys, and split for heat impact performance",
https://aws.amazon.com/blogs/database/part-2-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/):

* a key that makes more than half of the load gets a partition of its own, which no split helps (guide);
* else the partition is cut where its load is halved, also among the items of one partition key: an item
  collection is segmented by its sort key (guide);
* no cut is made that would not help, as under an ever-increasing sort key: all load is always on the newest
  side of it (part 2). A cut helps when both sides are busy early and late;
* where no cut helps, a partition key with more than half of the load gets a partition of its own, and its
  neighbours are rid of it.

A key is a storage key. Where item collections stay whole, callers offer the prefix of the collection instead.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence

from backend.model.keys import collection_of, successor

SAMPLES = 1024
"""The most keys that are remembered of the load on one side of a partition."""
_HELPS = 0.75
"""A cut helps when, on average of the halves of the time, at most this share of the load is on one side."""

Edges = tuple[bytes, ...]


class Heat:
    """What has been asked for since a moment: how much, and of which keys.

    One key is remembered for each stretch of so many units: that of a unit drawn from the stretch, so that
    no rhythm of the requests is mistaken for their load. The draws are the same in every run.
    """

    __slots__ = ("_drawn", "_next", "_stretch", "_stride", "keys", "offered", "since", "until")

    def __init__(self, now: float, seconds: float, limit: float) -> None:
        """To be looked at when so many seconds have passed, in which `limit` units a second are expected."""
        self.since = now
        self.until = now + seconds
        self.offered = 0.0
        self.keys: list[bytes] = []
        """In the order of time."""
        self._stride = max(1.0, 2 * limit * seconds / SAMPLES)
        self._stretch = 0
        self._drawn = 0
        self._next = 0.0

    def offer(self, key: bytes, units: float) -> None:
        """Note what is asked for, granted or not: that is the heat."""
        self.offered += units
        while self._next < self.offered:
            self._remember(key)

    def _remember(self, key: bytes) -> None:
        self.keys.append(key)
        if len(self.keys) == SAMPLES:
            del self.keys[1::2]
            self._stride *= 2
            self._stretch = int(self._next // self._stride)
        self._stretch += 1
        self._drawn = (self._drawn * 1_664_525 + 1_013_904_223) % 2**32
        self._next = (self._stretch + self._drawn / 2**32) * self._stride


def edges_for(keys: Sequence[bytes]) -> Edges:
    """Where to cut a partition whose load asks for these keys, in that order; none if it would not help."""
    alone = _set_apart(keys, _itself)
    if alone:
        return alone
    middle = _middle(sorted(keys))
    return (middle,) if _helps(keys, middle) else _set_apart(keys, collection_of)


def _itself(key: bytes) -> bytes:
    return key


def _set_apart(keys: Sequence[bytes], prefix_of: Callable[[bytes], bytes]) -> Edges:
    """Around the keys of the prefix that has more than half of the load, if there is one."""
    (prefix, count), *_ = Counter(map(prefix_of, keys)).most_common(1)
    if count * 2 <= len(keys):
        return ()
    behind = successor(prefix)
    return (prefix,) if behind is None else (prefix, behind)


def _middle(ordered: Sequence[bytes]) -> bytes:
    """The key before which the load is nearest to half of it; no key has more than half."""
    half = len(ordered) // 2
    key = ordered[half]
    first, behind = bisect_left(ordered, key), bisect_right(ordered, key)
    return key if behind == len(ordered) or half - first <= behind - half else ordered[behind]


def _helps(keys: Sequence[bytes], edge: bytes) -> bool:
    half = len(keys) // 2
    busier = 0
    for part in (keys[:half], keys[half:]):
        below = sum(key < edge for key in part)
        busier += max(below, len(part) - below)
    return busier <= _HELPS * len(keys)
