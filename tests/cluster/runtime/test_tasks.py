from __future__ import annotations

import asyncio
import logging

import pytest

from cluster.runtime.tasks import OwnerEnded, TaskGroup
from cluster.runtime.virtual_loop import VirtualTimeLoop

pytestmark = pytest.mark.sim


def run(program):
    return VirtualTimeLoop().run_until_complete(program)


def test_a_failure_is_logged_with_the_name_of_the_work(caplog):
    async def fail():
        raise KeyError("x")

    async def main():
        group = TaskGroup("node-1")
        group.spawn(fail(), name="refresh")
        await group.drain()
        return group.failures, len(group)

    with caplog.at_level(logging.ERROR):
        assert run(main()) == (1, 0)
    assert "node-1: refresh failed" in caplog.text


def test_drain_waits_for_work_begun_meanwhile():
    done = []

    async def main():
        group = TaskGroup("node-1")

        async def outer():
            await asyncio.sleep(1)
            group.spawn(inner(), name="inner")

        async def inner():
            await asyncio.sleep(1)
            done.append(True)

        group.spawn(outer(), name="outer")
        await group.drain()

    run(main())
    assert done


def test_an_aborted_group_ends_its_work_and_begins_none():
    ran = []

    async def work():
        ran.append(True)

    async def main():
        group = TaskGroup("node-1")
        running = asyncio.ensure_future(group.run(asyncio.sleep(10), name="long"))
        await asyncio.sleep(1)
        group.abort()
        with pytest.raises(OwnerEnded, match="node-1 died"):
            await running
        with pytest.raises(OwnerEnded):
            await group.run(work(), name="late")
        group.spawn(work(), name="later still")
        await group.close()
        return len(group)

    assert run(main()) == 0
    assert not ran
