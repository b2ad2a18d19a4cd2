"""Unmodified asyncio code in virtual time: order, deadlock, and the walls of the simulation."""

from __future__ import annotations

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.runtime.virtual_loop import SimulationDeadlock, SimulationError, VirtualTimeLoop

pytestmark = pytest.mark.sim


@pytest.fixture
def loop():
    loop = VirtualTimeLoop()
    yield loop
    loop.close()


def test_a_long_sleep_takes_no_real_time(loop):
    before = time.monotonic()
    loop.run_until_complete(asyncio.sleep(86400 * 365))
    assert loop.time() == 86400 * 365
    assert time.monotonic() - before < 1


def test_gather_locks_events_queues_and_timeouts_work(loop):
    async def worker(lock, queue, number):
        async with lock:
            await asyncio.sleep(1)
            await queue.put((number, loop.time()))

    async def main():
        lock, queue = asyncio.Lock(), asyncio.Queue()
        await asyncio.gather(*(worker(lock, queue, n) for n in range(3)))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await asyncio.Event().wait()
        return [queue.get_nowait() for _ in range(3)], loop.time()

    assert loop.run_until_complete(main()) == ([(0, 1.0), (1, 2.0), (2, 3.0)], 8.0)


def test_a_result_an_exception_and_a_cancellation_come_out(loop):
    async def fail():
        await asyncio.sleep(0)
        raise KeyError("x")

    async def cancelled():
        task = asyncio.current_task()
        loop.call_later(1, task.cancel)
        await asyncio.sleep(9)

    with pytest.raises(KeyError):
        loop.run_until_complete(fail())
    with pytest.raises(asyncio.CancelledError):
        loop.run_until_complete(cancelled())


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0]), max_size=20))
def test_callbacks_run_by_time_and_then_in_the_order_of_scheduling(delays):
    loop = VirtualTimeLoop()
    ran = []
    for number, delay in enumerate(delays):
        loop.call_later(delay, ran.append, (delay, number))
    loop.run_forever()
    assert ran == sorted((delay, number) for number, delay in enumerate(delays))


def test_a_cancelled_timer_moves_no_time(loop):
    loop.call_later(100, lambda: None).cancel()
    loop.run_until_complete(asyncio.sleep(1))
    loop.run_forever()
    assert loop.time() == 1


def test_a_deadlock_names_time_and_steps(loop):
    async def main():
        await asyncio.sleep(2.5)
        await asyncio.get_running_loop().create_future()

    with pytest.raises(SimulationDeadlock, match=r"nothing is scheduled after 2\.500000 s and \d+ steps"):
        loop.run_until_complete(main())


def test_a_program_that_spins_is_stopped():
    async def spin():
        await asyncio.sleep(0)
        await spin()

    loop = VirtualTimeLoop(max_steps=500)
    with pytest.raises(SimulationError, match=r"no end in sight after 0\.000000 s and 500 steps"):
        loop.run_until_complete(spin())


@pytest.mark.parametrize(
    "reach_outside",
    [
        lambda loop: asyncio.open_connection("127.0.0.1", 1),
        lambda loop: asyncio.start_server(lambda r, w: None, "127.0.0.1", 0),
        lambda loop: asyncio.to_thread(print),
        lambda loop: asyncio.create_subprocess_exec("true"),
        lambda loop: _call(loop.run_in_executor, None, print),
        lambda loop: _call(loop.call_soon_threadsafe, print),
        lambda loop: _call(loop.add_reader, 0, print),
        lambda loop: _call(loop.add_signal_handler, 2, print),
        lambda loop: _call(loop.set_debug, True),
    ],
)
def test_the_world_outside_is_refused(loop, reach_outside):
    async def main():
        await reach_outside(loop)

    with pytest.raises(SimulationError):
        loop.run_until_complete(main())


async def _call(function, *arguments):
    function(*arguments)


def test_unnamed_tasks_have_the_same_names_in_every_run():
    async def main():
        tasks = [asyncio.create_task(asyncio.sleep(0)) for _ in range(3)]
        await asyncio.gather(*tasks)
        return [task.get_name() for task in tasks]

    first, second = VirtualTimeLoop(), VirtualTimeLoop()
    assert first.run_until_complete(main()) == second.run_until_complete(main())


def test_a_failed_callback_is_kept(loop):
    loop.call_soon(lambda: 1 / 0)
    loop.run_until_complete(asyncio.sleep(0))
    (failure,) = loop.failures
    assert isinstance(failure["exception"], ZeroDivisionError)


def test_a_closed_loop_and_a_nested_run_are_refused(loop):
    async def nested():
        with pytest.raises(SimulationError, match="inside a running event loop"):
            VirtualTimeLoop().run_until_complete(asyncio.get_running_loop().create_future())

    loop.run_until_complete(nested())
    loop.close()
    with pytest.raises(SimulationError, match="closed"):
        loop.call_soon(print)
