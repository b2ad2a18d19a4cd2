"""Replay: the requests of a trace, sent to cache nodes, and what came of them.

Rules of this file:

* the loop is closed: each connection sends its next request when its last one is answered. With one
  connection the requests arrive in the order of the trace, and the counts are exact and repeatable;
* hit or miss is what the node says of each answer, not what its counters say afterwards: others may use the
  node;
* time is the caller's: `now` counts seconds from anywhere, for latencies.

Two targets speak for nodes: `NodeTarget` calls a node in this process, without sockets, on a clock that
follows the trace; `HttpTarget` goes through a node's HTTP port like any client.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from backend.errors import ServiceError
from backend.wire import decode_error, encode_request
from cluster.lab.workloads.histogram import Histogram
from cluster.lab.workloads.http_client import Connection
from cluster.lab.workloads.requests import TraceRequest
from dax.answer import ServedFrom
from dax.node import Node

Progress = Callable[[int], None]

_HITS = (ServedFrom.ITEM_CACHE, ServedFrom.NEGATIVE_ENTRY)
_PROGRESS_EVERY = 500


class Target(Protocol):
    """Who answers the requests."""

    async def send(self, request: TraceRequest) -> str:
        """Where the answer came from (a `ServedFrom` value). Raises ServiceError for a refusal."""
        ...


class PacedClock:
    """A node's clock in a replay without sockets: it stands still but for what the trace says.

    A trace that has times sets them. In one that has none, each request comes `1 / rate` seconds after the
    last.
    """

    def __init__(self, rate: float) -> None:
        if not rate > 0:
            raise ValueError(f"rate must be more than 0 requests a second, not {rate}")
        self._step = 1 / rate
        self._now = 0.0

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Background work that waits is not waited for: its time is at once."""
        self._now += seconds

    def advance(self, time: float | None) -> None:
        """The next request's moment. Time never runs backwards, even where a trace does."""
        self._now = max(self._now, time) if time is not None else self._now + self._step


class NodeTarget:
    """A node in this process. Not for several connections: its clock follows the order of the trace."""

    def __init__(self, node: Node, clock: PacedClock) -> None:
        self._execute = node.execute
        self._clock = clock

    async def send(self, request: TraceRequest) -> str:
        self._clock.advance(request.time)
        answer = await self._execute(request.operation, request.request)
        return answer.served_from


class HttpTarget:
    """One connection to a node's HTTP port."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def send(self, request: TraceRequest) -> str:
        reply = await self._connection.send(request.operation, encode_request(request.request))
        if reply.status != 200:
            raise decode_error(reply.status, reply.body)
        return reply.header(b"x-daxsim-served-from") or ServedFrom.STORE


@dataclass
class Result:
    """What a replay counted. Ratios are of reads; durations are seconds."""

    served_from: Counter[str] = field(default_factory=Counter)
    writes: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    latency: Histogram = field(default_factory=Histogram)
    seconds: float = 0.0

    @property
    def reads(self) -> int:
        """Reads that were answered."""
        return sum(self.served_from.values())

    @property
    def requests(self) -> int:
        """Everything that was sent, refusals included."""
        return self.reads + self.writes + sum(self.errors.values())

    @property
    def hits(self) -> int:
        """Reads that a cache answered: each one a read that the store was spared."""
        return sum(self.served_from[source] for source in _HITS)

    @property
    def misses(self) -> int:
        return self.reads - self.hits

    @property
    def hit_ratio(self) -> float:
        return self.hits / self.reads if self.reads else 0.0

    @property
    def miss_ratio(self) -> float:
        return self.misses / self.reads if self.reads else 0.0

    @property
    def throughput(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds if self.seconds else 0.0

    def summary(self) -> dict[str, Any]:
        """JSON-ready: what `daxsim replay --json` prints."""
        return {
            "requests": self.requests,
            "reads": self.reads,
            "writes": self.writes,
            "hits": self.hits,
            "misses": self.misses,
            "hit_ratio": self.hit_ratio,
            "miss_ratio": self.miss_ratio,
            "store_reads": self.misses,
            "store_reads_saved": self.hits,
            "served_from": {str(source): count for source, count in self.served_from.items()},
            "errors": dict(self.errors),
            "seconds": self.seconds,
            "requests_per_second": self.throughput,
            "latency_seconds": self.latency.summary(),
        }


def _no_progress(_done: int) -> None:
    pass


async def replay(
    requests: Iterable[TraceRequest],
    targets: Sequence[Target],
    now: Callable[[], float],
    progress: Progress = _no_progress,
) -> Result:
    """Send all requests through the targets, each one by one, and count.

    `progress(n)` is called now and then with the number of requests answered since its last call. A refusal
    is counted by its code and the replay goes on; a broken connection ends it with OSError.
    """
    result = Result()
    source = iter(requests)
    start = now()
    await asyncio.gather(*(_drive(source, target, now, result, progress) for target in targets))
    result.seconds = now() - start
    return result


async def _drive(
    source: Iterator[TraceRequest],
    target: Target,
    now: Callable[[], float],
    result: Result,
    progress: Progress,
) -> None:
    served_from, record = result.served_from, result.latency.record
    unreported = 0
    for request in source:
        sent = now()
        try:
            origin = await target.send(request)
        except ServiceError as error:
            result.errors[error.code] += 1
        else:
            if request.operation == "GetItem":
                served_from[origin] += 1
            else:
                result.writes += 1
            record(now() - sent)
        unreported += 1
        if unreported == _PROGRESS_EVERY:
            progress(unreported)
            unreported = 0
    progress(unreported)
