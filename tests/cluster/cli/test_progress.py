from __future__ import annotations

import pytest

from cluster.cli.progress import progress


def test_a_log_gets_a_line_for_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("load", 1000) as done:
        for _ in range(100):
            done(10)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "load: 100 of 1,000"
    assert lines[-1] == "load: 1,000 of 1,000"
    assert len(lines) == 10


def test_few_things_make_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("load", 2) as done:
        done(1)
        done(1)
    assert len(capsys.readouterr().err.splitlines()) == 2
