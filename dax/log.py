"""What a replication log is made of: positions, changes, the messages that carry them, and the log itself.

A position is a sequence number and the epoch (the primary's term) that wrote it. Two logs with the same
position in them are the same log up to there: the log-matching rule of Raft (Ongaro and Ousterhout 2014).
What nodes do with a log is in `dax.replication`.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from enum import StrEnum

from backend.protocol import Item
from dax.cache.items import ItemKey, KeptItem


class Cause(StrEnum):
    """What a change records."""

    WRITE = "write"
    """The store holds this state since a write through the cluster."""
    FILL = "fill"
    """A read missed and the store answered with this state."""
    DROP = "drop"
    """A write whose outcome is not known may have changed the state: nothing is cached any more."""


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in the log: the change with this sequence number, written in this epoch."""

    sequence: int
    epoch: int


ORIGIN = Position(0, 0)


@dataclass(frozen=True, slots=True)
class Change:
    """One state of one key. `item` None: no such item (or, for a drop, not known)."""

    position: Position
    cause: Cause
    key: ItemKey
    item: Item | None
    stored_at: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An item cache as it was at a position of the log."""

    position: Position
    entries: tuple[KeptItem, ...]


# Messages


@dataclass(frozen=True, slots=True)
class Append:
    """Primary to replica: these changes follow `after`. All replicas have confirmed up to `confirmed`."""

    epoch: int
    after: Position
    changes: tuple[Change, ...]
    confirmed: int


@dataclass(frozen=True, slots=True)
class Confirm:
    """Replica to primary: everything up to `position` is applied."""

    epoch: int
    position: Position


@dataclass(frozen=True, slots=True)
class Resume:
    """Replica to primary: send the log from after `position`."""

    epoch: int
    position: Position


@dataclass(frozen=True, slots=True)
class Warm:
    """Primary to replica: forget what you have and begin with this."""

    epoch: int
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class OfferFill:
    """Replica to primary: the store said this to a read that began when `as_of` was applied here."""

    epoch: int
    as_of: Position
    key: ItemKey
    item: Item | None
    stored_at: float


@dataclass(frozen=True, slots=True)
class RefuseFill:
    """Primary to replica: `offer` is not in the log and never will be."""

    epoch: int
    offer: OfferFill


@dataclass(frozen=True, slots=True)
class ReportWrite:
    """Former primary to its successor: a write of this key reached the store and is in no log."""

    key: ItemKey


FillToken = tuple[int, Position]
"""How often this node was warmed or flushed, and where its log was, when a read began."""

Message = Append | Confirm | Resume | Warm | OfferFill | RefuseFill | ReportWrite


class Log:
    """Consecutive changes after `base`."""

    def __init__(self) -> None:
        self.base = ORIGIN
        self.last = ORIGIN
        self._changes: dict[int, Change] = {}

    def append(self, change: Change) -> None:
        assert change.position.sequence == self.last.sequence + 1, (change, self.last)
        self._changes[change.position.sequence] = change
        self.last = change.position

    def at(self, sequence: int) -> Position | None:
        """The position with that sequence, if it is still here. O(1)."""
        if sequence == self.base.sequence:
            return self.base
        change = self._changes.get(sequence)
        return None if change is None else change.position

    def holds(self, position: Position) -> bool:
        """Whether this log is known to have `position` in it. O(1)."""
        return self.at(position.sequence) == position

    def after(self, position: Position) -> tuple[Change, ...] | None:
        """The changes behind `position`, or None when they are not all here. O(number of them)."""
        if not self.holds(position):
            return None
        return tuple(self._changes[n] for n in range(position.sequence + 1, self.last.sequence + 1))

    def first_after(self, sequence: int) -> Change | None:
        """The oldest change behind `sequence`, if it is still here. O(1)."""
        return self._changes.get(sequence + 1)

    def trim(self, sequence: int) -> None:
        """Forget the changes up to `sequence`. O(number of them)."""
        for n in range(self.base.sequence + 1, min(sequence, self.last.sequence) + 1):
            self.base = self._changes.pop(n).position

    def restart(self, position: Position) -> None:
        """Begin anew behind `position`, empty."""
        self.base = self.last = position
        self._changes.clear()

    def __len__(self) -> int:
        return len(self._changes)


class RecentWrites:
    """When keys were last written, as log sequences, for the latest `limit` keys."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sequences: OrderedDict[ItemKey, int] = OrderedDict()
        self._floor = 0

    def note(self, key: ItemKey, sequence: int) -> None:
        """`key` was written at `sequence`, the highest so far. O(1)."""
        self._sequences[key] = sequence
        self._sequences.move_to_end(key)
        if len(self._sequences) > self._limit:
            self._floor = self._sequences.popitem(last=False)[1]

    def may_be_after(self, key: ItemKey, sequence: int) -> bool:
        """Whether `key` was written after `sequence`, or that is not known any more. O(1)."""
        return sequence < self._floor or self._sequences.get(key, 0) > sequence

    def restart(self, floor: int) -> None:
        """Know nothing of what was written up to `floor`."""
        self._sequences.clear()
        self._floor = floor
