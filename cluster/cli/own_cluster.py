"""A cluster of one's own, in a process of its own, for as long as a command needs it.

The command and the cluster then use a processor each, and latencies are those of a client apart from the
server. The child stops when its standard input ends: it cannot outlive us, however we end.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import orjson

from cluster.cli.failure import Failure

_STOP_SECONDS = 20.0


@dataclass(frozen=True)
class Places:
    """Where a cluster answers: each node's URL, and the store's."""

    nodes: tuple[str, ...]
    store: str


@asynccontextmanager
async def own_cluster(options: Sequence[str]) -> AsyncIterator[Places]:
    """Run `daxsim up` with the options on free ports. Raises Failure, quoting it, where it does not start."""
    command = (sys.executable, "-m", "cluster.cli.main", "up", "--json", "--until-eof")
    child = await asyncio.create_subprocess_exec(
        *command,
        *("--port", "0", "--store-port", "0"),
        *options,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # Ctrl-C is ours to handle: we stop first, and then it.
        start_new_session=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    try:
        line = await child.stdout.readline()
        if not line:
            said = (await child.stderr.read()).decode().strip().removeprefix("daxsim: ")
            raise Failure(f"the cluster did not start: {said or 'it said nothing'}")
        places = orjson.loads(line)
        yield Places(tuple(node["endpoint"] for node in places["nodes"]), places["store_endpoint"])
    finally:
        child.stdin.close()
        try:
            await asyncio.wait_for(child.wait(), _STOP_SECONDS)
        except TimeoutError:
            child.kill()
            await child.wait()
