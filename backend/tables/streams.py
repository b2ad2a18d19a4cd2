"""DynamoDB Streams: what happened to the items of a table, in order, for 24 hours.

Rules (DynamoDB developer guide, "Change data capture for DynamoDB Streams"; API reference of Streams):

* a stream observes its table inside the transaction of each change: a change and its record commit together;
* records of one item come in the order of its changes. A stream has one shard, open while it is enabled; the
  service splits shards under load, which no reader may rely on;
* a change that changes nothing has no record; an expiry's record names the service as its author;
* records are readable for 24 hours. A stream that was disabled, or whose table is gone, stays readable that
  long, its shard closed; then it is forgotten;
* sequence numbers are decimal strings that grow as integers within the stream.

A stream and its records live in the storage: the map `streams` holds what streams there are, the map
`stream/<ARN>` the records of one by sequence number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from math import inf
from typing import TYPE_CHECKING, Any

from backend.model.sizes import item_size
from backend.model.values import equal
from backend.protocol import Item, Now
from backend.settings import EngineSettings
from backend.storage.base import OrderedMap, Storage
from backend.tables.changes import TIME_TO_LIVE, ItemChange

if TYPE_CHECKING:
    from backend.tables.table import Table

RETENTION = 24 * 3600.0
"""Seconds for which a record, and a disabled stream, stay readable."""

_SEQUENCE_BYTES = 16
_FIRST_SEQUENCE = 10**22
"""Sequence numbers have 23 digits: the service's have 21 to 40."""
_TRIMMED_PER_WRITE = 8
"""Each new record makes room by so many old ones at most."""

_VIEWS: dict[str, tuple[bool, bool]] = {
    "KEYS_ONLY": (False, False),
    "NEW_IMAGE": (True, False),
    "OLD_IMAGE": (False, True),
    "NEW_AND_OLD_IMAGES": (True, True),
}
"""StreamViewType -> whether records hold the new and the old image."""


@dataclass(slots=True)
class Stream:
    """One stream. `disabled` is when it was, in seconds since the epoch, or None while it is enabled."""

    arn: str
    label: str
    table_id: str
    table_name: str
    key_schema: tuple[tuple[str, str], ...]
    view_type: str
    created: float
    records: OrderedMap = field(repr=False)
    disabled: float | None = None
    trimmed_to: int = 0
    """The last sequence number that is no longer readable."""
    last_sequence: int = field(init=False, compare=False)
    """The last number given out; a transaction that was undone leaves a gap."""
    oldest: float = field(init=False, compare=False)
    """No record is older than this; infinity when there is none."""

    def __post_init__(self) -> None:
        self.measure()

    def measure(self) -> None:
        """Find the ends of the records."""
        newest = next((_sequence(key) for key, _ in self.records.range(reverse=True)), 0)
        self.last_sequence = max(newest, self.trimmed_to, self.first_sequence)
        self.oldest = next((_time(item) for _, (item, _) in self.records.range()), inf)

    @property
    def shard_id(self) -> str:
        digest = blake2b(self.arn.encode(), digest_size=4).hexdigest()
        return f"shardId-{int(self.created * 1000):020d}-{digest}"

    @property
    def status(self) -> str:
        return "ENABLED" if self.disabled is None else "DISABLED"

    @property
    def first_sequence(self) -> int:
        """The number before which the shard has nothing: it grows with the time of creation."""
        return _FIRST_SEQUENCE + int(self.created * 1000) * 10**8


