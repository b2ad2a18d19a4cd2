"""The links between the nodes of one process: messages as objects, late, held or lost as told.

Rules of this file:

* a link is an ordered pair of node ids, and keeps the order of its messages whatever their latency;
* `send` is for replication messages: one way, no answer, lost with a dead node or a partition;
* `round_trip` is for forwarded requests: there, work, and back; a break on either way raises `LinkBroken`;
* a held link keeps the messages that arrive, in order, until it is released;
* latency comes from a function: constant when live, drawn from the seed when simulated.

The network knows no replication and no primary: `cluster.topology` says who listens.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from backend.errors import ServiceError
from cluster.runtime.tasks import OwnerEnded, TaskGroup
from dax.world import NodeId

T = TypeVar("T")

Latency = Callable[[NodeId, NodeId], float]
"""Seconds that the next message from one node to another is under way."""

Deliver = Callable[[NodeId, Any], None]
"""What a listening node does with a message: `deliver(sender, message)`."""


class LinkBroken(ConnectionError):
    """The other node is dead or cut off; whether it acted on the request is unknown."""


class _Clock(Protocol):
    def now(self) -> float: ...
    async def sleep(self, seconds: float) -> None: ...
    def call_at(self, when: float, callback: Callable[[], None]) -> Any: ...


class _Link:
    """One direction between two nodes."""

    __slots__ = ("cut", "held", "last_arrival", "waiting")

    def __init__(self) -> None:
        self.last_arrival = 0.0
        self.held = False
        self.cut = False
        self.waiting: deque[object] = deque()


class Network:
    """All links of one cluster.

    replication_delay: seconds added to each message of `send`; when set, it counts for later messages.
    """

    def __init__(self, clock: _Clock, latency: Latency, *, replication_delay: float = 0.0) -> None:
        self._clock = clock
        self._latency = latency
        self._links: dict[tuple[NodeId, NodeId], _Link] = {}
        self._listeners: dict[NodeId, tuple[Deliver, TaskGroup]] = {}
        self._under_way = 0
        self._quiet: asyncio.Future[None] | None = None
        self.replication_delay = replication_delay

    # Who listens

    def attach(self, node_id: NodeId, deliver: Deliver, tasks: TaskGroup) -> None:
        """Let `node_id` receive messages, and run forwarded requests among `tasks`."""
        self._listeners[node_id] = (deliver, tasks)

    def detach(self, node_id: NodeId) -> None:
        """The node is gone: what is under way to it is lost, and so is what was held for it."""
        self._listeners.pop(node_id, None)
        for (_, to), link in self._links.items():
            if to == node_id:
                link.waiting.clear()

    # Messages

    def send(self, sender: NodeId, to: NodeId, message: object) -> None:
        """Put a message on the link, without waiting."""
        listener = self._listeners.get(to)
        link = self._link(sender, to)
        if listener is None or sender not in self._listeners or link.cut:
            return
        delay = self._latency(sender, to) + self.replication_delay
        # First in, first out: a message never overtakes the one before it.
        arrival = max(self._clock.now() + delay, link.last_arrival)
        link.last_arrival = arrival
        self._under_way += 1
        self._clock.call_at(arrival, lambda: self._arrive(link, listener, sender, to, message))

    def _arrive(
        self, link: _Link, listener: tuple[Deliver, TaskGroup], sender: NodeId, to: NodeId, message: object
    ) -> None:
        self._under_way -= 1
        if not self._under_way and self._quiet is not None and not self._quiet.done():
            self._quiet.set_result(None)
        # A node that died and came back is another listener: messages to the old one are lost with it.
        if self._listeners.get(to) is not listener or link.cut:
            return
        if link.held:
            link.waiting.append(message)
        else:
            listener[0](sender, message)

    async def round_trip(self, sender: NodeId, to: NodeId, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run `work` at the other node and bring its result back; what it raises is raised here.

        Raises LinkBroken when the other node is dead or cut off, before, during or after the work.
        """
        await self._travel(sender, to)
        listener = self._listeners.get(to)
        if listener is None or sender not in self._listeners:
            raise LinkBroken(f"{sender} cannot reach {to}")
        try:
            result = await listener[1].run(work(), name=f"request from {sender}")
        except OwnerEnded as ended:
            raise LinkBroken(str(ended)) from None
        except ServiceError:
            await self._travel(to, sender)
            raise
        await self._travel(to, sender)
        return result

    async def _travel(self, sender: NodeId, to: NodeId) -> None:
        if self._link(sender, to).cut:
            raise LinkBroken(f"{sender} cannot reach {to}")
        delay = self._latency(sender, to)
        if delay > 0:
            await self._clock.sleep(delay)
        if self._link(sender, to).cut:
            raise LinkBroken(f"{sender} cannot reach {to}")

    async def wait_until_quiet(self) -> None:
        """Return when no message is under way; held ones do not count."""
        while self._under_way:
            if self._quiet is None or self._quiet.done():
                self._quiet = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._quiet)

    # Faults

    def hold(self, sender: NodeId, to: NodeId) -> None:
        """Keep what is sent from one node to the other until `release`."""
        self._link(sender, to).held = True

    def release(self, sender: NodeId, to: NodeId) -> None:
        """Let a held link flow again; what it kept arrives now, in order."""
        link = self._link(sender, to)
        link.held = False
        listener = self._listeners.get(to)
        while link.waiting and listener is not None:
            listener[0](sender, link.waiting.popleft())

    def partition(self, sender: NodeId, to: NodeId) -> None:
        """Lose everything on the link, in this direction, until `repair`."""
        link = self._link(sender, to)
        link.cut = True
        link.waiting.clear()

    def repair(self, sender: NodeId, to: NodeId) -> None:
        """End a partition of this direction."""
        self._link(sender, to).cut = False

    def _link(self, sender: NodeId, to: NodeId) -> _Link:
        link = self._links.get((sender, to))
        if link is None:
            link = self._links[sender, to] = _Link()
        return link
