"""When writes become durable: the asyncio edge of a durable storage.

Rules:

* operations run one at a time on the event loop, and their changes gather in the storage's open group. A group is
  written by a thread, so that the loop never waits for the disk;
* whoever ran an operation awaits `settled` before it tells anybody: until the group of its changes is durable,
  or, for an operation that changed nothing, every group whose changes it may have read. So nobody is ever told
  what a crash could take back, refusals of conditions included;
* grouped: a group is cut when a turn of the loop adds nothing more, or `window` seconds after it was opened, and
  never while another is written. One writer alone waits for one flush; many share it;
* with a window of 0 every operation that changes something has a group of its own, in its order;
* after a failure everything is refused: memory holds what the directory does not.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from backend.errors import ServiceError
from backend.storage.durable import DurableStorage, Group, StorageFailed

log = logging.getLogger(__name__)

_Waiters = list["asyncio.Future[None]"]


class GroupCommit:
    """Makes the changes of one storage durable in groups. `window` is in seconds.

    It is used on one running event loop, and closed there.
    """

    def __init__(self, storage: DurableStorage, window: float) -> None:
        self._storage = storage
        self._window = window
        self._gathering = False
        self._opened = 0.0
        self._seen = 0
        self._waiters: _Waiters = []
        self._cut: deque[tuple[Group, _Waiters]] = deque()
        self._writing = False
        self._folding: asyncio.Future[None] | None = None
        self._idle: _Waiters = []
        # One thread for each: a long fold must not delay a write.
        self._writer = ThreadPoolExecutor(1, "daxsim-log")
        self._folder = ThreadPoolExecutor(1, "daxsim-fold")

    def check(self) -> None:
        """Raises ServiceError (InternalServerError) when the storage has failed."""
        if self._storage.failure is not None:
            raise _refusal(self._storage.failure)

    async def settled(self) -> None:
        """Return when everything is durable that has been changed so far.

        Raises ServiceError (InternalServerError) when that cannot be.
        """
        self.check()
        if self._storage.has_changes:
            waiters = self._waiters
            self._gather()
        elif self._cut:
            waiters = self._cut[-1][1]
        else:
            return
        # A future each: a caller that is cancelled takes only its own along.
        waiter = asyncio.get_running_loop().create_future()
        waiters.append(waiter)
        await waiter

    def changed(self) -> None:
        """There are changes that nobody awaits: make them durable in their turn."""
        if self._storage.failure is None and self._storage.has_changes:
            self._gather()

    # Gathering

    def _gather(self) -> None:
        if self._window == 0:
            self._cut_group()
        elif not self._gathering and not self._writing:
            loop = asyncio.get_running_loop()
            self._gathering = True
            self._opened = loop.time()
            self._seen = self._storage.change_count
            loop.call_soon(self._look)

    def _look(self) -> None:
        """Once in each turn of the loop: has the group grown, and is there time for more?"""
        loop = asyncio.get_running_loop()
        count = self._storage.change_count
        if count != self._seen and loop.time() - self._opened < self._window:
            self._seen = count
            loop.call_soon(self._look)
            return
        self._gathering = False
        if self._storage.has_changes:
            self._cut_group()

    def _cut_group(self) -> None:
        waiters, self._waiters = self._waiters, []
        self._cut.append((self._storage.cut(), waiters))
        self._write_next()

    # Writing

    def _write_next(self) -> None:
        loop = asyncio.get_running_loop()
        if self._storage.must_fold and self._folding is None:
            self._folding = loop.run_in_executor(self._folder, self._storage.fold)
            self._folding.add_done_callback(self._folded)
        if not self._writing and self._cut:
            self._writing = True
            written = loop.run_in_executor(self._writer, self._storage.write, self._cut[0][0])
            written.add_done_callback(self._written)

    def _written(self, written: asyncio.Future[None]) -> None:
        self._writing = False
        _, waiters = self._cut.popleft()
        failure = written.exception()
        if failure is not None:
            self._fail(failure, waiters)
            return
        _wake(waiters)
        if self._cut:
            self._write_next()
        elif self._storage.has_changes:
            # Those who were woken run before the look, and may join the group.
            self._gather()
        else:
            self._rest()

    def _folded(self, folded: asyncio.Future[None]) -> None:
        self._folding = None
        failure = folded.exception()
        if failure is not None:
            self._fail(failure, [])
        else:
            self._rest()

    def _fail(self, failure: BaseException, waiters: _Waiters) -> None:
        log.error("%s; everything is refused from now on", failure)
        for waiting in (waiters, *(waiters for _, waiters in self._cut), self._waiters):
            _wake(waiting, failure)
        if not self._writing:
            self._cut.clear()
        self._waiters = []
        self._rest()

    def _rest(self) -> None:
        if not self._writing and not self._gathering and self._folding is None:
            _wake(self._idle)
            self._idle = []

    # Ending

    async def close(self) -> None:
        """Make everything durable and close the storage. Closing twice is harmless."""
        if self._storage.failure is None and self._storage.has_changes:
            self._gather()
        while self._writing or self._gathering or self._folding is not None:
            idle = asyncio.get_running_loop().create_future()
            self._idle.append(idle)
            await idle
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._folder, self._storage.close)
        except StorageFailed as failure:
            log.error("%s", failure)
        self._writer.shutdown()
        self._folder.shutdown()


def _wake(waiters: _Waiters, failure: BaseException | None = None) -> None:
    for waiter in waiters:
        if waiter.done():
            continue
        if failure is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(_refusal(failure))


def _refusal(failure: BaseException) -> ServiceError:
    return ServiceError("InternalServerError", f"Nothing more is accepted: {failure}", status=500)
