"""Answers of a durable store wait for the disk, share its flushes, and fail with it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.embedded import EmbeddedBackend
from backend.engine import Engine
from backend.errors import ServiceError
from backend.group_commit import GroupCommit
from backend.storage.durable import DurableStorage, Group

TABLE = {
    "TableName": "music",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


class GatedStorage(DurableStorage):
    """A storage whose disk a test can hold up, or break."""

    def __init__(self, path: Path, **options: Any) -> None:
        super().__init__(path, **options)
        self.gate = threading.Event()
        self.gate.set()
        self.broken = False
        self.groups: list[int] = []

    def write(self, group: Group) -> None:
        assert self.gate.wait(10)
        if self.broken:
            raise self._failed(OSError("No space left on device"))
        super().write(group)
        self.groups.append(group.sequence)


class Durable:
    """A backend on a gated storage."""

    def __init__(self, path: Path, window: float = 0.005, **options: Any) -> None:
        self.path = path
        self.storage = GatedStorage(path, **options)
        self.engine = Engine(lambda: 1_000.0, bytes, storage=self.storage)
        self.backend = EmbeddedBackend(self.engine, GroupCommit(self.storage, window, time.perf_counter))

    async def create(self) -> None:
        await self.backend.execute("CreateTable", TABLE)
        self.storage.groups.clear()

    def start(self, operation: str, **request: Any) -> asyncio.Task[Any]:
        return asyncio.ensure_future(self.backend.execute(operation, {"TableName": "music", **request}))

    def put(self, key: str, **more: Any) -> asyncio.Task[Any]:
        return self.start("PutItem", Item={"pk": {"S": key}}, **more)

    def get(self, key: str) -> asyncio.Task[Any]:
        return self.start("GetItem", Key={"pk": {"S": key}})

    def kept(self) -> set[str]:
        """The keys in the directory, as another process finds them."""
        storage = DurableStorage(self.path)
        table = Engine(lambda: 1_000.0, bytes, storage=storage).catalog.get("music")
        keys = {item["pk"]["S"] for _, (item, _) in table.items.range()}
        storage.close()
        return keys


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def durable(path: Path) -> Iterator[Durable]:
    made = Durable(path)
    yield made
    made.storage.gate.set()
    made.storage.close()


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_write_is_answered_when_it_is_durable(durable):
    await durable.create()
    durable.storage.gate.clear()
    write = durable.put("a")
    await turns()
    assert not write.done()
    assert durable.storage.groups == []
    durable.storage.gate.set()
    assert await write == {}
    assert len(durable.storage.groups) == 1


async def test_what_a_read_has_seen_is_durable_when_it_is_answered(durable):
    await durable.create()
    durable.storage.gate.clear()
    write = durable.put("a")
    await turns()
    read = durable.get("a")
    refused = durable.put("a", ConditionExpression="attribute_not_exists(pk)")
    await turns()
    assert not read.done()
    assert not refused.done()
    durable.storage.gate.set()
    assert await read == {"Item": {"pk": {"S": "a"}}}
    with pytest.raises(ServiceError, match="conditional"):
        await refused
    assert write.done()


async def test_a_read_of_what_is_durable_does_not_wait(durable):
    await durable.create()
    durable.storage.gate.clear()
    read = durable.get("a")
    await asyncio.sleep(0)
    assert read.done()


async def test_many_writers_share_a_flush(durable):
    await durable.create()
    await asyncio.gather(*(durable.put(str(number)) for number in range(32)))
    assert len(durable.storage.groups) == 1


async def test_writes_gather_while_the_disk_is_busy(durable):
    await durable.create()
    durable.storage.gate.clear()
    writes = [durable.put("first")]
    await turns()
    for number in range(10):
        writes.append(durable.put(str(number)))
        await turns()
    durable.storage.gate.set()
    await asyncio.gather(*writes)
    assert len(durable.storage.groups) == 2


async def test_without_a_window_each_write_has_its_flush(path):
    durable = Durable(path, window=0.0)
    await durable.create()
    await asyncio.gather(*(durable.put(str(number)) for number in range(5)))
    assert len(durable.storage.groups) == 5
    await durable.backend.close()


async def test_a_cancelled_caller_takes_nobody_along(durable):
    await durable.create()
    durable.storage.gate.clear()
    writes = [durable.put("a"), durable.put("b")]
    await turns()
    writes[0].cancel()
    durable.storage.gate.set()
    assert await writes[1] == {}
    with pytest.raises(asyncio.CancelledError):
        await writes[0]


async def test_a_full_segment_is_folded_beside_the_writes(path):
    durable = Durable(path, segment_bytes=4096)
    await durable.create()
    for number in range(40):
        await durable.put(str(number))
    await durable.backend.close()
    assert durable.kept() == {str(number) for number in range(40)}


async def test_a_close_makes_durable_what_nobody_waits_for(path):
    durable = Durable(path)
    await durable.create()
    durable.engine.execute("PutItem", {"TableName": "music", "Item": {"pk": {"S": "a"}}})
    await durable.backend.close()
    await durable.backend.close()
    assert durable.kept() == {"a"}


async def test_from_a_close_on_everything_is_refused_and_nothing_waits(path):
    durable = Durable(path)
    await durable.create()
    durable.storage.gate.clear()
    begun = durable.put("begun")
    await turns()
    closing = asyncio.ensure_future(durable.backend.close())
    await turns()
    while_closing = [durable.put("late"), durable.get("begun")]
    await turns()
    durable.storage.gate.set()
    await closing
    assert await begun == {}
    for answer in (*while_closing, durable.put("later"), durable.get("begun")):
        with pytest.raises(ServiceError, match="Nothing more is accepted: the data directory is closed"):
            await asyncio.wait_for(answer, 5)
    assert durable.kept() == {"begun"}


async def test_a_close_ends_the_threads(path):
    before = threading.active_count()
    durable = Durable(path)
    await durable.create()
    assert threading.active_count() > before
    await durable.backend.close()
    assert threading.active_count() == before


async def test_when_the_disk_fails_nothing_is_acknowledged_any_more(path):
    durable = Durable(path)
    await durable.create()
    await durable.put("kept")
    durable.storage.gate.clear()
    held = [durable.put("a")]
    await turns()
    held += [durable.put("b"), durable.get("a")]
    await turns()
    durable.storage.broken = True
    durable.storage.gate.set()
    for answer in (*held, durable.put("c"), durable.get("kept")):
        with pytest.raises(ServiceError, match=r"Nothing more is accepted: .*No space left") as refused:
            await answer
        assert (refused.value.code, refused.value.status) == ("InternalServerError", 500)
    await durable.backend.close()
    assert durable.kept() == {"kept"}


async def test_when_a_fold_fails_nothing_is_acknowledged_any_more(path, monkeypatch):
    durable = Durable(path, segment_bytes=4096)
    await durable.create()

    def fail(changes: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(durable.storage._file, "apply", fail)
    acknowledged = 0

    async def fill() -> None:
        nonlocal acknowledged
        for number in range(1000):
            await durable.put(str(number))
            acknowledged += 1

    with pytest.raises(ServiceError, match="No space left"):
        await fill()
    await durable.backend.close()
    assert 0 < acknowledged <= len(durable.kept())
