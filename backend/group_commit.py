"""When writes become durable: the asyncio edge of a durable storage.

Rules:

* operations run one at a time on the event loop, and their changes gather in the storage's open group. A
  thread writes the groups that have been cut, in their order, so that the loop never waits for the disk;
* whoever ran an operation awaits its ticket before it tells anybody: until the group of its changes is
  durable, or, for an operation that changed nothing, every group whose changes it may have read. So nobody is
  told what a crash could take back, refusals of conditions included;
* grouped: a group gathers while another is written; when the disk is free, it is cut as soon as a turn of the
  loop adds nothing to it, and `window` seconds after the disk was free at the latest. One writer alone waits
  for one flush, and many share it;
* with a window of 0 every operation that changes something has a group of its own;
* after a failure everything is refused: memory holds what the directory does not. So it is from the moment
  that the end is asked for.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from threading import Thread
from typing import Any

from backend.errors import ServiceError
from backend.storage.durable import DurableStorage, Group, StorageFailed

log = logging.getLogger(__name__)


class _Ticket(asyncio.Future[None]):
    """What everybody awaits who has a part in one group.

    It is not cancelled with one of them: their changes are made, and the others wait on. So the cancellation
    of a caller takes effect when the group is durable.
    """

    def cancel(self, msg: Any | None = None) -> bool:
        return False


class _Writer:
    """A thread that writes groups in their order, and calls `written` in the loop after each.

    An executor does that too, with a future for each group. Its locks and callbacks take as long as handing a
    group over and back does without them, and a group is not worth much more than its flush.
    """

    def __init__(
        self,
        write: Callable[[Group], None],
        loop: asyncio.AbstractEventLoop,
        written: Callable[[Exception | None], None],
    ) -> None:
        self._groups: SimpleQueue[Group | None] = SimpleQueue()
        self._write, self._loop, self._written = write, loop, written
        # A daemon: a program that ends without a close has told nobody of what is still to be written.
        self._thread = Thread(target=self._run, name="daxsim-log", daemon=True)
        self._thread.start()

    def put(self, group: Group) -> None:
        self._groups.put(group)

    def end(self) -> None:
        """Write what has been put, and end the thread."""
        self._groups.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (group := self._groups.get()) is not None:
            failure: Exception | None = None
            try:
                self._write(group)
            except Exception as caught:
                failure = caught
            self._loop.call_soon_threadsafe(self._written, failure)


class GroupCommit:
    """Makes the changes of one storage durable in groups. It belongs to one running loop."""

    def __init__(self, storage: DurableStorage, window: float, stopwatch: Callable[[], float]) -> None:
        """`window` is in seconds, as is what `stopwatch` reads, from anywhere on."""
        self._storage = storage
        self._window = window
        self._stopwatch = stopwatch
        self._looking = False
        self._looked_from = 0.0
        self._seen = 0
        self._open: _Ticket | None = None
        """The ticket of the open group, once it was asked for."""
        self._cut: deque[_Ticket] = deque()
        """The tickets of the groups that are written or next to be."""
        self._folding = False
        self._idle: asyncio.Future[None] | None = None
        self._closed = False
        # One thread for each: a long fold must not delay a write.
        self._writer: _Writer | None = None
        self._folder = ThreadPoolExecutor(1, "daxsim-fold")

    def check(self) -> None:
        """Raises ServiceError (InternalServerError) when the storage has failed, or was told to close."""
        if self._storage.failure is not None:
            raise _refusal(self._storage.failure)
        if self._closed:
            raise _refusal("the data directory is closed")

    def ticket(self) -> asyncio.Future[None] | None:
        """A future that is done when all changes made so far are durable; None when they are.

        It fails with ServiceError (InternalServerError) when they cannot be made so.
        """
        ticket = self._open
        if ticket is not None:
            return ticket
        self.check()
        if self._storage.has_changes:
            ticket = self._open = _Ticket(loop=asyncio.get_running_loop())
            self._gather()
            return ticket
        return self._cut[-1] if self._cut else None

    def changed(self) -> None:
        """There are changes that nobody awaits: make them durable in their turn."""
        if self._storage.failure is None and self._storage.has_changes and self._open is None:
            self._open = _Ticket(loop=asyncio.get_running_loop())
            self._gather()

    # Gathering

    def _gather(self) -> None:
        if self._window == 0:
            self._cut_group()
        elif not self._cut:
            self._looked_from = self._stopwatch()
            self._look_next()

    def _look_next(self) -> None:
        self._looking = True
        self._seen = self._storage.change_count
        asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        """Once in each turn of the loop while the disk is free: has the group grown, and may it go on?"""
        self._looking = False
        grown = self._storage.change_count != self._seen
        if grown and self._stopwatch() - self._looked_from < self._window:
            self._look_next()
        else:
            self._cut_group()

    def _cut_group(self) -> None:
        loop = asyncio.get_running_loop()
        self._cut.append(self._open or _Ticket(loop=loop))
        self._open = None
        if self._writer is None:
            self._writer = _Writer(self._storage.write, loop, self._written)
        self._writer.put(self._storage.cut())
        if self._storage.must_fold and not self._folding:
            self._folding = True
            folded = self._folder.submit(self._storage.fold)
            folded.add_done_callback(lambda done: loop.call_soon_threadsafe(self._folded, done))

    # Writing

    def _written(self, failure: Exception | None) -> None:
        ticket = self._cut.popleft()
        if failure is not None:
            self._fail(failure, ticket)
        else:
            ticket.set_result(None)
            if not self._cut and self._open is not None:
                # Those who were woken run before the look, and may join the group.
                self._gather()
        self._rest()

    def _folded(self, folded: Future[None]) -> None:
        self._folding = False
        failure = folded.exception()
        if failure is not None:
            self._fail(failure)
        self._rest()

    def _fail(self, failure: BaseException, ticket: _Ticket | None = None) -> None:
        log.error("%s; everything is refused from now on", failure)
        for failed in (ticket, self._open):
            if failed is not None:
                failed.set_exception(_refusal(failure))
                # Whoever waited may be gone; nobody needs to be told twice.
                failed.exception()
        self._open = None

    def _rest(self) -> None:
        """Tell who waits for the end when there is nothing more to do."""
        if self._idle is not None and not self._is_busy:
            self._idle.set_result(None)
            self._idle = None

    @property
    def _is_busy(self) -> bool:
        return bool(self._cut) or self._open is not None or self._looking or self._folding

    # Ending

    async def close(self) -> None:
        """Make everything durable that was begun, and close the storage. Closing twice is harmless."""
        if self._closed:
            return
        self._closed = True
        self.changed()
        loop = asyncio.get_running_loop()
        if self._is_busy:
            self._idle = loop.create_future()
            await self._idle
        try:
            await loop.run_in_executor(self._folder, self._storage.close)
        except StorageFailed as failure:
            log.error("%s", failure)
        if self._writer is not None:
            self._writer.end()
        self._folder.shutdown()


def _refusal(why: object) -> ServiceError:
    return ServiceError("InternalServerError", f"Nothing more is accepted: {why}", status=500)
