"""PutItem by 32 concurrent writers, in memory and durable: through a backend in this process, and over HTTP.

Each durable answer waits until its group is flushed to the disk of the current directory. Items have 300
bytes and replace others of a table of 20,000. What a flush of such a group takes by itself is measured
beside: the rate of durable writes follows it.
"""

from __future__ import annotations

import asyncio
import gc
import os
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from backend.embedded import EmbeddedBackend
from backend.engine import Engine
from backend.group_commit import GroupCommit
from backend.storage import log
from backend.storage.durable import DurableStorage
from benchmarks import servers
from benchmarks.bench import Bench, Options, Report
from benchmarks.http_bench import CREATE, ITEM, PUT, TABLE, prepare
from cluster.lab.workloads.http_client import Connection
from cluster.runtime.live import run as run_on_fastest_loop
from cluster.runtime.live import stopwatch

_WRITERS = 32
_ITEMS = 20_000
# Coprime to the number of items: stepping by it visits all keys.
_STRIDE = 7_919
_WINDOW = 0.005
_GROUP_BYTES = 12_000
"""About what 32 such writes take in the log."""


@dataclass
class _Candidate:
    name: str
    backend: EmbeddedBackend
    rates: list[float] = field(default_factory=list)


def run(options: Options) -> list[Report]:
    kept = Path(".bench")
    kept.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="durable-", dir=kept) as directory:
        in_process = run_on_fastest_loop(_measure(Path(directory), options))
        return [in_process, _over_http(Path(directory) / "http", options)]


def _over_http(directory: Path, options: Options) -> Report:
    """The same comparison as clients see it: each request pays for HTTP too."""
    rates: dict[str, list[float]] = {"in memory": [], "durable": []}
    with servers.daxsim() as (_, memory), servers.daxsim("--data-dir", str(directory)) as (_, durable):
        for url in (memory, durable):
            asyncio.run(prepare(url))
        for _ in range(options.rounds):
            for name, url in zip(rates, (memory, durable), strict=True):
                request = Connection.encode(url.removeprefix("http://"), "PutItem", PUT)
                rates[name].append(servers.measure(url, request, options.seconds)["requests_per_second"])
    report = Report("PutItem over HTTP, 32 connections", ("store", "writes/s", "of in memory"))
    _tell(report, {name: median(each) for name, each in rates.items()})
    return report


def _tell(report: Report, rates: dict[str, float]) -> None:
    """A row for each store, with its ratio to the first."""
    base = next(iter(rates.values()))
    for name, rate in rates.items():
        report.rows.append((name, f"{rate:,.0f}", f"{rate / base:.2f}"))
        report.data[name] = {"per_second": rate, "ratio": rate / base}


async def _measure(directory: Path, options: Options) -> Report:
    memory = _Candidate("in memory", _backend(None, 0))
    grouped = _Candidate(
        f"durable, grouped within {_WINDOW * 1000:g} ms", _backend(directory / "grouped", _WINDOW)
    )
    single = _Candidate("durable, each write by itself", _backend(directory / "single", 0))
    candidates = (memory, grouped, single)
    calls = 500 if options.quick else _ITEMS
    flushes: list[float] = []
    for candidate in candidates:
        await candidate.backend.execute("CreateTable", CREATE)
        if candidate is not single:
            await _puts(candidate.backend, _ITEMS)
    for _ in range(options.rounds):
        for candidate in candidates:
            gc.collect()
            # A flush for each write is slow: a tenth of them tells as much.
            candidate.rates.append(
                await _puts(candidate.backend, calls // (10 if candidate is single else 1))
            )
        flushes.append(_flush_time(directory / "flush"))
    for candidate in candidates:
        await candidate.backend.close()
    return _report(candidates, flushes)


def _report(candidates: tuple[_Candidate, ...], flushes: list[float]) -> Report:
    report = Report(
        f"PutItem by {_WRITERS} concurrent writers, no sockets", ("store", "writes/s", "of in memory")
    )
    _tell(report, {candidate.name: median(candidate.rates) for candidate in candidates})
    flush = median(flushes)
    report.notes.append(f"one flush of {_GROUP_BYTES:,} bytes by itself: {flush * 1000:.2f} ms")
    report.data["flush_seconds"] = flush
    return report


def _backend(directory: Path | None, window: float) -> EmbeddedBackend:
    if directory is None:
        return EmbeddedBackend(Engine(time.time, os.urandom))
    storage = DurableStorage(directory)
    engine = Engine(time.time, os.urandom, storage=storage)
    return EmbeddedBackend(engine, GroupCommit(storage, window, stopwatch))


async def _puts(backend: EmbeddedBackend, count: int) -> float:
    """Writes a second."""
    requests = iter([_put(number * _STRIDE % _ITEMS) for number in range(count)])

    async def write() -> None:
        for request in requests:
            await backend.execute("PutItem", request)

    start = time.perf_counter()
    await asyncio.gather(*(write() for _ in range(_WRITERS)))
    return count / (time.perf_counter() - start)


def _put(number: int) -> dict[str, Any]:
    return {"TableName": TABLE, "Item": {**ITEM, "pk": {"S": f"user-{number:07}"}}}


def _flush_time(path: Path) -> float:
    """Seconds to write and flush a group, where the file has its room already."""
    segment = log.Segment(path)
    times = []
    for sequence in range(64):
        start = time.perf_counter()
        segment.write(
            sequence % 32 * 2 * _GROUP_BYTES // log.BLOCK * log.BLOCK, sequence, bytes(_GROUP_BYTES)
        )
        times.append(time.perf_counter() - start)
    segment.close()
    return median(times[32:])


BENCH = Bench("durable", "PutItem in memory and in a data directory", run)
