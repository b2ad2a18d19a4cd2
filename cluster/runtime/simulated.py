"""The simulated runtime: one seed makes one world, and the same world every time.

Rules of this file:

* time is the virtual loop's; the clock starts at a fixed date;
* every random choice is a draw from one generator, kept with its label and its instant;
* the way from a client to a node takes no time. A slow way would hide anomalies rather than show them: a
  reader cannot observe what is over before it arrives;
* `check` runs a program twice. The second run stops at the first draw that differs from the first run's,
  which is where the program began to depend on something that is not in the seed.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from backend.errors import ServiceError
from backend.protocol import Backend, Request, Response
from cluster.runtime.base import Runtime
from cluster.runtime.network import Network
from cluster.runtime.virtual_loop import SimulationError, VirtualTimeLoop
from dax.world import Clock, NodeId

T = TypeVar("T")

START = 1_767_225_600.0
"""The simulated clock's first instant: 2026-01-01 00:00:00 UTC."""


class NonDeterminism(AssertionError):
    """Two runs of one seed differed; the text names the first difference."""


@dataclass(frozen=True, slots=True)
class Draw:
    """One random choice: what for, when (virtual seconds), and what came out."""

    label: str
    time: float
    value: float | bytes

    def __str__(self) -> str:
        value = self.value.hex() if isinstance(self.value, bytes) else repr(self.value)
        return f"{self.label} = {value} at {self.time:.6f} s"


class Draws:
    """The one generator of a run, and the list of all that was drawn from it."""

    def __init__(self, seed: int, time: Callable[[], float], expected: Sequence[Draw] | None = None) -> None:
        self._random = random.Random(seed)
        self._time = time
        self._expected = expected
        self.made: list[Draw] = []

    def uniform(self, label: str, low: float, high: float) -> float:
        """A number between `low` and `high`."""
        value = self._random.uniform(low, high)
        self._keep(Draw(label, self._time(), value))
        return value

    def entropy(self, size: int) -> bytes:
        """`backend.protocol.Entropy`: `size` bytes of the seed."""
        value = self._random.randbytes(size)
        self._keep(Draw("entropy", self._time(), value))
        return value

    def _keep(self, draw: Draw) -> None:
        number = len(self.made)
        self.made.append(draw)
        if self._expected is None:
            return
        before = self._expected[number] if number < len(self._expected) else None
        if draw != before:
            raise NonDeterminism(f"draw {number + 1} differs: first run {before}, second run {draw}")


class SimulatedClock:
    """`SteerableClock` on the virtual loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def now(self) -> float:
        return START + self._loop.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def call_at(self, when: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        return self._loop.call_at(when - START, callback)

    async def advance(self, seconds: float) -> None:
        """Sleep: virtual time does not keep anyone waiting."""
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Latencies:
    """Bounds, in seconds, of the uniformly drawn one-way latencies."""

    node: tuple[float, float] = (0.0002, 0.0008)
    store: tuple[float, float] = (0.001, 0.003)


class _DistantStore:
    """The store at the end of a link: a way there and a way back, either of which a node's death cuts."""

    def __init__(self, backend: Backend, node_id: NodeId, clock: Clock, draws: Draws, latencies: Latencies):
        self._backend = backend
        self._label = f"{node_id} to store"
        self._clock = clock
        self._draws = draws
        self._bounds = latencies.store

    async def execute(self, operation: str, request: Request) -> Response:
        await self._travel()
        try:
            response = await self._backend.execute(operation, request)
        except ServiceError:
            await self._travel()
            raise
        await self._travel()
        return response

    async def _travel(self) -> None:
        await self._clock.sleep(self._draws.uniform(self._label, *self._bounds))

    async def close(self) -> None:
        """The store behind the link belongs to the cluster, which closes it."""


class Simulation:
    """One seeded world. Make the cluster on `runtime` inside the coroutine that `run` is given."""

    def __init__(
        self,
        seed: int,
        *,
        latencies: Latencies | None = None,
        expected: Sequence[Draw] | None = None,
    ) -> None:
        latencies = latencies or Latencies()
        self.seed = seed
        self.loop = VirtualTimeLoop()
        self.draws = draws = Draws(seed, self.loop.time, expected)
        clock = SimulatedClock(self.loop)

        def latency(sender: NodeId, to: NodeId) -> float:
            return draws.uniform(f"{sender} to {to}", *latencies.node)

        self.runtime = Runtime(
            clock,
            draws.entropy,
            Network(clock, latency),
            lambda node_id, backend: _DistantStore(backend, node_id, clock, draws, latencies),
        )

    def run(self, program: Coroutine[Any, Any, T]) -> T:
        """Run the program to its end.

        Raises what it raises, SimulationError if it cannot end, or if a callback of its failed unseen.
        """
        try:
            result = self.loop.run_until_complete(program)
        finally:
            self.loop.close()
        for failure in self.loop.failures:
            raise SimulationError(str(failure.get("message"))) from failure.get("exception")
        return result


def simulate(seed: int, program: Callable[[Simulation], Coroutine[Any, Any, T]]) -> T:
    """Run `program` in the world of `seed`."""
    simulation = Simulation(seed)
    return simulation.run(program(simulation))


def check(seed: int, program: Callable[[Simulation], Coroutine[Any, Any, T]]) -> T:
    """Run `program` twice in the world of `seed`, and give its result.

    Raises NonDeterminism at the first draw that differs, or if a run drew less or gave another result.
    """
    first = Simulation(seed)
    result = first.run(program(first))
    second = Simulation(seed, expected=first.draws.made)
    again = second.run(program(second))
    if len(second.draws.made) != len(first.draws.made):
        missing = first.draws.made[len(second.draws.made)]
        raise NonDeterminism(f"draw {len(second.draws.made) + 1} is missing in the second run: {missing}")
    if result != again:
        raise NonDeterminism(f"same draws, other result: {_first_difference(repr(result), repr(again))}")
    return result


def _first_difference(first: str, second: str) -> str:
    shared = min(len(first), len(second))
    position = next((i for i in range(shared) if first[i] != second[i]), shared)
    start = max(0, position - 40)
    return f"...{first[start : position + 40]!r} against ...{second[start : position + 40]!r}"
