"""The row file: whatever has become of its pages, it is read whole or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.storage.row_file import Changes, RowFile, RowFileDamaged, contents

PAGE = 4096
MAP = b"\x00\x00\x00\x01"


def rows(path: Path) -> list[tuple[int, bytes, bytes]]:
    with contents(path) as found:
        return list(found.rows)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with free pages, a tree of two levels, and rows of several pages."""
    made = tmp_path / "rows.mdb"
    file = RowFile(made, 1 << 20)
    file.apply(
        Changes(rows={MAP + bytes([number]): bytes(50 * number) for number in range(200)}, names={1: "map"})
    )
    file.apply(Changes(rows={MAP + bytes([number]): None for number in range(100, 170)}, through=1))
    file.close()
    return made


@pytest.mark.parametrize(
    "spoilt", [bytes(PAGE), b"\xff" * PAGE, bytes(10) + b"\xff" * 6], ids=["zeros", "ones", "header"]
)
def test_a_page_that_was_overwritten_is_found(path, spoilt):
    """LMDB itself would end the process."""
    whole, kept = path.read_bytes(), rows(path)
    refused = 0
    for at in range(0, len(whole), PAGE):
        path.write_bytes(whole[:at] + spoilt + whole[at + len(spoilt) :])
        try:
            assert rows(path) == kept
        except RowFileDamaged:
            refused += 1
    assert refused > 10


def test_a_file_that_was_cut_at_any_page_is_found(path):
    whole, kept = path.read_bytes(), rows(path)
    refused = 0
    for end in range(0, len(whole), PAGE):
        path.write_bytes(whole[:end])
        try:
            # What is cut off may be free.
            assert rows(path) == kept
        except RowFileDamaged:
            refused += 1
    assert refused > 10
