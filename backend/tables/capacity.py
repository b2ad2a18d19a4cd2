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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from backend.tables.indexes import Index
    from backend.tables.table import Table

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


@dataclass(frozen=True, slots=True)
class Demand:
    """Units that an operation is about to use on one partition of a table or of an index."""

    table: Table
    index: Index | None
    key: bytes
    """The storage key of the row: of the index's row when there is an `index`."""
    reads: float
    writes: float


class Limiter(Protocol):
    """Decides whether partitions have the units that an operation is about to use."""

    def admit(self, demands: Sequence[Demand]) -> None:
        """Take all of the units, or none and raise the throttling `ServiceError`. Nothing has been changed
        yet."""
        ...

    def adapt(self, table: Table) -> None:
        """Take over what the owner of a table has just set for it and its indexes."""
        ...

    def warm(self, table: Table, index: Index | None) -> dict[str, int]:
        """What an on-demand table or global index takes at once, as the members of a WarmThroughput."""
        ...

    def describe(self, table: Table, index: Index | None) -> list[dict[str, Any]]:
        """The partitions of a table or global index, and what became of the requests to each."""
        ...


class Consumption:
    """The units one request used on one table, split into the table's own and each index's."""

    __slots__ = ("by_index", "own", "table")

    def __init__(self, table: Table, own: float = 0.0) -> None:
        self.table = table
        self.own = own
        self.by_index: dict[str, float] = {}

    def add_index(self, name: str, units: float) -> None:
        self.by_index[name] = self.by_index.get(name, 0.0) + units

    def report(self, mode: str, called: str | None = None, also_as: str | None = None) -> dict[str, Any]:
        """A `ConsumedCapacity` structure for ReturnConsumedCapacity `TOTAL` or `INDEXES`.

        `called` is what the request calls the table, its name or its ARN. `also_as` repeats every amount
        under `ReadCapacityUnits` or `WriteCapacityUnits`: transactions do.
        """
        total = _amount(self.own + sum(self.by_index.values()), also_as)
        answer: dict[str, Any] = {"TableName": called or self.table.name, **total}
        if mode == "INDEXES":
            answer["Table"] = _amount(self.own, also_as)
            for member, indexes in (
                ("LocalSecondaryIndexes", self.table.local_indexes),
                ("GlobalSecondaryIndexes", self.table.global_indexes),
            ):
                split = self._split(indexes, also_as)
                if split:
                    answer[member] = split
        return answer

    def _split(self, indexes: Mapping[str, Index], also_as: str | None) -> dict[str, Any]:
        return {name: _amount(units, also_as) for name, units in self.by_index.items() if name in indexes}


def _amount(units: float, also_as: str | None) -> dict[str, float]:
    return {"CapacityUnits": units} if also_as is None else {"CapacityUnits": units, also_as: units}