class Streams:
    """All streams of one store, by ARN."""

    def __init__(self, now: Now, settings: EngineSettings, storage: Storage) -> None:
        self._now = now
        self._region = settings.region
        self._storage = storage
        self._rows = storage.open("streams")
        self._streams: dict[str, Stream] = {}
        for key, (item, _) in self._rows.range():
            arn = key.decode()
            self._streams[arn] = _stream_of(arn, item, storage.open(_map_name(arn)))

    # Switching on and off

    def enable(self, table: Table, view_type: str) -> Stream:
        """Give the table a new stream. Whatever stream it had must be disabled."""
        created = self._now()
        label = _label(created)
        while f"{table.arn}/stream/{label}" in self._streams:
            created += 0.001
            label = _label(created)
        arn = f"{table.arn}/stream/{label}"
        stream = Stream(
            arn=arn,
            label=label,
            table_id=table.id,
            table_name=table.name,
            key_schema=table.definition.key_schema,
            view_type=view_type,
            created=created,
            records=self._storage.open(_map_name(arn)),
        )
        self._streams[arn] = stream
        self._save(stream)
        self._attach(table, stream)
        return stream

    def disable(self, table: Table) -> None:
        """Close the table's stream, if it has an open one; its records stay readable for 24 hours."""
        stream = self.latest(table)
        if stream is not None and stream.disabled is None:
            stream.disabled = self._now()
            stream.measure()
            self._save(stream)
            table.observers[:] = [
                observer for observer in table.observers if getattr(observer, "stream", None) is not stream
            ]

    def attach(self, table: Table) -> None:
        """Resume the open stream of a table that a storage held."""
        stream = self.latest(table)
        if stream is not None and stream.disabled is None:
            self._attach(table, stream)

    def latest(self, table: Table) -> Stream | None:
        """The newest stream of the table, open or not."""
        found = [stream for stream in self._streams.values() if stream.table_id == table.id]
        return max(found, key=lambda one: one.created) if found else None

    def _attach(self, table: Table, stream: Stream) -> None:
        table.observers.append(_Recorder(self, stream))

    # Reading

    def find(self, arn: str) -> Stream | None:
        """The stream of that ARN, unless it is unknown or its time is over."""
        self._forget_expired()
        return self._streams.get(arn)

    def all(self, table_name: str | None = None) -> list[Stream]:
        """The streams of one table or of all, by ARN."""
        self._forget_expired()
        found = (stream for _, stream in sorted(self._streams.items()))
        return [stream for stream in found if table_name is None or stream.table_name == table_name]

    def read(self, stream: Stream, position: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """Sequence numbers and records (in `Record` shape) from `position` on."""
        for key, (item, _) in stream.records.range(_key(position)):
            yield _sequence(key), self._record(stream, _sequence(key), item)

    def position_at(self, stream: Stream, time: float) -> int:
        """The position of the first record written at `time` or later; behind the last when there is none."""
        for key, (item, _) in stream.records.range():
            if _time(item) >= time:
                return _sequence(key)
        return stream.last_sequence + 1

    def trim(self, stream: Stream, now: float, limit: int | None = None) -> None:
        """Drop up to `limit` of the records that are older than 24 hours."""
        if stream.oldest <= now - RETENTION:
            with self._storage.transaction():
                self._trim(stream, now, limit)

    def tick(self) -> None:
        """Trim every stream and forget those whose time is over."""
        self._forget_expired()
        for stream in self._streams.values():
            self.trim(stream, self._now())

    def _record(self, stream: Stream, sequence: int, item: Item) -> dict[str, Any]:
        change: dict[str, Any] = {
            "ApproximateCreationDateTime": int(_time(item)),
            "Keys": item["Keys"]["M"],
            "SequenceNumber": str(sequence),
            "SizeBytes": int(item["Size"]["N"]),
            "StreamViewType": stream.view_type,
        }
        for image in ("NewImage", "OldImage"):
            if image in item:
                change[image] = item[image]["M"]
        record: dict[str, Any] = {
            "eventID": blake2b(f"{stream.arn}/{sequence}".encode(), digest_size=16).hexdigest(),
            "eventName": item["Event"]["S"],
            "eventVersion": "1.1",
            "eventSource": "aws:dynamodb",
            "awsRegion": self._region,
            "dynamodb": change,
        }
        if item["Source"]["S"] == TIME_TO_LIVE:
            record["userIdentity"] = {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}
        return record

    # Writing

    def append(self, stream: Stream, change: ItemChange) -> None:
        """Write the record of one change in the open storage transaction."""
        old, new, key = change.old_row, change.new_row, change.key
        if old is not None and new is not None and equal({"M": old[0]}, {"M": new[0]}):
            return
        with_new, with_old = _VIEWS[stream.view_type]
        size = item_size(key)
        record: dict[str, Any] = {
            "Event": {"S": "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"},
            "Time": {"N": repr(change.time)},
            "Source": {"S": change.source},
            "Keys": {"M": key},
        }
        if with_new and new is not None:
            record["NewImage"] = {"M": new[0]}
            size += new[1]
        if with_old and old is not None:
            record["OldImage"] = {"M": old[0]}
            size += old[1]
        record["Size"] = {"N": str(size)}
        stream.last_sequence += 1
        stream.records.put(_key(stream.last_sequence), (record, size))
        stream.oldest = min(stream.oldest, change.time)
        if stream.oldest <= change.time - RETENTION:
            self._trim(stream, change.time, _TRIMMED_PER_WRITE)

    def _trim(self, stream: Stream, now: float, limit: int | None) -> None:
        old: list[bytes] = []
        stream.oldest = inf
        for key, (item, _) in stream.records.range():
            if _time(item) > now - RETENTION or len(old) == limit:
                stream.oldest = _time(item)
                break
            old.append(key)
        for key in old:
            stream.records.delete(key)
        if old:
            stream.trimmed_to = _sequence(old[-1])
            self._rows.put(stream.arn.encode(), (_item_of(stream), 0))

    def _save(self, stream: Stream) -> None:
        with self._storage.transaction():
            self._rows.put(stream.arn.encode(), (_item_of(stream), 0))

    def _forget_expired(self) -> None:
        now = self._now()
        expired = [
            stream
            for stream in self._streams.values()
            if stream.disabled is not None and stream.disabled <= now - RETENTION
        ]
        for stream in expired:
            del self._streams[stream.arn]
            with self._storage.transaction():
                self._rows.delete(stream.arn.encode())
            self._storage.drop(_map_name(stream.arn))


class _Recorder:
    """The observer that a stream is to its table."""

    __slots__ = ("_streams", "stream")

    def __init__(self, streams: Streams, stream: Stream) -> None:
        self._streams = streams
        self.stream = stream

    def __call__(self, change: ItemChange) -> None:
        self._streams.append(self.stream, change)


def _label(created: float) -> str:
    """The time of creation in milliseconds, `2026-05-11T21:21:33.291`."""
    time = datetime.fromtimestamp(int(created * 1000) / 1000, UTC)
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{round(time.microsecond / 1000):03d}"


def _time(record: Item) -> float:
    return float(record["Time"]["N"])


def _map_name(arn: str) -> str:
    return f"stream/{arn}"


def _key(sequence: int) -> bytes:
    return sequence.to_bytes(_SEQUENCE_BYTES, "big")


def _sequence(key: bytes) -> int:
    return int.from_bytes(key, "big")


def _item_of(stream: Stream) -> Item:
    """A stream as a row of the map `streams`."""
    item: dict[str, Any] = {
        "Label": {"S": stream.label},
        "TableId": {"S": stream.table_id},
        "TableName": {"S": stream.table_name},
        "KeySchema": {"L": [{"L": [{"S": name}, {"S": kind}]} for name, kind in stream.key_schema]},
        "ViewType": {"S": stream.view_type},
        "Created": {"N": repr(stream.created)},
        "TrimmedTo": {"N": str(stream.trimmed_to)},
    }
    if stream.disabled is not None:
        item["Disabled"] = {"N": repr(stream.disabled)}
    return item


def _stream_of(arn: str, item: Item, records: OrderedMap) -> Stream:
    key_schema = tuple(
        (name["S"], kind["S"]) for name, kind in (pair["L"] for pair in item["KeySchema"]["L"])
    )
    return Stream(
        arn=arn,
        label=item["Label"]["S"],
        table_id=item["TableId"]["S"],
        table_name=item["TableName"]["S"],
        key_schema=key_schema,
        view_type=item["ViewType"]["S"],
        created=float(item["Created"]["N"]),
        records=records,
        disabled=float(item["Disabled"]["N"]) if "Disabled" in item else None,
        trimmed_to=int(item["TrimmedTo"]["N"]),
    )
