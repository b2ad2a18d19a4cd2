"""Every benchmark runs to its table. What it measures is for `make bench`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.bench import NAMES, find

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_is_registered_by_its_name(name: str) -> None:
    bench = find(name)
    assert bench.name == name
    assert bench.summary


@pytest.mark.slow
@pytest.mark.parametrize("name", ["engine", "memory"])
def test_a_benchmark_gives_positive_figures(name: str, tmp_path: Path) -> None:
    command = (sys.executable, "-m", "benchmarks", name, "--quick", "--json")
    run = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    (figures,) = json.loads(run.stdout)[name].values()
    assert figures

    def leaves(value: object) -> list[object]:
        return (
            [leaf for each in value.values() for leaf in leaves(each)] if isinstance(value, dict) else [value]
        )

    assert all(isinstance(leaf, float | int) and leaf > 0 for leaf in leaves(figures))


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    command = (sys.executable, "-m", "benchmarks", "frobnicate")
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 2
    assert "no benchmark 'frobnicate'" in run.stderr
