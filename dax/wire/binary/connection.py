"""One connection without a socket: bytes in, events out; events in, bytes out.

    connection.receive_data(data)           # b"" when the peer has closed
    event = connection.next_event()         # an event, NEED_DATA, or PAUSED
    transport.write(connection.send(event))

Rules of this file:

* It plays either role; our client and our server are one codec.
* A message is decoded once all of it is here. The first attempt assumes that it is, which costs nothing when
  it is so; if not, a scanner follows the bytes as they come, so that a message in a thousand pieces costs one
  pass.
* While a request awaits its answer, `next_event` gives PAUSED and leaves what follows alone.
* A peer's fault raises `RemoteProtocolError`, for ever; ours raises `LocalProtocolError` and changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from dax.wire.binary import cbor, methods, state
from dax.wire.binary.cbor import Incomplete, Malformed, Scanner
from dax.wire.binary.events import (
    Authorization,
    Call,
    ConnectionClosed,
    Event,
    Failure,
    Greeting,
    Reply,
)
from dax.wire.binary.methods import Method
from dax.wire.binary.state import Role, State

MAGIC = "J7yne5G"
MAGIC_BYTES = cbor.text(MAGIC)


class Signal(Enum):
    """What `next_event` gives when there is no event."""

    NEED_DATA = "need-data"
    PAUSED = "paused"


NEED_DATA, PAUSED = Signal.NEED_DATA, Signal.PAUSED


class ProtocolError(Exception):
    """Somebody broke the protocol."""


class LocalProtocolError(ProtocolError):
    """We did: the event cannot be sent now, or by this role."""


class RemoteProtocolError(ProtocolError):
    """The peer did. `cause` is for a person, and says what the client seems to have done wrong."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Limits:
    """What one message may cost.

    message_bytes: its whole length; the largest that DynamoDB accepts, a batch of 16 MB, can be twice as long
    here. message_elements: its data items, blobs counting as one. greeting_bytes: the length of the greeting.
    """

    message_bytes: int = 32 * 1024 * 1024
    message_elements: int = 250_000
    greeting_bytes: int = 4096


