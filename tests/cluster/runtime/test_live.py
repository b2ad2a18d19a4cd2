"""The wall clock that can be told to be later."""

from __future__ import annotations

import asyncio
import time

import pytest

from cluster.runtime.live import BlockingCalls, LiveClock, run


async def test_advance_makes_sleepers_and_callbacks_follow_in_order():
    clock = LiveClock()
    seen = []

    async def sleeper():
        await clock.sleep(200)
        seen.append("sleeper")
        await clock.sleep(50)
        seen.append("sleeper again")

    task = asyncio.create_task(sleeper())
    await asyncio.sleep(0)
    start = clock.now()
    clock.call_at(start + 100, lambda: seen.append("first"))
    clock.call_at(start + 220, lambda: seen.append("between"))
    clock.call_at(start + 400, lambda: seen.append("not yet"))
    await clock.advance(300)
    assert seen == ["first", "sleeper", "between", "sleeper again"]
    assert clock.now() - start == pytest.approx(300, abs=5)
    await task
    clock.close()


async def test_the_clock_runs_with_the_wall_clock():
    clock = LiveClock()
    assert clock.now() == pytest.approx(time.time(), abs=1)
    rang = asyncio.Event()
    clock.call_at(clock.now() + 0.001, rang.set)
    cancelled = clock.call_at(clock.now() + 0.0005, lambda: pytest.fail("was called off"))
    cancelled.cancel()
    async with asyncio.timeout(5):
        await rang.wait()


async def test_a_clock_is_never_set_back():
    with pytest.raises(ValueError, match="never set back"):
        await LiveClock().advance(-1)


async def test_a_cancelled_sleeper_is_forgotten():
    clock = LiveClock()
    task = asyncio.create_task(clock.sleep(100))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await clock.advance(200)
    assert task.cancelled()


async def test_blocking_calls_do_not_block_the_loop():
    threads = BlockingCalls(2)
    loop = asyncio.get_running_loop()
    gate = asyncio.Event()
    result = asyncio.ensure_future(
        threads.run(lambda: asyncio.run_coroutine_threadsafe(gate.wait(), loop).result())
    )
    gate.set()
    assert await result is True
    threads.close()


def test_run_gives_the_result():
    async def program():
        await asyncio.sleep(0)
        return type(asyncio.get_running_loop()).__module__

    assert run(program()) in ("uvloop", "asyncio.unix_events")
