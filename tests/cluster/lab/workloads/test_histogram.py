from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.lab.workloads.histogram import Histogram

durations = st.lists(st.floats(0, 1000, allow_subnormal=False), min_size=1)


def recorded(values: list[float]) -> Histogram:
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    return histogram


@given(durations, st.sampled_from([1, 50, 90, 99, 99.9, 100]))
def test_a_percentile_is_within_one_percent_of_the_exact_one(values: list[float], percent: float) -> None:
    exact = sorted(values)[math.ceil(len(values) * percent / 100 - 1e-9) - 1]
    assert recorded(values).percentile(percent) == pytest.approx(exact, rel=0.01, abs=2e-9)


@given(durations, durations)
def test_merging_equals_recording_both(left: list[float], right: list[float]) -> None:
    merged = recorded(left)
    merged.merge(recorded(right))
    both = recorded(left + right)
    assert merged.count == both.count
    assert merged.mean == pytest.approx(both.mean)
    assert {**merged.summary(), "mean": 0} == {**both.summary(), "mean": 0}


def test_an_empty_histogram_answers_zero() -> None:
    assert set(Histogram().summary().values()) == {0.0}


def test_a_negative_duration_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        Histogram().record(-1)


@pytest.mark.parametrize("percent", [0, -1, 100.1])
def test_a_percentile_outside_the_range_is_refused(percent: float) -> None:
    with pytest.raises(ValueError, match="percentile"):
        recorded([1.0]).percentile(percent)