class Connection:
    """The state and the unread bytes of one connection."""

    def __init__(self, role: Role, limits: Limits | None = None) -> None:
        self.role = role
        self.state = State.PREAMBLE
        self._limits = limits or Limits()
        self._data: bytes | bytearray = b""
        self._position = 0
        self._scanner: Scanner | None = None
        self._awaiting: Method | None = None
        self._closed_by_peer = False

    def __repr__(self) -> str:
        return f"Connection({self.role.value}, {self.state.value}, {self.unread} bytes unread)"

    @property
    def unread(self) -> int:
        """How many received bytes no event has been made of."""
        return len(self._data) - self._position

    # --- receiving ---

    def receive_data(self, data: bytes) -> None:
        """Take what came from the peer; b"" when it has ended its stream."""
        if not data:
            self._closed_by_peer = True
        elif self._position == len(self._data):
            self._data, self._position = data, 0
        elif type(self._data) is bytearray:
            self._data += data
        else:
            self._data = bytearray(self._data[self._position :]) + data
            self._position = 0

    def next_event(self) -> Event | Signal:
        """The next event of the peer. Raises `RemoteProtocolError`."""
        current = self.state
        if current is State.ERROR:
            raise RemoteProtocolError("the connection has failed before")
        if current is State.CLOSED:
            return ConnectionClosed()
        if self.role is Role.SERVER and current is State.IN_REQUEST:
            return PAUSED
        if self._position == len(self._data):
            return self._at_end()
        if self.role is Role.CLIENT and current is not State.IN_REQUEST:
            raise self._failed("an answer to no request")
        try:
            event = self._next_message()
        except Incomplete:
            if self._closed_by_peer:
                raise self._failed("the stream ends in the middle of a message") from None
            return NEED_DATA
        except Malformed as failure:
            raise self._failed(str(failure)) from None
        following = state.after(self.state, event)
        if following is None:
            raise self._failed(f"{type(event).__name__} in state {self.state.value}")
        self.state = following
        return event

    def _at_end(self) -> Event | Signal:
        if not self._closed_by_peer:
            return NEED_DATA
        self.state = State.CLOSED
        return ConnectionClosed()

    def _failed(self, cause: str) -> RemoteProtocolError:
        self.state = State.ERROR
        self._data, self._position, self._scanner = b"", 0, None
        return RemoteProtocolError(cause)

    def _next_message(self) -> Event:
        if self._scanner is not None:
            if not self._scanner.scan(self._data):
                raise Incomplete
            # The whole message is here: decode it out of bytes of its own.
            end = self._scanner.position
            message, rest = bytes(self._data[:end]), bytes(self._data[end:])
            try:
                event, used = self._read(message, 0)
            except Incomplete:
                raise Malformed("a message ends inside one of its data items") from None
            if used != end:
                raise Malformed("a message does not end with its last data item")
            self._data, self._position, self._scanner = rest, 0, None
            return event
        data = self._data if type(self._data) is bytes else bytes(self._data)
        self._data = data
        try:
            event, self._position = self._read(data, self._position)
        except Incomplete:
            self._begin_scan(data)
            raise
        return event

    def _read(self, data: bytes, position: int) -> tuple[Event, int]:
        if self.state is State.PREAMBLE:
            return _read_greeting(data, position)
        if self.role is Role.SERVER:
            return _read_call(data, position)
        assert self._awaiting is not None
        return _read_answer(data, position, self._awaiting)

    def _begin_scan(self, data: bytes) -> None:
        """Follow an incomplete message from here on, once it is known how many items it has."""
        self._data, self._position = bytearray(data[self._position :]), 0
        start, limit = 0, self._limits.message_bytes
        try:
            if self.state is State.PREAMBLE:
                items, limit = 5, self._limits.greeting_bytes
            elif self.role is Role.SERVER:
                method, start = _read_head(bytes(self._data[:32]), 0)
                items = method.arguments
            else:
                assert self._awaiting is not None
                items = (self._awaiting.results or 0) + 1 if self._data[0] == 0x80 else 3
        except Incomplete:
            return
        scanner = Scanner(items, start, max_bytes=limit, max_elements=self._limits.message_elements)
        scanner.scan(self._data)
        self._scanner = scanner

    # --- sending ---

    def send(self, event: Event) -> bytes:
        """The bytes of an event of ours. Raises `LocalProtocolError` when it is not our turn to say it."""
        following = state.after(self.state, event)
        if following is None or type(event) not in state.SENT_BY[self.role]:
            raise LocalProtocolError(
                f"{type(event).__name__} cannot be sent by the {self.role.value} in state {self.state.value}"
            )
        encoded = _encode(event)
        if type(event) is Call:
            self._awaiting = event.method
        self.state = following
        return encoded


# --- messages -----------------------------------------------------------------------------------------------


def _read_greeting(data: bytes, position: int) -> tuple[Greeting, int]:
    wrong = explain_preamble(data[position : position + 16])
    if wrong is not None:
        raise Malformed(wrong)
    items = []
    for _ in range(5):
        item, position = cbor.decode(data, position)
        items.append(item)
    _, layering, session, properties, mode = items
    if type(layering) is not int or type(mode) is not int or type(properties) is not dict:
        raise Malformed("a greeting of an unknown form")
    if session is not None and type(session) not in (bytes, str):
        raise Malformed("a greeting with a session id of an unknown kind")
    agent = properties.get("UserAgent", "")
    return Greeting(session, agent if type(agent) is str else ""), position


def explain_preamble(start: bytes) -> str | None:
    """What a client does wrong whose first bytes these are; None while they are those of a DAX greeting."""
    if start[: len(MAGIC_BYTES)] == MAGIC_BYTES[: len(start)]:
        return None
    if start[0] == 0x16:
        return "a TLS handshake on a port without TLS: use dax:// instead of daxs://"
    if start[:1].isalpha() and start[:1].isupper():
        return "an HTTP request on a port of the DAX protocol: use dax:// instead of http://"
    return "the first bytes are not those of a DAX client"


