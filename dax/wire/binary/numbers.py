"""Numbers between CBOR and the canonical decimal text of the operation model.

One number has many encodings on the wire: an int, a bignum, a decimal fraction that no client normalises, or
a double. All of them decode to the same canonical text, so that equal numbers are equal keys. A double stands
for its shortest decimal (`0.1`, not the binary expansion): that is what the JavaScript clients mean by it.

Answers carry ints where a number is whole and decimal fractions otherwise, and never a float.
"""

from __future__ import annotations

import math
from typing import Any

from backend.errors import validation_error
from backend.model import numbers as model
from dax.wire.binary import cbor

# 38 digits fit in 127 bits. Beyond this many bits a number is out of range whatever its digits are, and to
# turn it into text would only cost time.
_MAX_BITS = 512
_CANONICAL_BITS = 124
_MAX_EXPONENT = 1_000
_SMALL = {str(number): cbor.integer(number) for number in range(256)}  # most of those in long lists


def from_cbor(value: Any) -> str:
    """The canonical text of a decoded number. Raises `ServiceError` (ValidationException) outside of
    range."""
    kind = type(value)
    if kind is int:
        if value.bit_length() <= _CANONICAL_BITS:
            return str(value)
        if value.bit_length() > _MAX_BITS:
            return model.canonical("-1E999" if value < 0 else "1E999")
        return model.canonical(str(value))
    if kind is float:
        if not math.isfinite(value):
            raise validation_error("The parameter cannot be converted to a numeric value: " + repr(value))
        return model.canonical(repr(value))
    if kind is cbor.DecimalFraction:
        return _from_decimal_fraction(value.exponent, value.mantissa)
    raise cbor.Malformed("a number is expected here")


def _from_decimal_fraction(exponent: int, mantissa: int) -> str:
    if mantissa == 0:
        return "0"
    if mantissa.bit_length() > _MAX_BITS:
        raise validation_error("Attempting to store more than 38 significant digits in a Number")
    exponent = max(-_MAX_EXPONENT, min(_MAX_EXPONENT, exponent))
    return model.canonical(f"{mantissa}E{exponent}")


def to_cbor(number: str) -> bytes:
    """The encoding of a number, given as canonical text or as any decimal text of a store."""
    small = _SMALL.get(number)
    if small is not None:
        return small
    if "E" in number or "e" in number:
        number = model.canonical(number)
    whole, point, fraction = number.partition(".")
    fraction = fraction.rstrip("0")
    if not point or not fraction:
        return cbor.integer(int(whole))
    return cbor.decimal_fraction(-len(fraction), int(whole + fraction))
