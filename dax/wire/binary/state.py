"""The life of one connection, whichever side of it we are.

Two rules keep this honest: everything that decides what may come next is in this file, and this file does not
know which role we play.

Theory of operation: a connection is half duplex in the strictest way. The client says a greeting, once. Then
it sends one request and waits for the answer; there are no request ids, no interleaving and nothing that the
server says unasked. So both sides are in one and the same state, and each message, whoever sends it, moves
both:

* PREAMBLE: nothing has been said. Only a greeting may come. It has no answer.
* READY: nothing is owed. An authorization may come, which has no answer either, good or bad: what became of
  it is told with the next request. Or a request.
* IN_REQUEST: a whole request has been read (or written). Exactly one reply or failure must follow. A server
  that already holds the bytes of the next request leaves them where they are.
* CLOSED: one side has ended the stream between two messages. That is not an error: some clients connect and
  greet just to see whether somebody is there.
* ERROR: the stream cannot be trusted any more: bytes that are no message, a method of unknown length, an end
  in the middle of a message. There is no way back, since nothing marks where the next message starts.

What the table cannot show: a half-received message is no state. Its bytes wait in a buffer, for as long as
the server's timer allows, and the state is that before it. And `authorizeConnection` has the form of a
request on the wire; it is an event of its own since it alone is never answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from dax.wire.binary.events import (
    Authorization,
    Call,
    ConnectionClosed,
    Event,
    Failure,
    Greeting,
    Reply,
)


class State(Enum):
    """Where a connection stands."""

    PREAMBLE = "preamble"
    READY = "ready"
    IN_REQUEST = "in-request"
    CLOSED = "closed"
    ERROR = "error"


class Role(Enum):
    """Which side we are. It decides who may send what, and nothing about what follows."""

    CLIENT = "client"
    SERVER = "server"


TRANSITIONS: Mapping[State, Mapping[type[Event], State]] = {
    State.PREAMBLE: {
        Greeting: State.READY,
        ConnectionClosed: State.CLOSED,
    },
    State.READY: {
        Authorization: State.READY,
        Call: State.IN_REQUEST,
        ConnectionClosed: State.CLOSED,
    },
    State.IN_REQUEST: {
        Reply: State.READY,
        Failure: State.READY,
        ConnectionClosed: State.CLOSED,
    },
    State.CLOSED: {ConnectionClosed: State.CLOSED},
    State.ERROR: {},
}

SENT_BY: Mapping[Role, frozenset[type[Event]]] = {
    Role.CLIENT: frozenset({Greeting, Authorization, Call}),
    Role.SERVER: frozenset({Reply, Failure}),
}


def after(state: State, event: Event) -> State | None:
    """The state that `event` leads to; None when it cannot happen in `state`."""
    return TRANSITIONS[state].get(type(event))
