"""The documentation names files, tests and commands that exist, and its programs run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cluster.cli import main
from cluster.local import local_cluster

ROOT = Path(__file__).parent.parent
DOCS = sorted((*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")))
ROOMS = ("backend/", "dax/", "cluster/", "tests/", "benchmarks/", "examples/", "docs/")


def quoted(text: str) -> list[str]:
    """What stands between backticks, on one line."""
    return re.findall(r"`([^`\n]+)`", text)


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_file_and_test_that_is_named_exists(path: Path) -> None:
    for name in quoted(path.read_text()):
        if not name.startswith(ROOMS) or " " in name or "<" in name:
            continue
        file, _, test = name.partition("::")
        assert (ROOT / file).exists(), name
        if test:
            assert re.search(rf"def {re.escape(test)}\(", (ROOT / file).read_text()), name


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_link_within_the_repository_leads_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", path.read_text()):
        if not target.startswith(("http://", "https://", "#")):
            assert (path.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_definition_of_a_link_is_a_line_of_its_own_and_used(path: Path) -> None:
    """Within a paragraph a definition is text."""
    text = path.read_text()
    defined = re.findall(r"^\[([^\]]+)\]: https?://\S+$", text, re.MULTILINE)
    assert len(re.findall(r"\]:\s+https?://", text)) == len(defined)
    for name in defined:
        assert text.count(f"[{name}]") > 1, name


def test_every_row_of_the_behaviour_table_has_a_test() -> None:
    rows = [line for line in (ROOT / "docs" / "behaviour.md").read_text().splitlines() if line[:2] == "| "]
    for row in rows:
        if not row.startswith(("| behaviour", "| question", "| choice")):
            assert "`tests/" in row.rsplit("|", 2)[1], row


def test_the_conformance_table_numbers_its_behaviours_and_names_every_test() -> None:
    text = (ROOT / "docs" / "conformance.md").read_text()
    rows = re.findall(r"^\| (\d+) \| .+ \| [rdu] \| (.+) \|$", text, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    named = {name for _, tests in rows for name in re.findall(r"`tests/conformance/(\S+?)`", tests)}
    assert all("`tests/" in tests for _, tests in rows)
    assert named == {
        f"{path.name}::{name}"
        for path in (ROOT / "tests" / "conformance").glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)\(", path.read_text(), re.MULTILINE)
    }


def test_every_daxsim_command_of_the_readme_exists() -> None:
    commands = set(re.findall(r"daxsim ([a-z]+)", "\n".join(quoted((ROOT / "README.md").read_text()))))
    assert commands
    assert commands <= set(main._COMMANDS)


PROGRAM = re.compile(r"```python\n((?:(?!```).)*)```\n\nIt prints\n\n```\n(.*?)```", re.DOTALL)


@pytest.mark.live
@pytest.mark.parametrize(("page", "programs"), [("README.md", 1), ("docs/store.md", 3)])
def test_the_programs_that_tell_what_they_print_print_it(
    capsys: pytest.CaptureFixture[str], page: str, programs: int
) -> None:
    found = PROGRAM.findall((ROOT / page).read_text())
    assert len(found) == programs
    for program, printed in found:
        with local_cluster(nodes=3, ttl_delay=0.0) as cluster:
            program = program.replace("http://127.0.0.1:8000", cluster.store_endpoint)
            exec(program.replace("http://127.0.0.1:8111", cluster.endpoint), {})
        assert capsys.readouterr().out == printed
