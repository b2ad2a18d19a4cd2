"""Where the traces are, and the reference that a cache's miss ratio is held to."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="session")
def fixture_trace() -> Path:
    """The one trace that the repository ships."""
    return ROOT / "examples" / "data" / "web12-first-20000.trace.xz"


@pytest.fixture(scope="session")
def shared_trace() -> Callable[[str], Path]:
    """Finds a whole public trace by file name, or skips the test where they are not to be had."""
    folder = Path(os.environ.get("DAXSIM_TRACES", ROOT.parent / "shared" / "traces"))

    def find(name: str) -> Path:
        path = folder / name
        if not path.is_file():
            pytest.skip(f"no {name}: set DAXSIM_TRACES to a folder that has the public traces")
        return path

    return find


@pytest.fixture(scope="session")
def lru_misses() -> Callable[[Iterable[object], int], int]:
    """Counts the misses of the plainest LRU that there is: every object has size 1, every access fills."""

    def count(keys: Iterable[object], capacity: int) -> int:
        cache: OrderedDict[object, None] = OrderedDict()
        misses = 0
        for key in keys:
            if key in cache:
                cache.move_to_end(key)
                continue
            misses += 1
            cache[key] = None
            if len(cache) > capacity:
                cache.popitem(last=False)
        return misses

    return count
