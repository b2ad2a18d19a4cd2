"""Time to Live: items are removed some time after the moment that one of their attributes names.

Rules (DynamoDB developer guide, "Using time to live (TTL) in DynamoDB"):

* the attribute holds a Number, seconds since the epoch; any other type never expires, nor does a moment more
  than five years before the item was written (or TTL switched on): such a value is taken for a mistake;
* the service removes expired items within a few days. Here the removal is due the setting's `ttl_delay` after
  the moment; until then, and until somebody asks, an expired item is read and written like any other;
* a removal is a write by the service: it costs nothing, reaches the indexes, and marks its stream record;
* there are no timers: `next_due` says when there is something to do, and whoever runs the engine calls `run`.

What expires when is an index in the storage, one map a table: due second | storage key of the item. It is
kept in the transaction of the item it speaks of.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from backend.protocol import AttributeValue, Item
from backend.storage.base import OrderedMap, Storage
from backend.tables.changes import TIME_TO_LIVE, ItemChange
from backend.tables.table import Write, commit

if TYPE_CHECKING:
    from backend.tables.table import Table

FIVE_YEARS = 5 * 365 * 24 * 3600
_LATEST = 2**63 - 1
_SECOND_BYTES = 8
_BATCH = 100
"""Items removed at one go: what a caller in passing is willing to pay for."""


class Expiry:
    """The items of one store that have a time to live, by table."""

    def __init__(self, storage: Storage, delay: float) -> None:
        self._storage = storage
        self._delay = delay
        self._tables: dict[str, Schedule] = {}
        self.next_due = inf
        """When the next removal is due, in seconds since the epoch; infinity when none is planned."""

    def enable(self, table: Table, attribute: str, now: float) -> None:
        """Expire the table's items, those there already among them, by `attribute`."""
        schedule = self.attach(table, attribute)
        with self._storage.transaction():
            for key, (item, _) in table.items.range():
                schedule.plan(key, item, now)

    def attach(self, table: Table, attribute: str) -> Schedule:
        """Resume the expiry of a table that a storage held, its schedule included."""
        schedule = Schedule(table, attribute, self._storage.open(_map_name(table)), self._expect)
        self._tables[table.id] = schedule
        table.observers.append(schedule)
        self._look_ahead()
        return schedule

    def disable(self, table: Table) -> None:
        """Stop expiring; harmless when the table's items do not expire."""
        schedule = self._tables.pop(table.id, None)
        if schedule is not None:
            table.observers.remove(schedule)
            self._storage.drop(_map_name(table))
            self._look_ahead()

    def run(self, now: float, limit: int = _BATCH) -> int:
        """Remove up to `limit` items whose removal is due; returns how many were due, 0 for none."""
        removed = 0
        for schedule in list(self._tables.values()):
            if removed < limit:
                removed += self._remove_due(schedule, now, limit - removed)
        self._look_ahead()
        return removed

    def _remove_due(self, schedule: Schedule, now: float, limit: int) -> int:
        table = schedule.table
        if table.deleted_from is not None:
            self.disable(table)
            return 0
        due = max(0, int(now - self._delay) + 1).to_bytes(_SECOND_BYTES, "big")
        entries = [entry for entry, _ in islice(schedule.entries.range(None, due), limit)]
        writes, stale = [], []
        for entry in entries:
            row = table.items.get(entry[_SECOND_BYTES:])
            if row is not None and _second(row[0], schedule.attribute) == _second_of(entry):
                writes.append(Write(table, entry[_SECOND_BYTES:], row, None))
            else:
                stale.append(entry)

        def forget_stale() -> None:
            for entry in stale:
                schedule.entries.delete(entry)

        commit(self._storage, writes, now, TIME_TO_LIVE, also=forget_stale)
        return len(entries)

    def _expect(self, second: int) -> None:
        self.next_due = min(self.next_due, second + self._delay)

    def _look_ahead(self) -> None:
        self.next_due = inf
        for schedule in self._tables.values():
            for entry, _ in schedule.entries.range():
                self._expect(_second_of(entry))
                break


class Schedule:
    """One table's index of expiries, kept up by observing the table."""

    __slots__ = ("_expect", "attribute", "entries", "table")

    def __init__(
        self, table: Table, attribute: str, entries: OrderedMap, expect: Callable[[int], None]
    ) -> None:
        self.table = table
        self.attribute = attribute
        self.entries = entries
        self._expect = expect

    def __call__(self, change: ItemChange) -> None:
        old, new, key = change.old, change.new, change.storage_key
        before, after = _second(old, self.attribute), _second(new, self.attribute)
        if before != after:
            if before is not None:
                self.entries.delete(_entry(before, key))
            if new is not None:
                self.plan(key, new, change.time)

    def plan(self, key: bytes, item: Item, now: float) -> None:
        """Note when an item written at `now` expires, if it does, in the open storage transaction."""
        second = _second(item, self.attribute)
        if second is not None and second >= now - FIVE_YEARS:
            self.entries.put(_entry(second, key), (_NOTHING, 0))
            self._expect(second)


_NOTHING: dict[str, AttributeValue] = {}


def _second(item: Item | None, attribute: str) -> int | None:
    """The whole second that a TTL attribute names, or None where it names none."""
    text = item.get(attribute, _NOTHING).get("N") if item is not None else None
    if text is None:
        return None
    second = int(Decimal(text))
    return second if 0 <= second <= _LATEST else None


def _entry(second: int, key: bytes) -> bytes:
    return second.to_bytes(_SECOND_BYTES, "big") + key


def _second_of(entry: bytes) -> int:
    return int.from_bytes(entry[:_SECOND_BYTES], "big")


def _map_name(table: Table) -> str:
    return f"{table.id}/time-to-live"
