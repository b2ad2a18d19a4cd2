"""Latencies as counts in buckets, so that a billion of them take the room of a thousand.

Buckets are log-linear, as in HdrHistogram: each power of two is cut into 128 equal parts, so that a recorded
value is known to better than 1%. Values are whole nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator

_PARTS_BITS = 7
_PARTS = 1 << _PARTS_BITS

PERCENTILES = (50.0, 90.0, 99.0, 99.9)


class Histogram:
    """Counts of durations.

    >>> latencies = Histogram()
    >>> for milliseconds in range(1, 101):
    ...     latencies.record(milliseconds / 1000)
    >>> round(latencies.percentile(50), 3), round(latencies.percentile(100), 3)
    (0.05, 0.1)
    """

    def __init__(self) -> None:
        self.count = 0
        self.maximum = 0.0
        self._sum = 0.0
        self._buckets: dict[int, int] = {}

    def record(self, seconds: float) -> None:
        """Count one duration. A negative one is an error of the caller's clock. Runtime complexity: O(1)."""
        if seconds < 0:
            raise ValueError(f"a duration of {seconds} s")
        bucket = _bucket(int(seconds * 1e9))
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1
        self.count += 1
        self._sum += seconds
        if seconds > self.maximum:
            self.maximum = seconds

    def percentile(self, percent: float) -> float:
        """The least duration (seconds) that at least `percent` % of the recorded do not exceed; 0 if none."""
        if not 0 < percent <= 100:
            raise ValueError(f"a percentile of {percent}")
        wanted, seen = self.count * percent / 100, 0
        for bucket, count in self._sorted():
            seen += count
            if seen >= wanted:
                return min(_upper_bound(bucket) / 1e9, self.maximum)
        return 0.0

    @property
    def mean(self) -> float:
        """Seconds; 0 if nothing was recorded."""
        return self._sum / self.count if self.count else 0.0

    def merge(self, other: Histogram) -> None:
        """Add the counts of `other`, such as another process's."""
        for bucket, count in other._buckets.items():
            self._buckets[bucket] = self._buckets.get(bucket, 0) + count
        self.count += other.count
        self._sum += other._sum
        self.maximum = max(self.maximum, other.maximum)

    def summary(self) -> dict[str, float]:
        """Seconds by name: mean, p50, p90, p99, p99.9 and max."""
        by_name = {f"p{percent:g}": self.percentile(percent) for percent in PERCENTILES}
        return {"mean": self.mean, **by_name, "max": self.maximum}

    def _sorted(self) -> Iterator[tuple[int, int]]:
        yield from sorted(self._buckets.items())


def _bucket(nanoseconds: int) -> int:
    """The number of the bucket: below 256 one a nanosecond, then 128 for each power of two."""
    shift = max(0, nanoseconds.bit_length() - _PARTS_BITS - 1)
    return (shift << _PARTS_BITS) + (nanoseconds >> shift)


def _upper_bound(bucket: int) -> int:
    """The greatest number of nanoseconds that falls into the bucket."""
    if bucket < 2 * _PARTS:
        return bucket
    shift = (bucket >> _PARTS_BITS) - 1
    part = bucket - (shift << _PARTS_BITS)
    return ((part + 1) << shift) - 1
