"""The engine in this process, no sockets, on one processor: writes and reads at growing table sizes.

Items have 300 bytes and six attributes, each an object of its own down to its values, as decoding a request
makes them. New keys are measured while the table grows to its size. The other operations leave it at that:
their keys come in a fixed order that visits the whole table in no useful sequence. The garbage collector is
set as `daxsim up` sets it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from statistics import median
from typing import Any

from backend.engine import Engine
from benchmarks import servers
from benchmarks.bench import Bench, Options, Report
from benchmarks.http_bench import CREATE, TABLE
from cluster.runtime.garbage import survivors_set_aside

_SIZES = (10_000, 100_000)
_FULL_SIZES = (*_SIZES, 1_000_000)
# Coprime to every table size: stepping by it visits all keys.
_STRIDE = 7_919
_CHUNK = 1_000
"""Requests that are made before they are timed."""

_NEW, _PUT, _UPDATE, _GET = "PutItem, new keys", "PutItem", "UpdateItem", "GetItem"
_OPERATIONS = (_NEW, _PUT, _UPDATE, _GET)


def run(options: Options) -> list[Report]:
    os.sched_setaffinity(0, servers.processors()[0])
    report = Report("The engine in process", ("items in the table", *(f"{name}/s" for name in _OPERATIONS)))
    sizes = (1_000,) if options.quick else _FULL_SIZES if options.full else _SIZES
    for size in sizes:
        with survivors_set_aside():
            rates = _measure(size, 1_000 if options.quick else 20_000, options.rounds)
        report.rows.append((f"{size:,}", *(f"{rates[name]:,.0f}" for name in _OPERATIONS)))
        report.data[str(size)] = {f"{name} per second": rates[name] for name in _OPERATIONS}
    if not options.full:
        report.notes.append("--full adds a table of a million items")
    return [report]


def _measure(size: int, calls: int, rounds: int) -> dict[str, float]:
    """Medians of operations a second: of new keys over the growth of the table, of the others in turns."""
    engine = Engine(time.time, os.urandom)
    engine.execute("CreateTable", CREATE)
    requests = ({"TableName": TABLE, "Item": item} for item in items(size))
    rates = {_NEW: [_rate(engine, "PutItem", requests, size // rounds) for _ in range(rounds)]}
    for turn in range(rounds):
        numbers = [(turn * calls + n) * _STRIDE % size for n in range(calls)]
        rates.setdefault(_PUT, []).append(_rate(engine, "PutItem", map(_put, numbers), calls))
        rates.setdefault(_UPDATE, []).append(_rate(engine, "UpdateItem", map(_update, numbers), calls))
        rates.setdefault(_GET, []).append(_rate(engine, "GetItem", map(_get, numbers), calls))
    return {name: median(measured) for name, measured in rates.items()}


def _rate(engine: Engine, operation: str, requests: Iterable[dict[str, Any]], calls: int) -> float:
    """Operations a second over the next `calls` requests; making the requests is not counted."""
    source = iter(requests)
    spent = 0.0
    for done in range(0, calls, _CHUNK):
        chunk = list(islice(source, min(_CHUNK, calls - done)))
        start = time.perf_counter()
        for request in chunk:
            engine.execute(operation, request)
        spent += time.perf_counter() - start
    return calls / spent


def _put(number: int) -> dict[str, Any]:
    return {"TableName": TABLE, "Item": _item(number)}


def _get(number: int) -> dict[str, Any]:
    return {"TableName": TABLE, "Key": {"pk": {"S": f"user-{number:07}"}}}


def _update(number: int) -> dict[str, Any]:
    return {
        **_get(number),
        "UpdateExpression": "SET visits = visits + :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }


def items(count: int) -> Iterator[dict[str, Any]]:
    """Distinct items, each an object of its own down to its values."""
    return map(_item, range(count))


def _item(number: int) -> dict[str, Any]:
    return {
        "pk": {"S": f"user-{number:07}"},
        "name": {"S": f"Ada {number}"},
        "visits": {"N": str(number)},
        "tags": {"SS": [f"analyst-{number}", f"poet-{number}"]},
        "address": {"M": {"city": {"S": f"London {number}"}, "zip": {"S": f"W{number}"}}},
        "note": {"S": f"{number:0160}"},
    }


BENCH = Bench("engine", "PutItem, UpdateItem and GetItem without sockets", run)
