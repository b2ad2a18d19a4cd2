"""Canonical numbers against decimal.Decimal, and the service's refusals."""

from __future__ import annotations

from decimal import Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import ServiceError
from backend.model import numbers

OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
PRECISION = "Attempting to store more than 38 significant digits in a Number"
NOT_NUMERIC = "The parameter cannot be converted to a numeric value"


@st.composite
def spelled(draw: st.DrawFn) -> tuple[str, Decimal]:
    """A number in range and one of its many spellings."""
    digits = draw(st.text("0123456789", min_size=1, max_size=38))
    exponent = draw(st.integers(-130, 125 - 38))
    sign = draw(st.sampled_from(("", "-", "+")))
    point = draw(st.integers(0, len(digits)))
    zeros = "0" * draw(st.integers(0, 3))
    mark = draw(st.sampled_from(("e", "E", "e+"))) if exponent >= 0 else draw(st.sampled_from(("e", "E")))
    text = f"{sign}{zeros}{digits[:point]}.{digits[point:]}{mark}{exponent + len(digits) - point}"
    return text, Decimal(f"{sign}{digits}e{exponent}")


decimals = spelled().map(lambda pair: numbers.canonical(pair[0]))


@given(spelled())
def test_canonical_keeps_the_value(pair: tuple[str, Decimal]) -> None:
    text, value = pair
    result = numbers.canonical(text)
    assert Decimal(result) == value
    assert numbers.canonical(result) == result


@given(spelled())
def test_canonical_is_plain_and_minimal(pair: tuple[str, Decimal]) -> None:
    result = numbers.canonical(pair[0])
    assert set(result) <= set("0123456789.-")
    if "." in result:
        assert not result.endswith(("0", "."))
        assert result.lstrip("-").partition(".")[0] != ""
    else:
        assert result == "0" or not result.lstrip("-").startswith("0")
    assert result != "-0"


@given(st.integers(-(10**38) + 1, 10**38 - 1))
def test_integers_come_out_as_they_go_in(number: int) -> None:
    assert numbers.canonical(str(number)) == str(number)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("0000", "0"),
        ("0e125", "0"),
        ("-0.000e-130", "0"),
        ("+3", "3"),
        (".123", "0.123"),
        ("5.", "5"),
        ("0001.23", "1.23"),
        ("1e+5", "100000"),
        ("-0015.789e6", "-15789000"),
        ("1.10", "1.1"),
        ("1e-130", "0." + "0" * 129 + "1"),
        ("1e125", "1" + "0" * 125),
        ("9" * 38, "9" * 38),
        ("9" * 38 + "000", "9" * 38 + "000"),
        ("0." + "0" * 20 + "9" * 38, "0." + "0" * 20 + "9" * 38),
    ],
)
def test_spellings(text: str, result: str) -> None:
    assert numbers.canonical(text) == result


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", NOT_NUMERIC),
        *((text, f"{NOT_NUMERIC}: {text}") for text in ("b", " 1", "1 ", "1\n", ".", "-", "e5", "1e", "1e+")),
        *(
            (text, f"{NOT_NUMERIC}: {text}")
            for text in ("NaN", "Infinity", "-Infinity", "1_000", "0x10", "١", "²")
        ),
        ("123456789012345678901234567890123456789", PRECISION),
        ("-1.23456789012345678901234567890123456789", PRECISION),
        ("1e126", OVERFLOW),
        ("-1e126", OVERFLOW),
        ("1e9223372036854775807", OVERFLOW),
        ("0e126", OVERFLOW),
        ("1" * 127, OVERFLOW),
        ("1e-131", UNDERFLOW),
        ("-1e-131", UNDERFLOW),
        ("1e-9223372036854775808", UNDERFLOW),
        ("-0e-131", UNDERFLOW),
        *(
            (text, f"{NOT_NUMERIC}: {text}")
            for text in ("1e9223372036854775808", "0e-9223372036854775809", f"1e{'9' * 5000}")
        ),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(ServiceError) as refused:
        numbers.canonical(text)
    assert (refused.value.code, refused.value.message) == ("ValidationException", message)


@pytest.mark.parametrize("odd", [None, 5, 1.5, b"1", ["1"]])
def test_what_is_no_text_is_refused(odd: object) -> None:
    with pytest.raises(ServiceError):
        numbers.canonical(odd)  # type: ignore[arg-type]


@given(decimals, decimals)
def test_sortable_orders_numerically(left: str, right: str) -> None:
    a, b = Decimal(left), Decimal(right)
    assert (numbers.sortable(left) < numbers.sortable(right)) == (a < b)
    assert (numbers.sortable(left) == numbers.sortable(right)) == (a == b)


@given(st.integers(-2000, 2000), st.integers(-2000, 2000), st.integers(-4, 4))
def test_sortable_orders_close_numbers(left: int, right: int, exponent: int) -> None:
    a, b = numbers.canonical(f"{left}e{exponent}"), numbers.canonical(f"{right}e{exponent}")
    assert (numbers.sortable(a) < numbers.sortable(b)) == (left < right)


@given(decimals, decimals)
def test_compare(left: str, right: str) -> None:
    a, b = Decimal(left), Decimal(right)
    assert numbers.compare(left, right) == (a > b) - (a < b)


@given(decimals, decimals, st.booleans())
def test_sums_are_exact_or_refused(left: str, right: str, minus: bool) -> None:
    exact = Context(prec=1000)
    expected = (
        exact.subtract(Decimal(left), Decimal(right)) if minus else exact.add(Decimal(left), Decimal(right))
    )
    compute = numbers.subtract if minus else numbers.add
    digits = expected.normalize(exact).as_tuple().digits
    in_range = expected == 0 or -130 <= expected.adjusted() <= 125
    if len(digits) <= 38 and in_range:
        assert Decimal(compute(left, right)) == expected
        assert numbers.canonical(compute(left, right)) == compute(left, right)
    else:
        with pytest.raises(ServiceError):
            compute(left, right)


def test_sum_of_too_many_digits_is_an_overflow() -> None:
    with pytest.raises(ServiceError, match="Number overflow"):
        numbers.add(numbers.canonical("1e50"), "1")
    with pytest.raises(ServiceError, match="Number overflow"):
        numbers.add("9" * 38 + "0" * 88, "1" + "0" * 88)


@given(decimals)
def test_negation_by_subtraction(text: str) -> None:
    assert numbers.subtract(text, text) == "0"
    assert numbers.add(numbers.subtract("0", text), text) == "0"


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 1), ("1", 2), ("-1", 3), ("12", 2), ("123", 3), ("1234", 3), ("100", 2), ("10", 2), ("1.5", 3)],
)
def test_size(text: str, size: int) -> None:
    assert numbers.size(text) == size


@given(decimals.filter(lambda text: text != "0"))
def test_size_is_about_half_the_digits(text: str) -> None:
    digits = len(text.lstrip("-").replace(".", "").strip("0"))
    assert digits / 2 + 1 <= numbers.size(text) <= digits / 2 + 3
    assert numbers.size(text) <= 22
