"""GetItem hits over the DAX binary protocol, beside our own HTTP, Redis GET of the same size and a bare echo
server.

The echo server answers the node's very bytes without looking at the request: what is left to reach. Our load
is a Python program, and the limit for all servers that are faster than it: their rates are then alike, and
the processor time a request costs a server tells them apart. `redis-benchmark` is no such limit to Redis.
With `--full` also 5,000 connections at once.
"""

from __future__ import annotations

import asyncio
import base64
import csv
import os
import resource
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import orjson

from benchmarks import servers
from benchmarks.bench import Bench, Options, Report
from benchmarks.http_bench import GET, ITEM, TABLE, prepare
from cluster.lab.workloads.http_client import Connection as HttpConnection
from dax.wire.binary import methods
from dax.wire.binary.connection import Connection
from dax.wire.binary.events import Authorization, Call, Greeting
from dax.wire.binary.state import Role

OURS = "daxsim node, DAX binary protocol"
_MANY = 5_000


@dataclass
class _Candidate:
    """`pid`: of the server. `costs`: seconds of its processor for a request."""

    name: str
    pid: int
    measure: Callable[[float], dict[str, Any]]
    rates: list[float] = field(default_factory=list)
    p99s: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)

    def run(self, seconds: float) -> None:
        before = servers.cpu_seconds(self.pid)
        result = self.measure(seconds)
        after = servers.cpu_seconds(self.pid)
        rate = result["requests_per_second"]
        if not rate:
            raise RuntimeError(f"{self.name} answered nothing for {seconds} s")
        self.rates.append(rate)
        self.p99s.append(result["latency_seconds"]["p99"])
        if before is not None and after is not None:
            # The load has sent at this rate since its warm-up began.
            requests = result.get("requests", rate * (seconds + warm_up(seconds)))
            self.costs.append((after - before) / requests)


def run(options: Options) -> list[Report]:
    title = f"GetItem hits, {servers.CONNECTIONS} connections"
    report = Report(
        title, ("server", "requests/s", "p99", "binary hit / it", "CPU a request", "its CPU / ours")
    )
    reports = [report]
    with ExitStack() as stack:
        node, store, pid = stack.enter_context(servers.daxsim_process())
        asyncio.run(prepare(store))
        preamble, request = _frames()
        answer = _answer(node, preamble, request)
        candidates = list(_candidates(stack, report, node, pid, preamble, request, answer))
        for _ in range(options.rounds):
            for candidate in candidates:
                candidate.run(options.seconds)
        if options.full:
            reports.append(_many(node, preamble, request, answer, options.seconds))
    for each in candidates:
        _add_row(report, each, candidates[0])
    return reports


def _add_row(report: Report, each: _Candidate, ours: _Candidate) -> None:
    rate, p99, ratio = median(each.rates), median(each.p99s), median(ours.rates) / median(each.rates)
    data: dict[str, Any] = {"requests_per_second": rate, "p99_seconds": p99, "ratio": ratio}
    cost_text = cost_ratio_text = "-"
    if each.costs:
        cost, cost_ratio = median(each.costs), median(each.costs) / median(ours.costs)
        data |= {"cpu_seconds_per_request": cost, "cpu_ratio": cost_ratio}
        cost_text, cost_ratio_text = f"{cost * 1e6:.1f} µs", f"{cost_ratio:.2f}"
    report.rows.append(
        (each.name, f"{rate:,.0f}", f"{p99 * 1e3:.2f} ms", f"{ratio:.2f}", cost_text, cost_ratio_text)
    )
    report.data[each.name] = data


def _candidates(
    stack: ExitStack, report: Report, node: str, pid: int, preamble: bytes, request: bytes, answer: bytes
) -> Iterator[_Candidate]:
    yield _Candidate(OURS, pid, lambda seconds: measure(node, preamble, request, answer, seconds))
    http = HttpConnection.encode(node.removeprefix("http://"), "GetItem", GET)
    yield _Candidate("daxsim node, HTTP", pid, lambda seconds: servers.measure(node, http, seconds))
    echo, echo_pid = stack.enter_context(_echo(answer))
    yield _Candidate("bare echo", echo_pid, lambda seconds: measure(echo, b"", request, answer, seconds))
    try:
        redis, redis_pid = stack.enter_context(_redis())
    except servers.Unavailable as error:
        report.notes.append(f"Redis left out: {error}")
        return
    value = answer  # a value of the same size
    put = b"*3\r\n$3\r\nSET\r\n$11\r\nuser-000042\r\n$%d\r\n%b\r\n" % (len(value), value)
    get = b"*2\r\n$3\r\nGET\r\n$11\r\nuser-000042\r\n"
    _say(redis, put, b"+OK\r\n")
    expected = b"$%d\r\n%b\r\n" % (len(value), value)
    yield _Candidate("Redis GET", redis_pid, lambda seconds: measure(redis, b"", get, expected, seconds))
    if shutil.which("redis-benchmark") is None:
        report.notes.append("redis-benchmark left out: it is not installed")
        return
    yield _Candidate(
        "Redis GET, by redis-benchmark", redis_pid, lambda seconds: _redis_benchmark(redis, seconds)
    )


