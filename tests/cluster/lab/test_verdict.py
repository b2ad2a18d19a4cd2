"""Each kind of claim: when it holds, when it does not, and that the evidence names the operations."""

from __future__ import annotations

import pytest

from cluster.lab import verdict
from cluster.lab.history import Operation


def get(number, value, invoked=0.0, **told):
    response = {} if value is None else {"Item": {"v": {"N": str(value)}}}
    return Operation(
        number,
        "alice",
        "node-1",
        "GetItem",
        {"TableName": "Things", "Key": {"k": {"S": "x"}}},
        invoked,
        invoked + 0.5,
        told.pop("outcome", "ok"),
        response,
        **{"node": "node-1", "served_from": "item-cache", **told},
    )


def put(number, value, invoked=0.0, outcome="ok"):
    request = {"TableName": "Things", "Item": {"k": {"S": "x"}, "v": {"N": str(value)}}}
    return Operation(number, "bob", "store", "PutItem", request, invoked, invoked + 0.5, outcome)


def scan(number, *values, outcome="ok"):
    response = {"Items": [{"v": {"N": str(value)}} for value in values]}
    return Operation(number, "alice", "node-1", "Scan", {}, 0.0, 0.5, outcome, response)


@pytest.mark.parametrize(
    ("finding", "holds"),
    [
        (verdict.returned(get(1, 3), "v", 3), True),
        (verdict.returned(get(1, 3), "v", 4), False),
        (verdict.returned(get(1, None), "v", 4), False),
        (verdict.found_nothing(get(1, None)), True),
        (verdict.found_nothing(get(1, 3)), False),
        (verdict.found_nothing(get(1, None, outcome="fail", error="E")), False),
        (verdict.listed(scan(1, 2, 3), "v", [2, 3]), True),
        (verdict.listed(scan(1, 3, 2), "v", [2, 3]), False),
        (verdict.listed(scan(1, outcome="fail"), "v", []), False),
        (verdict.served(get(1, 3), "item-cache"), True),
        (verdict.served(get(1, 3), "store"), False),
        (verdict.served(get(1, 3, served_from="store", miss="expired"), "store", miss="expired"), True),
        (verdict.served(get(1, 3, served_from="store", miss="expired"), "store", miss="evicted"), False),
        (verdict.served(get(1, 3, age=10.0), "item-cache", age_at_least=10), True),
        (verdict.served(get(1, 3, age=9.0), "item-cache", age_at_least=10), False),
        (verdict.succeeded(put(1, 3)), True),
        (verdict.succeeded(put(1, 3, outcome="info")), False),
        (verdict.refused(get(1, None, outcome="fail", error="E"), "E"), True),
        (verdict.refused(get(1, None, outcome="fail", error="F"), "E"), False),
        (verdict.refused(get(1, 3), "E"), False),
        (verdict.stale(get(2, 3, invoked=1.0), put(1, 4), "v"), True),
        (verdict.stale(get(2, 4, invoked=1.0), put(1, 4), "v"), False),
        (verdict.stale(get(2, 3, invoked=0.4), put(1, 4), "v"), False),
        (verdict.stale(get(2, 3, invoked=1.0), put(1, 4, outcome="fail"), "v"), False),
        (verdict.fresh(get(2, 4, invoked=1.0), put(1, 4), "v"), True),
        (verdict.fresh(get(2, 3, invoked=1.0), put(1, 4), "v"), False),
        (verdict.fresh(get(2, 4, invoked=0.4), put(1, 4), "v"), False),
        (verdict.disagree(get(1, 3), get(2, 4), "v"), True),
        (verdict.disagree(get(1, 3), get(2, 3), "v"), False),
        (verdict.agree(get(1, 3), get(2, 3), "v"), True),
        (verdict.agree(get(1, 3), get(2, None), "v"), False),
        (verdict.same_result(scan(1, 2), scan(2, 2)), True),
        (verdict.same_result(scan(1, 2), scan(2, 3)), False),
        (verdict.count_served([get(1, 3), get(2, 3)], "item-cache", 2, "both hit"), True),
        (verdict.count_served([get(1, 3), get(2, 3)], "item-cache", 1, "one hit"), False),
    ],
)
def test_a_claim_holds_or_not_and_names_its_evidence(finding, holds):
    assert finding.holds is holds
    assert finding.claim
    assert finding.evidence


def test_the_evidence_is_the_contradiction():
    read = get(7, 42, invoked=180.0, age=179.0)
    assert verdict.returned(read, "v", 41).evidence == (
        "at 180.500 s it returned v=42, node-1, item-cache, 179 s old"
    )
    assert verdict.stale(read, put(5, 42), "v").evidence == (
        "#5 (bob's PutItem) was acknowledged at 0.500 s with v=42; "
        "#7 (alice's GetItem) began at 180.000 s and returned v=42"
    )
    refusal = get(8, None, outcome="fail", error="ValidationException")
    assert verdict.found_nothing(refusal).evidence == "at 0.500 s it was refused: ValidationException"


def test_what_a_write_does_not_tell_cannot_be_judged():
    write = Operation(1, "bob", "store", "UpdateItem", {}, 0.0, 0.5, "ok")
    with pytest.raises(ValueError, match="does not tell what it wrote to v: ask for ReturnValues"):
        verdict.stale(get(2, 3, invoked=1.0), write, "v")
