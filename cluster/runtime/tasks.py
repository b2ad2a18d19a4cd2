"""Background work, kept: the only place where tasks are made.

A `TaskGroup` here is not asyncio's: it outlives its calls, belongs to one node, and dies with it. It iterates
in the order of creation, never in that of a set.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

log = logging.getLogger("daxsim.tasks")


class OwnerEnded(RuntimeError):
    """The owner of a piece of work died before the work was done."""


class TaskGroup:
    """`dax.world.Tasks` for one owner, with the means to wait for its work or to end it."""

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._tasks: dict[asyncio.Task[Any], None] = {}
        self._closed = False
        self.failures = 0

    def __len__(self) -> int:
        return len(self._tasks)

    def spawn(self, work: Coroutine[Any, Any, None], *, name: str) -> None:
        """Run `work` in the background. A failure is logged with its name; a dead owner does nothing."""
        self.start(work, name=name).add_done_callback(self._report)

    def start(self, work: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
        """Run `work` as a task of this owner, for someone who awaits it: its failure is theirs to handle."""
        task = asyncio.get_running_loop().create_task(work, name=f"{self._owner}: {name}")
        self._tasks[task] = None
        task.add_done_callback(self._forget)
        if self._closed:
            # The owner is dead: what it would have done must not happen, and whoever waits must not hang.
            task.cancel()
        return task

    async def run(self, work: Coroutine[Any, Any, T], *, name: str) -> T:
        """Run `work` as a task of this owner and give its result.

        Raises OwnerEnded when the owner dies under it. If the caller is cancelled, the work still goes on.
        """
        task = self.start(work, name=name)
        await asyncio.wait([task])
        if task.cancelled():
            raise OwnerEnded(f"{self._owner} died while it worked")
        return task.result()

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(task, None)

    def _report(self, task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            return
        failure = task.exception()
        if failure is not None:
            self.failures += 1
            log.error("%s failed", task.get_name(), exc_info=failure)

    def abort(self) -> None:
        """Cancel everything and accept nothing more: the owner is dead."""
        self._closed = True
        for task in list(self._tasks):
            task.cancel()

    async def drain_present(self) -> None:
        """Wait for what is running now, and not for work begun meanwhile."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def drain(self) -> None:
        """Wait until nothing is running, work begun meanwhile included."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        """Cancel everything and wait until it has ended."""
        self.abort()
        await self.drain()
