import asyncio

import pytest

from dax.locks import KeyLocks

A, B, C = (("Table", name) for name in (b"a", b"b", b"c"))


async def test_holders_of_one_key_take_turns_and_leave_nothing_behind():
    locks, order = KeyLocks(), []

    async def work(name, keys):
        async with locks.holding(keys):
            order.append(f"{name} begins")
            await asyncio.sleep(0)
            order.append(f"{name} ends")

    await asyncio.gather(work("one", [A, B]), work("two", [B, A, A]), work("other", [C]))
    assert order.index("one ends") < order.index("two begins")
    assert order.index("other begins") < order.index("one ends")
    assert len(locks) == 0


async def test_whoever_gives_up_waiting_holds_nothing():
    locks = KeyLocks()
    async with locks.holding([B]):
        waiting = asyncio.get_running_loop().create_task(locks.holding([A, B]).__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        async with locks.holding([A]):
            pass
    assert len(locks) == 0


async def test_a_failure_inside_lets_go():
    locks = KeyLocks()
    with pytest.raises(ZeroDivisionError):
        async with locks.holding([A]):
            raise ZeroDivisionError
    assert len(locks) == 0
