from __future__ import annotations

import click
import pytest

from cluster.cli.values import Bytes, PrimaryKey, format_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("4096", 4096),
        ("100B", 100),
        ("64MB", 64 * 1024**2),
        ("64mb", 64 * 1024**2),
        ("64 MiB", 64 * 1024**2),
        ("1.5GB", 3 * 1024**3 // 2),
        ("2k", 2048),
    ],
)
def test_a_size_is_a_number_with_a_unit(text: str, size: int) -> None:
    assert Bytes().convert(text, None, None) == size


@pytest.mark.parametrize("text", ["", "0", "-1", "MB", "64TB", "1.5", "0.3KB", "1e9", "64MBs"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a size"):
        Bytes().convert(text, None, None)


def test_a_key_is_an_object_of_typed_values() -> None:
    assert PrimaryKey().convert('{"Id": {"N": "1"}}', None, None) == {"Id": {"N": "1"}}
    with pytest.raises(click.BadParameter, match="not a JSON object"):
        PrimaryKey().convert("[1]", None, None)
    with pytest.raises(click.BadParameter, match="not JSON"):
        PrimaryKey().convert("{Id: 1}", None, None)
    with pytest.raises(click.BadParameter) as untyped:
        PrimaryKey().convert('{"Id": 101, "Artist": "Nina Simone", "At": {"S": "x"}}', None, None)
    assert 'say {"Id":{"N":"101"},"Artist":{"S":"Nina Simone"},"At":{"S":"x"}}' in untyped.value.message


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KB"),
        (300 * 1024, "300 KB"),
        (64 * 1024**2, "64.0 MB"),
        (3 * 1024**3, "3.0 GB"),
    ],
)
def test_sizes_are_printed_short(size: int, text: str) -> None:
    assert format_bytes(size) == text
