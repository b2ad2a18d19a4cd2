"""Every example runs, and prints what it printed when it was written down in `transcripts/`.

python examples/NAME.py > tests/examples/transcripts/NAME.txt      writes a transcript anew
"""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
TRANSCRIPTS = Path(__file__).parent / "transcripts"

pytestmark = pytest.mark.live


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_prints_its_transcript(example, capsys):
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out == (TRANSCRIPTS / f"{example.stem}.txt").read_text()


def test_there_is_no_transcript_without_an_example():
    assert {path.stem for path in TRANSCRIPTS.glob("*.txt")} == {path.stem for path in EXAMPLES.glob("*.py")}
