"""What a node answers to each request of the protocol: no sockets, no connections.

Rules of this file:

* What can be answered at once is (a cached item, the roster, an attribute list), without a task; the rest is
  a coroutine that the edge runs.
* A cached item is sent as the bytes that its entry keeps. A repeated GetItem has the same bytes, so a bounded
  memo leads from the bytes of a request to its entry's key and skips decoding. It holds no answer, only that
  key.
* A key can only be read by the schema of its table. Schemas come from the node, which learns them from the
  store, and are asked for again when the store refuses a request for a reason that an outdated schema can
  have.
* Every way to fail ends in one `Failure`, and leaves the stream as it should be.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from backend.errors import ServiceError, resource_not_found
from backend.model.keys import KeySchema
from backend.protocol import Entropy, Request
from dax.answer import Answer, ServedFrom
from dax.cache.entries import Entry
from dax.cache.items import ItemKey
from dax.node import Node
from dax.wire.binary import cbor, endpoints, errors, kwargs, methods, requests, responses, sigv4
from dax.wire.binary.attribute_lists import AttributeLists
from dax.wire.binary.cbor import Malformed
from dax.wire.binary.endpoints import Address, Directory
from dax.wire.binary.events import Authorization, Call, Failure, Reply
from dax.wire.binary.requests import Context, Decoded
from dax.wire.binary.steps import Steps
from dax.wire.binary.trace import Trace, describe

log = logging.getLogger("daxsim.binary")

_T = TypeVar("_T")

_MEMO_ENTRIES = 65_536
_MEMO_FRAME_BYTES = 512  # keys are short; what is longer is decoded each time
_TURN_SECONDS = 0.005  # of work on one request, while others wait
_MAY_BE_OUTDATED = frozenset({"ValidationException", "ResourceNotFoundException"})


@dataclass(slots=True)
class Session:
    """What a connection is to its requests.

    local: our end's address. is_go: a Go client is at the other end. refusal: why the last authorization
    failed, None when it did not.
    """

    peer: str
    local: Address
    user_agent: str = ""
    authorized: bool = False
    refusal: ServiceError | None = None
    is_go: bool = False


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """What a user can choose.

    credentials: secret keys by access key id, or None to accept whoever comes. advertise: addresses to list
    in `endpoints` in place of the nodes' own, at most one of each family. trace: gets a line for each
    request.
    """

    credentials: sigv4.Credentials | None = None
    advertise: tuple[Address, ...] = ()
    zone: str = "us-east-1a"
    trace: Trace | None = None


class _SchemaNeeded(Exception):
    def __init__(self, table: str) -> None:
        super().__init__(table)
        self.table = table


Outcome = Reply | Failure

Work = Callable[[], Coroutine[Any, Any, Outcome]]
"""Starts what an answer has to wait for."""


class Service:
    """The protocol's methods on one node."""

    def __init__(
        self,
        node: Node,
        directory: Directory,
        lists: AttributeLists,
        now: Callable[[], float],
        entropy: Entropy,
        options: ServiceOptions,
    ) -> None:
        self._node = node
        self._clock = node.clock
        self._directory = directory
        self._lists = lists
        self._now = now
        self._entropy = entropy
        self._options = options
        self._schemas: dict[str, KeySchema] = {}
        self._memo: dict[bytes, tuple[ItemKey, KeySchema]] = {}
        self._generation = node.schema_generation
        self._context = Context(self._schema_of, lists)
        self._lenient = Context(self._schema_of, lists, lenient_select=True)
        self.hot = options.trace is None

    # --- the hot path ---

    def cached(self, frame: bytes) -> bytes | None:
        """The answer to a whole request whose bytes came before, while the item they ask for is cached."""
        known = self._memo.get(frame)
        if known is None:
            return None
        node = self._node
        if node.schema_generation != self._generation:
            self._start_anew()
            return None
        entry = node.hit(known[0], self._clock.now())
        if entry is None:
            return None
        encoded = entry.binary or self._encode_entry(entry, known[1])
        return encoded if self._lists.unsettled is None else None

    def _start_anew(self) -> None:
        """A table is not what it was: what was derived from its schema is void."""
        self._memo.clear()
        self._schemas.clear()
        self._generation = self._node.schema_generation

    def _encode_entry(self, entry: Entry, schema: KeySchema) -> bytes:
        encoded = entry.binary = responses.get_item(entry.response.get("Item"), schema, self._lists)
        return encoded

    # --- requests ---

    def authorize(self, authorization: Authorization, session: Session) -> None:
        """Take the credentials of a connection. What is wrong with them is told with its next request."""
        session.authorized, session.refusal = True, None
        if self._options.credentials is None:
            return
        try:
            sigv4.verify(authorization, self._options.credentials, self._now())
        except ServiceError as refusal:
            session.authorized, session.refusal = False, refusal
            log.warning(
                "%s: refused the signature of access key %s from %s: %s",
                self._node.node_id,
                authorization.access_key,
                session.peer,
                refusal.message,
            )

    def begin(self, call: Call, session: Session) -> Outcome | Work:
        """The answer to a request, or the work that will give it. Neither raises."""
        outcome = self._begin(call, session)
        if self._lists.unsettled is None or not isinstance(outcome, Reply):
            return outcome
        return partial(self._hold, outcome, call)

    async def _hold(self, reply: Reply, call: Call) -> Outcome:
        """An answer that may tell of a new attribute list waits until no crash can take it back."""
        try:
            await self._settled()
        except Exception as failure:
            return self._failure(failure, call)
        return reply

    async def _settled(self) -> None:
        settling = self._lists.unsettled
        if settling is not None:
            await settling

    def _begin(self, call: Call, session: Session) -> Outcome | Work:
        if not session.authorized:
            return self._failure(session.refusal or errors.not_authorized(), call)
        try:
            local = _LOCAL.get(call.method.name)
            if local is not None:
                return Reply(responses.SUCCESS + local(self, call, session))
            if call.method is methods.GET_ITEM:
                return self._get_item(call, session)
        except Exception as failure:
            return self._failure(failure, call)
        return partial(self._finish, call, session)

    async def _finish(self, call: Call, session: Session, decoded: Decoded | None = None) -> Outcome:
        """What has to wait for the node."""
        started = self._clock.now()
        try:
            if call.method is methods.DEFINE_KEY_SCHEMA:
                return Reply(await self._define_key_schema(call))
            if decoded is None:
                decoded = await self._decode(call, session)
            answer = await self._node.execute(decoded.operation, decoded.request)
            self._trace(decoded.operation, decoded.request, str(answer.served_from), started)
            reply = Reply(await self._encode_answer(decoded, answer))
            await self._settled()
            return reply
        except Exception as failure:
            return self._failure(failure, call, decoded)

    def _get_item(self, call: Call, session: Session) -> Outcome | Work:
        """A GetItem is answered at once when the schema is known and the whole item is cached."""
        try:
            decoded = requests.decode(
                call.method, call.arguments, self._lenient if session.is_go else self._context
            )
        except _SchemaNeeded:
            return partial(self._finish, call, session)
        key = self._node.memo_key(decoded.request)
        if key is None:
            return partial(self._finish, call, session, decoded)
        schema = decoded.target.schema
        self._remember(call.frame, key, schema)
        started = self._clock.now()
        entry = self._node.hit(key, started)
        if entry is None:
            return partial(self._finish, call, session, decoded)
        encoded = entry.binary or self._encode_entry(entry, schema)
        served_from = ServedFrom.NEGATIVE_ENTRY if entry.negative else ServedFrom.ITEM_CACHE
        self._trace(decoded.operation, decoded.request, str(served_from), started)
        return Reply(encoded)

    def _remember(self, frame: bytes, key: ItemKey, schema: KeySchema) -> None:
        if len(frame) > _MEMO_FRAME_BYTES:
            return
        if len(self._memo) >= _MEMO_ENTRIES:
            del self._memo[next(iter(self._memo))]
        self._memo[frame] = (key, schema)

    async def _decode(self, call: Call, session: Session) -> Decoded:
        while True:
            try:
                context = self._lenient if session.is_go else self._context
                return await self._in_turns(requests.decode_in_steps(call.method, call.arguments, context))
            except _SchemaNeeded as needed:
                await self._learn(needed.table)

    async def _encode_answer(self, decoded: Decoded, answer: Answer) -> bytes:
        """The bytes of an answer. Those of a whole cached response stay with its entry."""
        entry = answer.entry
        if entry is None or decoded.target.projection is not None or decoded.operation not in _KEPT:
            return await self._in_turns(responses.encode_in_steps(decoded, answer.response, self._lists))
        if entry.binary is None:
            steps = responses.encode_in_steps(decoded, entry.response, self._lists)
            entry.binary = await self._in_turns(steps)
        return entry.binary

    async def _in_turns(self, steps: Steps[_T]) -> _T:
        """Run work on many items, and let others have their turn whenever it has taken long."""
        turn_ends = self._clock.now() + _TURN_SECONDS
        while True:
            try:
                next(steps)
            except StopIteration as end:
                result: _T = end.value
                return result
            if self._clock.now() >= turn_ends:
                await self._clock.sleep(0)
                turn_ends = self._clock.now() + _TURN_SECONDS

    # --- schemas ---

    def _schema_of(self, table: str) -> KeySchema:
        if self._node.schema_generation != self._generation:
            self._start_anew()
        schema = self._schemas.get(table)
        if schema is None:
            raise _SchemaNeeded(table)
        return schema

    async def _learn(self, table: str) -> KeySchema:
        try:
            schema = await self._node.tables.schema(table)
        except ServiceError as error:
            if error.code == "ResourceNotFoundException":
                # Not in the words of DescribeTable: the caller asked for an item.
                raise resource_not_found() from None
            raise
        if self._schemas.get(table) != schema:
            self._schemas[table] = schema
        return schema

    def _doubt(self, decoded: Decoded) -> None:
        """The store refused a request: its tables may not be what they were."""
        for target in decoded.targets:
            if self._schemas.pop(target.table, None) is not None:
                self._node.tables.forget(target.table)

    async def _define_key_schema(self, call: Call) -> bytes:
        schema = await self._learn(kwargs.utf8(call.arguments[0]))
        pairs = [(cbor.text(attribute.name), cbor.text(attribute.type)) for attribute in schema.attributes]
        return responses.SUCCESS + cbor.mapping(pairs)

    # --- what needs no table ---

    def _endpoints(self, call: Call, session: Session) -> bytes:
        return endpoints.endpoints(
            self._directory.members(), session.local, self._options.advertise, self._options.zone
        )

    def _define_attribute_list_id(self, call: Call, session: Session) -> bytes:
        names = call.arguments[0]
        if type(names) is not list or any(type(name) is not str for name in names):
            raise Malformed("an attribute list is expected to be an array of text")
        return cbor.integer(self._lists.id_of(tuple(names)))

    def _define_attribute_list(self, call: Call, session: Session) -> bytes:
        identifier = call.arguments[0]
        if type(identifier) is not int:
            raise Malformed("the id of an attribute list is expected to be a whole number")
        names = self._lists.names_of(identifier)
        if names is None:
            raise requests.unknown_list(identifier)
        return cbor.array([cbor.text(name) for name in names])

    # --- failures and traces ---

    def _failure(self, failure: Exception, call: Call, decoded: Decoded | None = None) -> Failure:
        """The answer for what went wrong. What is nobody else's doing is a defect of ours, and logged."""
        if isinstance(failure, ServiceError):
            error = failure
        elif isinstance(failure, Malformed):
            error = errors.malformed(failure)
        else:
            log.error("%s: a defect in answering %s", self._node.node_id, call.method.name, exc_info=failure)
            error = ServiceError("InternalServerError", "The node failed to answer; see its log", status=500)
        if decoded is not None and error.code in _MAY_BE_OUTDATED:
            self._doubt(decoded)
        if self._options.trace is not None:
            what = describe(decoded.operation, decoded.request) if decoded else call.method.name
            self._options.trace(f"{self._node.node_id} {what} {error.code}: {error.message}")
        request_id = base64.b32encode(self._entropy(32)).decode().rstrip("=")
        return errors.failure(error, request_id, decoded.targets if decoded else (), self._lists)

    def _trace(self, operation: str, request: Request, outcome: str, started: float) -> None:
        if self._options.trace is not None:
            milliseconds = (self._clock.now() - started) * 1000
            text = describe(operation, request)
            self._options.trace(f"{self._node.node_id} {text} {outcome} {milliseconds:.2f} ms")


_KEPT = frozenset({"GetItem", "Query", "Scan"})

_LOCAL: dict[str, Callable[[Service, Call, Session], bytes]] = {
    methods.ENDPOINTS.name: Service._endpoints,
    methods.DEFINE_ATTRIBUTE_LIST_ID.name: Service._define_attribute_list_id,
    methods.DEFINE_ATTRIBUTE_LIST.name: Service._define_attribute_list,
}
