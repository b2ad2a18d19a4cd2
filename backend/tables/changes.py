"""One committed change of one item, and who is told of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from backend.model.keys import key_of
from backend.protocol import Item
from backend.storage.base import Row

if TYPE_CHECKING:
    from backend.tables.table import Table

USER = "user"
TIME_TO_LIVE = "time-to-live"


class ItemChange:
    """An item became another. `old_row` is None for an insert, `new_row` for a removal, never both.

    `storage_key` is the item's; `time` is when, in seconds since the epoch on the engine's clock; `source` is
    `user`, or `time-to-live` for an expiry.
    """

    __slots__ = ("new_row", "old_row", "source", "storage_key", "table", "time")

    def __init__(
        self,
        table: Table,
        storage_key: bytes,
        old_row: Row | None,
        new_row: Row | None,
        time: float,
        source: str = USER,
    ) -> None:
        self.table = table
        self.storage_key = storage_key
        self.old_row = old_row
        self.new_row = new_row
        self.time = time
        self.source = source

    @property
    def old(self) -> Item | None:
        """The whole item as it was."""
        return None if self.old_row is None else self.old_row[0]

    @property
    def new(self) -> Item | None:
        """The whole item as it is."""
        return None if self.new_row is None else self.new_row[0]

    @property
    def key(self) -> Item:
        """The key attributes."""
        row = self.old_row if self.new_row is None else self.new_row
        assert row is not None, "a change has an item before or after it"
        return key_of(self.table.schema, row[0])


Observer = Callable[[ItemChange], None]
"""Called inside the storage transaction of the change: what it writes to the storage commits with the change,
and an exception it raises undoes the change."""
