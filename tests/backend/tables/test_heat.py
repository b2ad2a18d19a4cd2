"""Where a hot partition is cut, by the keys that its load asks for."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.model.keys import KeyAttribute, KeySchema, collection_of, successor
from backend.tables.heat import SAMPLES, Heat, edges_for

SCHEMA = KeySchema(KeyAttribute("pk", "S"), KeyAttribute("sk", "S"))


def key(partition, sort):
    return SCHEMA.encode({"pk": {"S": partition}, "sk": {"S": f"{sort:06}"}})


def scattered(partition, items, requests):
    """Requests for the items of one partition key, in no order."""
    return [key(partition, number * 7919 % items) for number in range(requests)]


def test_a_collection_is_cut_where_its_load_is_halved():
    (edge,) = edges_for(scattered("hot", 100, 500))
    assert edge == key("hot", 50)


def test_the_cut_is_by_load_and_not_by_the_number_of_keys():
    asked = [key("hot", number) for number in (1, 1, 9, 2, 3, 9) * 50]
    assert edges_for(asked) == (key("hot", 9),) or edges_for(asked) == (key("hot", 3),)
    asked = [key("hot", number) for number in (0, 5, 5, 5, 6, 7, 8) * 50]
    assert edges_for(asked) == (key("hot", 6),)


def test_a_key_with_more_than_half_of_the_load_is_set_apart():
    one = key("hot", 3)
    assert edges_for([one, one, key("hot", 4), one, key("cold", 1)] * 20) == (one, successor(one))


def test_time_ordered_sort_keys_are_not_cut_but_set_apart_from_their_neighbours():
    rising = [key("log", number) for number in range(500)]
    prefix = collection_of(rising[0])
    assert edges_for(rising) == (prefix, successor(prefix))
    assert edges_for(rising[::-1]) == (prefix, successor(prefix))
    assert all(prefix <= one < successor(prefix) for one in rising)


def test_several_logs_are_parted_as_all_are_busy_at_once():
    asked = [key(f"log{number % 4}", number) for number in range(500)]
    (edge,) = edges_for(asked)
    below = sum(one < edge for one in asked)
    assert below == pytest.approx(250, abs=2)


def test_no_log_of_two_that_take_turns_is_helped():
    asked = [key("a", number) for number in range(200)] + [key("b", number) for number in range(200)]
    assert edges_for(asked) == ()


def test_two_equal_keys_are_parted():
    low, high = sorted([key("a", 1), key("b", 1)])
    assert edges_for([low, high] * 100) == (high,)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 20)), min_size=1, max_size=300))
def test_a_cut_leaves_load_on_both_sides_and_is_the_same_every_time(asked):
    keys = [key(*one) for one in asked]
    edges = edges_for(keys)
    assert edges == edges_for(keys)
    assert list(edges) == sorted(edges)
    if len(edges) == 1:
        below = sum(one < edges[0] for one in keys)
        assert 0 < below < len(keys)


# The sample


def test_a_sample_is_in_proportion_to_the_units_and_in_the_order_of_time():
    heat = Heat(now=0, seconds=51.2, limit=1000)
    for _ in range(10_000):
        heat.offer(b"large", 9)
        heat.offer(b"small", 1)
    assert heat.offered == 100_000
    assert len(heat.keys) <= SAMPLES
    assert Counter(heat.keys)[b"small"] / len(heat.keys) == pytest.approx(0.1, abs=0.03)


@pytest.mark.parametrize("period", [2, 3, 4, 8, 100])
def test_a_rhythm_is_not_mistaken_for_the_load(period):
    heat = Heat(now=0, seconds=51.2, limit=1000)
    for number in range(60_000):
        heat.offer(b"%d" % (number % period), 1)
    shares = Counter(heat.keys)
    assert max(shares.values()) / len(heat.keys) == pytest.approx(1 / period, abs=0.06)


@given(st.lists(st.floats(0.5, 5000), max_size=200), st.floats(0, 1000))
def test_a_sample_is_bounded_whatever_is_asked_for(requests, seconds):
    heat = Heat(now=0, seconds=seconds, limit=1000)
    for number, units in enumerate(requests):
        heat.offer(number.to_bytes(2, "big"), units)
        assert len(heat.keys) < SAMPLES
    assert heat.keys == sorted(heat.keys)
