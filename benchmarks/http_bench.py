"""GetItem and PutItem over HTTP: a cache hit and our store beside bare aiohttp handlers, dynalite and moto.

All answer the same item to the same request. The bare handlers answer the node's very bytes, without looking
at the request: what is left to reach.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import orjson

from benchmarks import servers
from benchmarks.bench import Bench, Options, Report
from cluster.lab.workloads.http_client import Connection, Reply

TABLE = "Bench"
ITEM: dict[str, Any] = {
    "pk": {"S": "user-000042"},
    "name": {"S": "Ada Lovelace"},
    "visits": {"N": "1815"},
    "tags": {"SS": ["analyst", "poet"]},
    "address": {"M": {"city": {"S": "London"}, "zip": {"S": "W1"}}},
    "note": {"S": "x" * 160},
}
GET = orjson.dumps({"TableName": TABLE, "Key": {"pk": ITEM["pk"]}})
CREATE = {
    "TableName": TABLE,
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}

PUT = orjson.dumps({"TableName": TABLE, "Item": ITEM})

NODE = "daxsim node, cache hit"
STORE = "daxsim store"


@dataclass
class _Candidate:
    """A server, and what it measured to one operation."""

    name: str
    url: str
    operation: str
    rates: list[float] = field(default_factory=list)
    p99s: list[float] = field(default_factory=list)


def run(options: Options) -> list[Report]:
    hits = Report("GetItem over HTTP, 32 connections", ("server", "requests/s", "p99", "node hit / it"))
    puts = Report("PutItem over HTTP, 32 connections", ("server", "requests/s", "p99", "store / it"))
    reads = Report("GetItem at the store's endpoint", ("server", "requests/s", "p99", "store / it"))
    with ExitStack() as stack:
        candidates = list(_candidates(stack, hits))
        writers = [
            _Candidate(each.name, each.url, "PutItem")
            for each in candidates
            if each.name != NODE and not each.name.startswith("bare")
        ]
        for _ in range(options.rounds):
            for candidate in (*candidates, *writers):
                _measure(candidate, options.seconds)
    _tell(hits, candidates, NODE)
    _tell(reads, [each for each in candidates if each.name in {one.name for one in writers}], STORE)
    _tell(puts, writers, STORE)
    return [hits, reads, puts]


def _tell(report: Report, candidates: list[_Candidate], ours: str) -> None:
    """A row for each candidate, with the ratio of `ours` to it."""
    own = median(next(each.rates for each in candidates if each.name == ours))
    for each in candidates:
        rate, p99 = median(each.rates), median(each.p99s)
        report.rows.append((each.name, f"{rate:,.0f}", f"{p99 * 1e3:.2f} ms", f"{own / rate:.2f}"))
        report.data[each.name] = {"requests_per_second": rate, "p99_seconds": p99, "ratio": own / rate}


def _candidates(stack: ExitStack, report: Report) -> Iterator[_Candidate]:
    node, store = stack.enter_context(servers.daxsim())
    asyncio.run(prepare(store))
    hit = asyncio.run(_hit(node))
    yield _Candidate(NODE, node, "GetItem")
    yield _Candidate(STORE, store, "GetItem")
    for kind in ("application", "low-level"):
        bare = stack.enter_context(servers.bare_aiohttp(kind, hit.body))
        yield _Candidate(f"bare aiohttp, {kind}", bare, "GetItem")
    for name, peer in (("dynalite", servers.dynalite), ("moto server", servers.moto)):
        try:
            with _noting(name, report):
                url = stack.enter_context(peer())
        except servers.Unavailable:
            continue
        asyncio.run(prepare(url))
        yield _Candidate(name, url, "GetItem")


@contextmanager
def _noting(name: str, report: Report) -> Iterator[None]:
    try:
        yield
    except servers.Unavailable as error:
        report.notes.append(f"{name} left out: {error}")
        raise


async def prepare(url: str) -> None:
    """The table and the item, at a DynamoDB endpoint; some create a table slowly."""
    connection = Connection(url)
    await connection.call("CreateTable", CREATE)
    for _ in range(100):
        table = (await connection.call("DescribeTable", {"TableName": TABLE}))["Table"]
        if table["TableStatus"] == "ACTIVE":
            break
        await asyncio.sleep(0.1)
    await connection.call("PutItem", {"TableName": TABLE, "Item": ITEM})
    connection.close()


async def _hit(node: str) -> Reply:
    """The reply of the second read, which the item cache must have given."""
    connection = Connection(node)
    await connection.send("GetItem", GET)
    reply = await connection.send("GetItem", GET)
    connection.close()
    if reply.header(b"x-daxsim-served-from") != "item-cache":
        raise RuntimeError(f"the second read was no cache hit: {reply}")
    return reply


def _measure(candidate: _Candidate, seconds: float) -> None:
    host = candidate.url.removeprefix("http://")
    request = Connection.encode(host, candidate.operation, GET if candidate.operation == "GetItem" else PUT)
    result = servers.measure(candidate.url, request, seconds)
    candidate.rates.append(result["requests_per_second"])
    candidate.p99s.append(result["latency_seconds"]["p99"])


BENCH = Bench("http", "GetItem hits over HTTP against a bare handler and peers", run)
