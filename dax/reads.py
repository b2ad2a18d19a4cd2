"""What a node does with a read.

The rules of this file:

* An eventually consistent GetItem or BatchGetItem is answered key by key from the item cache; what is
  missing is read from the store as a whole item, eventually consistent, cached, and projected for the caller.
* An eventually consistent Query or Scan is answered from the query cache, by the whole request.
* A strongly consistent read and TransactGetItems go to the store; their answers touch no cache.
* What does not resolve to an entry goes to the store as it came; errors are never cached.
* A write that lands during a miss: the fill is offered with the log position from before the read, and the
  replication log refuses it if the key was written since.
* A response from a cache has no ConsumedCapacity, whatever was asked: no capacity was consumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from backend.model.keys import KeySchema, encode
from backend.protocol import Item, Request, Response
from dax.answer import Answer, MissReason, ServedFrom
from dax.cache.entries import Entry, ItemEntry
from dax.cache.items import ItemKey
from dax.cache.queries import query_key
from dax.core import Core, Unresolved
from dax.log import FillToken
from dax.projection import PROJECTING, projector
from dax.tables import table_name


@dataclass(slots=True)
class _TablePart:
    """What a BatchGetItem asks of one table."""

    named: str
    settings: Mapping[str, Any]
    project: Callable[[Item], Item] | None
    wanted: list[tuple[ItemKey, Item]]
    schema: KeySchema


class Reads:
    """The read operations of one node."""

    def __init__(self, core: Core) -> None:
        self._core = core

    # GetItem

    async def get_item(self, request: Request) -> Answer:
        core = self._core
        if request.get("ConsistentRead"):
            return await core.pass_through("GetItem", request)
        try:
            key, _ = await core.resolve(request["TableName"], request["Key"])
            project = projector(request, core.tables.key_attributes(request["TableName"]))
        except Unresolved:
            return await core.pass_through("GetItem", request)
        now = core.clock.now()
        entry = core.items.lookup(key, now)
        if entry is not None:
            core.metrics.item_hits += 1
            return self._item_hit(entry, project, now)
        core.metrics.item_misses += 1
        miss = core.items.miss_reason(key)
        token = core.replication.token()
        whole = {name: value for name, value in request.items() if name not in PROJECTING}
        response = await core.store("GetItem", whole)
        self._fill(token, key, response.get("Item"))
        if project is not None and "Item" in response:
            response = {**response, "Item": project(response["Item"])}
        return core.answer(response, ServedFrom.STORE, miss)

    def _item_hit(self, entry: ItemEntry, project: Callable[[Item], Item] | None, now: float) -> Answer:
        item = entry.item
        if item is None:
            return self._from_cache(entry, ServedFrom.NEGATIVE_ENTRY, now)
        answer = self._from_cache(entry, ServedFrom.ITEM_CACHE, now)
        if project is not None:
            # The entry's encodings are of the whole item.
            answer.response, answer.entry = {"Item": project(item)}, None
        return answer

    def _from_cache(self, entry: Entry, served_from: ServedFrom, now: float) -> Answer:
        age = max(0.0, now - entry.stored_at)
        return Answer(entry.response, served_from, self._core.node_id, age, entry=entry)

    def _fill(self, token: FillToken, key: ItemKey, item: Item | None) -> None:
        kept = self._core.replication.fill(token, key, item)
        self._core.record("fill" if kept else "fill-refused", key=key, item=item)

    # BatchGetItem

    async def batch_get_item(self, request: Request) -> Answer:
        core = self._core
        try:
            parts, passing = await self._parts(request["RequestItems"])
        except Unresolved:
            return await core.pass_through("BatchGetItem", request)
        if not parts:
            return await core.pass_through("BatchGetItem", request)
        now = core.clock.now()
        found: dict[ItemKey, Item | None] = {}
        served: dict[ServedFrom, int] = {}
        fetch = dict(passing)
        miss: MissReason | None = None
        missing: dict[str, list[tuple[ItemKey, Item]]] = {}
        for part in parts:
            for key, primary_key in part.wanted:
                entry = core.items.lookup(key, now)
                if entry is None:
                    miss = miss or core.items.miss_reason(key)
                    missing.setdefault(part.named, []).append((key, primary_key))
                else:
                    found[key] = entry.item
                    source = ServedFrom.NEGATIVE_ENTRY if entry.negative else ServedFrom.ITEM_CACHE
                    served[source] = served.get(source, 0) + 1
        for named, keys in missing.items():
            fetch[named] = {"Keys": [primary_key for _, primary_key in keys]}
        missed = sum(map(len, missing.values()))
        core.metrics.item_hits += len(found)
        core.metrics.item_misses += missed
        fetched: Response = {}
        if fetch:
            token = core.replication.token()
            fetched = await core.store("BatchGetItem", {**request, "RequestItems": fetch})
            for part in parts:
                self._take(part, missing.get(part.named, ()), fetched, token, found)
        if missed:
            served[ServedFrom.STORE] = missed
        if passing:
            served[ServedFrom.PASS_THROUGH] = sum(len(wanted["Keys"]) for wanted in passing.values())
            miss = miss or MissReason.NOT_CACHEABLE
        source = ServedFrom.STORE if fetch else _dominant(served)
        answer = core.answer(_assemble(request, parts, found, fetched), source, miss)
        answer.keys_served = served
        return answer

    async def _parts(
        self, request_items: Mapping[str, Any]
    ) -> tuple[list[_TablePart], dict[str, Mapping[str, Any]]]:
        """The tables whose keys the item cache may answer, and those that pass through."""
        parts, passing = [], {}
        for named, settings in request_items.items():
            if settings.get("ConsistentRead"):
                passing[named] = settings
                continue
            wanted = [await self._core.resolve(named, key) for key in settings["Keys"]]
            schema = await self._core.schema(named)
            project = projector(settings, self._core.tables.key_attributes(named))
            parts.append(_TablePart(named, settings, project, wanted, schema))
        names = {table_name(named) for named in request_items}
        keys = {key for part in parts for key, _ in part.wanted}
        if len(names) < len(request_items) or len(keys) < sum(len(part.wanted) for part in parts):
            raise Unresolved  # the same item twice, which the store refuses
        return parts, passing

    def _take(
        self,
        part: _TablePart,
        missing: list[tuple[ItemKey, Item]] | tuple[()],
        fetched: Response,
        token: FillToken,
        found: dict[ItemKey, Item | None],
    ) -> None:
        """Cache what the store said about the missing keys of one table, and note it in `found`."""
        table = table_name(part.named)
        items = fetched.get("Responses", {}).get(part.named, ())
        returned = {(table, encode(part.schema, item)): item for item in items}
        unprocessed = fetched.get("UnprocessedKeys", {}).get(part.named, {}).get("Keys", ())
        unknown = {(table, encode(part.schema, key)) for key in unprocessed}
        for key, _ in missing:
            if key not in unknown:
                found[key] = returned.get(key)
                self._fill(token, key, found[key])

    # Query and Scan

    async def query(self, request: Request) -> Answer:
        return await self._result_set("Query", request)

    async def scan(self, request: Request) -> Answer:
        return await self._result_set("Scan", request)

    async def _result_set(self, operation: str, request: Request) -> Answer:
        core = self._core
        if request.get("ConsistentRead"):
            return await core.pass_through(operation, request)
        named = request["TableName"]
        table = table_name(named)
        key = query_key(table, operation, request)
        if key is not None and named != table:
            try:
                await core.schema(named)
            except Unresolved:
                key = None  # an ARN of elsewhere, which the store refuses
        if key is None:
            return await core.pass_through(operation, request)
        now = core.clock.now()
        entry = core.queries.lookup(key, now)
        self._count_result_set(operation, hit=entry is not None)
        if entry is not None:
            source = ServedFrom.NEGATIVE_ENTRY if entry.negative else ServedFrom.QUERY_CACHE
            return self._from_cache(entry, source, now)
        miss = core.queries.miss_reason(key) if core.queries.ttl else MissReason.NOT_CACHEABLE
        read = core.queries.begin()
        response = await core.store(operation, request)
        core.queries.keep(key, response, read, core.clock.now())
        return core.answer(response, ServedFrom.STORE, miss)

    def _count_result_set(self, operation: str, *, hit: bool) -> None:
        metrics = self._core.metrics
        if operation == "Query":
            metrics.query_hits += hit
            metrics.query_misses += not hit
        else:
            metrics.scan_hits += hit
            metrics.scan_misses += not hit

    # TransactGetItems

    async def transact_get_items(self, request: Request) -> Answer:
        return await self._core.pass_through("TransactGetItems", request)


def _dominant(served: Mapping[ServedFrom, int]) -> ServedFrom:
    """The source of a batch that needed no store."""
    return ServedFrom.ITEM_CACHE if ServedFrom.ITEM_CACHE in served else ServedFrom.NEGATIVE_ENTRY


def _assemble(
    request: Request, parts: list[_TablePart], found: Mapping[ItemKey, Item | None], fetched: Response
) -> Response:
    """The response of a BatchGetItem: each table's items in the order of its keys, projected as it asked."""
    by_name = {part.named: part for part in parts}
    responses: dict[str, list[Item]] = {}
    unprocessed: dict[str, Mapping[str, Any]] = {}
    for named, left in fetched.get("UnprocessedKeys", {}).items():
        unprocessed[named] = {**request["RequestItems"][named], "Keys": left["Keys"]}
    for named in request["RequestItems"]:
        part = by_name.get(named)
        if part is None:
            responses[named] = fetched.get("Responses", {}).get(named, [])
            continue
        items = [item for key, _ in part.wanted if (item := found.get(key)) is not None]
        responses[named] = items if part.project is None else [part.project(item) for item in items]
    response: dict[str, Any] = {"Responses": responses, "UnprocessedKeys": unprocessed}
    if "ConsumedCapacity" in fetched:
        response["ConsumedCapacity"] = fetched["ConsumedCapacity"]
    return response
