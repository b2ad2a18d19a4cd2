"""Rows as bytes: JSON behind one byte that says of which form.

Rules: what was encoded decodes equal, binary included; other bytes raise ValueError. Most items hold no
binary, and for them encoding and decoding are one call of the JSON library each; those that do have it in
base64, and are walked when they are read. The form byte also is the version: another encoding takes another.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

import orjson

from backend.storage.base import Row

_PLAIN = b"\x01"
_WITH_BINARY = b"\x02"


def encode_row(row: Row) -> bytes:
    """A row as bytes. Raises TypeError for what no attribute value can be."""
    try:
        return _PLAIN + orjson.dumps(row)
    except TypeError:
        return _WITH_BINARY + orjson.dumps(row, default=_base64)


def decode_row(data: bytes) -> Row:
    """The row that `encode_row` was given. Raises ValueError for anything else."""
    form = data[:1]
    if form not in (_PLAIN, _WITH_BINARY):
        raise ValueError(f"a row of the unknown form {form!r}")
    item, size = orjson.loads(memoryview(data)[1:])
    return (item if form == _PLAIN else _with_bytes(item)), size


def _base64(value: Any) -> str:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} is no attribute value")


def _with_bytes(item: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: _value(value) for name, value in item.items()}


def _value(value: dict[str, Any]) -> dict[str, Any]:
    for kind, content in value.items():
        if kind == "B":
            return {"B": b64decode(content)}
        if kind == "BS":
            return {"BS": [b64decode(one) for one in content]}
        if kind == "L":
            return {"L": [_value(one) for one in content]}
        if kind == "M":
            return {"M": _with_bytes(content)}
    return value
