"""Everything about one node that a user can set, with DAX's defaults.

Times are seconds of the node's clock, sizes are bytes. What DAX does not have (a guard that can be taken
away, a delayed refresh, entries of size one) is for experiments: its default is the safe or the documented
behaviour.
"""

from __future__ import annotations

from dataclasses import dataclass

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSettings:
    """Raises `ValueError`, naming the setting, for a value that makes no sense.

    item_ttl: how long an item-cache entry answers; 0 = it never expires by time (record-ttl-millis).
    query_ttl: the same for the query cache; 0 = Query and Scan results are not cached (query-ttl-millis).
    item_cache_bytes, query_cache_bytes: capacity of each cache.
    unit_size: every entry counts 1, capacities are numbers of entries: for replaying traces.
    fill_guard: a miss-fill never replaces a newer write; False shows the race.
    transaction_refresh_delay: wait before the background read that follows TransactWriteItems.
    key_schema_ttl: how long a table's key schema is believed before DescribeTable is asked again.
    removal_memory: how many removed keys each cache remembers, to tell why a read missed.
    replication_log_entries: a replica further behind than this is warmed again instead of caught up.
    recent_writes: how many written keys the fill guard remembers; older fills are refused unseen.
    resend_after: a replica that has confirmed nothing for so long is sent the log again.
    store_endpoint: where table operations are to be sent, for the message that refuses them here.
    """

    item_ttl: float = 300.0
    query_ttl: float = 300.0
    item_cache_bytes: int = 256 * _MIB
    query_cache_bytes: int = 128 * _MIB
    unit_size: bool = False
    fill_guard: bool = True
    transaction_refresh_delay: float = 0.0
    key_schema_ttl: float = 60.0
    removal_memory: int = 10_000
    replication_log_entries: int = 100_000
    recent_writes: int = 100_000
    resend_after: float = 5.0
    store_endpoint: str | None = None

    def __post_init__(self) -> None:
        for name in (
            "item_ttl",
            "query_ttl",
            "item_cache_bytes",
            "query_cache_bytes",
            "transaction_refresh_delay",
            "key_schema_ttl",
            "removal_memory",
        ):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)!r}")
        for name in ("replication_log_entries", "recent_writes", "resend_after"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)!r}")
