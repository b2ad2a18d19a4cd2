"""Verdicts about capacity: what they count, and that each can fail."""

from __future__ import annotations

import pytest

from cluster.lab.history import History, Operation
from cluster.lab.units import (
    ON_DEMAND_WRITES,
    at_most_each_second,
    consumed,
    costs,
    none_refused,
    price_of_writes,
    some_throttled,
    uses_share,
)


def write(invoked=0.0, units=1.0, outcome="ok", reason=None, **indexes):
    told = {"CapacityUnits": units, "Table": {"CapacityUnits": units - sum(indexes.values())}}
    if indexes:
        told["GlobalSecondaryIndexes"] = {name: {"CapacityUnits": cost} for name, cost in indexes.items()}
    return Operation(
        id=1,
        client="shop",
        through="store",
        operation="PutItem",
        request={},
        invoked=invoked,
        outcome=outcome,
        reason=reason,
        response={"ConsumedCapacity": told} if outcome == "ok" else {},
    )


def test_units_of_batches_are_summed_and_of_refusals_none():
    batch = write()
    batch.response = {"ConsumedCapacity": [{"CapacityUnits": 2.0}, {"CapacityUnits": 0.5}]}
    assert (consumed(batch), consumed(write(outcome="fail"))) == (2.5, 0.0)


def test_none_refused_needs_operations_and_all_of_them():
    assert none_refused([write()], "it").holds
    assert not none_refused([write(), write(outcome="fail")], "it").holds
    assert not none_refused([], "it").holds


@pytest.mark.parametrize(
    ("reasons", "holds"), [(["hot"], True), ([], False), (["hot", "other"], False), ([None], False)]
)
def test_some_throttled_names_the_one_reason(reasons, holds):
    refused = [write(outcome="fail", reason=reason) for reason in reasons]
    assert some_throttled([write(), *refused], "hot", "it").holds is holds


def test_seconds_are_those_of_the_clock():
    within = [write(0.1, 600.0), write(0.9, 400.0), write(1.0, 1000.0)]
    assert at_most_each_second(within, 1000.0, "it").holds
    assert not at_most_each_second([*within, write(1.5, 1.0)], 1000.0, "it").holds
    assert not at_most_each_second([], 1000.0, "it").holds


def test_a_share_is_of_what_is_provisioned():
    assert uses_share([write(units=100.0)], seconds=2, provisioned=1000.0, share=0.25).holds
    assert not uses_share([write(units=600.0)], seconds=2, provisioned=1000.0, share=0.25).holds


def test_a_cost_is_exact_and_tells_where():
    found = costs(write(units=4.0, far=3.0), 4, "because")
    assert found.holds
    assert "the table 1, far 3" in found.evidence
    assert not costs(write(units=3.0), 4, "because").holds


def test_the_price_is_the_published_one_unless_the_run_was_given_another():
    assert price_of_writes(History([{"type": "run", "time": 0.0}])) is ON_DEMAND_WRITES
    given = price_of_writes(History([{"type": "run", "time": 0.0, "write_price": 2.0}]))
    assert given.of(7) == 14.0
