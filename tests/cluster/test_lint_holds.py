"""What CI's lint refuses: time and randomness that are not injected, planted in a node."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def lint(source: str, name: str) -> subprocess.CompletedProcess[str]:
    """Ruff with the project's configuration, as if `source` were the file `name`."""
    return subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--no-cache", "--stdin-filename", str(ROOT / name), "-"],
        input=source,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )


@pytest.mark.parametrize(
    "planted",
    [
        "import random\nJITTER = random.random()\n",
        "from random import random\nJITTER = random()\n",
        "import time\nNOW = time.time()\n",
        "from time import monotonic\nNOW = monotonic()\n",
        "import asyncio\n\n\nasync def nap() -> None:\n    await asyncio.sleep(1)\n",
        "import os\nSALT = os.urandom(8)\n",
        "import datetime\nNOW = datetime.datetime.now()\n",
    ],
)
def test_a_clock_or_a_generator_planted_in_a_node_fails_the_lint(planted):
    result = lint((ROOT / "dax/node.py").read_text() + "\n\n" + planted, "dax/node.py")
    assert result.returncode == 1
    assert "TID251" in result.stdout


@pytest.mark.parametrize("place", ["dax/node.py", "backend/engine.py", "cluster/topology.py"])
def test_the_ban_holds_everywhere_but_in_the_runtime(place):
    assert "TID251" not in lint((ROOT / place).read_text(), place).stdout
    assert "TID251" in lint("import time\nNOW = time.time()\n", place).stdout


def test_the_runtime_may_have_them():
    assert "TID251" not in lint("import time\nNOW = time.time()\n", "cluster/runtime/live.py").stdout


def test_ci_runs_that_lint():
    assert "make lint" in (ROOT / ".ci" / "run").read_text()
    assert "ruff check ." in (ROOT / "Makefile").read_text()
