"""DynamoDB numbers: decimal text in, canonical decimal text out.

The rules of this file:

* A number is a string. Its canonical form is plain decimal notation: no exponent, no plus sign, no
  superfluous zeros, `0` for every zero. Two numbers are equal exactly when their canonical texts are.
* At most 38 significant digits, magnitude 1E-130 to 9.99..E+125, either sign. Nothing is ever rounded:
  what does not fit is a ValidationException.
* `sortable` turns a canonical number into bytes whose order is the numeric order.

Sources: "Naming rules and data types" of the DynamoDB developer guide; the texts of the errors are the
service's.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from typing import Any

from backend.errors import ServiceError, validation_error

MAX_DIGITS = 38
MAX_EXPONENT = 125
MIN_EXPONENT = -130
_EXPONENT_DIGITS = 19

_CANONICAL = re.compile(r"(?:0|-?[1-9][0-9]*)(?:[.][0-9]*[1-9])?|-0[.][0-9]*[1-9]")
_NUMBER = re.compile(r"([+-]?)(?=[.]?[0-9])([0-9]*)(?:[.]([0-9]*))?(?:[eE]([+-]?[0-9]+))?")
# 256 positions between 1E+125 and 1E-130, 38 digits, and room to spare: sums and differences are exact.
_EXACT = Context(prec=512, Emax=9999, Emin=-9999)
# A number of fewer digits than this is summed as a machine integer.
_FAST_DIGITS = 37


def canonical(text: str) -> str:
    """The canonical form of a number as a client spelled it (`+1.50e1` gives `15`).

    Raises ValidationException with the service's text for what is no number, too precise or out of range.
    """
    # The common integer costs one scan: no sign, no leading zero, few enough digits.
    if text.__class__ is str and text.isdecimal() and text.isascii():
        if text[0] != "0":
            if len(text) <= MAX_DIGITS:
                return text
        elif len(text) == 1:
            return text
    # Decimals and negative numbers are mostly written as they are kept. So few characters are in range.
    elif text.__class__ is str and len(text) <= MAX_DIGITS and _CANONICAL.fullmatch(text) is not None:
        return text
    return _parse(text)


def _parse(text: Any) -> str:
    match = _NUMBER.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise _not_numeric(text)
    sign, whole, fraction, exponent = match.groups()
    fraction = fraction or ""
    digits = (whole + fraction).lstrip("0")
    # `point` is how many digits stand before the decimal point once leading zeros are gone. A zero has no
    # digits: what must be in range is the exponent it is written with.
    point = (len(digits) - len(fraction) if digits else 1) + _exponent(exponent, text)
    digits = digits.rstrip("0")
    if point - 1 > MAX_EXPONENT:
        raise _overflow()
    if point - 1 < MIN_EXPONENT:
        raise validation_error(
            "Number underflow. Attempting to store a number with magnitude smaller than supported range"
        )
    if not digits:
        return "0"
    if len(digits) > MAX_DIGITS:
        raise validation_error("Attempting to store more than 38 significant digits in a Number")
    return ("-" if sign == "-" else "") + _plain(digits, point)


def _exponent(exponent: str | None, text: str) -> int:
    """The exponent of the number `text`: an integer of 64 bits, or there is no number."""
    if exponent is None:
        return 0
    # int() would choke on millions of digits.
    if len(exponent.lstrip("+-0")) <= _EXPONENT_DIGITS:
        value = int(exponent)
        if -(1 << 63) <= value < 1 << 63:
            return value
    raise _not_numeric(text)


def _plain(digits: str, point: int) -> str:
    if point <= 0:
        return "0." + "0" * -point + digits
    if point >= len(digits):
        return digits + "0" * (point - len(digits))
    return digits[:point] + "." + digits[point:]


def _not_numeric(text: Any) -> ServiceError:
    detail = f": {text}" if text else ""
    return validation_error(f"The parameter cannot be converted to a numeric value{detail}")


def _overflow() -> ServiceError:
    return validation_error(
        "Number overflow. Attempting to store a number with magnitude larger than supported range"
    )


def add(augend: str, addend: str) -> str:
    """The exact sum of two canonical numbers, canonical.

    Raises ValidationException when the sum leaves the range or needs more than 38 digits: never rounds.
    """
    if len(augend) < _FAST_DIGITS and len(addend) < _FAST_DIGITS and "." not in augend and "." not in addend:
        return str(int(augend) + int(addend))
    return _result(_EXACT.add(Decimal(augend), Decimal(addend)))


def subtract(minuend: str, subtrahend: str) -> str:
    """The exact difference of two canonical numbers, canonical. Errors as of `add`."""
    if (
        len(minuend) < _FAST_DIGITS
        and len(subtrahend) < _FAST_DIGITS
        and "." not in minuend
        and "." not in subtrahend
    ):
        return str(int(minuend) - int(subtrahend))
    return _result(_EXACT.subtract(Decimal(minuend), Decimal(subtrahend)))


def _result(value: Decimal) -> str:
    _, digits, _ = value.normalize(_EXACT).as_tuple()
    if len(digits) > MAX_DIGITS:
        # A result that needs more digits than a number has is reported as an overflow, not as a precision
        # error.
        raise _overflow()
    return canonical(format(value, "f"))


def compare(left: str, right: str) -> int:
    """-1, 0 or 1, as the first canonical number is less than, equal to or greater than the second."""
    if left == right:
        return 0
    if "." not in left and "." not in right:
        return -1 if int(left) < int(right) else 1
    return -1 if Decimal(left) < Decimal(right) else 1


def sortable(text: str) -> bytes:
    """Bytes for a canonical number, ordered as the numbers are and distinct for distinct numbers.

    A byte for the power of 100, then a byte for each two digits, one more than they are. For a negative
    number both are complemented, and a final 102 puts a shorter run of digits behind a longer one. It is the
    form whose hash orders a scan as the service does (`backend.model.keys`).
    """
    if text == "0":
        return b"\x80"
    negative = text[0] == "-"
    digits, point = _digits_and_point(text[1:] if negative else text)
    if point % 2:
        digits = "0" + digits
    if len(digits) % 2:
        digits += "0"
    pairs = bytes.fromhex(digits)
    power = 192 + (point + 1) // 2
    if not negative:
        return bytes((power,)) + pairs.translate(_PAIRS)
    end = b"\x66" if len(pairs) < _MAX_PAIRS else b""
    return bytes((255 - power,)) + pairs.translate(_COMPLEMENTED_PAIRS) + end


_MAX_PAIRS = MAX_DIGITS // 2 + 1
# Two decimal digits as hexadecimal ones, to one more than they are, or to that from 101.
_DECIMAL = [high * 10 + low for high in range(16) for low in range(16)]
_PAIRS = bytes((value + 1) % 256 for value in _DECIMAL)
_COMPLEMENTED_PAIRS = bytes((101 - value) % 256 for value in _DECIMAL)


def _digits_and_point(magnitude: str) -> tuple[str, int]:
    """Significant digits without zeros at either end, and where the decimal point stands among them."""
    whole, _, fraction = magnitude.partition(".")
    if whole == "0":
        digits = fraction.lstrip("0")
        return digits, len(digits) - len(fraction)
    return (whole + fraction).rstrip("0"), len(whole)


def size(text: str) -> int:
    """Stored bytes of a canonical number: one, one more for each two digits, one more for a minus sign.

    Digits pair up on even powers of ten, so a digit that starts on an even power is a pair of its own.
    """
    if text.isdecimal():
        return (len(text.rstrip("0")) + 3 + len(text) % 2) // 2 if text != "0" else 1
    negative = text[0] == "-"
    digits, point = _digits_and_point(text[1:] if negative else text)
    return (len(digits) + 3 + point % 2) // 2 + negative
