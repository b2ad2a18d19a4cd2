"""The values that options take: sizes such as `64MB`, keys and requests as JSON.

A size is a whole number of bytes, or a number with KB, MB or GB (also KiB, MiB, GiB; all of them powers of
1024, as DAX's and DynamoDB's documentation use them).
"""

from __future__ import annotations

import math
import re
from typing import Any

import click
import orjson

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmg])(?:i?b)?|b)?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}


class Bytes(click.ParamType[int]):
    """A size in bytes, 1 or more."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = _SIZE.fullmatch(str(value).strip())
        size = float(match[1]) * _UNITS[(match[2] or "").lower()] if match else 0
        if size < 1 or size != int(size):
            self.fail(f"{value!r} is not a size; say 64MB, 1.5GB or a number of bytes", param, ctx)
        return int(size)


class Number(click.FloatRange):
    """A number within a range: neither `nan` nor `inf`, which are within every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{number} is not a number", param, ctx)
        return number


class PrimaryKey(click.ParamType[dict[str, Any]]):
    """A primary key as JSON in DynamoDB's typed form."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        try:
            parsed = orjson.loads(value)
        except orjson.JSONDecodeError as error:
            self.fail(f"{value!r} is not JSON: {error}", param, ctx)
        if not isinstance(parsed, dict):
            self.fail(f"{value!r} is not a JSON object", param, ctx)
        if not all(_is_typed(each) for each in parsed.values()):
            typed = orjson.dumps({name: _typed(each) for name, each in parsed.items()}).decode()
            self.fail(f"the values have no types; say {typed}", param, ctx)
        return parsed


def _is_typed(value: object) -> bool:
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)) in ("S", "N", "B")


def _typed(value: object) -> object:
    """What somebody most likely means by a value without its type."""
    if isinstance(value, int | float):
        return {"N": str(value)}
    return {"S": value} if isinstance(value, str) else value


def format_bytes(size: float) -> str:
    """`1536` is `1.5 KB`."""
    for unit in ("B", "KB", "MB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GB"
