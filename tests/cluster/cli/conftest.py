"""A real `daxsim up` in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Up = tuple[subprocess.Popen[str], dict[str, Any]]


@pytest.fixture
def up() -> Iterator[Callable[..., Up]]:
    """Starts `daxsim up --json` on free ports with more options; gives the process and what it printed."""
    children: list[subprocess.Popen[str]] = []

    def start(*options: str) -> Up:
        command = (
            sys.executable,
            "-m",
            "cluster.cli.main",
            "up",
            "--json",
            "--port",
            "0",
            "--store-port",
            "0",
        )
        child = subprocess.Popen(
            (*command, *options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "COLUMNS": "80"},
        )
        children.append(child)
        assert child.stdout is not None
        line = child.stdout.readline()
        assert line, child.communicate()[1]
        return child, json.loads(line)

    yield start
    for child in children:
        if child.poll() is None:
            child.terminate()
        child.communicate(timeout=30)


@pytest.fixture
def trace() -> Path:
    """The trace that the repository ships."""
    return Path(__file__).parents[3] / "examples" / "data" / "web12-first-20000.trace.xz"
