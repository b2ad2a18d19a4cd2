"""Eventually consistent reads of a state that is a little old, as a replica would give them that lags behind.

Rules:

* a read that asks for no consistency sees each partition as it was at some moment within the last `lag`
  seconds: the age is drawn for each read and partition, from the injected entropy, on the injected clock;
* when monotonic, no read of a partition sees an older moment than the one before;
* what is behind a row of a local index is read as of the same moment as the row;
* a partition is here one of a fixed number of equal ranges of the hash space.

`RememberingStorage` stands between tables and storage. Its maps of items and index rows keep, beside
the current rows, those that they replaced within the last `lag` seconds. A transaction that is undone leaves
entries that say what is so anyway: the row before it.

Source: "DynamoDB read consistency", where such a read "might not reflect the results of a recently completed
write"; how old and how seldom is nowhere promised.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.ReadConsistency.html
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager

from sortedcontainers import SortedDict

from backend.protocol import Entropy, Now
from backend.settings import StaleReadSettings
from backend.storage.base import OrderedMap, Row, Storage

_DRAW_BYTES = 4
_DRAWS = 1 << (8 * _DRAW_BYTES)


class Replicas:
    """The lagging state of one table's partitions: when each was last read, and how old it may be."""

    def __init__(self, now: Now, entropy: Entropy, settings: StaleReadSettings) -> None:
        self.now = now
        self.lag = settings.lag
        self._entropy = entropy
        self._partitions = settings.partitions
        self._read_until: dict[int, float] | None = {} if settings.monotonic else None

    def moments(self) -> Moments:
        """What one read sees: a moment for each partition that it comes upon."""
        return Moments(self)

    def partition_of(self, key: bytes) -> int:
        return int.from_bytes(key[:2], "big") * self._partitions >> 16

    def draw(self, partition: int) -> float:
        """The moment as of which a read sees a partition."""
        share = int.from_bytes(self._entropy(_DRAW_BYTES), "big") / _DRAWS
        moment = self.now() - share * self.lag
        if self._read_until is not None:
            moment = max(moment, self._read_until.get(partition, moment))
            self._read_until[partition] = moment
        return moment


class Moments:
    """The moment of each partition for one read, drawn when it is first needed."""

    __slots__ = ("_drawn", "_replicas")

    def __init__(self, replicas: Replicas) -> None:
        self._replicas = replicas
        self._drawn: dict[int, float] = {}

    def of(self, key: bytes) -> float:
        partition = self._replicas.partition_of(key)
        moment = self._drawn.get(partition)
        if moment is None:
            moment = self._drawn[partition] = self._replicas.draw(partition)
        return moment


class RememberingMap:
    """An `OrderedMap` over another one that also knows which rows were replaced within the last `lag`
    seconds.

    Cost: that of the map below; a write O(log n) more in the number of recent writes.
    """

    def __init__(self, current: OrderedMap, replicas: Replicas) -> None:
        self.current = current
        self.replicas = replicas
        self.get = current.get
        self.range = current.range
        self.replaced: SortedDict[bytes, list[tuple[float, Row | None]]] = SortedDict()
        self._order: deque[tuple[float, bytes]] = deque()

    def put(self, key: bytes, row: Row) -> None:
        self._remember(key)
        self.current.put(key, row)

    def delete(self, key: bytes) -> None:
        self._remember(key)
        self.current.delete(key)

    def __len__(self) -> int:
        return len(self.current)

    @property
    def stored_bytes(self) -> int:
        return self.current.stored_bytes

    def as_of(self, moments: Moments) -> StaleView:
        """The rows as a read with these moments sees them."""
        self._forget()
        return StaleView(self, moments)

    def row_at(self, key: bytes, moment: float) -> Row | None:
        """The row that was there at a moment within the last `lag` seconds."""
        changes: list[tuple[float, Row | None]] = self.replaced.get(key, [])
        for time, before in changes:
            if time > moment:
                return before
        return self.current.get(key)

    def _remember(self, key: bytes) -> None:
        self._forget()
        time = self.replicas.now()
        self.replaced.setdefault(key, []).append((time, self.current.get(key)))
        self._order.append((time, key))

    def _forget(self) -> None:
        """Drop what no read can see any more."""
        oldest = self.replicas.now() - self.replicas.lag
        while self._order and self._order[0][0] <= oldest:
            _, key = self._order.popleft()
            changes = self.replaced[key]
            changes.pop(0)
            if not changes:
                del self.replaced[key]


