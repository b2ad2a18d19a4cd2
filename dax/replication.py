"""The replication log: one order for every change of the cluster's item caches.

The rules of this file:

* Every change of an item cache is a `Change` at a `Position` of the primary's log: writes, miss-fills and
  drops alike. Replicas apply the log in order, without gaps. So all item caches converge.
* A fill carries the sequence that its node had applied before the store was read. The primary refuses it if
  the key was written later, or if it can no longer know. A replica shows its own fill at once and lets the
  log decide: whatever the primary ordered after that sequence is still on its way and replaces the fill,
  and a fill that is refused, or unanswered when the primary changes, is taken back. What was read under one
  primary is not cached under the next.
* The primary keeps a change until every replica has confirmed it. A replica with a gap asks for the log from
  its own position; if the log does not reach back so far, or never held that position, it is warmed anew.
* Nothing here waits: methods change state and send messages; a timer calls `resend`.

Divergence from DAX: none is documented, for how DAX replicates is not.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from enum import StrEnum

from backend.protocol import Item
from dax.cache.entries import RemovalReason
from dax.cache.items import ItemCache, ItemKey
from dax.log import (
    Append,
    Cause,
    Change,
    Confirm,
    FillToken,
    Log,
    Message,
    OfferFill,
    Position,
    RecentWrites,
    RefuseFill,
    ReportWrite,
    Resume,
    Snapshot,
    Warm,
)
from dax.world import NodeId

Send = Callable[[NodeId, Message], None]


class Role(StrEnum):
    """What a node is in its cluster."""

    PRIMARY = "primary"
    REPLICA = "replica"


class Replication:
    """One node's part in the cluster's log: the primary's, or a replica's.

    items: the cache that changes are applied to. send: to another node, without waiting.
    log_limit, recent_limit: entries; see `NodeSettings`. guard: refuse fills older than a write.
    """

    def __init__(
        self,
        items: ItemCache,
        send: Send,
        now: Callable[[], float],
        *,
        guard: bool = True,
        log_limit: int = 100_000,
        recent_limit: int = 100_000,
    ) -> None:
        self.role = Role.REPLICA
        self.epoch = 0
        self.primary: NodeId | None = None
        self.log = Log()
        self.fills_refused = 0
        self.apply_delay = 0.0
        self._items = items
        self._send = send
        self._now = now
        self._guard = guard
        self._log_limit = log_limit
        self._recent = RecentWrites(recent_limit)
        # Fills of this replica's own that are in its cache and, as far as it knows, not in the log.
        self._offered: OrderedDict[ItemKey, OfferFill] = OrderedDict()
        self._offer_limit = recent_limit
        self.late_writes: dict[ItemKey, None] = {}
        """Keys of writes that this node began as the primary and ended when it was not any more.

        Each successor is told of them; the supervisor does so too, since a message may be lost.
        """
        # Confirmed sequence of each replica; None until it has been heard in this epoch.
        self._followers: dict[NodeId, int | None] = {}
        self._asked_from: Position | None = None
        self._lineage = 0

    # Roles

    def become_primary(self, epoch: int, replicas: Iterable[NodeId]) -> None:
        """Write the log from now on. In an epoch that goes on, only the set of replicas changes."""
        known = self._followers if self.role is Role.PRIMARY and epoch == self.epoch else {}
        self._begin_epoch(epoch)
        self.role, self.epoch, self.primary = Role.PRIMARY, epoch, None
        replicas = tuple(replicas)
        self._followers = {replica: known.get(replica) for replica in replicas}
        for replica in replicas:
            if replica not in known:
                self._send(replica, Append(epoch, self.log.last, (), self._confirmed_by_all()))
        self._trim()
        while self.late_writes:
            self.unknown(self.late_writes.popitem()[0])

    def become_replica(self, epoch: int, primary: NodeId | None) -> None:
        """Follow the log of `primary`; None while there is none."""
        unchanged = self.role is Role.REPLICA and (epoch, primary) == (self.epoch, self.primary)
        self._begin_epoch(epoch)
        self.role, self.epoch, self.primary = Role.REPLICA, epoch, primary
        self._followers = {}
        if primary is not None and not unchanged:
            self._ask()
            for key in self.late_writes:
                self._send(primary, ReportWrite(key))

    def _begin_epoch(self, epoch: int) -> None:
        """Take back the fills that the last primary may not have put into the log, and let none follow.

        What it wrote last may be in no log: a read that began under it cannot be known to be newer.
        """
        if epoch != self.epoch:
            self.refuse_running_fills()
            while self._offered:
                self._withdraw(next(iter(self._offered)))

    def _withdraw(self, key: ItemKey) -> None:
        del self._offered[key]
        self._items.remove(key, RemovalReason.WRITTEN)

    # Changes from this node

    @property
    def is_primary(self) -> bool:
        return self.role is Role.PRIMARY

    def refuse_running_fills(self) -> None:
        """What reads that have begun by now bring from the store is not to be cached."""
        self._lineage += 1

    def token(self) -> FillToken:
        """Taken before the store is read, handed back with what it said."""
        return self._lineage, self.log.last

    def fill(self, token: FillToken, key: ItemKey, item: Item | None) -> bool:
        """Cache what a read got from the store, unless a newer write is known. False when refused."""
        lineage, as_of = token
        # What a node had applied before it was warmed anew may not be part of the log at all.
        if self._guard and (lineage != self._lineage or self._recent.may_be_after(key, as_of.sequence)):
            self.fills_refused += 1
            return False
        now = self._now()
        if self.is_primary:
            self._commit(Cause.FILL, key, item, now)
        else:
            self._offer(OfferFill(self.epoch, as_of, key, item, now))
        return True

    def _offer(self, offer: OfferFill) -> None:
        self._items.keep(offer.key, offer.item, offer.stored_at, offer.as_of.sequence, offer.stored_at)
        self._offered[offer.key] = offer
        if len(self._offered) > self._offer_limit:
            self._withdraw(next(iter(self._offered)))
        if self.primary is not None:
            self._send(self.primary, offer)

    def written(self, epoch: int, key: ItemKey, item: Item | None) -> None:
        """A write that this node began as the primary of `epoch` left `item` in the store."""
        if self.is_primary and epoch == self.epoch:
            self._commit(Cause.WRITE, key, item, self._now())
        else:
            # Another primary may have written since, and before or after is not known.
            self.unknown(key)

    def unknown(self, key: ItemKey) -> None:
        """A write through this node may or may not have reached the store."""
        if self.is_primary:
            self._commit(Cause.DROP, key, None, self._now())
        else:
            self._report(key)

    def _report(self, key: ItemKey) -> None:
        """The write began when this node was the primary; its successor has to know of it."""
        self._items.remove(key, RemovalReason.WRITTEN)
        self.late_writes[key] = None
        if self.primary is not None:
            self._send(self.primary, ReportWrite(key))

    def _commit(self, cause: Cause, key: ItemKey, item: Item | None, stored_at: float) -> None:
        after = self.log.last
        change = Change(Position(after.sequence + 1, self.epoch), cause, key, item, stored_at)
        self._apply(change)
        message = Append(self.epoch, after, (change,), self._confirmed_by_all())
        for replica in self._followers:
            self._send(replica, message)
        self._trim()

    def _apply(self, change: Change) -> None:
        self.log.append(change)
        self._offered.pop(change.key, None)
        sequence = change.position.sequence
        if change.cause is not Cause.FILL:
            self._recent.note(change.key, sequence)
        if change.cause is Cause.DROP:
            self._items.remove(change.key, RemovalReason.WRITTEN)
        else:
            self._items.keep(change.key, change.item, change.stored_at, sequence, self._now())

    # Messages

    def receive(self, sender: NodeId, message: Message) -> None:
        """Act on a message; one of another epoch or from a node without that role is void."""
        match message:
            case ReportWrite(key):
                self.unknown(key)
            case _ if message.epoch != self.epoch:
                return
            case Append() | Warm() | RefuseFill() if not self.is_primary and sender == self.primary:
                self._on_primary(message)
            case Confirm() | Resume() | OfferFill() if self.is_primary and sender in self._followers:
                self._on_follower(sender, message)

    def _on_primary(self, message: Append | Warm | RefuseFill) -> None:
        match message:
            case Append():
                self._on_append(message)
            case Warm(_, snapshot):
                self.warm(snapshot)
            case RefuseFill(_, offer):
                if self._offered.get(offer.key) == offer:
                    self._withdraw(offer.key)

    def _on_append(self, message: Append) -> None:
        last = self.log.last
        positions = [message.after, *(change.position for change in message.changes)]
        if last in positions:
            for change in message.changes[positions.index(last) :]:
                self._apply(change)
                self.apply_delay = max(0.0, self._now() - change.stored_at)
            self.log.trim(message.confirmed)
        elif not message.changes or (self._asked_from != last and positions[-1] > last):
            self._ask()
            return
        elif positions[-1] > last:
            return
        self._asked_from = None
        self._confirm()

    def _on_follower(self, sender: NodeId, message: Confirm | Resume | OfferFill) -> None:
        match message:
            case Confirm(_, position):
                if self.log.holds(position):
                    self._followers[sender] = max(self._followers[sender] or 0, position.sequence)
                    self._trim()
            case Resume(_, position):
                changes = self.log.after(position)
                if changes is None:
                    self._send(sender, Warm(self.epoch, self.snapshot()))
                else:
                    self._followers[sender] = position.sequence
                    self._send(sender, Append(self.epoch, position, changes, self._confirmed_by_all()))
            case OfferFill(_, as_of, key, item, stored_at):
                if self._guard and not self._is_newest(sender, as_of, key):
                    self.fills_refused += 1
                    self._send(sender, RefuseFill(self.epoch, message))
                else:
                    self._commit(Cause.FILL, key, item, stored_at)

    def _is_newest(self, sender: NodeId, as_of: Position, key: ItemKey) -> bool:
        """Whether nobody can have written `key` after a replica's log was at `as_of`."""
        if not self.log.holds(as_of):
            # Of what is forgotten, a replica that follows this log has had the same as everybody.
            forgotten = as_of.sequence < self.log.base.sequence
            if not forgotten or self._followers[sender] is None:
                return False
        return not self._recent.may_be_after(key, as_of.sequence)

    def progress(self) -> dict[NodeId, int | None]:
        """What each replica has confirmed so far; `resend` takes it as what was known a while ago."""
        return dict(self._followers)

    def resend(self, before: dict[NodeId, int | None]) -> None:
        """Send the replicas that confirmed nothing since `before` what they have not confirmed."""
        for replica in self._behind():
            confirmed = self._followers[replica]
            if replica not in before or before[replica] != confirmed:
                continue
            after = None if confirmed is None else self.log.at(confirmed)
            if after is None:
                # An empty append makes a replica that is elsewhere ask for what it lacks.
                after = self.log.last
            changes = self.log.after(after) or ()
            self._send(replica, Append(self.epoch, after, changes, self._confirmed_by_all()))

    # Snapshots

    def snapshot(self) -> Snapshot:
        """The item cache at this node's position, for a node that joins.

        Without the fills that no log has yet: this node would take them back, the other one would not know.
        """
        kept = self._items.snapshot(self._now())
        return Snapshot(self.log.last, tuple(entry for entry in kept if entry.key not in self._offered))

    def warm(self, snapshot: Snapshot) -> None:
        """Begin anew with another node's item cache and position."""
        self._items.replace(snapshot.entries, self._now())
        self.log.restart(snapshot.position)
        self._recent.restart(snapshot.position.sequence)
        self._offered.clear()
        self._lineage += 1
        self._asked_from = None
        self._confirm()

    # What is confirmed

    @property
    def unconfirmed(self) -> bool:
        """Whether some replica has not confirmed the whole log."""
        return bool(self._behind())

    def lag(self) -> dict[NodeId, tuple[int, float]]:
        """For each replica that the primary knows: changes not confirmed, and the age of the oldest (s)."""
        lags = {}
        for replica, confirmed in self._followers.items():
            behind = self.log.last.sequence - (self.log.base.sequence if confirmed is None else confirmed)
            oldest = self.log.first_after(self.log.last.sequence - behind)
            lags[replica] = (behind, max(0.0, self._now() - oldest.stored_at) if oldest else 0.0)
        return lags

    def _behind(self) -> list[NodeId]:
        return [r for r, confirmed in self._followers.items() if confirmed != self.log.last.sequence]

    def _confirmed_by_all(self) -> int:
        """Up to where the log may be forgotten."""
        if not self._followers:
            return self.log.last.sequence
        return min(self.log.base.sequence if c is None else c for c in self._followers.values())

    def _trim(self) -> None:
        self.log.trim(max(self._confirmed_by_all(), self.log.last.sequence - self._log_limit))

    def _confirm(self) -> None:
        if self.primary is not None:
            self._send(self.primary, Confirm(self.epoch, self.log.last))

    def _ask(self) -> None:
        assert self.primary is not None
        self._asked_from = self.log.last
        self._send(self.primary, Resume(self.epoch, self.log.last))
