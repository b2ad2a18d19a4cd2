"""Replay through the node that clusters are made of: it misses exactly as plain LRU does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from backend.errors import ServiceError
from cluster.lab.workloads.local_node import LocalNode
from cluster.lab.workloads.replay import PacedClock, Result, replay
from cluster.lab.workloads.requests import Shape, TraceRequest, puts, requests, survey, tables
from cluster.lab.workloads.traces import open_trace
from dax.cache.items import ItemCache
from dax.settings import NodeSettings

EVERYTHING = Shape()
CountMisses = Callable[[Iterable[object], int], int]


async def replayed(
    path: Path, settings: NodeSettings, shape: Shape = EVERYTHING, rate: float = 1000
) -> Result:
    trace = open_trace(path)
    found = survey(trace, shape)
    local = LocalNode(settings, rate)
    local.load(tables(trace, found.sizes), puts(trace, found, shape))
    result = await replay(requests(trace, shape), [local.target()], lambda: 0.0)
    await local.close()
    return result


def unit(capacity: int) -> NodeSettings:
    return NodeSettings(item_ttl=0, item_cache_bytes=capacity, unit_size=True)


@pytest.mark.parametrize("capacity", [1, 63, 637, 6376])
async def test_the_fixture_misses_as_plain_lru_does(
    fixture_trace: Path, lru_misses: CountMisses, capacity: int
) -> None:
    result = await replayed(fixture_trace, unit(capacity))
    assert result.reads == 20_000
    assert result.misses == lru_misses((access.key for access in open_trace(fixture_trace)), capacity)
    assert not result.errors


@pytest.mark.parametrize(
    ("name", "capacity", "miss_ratio"),
    [
        ("web07.trace.xz", 204, 0.6085),
        ("web07.trace.xz", 2048, 0.4434),
        ("web12.trace.xz", 137, 0.6030),
        ("web12.trace.xz", 1375, 0.3152),
    ],
)
async def test_a_whole_trace_has_the_published_miss_ratio(
    shared_trace: Callable[[str], Path], name: str, capacity: int, miss_ratio: float
) -> None:
    result = await replayed(shared_trace(name), unit(capacity))
    assert round(result.miss_ratio, 4) == miss_ratio


async def test_a_ttl_ends_entries_on_the_clock_of_the_trace(fixture_trace: Path) -> None:
    """At one request a second and a TTL of 10 s, only a key filled fewer than 10 requests ago is a hit."""
    filled: dict[object, int] = {}
    expected = 0
    for now, access in enumerate(open_trace(fixture_trace)):
        if access.key not in filled or now - filled[access.key] >= 10:
            filled[access.key] = now
            expected += 1
    result = await replayed(fixture_trace, NodeSettings(item_ttl=10), rate=1)
    assert result.misses == expected


async def test_writes_go_through_and_are_counted_apart(fixture_trace: Path) -> None:
    shape = Shape(limit=2000, write_fraction=0.25, seed=1)
    result = await replayed(fixture_trace, unit(637), shape)
    assert result.writes == sum(
        each.operation == "PutItem" for each in requests(open_trace(fixture_trace), shape)
    )
    assert result.reads + result.writes == 2000


async def test_capacity_in_bytes_evicts(fixture_trace: Path) -> None:
    small = await replayed(fixture_trace, NodeSettings(item_ttl=0, item_cache_bytes=100_000))
    large = await replayed(fixture_trace, NodeSettings(item_ttl=0, item_cache_bytes=100_000_000))
    assert large.misses == survey(open_trace(fixture_trace), Shape()).keys
    assert small.misses > large.misses


class _Scripted:
    """A target that answers as told."""

    def __init__(self, *answers: str | ServiceError) -> None:
        self._answers = iter(answers)

    async def send(self, request: TraceRequest) -> str:
        answer = next(self._answers)
        if isinstance(answer, ServiceError):
            raise answer
        return answer


GET = TraceRequest("GetItem", {}, None)
PUT = TraceRequest("PutItem", {}, None)


async def test_a_result_counts_by_source() -> None:
    target = _Scripted(
        "store", "item-cache", "negative-entry", "pass-through", ServiceError("ThrottlingException")
    )
    ticks = iter(range(100))
    done: list[int] = []
    result = await replay([GET, GET, GET, PUT, GET], [target], lambda: float(next(ticks)), done.append)
    assert (result.reads, result.hits, result.misses, result.writes) == (3, 2, 1, 1)
    assert result.errors == {"ThrottlingException": 1}
    assert result.requests == sum(done) == 5
    assert result.hit_ratio == pytest.approx(2 / 3)
    assert result.latency.count == 4
    assert result.seconds == 10.0
    assert result.throughput == 0.5


async def test_every_request_is_sent_once_however_many_connections() -> None:
    targets = [_Scripted(*["store"] * 100) for _ in range(4)]
    result = await replay([GET] * 100, targets, lambda: 0.0)
    assert result.served_from == {"store": 100}


async def test_a_broken_connection_ends_the_replay() -> None:
    class Broken:
        async def send(self, request: TraceRequest) -> str:
            raise ConnectionError("the connection was closed")

    with pytest.raises(ConnectionError):
        await replay([GET], [Broken()], lambda: 0.0)


def test_an_empty_result_has_ratios_of_zero() -> None:
    summary = Result().summary()
    assert (summary["hit_ratio"], summary["miss_ratio"], summary["requests_per_second"]) == (0, 0, 0)


async def test_a_paced_clock_follows_the_trace_and_never_runs_back() -> None:
    clock = PacedClock(rate=4)
    clock.advance(None)
    assert clock.now() == 0.25
    clock.advance(10.0)
    clock.advance(9.0)
    assert clock.now() == 10.0
    with pytest.raises(ValueError, match="rate"):
        PacedClock(0)


@pytest.mark.parametrize(
    ("name", "capacity", "miss_ratio"),
    [
        ("web07.trace.xz", 2048, 0.4434),
        ("web12.trace.xz", 137, 0.6030),
        ("cloudphysics-io.csv.xz", 489, 0.8380),
    ],
)
def test_the_item_cache_alone_has_the_published_miss_ratio(
    shared_trace: Callable[[str], Path], name: str, capacity: int, miss_ratio: float
) -> None:
    cache = ItemCache(capacity, 0.0, 0, unit_size=True)
    count = misses = 0
    for access in open_trace(shared_trace(name)):
        key = ("trace", str(access.key).encode())
        count += 1
        if cache.lookup(key, 0.0) is None:
            misses += 1
            cache.keep(key, None, 0.0, 0, 0.0)
    assert round(misses / count, 4) == miss_ratio