def _redis_benchmark(url: str, seconds: float) -> dict[str, Any]:
    """What Redis's own load tells of GETs of the key that was set."""
    _, port = _place(url)
    requests = int(100_000 * seconds)
    options = ("-p", str(port), "-c", str(servers.CONNECTIONS), "-n", str(requests), "--csv")
    table = subprocess.run(
        ("redis-benchmark", *options, "GET", "user-000042"),
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, servers.processors()[1]),
    ).stdout
    header, figures = list(csv.reader(table.splitlines()))[-2:]
    named = dict(zip(header, figures, strict=True))
    return {
        "requests": requests,
        "requests_per_second": float(named["rps"]),
        "latency_seconds": {"p99": float(named["p99_latency_ms"]) / 1e3},
    }


def _frames() -> tuple[bytes, bytes]:
    """What a client says at first, and its GetItem."""
    client = Connection(Role.CLIENT)
    preamble = client.send(Greeting(bytes(16), "DaxsimBenchmark-1"))
    preamble += client.send(Authorization("benchmark", "0" * 64, b"", None, None))
    return preamble, client.send(Call(methods.GET_ITEM, [TABLE.encode(), ITEM["pk"]["S"].encode(), None]))


def _answer(url: str, preamble: bytes, request: bytes) -> bytes:
    """The answer to the GetItem once the item is cached; its end is known when nothing more comes."""
    answer = b""
    for _ in range(2):
        with socket.create_connection(_place(url)) as connection:
            connection.settimeout(0.5)
            connection.sendall(preamble + request)
            answer = b""
            try:
                while data := connection.recv(65536):
                    answer += data
            except TimeoutError:
                pass
    if not answer.startswith(b"\x80\xbf\x00"):
        raise RuntimeError(f"no item came: {answer!r}")
    return answer


def _say(url: str, request: bytes, expected: bytes) -> None:
    with socket.create_connection(_place(url)) as connection:
        connection.sendall(request)
        answer = connection.recv(1024)
    if answer != expected:
        raise RuntimeError(f"the server said {answer!r}")


def _place(url: str) -> tuple[str, int]:
    host, _, port = url.removeprefix("http://").partition(":")
    return host, int(port)


@contextmanager
def _echo(answer: bytes) -> Iterator[tuple[str, int]]:
    port = servers.free_port()
    command = (sys.executable, "-m", "benchmarks.bare_echo", str(port), base64.b64encode(answer).decode())
    with servers.process(command) as child:
        yield _until_it_listens(port), child.pid


@contextmanager
def _redis() -> Iterator[tuple[str, int]]:
    """Redis, in memory. Raises Unavailable without it."""
    if shutil.which("redis-server") is None:
        raise servers.Unavailable("redis-server is not installed")
    port = servers.free_port()
    options = ("--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
    with servers.process(("redis-server", *options), stdout=subprocess.DEVNULL) as child:
        yield _until_it_listens(port), child.pid


def _until_it_listens(port: int) -> str:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.1)
        else:
            return f"http://127.0.0.1:{port}"
    raise RuntimeError(f"nothing listens on port {port}")


def warm_up(seconds: float) -> float:
    """How long the load sends before it counts."""
    return min(0.5, seconds)


def measure(
    url: str,
    preamble: bytes,
    request: bytes,
    answer: bytes,
    seconds: float,
    connections: int = servers.CONNECTIONS,
) -> dict[str, Any]:
    """The load's result: `requests_per_second` and `latency_seconds` by name."""
    host, port = _place(url)
    frames = {"preamble": preamble, "request": request, "answer": answer}
    order = {
        "host": host,
        "port": port,
        **{name: base64.b64encode(frame).decode() for name, frame in frames.items()},
        "connections": connections,
        "warm_up": warm_up(seconds),
        "seconds": seconds,
    }
    child = subprocess.run(
        (sys.executable, "-m", "benchmarks.frame_load"),
        input=orjson.dumps(order),
        stdout=subprocess.PIPE,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, servers.processors()[1]),
    )
    result: dict[str, Any] = orjson.loads(child.stdout)
    return result


def _many(node: str, preamble: bytes, request: bytes, answer: bytes, seconds: float) -> Report:
    """Thousands of connections at once, each with a request under way."""
    report = Report(f"GetItem hits, {_MANY:,} connections", ("requests/s", "p50", "p99"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MANY + 200
    if hard != resource.RLIM_INFINITY and hard < wanted:
        report.notes.append(f"left out: only {hard} open files are allowed")
        return report
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    result = measure(node, preamble, request, answer, seconds, connections=_MANY)
    rate, latency = result["requests_per_second"], result["latency_seconds"]
    report.rows.append((f"{rate:,.0f}", f"{latency['p50'] * 1e3:.1f} ms", f"{latency['p99'] * 1e3:.1f} ms"))
    report.data = {"requests_per_second": rate, "latency_seconds": latency}
    return report


BENCH = Bench("binary", "GetItem hits over the DAX protocol against HTTP, Redis and a bare echo server", run)