class StaleView:
    """The rows of a `RememberingMap` as of some moments: an `OrderedMap` to read from only."""

    def __init__(self, rows: RememberingMap, moments: Moments) -> None:
        self._rows = rows
        self.moments = moments

    def get(self, key: bytes) -> Row | None:
        return self._rows.row_at(key, self.moments.of(key))

    def range(
        self, start: bytes | None = None, stop: bytes | None = None, reverse: bool = False
    ) -> Iterator[tuple[bytes, Row]]:
        for key in self._keys(start, stop, reverse):
            row = self.get(key)
            if row is not None:
                yield key, row

    def _keys(self, start: bytes | None, stop: bytes | None, reverse: bool) -> Iterator[bytes]:
        """The keys that are there now or were lately, in order."""
        lately = self._rows.replaced.irange(start, stop, inclusive=(True, False), reverse=reverse)
        waiting = next(lately, None)
        for key, _ in self._rows.current.range(start, stop, reverse):
            while waiting is not None and (waiting > key if reverse else waiting < key):
                yield waiting
                waiting = next(lately, None)
            if waiting == key:
                waiting = next(lately, None)
            yield key
        while waiting is not None:
            yield waiting
            waiting = next(lately, None)

    def put(self, key: bytes, row: Row) -> None:
        raise RuntimeError("a stale view is for reading")

    def delete(self, key: bytes) -> None:
        raise RuntimeError("a stale view is for reading")

    def __len__(self) -> int:
        return sum(1 for _ in self.range())

    @property
    def stored_bytes(self) -> int:
        return sum(size for _, (_, size) in self.range())


class RememberingStorage:
    """A `Storage` like the one below it, whose maps of items and index rows can be read as of a while ago.

    Maps are named `<table>/items` and `<table>/index/<index>`; those of one table share their partitions.
    """

    def __init__(self, storage: Storage, now: Now, entropy: Entropy, settings: StaleReadSettings) -> None:
        self._storage = storage
        self._now = now
        self._entropy = entropy
        self._settings = settings
        self._replicas: dict[str, Replicas] = {}
        self._maps: dict[str, RememberingMap] = {}

    def open(self, name: str) -> OrderedMap:
        table, _, rows = name.partition("/")
        if rows != "items" and not rows.startswith("index/"):
            return self._storage.open(name)
        if name not in self._maps:
            if table not in self._replicas:
                self._replicas[table] = Replicas(self._now, self._entropy, self._settings)
            self._maps[name] = RememberingMap(self._storage.open(name), self._replicas[table])
        return self._maps[name]

    def drop(self, name: str) -> None:
        self._storage.drop(name)
        self._maps.pop(name, None)

    def transaction(self) -> AbstractContextManager[object]:
        return self._storage.transaction()


def stale_view(rows: OrderedMap) -> OrderedMap:
    """The rows as one eventually consistent read sees them: as they are, unless they are remembered."""
    return rows.as_of(rows.replicas.moments()) if isinstance(rows, RememberingMap) else rows


def items_behind(items: OrderedMap, rows: OrderedMap) -> OrderedMap:
    """The items as of the moments of `rows`, which are of an index of the same table."""
    if isinstance(items, RememberingMap) and isinstance(rows, StaleView):
        return items.as_of(rows.moments)
    return items
