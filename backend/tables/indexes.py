"""A secondary index: which rows it holds, what a change of an item does to them, and what that costs.

Rules (DynamoDB Developer Guide, "Using secondary indexes" and "Write capacity consumption"):

* an item has a row in an index when it has every key attribute of the index, of the right type and not empty;
* a row holds the keys of table and index and what the projection names; its storage key is the index key
  followed by the table's, so rows with equal index keys coexist, in the order of the table keys' hashes;
* a write costs an index nothing when the row stays as it is, one row write when it appears, disappears or
  changes in place, and two when it moves to another index key.
"""

from __future__ import annotations

from collections.abc import Callable

from backend.model.keys import KeySchema, has_key, index_tail
from backend.model.sizes import item_size
from backend.protocol import Item
from backend.storage.base import OrderedMap, Row
from backend.tables.capacity import Counters, write_units
from backend.tables.definitions import IndexDefinition, Projection
from backend.tables.throughput import ThroughputHistory

RowChange = tuple[bytes | None, bytes | None, Row | None, float]
"""Storage key to delete, storage key to put, the row to put there, and the write units of both."""


class Index:
    """One local or global secondary index of a table. `definition` is replaced when its throughput
    changes."""

    __slots__ = (
        "active_from",
        "counters",
        "definition",
        "deleted_from",
        "is_global",
        "name",
        "project",
        "rows",
        "schema",
        "table_schema",
        "throughput_history",
    )

    def __init__(
        self,
        definition: IndexDefinition,
        table_schema: KeySchema,
        rows: OrderedMap,
        *,
        is_global: bool,
        active_from: float,
    ) -> None:
        self.definition = definition
        self.name = definition.name
        self.schema = definition.schema
        self.table_schema = table_schema
        self.rows = rows
        self.is_global = is_global
        self.active_from = active_from
        self.deleted_from: float | None = None
        self.counters = Counters()
        self.throughput_history = ThroughputHistory()
        self.project = _projector(definition.projection, definition.schema, table_schema)

    def row_of(self, stored: Row | None, table_key: bytes) -> tuple[bytes, Row] | None:
        """Storage key and row of a stored item in this index; None when the item has none here."""
        if stored is None or not has_key(self.schema, stored[0]):
            return None
        item = stored[0]
        contents = self.project(item)
        row = stored if contents is item else (contents, item_size(contents))
        return self.schema.encode(item) + index_tail(table_key), row

    def change(self, table_key: bytes, old: Row | None, new: Row | None) -> RowChange | None:
        """What replacing `old` by `new` does here; None when the index does not see it."""
        before = self.row_of(old, table_key)
        after = self.row_of(new, table_key)
        if after is None:
            return None if before is None else (before[0], None, None, write_units(before[1][1], 0))
        key, row = after
        if before is None:
            return None, key, row, write_units(0, row[1])
        if before[0] != key:
            return before[0], key, row, write_units(before[1][1], 0) + write_units(0, row[1])
        if before[1][0] == row[0]:
            return None
        return None, key, row, write_units(before[1][1], row[1])

    def apply(self, change: RowChange) -> None:
        """Make a change of `change()` in the open storage transaction."""
        deleted, put, row, _ = change
        if deleted is not None:
            self.rows.delete(deleted)
        if put is not None and row is not None:
            self.rows.put(put, row)

    def has_all_attributes(self) -> bool:
        """Whether a row is the whole item."""
        return self.definition.projection.type == "ALL"

    def status(self, now: float) -> str:
        if self.deleted_from is not None:
            return "DELETING"
        return "CREATING" if now < self.active_from else "ACTIVE"


def _projector(projection: Projection, schema: KeySchema, table_schema: KeySchema) -> Callable[[Item], Item]:
    if projection.type == "ALL":
        return lambda item: item
    names = dict.fromkeys((*table_schema.names, *schema.names, *projection.non_key_attributes))

    def project(item: Item) -> Item:
        return {name: item[name] for name in names if name in item}

    return project
