"""What a user may set about the engine. Every default is the behaviour of a table nobody tuned."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ThrottlingSettings:
    """How a store that throttles does it. The defaults are the service's documented limits; units are a
    second's."""

    partition_read_units: float = 3000.0
    partition_write_units: float = 1000.0
    partition_bytes: int = 10 * 1024**3
    burst_seconds: float = 300.0
    """How much unused provisioned capacity is kept, in seconds of it."""
    adaptive_capacity: bool = True
    """A partition may use what the others leave. Off: an even share of the table's throughput each."""
    split_for_heat: bool = True
    """A partition that stays near its limit is split, within an item collection by its sort key."""
    heat_seconds: float = 300.0
    """How long it has to stay there, 1 second or more. The service says "minutes"."""
    initial_peak_read_units: float = 6000.0
    initial_peak_write_units: float = 2000.0
    """The previous peak of a new on-demand table, which takes twice as much at once."""
    peak_seconds: float = 1800.0
    """How long it takes until a new peak counts as the previous one."""
    quota_read_units: float = 40_000.0
    quota_write_units: float = 40_000.0
    """The account's quota for one on-demand table or index."""


@dataclass(frozen=True, slots=True)
class StaleReadSettings:
    """How old the state may be that eventually consistent reads see."""

    lag: float
    """At most so many seconds: each read of a partition draws its own age below that."""
    monotonic: bool = False
    """No read of a partition sees an older state than the one before it did."""
    partitions: int = 8
    """How many ranges of the hash space have a lag of their own."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Times are seconds on the engine's clock, sizes are bytes."""

    region: str = "us-east-1"
    account_id: str = "123456789012"
    gsi_lag: float = 0.0
    """How long after a write its change reaches the global secondary indexes; 0: with the write."""
    table_delay: float = 0.0
    """How long a table or index stays CREATING, UPDATING or DELETING; 0: until the next request looks."""
    page_bytes: int = 1024 * 1024
    """Query and Scan stop after the item that makes the stored size read reach this."""
    batch_get_bytes: int = 16 * 1024 * 1024
    """BatchGetItem leaves keys unprocessed once its items reach this."""
    item_collection_bytes: int = 10 * 1024**3
    """What the items of one partition key, with their local index rows, may have: more are refused."""
    idempotency_window: float = 600.0
    """How long a ClientRequestToken of TransactWriteItems is remembered."""
    ttl_delay: float = 48 * 3600.0
    """How long after its time to live an item is removed; the service promises "within a few days"."""
    throttling: ThrottlingSettings | None = None
    """None: requests are metered and never throttled."""
    stale_reads: StaleReadSettings | None = None
    """None: eventually consistent reads see every write at once."""
