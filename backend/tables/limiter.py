"""The question that operations ask before they act: may partitions spend so many units?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from backend.tables.indexes import Index
from backend.tables.table import Table


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
