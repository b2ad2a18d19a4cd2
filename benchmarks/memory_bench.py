"""What a cached item costs in memory, beside what the item cache counts for it.

A process of its own fills the item cache of a node through misses, from a store that makes each item anew:
nothing is shared with a store in the same process, as behind a remote backend. An embedded store and the
nodes of one process hold one object for an item; what the cache adds to that is measured with a store that
has its items beforehand. Memory is the growth of what Python has allocated (tracemalloc), and of the
process's resident set, in separate runs since tracing itself takes memory.
"""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import orjson

from backend.model.sizes import item_size
from backend.protocol import Request, Response
from benchmarks.bench import Bench, Options, Report
from benchmarks.engine_bench import items
from benchmarks.http_bench import CREATE, TABLE
from cluster.lab.workloads.local_node import NoPeers
from cluster.runtime.live import LiveClock
from cluster.runtime.tasks import TaskGroup
from dax.node import Node
from dax.settings import NodeSettings

_COUNT = 100_000
_TRACED = ("traced", "shared")


def run(options: Options) -> list[Report]:
    count = 2_000 if options.quick else _COUNT
    traced, resident, shared = (_child(kind, count) for kind in ("traced", "resident", "shared"))
    report = Report("Memory of a cached item", ("measure", "bytes an item"))
    figures = {
        "the item by DynamoDB's rules": traced["item_bytes"],
        "counted by the item cache": traced["counted_bytes"],
        "allocated by Python (tracemalloc)": traced["bytes"],
        "growth of the resident set": resident["bytes"],
        "allocated where the store is embedded": shared["bytes"],
    }
    for name, size in figures.items():
        report.rows.append((name, f"{size:,.0f}"))
    report.data = figures
    report.notes.append(f"{count:,} items, never answered yet: an entry that was hit also keeps its encoding")
    return [report]


def _child(kind: str, count: int) -> dict[str, float]:
    command = (sys.executable, "-m", "benchmarks.memory_bench", kind, str(count))
    result: dict[str, float] = orjson.loads(
        subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    )
    return result


class _Store:
    """A `Backend` with one table, whose every read makes a new item unless all are there beforehand."""

    def __init__(self, count: int, *, beforehand: bool) -> None:
        self._held = list(items(count)) if beforehand else None
        self._items = items(count) if self._held is None else iter(self._held)

    async def execute(self, operation: str, request: Request) -> Response:
        if operation == "DescribeTable":
            return {"Table": {**CREATE, "TableStatus": "ACTIVE"}}
        if operation == "GetItem":
            return {"Item": next(self._items)}
        raise AssertionError(f"nobody sends {operation} here")

    async def close(self) -> None:
        pass


async def _fill(kind: str, count: int) -> dict[str, float]:
    settings = NodeSettings(item_ttl=0, item_cache_bytes=1 << 40)
    clock, tasks = LiveClock(), TaskGroup("node-1")
    node = Node("node-1", clock, _Store(count + 1, beforehand=kind == "shared"), NoPeers(), tasks, settings)
    node.become_primary(1, [])
    await node.execute("GetItem", {"TableName": TABLE, "Key": {"pk": {"S": "user-0000000"}}})
    counted = node.status()["item_cache"]["bytes"]
    gc.collect()
    before = _memory(kind)
    for number in range(1, count + 1):
        await node.execute("GetItem", {"TableName": TABLE, "Key": {"pk": {"S": f"user-{number:07}"}}})
    gc.collect()
    grown = _memory(kind) - before
    cache: dict[str, Any] = node.status()["item_cache"]
    if cache["entries"] != count + 1:
        raise RuntimeError(f"{cache['entries']} entries in the cache, not {count + 1}")
    await tasks.close()
    return {
        "bytes": grown / count,
        "counted_bytes": (cache["bytes"] - counted) / count,
        "item_bytes": sum(item_size(item) for item in items(count)) / count,
    }


def _memory(kind: str) -> int:
    if kind in _TRACED:
        return tracemalloc.get_traced_memory()[0]
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


BENCH = Bench("memory", "what an entry of the item cache costs", run)

if __name__ == "__main__":
    if sys.argv[1] in _TRACED:
        tracemalloc.start()
    sys.stdout.write(orjson.dumps(asyncio.run(_fill(sys.argv[1], int(sys.argv[2])))).decode())
