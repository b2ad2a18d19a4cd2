"""What a node does with a write.

The rules of this file:

* Only the primary writes to the store; a replica forwards, and a write that was forwarded to a node that is
  no longer the primary is refused with InternalServerError before it reaches the store.
* Store first. On success the item cache gets the new state through the replication log (a delete leaves a
  negative entry), then the caller is answered. A refused write leaves every cache as it was.
* When the outcome is not known (a 5xx, a broken call, a cancelled task, a refusal of a second attempt after a
  first one of which nothing was heard) the entries of its keys are dropped on every node: the next read asks
  the store. A primary that dies meanwhile takes the knowledge of it along: its replicas keep what they had.
* Writes of one key take turns from before the store until after the cache, so the cache ends in the store's
  order. So do the background reads that follow a transaction.
* A write that ends in another epoch than it began in is in no order with the writes of another primary: its
  entry is dropped everywhere.
* Keys that a batch left unprocessed were not written and are not cached.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from backend.errors import ServiceError
from backend.model.keys import check_key, encode, key_of
from backend.model.values import normalise_item
from backend.protocol import Item, Request, Response
from dax.answer import Answer, ServedFrom
from dax.cache.items import ItemKey
from dax.core import Core, Unresolved
from dax.locks import KeyLocks
from dax.tables import table_name
from dax.updates import plan_update

_TRANSACTION_ACTIONS = ("ConditionCheck", "Put", "Update", "Delete")


class Writes:
    """The write operations of one node."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._locks = KeyLocks()
        self._operations = {
            "PutItem": self._put,
            "DeleteItem": self._delete,
            "UpdateItem": self._update,
            "BatchWriteItem": self._batch,
            "TransactWriteItems": self._transact,
        }

    async def execute(self, operation: str, request: Request, *, forwarded: bool) -> Answer:
        """Run a checked write here if this is the primary, else there."""
        if not self._core.replication.is_primary:
            return await self._elsewhere(operation, request, forwarded)
        try:
            return await self._operations[operation](request)
        except Unresolved:
            if self._core.replication.is_primary:
                return await self._unresolved(operation, request)
        except _NotPrimary:
            pass  # the role was lost while the write waited for its turn
        return await self._elsewhere(operation, request, forwarded)

    async def _elsewhere(self, operation: str, request: Request, forwarded: bool) -> Answer:
        if forwarded:
            message = f"{self._core.node_id} is not the primary any more; nothing was written"
            raise ServiceError("InternalServerError", message, status=500)
        return await self._core.peers.forward(operation, request)

    async def _unresolved(self, operation: str, request: Request) -> Answer:
        """Let the store refuse what cannot be resolved.

        Should it accept, or not be heard of, what is held of the tables is dropped on every node: which of
        their items were written is not known.
        """
        tables = _tables(operation, request)
        response = await self._store(operation, request, self._held(tables))
        self._unknown(self._held(tables))
        return self._core.answer(response, ServedFrom.STORE)

    def _held(self, tables: set[str]) -> Iterator[ItemKey]:
        """The keys of these tables in the item cache, as it is when the first of them is asked for."""
        yield from [key for key in self._core.items.keys() if key[0] in tables]  # noqa: SIM118 - no dict

    # One item

    async def _put(self, request: Request) -> Answer:
        key, _, item = await self._item(request["TableName"], request["Item"])
        async with self._turn([key]) as epoch:
            response = await self._store("PutItem", request, [key])
            self._written(epoch, key, item)
        return self._core.answer(response, ServedFrom.STORE)

    async def _delete(self, request: Request) -> Answer:
        key, _ = await self._core.resolve(request["TableName"], request["Key"])
        async with self._turn([key]) as epoch:
            response = await self._store("DeleteItem", request, [key])
            self._written(epoch, key, None)
        return self._core.answer(response, ServedFrom.STORE)

    async def _update(self, request: Request) -> Answer:
        key, primary_key = await self._core.resolve(request["TableName"], request["Key"])
        schema = await self._core.schema(request["TableName"])
        try:
            plan = plan_update(request, schema, primary_key)
        except Unresolved:
            return await self._update_blindly(key, request)
        async with self._turn([key]) as epoch:
            with self._outcome([key]):
                stored = await self._core.store("UpdateItem", plan.store_request)
                try:
                    item, response = plan.outcome(stored)
                except ServiceError as error:
                    message = f"The update is done, but its result cannot be told: {error}"
                    raise ServiceError("InternalServerError", message, status=500) from error
            self._written(epoch, key, item)
        return self._core.answer(response, ServedFrom.STORE)

    async def _update_blindly(self, key: ItemKey, request: Request) -> Answer:
        """An update that only the store may understand: it refuses, or what the item is then is not known."""
        async with self._turn([key]):
            response = await self._store("UpdateItem", request, [key])
            self._unknown([key])
        return self._core.answer(response, ServedFrom.STORE)

    # Many items

    async def _batch(self, request: Request) -> Answer:
        states: dict[ItemKey, Item | None] = {}
        for named, actions in request["RequestItems"].items():
            for action in actions:
                key, item = await self._action_state(named, action)
                if key in states:
                    raise Unresolved  # the same item twice, which the store refuses
                states[key] = item
        async with self._turn(states) as epoch:
            with self._outcome(states):
                response = await self._core.store("BatchWriteItem", request)
                left = self._unprocessed(response)
            for key, item in states.items():
                if key not in left:
                    self._written(epoch, key, item)
        return self._core.answer(response, ServedFrom.STORE)

    async def _action_state(self, named: str, action: Mapping[str, Any]) -> tuple[ItemKey, Item | None]:
        if "PutRequest" in action:
            key, _, item = await self._item(named, action["PutRequest"]["Item"])
            return key, item
        if "DeleteRequest" in action:
            return (await self._core.resolve(named, action["DeleteRequest"]["Key"]))[0], None
        raise Unresolved

    def _unprocessed(self, response: Response) -> set[ItemKey]:
        """The keys that a batch left unwritten. Waits for nothing: the rest has been written."""
        left = set()
        for named, actions in response.get("UnprocessedItems", {}).items():
            table = table_name(named)
            schema = self._core.tables.known(named)
            for action in actions:
                item = (
                    action["PutRequest"]["Item"] if "PutRequest" in action else action["DeleteRequest"]["Key"]
                )
                try:
                    assert schema is not None
                    left.add((table, encode(schema, check_key(schema, key_of(schema, item)))))
                except (KeyError, ServiceError) as error:
                    message = f"The store left an item of {table} unprocessed that its key does not fit"
                    raise ServiceError("InternalServerError", message, status=500) from error
        return left

    async def _transact(self, request: Request) -> Answer:
        keys: dict[ItemKey, Mapping[str, Any]] = {}
        for member in request["TransactItems"]:
            for kind, action in member.items():
                if kind not in _TRANSACTION_ACTIONS:
                    raise Unresolved
                if kind == "Put":
                    key, primary_key, _ = await self._item(action["TableName"], action["Item"])
                else:
                    key, primary_key = await self._core.resolve(action["TableName"], action["Key"])
                keys[key] = {"Get": {"TableName": action["TableName"], "Key": primary_key}}
        async with self._turn(keys):
            response = await self._store("TransactWriteItems", request, keys)
        self._core.record("write-committed", operation="TransactWriteItems", keys=list(keys))
        self._core.tasks.spawn(self._refresh(keys), name="refresh after transaction")
        return self._core.answer(response, ServedFrom.STORE)

    async def _refresh(self, keys: Mapping[ItemKey, Mapping[str, Any]]) -> None:
        """Read what a transaction left, and cache it. When that fails, the old states are dropped."""
        core = self._core
        try:
            if core.settings.transaction_refresh_delay:
                await core.clock.sleep(core.settings.transaction_refresh_delay)
            async with self._locks.holding(keys):
                epoch = core.replication.epoch
                response = await core.store("TransactGetItems", {"TransactItems": list(keys.values())})
                for key, found in zip(keys, response["Responses"], strict=True):
                    core.replication.written(epoch, key, found.get("Item"))
        except ServiceError as error:
            core.record("refresh-failed", keys=list(keys), error=error.code)
            self._unknown(keys)
            return
        except BaseException:
            # The node leaves the cluster: its successor has to hear that the old states are over.
            self._unknown(keys)
            raise
        core.record("refreshed", keys=list(keys))

    # What they share

    async def _item(self, named: str, item: Item) -> tuple[ItemKey, Item, Item]:
        """The cache key, the primary key and the canonical form of an item to put."""
        schema = await self._core.schema(named)
        try:
            canonical = normalise_item(item)
        except ServiceError:
            raise Unresolved from None
        try:
            primary_key = key_of(schema, canonical)
        except KeyError:
            # Perhaps the table was made anew, with another key.
            self._core.tables.forget(named)
            try:
                primary_key = key_of(await self._core.schema(named), canonical)
            except KeyError:
                raise Unresolved from None
        key, primary_key = await self._core.resolve(named, primary_key)
        return key, primary_key, canonical

    def _turn(self, keys: Iterable[ItemKey]) -> _Turn:
        return _Turn(self._core, self._locks, keys)

    async def _store(self, operation: str, request: Request, keys: Iterable[ItemKey]) -> Response:
        with self._outcome(keys):
            return await self._core.store(operation, request)

    @contextmanager
    def _outcome(self, keys: Iterable[ItemKey]) -> Iterator[None]:
        """Drop the keys when it is not known whether they were written."""
        try:
            yield
        except ServiceError as error:
            if error.status >= 500 or error.after_unknown_outcome:
                self._unknown(keys)
            raise
        except BaseException:
            self._unknown(keys)
            raise

    def _written(self, epoch: int, key: ItemKey, item: Item | None) -> None:
        self._core.replication.written(epoch, key, item)
        self._core.record("write-committed", key=key, item=item)

    def _unknown(self, keys: Iterable[ItemKey]) -> None:
        for key in keys:
            self._core.replication.unknown(key)


class _NotPrimary(Exception):
    """The node lost the role while the write waited for its turn."""


class _Turn:
    """`async with` the keys' locks, as the primary. Raises `_NotPrimary` when that is over."""

    def __init__(self, core: Core, locks: KeyLocks, keys: Iterable[ItemKey]) -> None:
        self._core = core
        self._held = locks.holding(keys)

    async def __aenter__(self) -> int:
        """The epoch in which the write begins."""
        await self._held.__aenter__()
        if not self._core.replication.is_primary:
            await self._held.__aexit__(None, None, None)
            raise _NotPrimary
        return self._core.replication.epoch

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        await self._held.__aexit__(kind, error, trace)


def _tables(operation: str, request: Request) -> set[str]:
    """The names of the tables that a write names."""
    if operation == "BatchWriteItem":
        return {table_name(named) for named in request["RequestItems"]}
    if operation == "TransactWriteItems":
        actions = [action for member in request["TransactItems"] for action in member.values()]
        return {table_name(action["TableName"]) for action in actions}
    return {table_name(request["TableName"])}
