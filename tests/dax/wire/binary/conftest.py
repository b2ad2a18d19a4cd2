"""The captured messages, and what they were captured with: two tables and that run's attribute-list ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from backend.model.keys import KeyAttribute, KeySchema
from dax.wire.binary import requests
from dax.wire.binary.attribute_lists import AttributeLists
from dax.wire.binary.connection import Connection
from dax.wire.binary.events import Call, Greeting
from dax.wire.binary.requests import Context, Decoded
from dax.wire.binary.state import Role


class Capture(NamedTuple):
    title: str
    client: bytes
    server: bytes


def _load() -> Mapping[int, Capture]:
    captures: dict[int, Capture] = {}
    for block in Path(__file__).with_name("captures.txt").read_text().strip().split("\n\n")[1:]:
        title, *lines = block.splitlines()
        number, _, name = title.partition(" ")
        sides = {side: "".join(line[2:] for line in lines if line.startswith(side)) for side in "CS"}
        captures[int(number)] = Capture(name, bytes.fromhex(sides["C"]), bytes.fromhex(sides["S"]))
    return captures


CAPTURES = _load()
SCHEMAS = {
    "tS": KeySchema(KeyAttribute("pk", "S")),
    "tSS": KeySchema(KeyAttribute("pk", "S"), KeyAttribute("sk", "S")),
    "tN": KeySchema(KeyAttribute("id", "N")),
    "tNN": KeySchema(KeyAttribute("id", "N"), KeyAttribute("at", "N")),
    "tBB": KeySchema(KeyAttribute("h", "B"), KeyAttribute("r", "B")),
}
EVERY_TYPE = [
    "b",
    "bf",
    "big",
    "bs",
    "bt",
    "eb",
    "es",
    "ext",
    "l",
    "m",
    "n",
    "n38",
    "ndec",
    "neg64",
    "negbig",
    "ns",
    "nul",
    "s",
    "ss",
]


@pytest.fixture(scope="session")
def captures() -> Mapping[int, Capture]:
    assert len(CAPTURES) == 22
    return CAPTURES


@pytest.fixture
def schemas() -> Mapping[str, KeySchema]:
    return SCHEMAS


@pytest.fixture
def lists() -> AttributeLists:
    """The ids of the captured run."""
    lists = AttributeLists()
    lists.restore(
        [
            (2, tuple(EVERY_TYPE)),
            (3, ("v",)),
            (5, ("a", "b")),
            (6, ("a", "c")),
            (14, ("gpk", "gsk", "n", "o")),
        ]
    )
    return lists


@pytest.fixture
def decode_call(lists: AttributeLists) -> Callable[..., Decoded]:
    """The operation in the bytes of one request."""

    def decode(data: bytes, **context: Any) -> Decoded:
        connection = Connection(Role.SERVER)
        connection.receive_data(Connection(Role.CLIENT).send(Greeting()) + data)
        assert isinstance(connection.next_event(), Greeting)
        call = connection.next_event()
        assert isinstance(call, Call)
        return requests.decode(call.method, call.arguments, Context(SCHEMAS.__getitem__, lists, **context))

    return decode
