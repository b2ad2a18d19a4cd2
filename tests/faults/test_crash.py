"""A loaded process is killed at random moments, again and again on one directory: nothing acknowledged is
lost, nothing is torn, and every index, stream and schedule says what its table says."""

from __future__ import annotations

import contextlib
import importlib.util
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

_PROGRAM = Path(__file__).with_name("crash_workload.py")
_LIVES = 10
"""Kills that one directory sees: its stream, which keeps everything, grows with them."""
_FAR_AHEAD = 1e9


def _load_workload() -> ModuleType:
    specification = importlib.util.spec_from_file_location("crash_workload", _PROGRAM)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


workload = _load_workload()


class Victim:
    """One directory, the processes that die on it, and what they acknowledged."""

    def __init__(self, directory: Path, seed: int, window: float, lag: float) -> None:
        self.directory = directory
        self.seed = seed
        self.window, self.lag = window, lag
        self.steps = [0] * (workload.WRITERS + 1)
        """How many steps each writer has behind it, as far as the rows tell."""
        self.models: list[Any] = [{} for _ in range(workload.WRITERS)]
        self.acknowledged = 0
        self.dice = random.Random(seed)

    def live_and_die(self) -> list[int]:
        """Run a process until it is killed; the acknowledged steps of each writer, all lives together."""
        arguments = (self.directory, self.seed, self.window, self.lag, ",".join(map(str, self.steps)))
        process = subprocess.Popen(
            [sys.executable, str(_PROGRAM), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        lines: list[bytes] = []
        ready = threading.Event()

        def read() -> None:
            for line in process.stdout:
                if line == b"ready\n":
                    ready.set()
                else:
                    lines.append(line)
            ready.set()

        reader = threading.Thread(target=read)
        reader.start()
        if self.dice.random() < 0.15:
            # While it starts, or reads what the last one left behind.
            threading.Event().wait(self.dice.uniform(0.2, 0.6))
        else:
            ready.wait(30)
            threading.Event().wait(self.dice.uniform(0.0, 0.5))
        died = process.poll()
        process.kill()
        process.wait()
        reader.join()
        assert died is None, process.stderr.read().decode()
        process.stdout.close()
        process.stderr.close()
        done = list(self.steps)
        for line in lines:
            writer, step = map(int, line.split())
            assert step == done[writer], "a writer takes its steps in their order"
            done[writer] += 1
        self.acknowledged += sum(done) - sum(self.steps)
        return done

    def check(self, done: list[int]) -> None:
        """Open a copy of what is left and compare; the original stays as the crash left it."""
        if not self.directory.exists():
            # On a busy machine it may die before it has begun.
            assert not any(done)
            return
        copy = self.directory.with_name(self.directory.name + "-copy")
        shutil.copytree(self.directory, copy)
        storage, engine = workload.open_engine(copy, self.lag)
        try:
            self._check_writers(engine, done)
            self._check_operator(engine, done[workload.OPERATOR])
            for table in engine.catalog.tables():
                table.apply_late(_FAR_AHEAD * 2)
                check_indexes(table)
            if engine.catalog.find("orders") is not None:
                check_stream(engine)
                check_schedule(storage, engine)
            self._check_tokens(engine)
        finally:
            storage.close()
            shutil.rmtree(copy)

    def _check_writers(self, engine: Any, done: list[int]) -> None:
        found: list[Any] = [{} for _ in range(workload.WRITERS)]
        for name in workload.KEYS:
            table = engine.catalog.find(name)
            for _, (item, _) in table.items.range() if table is not None else ():
                found[_writer_of(name, item)][workload.identity(name, item)] = item
        for writer, rows in enumerate(found):
            before, step = self.models[writer], self.steps[writer]
            while step < done[writer]:
                _, before = workload.step_of(self.seed, writer, step, before)
                step += 1
            _, after = workload.step_of(self.seed, writer, step, before)
            assert rows in (before, after), f"writer {writer} at step {step}"
            self.models[writer], self.steps[writer] = (before, step) if rows == before else (after, step + 1)

    def _check_operator(self, engine: Any, done: int) -> None:
        names = [name for name in engine.catalog.names() if name not in workload.KEYS]
        found = None
        if names:
            (name,) = names
            table = engine.catalog.find(name)
            found = {
                "name": name,
                "items": len(table.items),
                "tags": table.tags,
                "indexes": list(table.global_indexes),
            }
        states = [workload.operator_state(steps) for steps in (done, done + 1)]
        assert found in states
        self.steps[workload.OPERATOR] = done + states.index(found)

    def _check_tokens(self, engine: Any) -> None:
        """A transaction that was made is not made again."""
        for writer in range(workload.WRITERS):
            step = self.steps[writer] - 1
            if step < 0:
                continue
            (operation, request), _ = workload.step_of(self.seed, writer, step, {})
            if operation == "TransactWriteItems":
                before = _rows(engine)
                engine.execute(operation, request)
                assert _rows(engine) == before


def _writer_of(name: str, item: Any) -> int:
    if name == "blobs":
        return int(item["pk"]["B"][-2])
    return int(item["pk"]["S"][1:].partition("-")[0])


def _rows(engine: Any) -> Any:
    return {name: list(engine.catalog.get(name).items.range()) for name in workload.KEYS}


def check_indexes(table: Any) -> None:
    for index in table.indexes.values():
        rows = (index.row_of(row, key) for key, row in table.items.range())
        assert dict(index.rows.range()) == dict(row for row in rows if row is not None), index.name


def check_stream(engine: Any) -> None:
    table = engine.catalog.get("orders")
    replayed: dict[str, Any] = {}
    for _, record in engine.streams.read(engine.streams.latest(table), 0):
        change = record["dynamodb"]
        key = repr(change["Keys"])
        assert replayed.get(key) == change.get("OldImage")
        replayed[key] = change.get("NewImage")
    items = {repr(workload.key_of("orders", item)): item for _, (item, _) in table.items.range()}
    assert {key: item for key, item in replayed.items() if item is not None} == items


def check_schedule(storage: Any, engine: Any) -> None:
    table = engine.catalog.get("orders")
    if table.time_to_live is None:
        return
    due = int(workload.EXPIRES).to_bytes(8, "big")
    expected = {due + key for key, (item, _) in table.items.range() if "expires" in item}
    assert {key for key, _ in storage.open(f"{table.id}/time-to-live").range()} == expected


def kill_repeatedly(tmp_path: Path, kills: int, seed: int) -> int:
    """So many kills, on a new directory now and then; how many steps were acknowledged in all."""
    acknowledged = 0
    for begun in range(0, kills, _LIVES):
        number = begun // _LIVES
        window = 0.0 if number % 4 == 3 else 0.005
        lag = 0.05 if number % 2 else 0.0
        victim = Victim(tmp_path / f"data-{number}", seed + number, window, lag)
        for _ in range(min(_LIVES, kills - begun)):
            victim.check(victim.live_and_die())
        acknowledged += victim.acknowledged
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(victim.directory)
    return acknowledged


def test_five_kills_lose_nothing(tmp_path):
    acknowledged = kill_repeatedly(tmp_path, 5, seed=1)
    print(f"{acknowledged:,} acknowledged steps survived 5 kills")
    assert acknowledged > 0


@pytest.mark.slow
def test_a_hundred_kills_lose_nothing(tmp_path):
    acknowledged = kill_repeatedly(tmp_path, 100, seed=1000)
    print(f"{acknowledged:,} acknowledged steps survived 100 kills")
    assert acknowledged > 0
