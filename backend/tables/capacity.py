"""Capacity units as the service meters them: the one place that turns sizes into units.

Rules (DynamoDB Developer Guide, "Read and write operations"):

* a strongly consistent read costs 1 unit for each 4 KB begun, an eventually consistent one half of that;
  reading an item that is not there costs as much as the smallest item;
* a page of Query or Scan is rounded once, on the sum of the stored sizes it evaluated;
* a write costs 1 unit for each 1 KB begun of the larger of old and new item; at least 1, whatever it changed;
* in a transaction everything costs double;
* an index write costs like an item write of its row: moving a row to another index key is a delete and a put.
"""

from __future__ import annotations

from collections import Counter

READ_UNIT = 4096
WRITE_UNIT = 1024


def read_units(size: int, consistent: bool) -> float:
    """Units of reading `size` bytes in one go; 0 bytes is a missing item or an empty page."""
    steps = -(-size // READ_UNIT) or 1
    return float(steps) if consistent else steps / 2


def write_units(old_size: int, new_size: int) -> float:
    """Units of replacing an item of `old_size` bytes by one of `new_size`; 0 bytes is no item."""
    larger = old_size if old_size > new_size else new_size
    return float(-(-larger // WRITE_UNIT) or 1)


class Counters:
    """What clients of a table or index have used, and how often they were throttled, since it was created."""

    __slots__ = ("__weakref__", "_by_limit", "_throttles", "read_units", "write_units")

    def __init__(self) -> None:
        self.read_units = 0.0
        self.write_units = 0.0
        self._throttles = Counter({"ReadThrottleEvents": 0, "WriteThrottleEvents": 0})
        self._by_limit: Counter[str] = Counter()

    def throttled(self, limit: str, *, is_read: bool) -> None:
        """Count a request that was refused; `limit` is the end of its throttling reason."""
        side = "Read" if is_read else "Write"
        self._throttles[f"{side}ThrottleEvents"] += 1
        self._by_limit[f"{side}{limit.removesuffix('Exceeded')}ThrottleEvents"] += 1

    def report(self) -> dict[str, float]:
        """The counters under their CloudWatch names; of the limits, those that were exceeded."""
        return {
            "ConsumedReadCapacityUnits": self.read_units,
            "ConsumedWriteCapacityUnits": self.write_units,
            **self._throttles,
            **self._by_limit,
        }
