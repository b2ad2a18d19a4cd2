"""The engine in this process, no sockets: PutItem and GetItem at growing table sizes, on one processor.

Items have 300 bytes and six attributes. Puts replace items that exist, so that the table keeps its size; keys
come in a fixed order that visits the whole table in no useful sequence.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from backend.engine import Engine
from benchmarks import servers
from benchmarks.bench import Bench, Options, Report
from benchmarks.http_bench import CREATE, ITEM, TABLE

_SIZES = (10_000, 100_000)
_FULL_SIZES = (*_SIZES, 1_000_000)
# Coprime to every table size: stepping by it visits all keys.
_STRIDE = 7_919


def run(options: Options) -> list[Report]:
    os.sched_setaffinity(0, servers.processors()[0])
    report = Report("The engine in process", ("items in the table", "PutItem/s", "GetItem/s"))
    sizes = (1_000,) if options.quick else _FULL_SIZES if options.full else _SIZES
    for size in sizes:
        engine = _filled(size)
        calls = 1_000 if options.quick else 20_000
        puts, gets = _measure(engine, size, calls, options.rounds)
        report.rows.append((f"{size:,}", f"{puts:,.0f}", f"{gets:,.0f}"))
        report.data[str(size)] = {"put_per_second": puts, "get_per_second": gets}
    if not options.full:
        report.notes.append("--full adds a table of a million items")
    return [report]


def _filled(size: int) -> Engine:
    engine = Engine(time.time, os.urandom)
    engine.execute("CreateTable", CREATE)
    for number in range(size):
        engine.execute("PutItem", _put(number))
    return engine


def _measure(engine: Engine, size: int, calls: int, rounds: int) -> tuple[float, float]:
    """Medians of puts and gets a second, measured in turns."""
    puts, gets = [], []
    for turn in range(rounds):
        keys = [(turn * calls + n) * _STRIDE % size for n in range(calls)]
        puts.append(_rate(lambda r: engine.execute("PutItem", r), [_put(key) for key in keys]))
        gets.append(_rate(lambda r: engine.execute("GetItem", r), [_get(key) for key in keys]))
    return median(puts), median(gets)


def _rate(call: Callable[[dict[str, Any]], object], requests: list[dict[str, Any]]) -> float:
    start = time.perf_counter()
    for request in requests:
        call(request)
    return len(requests) / (time.perf_counter() - start)


def _put(number: int) -> dict[str, Any]:
    return {"TableName": TABLE, "Item": {**ITEM, "pk": {"S": f"user-{number:07}"}}}


def _get(number: int) -> dict[str, Any]:
    return {"TableName": TABLE, "Key": {"pk": {"S": f"user-{number:07}"}}}


def items(count: int) -> Iterator[dict[str, Any]]:
    """Distinct items, each an object of its own down to its values, as decoding a request makes them."""
    for number in range(count):
        yield {
            "pk": {"S": f"user-{number:07}"},
            "name": {"S": f"Ada {number}"},
            "visits": {"N": str(number)},
            "tags": {"SS": [f"analyst-{number}", f"poet-{number}"]},
            "address": {"M": {"city": {"S": f"London {number}"}, "zip": {"S": f"W{number}"}}},
            "note": {"S": f"{number:0160}"},
        }


BENCH = Bench("engine", "PutItem and GetItem without sockets", run)
