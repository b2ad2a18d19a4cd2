"""What a benchmark is, and the registry of them: one file each.

Rules of this package:

* what is compared runs in the same run, in turns: each round measures every candidate once, and the median of
  a candidate's rounds is its figure. A machine that slows down slows all of them;
* a server has one processor and its load another (`os.sched_setaffinity`), where the machine has two;
* a candidate that cannot run here (no npm, no moto) is left out with a line that says why, and never
  silently.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

NAMES = ("http", "binary", "durable", "engine", "memory")
"""Each is `<name>_bench.py` of this package, with a `BENCH`."""


@dataclass(frozen=True)
class Options:
    """`quick` measures little, to see that a benchmark runs; `full` also what takes minutes."""

    quick: bool = False
    full: bool = False

    @property
    def rounds(self) -> int:
        return 1 if self.quick else 5

    @property
    def seconds(self) -> float:
        """How long one round of one candidate measures."""
        return 0.3 if self.quick else 2.0


@dataclass
class Report:
    """A table, its notes, and the same as data."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Bench:
    """A named benchmark. `run` measures and gives its tables."""

    name: str
    summary: str
    run: Callable[[Options], list[Report]]


def find(name: str) -> Bench:
    """The benchmark of that name, one of `NAMES`."""
    bench: Bench = importlib.import_module(f"benchmarks.{name}_bench").BENCH
    return bench
