"""A table: its items, its indexes and the one way in which they change.

Rules:

* every change of an item is a `Write`, prepared from the row it replaces, and `commit` makes one or
  many of them in one storage transaction, indexes and observers included: all or nothing;
* local indexes change with the item; global ones after the lag of the settings. A late change waits in the
  storage, in the same transaction as its item, until a reader of an index or a later write finds it due:
  there are no timers;
* who reads says whether consistently: `view` is where a stale read would differ.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from backend.errors import validation_error
from backend.model.keys import KeySchema, check_index_attributes
from backend.model.sizes import item_size
from backend.protocol import Item
from backend.storage.base import OrderedMap, Row
from backend.tables.capacity import Counters, write_units
from backend.tables.changes import USER, ItemChange, Observer
from backend.tables.definitions import IndexDefinition, TableDefinition
from backend.tables.indexes import Index, RowChange
from backend.tables.stale import RememberingMap, items_behind, stale_view
from backend.tables.throughput import ThroughputHistory

if TYPE_CHECKING:
    from backend.settings import EngineSettings
    from backend.storage.base import Storage

_ORDER = struct.Struct(">QQ")
_TICKS = 1_000_000
"""Due times of late index changes are kept in microseconds."""


class Write:
    """One item about to change: what was, what will be, what it does to the indexes, what it costs."""

    __slots__ = ("by_index", "key", "new", "old", "table", "units")

    def __init__(self, table: Table, key: bytes, old: Row | None, new: Row | None) -> None:
        self.table = table
        self.key = key
        self.old = old
        self.new = new
        self.units = write_units(old[1] if old else 0, new[1] if new else 0)
        self.by_index: list[tuple[Index, RowChange]] | None = (
            table.index_changes(key, old, new) if table.indexes else None
        )


class Table:
    """One table. What UpdateTable may change are plain attributes; what it may not is in `definition`."""

    def __init__(
        self,
        definition: TableDefinition,
        identifier: str,
        now: float,
        settings: EngineSettings,
        storage: Storage,
    ) -> None:
        self.definition = definition
        self.name = definition.name
        self.schema = definition.schema
        self.id = identifier
        self.arn = f"arn:aws:dynamodb:{settings.region}:{settings.account_id}:table/{definition.name}"
        self.created = now
        self.active_from = now + settings.table_delay
        self.updating = False
        self.deleted_from: float | None = None

        self.attribute_types = dict(definition.attribute_types)
        self.billing_mode = definition.billing_mode
        self.on_demand_since: float | None = now if definition.billing_mode == "PAY_PER_REQUEST" else None
        self.throughput = definition.throughput
        self.on_demand_throughput = definition.on_demand_throughput
        self.warm_throughput = definition.warm_throughput
        self.table_class = definition.table_class
        self.table_class_since: float | None = None
        """When the class was last changed, seconds since the epoch."""
        self.deletion_protection = definition.deletion_protection
        self.stream = definition.stream
        self.encryption = definition.encryption
        self.tags = dict(definition.tags)
        self.time_to_live: str | None = None
        self.throughput_history = ThroughputHistory()

        self.counters = Counters()
        self.observers: list[Observer] = []
        self._settings = settings
        self._storage = storage
        self._late = storage.open(f"{identifier}/late-index-changes")
        # What a storage held of the table already goes on where it was.
        self._last_due, self._late_sequence = _order(next(self._late.range(reverse=True), None))
        self.items: OrderedMap = storage.open(f"{identifier}/items")
        self._is_remembered = isinstance(self.items, RememberingMap)
        self.local_indexes: dict[str, Index] = {}
        self.global_indexes: dict[str, Index] = {}
        self.indexes: dict[str, Index] = {}
        self.index_schemas: dict[str, KeySchema] = {}
        """By name, in which order they are judged: of several that refuse an item, the first is named."""
        self.key_names: frozenset[str] = frozenset(self.schema.names)
        for index in definition.local_indexes:
            self.local_indexes[index.name] = self._open_index(index, is_global=False, active_from=now)
        for index in definition.global_indexes:
            self.open_global_index(index, self.active_from)

    # Status

    def status(self, now: float) -> str:
        """`CREATING`, `UPDATING`, `DELETING` or `ACTIVE`."""
        if self.deleted_from is not None:
            return "DELETING"
        if now < self.active_from:
            return "UPDATING" if self.updating else "CREATING"
        return "ACTIVE"

    def serves(self, now: float) -> bool:
        """Whether items can be read and written: from the end of CREATING to the start of DELETING."""
        return self.deleted_from is None and (now >= self.active_from or self.updating)

    def begin_update(self, now: float) -> None:
        """Stay UPDATING for the delay of the settings."""
        self.updating = True
        self.active_from = now + self._settings.table_delay

    # Reading

    def view(self, consistent: bool) -> OrderedMap:
        """The items as one read of that consistency sees them."""
        return self.items if consistent or not self._is_remembered else stale_view(self.items)

    def index_view(self, index: Index, now: float, consistent: bool) -> OrderedMap:
        """The rows of an index, after the late changes that are due by now."""
        if index.is_global:
            self.apply_late(now)
        return index.rows if consistent else stale_view(index.rows)

    def behind(self, rows: OrderedMap) -> OrderedMap:
        """The items behind the rows that `index_view` gave: as of the same moment."""
        return items_behind(self.items, rows)

    def index(self, name: str, now: float) -> Index:
        """The index of that name, if it can be queried. Raises ValidationException."""
        found = self.indexes.get(name)
        if found is None or found.deleted_from is not None:
            raise validation_error(f"The table does not have the specified index: {name}")
        if found.status(now) == "CREATING":
            raise validation_error(f"Cannot read from backfilling global secondary index: {name}")
        return found

    # Writing

    def check_index_keys(self, item: Item) -> None:
        """Refuse an item whose attributes an index could not use as its keys. Raises ValidationException."""
        for name, schema in self.index_schemas.items():
            check_index_attributes(schema, name, item)

    def index_changes(self, key: bytes, old: Row | None, new: Row | None) -> list[tuple[Index, RowChange]]:
        changes = []
        for index in self.indexes.values():
            change = index.change(key, old, new)
            if change is not None:
                changes.append((index, change))
        return changes

    def apply_write(self, write: Write, now: float, source: str) -> None:
        """Make one prepared write in the open storage transaction."""
        old, new, key = write.old, write.new, write.key
        if new is not None:
            self.items.put(key, new)
        elif old is not None:
            self.items.delete(key)
        if write.by_index:
            self._apply_to_indexes(write, now)
        if self.observers and (old is not None or new is not None):
            change = ItemChange(self, key, old, new, now, source)
            for observer in self.observers:
                observer(change)

    def _apply_to_indexes(self, write: Write, now: float) -> None:
        lag = self._settings.gsi_lag
        # What waits goes first, also when the lag has been taken away: changes reach an index in their order.
        is_late = lag > 0 or len(self._late) > 0
        waits = False
        for index, change in write.by_index or ():
            if index.is_global and is_late:
                waits = True
            else:
                index.apply(change)
        if waits:
            self._wait(write, now + lag)

    def _wait(self, write: Write, until: float) -> None:
        """Keep a change for the global indexes; a clock that was set back lets none overtake another."""
        self._late_sequence += 1
        self._last_due = max(self._last_due, int(until * _TICKS))
        order = _ORDER.pack(self._last_due, self._late_sequence)
        self._late.put(order + write.key, (_late_change(write), 0))

    def apply_late(self, now: float) -> None:
        """Bring the global indexes up to the changes that are due by `now`."""
        if not len(self._late):
            return
        due = (int(now * _TICKS) + 1).to_bytes(8, "big")
        waiting = list(self._late.range(None, due))
        if not waiting:
            return
        with self._storage.transaction():
            for late_key, (late, _) in waiting:
                old, new = _late_row(late, "Old"), _late_row(late, "New")
                for index in self.global_indexes.values():
                    change = index.change(late_key[_ORDER.size :], old, new)
                    if change is not None:
                        index.apply(change)
                self._late.delete(late_key)

    # Indexes

    def create_index(self, definition: IndexDefinition, now: float) -> Index:
        """Add a global index and fill it from the items; existing items that do not fit its keys stay out."""
        self.apply_late(now)
        index = self.open_global_index(definition, now + self._settings.table_delay)
        with self._storage.transaction():
            for key, row in self.items.range():
                change = index.change(key, None, row)
                if change is not None:
                    index.apply(change)
        return index

    def open_global_index(self, definition: IndexDefinition, active_from: float) -> Index:
        """A global index with the rows that the storage holds of it."""
        index = self._open_index(definition, is_global=True, active_from=active_from)
        self.global_indexes[definition.name] = index
        return index

    def begin_dropping_index(self, name: str, now: float) -> None:
        """Stop serving a global index: DELETING for the delay of the settings, then gone."""
        self.global_indexes[name].deleted_from = now
        self.forget_dropped_indexes(now)

    def forget_dropped_indexes(self, now: float) -> bool:
        """Drop the global indexes whose time as DELETING is over; whether there were any."""
        over = [
            name
            for name, index in self.global_indexes.items()
            if index.deleted_from is not None and now >= index.deleted_from + self._settings.table_delay
        ]
        for name in over:
            self.drop_index(name)
        return bool(over)

    def drop_index(self, name: str) -> None:
        """Remove a global index and its rows."""
        index = self.global_indexes.pop(name)
        del self.indexes[name]
        self._index_keys_changed()
        self._drop_index_maps(index)

    def drop_storage(self) -> None:
        """Forget every row of the table and its indexes."""
        for index in self.indexes.values():
            self._drop_index_maps(index)
        self._storage.drop(self.throttling_map(None))
        self._storage.drop(f"{self.id}/late-index-changes")
        self._storage.drop(f"{self.id}/items")

    def _open_index(self, definition: IndexDefinition, *, is_global: bool, active_from: float) -> Index:
        rows = self._storage.open(self._index_map(definition.name))
        index = Index(definition, self.schema, rows, is_global=is_global, active_from=active_from)
        self.indexes[definition.name] = index
        self._index_keys_changed()
        return index

    def _index_keys_changed(self) -> None:
        self.index_schemas = {name: self.indexes[name].schema for name in sorted(self.indexes)}
        schemas = (self.schema, *self.index_schemas.values())
        self.key_names = frozenset(name for schema in schemas for name in schema.names)

    def throttling_map(self, index: Index | None) -> str:
        """The storage's name of the map that is throttling's own for the table or a global index."""
        return f"{self.id}/throttling" if index is None else f"{self.id}/throttling/{index.name}"

    def _index_map(self, name: str) -> str:
        return f"{self.id}/index/{name}"

    def _drop_index_maps(self, index: Index) -> None:
        self._storage.drop(self._index_map(index.name))
        self._storage.drop(self.throttling_map(index))


def commit(
    storage: Storage,
    writes: Sequence[Write],
    now: float,
    source: str = USER,
    also: Callable[[], None] | None = None,
) -> None:
    """Make every write in one storage transaction, of one or of several tables: all of them or none.

    `also` is called inside that transaction, for what must be stored exactly when the writes are.
    """
    for write in writes:
        if write.by_index:
            write.table.apply_late(now)
    with storage.transaction():
        for write in writes:
            write.table.apply_write(write, now, source)
        if also is not None:
            also()


def _order(late: tuple[bytes, Row] | None) -> tuple[int, int]:
    """Due time and number of a late change; 0 and 0 for none."""
    return (0, 0) if late is None else _ORDER.unpack_from(late[0])


def _late_change(write: Write) -> dict[str, Any]:
    """Old and new image as one typed item, so that any storage can hold it."""
    late: dict[str, Any] = {}
    if write.old is not None:
        late["Old"] = {"M": write.old[0]}
    if write.new is not None:
        late["New"] = {"M": write.new[0]}
    return late


def _late_row(late: Item, image: str) -> Row | None:
    found = late.get(image)
    return None if found is None else (found["M"], item_size(found["M"]))
