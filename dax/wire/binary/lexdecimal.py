"""LexDecimal: a number as bytes that sort like the number. Sort keys of type N travel in it.

A value ±0.d1d2...dn × 10^e is a header that holds the sign and e, then the digits in groups of three, each
group ten bits wide, then a ten-bit terminator that says how many digits of the last group count. Negative
numbers hold the complement of each part, so that the larger magnitude sorts first. One number has several
spellings (trailing zeros are digits too); decoding accepts all of them.
"""

from __future__ import annotations

from backend.model import numbers as model
from dax.wire.binary.cbor import Malformed

_ZERO = b"\x80"
_POSITIVE_BASE, _NEGATIVE_BASE = 0xC0, 0x3F
_POSITIVE_OFFSET, _NEGATIVE_OFFSET = 12, 1011
_SHORT_EXPONENTS = range(-62, 62)
_MAX_SIZE = 256  # bytes: far beyond 38 digits and any padding


def encode(number: str) -> bytes:
    """The LexDecimal form of a canonical decimal text."""
    negative = number.startswith("-")
    whole, _, fraction = number.lstrip("-").partition(".")
    digits = whole + fraction
    leading = len(digits) - len(digits.lstrip("0"))
    exponent = len(whole) - leading
    digits = digits.strip("0")
    if not digits:
        return _ZERO
    groups = [int(digits[start : start + 3].ljust(3, "0")) for start in range(0, len(digits), 3)]
    last = (len(digits) - 1) % 3
    if negative:
        units = [_NEGATIVE_OFFSET - group for group in groups] + [1023 - last]
    else:
        units = [_POSITIVE_OFFSET + group for group in groups] + [last]
    return _header(exponent, negative) + _pack(units)


def _header(exponent: int, negative: bool) -> bytes:
    if exponent in _SHORT_EXPONENTS:
        return bytes((_NEGATIVE_BASE - exponent if negative else _POSITIVE_BASE + exponent,))
    if negative:
        first, mask = (0x01 if exponent >= 0 else 0x7E), 0x7FFFFFFF
    else:
        first, mask = (0xFE if exponent >= 0 else 0x81), 0x80000000
    return bytes((first,)) + ((exponent & 0xFFFFFFFF) ^ mask).to_bytes(4, "big")


def _pack(units: list[int]) -> bytes:
    """Ten bits a unit, most significant first, the last byte padded with zero bits."""
    bits = 0
    for unit in units:
        bits = bits << 10 | unit
    width = len(units) * 10
    padding = -width % 8
    return (bits << padding).to_bytes((width + padding) // 8, "big")


def decode(data: bytes) -> str:
    """The canonical text of a LexDecimal. Raises `Malformed`, or `ServiceError` for a number out of range."""
    if data in (_ZERO, b"\x7f"):
        return "0"
    if not 1 < len(data) <= _MAX_SIZE or data[0] in (0x00, 0xFF):
        raise Malformed("a sort key is not a LexDecimal")
    negative, exponent, start = _read_header(data)
    digits = _read_digits(data, start, negative)
    return model.canonical(f"{'-' if negative else ''}0.{digits}E{exponent}")


def _read_header(data: bytes) -> tuple[bool, int, int]:
    """Whether the number is negative, its exponent, and where its digits start."""
    first = data[0]
    if first in (0x01, 0x7E, 0x81, 0xFE):
        if len(data) < 5:
            raise Malformed("a LexDecimal is cut short")
        negative = first in (0x01, 0x7E)
        raw = int.from_bytes(data[1:5], "big") ^ (0x7FFFFFFF if negative else 0x80000000)
        return negative, raw - (1 << 32) if raw >> 31 else raw, 5
    if first >= 0x82:
        return False, first - _POSITIVE_BASE, 1
    return True, _NEGATIVE_BASE - first, 1


def _read_digits(data: bytes, start: int, negative: bool) -> str:
    bits = int.from_bytes(data[start:], "big")
    left = (len(data) - start) * 8
    groups: list[str] = []
    while left >= 10:
        left -= 10
        unit = bits >> left & 0x3FF
        last = 1023 - unit if negative else unit
        if 0 <= last <= 2:
            if not groups:
                raise Malformed("a LexDecimal has no digits")
            return "".join(groups)[: len(groups) * 3 - 2 + last]
        group = _NEGATIVE_OFFSET - unit if negative else unit - _POSITIVE_OFFSET
        if not 0 <= group <= 999:
            raise Malformed("a LexDecimal has a digit group out of range")
        groups.append(f"{group:03d}")
    raise Malformed("a LexDecimal is cut short")
