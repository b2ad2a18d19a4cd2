"""Rates on a clock: what a bucket saves, what a second allows, how a large request is paid off."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from backend.tables.buckets import SecondWindow, TokenBucket


def test_a_bucket_begins_with_one_second_and_saves_up_to_its_seconds():
    bucket = TokenBucket(10, 300, now=0)
    assert bucket.has(10, 0)
    bucket.take(10)
    assert not bucket.has(1, 0)
    assert bucket.has(1, 0.1)
    bucket.has(0, 10_000)
    assert bucket.level == 3000


def test_a_bucket_without_burst_saves_one_second():
    bucket = TokenBucket(10, 0, now=0)
    bucket.has(0, 100)
    assert bucket.level == 10


def test_a_large_request_takes_a_full_second_and_leaves_a_debt():
    bucket = TokenBucket(10, 300, now=0)
    assert bucket.has(400, 0)
    bucket.take(400)
    assert not bucket.has(1, 39)
    assert bucket.has(1, 39.2)


def test_resizing_keeps_what_fits_and_gives_the_new_second():
    bucket = TokenBucket(10, 300, now=0)
    bucket.has(0, 300)
    bucket.resize(5, 300)
    assert bucket.level == 1500
    bucket.take(1500)
    bucket.resize(20, 300)
    assert bucket.level == 20


def test_a_window_allows_its_limit_in_each_whole_second():
    window = SecondWindow(1000)
    assert window.has(1000, 5.2)
    window.take(1000)
    assert not window.has(0.5, 5.99)
    assert window.has(1000, 6.0)


def test_a_window_admits_one_request_over_its_limit_and_makes_the_next_seconds_pay():
    window = SecondWindow(1000)
    assert window.has(2500, 1)
    window.take(2500)
    assert not window.has(1, 2)
    assert window.has(500, 3)
    assert not window.has(501, 3)


@given(st.lists(st.tuples(st.floats(0, 0.5), st.floats(0.5, 40)), max_size=200))
def test_no_second_of_a_window_gives_more_than_its_limit(requests):
    window, now, given_units = SecondWindow(50), 0.0, {}
    for wait, units in requests:
        now += wait
        if window.has(units, now):
            window.take(units)
            given_units[int(now)] = given_units.get(int(now), 0.0) + units
    assert all(units <= 50 + 1e-6 for units in given_units.values())


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0.5, 10)), max_size=200))
def test_a_bucket_never_gives_more_than_its_rate_and_its_burst(requests):
    bucket, now, total = TokenBucket(10, 3, now=0), 0.0, 0.0
    for wait, units in requests:
        now += wait
        if bucket.has(units, now):
            bucket.take(units)
            total += units
        assert total <= 10 + 10 * now + 1e-6
        assert bucket.level <= 30
