"""The asyncio edge of the protocol: transports on one side, `Connection` and `Service` on the other.

Rules of this file:

* One request at a time on each connection, and any number of connections at once. What a peer sends ahead
  waits in its buffer; once that is large, or the peer does not read its answers, its socket is not read any
  more. A peer that takes nothing of an answer for some time is cut off, and sooner where all of them keep
  too much waiting.
* What all peers together have sent of requests that are not complete is bounded (`backend.incomplete`).
* After a bounded number of requests answered within one turn of the loop, the others get theirs.
* An idle connection is never closed: JavaScript clients do not notice and hang. Only a greeting, and a
  request that has begun, must be complete within their time.
* A broken stream is answered once, if at all, and closed. The log names what the client seems to have done
  wrong.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, cast

from backend.incomplete import INCOMPLETE_BYTES, IncompleteRequests
from backend.protocol import Entropy
from dax.node import Node
from dax.wire.binary import errors
from dax.wire.binary.attribute_lists import AttributeLists
from dax.wire.binary.connection import (
    NEED_DATA,
    PAUSED,
    Connection,
    Limits,
    RemoteProtocolError,
)
from dax.wire.binary.endpoints import Address, Directory, parse_address
from dax.wire.binary.events import Authorization, Call, ConnectionClosed, Failure, Greeting, Reply
from dax.wire.binary.service import Outcome, Service, ServiceOptions, Session, Work
from dax.wire.binary.state import Role, State
from dax.world import Tasks

log = logging.getLogger("daxsim.binary")

_BURST = 64
"""Requests that one connection may have answered within one turn of the loop."""

_READ_AHEAD = 64 * 1024
"""Bytes that a peer may send ahead of the answer it waits for."""


class Timer(Protocol):
    def cancel(self) -> None: ...


CallLater = Callable[[float, Callable[[], None]], Timer]
"""`call_later(seconds, callback)`, of the loop when live."""


@dataclass(frozen=True, slots=True)
class BinaryOptions:
    """What a front can be told. Times are seconds.

    greeting_timeout: from the connection to the end of its greeting. request_timeout: from the first byte of
    a request to its last; generous, since Go clients begin one and then look something up. reading_timeout:
    for a peer to take some of an answer that waits. max_connections: of this node. max_unread_bytes: of
    answers that wait for peers, at all connections of this node. max_incomplete_bytes: of requests that wait
    for their rest, at all of them.
    """

    service: ServiceOptions = field(default_factory=ServiceOptions)
    limits: Limits = field(default_factory=Limits)
    greeting_timeout: float = 10.0
    request_timeout: float = 60.0
    reading_timeout: float = 60.0
    max_connections: int = 10_000
    max_unread_bytes: int = 512 * 1024 * 1024
    max_incomplete_bytes: int = INCOMPLETE_BYTES


class BinaryFront:
    """A protocol factory: `loop.create_server(front, ...)`, or a listener that hands transports over.

    node: the node that answers. directory: who is alive, for `endpoints`. lists: the cluster's attribute
    lists. tasks: runs what cannot be answered at once. now, entropy, call_later: the world, as the runtime
    has it.
    """

    def __init__(
        self,
        node: Node,
        directory: Directory,
        lists: AttributeLists,
        options: BinaryOptions | None = None,
        *,
        tasks: Tasks,
        now: Callable[[], float],
        entropy: Entropy,
        call_later: CallLater,
    ) -> None:
        self.options = options or BinaryOptions()
        self.node = node
        self.tasks = tasks
        self.call_later = call_later
        self.service = Service(node, directory, lists, now, entropy, self.options.service)
        self.connections: dict[ServerProtocol, None] = {}
        self.not_reading: dict[ServerProtocol, None] = {}
        self.incomplete = IncompleteRequests(self.options.max_incomplete_bytes, _cut_off_incomplete)
        self.closing = False
        self._waiting: list[asyncio.Future[None]] = []

    def __call__(self) -> ServerProtocol:
        return ServerProtocol(self)

    async def wait_until_left(self, seconds: float) -> None:
        """Return when no connection is open any more, or after `seconds`."""
        if not self.connections:
            return
        left: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(left)
        timer = self.call_later(seconds, lambda: _set(left))
        try:
            await left
        finally:
            timer.cancel()
            self._waiting.remove(left)

    async def shutdown(self, seconds: float) -> None:
        """Let the requests under way be answered, for at most `seconds`, then close every connection."""
        self.closing = True
        for connection in list(self.connections):
            connection.close_when_idle()
        await self.wait_until_left(seconds)
        self.abort()

    def abort(self) -> None:
        """Break every connection now."""
        for connection in list(self.connections):
            connection.abort()

    def bound_unread(self) -> None:
        """Cut off who has not read for longest while the answers that wait are too many bytes."""
        unread = {connection: connection.unread_bytes() for connection in self.not_reading}
        total = sum(unread.values())
        for connection, size in unread.items():
            if total <= self.options.max_unread_bytes:
                return
            connection.cut_off("it does not read, and too many bytes of answers wait at this node")
            total -= size

    def _closed(self, connection: ServerProtocol) -> None:
        self.connections.pop(connection, None)
        self.not_reading.pop(connection, None)
        self.incomplete.forget(connection)
        if not self.connections:
            for left in self._waiting:
                _set(left)


class ServerProtocol(asyncio.Protocol):
    """One connection of a client."""

    def __init__(self, front: BinaryFront) -> None:
        self._front = front
        self._service = front.service
        self._connection = Connection(Role.SERVER, front.options.limits)
        self._session = Session("", _LOOPBACK)
        self._transport: asyncio.Transport | None = None
        self._timer: Timer | None = None
        self._reading_timer: Timer | None = None
        self._busy = False
        self._write_paused = False
        self._read_paused = False
        self._yielding = False
        self._hot = False  # greeted, authorized, nothing under way: a whole request may be looked up as it is

    # --- asyncio.Protocol ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are of no class of asyncio's.
        transport = cast(asyncio.Transport, transport)
        front = self._front
        self._transport = transport
        peer = transport.get_extra_info("peername")
        self._session.peer = f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) else str(peer or "a client")
        local = transport.get_extra_info("sockname")
        self._session.local = (isinstance(local, tuple) and parse_address(local[0])) or _LOOPBACK
        if front.closing or len(front.connections) >= front.options.max_connections:
            log.warning(
                "%s: refused %s: %s",
                front.node.node_id,
                self._session.peer,
                "the node is stopping" if front.closing else f"{len(front.connections)} connections are open",
            )
            transport.abort()
            return
        front.connections[self] = None
        _keep_alive(transport)
        self._arm(front.options.greeting_timeout, "its greeting did not come in time")

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        self._reads_again()
        self._transport = None
        self._front._closed(self)

    def data_received(self, data: bytes) -> None:
        if self._hot:
            encoded = self._service.cached(data)
            if encoded is not None and self._transport is not None:
                self._transport.write(encoded)
                return
        self._connection.receive_data(data)
        if self._busy or self._write_paused or self._yielding:
            self._throttle()
        else:
            self._advance()

    def eof_received(self) -> bool:
        self._connection.receive_data(b"")
        if not (self._busy or self._write_paused or self._yielding):
            self._advance()
        return self._busy or self._write_paused or self._yielding

    def pause_writing(self) -> None:
        self._write_paused = True
        self._hot = False
        self._front.not_reading[self] = None
        self._expect_reading(self.unread_bytes())
        self._front.bound_unread()

    def resume_writing(self) -> None:
        self._write_paused = False
        self._reads_again()
        if not self._busy and not self._yielding:
            self._resume()

    # --- requests ---

    def _advance(self) -> None:
        """Handle what has been received, until more is needed or something has to be waited for."""
        self._hot = False
        for _ in range(_BURST):
            transport = self._transport
            if self._busy or self._write_paused or transport is None or transport.is_closing():
                return
            try:
                event = self._connection.next_event()
            except RemoteProtocolError as failure:
                self._refuse(failure.cause)
                return
            if event is NEED_DATA or event is PAUSED:
                self._await_data()
                return
            if self._timer is not None:
                self._disarm()
                self._front.incomplete.forget(self)
            if isinstance(event, ConnectionClosed):
                transport.close()
                return
            self._handle(event)
        self._yield()

    def _handle(self, event: object) -> None:
        if isinstance(event, Call):
            outcome = self._service.begin(event, self._session)
            if isinstance(outcome, (Reply, Failure)):
                self._send(outcome)
            else:
                self._busy = True
                self._throttle()
                self._front.tasks.spawn(self._answer(outcome), name=event.method.name)
        elif isinstance(event, Authorization):
            self._service.authorize(event, self._session)
        elif isinstance(event, Greeting):
            self._session.user_agent = event.user_agent
            self._session.is_go = event.user_agent.startswith("DaxGo")

    async def _answer(self, work: Work) -> None:
        outcome = await work()
        self._busy = False
        if self._transport is None:
            return
        self._send(outcome)
        if self._front.closing and self._connection.unread == 0:
            self._transport.close()
        elif not self._write_paused:
            self._resume()

    def _send(self, outcome: Outcome) -> None:
        encoded = self._connection.send(outcome)
        if self._transport is not None:
            self._transport.write(encoded)

    def _refuse(self, cause: str) -> None:
        """The stream is broken: say so where somebody may be listening, and end it."""
        self._disarm()
        log.warning(
            "%s: closed the connection of %s: %s", self._front.node.node_id, self._session.peer, cause
        )
        if self._transport is None:
            return
        if self._session.user_agent:
            error = errors.malformed(cause)
            self._transport.write(errors.failure(error, "").encode())
        self._transport.close()

    # --- waiting ---

    def _await_data(self) -> None:
        connection = self._connection
        self._read_on()
        if connection.unread:
            self._front.incomplete.note(self, connection.unread)
        if connection.state is State.PREAMBLE:
            return
        if connection.unread:
            # A message has its time from its first byte: what trickles in does not buy more.
            if self._timer is None:
                self._arm(self._front.options.request_timeout, "a request was begun and not finished in time")
        elif self._front.closing and self._transport is not None:
            self._transport.close()
        else:
            self._hot = self._service.hot and self._session.authorized

    def _yield(self) -> None:
        """Let other connections have their turn."""
        self._yielding = True
        self._throttle()
        self._timer = self._front.call_later(0, self._after_yield)

    def _after_yield(self) -> None:
        self._yielding = False
        self._timer = None
        self._resume()

    def _resume(self) -> None:
        self._advance()
        if not (self._busy or self._write_paused or self._yielding):
            self._read_on()

    def _throttle(self) -> None:
        if not self._read_paused and self._connection.unread > _READ_AHEAD and self._transport is not None:
            self._read_paused = True
            self._transport.pause_reading()

    def _read_on(self) -> None:
        if self._read_paused and self._transport is not None:
            self._read_paused = False
            self._transport.resume_reading()

    def _arm(self, seconds: float, cause: str) -> None:
        self._timer = self._front.call_later(seconds, lambda: self._refuse(cause))

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # --- a peer that does not read ---

    def unread_bytes(self) -> int:
        """How much of our answers the peer's system has not taken yet."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def _expect_reading(self, size: int) -> None:
        """Look again later whether the peer has taken some of the `size` bytes that wait."""

        def look() -> None:
            left = self.unread_bytes()
            if left < size:
                self._expect_reading(left)
            else:
                self.cut_off("it takes nothing of its answer")

        self._reading_timer = self._front.call_later(self._front.options.reading_timeout, look)

    def _reads_again(self) -> None:
        self._front.not_reading.pop(self, None)
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None

    def cut_off(self, cause: str) -> None:
        """Break the connection for a reason of ours."""
        log.warning("%s: cut off %s: %s", self._front.node.node_id, self._session.peer, cause)
        self._reads_again()
        self.abort()

    # --- the end ---

    def close_when_idle(self) -> None:
        """Close now, unless a request is under way: then after its answer."""
        if not self._busy and self._connection.unread == 0 and self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Break the connection; what has not been sent is lost."""
        if self._transport is not None:
            self._transport.abort()


def _cut_off_incomplete(connection: ServerProtocol) -> None:
    connection.cut_off("its request is not complete, and too many bytes of such requests are here")


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _keep_alive(transport: asyncio.Transport) -> None:
    """Let the system find out when a silent peer is gone: we have no idle timeout that would."""
    connected = transport.get_extra_info("socket")
    if connected is not None:
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


_LOOPBACK: Address = ipaddress.IPv4Address("127.0.0.1")
