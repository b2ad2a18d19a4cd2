from __future__ import annotations

from pathlib import Path

import pytest

from backend.errors import ServiceError
from cluster.config import ClusterConfig
from cluster.lab.workloads import loading
from cluster.lab.workloads.http_client import Connection
from cluster.lab.workloads.requests import Shape, puts, survey, tables
from cluster.lab.workloads.traces import open_trace
from cluster.live import start_live

pytestmark = pytest.mark.live


async def test_every_item_is_in_the_store_and_in_no_cache(fixture_trace: Path) -> None:
    trace, shape = open_trace(fixture_trace), Shape(limit=300)
    found = survey(trace, shape)
    cluster = await start_live(ClusterConfig(nodes=1, port=0, store_port=0))
    done: list[int] = []
    try:
        assert cluster.store_endpoint is not None
        # Twice: the second time the tables are there already.
        for _ in range(2):
            await loading.load(
                cluster.store_endpoint, tables(trace, found.sizes), puts(trace, found, shape), done.append
            )
        counted = [
            await cluster.backend.execute("Scan", {"TableName": table["TableName"], "Select": "COUNT"})
            for table in tables(trace, found.sizes)
        ]
        entries = cluster.status()["nodes"][0]["item_cache"]["entries"]
    finally:
        await cluster.stop()
    assert sum(each["Count"] for each in counted) == found.keys
    assert sum(done) == 2 * found.keys
    assert entries == 0


async def test_what_the_store_leaves_unprocessed_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []

    async def call(self: Connection, operation: str, request: dict[str, dict[str, list[object]]]) -> object:
        wanted = request["RequestItems"]["trace"]
        sent.append(len(wanted))
        return {"UnprocessedItems": {"trace": wanted[1:]}} if len(wanted) > 1 else {}

    monkeypatch.setattr(Connection, "call", call)
    items = [{"TableName": "trace", "Item": {"pk": {"S": str(n)}}} for n in range(3)]
    await loading.load("http://127.0.0.1:1", [], items, lambda _n: None)
    assert sent == [3, 2, 1]


async def test_a_store_that_never_takes_them_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def call(self: Connection, operation: str, request: dict[str, object]) -> object:
        return {"UnprocessedItems": request["RequestItems"]}

    monkeypatch.setattr(Connection, "call", call)
    items = [{"TableName": "trace", "Item": {"pk": {"S": "a"}}}]
    with pytest.raises(ServiceError, match="left items unprocessed"):
        await loading.load("http://127.0.0.1:1", [], items, lambda _n: None)
