"""What a node sees of the world: a clock, background work, its peers and a recorder.

`dax/` awaits methods of these and of `Backend`, and uses no other time, task, network or randomness. A
runtime (`cluster/runtime`) supplies them: live over sockets and the wall clock, or simulated from a seed.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Protocol

from backend.protocol import Request
from dax.answer import Answer

NodeId = str
"""`"node-1"`, `"node-2"`, ...: also what headers and reports print."""


class Clock(Protocol):
    """The only time there is."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return when `seconds` have passed on this clock."""
        ...


class Tasks(Protocol):
    """Background work with a name, kept alive until it ends, its failure reported."""

    def spawn(self, work: Coroutine[Any, Any, None], *, name: str) -> None: ...


class Peers(Protocol):
    """The other nodes of the cluster, as one node reaches them."""

    async def forward(self, operation: str, request: Request) -> Answer:
        """Run a write on the primary and return its answer.

        Raises the `ServiceError` that the primary raised, or `InternalServerError` (500) when no primary
        answers.
        """
        ...

    def send(self, to: NodeId, message: object) -> None:
        """Send one replication message (`dax.replication`), without waiting.

        Messages between two nodes arrive in the order sent, late by the replication delay, or are lost with
        the node. The receiver gets them in `Node.receive(sender, message)`.
        """
        ...


class Recorder(Protocol):
    """Trace points: what happened inside a node, for histories, tests and barriers."""

    def record(self, event: str, **facts: object) -> None: ...
