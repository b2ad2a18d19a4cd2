"""An event loop in virtual time: unmodified asyncio code runs on it, and nothing in it waits.

Rules of this file:

* everything that is to run lies in one heap, ordered by (virtual time, our own sequence number). Two
  callbacks of the same instant run in the order in which they were scheduled, always;
* time moves only when nothing is left to do at the present instant, and then at once to the next one;
* a cancelled timer never moves time;
* there is no world outside: sockets, threads, executors, signals and subprocesses raise `SimulationError`;
* a run that cannot end is an error that names the elapsed time and the number of steps, never a hang.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from asyncio import events
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import Context
from typing import Any, NoReturn, TypeVar, TypeVarTuple

T = TypeVar("T")
Args = TypeVarTuple("Args")

ExceptionHandler = Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object]


class SimulationError(RuntimeError):
    """The simulated program did what cannot be simulated, or does not end."""


class SimulationDeadlock(SimulationError):
    """Nothing is scheduled any more, and the awaited result is still pending."""


def _refuse(method: str) -> Any:
    def refuse(*_args: object, **_kwargs: object) -> NoReturn:
        raise SimulationError(
            f"{method}() reaches outside the simulation: a simulated program has no sockets, threads, "
            "executors, signals or subprocesses"
        )

    refuse.__name__ = method
    return refuse


class VirtualTimeLoop(asyncio.AbstractEventLoop):
    """The loop. `time()` starts at 0 and is virtual; `steps` counts the callbacks that have run.

    max_steps bounds one `run_until_complete`: a program that spins at one instant is stopped there.
    """

    def __init__(self, *, max_steps: int = 20_000_000) -> None:
        self._now = 0.0
        self._sequence = itertools.count()
        self._heap: list[tuple[float, int, asyncio.Handle]] = []
        self._max_steps = max_steps
        self._running = False
        self._stopping = False
        self._closed = False
        self._exception_handler: ExceptionHandler | None = None
        self._task_names = itertools.count(1)
        self.steps = 0
        self.failures: list[dict[str, Any]] = []

    # Scheduling

    def time(self) -> float:
        return self._now

    def call_soon(
        self, callback: Callable[[*Args], object], *args: *Args, context: Context | None = None
    ) -> asyncio.Handle:
        self._check_open()
        handle = asyncio.Handle(callback, args, self, context)
        heapq.heappush(self._heap, (self._now, next(self._sequence), handle))
        return handle

    def call_later(
        self, delay: float, callback: Callable[[*Args], object], *args: *Args, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + max(0.0, delay), callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[[*Args], object], *args: *Args, context: Context | None = None
    ) -> asyncio.TimerHandle:
        self._check_open()
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._heap, (max(when, self._now), next(self._sequence), handle))
        return handle

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(
        self,
        coro: Coroutine[Any, Any, T] | Generator[Any, None, T],
        *,
        name: object = None,
        context: Context | None = None,
    ) -> asyncio.Task[T]:
        self._check_open()
        # asyncio numbers unnamed tasks across the whole process; a run's names must be the run's own.
        label = str(name) if name is not None else f"task-{next(self._task_names)}"
        return asyncio.Task(coro, loop=self, name=label, context=context)

    # Running

    def run_until_complete(self, future: Awaitable[T] | Generator[Any, None, T]) -> T:
        """Run until `future` is done and give its result.

        Raises SimulationDeadlock when nothing is scheduled and it is still pending, SimulationError after
        `max_steps` steps.
        """
        self._check_idle()
        main: asyncio.Future[T] = asyncio.ensure_future(future, loop=self)  # type: ignore[arg-type]
        self._run(main.done, waiting_for=main)
        return main.result()

    def run_forever(self) -> None:
        """Run until `stop()` is called or nothing is scheduled."""
        self._check_idle()
        self._run(lambda: self._stopping, waiting_for=None)

    def _run(self, finished: Callable[[], bool], *, waiting_for: asyncio.Future[Any] | None) -> None:
        self._running, self._stopping = True, False
        limit = self.steps + self._max_steps
        events._set_running_loop(self)
        try:
            while not finished():
                if not self._step():
                    if waiting_for is None:
                        return
                    raise SimulationDeadlock(
                        f"nothing is scheduled after {self._now:.6f} s and {self.steps} steps, "
                        f"and {waiting_for!r} is still pending"
                    )
                if self.steps >= limit:
                    raise SimulationError(
                        f"no end in sight after {self._now:.6f} s and {self.steps} steps: {waiting_for!r}"
                    )
        finally:
            events._set_running_loop(None)
            self._running = False

    def _step(self) -> bool:
        """Run the next callback; False when there is none."""
        while self._heap:
            when, _, handle = heapq.heappop(self._heap)
            if handle.cancelled():
                continue
            self._now = when
            self.steps += 1
            handle._run()
            return True
        return False

    def stop(self) -> None:
        self._stopping = True

    def is_running(self) -> bool:
        return self._running

    def is_closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Forget what is still scheduled. Closing twice is harmless."""
        if self._running:
            raise SimulationError("cannot close a running simulation")
        self._closed = True
        self._heap.clear()

    async def shutdown_asyncgens(self) -> None:
        """Nothing to do: generators are closed by the garbage collector of the process."""

    async def shutdown_default_executor(self) -> None:
        """Nothing to do: there is no executor."""

    def _check_idle(self) -> None:
        self._check_open()
        if self._running or events._get_running_loop() is not None:
            raise SimulationError("a simulation cannot be run from inside a running event loop")

    def _check_open(self) -> None:
        if self._closed:
            raise SimulationError("the simulation is closed")

    # What asyncio's own objects ask of their loop

    def get_debug(self) -> bool:
        return False

    def set_debug(self, enabled: bool) -> None:
        if enabled:
            raise SimulationError("asyncio's debug mode reads the wall clock")

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Called by a timer that is cancelled; `_step` passes over it when its turn comes."""

    def set_exception_handler(self, handler: ExceptionHandler | None) -> None:
        self._exception_handler = handler

    def get_exception_handler(self) -> ExceptionHandler | None:
        return self._exception_handler

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """Keep the failure in `failures`: whoever runs the simulation decides what it means."""
        self.failures.append(context)

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if self._exception_handler is not None:
            self._exception_handler(self, context)
        else:
            self.default_exception_handler(context)

    def get_task_factory(self) -> None:
        return None

    # The world outside

    set_task_factory: Any = _refuse("set_task_factory")
    call_soon_threadsafe: Any = _refuse("call_soon_threadsafe")
    run_in_executor: Any = _refuse("run_in_executor")
    set_default_executor: Any = _refuse("set_default_executor")
    getaddrinfo: Any = _refuse("getaddrinfo")
    getnameinfo: Any = _refuse("getnameinfo")
    create_connection: Any = _refuse("create_connection")
    create_server: Any = _refuse("create_server")
    create_unix_connection: Any = _refuse("create_unix_connection")
    create_unix_server: Any = _refuse("create_unix_server")
    create_datagram_endpoint: Any = _refuse("create_datagram_endpoint")
    connect_accepted_socket: Any = _refuse("connect_accepted_socket")
    start_tls: Any = _refuse("start_tls")
    sendfile: Any = _refuse("sendfile")
    connect_read_pipe: Any = _refuse("connect_read_pipe")
    connect_write_pipe: Any = _refuse("connect_write_pipe")
    subprocess_shell: Any = _refuse("subprocess_shell")
    subprocess_exec: Any = _refuse("subprocess_exec")
    add_reader: Any = _refuse("add_reader")
    remove_reader: Any = _refuse("remove_reader")
    add_writer: Any = _refuse("add_writer")
    remove_writer: Any = _refuse("remove_writer")
    sock_recv: Any = _refuse("sock_recv")
    sock_recv_into: Any = _refuse("sock_recv_into")
    sock_recvfrom: Any = _refuse("sock_recvfrom")
    sock_recvfrom_into: Any = _refuse("sock_recvfrom_into")
    sock_sendall: Any = _refuse("sock_sendall")
    sock_sendto: Any = _refuse("sock_sendto")
    sock_connect: Any = _refuse("sock_connect")
    sock_accept: Any = _refuse("sock_accept")
    sock_sendfile: Any = _refuse("sock_sendfile")
    add_signal_handler: Any = _refuse("add_signal_handler")
    remove_signal_handler: Any = _refuse("remove_signal_handler")
