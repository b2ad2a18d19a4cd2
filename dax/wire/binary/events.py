"""What happens on a connection: the closed vocabulary between the codec and whoever drives it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dax.wire.binary import cbor
from dax.wire.binary.methods import Method

Reason = tuple[str | None, str | None, bytes | None]
"""Of one action of a cancelled transaction: code, message, and the item's values blob."""


class Event:
    """Something that one side said."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Greeting(Event):
    """The first five items. The session id is bytes, text or null, by client; nothing depends on it."""

    session: bytes | str | None = b""
    user_agent: str = ""


@dataclass(frozen=True, slots=True)
class Authorization(Event):
    """The credentials for what follows on this connection. Never answered."""

    access_key: str
    signature: str
    string_to_sign: bytes
    session_token: str | None = None
    user_agent: str | None = None


@dataclass(frozen=True, slots=True)
class Call(Event):
    """One request: a method and its decoded arguments. `frame` are the bytes it came in."""

    method: Method
    arguments: list[Any] = field(default_factory=list)
    frame: bytes = b""


@dataclass(frozen=True, slots=True)
class Reply(Event):
    """The answer to a request that succeeded, encoded: the success marker and the result items."""

    encoded: bytes

    def items(self) -> list[Any]:
        """The result items, decoded."""
        return cbor.decode_run(self.encoded[1:])


@dataclass(frozen=True, slots=True)
class Failure(Event):
    """The answer to a request that failed. `reasons`: of each action of a cancelled transaction."""

    codes: tuple[int, ...]
    message: str
    request_id: str
    name: str
    status: int
    reasons: tuple[Reason, ...] | None = None

    def encode(self) -> bytes:
        """The three items of a failed answer."""
        details: list[Any] = [self.request_id, self.name, self.status]
        if self.reasons is not None:
            details.append([part for reason in self.reasons for part in reason])
        return cbor.encode(list(self.codes)) + cbor.text(self.message) + cbor.encode(details)


@dataclass(frozen=True, slots=True)
class ConnectionClosed(Event):
    """The peer has ended the stream between two messages."""