_HEADS = {cbor.integer(methods.SERVICE) + cbor.integer(method.id): method for method in methods.ALL}
_HEAD_BYTES = 6  # of every method: the service id, and a method id of four bytes
assert {len(head) for head in _HEADS} == {_HEAD_BYTES}


def _read_head(data: bytes, position: int) -> tuple[Method, int]:
    """The method of a request."""
    known = _HEADS.get(data[position : position + _HEAD_BYTES])
    if known is not None:
        return known, position + _HEAD_BYTES
    for expected in ("service", "method"):
        if data[position : position + 1] and data[position] >> 5 > 1:
            raise Malformed(f"a request starts with something else than a {expected} id")
        value, position = cbor.decode(data, position)
        if expected == "service" and value != methods.SERVICE:
            raise Malformed(f"there is no service {value}")
    method = methods.BY_ID.get(value)
    if method is None:
        name = methods.KNOWN_UNSUPPORTED.get(value)
        raise Malformed(f"the method {name} is not supported" if name else f"there is no method {value}")
    return method, position


def _read_call(data: bytes, position: int) -> tuple[Event, int]:
    start = position
    method, position = _read_head(data, position)
    arguments: list[Any] = []
    decode = cbor.decode
    for _ in range(method.arguments):
        argument, position = decode(data, position)
        arguments.append(argument)
    if method is methods.AUTHORIZE:
        return _authorization(arguments), position
    return Call(method, arguments, data[start:position]), position


def _authorization(arguments: list[Any]) -> Authorization:
    access_key, signature, string_to_sign, token, agent = arguments
    if type(access_key) is not str or type(signature) is not str or type(string_to_sign) is not bytes:
        raise Malformed("an authorization of an unknown form")
    if not isinstance(token, str | None) or not isinstance(agent, str | None):
        raise Malformed("an authorization of an unknown form")
    return Authorization(access_key, signature, string_to_sign, token, agent)


def _read_answer(data: bytes, position: int, method: Method) -> tuple[Event, int]:
    start = position
    codes, position = cbor.decode(data, position)
    if type(codes) is not list or any(type(code) is not int for code in codes):
        raise Malformed("an answer starts with something else than a code path")
    items: list[Any] = []
    for _ in range((method.results or 0) if not codes else 2):
        item, position = cbor.decode(data, position)
        items.append(item)
    if not codes:
        return Reply(data[start:position]), position
    return _failure(tuple(codes), *items), position


def _failure(codes: tuple[int, ...], message: Any, details: Any) -> Failure:
    if details is None:
        return Failure(codes, str(message), "", "", -1)
    if type(details) is not list or len(details) not in (3, 4):
        raise Malformed("a failed answer of an unknown form")
    reasons = None
    if len(details) == 4:
        flat = details[3]
        if type(flat) is not list or len(flat) % 3:
            raise Malformed("the cancellation reasons are not in groups of three")
        reasons = tuple((flat[i], flat[i + 1], flat[i + 2]) for i in range(0, len(flat), 3))
    return Failure(codes, str(message), str(details[0]), str(details[1]), details[2], reasons)


def _encode(event: Event) -> bytes:
    if isinstance(event, Reply):
        return event.encoded
    if isinstance(event, Failure):
        return event.encode()
    if isinstance(event, Call):
        return _encode_call(event.method, event.arguments)
    if isinstance(event, Greeting):
        properties = {"UserAgent": event.user_agent}
        return b"".join(map(cbor.encode, (MAGIC, 0, event.session, properties, 0)))
    if isinstance(event, Authorization):
        arguments = [
            event.access_key,
            event.signature,
            event.string_to_sign,
            event.session_token,
            event.user_agent,
        ]
        return _encode_call(methods.AUTHORIZE, arguments)
    raise LocalProtocolError(f"{type(event).__name__} has no bytes")


def _encode_call(method: Method, arguments: list[Any]) -> bytes:
    if len(arguments) != method.arguments:
        raise LocalProtocolError(f"{method.name} takes {method.arguments} arguments")
    head = cbor.integer(methods.SERVICE) + cbor.integer(method.id)
    return head + b"".join([cbor.encode(argument) for argument in arguments])
