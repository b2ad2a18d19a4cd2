"""Throttling as DynamoDB does it: what a table, its global indexes and their partitions may use each second.

Rules, with their public sources (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ + page):

* provisioned: a bucket of the provisioned units with 300 seconds of burst, and the limit of each partition,
  which no burst lifts. With adaptive capacity, instant, a partition may use what the others leave; without
  it, an even share of the table's (burst-adaptive-capacity.html);
* on-demand: twice the previous peak at once, at first 4,000 writes and 12,000 reads, or what the table has
  been warmed to; a new peak counts after 30 minutes. A table that was provisioned starts from half of that
  (on-demand-capacity-mode.html). A maximum set on the table or index is kept
  (on-demand-capacity-mode-max-throughput.html), and so is the account's quota (ServiceQuotas.html);
* a local index has no throughput of its own: it is the table's. A global index has, and a write that it has
  none for is refused for the table as well (gsi-throttling.html);
* all of a request's units are taken, or none: a refused request has used nothing;
* the errors (throttling-diagnosing-workflow.html, and "TransactionCanceledException" in the API Reference):
  ProvisionedThroughputExceededException when provisioned, ThrottlingException when on-demand,
  RequestLimitExceeded at the account's quota; each says in its throttling reasons what was exceeded where.

The state of the buckets is not stored: a restarted store begins like a new table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from backend.errors import ServiceError
from backend.protocol import Now
from backend.settings import ThrottlingSettings
from backend.tables.buckets import SecondWindow, TokenBucket
from backend.tables.capacity import Counters, Demand
from backend.tables.definitions import PAY_PER_REQUEST, Throughput
from backend.tables.partitions import (
    Partition,
    PartitionMap,
    Side,
    partitions_for_peak,
    partitions_for_provisioned,
)

if TYPE_CHECKING:
    from backend.tables.indexes import Index
    from backend.tables.table import Table

PROVISIONED_TABLE = (
    "The level of configured provisioned throughput for the table was exceeded. "
    "Consider increasing your provisioning level with the UpdateTable API."
)
PROVISIONED_INDEX = (
    "The level of configured provisioned throughput for one or more global secondary indexes of the table "
    "was exceeded. Consider increasing your provisioning level for the under-provisioned global secondary "
    "indexes with the UpdateTable API."
)
ON_DEMAND_TABLE = (
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your "
    "table or index so please try again shortly. If exceptions persist, check if you have a hot key: "
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
)
ON_DEMAND_INDEX = (
    "Throughput exceeds the current capacity for one or more global secondary indexes. "
    "DynamoDB is automatically scaling your index so please try again shortly."
)
MAXIMUM = "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
QUOTA = (
    "Throughput exceeds the current throughput limit for your account. "
    "Please contact AWS Support at https://aws.amazon.com/support to request a limit increase"
)

ACCOUNT, MAX_ON_DEMAND, PROVISIONED, KEY_RANGE = (
    "AccountLimitExceeded",
    "MaxOnDemandThroughputExceeded",
    "ProvisionedThroughputExceeded",
    "KeyRangeThroughputExceeded",
)


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


class _Meter:
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
    """A table with its local indexes, or a global index: its limits and its partitions."""

    def __init__(self, settings: ThrottlingSettings, now: float) -> None:
        self._settings = settings
        self.reads = _Meter(
            _Peak(settings.initial_peak_read_units, settings.peak_seconds, now), settings.quota_read_units
        )
        self.writes = _Meter(
            _Peak(settings.initial_peak_write_units, settings.peak_seconds, now), settings.quota_write_units
        )
        self.capacity: Capacity | None = None
        self.partitions: PartitionMap | None = None

    def adapt(self, capacity: Capacity, size: int, now: float) -> PartitionMap:
        """Take over what the owner has set and the bytes that are stored; gives the partitions."""
        if capacity != self.capacity:
            self.capacity = capacity
            warm, maximum = capacity.warm or {}, capacity.maximum or {}
            if capacity.billing_mode == PAY_PER_REQUEST:
                self.reads.on_demand(warm.get("ReadUnitsPerSecond", 0.0), maximum.get("MaxReadRequestUnits"))
                self.writes.on_demand(
                    warm.get("WriteUnitsPerSecond", 0.0), maximum.get("MaxWriteRequestUnits")
                )
            else:
                self.reads.provision(capacity.throughput.read, self._settings.burst_seconds, now)
                self.writes.provision(capacity.throughput.write, self._settings.burst_seconds, now)
            return self._fit(size, now)
        partitions = self.partitions
        if partitions is None or size > len(partitions) * self._settings.partition_bytes:
            return self._fit(size, now)
        return partitions

    def _fit(self, size: int, now: float) -> PartitionMap:
        """Have as many partitions as throughput and size need, and share the throughput out."""
        count = self._needed(size)
        if self.partitions is None:
            self.partitions = PartitionMap(count, self._settings, now)
        else:
            self.partitions.grow_to(count, now)
        self._share(self.partitions, now)
        return self.partitions

    def _needed(self, size: int) -> int:
        assert self.capacity is not None, "adapt() sets it first"
        warm = self.capacity.warm or {}
        by_warmth = partitions_for_peak(
            warm.get("ReadUnitsPerSecond", 0.0), warm.get("WriteUnitsPerSecond", 0.0), size, self._settings
        )
        if self.reads.bucket is None:
            reads, writes = self.reads.instant.limit, self.writes.instant.limit
            return max(by_warmth, partitions_for_peak(reads, writes, size, self._settings))
        provisioned = self.capacity.throughput
        return max(
            by_warmth,
            partitions_for_provisioned(provisioned.read, provisioned.write, size, self._settings),
        )

    def _share(self, partitions: PartitionMap, now: float) -> None:
        """Without adaptive capacity each partition has an even share of what is provisioned, and its own
        burst."""
        for partition in partitions.all:
            for side, meter in ((partition.reads, self.reads), (partition.writes, self.writes)):
                if meter.bucket is None or self._settings.adaptive_capacity:
                    side.share = None
                elif side.share is None:
                    share = meter.bucket.rate / len(partitions)
                    side.share = TokenBucket(share, self._settings.burst_seconds, now)
                else:
                    side.share.resize(meter.bucket.rate / len(partitions), now)

    def cool(self, partition: Partition, side: Side, now: float) -> None:
        """Split the partition if it has been hot for long enough."""
        hot = side.hot_keys(now, self._settings.heat_seconds)
        if (
            hot
            and self.partitions is not None
            and self._settings.split_for_heat
            and self.partitions.split_for_heat(partition, hot, now)
        ):
            self._share(self.partitions, now)

    def risen(self, size: int, now: float) -> None:
        """A new previous peak: twice of it is taken from now on."""
        for meter in (self.reads, self.writes):
            meter.instant.limit = max(meter.instant.limit, 2 * meter.peak.previous)
        self._fit(size, now)


class _Claim:
    """What one request wants of one side, reads or writes, of one resource."""

    __slots__ = ("by_partition", "counters", "demand", "is_read", "meter", "resource", "units")

    def __init__(self, demand: Demand, resource: Resource, counters: Counters, *, is_read: bool) -> None:
        self.demand = demand
        self.resource = resource
        self.counters = counters
        self.is_read = is_read
        self.meter = resource.reads if is_read else resource.writes
        self.units = 0.0
        self.by_partition: dict[Side, tuple[Partition, float]] = {}

    def add(self, partition: Partition, side: Side, units: float) -> None:
        self.units += units
        self.by_partition[side] = (partition, self.by_partition.get(side, (partition, 0.0))[1] + units)

    def exceeded(self, now: float) -> str | None:
        found = self.meter.exceeded(self.units, now)
        if found is not None:
            return found
        for side, (_, units) in self.by_partition.items():
            if not side.window.has(units, now) or (side.share is not None and not side.share.has(units, now)):
                side.throttled += 1
                return KEY_RANGE
        return None

    def take(self, now: float) -> None:
        for side, (_, units) in self.by_partition.items():
            side.window.take(units)
            side.units += units
            if side.share is not None:
                side.share.take(units)
        if self.meter.take(self.units, now):
            self.resource.risen(_size(self.demand.table, self.index), now)

    def refuse(self) -> None:
        if self.is_read:
            self.counters.read_throttles += 1
        else:
            self.counters.write_throttles += 1

    @property
    def index(self) -> Index | None:
        """The global index that the claim is on; None is the table."""
        return _global(self.demand.index)


class Throttling:
    """The `Limiter` of an engine whose settings ask for throttling."""

    def __init__(self, now: Now, settings: ThrottlingSettings) -> None:
        self._now = now
        self._settings = settings
        self._resources: WeakKeyDictionary[Counters, Resource] = WeakKeyDictionary()

    def admit(self, demands: Sequence[Demand]) -> None:
        """Take all units or none. Raises ProvisionedThroughputExceededException, ThrottlingException or
        RequestLimitExceeded."""
        now = self._now()
        claims = self._claims(demands, now)
        refused = [(claim, limit) for claim in claims if (limit := claim.exceeded(now)) is not None]
        if refused:
            for claim, _ in refused:
                claim.refuse()
            raise _refusal(refused)
        for claim in claims:
            claim.take(now)

    def adapt(self, table: Table) -> None:
        """Take over what the owner of a table has just set for it and its global indexes."""
        now = self._now()
        self._resource(table, None, now)
        for index in table.global_indexes.values():
            self._resource(table, index, now)

    def describe(self, table: Table, index: Index | None) -> list[dict[str, Any]]:
        """Each partition: its range of hashes (64 bits, hexadecimal), the units it has given, and how often
        it refused."""
        _, partitions = self._resource(table, index, self._now())
        return [
            {
                "HashRange": [f"{one.start:016x}", f"{one.stop - 1:016x}"],
                "ConsumedReadCapacityUnits": one.reads.units,
                "ConsumedWriteCapacityUnits": one.writes.units,
                "ReadThrottleEvents": one.reads.throttled,
                "WriteThrottleEvents": one.writes.throttled,
            }
            for one in partitions.all
        ]

    def _claims(self, demands: Sequence[Demand], now: float) -> list[_Claim]:
        """The demands by resource and side, their partitions split where they have been hot."""
        claims: dict[tuple[Counters, bool], _Claim] = {}
        for demand in demands:
            counters = _counters(demand.table, demand.index)
            resource, partitions = self._resource(demand.table, demand.index, now)
            for is_read, units in ((True, demand.reads), (False, demand.writes)):
                if not units:
                    continue
                partition = partitions.find(demand.partition)
                side = partition.reads if is_read else partition.writes
                resource.cool(partition, side, now)
                partition = partitions.find(demand.partition)
                side = partition.reads if is_read else partition.writes
                side.offer(demand.partition, units)
                claim = claims.get((counters, is_read))
                if claim is None:
                    claim = _Claim(demand, resource, counters, is_read=is_read)
                    claims[counters, is_read] = claim
                claim.add(partition, side, units)
        return list(claims.values())

    def _resource(self, table: Table, index: Index | None, now: float) -> tuple[Resource, PartitionMap]:
        counters = _counters(table, index)
        resource = self._resources.get(counters)
        if resource is None:
            resource = self._resources[counters] = Resource(self._settings, now)
        is_global = _global(index)
        return resource, resource.adapt(capacity_of(table, is_global), _size(table, is_global), now)


def _global(index: Index | None) -> Index | None:
    return index if index is not None and index.is_global else None


def _counters(table: Table, index: Index | None) -> Counters:
    return table.counters if index is None or not index.is_global else index.counters


def _size(table: Table, index: Index | None) -> int:
    return (table.items if index is None else index.rows).stored_bytes


def _refusal(refused: Sequence[tuple[_Claim, str]]) -> ServiceError:
    """The error of the first limit that was exceeded, with the reasons of all."""
    reasons = []
    for claim, limit in refused:
        index = claim.index
        arn = claim.demand.table.arn
        kind = ("Table" if index is None else "Index") + ("Read" if claim.is_read else "Write")
        resource = arn if index is None else f"{arn}/index/{index.name}"
        reasons.append({"reason": kind + limit, "resource": resource})
    claim, limit = refused[0]
    if limit == ACCOUNT:
        return ServiceError("RequestLimitExceeded", QUOTA, fields={"ThrottlingReasons": reasons})
    on_table = claim.index is None
    if claim.meter.bucket is not None:
        message = PROVISIONED_TABLE if on_table else PROVISIONED_INDEX
        return ServiceError(
            "ProvisionedThroughputExceededException", message, fields={"ThrottlingReasons": reasons}
        )
    message = MAXIMUM if limit == MAX_ON_DEMAND else ON_DEMAND_TABLE if on_table else ON_DEMAND_INDEX
    return ServiceError("ThrottlingException", message, fields={"throttlingReasons": reasons})
