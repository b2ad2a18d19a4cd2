"""One seed, one world; and the check that catches what is not in the seed."""

from __future__ import annotations

import asyncio
import os

import pytest

from cluster.runtime.simulated import START, NonDeterminism, Simulation, check, simulate
from cluster.runtime.virtual_loop import SimulationError

pytestmark = pytest.mark.sim


async def draw_some(simulation):
    for _ in range(3):
        await asyncio.sleep(simulation.draws.uniform("delay", 0, 1))
    return simulation.runtime.entropy(4), simulation.runtime.clock.now()


def test_a_seed_fixes_everything_and_another_seed_does_not():
    assert simulate(7, draw_some) == simulate(7, draw_some)
    assert simulate(7, draw_some) != simulate(8, draw_some)


def test_the_clock_is_virtual_and_keeps_its_instants():
    async def main(simulation):
        clock = simulation.runtime.clock
        rang = []
        due = clock.now() + 0.1
        clock.call_at(due, lambda: rang.append(clock.now()))
        await clock.advance(300)
        return due, rang, clock.now()

    due, rang, after = simulate(1, main)
    assert rang == [due]
    assert after == START + 300


def test_check_gives_the_result_of_a_deterministic_program():
    assert check(7, draw_some) == simulate(7, draw_some)


def test_check_names_the_first_draw_that_differs():
    async def main(simulation):
        simulation.draws.uniform("first", 0, 1)
        await asyncio.sleep(int.from_bytes(os.urandom(4), "big") / 2**32)
        simulation.draws.uniform("second", 0, 1)

    with pytest.raises(NonDeterminism, match=r"draw 2 differs: first run second = .* second run second = "):
        check(7, main)


def test_check_sees_a_difference_without_a_draw():
    runs = []

    async def main(simulation):
        runs.append(None)
        return f"a history with {len(runs)} runs"

    with pytest.raises(NonDeterminism, match="same draws, other result"):
        check(7, main)


def test_check_sees_draws_that_are_missing():
    runs = []

    async def main(simulation):
        runs.append(None)
        if len(runs) == 1:
            simulation.draws.uniform("only once", 0, 1)

    with pytest.raises(NonDeterminism, match="draw 1 is missing in the second run: only once"):
        check(7, main)


def test_a_callback_that_failed_unseen_fails_the_run():
    async def main():
        asyncio.get_running_loop().call_soon(lambda: 1 / 0)
        await asyncio.sleep(1)

    with pytest.raises(SimulationError) as caught:
        Simulation(1).run(main())
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
