"""What DynamoDB throttles by itself: a table with its local indexes, or a global index.

Rules, with their public sources (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ + page):

* provisioned: a bucket of the provisioned units with 300 seconds of burst, and the limit of each partition,
  which no burst lifts. With adaptive capacity, instant, a partition may use what the others leave; without
  it, an even share of the table's (burst-adaptive-capacity.html);
* on-demand: twice the previous peak at once, at first 4,000 writes and 12,000 reads, or what the table has
  been warmed to; a new peak counts after 30 minutes. A table that was provisioned starts from half of that
  (on-demand-capacity-mode.html). A maximum set on the table or index is kept
  (on-demand-capacity-mode-max-throughput.html), and so is the account's quota (ServiceQuotas.html);
* item collections stay whole on a table with local indexes (burst-adaptive-capacity.html), and where there is
  no sort key to split them by;
* partitions and previous peaks are stored when they change, which is seldom: a store that is opened again
  takes what it could take. What was saved up for bursts, the units of the running second and the heat are
  not: no request writes for their sake, and a client cannot tell their loss from a few minutes of rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import orjson

from backend.model.keys import collection_of
from backend.settings import ThrottlingSettings
from backend.storage.base import Storage
from backend.tables.buckets import SecondWindow, TokenBucket
from backend.tables.definitions import PAY_PER_REQUEST, Throughput
from backend.tables.heat import edges_for
from backend.tables.partitions import PartitionMap, Side, partitions_for_peak, partitions_for_provisioned

if TYPE_CHECKING:
    from backend.tables.indexes import Index
    from backend.tables.table import Table

ACCOUNT, MAX_ON_DEMAND, PROVISIONED, KEY_RANGE = (
    "AccountLimitExceeded",
    "MaxOnDemandThroughputExceeded",
    "ProvisionedThroughputExceeded",
    "KeyRangeThroughputExceeded",
)
"""The kinds of limits, as throttling reasons end with them."""

_STATE = b"state"


class Capacity(NamedTuple):
    """What the owner of a table has set for it, or for one of its global indexes."""

    billing_mode: str
    throughput: Throughput
    maximum: Mapping[str, int] | None
    warm: Mapping[str, int] | None


def capacity_of(table: Table, index: Index | None) -> Capacity:
    if index is None:
        return Capacity(
            table.billing_mode, table.throughput, table.on_demand_throughput, table.warm_throughput
        )
    one = index.definition
    return Capacity(table.billing_mode, one.throughput, one.on_demand_throughput, one.warm_throughput)


class _Peak:
    """The highest units of a second so far, which count as the previous peak when their time has passed."""

    __slots__ = ("_seconds", "_since", "previous", "recent")

    def __init__(self, previous: float, seconds: float, now: float) -> None:
        self.previous = previous
        self.recent = 0.0
        self._seconds = seconds
        self._since = now

    def note(self, used: float, now: float) -> bool:
        """Whether the previous peak has just risen."""
        risen = False
        if now - self._since >= self._seconds:
            risen = self.recent > self.previous
            self.previous = max(self.previous, self.recent)
            self.recent, self._since = 0.0, now
        self.recent = max(self.recent, used)
        return risen


class Meter:
    """The limits on all reads, or all writes, of one table or global index."""

    __slots__ = ("bucket", "instant", "maximum", "peak", "quota")

    def __init__(self, peak: _Peak, quota: float) -> None:
        self.peak = peak
        self.bucket: TokenBucket | None = None
        self.instant = SecondWindow(0.0)
        self.maximum: SecondWindow | None = None
        self.quota = SecondWindow(quota)

    def provision(self, rate: float, seconds: float, now: float) -> None:
        self.maximum = None
        if self.bucket is None:
            self.bucket = TokenBucket(rate, seconds, now)
        else:
            self.bucket.resize(rate, now)

    def on_demand(self, warm: float, maximum: float | None) -> None:
        if self.bucket is not None:
            self.peak.previous = max(self.peak.previous, self.bucket.rate / 2)
            self.bucket = None
        self.instant.limit = max(2 * self.peak.previous, warm)
        kept = maximum is not None and maximum > 0
        self.maximum = SecondWindow(maximum) if kept and maximum is not None else None

    def exceeded(self, units: float, now: float) -> str | None:
        """The limit that the units are over, by the name of its kind."""
        if self.bucket is not None:
            return None if self.bucket.has(units, now) else PROVISIONED
        if not self.quota.has(units, now):
            return ACCOUNT
        if self.maximum is not None and not self.maximum.has(units, now):
            return MAX_ON_DEMAND
        return None if self.instant.has(units, now) else KEY_RANGE

    def take(self, units: float, now: float) -> bool:
        """Use the units; whether the peak has risen by it, and more partitions may be needed."""
        if self.bucket is not None:
            self.bucket.take(units)
            return False
        self.quota.take(units)
        self.instant.take(units)
        if self.maximum is not None:
            self.maximum.take(units)
        return self.peak.note(self.instant.used, now)


class Resource:
    """The limits of a table or global index, and its partitions, which grow with what is asked of them."""

    def __init__(
        self, table: Table, index: Index | None, settings: ThrottlingSettings, storage: Storage, now: float
    ) -> None:
        """`index` is a global one, or None for the table. Goes on with what the storage holds.

        Neither table nor index is kept: a resource is forgotten with them.
        """
        self._sized = table.items if index is None else index.rows
        self._settings = settings
        self._storage = storage
        self._rows = storage.open(table.throttling_map(index))
        self._keeps_collections = bool(table.local_indexes) if index is None else index.schema.sort is None
        self.reads = Meter(
            _Peak(settings.initial_peak_read_units, settings.peak_seconds, now), settings.quota_read_units
        )
        self.writes = Meter(
            _Peak(settings.initial_peak_write_units, settings.peak_seconds, now), settings.quota_write_units
        )
        self._stored: bytes | None = None
        starts = self._restored()
        self._set_capacity(capacity_of(table, index), now)
        self.partitions = (
            PartitionMap.even(self._needed(), settings, now)
            if starts is None
            else PartitionMap(starts, settings, now)
        )
        self._fit(now)

    def adapt(self, capacity: Capacity, now: float) -> None:
        """Take over what the owner has set."""
        self._set_capacity(capacity, now)
        self._fit(now)

    def grow(self, now: float) -> None:
        """Have room for the bytes that are stored."""
        if self._sized.stored_bytes > len(self.partitions) * self._settings.partition_bytes:
            self._fit(now)

    def risen(self, now: float) -> None:
        """A new previous peak: twice of it is taken from now on."""
        for meter in (self.reads, self.writes):
            meter.instant.limit = max(meter.instant.limit, 2 * meter.peak.previous)
        self._fit(now)

    def ask(self, key: bytes, units: float, now: float, *, is_read: bool) -> Side:
        """The side of the partition that has the key, split if it has been hot for long enough. It hears of
        the units that are asked for."""
        side = self._side(key, is_read)
        if now >= side.heat.until:
            self._cool(key, side, now)
            side = self._side(key, is_read)
        side.heat.offer(collection_of(key) if self._keeps_collections else key, units)
        return side

    def _side(self, key: bytes, is_read: bool) -> Side:
        partition = self.partitions.find(key)
        return partition.reads if is_read else partition.writes

    def _cool(self, key: bytes, side: Side, now: float) -> None:
        hot = side.hot_keys(now)
        if (
            hot
            and self._settings.split_for_heat
            and self.partitions.split(self.partitions.find(key), edges_for(hot), now)
        ):
            # No other partition is cut for size here: the request may have asked it already.
            self._share(now)
            self._store()

    def _set_capacity(self, capacity: Capacity, now: float) -> None:
        self._capacity = capacity
        warm, maximum = capacity.warm or {}, capacity.maximum or {}
        if capacity.billing_mode == PAY_PER_REQUEST:
            self.reads.on_demand(warm.get("ReadUnitsPerSecond", 0.0), maximum.get("MaxReadRequestUnits"))
            self.writes.on_demand(warm.get("WriteUnitsPerSecond", 0.0), maximum.get("MaxWriteRequestUnits"))
        else:
            self.reads.provision(capacity.throughput.read, self._settings.burst_seconds, now)
            self.writes.provision(capacity.throughput.write, self._settings.burst_seconds, now)

    def _fit(self, now: float) -> None:
        """Have as many partitions as throughput and size need, and share the throughput out."""
        self.partitions.grow_to(self._needed(), now)
        self._share(now)
        self._store()

    def _needed(self) -> int:
        warm, size = self._capacity.warm or {}, self._sized.stored_bytes
        by_warmth = partitions_for_peak(
            warm.get("ReadUnitsPerSecond", 0.0), warm.get("WriteUnitsPerSecond", 0.0), size, self._settings
        )
        if self.reads.bucket is None:
            reads, writes = self.reads.instant.limit, self.writes.instant.limit
            return max(by_warmth, partitions_for_peak(reads, writes, size, self._settings))
        provisioned = self._capacity.throughput
        return max(
            by_warmth, partitions_for_provisioned(provisioned.read, provisioned.write, size, self._settings)
        )

    def _share(self, now: float) -> None:
        """Without adaptive capacity each partition has an even share of what is provisioned, and its own
        burst."""
        for partition in self.partitions.all:
            for side, meter in ((partition.reads, self.reads), (partition.writes, self.writes)):
                if meter.bucket is None or self._settings.adaptive_capacity:
                    side.share = None
                elif side.share is None:
                    share = meter.bucket.rate / len(self.partitions)
                    side.share = TokenBucket(share, self._settings.burst_seconds, now)
                else:
                    side.share.resize(meter.bucket.rate / len(self.partitions), now)

    def _restored(self) -> list[bytes] | None:
        """Take the previous peaks from the storage; gives where its partitions start."""
        row = self._rows.get(_STATE)
        if row is None:
            return None
        self._stored = row[0]["State"]["B"]
        state = orjson.loads(self._stored)
        self.reads.peak.previous, self.writes.peak.previous = state["PreviousPeaks"]
        return [bytes.fromhex(start) for start in state["Partitions"]]

    def _store(self) -> None:
        state = orjson.dumps(
            {
                "PreviousPeaks": [self.reads.peak.previous, self.writes.peak.previous],
                "Partitions": [start.hex() for start in self.partitions.starts],
            }
        )
        if state != self._stored:
            with self._storage.transaction():
                self._rows.put(_STATE, ({"State": {"B": state}}, 0))
            self._stored = state
