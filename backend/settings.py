"""What a user may set about the engine. Every default is the behaviour of a table nobody tuned."""

from __future__ import annotations

from dataclasses import dataclass


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
    idempotency_window: float = 600.0
    """How long a ClientRequestToken of TransactWriteItems is remembered."""
    ttl_delay: float = 48 * 3600.0
    """How long after its time to live an item is removed; the service promises "within a few days"."""
