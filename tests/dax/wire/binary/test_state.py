"""The table of states: complete, and as it is told above it."""

from __future__ import annotations

from dax.wire.binary import state
from dax.wire.binary.events import Authorization, Call, ConnectionClosed, Event, Failure, Greeting, Reply
from dax.wire.binary.methods import ENDPOINTS
from dax.wire.binary.state import State

EVENTS = [
    Greeting(),
    Authorization("a", "b", b"c"),
    Call(ENDPOINTS),
    Reply(b""),
    Failure((4,), "", "", "", 400),
    ConnectionClosed(),
]


def test_every_state_and_every_event_is_in_the_table():
    assert state.TRANSITIONS.keys() == {*State}
    assert {type(event).__name__ for event in EVENTS} == {each.__name__ for each in Event.__subclasses__()}
    reached = {to for row in state.TRANSITIONS.values() for to in row.values()}
    assert reached == {*State} - {State.PREAMBLE, State.ERROR}


def test_exactly_these_moves_are_possible():
    moves = {
        (current.value, type(event).__name__, following.value)
        for current in State
        for event in EVENTS
        if (following := state.after(current, event)) is not None
    }
    assert moves == {
        ("preamble", "Greeting", "ready"),
        ("preamble", "ConnectionClosed", "closed"),
        ("ready", "Authorization", "ready"),
        ("ready", "Call", "in-request"),
        ("ready", "ConnectionClosed", "closed"),
        ("in-request", "Reply", "ready"),
        ("in-request", "Failure", "ready"),
        ("in-request", "ConnectionClosed", "closed"),
        ("closed", "ConnectionClosed", "closed"),
    }


def test_nothing_is_sent_by_both_roles():
    client, server = state.SENT_BY.values()
    assert not client & server
