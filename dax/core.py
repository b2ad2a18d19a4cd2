"""What the reads and the writes of one node share: its world, its caches, its place in the log."""

from __future__ import annotations

from dataclasses import dataclass

from backend.errors import ServiceError
from backend.model.keys import KeySchema, check_key, encode
from backend.protocol import Backend, Item, Request, Response
from dax.answer import Answer, MissReason, ServedFrom
from dax.cache.items import ItemCache, ItemKey
from dax.cache.queries import QueryCache
from dax.metrics import Metrics
from dax.replication import Replication
from dax.settings import NodeSettings
from dax.tables import Tables, table_name
from dax.world import Clock, NodeId, Peers, Recorder, Tasks

_NOT_HERE = frozenset(["ResourceNotFoundException", "ValidationException", "AccessDeniedException"])
"""How a store tells that it has no such table, or that an ARN is of another region or account."""


class Unresolved(Exception):
    """The request does not tell which entry it is about: the store has to answer it, likely with an error."""


@dataclass(slots=True)
class Core:
    """One node, without what it does."""

    node_id: NodeId
    clock: Clock
    backend: Backend
    peers: Peers
    tasks: Tasks
    settings: NodeSettings
    items: ItemCache
    queries: QueryCache
    tables: Tables
    replication: Replication
    metrics: Metrics
    recorder: Recorder | None

    async def store(self, operation: str, request: Request) -> Response:
        """Ask the store. Hearing that a table is gone, the node asks for its schema anew."""
        try:
            return await self.backend.execute(operation, request)
        except ServiceError as error:
            if error.code == "ResourceNotFoundException":
                self.tables.forget(request.get("TableName"))
            raise

    async def schema(self, named: str) -> KeySchema:
        """The key schema of a table named in a request. Raises `Unresolved` when it is not here."""
        try:
            return await self.tables.schema(named)
        except ServiceError as error:
            if error.code in _NOT_HERE:
                raise Unresolved from error
            raise

    async def resolve(self, named: str, key: Item) -> tuple[ItemKey, Item]:
        """The item-cache key and the canonical primary key. Raises `Unresolved` when the key does not fit.

        A key that does not fit may be of a table that was made anew, so its schema is learned again first.
        """
        table = table_name(named)
        schema = await self.schema(named)
        try:
            checked = check_key(schema, key)
        except ServiceError:
            self.tables.forget(named)
            again = await self.schema(named)
            if again == schema:
                raise Unresolved from None
            try:
                schema, checked = again, check_key(again, key)
            except ServiceError:
                raise Unresolved from None
        return (table, encode(schema, checked)), checked

    def answer(self, response: Response, served_from: ServedFrom, miss: MissReason | None = None) -> Answer:
        """An answer of this node that no cache entry stands behind."""
        return Answer(response, served_from, self.node_id, miss=miss)

    async def pass_through(self, operation: str, request: Request) -> Answer:
        """The store's answer, neither taken from a cache nor put into one."""
        response = await self.store(operation, request)
        return self.answer(response, ServedFrom.PASS_THROUGH, MissReason.NOT_CACHEABLE)

    def record(self, event: str, **facts: object) -> None:
        """Tell the recorder, if there is one."""
        if self.recorder is not None:
            self.recorder.record(event, node=self.node_id, **facts)
