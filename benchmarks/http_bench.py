"""GetItem over HTTP: a node's cache hit, and our store, beside a bare aiohttp handler, dynalite and moto.

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

OURS = "daxsim node, cache hit"


@dataclass
class _Candidate:
    name: str
    url: str
    rates: list[float] = field(default_factory=list)
    p99s: list[float] = field(default_factory=list)


def run(options: Options) -> list[Report]:
    report = Report("GetItem over HTTP, 32 connections", ("server", "requests/s", "p99", "node hit / it"))
    with ExitStack() as stack:
        candidates = list(_candidates(stack, report))
        for _ in range(options.rounds):
            for candidate in candidates:
                _measure(candidate, options.seconds)
    ours = median(next(each.rates for each in candidates if each.name == OURS))
    for each in candidates:
        rate = median(each.rates)
        report.rows.append(
            (each.name, f"{rate:,.0f}", f"{median(each.p99s) * 1e3:.2f} ms", f"{ours / rate:.2f}")
        )
        report.data[each.name] = {
            "requests_per_second": rate,
            "p99_seconds": median(each.p99s),
            "ratio": ours / rate,
        }
    return [report]


def _candidates(stack: ExitStack, report: Report) -> Iterator[_Candidate]:
    node, store = stack.enter_context(servers.daxsim())
    asyncio.run(prepare(store))
    hit = asyncio.run(_hit(node))
    yield _Candidate(OURS, node)
    yield _Candidate("daxsim store", store)
    for kind in ("application", "low-level"):
        yield _Candidate(f"bare aiohttp, {kind}", stack.enter_context(servers.bare_aiohttp(kind, hit.body)))
    for name, peer in (("dynalite", servers.dynalite), ("moto server", servers.moto)):
        try:
            with _noting(name, report):
                url = stack.enter_context(peer())
        except servers.Unavailable:
            continue
        asyncio.run(prepare(url))
        yield _Candidate(name, url)


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
    result = servers.measure(candidate.url, Connection.encode(host, "GetItem", GET), seconds)
    candidate.rates.append(result["requests_per_second"])
    candidate.p99s.append(result["latency_seconds"]["p99"])


BENCH = Bench("http", "GetItem hits over HTTP against a bare handler and peers", run)
