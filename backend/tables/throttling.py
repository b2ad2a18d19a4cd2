"""Throttling as DynamoDB does it: which requests are refused, and with which error.

Rules, with their public sources (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ + page):

* a local index has no throughput of its own: it is the table's. A global index has, and a write that it has
  none for is refused for the table as well (gsi-throttling.html);
* all units of a request, or of one item of a batch or transaction, are taken or none: what is refused has
  used nothing;
* the errors (throttling-diagnosing-workflow.html, and "TransactionCanceledException" in the API Reference):
  ProvisionedThroughputExceededException when provisioned, ThrottlingException when on-demand,
  RequestLimitExceeded at the account's quota; each says in its throttling reasons what was exceeded where.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from backend.errors import ServiceError
from backend.protocol import Now
from backend.settings import ThrottlingSettings
from backend.storage.base import Storage
from backend.tables.capacity import Counters
from backend.tables.limiter import Demand
from backend.tables.partitions import Side
from backend.tables.resources import ACCOUNT, KEY_RANGE, MAX_ON_DEMAND, Resource, capacity_of

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
    "indexes with the UpdateTable API"
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
        self.by_partition: dict[Side, float] = {}

    def add(self, side: Side, units: float) -> None:
        self.units += units
        self.by_partition[side] = self.by_partition.get(side, 0.0) + units

    def exceeded(self, now: float) -> str | None:
        found = self.meter.exceeded(self.units, now)
        if found is not None:
            return found
        for side, units in self.by_partition.items():
            if not side.window.has(units, now) or (side.share is not None and not side.share.has(units, now)):
                side.throttled += 1
                return KEY_RANGE
        return None

    def take(self, now: float) -> None:
        for side, units in self.by_partition.items():
            side.window.take(units)
            side.units += units
            if side.share is not None:
                side.share.take(units)
        if self.meter.take(self.units, now):
            self.resource.risen(now)

    @property
    def index(self) -> Index | None:
        """The global index that the claim is on; None is the table."""
        return _global(self.demand.index)


class Throttling:
    """The `Limiter` of an engine whose settings ask for throttling."""

    def __init__(self, now: Now, settings: ThrottlingSettings, storage: Storage) -> None:
        self._now = now
        self._settings = settings
        self._storage = storage
        self._resources: WeakKeyDictionary[Counters, Resource] = WeakKeyDictionary()

    def admit(self, demands: Sequence[Demand]) -> None:
        """Take all units or none. Raises ProvisionedThroughputExceededException, ThrottlingException or
        RequestLimitExceeded."""
        now = self._now()
        claims = self._claims(demands, now)
        refused = [(claim, limit) for claim in claims if (limit := claim.exceeded(now)) is not None]
        if refused:
            for claim, limit in refused:
                claim.counters.throttled(limit, is_read=claim.is_read)
            raise _refusal(refused)
        for claim in claims:
            claim.take(now)

    def adapt(self, table: Table) -> None:
        """Take over what the owner of a table has just set for it and its global indexes."""
        now = self._now()
        for index in (None, *table.global_indexes.values()):
            self._resource(table, index, now).adapt(capacity_of(table, index), now)

    def warm(self, table: Table, index: Index | None) -> dict[str, int]:
        """What an on-demand table or global index takes at once, as the members of a WarmThroughput."""
        resource = self._resource(table, index, self._now())
        return {
            "ReadUnitsPerSecond": int(resource.reads.instant.limit),
            "WriteUnitsPerSecond": int(resource.writes.instant.limit),
        }

    def describe(self, table: Table, index: Index | None) -> list[dict[str, Any]]:
        """Each partition: the storage key it starts with (hexadecimal; the hash of the partition key is the
        first 8 bytes), the units it has given, and how often it refused."""
        now = self._now()
        resource = self._resource(table, index, now)
        resource.grow(now)
        return [
            {
                "StartKey": one.start.hex(),
                "ConsumedReadCapacityUnits": one.reads.units,
                "ConsumedWriteCapacityUnits": one.writes.units,
                "ReadThrottleEvents": one.reads.throttled,
                "WriteThrottleEvents": one.writes.throttled,
            }
            for one in resource.partitions.all
        ]

    def _claims(self, demands: Sequence[Demand], now: float) -> list[_Claim]:
        """The demands by resource and side, their partitions split where they have been hot."""
        claims: dict[tuple[Counters, bool], _Claim] = {}
        for demand in demands:
            if demand.reads:
                self._claim(claims, demand, demand.reads, now, is_read=True)
            if demand.writes:
                self._claim(claims, demand, demand.writes, now, is_read=False)
        return list(claims.values())

    def _claim(
        self,
        claims: dict[tuple[Counters, bool], _Claim],
        demand: Demand,
        units: float,
        now: float,
        *,
        is_read: bool,
    ) -> None:
        counters = _counters(demand.table, demand.index)
        claim = claims.get((counters, is_read))
        if claim is None:
            resource = self._resource(demand.table, demand.index, now)
            if not is_read:
                resource.grow(now)
            claim = claims[counters, is_read] = _Claim(demand, resource, counters, is_read=is_read)
        claim.add(claim.resource.ask(demand.key, units, now, is_read=is_read), units)

    def _resource(self, table: Table, index: Index | None, now: float) -> Resource:
        counters = _counters(table, index)
        resource = self._resources.get(counters)
        if resource is None:
            resource = Resource(table, _global(index), self._settings, self._storage, now)
            self._resources[counters] = resource
        return resource


def _global(index: Index | None) -> Index | None:
    return index if index is not None and index.is_global else None


def _counters(table: Table, index: Index | None) -> Counters:
    return table.counters if index is None or not index.is_global else index.counters


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
