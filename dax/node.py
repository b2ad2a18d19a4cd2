"""One cache node: what it does with each operation, and what it tells about itself.

The rules of this file:

* A node reaches the world only through its constructor's arguments, and waits only for those.
* A request is checked as the service checks it before a cache is consulted, so that a bad parameter is never
  answered from a cache. Reads are in `dax.reads`, writes in `dax.writes`, the order of changes among the
  nodes in `dax.replication`.
* What happens inside is told to the recorder, with `node` and `key` or `keys`: `fill` and `fill-refused` (a
  read got `item` from the store), `write-committed` (the store took a write), `refreshed` and
  `refresh-failed` (the read that follows a transaction).
* Operations on tables and everything else that is no item operation are refused: DAX has none, clients send
  them to the store. Source: "Using the DAX client" and the operation list of the DAX API in the developer
  guide.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from backend.errors import ServiceError
from backend.model.keys import KeySchema, check_key, encode
from backend.protocol import Backend, Item, Request
from backend.validation.shapes import check
from dax.answer import Answer, MissReason
from dax.cache.entries import FOREVER, Entry, ItemEntry
from dax.cache.items import ItemCache, ItemKey
from dax.cache.queries import QueryCache, query_key
from dax.core import Core
from dax.log import Message, Snapshot
from dax.metrics import OPERATIONS, Metrics
from dax.reads import Reads
from dax.replication import Replication, Role
from dax.settings import NodeSettings
from dax.tables import Tables, possible_schemas, table_name
from dax.world import Clock, NodeId, Peers, Recorder, Tasks
from dax.writes import Writes

__all__ = ["Node", "NodeSettings", "Role", "Snapshot"]

_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
# A GetItem with nothing but these is answered by the entry of its key alone.
_PLAIN_GET = {"TableName": None, "Key": None, "ConsistentRead": False, "ReturnConsumedCapacity": "NONE"}


class Node:
    """A node of a cluster; a replica without a primary until it is told its role."""

    def __init__(
        self,
        node_id: NodeId,
        clock: Clock,
        backend: Backend,
        peers: Peers,
        tasks: Tasks,
        settings: NodeSettings | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        settings = settings or NodeSettings()
        self.node_id = node_id
        self.clock = clock
        self.settings = settings
        self.metrics = Metrics()
        self.schema_generation = 0
        unit, memory = settings.unit_size, settings.removal_memory
        self._items = ItemCache(settings.item_cache_bytes, settings.item_ttl, memory, unit_size=unit)
        self._queries = QueryCache(settings.query_cache_bytes, settings.query_ttl, memory, unit_size=unit)
        self._tables = Tables(backend, clock, settings.key_schema_ttl, self._on_schema_change)
        self._replication = Replication(
            self._items,
            peers.send,
            clock.now,
            guard=settings.fill_guard,
            log_limit=settings.replication_log_entries,
            recent_limit=settings.recent_writes,
        )
        self._core = Core(
            node_id,
            clock,
            backend,
            peers,
            tasks,
            settings,
            self._items,
            self._queries,
            self._tables,
            self._replication,
            self.metrics,
            recorder,
        )
        self._writes = Writes(self._core)
        reads = Reads(self._core)
        self._reads = {
            "GetItem": reads.get_item,
            "BatchGetItem": reads.batch_get_item,
            "Query": reads.query,
            "Scan": reads.scan,
            "TransactGetItems": reads.transact_get_items,
        }
        self._tasks = tasks
        self._started = clock.now()
        self._resending = False

    # Requests

    async def execute(self, operation: str, request: Request, *, forwarded: bool = False) -> Answer:
        """Run one operation. Raises `ServiceError` and nothing else.

        `request` is botocore-shaped, binary as bytes. `forwarded`: another node sent it here as the primary;
        it is then refused, not forwarded again, if this node is not, and counts, also as a failure, there.
        """
        metrics = self.metrics
        if not forwarded and operation in metrics.requests:
            metrics.requests[operation] += 1
        try:
            if operation not in metrics.requests:
                raise self._unsupported(operation)
            check(operation, request)
            if operation in _WRITES:
                answer = await self._writes.execute(operation, request, forwarded=forwarded)
            else:
                answer = await self._reads[operation](request)
        except ServiceError as error:
            if not forwarded:
                metrics.count_failure(error)
            raise
        finally:
            self._watch_replicas()
        return answer

    def hit(self, key: ItemKey, now: float) -> ItemEntry | None:
        """The live item-cache entry for `key`, counted as a GetItem that hit; None, uncounted, when it is
        absent.

        The hot path of the wires: `key` is what `memo_key` gave for the same request.
        """
        entry = self._items.lookup(key, now)
        if entry is not None:
            self.metrics.item_hits += 1
            self.metrics.requests["GetItem"] += 1
        return entry

    def memo_key(self, request: Request) -> ItemKey | None:
        """The item-cache key that alone determines the answer to this GetItem, which has been executed
        before.

        None for a request with a projection, a strong read or the like, and while the table's schema is not
        known. It holds until `schema_generation` changes.
        """
        for name, value in request.items():
            if name not in _PLAIN_GET or (_PLAIN_GET[name] is not None and value != _PLAIN_GET[name]):
                return None
        return self._known_key(request["TableName"], request["Key"])

    @property
    def tables(self) -> Tables:
        """The key schemas that this node knows, for a wire whose keys only a schema can read."""
        return self._tables

    def _known_key(self, named: str, key: Item) -> ItemKey | None:
        """The item-cache key, as far as the table's schema has been learned."""
        schema = self._tables.known(named)
        return None if schema is None else _item_key(table_name(named), schema, key)

    def _held_key(self, named: str, key: Item) -> ItemKey | None:
        """The item-cache key, also of an entry that came by the log before the table's schema was learned."""
        if self._tables.known(named) is not None:
            return self._known_key(named, key)
        return next((held for held in self._possible_keys(named, key) if held in self._items), None)

    def _possible_keys(self, named: str, key: Item) -> list[ItemKey]:
        """The item-cache keys that `key` may have: more than one while the table's schema is not known."""
        table = table_name(named)
        known = self._tables.known(named)
        schemas = possible_schemas(key) if known is None else [known]
        keys = [_item_key(table, schema, key) for schema in schemas]
        return [item_key for item_key in keys if item_key is not None]

    def _unsupported(self, operation: str) -> ServiceError:
        where = self.settings.store_endpoint
        hint = f"send it to the table store at {where}" if where else "send it to the table store's endpoint"
        return ServiceError(
            "UnknownOperationException",
            f"{operation} is not an operation of a DAX cluster, which reads and writes items only: {hint}",
        )

    def _on_schema_change(self, table: str) -> None:
        self.schema_generation += 1
        self._replication.refuse_running_fills()
        self._items.flush(self.clock.now(), table)
        self._queries.flush(table)

    # The cluster

    @property
    def role(self) -> Role:
        """`"primary"` or `"replica"`."""
        return self._replication.role

    @property
    def applied_sequence(self) -> int:
        """The replication log's last sequence number that this node has applied."""
        return self._replication.log.last.sequence

    def become_primary(self, epoch: int, replicas: Iterable[NodeId]) -> None:
        """Take writes and write the log. Each epoch has one primary; calling again replaces the replicas."""
        self._replication.become_primary(epoch, replicas)
        self._watch_replicas()

    def become_replica(self, epoch: int, primary: NodeId | None) -> None:
        """Forward writes to `primary` and follow its log; None while there is no primary."""
        self._replication.become_replica(epoch, primary)

    def receive(self, sender: NodeId, message: Message) -> None:
        """Take a message that another node sent by `Peers.send`."""
        self._replication.receive(sender, message)
        self._watch_replicas()

    def snapshot(self) -> Snapshot:
        """The item cache at its position in the log, to warm another node with."""
        return self._replication.snapshot()

    def warm(self, snapshot: Snapshot) -> None:
        """Replace the item cache by another node's."""
        self._replication.warm(snapshot)

    @property
    def late_writes(self) -> tuple[ItemKey, ...]:
        """Keys of writes that this node began as the primary and ended when it was not any more."""
        return tuple(self._replication.late_writes)

    def heed(self, late_writes: Iterable[ItemKey]) -> None:
        """Drop, on every node, what another node wrote late. For the primary."""
        for key in late_writes:
            self._replication.unknown(key)
        self._watch_replicas()

    def _watch_replicas(self) -> None:
        if not self._resending and self._replication.unconfirmed:
            self._resending = True
            self._tasks.spawn(self._resend(), name=f"{self.node_id} resends unconfirmed changes")

    async def _resend(self) -> None:
        """While a replica has not confirmed something, send it again from time to time."""
        try:
            while True:
                before = self._replication.progress()
                await self.clock.sleep(self.settings.resend_after)
                if not self._replication.unconfirmed:
                    return
                self._replication.resend(before)
        finally:
            self._resending = False

    # Explanations

    def status(self) -> dict[str, Any]:
        """What the node is and has done, JSON-ready.

            {"node", "role", "epoch", "primary", "uptime": s, "applied_sequence": n,
             "item_cache": {"hits", "misses", "hit_ratio", "entries", "bytes", "capacity_bytes", "evictions",
                            "removals": {"ttl", "capacity", "written", "flush"}, "ttl": s},
             "query_cache": the same, where hits and misses are those of Query and Scan together,
             "attribute_lists": {"count", "bytes"},
             "replication": {"lag_entries", "lag_seconds", "log_entries", "fills_refused",
                             "replicas": {node: {"lag_entries", "lag_seconds"}}},
             "metrics": {CloudWatch name: number}}

        A hit_ratio is null before the first look-up. The lag of a primary is that of its slowest replica; a
        replica reports how late its latest change came, and no lag_entries (null), for only the primary
        knows.
        """
        metrics, replication = self.metrics, self._replication
        result_hits = metrics.query_hits + metrics.scan_hits
        result_misses = metrics.query_misses + metrics.scan_misses
        lags = replication.lag()
        return {
            "node": self.node_id,
            "role": str(self.role),
            "epoch": replication.epoch,
            "primary": self.node_id if replication.is_primary else replication.primary,
            "uptime": self.clock.now() - self._started,
            "applied_sequence": self.applied_sequence,
            "item_cache": _cache_status(self._items, metrics.item_hits, metrics.item_misses),
            "query_cache": _cache_status(self._queries, result_hits, result_misses),
            "attribute_lists": {
                "count": len(self._items.attribute_lists),
                "bytes": self._items.attribute_lists.size,
            },
            "replication": {
                "lag_entries": max((lag[0] for lag in lags.values()), default=0)
                if replication.is_primary
                else None,
                "lag_seconds": max((lag[1] for lag in lags.values()), default=0.0)
                if replication.is_primary
                else replication.apply_delay,
                "log_entries": len(replication.log),
                "fills_refused": replication.fills_refused,
                "replicas": {
                    node: {"lag_entries": entries, "lag_seconds": seconds}
                    for node, (entries, seconds) in lags.items()
                },
            },
            "metrics": metrics.export(
                database_bytes=self._items.size + self._queries.size + self._items.attribute_lists.size,
                evicted_bytes=self._items.evicted_size + self._queries.evicted_size,
                capacity_bytes=self._items.capacity + self._queries.capacity,
            ),
        }

    def inspect(self, operation: str, request: Request) -> dict[str, Any]:
        """What the node holds for a request, without counting as a read.

        GetItem, Query and Scan give one report, BatchGetItem gives {"keys": [a report each]}:

            {"node", "cache": "item" | "query", "table", "cache_key": text | null, "present": bool,
             "negative": bool | null, "age": s | null, "ttl_left": s | null, "size": n | null,
             "sequence": n | null, "miss": reason | null, "response": the cached response | null}

        `miss` says why a read would miss now. `ttl_left` is null for an entry that never expires.
        `cache_key` is null when the key does not fit the table, or nothing is known of it here.
        Raises `ServiceError` for another operation or a malformed request.
        """
        if operation not in ("GetItem", "BatchGetItem", "Query", "Scan"):
            raise ServiceError("ValidationException", f"{operation} is answered by no cache")
        check(operation, request)
        if operation == "GetItem":
            return self._inspect_item(request["TableName"], request["Key"], request)
        if operation == "BatchGetItem":
            reports = [
                self._inspect_item(named, key, wanted)
                for named, wanted in request["RequestItems"].items()
                for key in wanted["Keys"]
            ]
            return {"keys": reports}
        table = table_name(request["TableName"])
        key = query_key(table, operation, request)
        report = {"cache": "query", "table": table, "cache_key": None if key is None else key[2].decode()}
        if key is None or request.get("ConsistentRead") or not self._queries.ttl:
            return self._report(report, None, MissReason.NOT_CACHEABLE)
        return self._report(report, self._queries.peek(key), self._queries.miss_reason(key))

    def _inspect_item(self, named: str, primary_key: Item, wanted: Request) -> dict[str, Any]:
        key = self._held_key(named, primary_key)
        report = {
            "cache": "item",
            "table": table_name(named),
            "key": primary_key,
            "cache_key": None if key is None else key[1].hex(),
        }
        if wanted.get("ConsistentRead"):
            return self._report(report, None, MissReason.NOT_CACHEABLE)
        if key is None:
            return self._report(report, None, MissReason.NEVER_SEEN)
        return self._report(report, self._items.peek(key), self._items.miss_reason(key))

    def _report(self, report: dict[str, Any], entry: Entry | None, miss: MissReason) -> dict[str, Any]:
        now = self.clock.now()
        if entry is not None and entry.expires_at <= now:
            entry, miss = None, MissReason.EXPIRED
        present = entry is not None
        ttl_left = entry.expires_at - now if entry is not None and entry.expires_at != FOREVER else None
        return {
            "node": self.node_id,
            **report,
            "present": present,
            "negative": entry.negative if entry is not None else None,
            "age": max(0.0, now - entry.stored_at) if entry is not None else None,
            "ttl_left": ttl_left,
            "size": entry.size if entry is not None else None,
            "sequence": entry.sequence if entry is not None else None,
            "miss": None if present else str(miss),
            "response": entry.response if entry is not None else None,
        }

    def flush(self, table: str | None = None, key: Item | None = None, cache: str = "item") -> int:
        """Empty an entry, a table or a whole cache of this node; how many entries that were.

        Nothing from before comes back afterwards: neither by reads that are under way, nor by the log.
        table: name, None = all. key: primary key, only with a table and of the item cache. cache: "item",
        "query" or "both". Raises ServiceError (ValidationException) for what makes no sense together.
        """
        if cache not in ("item", "query", "both"):
            raise ServiceError("ValidationException", f"cache must be item, query or both, not {cache!r}")
        if key is not None and (table is None or cache != "item"):
            raise ServiceError("ValidationException", "a key is flushed from one table of the item cache")
        flushed, now = 0, self.clock.now()
        if cache != "query":
            self._replication.refuse_running_fills()
        if key is not None and table is not None:
            return sum(self._items.flush(now, *item_key) for item_key in self._possible_keys(table, key))
        name = None if table is None else table_name(table)
        if cache != "query":
            flushed += self._items.flush(now, name)
        if cache != "item":
            flushed += self._queries.flush(name)
        return flushed


def _item_key(table: str, schema: KeySchema, key: Item) -> ItemKey | None:
    try:
        return table, encode(schema, check_key(schema, key))
    except ServiceError:
        return None


def _cache_status(cache: ItemCache | QueryCache, hits: int, misses: int) -> dict[str, Any]:
    return {
        "hits": hits,
        "misses": misses,
        "hit_ratio": hits / (hits + misses) if hits + misses else None,
        "entries": len(cache),
        "bytes": cache.size,
        "capacity_bytes": cache.capacity,
        "evictions": cache.evictions,
        "removals": {str(reason): count for reason, count in cache.removals.items()},
        "ttl": cache.ttl,
    }


assert set(OPERATIONS) >= _WRITES
