"""The table store: one call executes one DynamoDB operation, synchronously and deterministically.

Rules: time and entropy are injected; a request is checked against the service's model, then by its
operation, and either succeeds or raises `ServiceError` and changes nothing. Calls do not overlap: whoever
owns the engine makes one at a time, so an operation sees no other operation half done.
"""

from __future__ import annotations

from math import inf
from typing import Any

from backend.operations import registry
from backend.protocol import Entropy, Now, Request, Response
from backend.settings import EngineSettings
from backend.storage.base import Storage
from backend.storage.memory import MemoryStorage
from backend.tables.catalog import TableCatalog
from backend.tables.idempotency import TokenLog
from backend.tables.indexes import Index
from backend.tables.limiter import Limiter
from backend.tables.stale import RememberingStorage
from backend.tables.streams import Streams
from backend.tables.table import Table
from backend.tables.throttling import Throttling
from backend.tables.ttl import Expiry
from backend.validation.shapes import check, is_known, unknown_operation
from backend.validation.support import unsupported_operation

__all__ = ["Engine", "EngineSettings"]


class Engine:
    """A DynamoDB-compatible store in this process. It goes on with what its storage holds."""

    def __init__(
        self,
        now: Now,
        entropy: Entropy,
        settings: EngineSettings | None = None,
        storage: Storage | None = None,
        limiter: Limiter | None = None,
    ) -> None:
        self.now = now
        self.entropy = entropy
        self.settings = settings or EngineSettings()
        self.storage = storage or MemoryStorage()
        throttling = self.settings.throttling
        self.limiter = limiter or (None if throttling is None else Throttling(now, throttling, self.storage))
        stale, tables = self.settings.stale_reads, self.storage
        if stale is not None:
            tables = RememberingStorage(self.storage, now, entropy, stale)
        self.catalog = TableCatalog(now, entropy, self.settings, tables)
        self.streams = Streams(now, self.settings, self.storage)
        self.expiry = Expiry(self.storage, self.settings.ttl_delay)
        self.tokens = TokenLog(self.storage, self.settings.idempotency_window)
        for table in self.catalog.tables():
            self.streams.attach(table)
            if table.time_to_live is not None and table.deleted_from is None:
                self.expiry.attach(table, table.time_to_live)
        self._operations = registry()

    def execute(self, operation: str, request: Request) -> Response:
        """Run `operation` (`"GetItem"`) and return its response, both in the shape of botocore's model.

        Raises ServiceError, and nothing else, for whatever a request of the model's types may hold; whoever
        took it from a wire has checked those (`backend.validation.shapes.decode`).
        """
        found = self._operations.get(operation)
        if found is None:
            raise unsupported_operation(operation) if is_known(operation) else unknown_operation()
        check(operation, request)
        if self.expiry.next_due < inf and self.expiry.next_due <= self.now():
            self.expiry.run(self.now())
        return found.run(self, request, found.validate(request))

    def capacity(self) -> dict[str, Any]:
        """What each table and index has consumed and how often it was throttled, since it was created.

        `{table: {counters..., "Indexes": {index: {counters...}}}}`, the counters under their CloudWatch
        names; with throttling on, `Partitions` is a list of the partitions with theirs.
        """
        return {table.name: self._capacity(table, None) for table in self.catalog.tables()}

    def _capacity(self, table: Table, index: Index | None) -> dict[str, Any]:
        answer: dict[str, Any] = (table if index is None else index).counters.report()
        if index is None:
            answer["Indexes"] = {name: self._capacity(table, one) for name, one in table.indexes.items()}
        if self.limiter is not None and (index is None or index.is_global):
            answer["Partitions"] = self.limiter.describe(table, index)
        return answer

    def tick(self) -> None:
        """Do what is due by now and nobody has asked for: late index changes, expiries, stream records
        whose time is over."""
        now = self.now()
        for table in self.catalog.tables():
            table.apply_late(now)
        while self.expiry.run(now):
            pass
        self.streams.tick()
