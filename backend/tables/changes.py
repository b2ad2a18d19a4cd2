"""One committed change of one item, and who is told of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backend.protocol import Item

if TYPE_CHECKING:
    from backend.tables.table import Table

USER = "user"
TIME_TO_LIVE = "time-to-live"


@dataclass(frozen=True, slots=True)
class ItemChange:
    """An item became another. `old` is None for an insert, `new` is None for a removal; both are whole
    items."""

    table: Table
    key: Item
    old: Item | None
    new: Item | None
    time: float
    """When, on the engine's clock, in seconds since the epoch."""
    source: str = USER
    """`user`, or `time-to-live` for an expiry."""


Observer = Callable[[ItemChange], None]
"""Called inside the storage transaction of the change: what it writes to the storage commits with the change,
and an exception it raises undoes the change."""
