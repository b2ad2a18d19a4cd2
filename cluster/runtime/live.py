"""The live runtime: the wall clock, the operating system's entropy, and the fastest event loop there is.

Rules of this file:

* the clock may be told to be later (`advance`), never earlier, so that a TTL of five minutes passes in a
  moment. Sleepers and messages under way follow: what is due in the skipped time happens in its order;
* code that blocks (boto3 in a story) runs in threads that `BlockingCalls` owns.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import os
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from cluster.runtime.base import Runtime
from cluster.runtime.network import Network

T = TypeVar("T")


_TURNS = 10
"""Rounds of the event loop in which a woken coroutine has done what it does without waiting for others."""


stopwatch: Callable[[], float] = time.perf_counter
"""Seconds from anywhere, for measuring how long something takes. uvloop's own time counts milliseconds."""


class _Due:
    """A callback in the clock's heap."""

    __slots__ = ("callback", "cancelled")

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback = callback
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class LiveClock:
    """`SteerableClock` over the wall clock, for one event loop."""

    def __init__(self) -> None:
        self._offset = 0.0
        self._heap: list[tuple[float, int, _Due]] = []
        self._sequence = itertools.count()
        self._timer: asyncio.TimerHandle | None = None

    def now(self) -> float:
        return time.time() + self._offset

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()

        def wake() -> None:
            if not woken.done():
                woken.set_result(None)

        due = self.call_at(self.now() + seconds, wake)
        try:
            await woken
        finally:
            due.cancel()

    def call_at(self, when: float, callback: Callable[[], None]) -> _Due:
        due = _Due(callback)
        heapq.heappush(self._heap, (when, next(self._sequence), due))
        if self._heap[0][2] is due:
            self._set_timer()
        return due

    async def advance(self, seconds: float) -> None:
        """Be `seconds` later; return when what was due has happened, in its order."""
        if seconds < 0:
            raise ValueError("a clock is never set back")
        target = self.now() + seconds
        while self._heap and self._heap[0][0] <= target:
            self._offset += max(0.0, self._heap[0][0] - self.now())
            self._run_due()
            # Let whoever woke up act at its own instant, before the next one.
            for _ in range(_TURNS):
                await asyncio.sleep(0)
        self._offset += max(0.0, target - self.now())
        self._set_timer()

    def _run_due(self) -> None:
        now = self.now()
        while self._heap and (self._heap[0][0] <= now or self._heap[0][2].cancelled):
            due = heapq.heappop(self._heap)[2]
            if not due.cancelled:
                due.callback()
        self._set_timer()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._heap:
            delay = max(0.0, self._heap[0][0] - self.now())
            self._timer = asyncio.get_running_loop().call_later(delay, self._run_due)

    def close(self) -> None:
        """Forget what is still to come."""
        self._heap.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class BlockingCalls:
    """Threads for code that blocks, such as boto3, beside an event loop."""

    def __init__(self, threads: int = 8) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="daxsim-client")

    async def run(self, call: Callable[[], T]) -> T:
        """Run `call` in a thread and give its result."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, call)

    def close(self) -> None:
        """Wait for the running calls and end the threads."""
        self._executor.shutdown(wait=True, cancel_futures=True)


def live_runtime(*, replication_delay: float = 0.0) -> Runtime:
    """A runtime for the running process: links without latency besides the replication delay."""
    clock = LiveClock()
    network = Network(clock, lambda _sender, _to: 0.0, replication_delay=replication_delay)
    return Runtime(clock, os.urandom, network)


def new_loop() -> asyncio.AbstractEventLoop:
    """An event loop of uvloop where that is installed, of asyncio elsewhere."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def next_turn() -> None:
    """Let the event loop go round once."""
    await asyncio.sleep(0)


def run(program: Coroutine[Any, Any, T]) -> T:
    """Run a program on the fastest event loop there is."""
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(program)
