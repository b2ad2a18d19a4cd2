"""What a runtime is: the clock, the entropy and the network on which one cluster runs.

`cluster.topology` is written against these and runs on both: live (wall clock, operating system, real
sockets) and simulated (virtual clock, a seed, no sockets).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from backend.protocol import Backend, Entropy
from cluster.runtime.network import Network
from dax.world import Clock, NodeId


class Timer(Protocol):
    """A callback that is due at some time, and may be called off."""

    def cancel(self) -> None: ...


class SteerableClock(Clock, Protocol):
    """A clock that runs callbacks, and can be told to be later."""

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """Run `callback` once `now()` is at least `when`."""
        ...

    async def advance(self, seconds: float) -> None:
        """Let `seconds` pass at once: everything due in them has run when this returns."""
        ...


StoreLink = Callable[[NodeId, Backend], Backend]
"""The store as one node reaches it: with the way there and back, if the runtime has one."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """The world of one cluster."""

    clock: SteerableClock
    entropy: Entropy
    network: Network
    store_link: StoreLink = lambda _node_id, backend: backend
