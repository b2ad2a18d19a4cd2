"""One list of requests through every client; every response compared field by field.

The reference is boto3 over HTTP on a node. Numbers are compared as numbers and sets as sets; everything else
as it is, down to the message of an error. Where a client itself adds or loses something, `TOLD_APART` says
so.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

pytestmark = [pytest.mark.live, pytest.mark.clients]

_RESOURCE_OPERATIONS = {"GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan"}
_LEGACY = {"Expected", "AttributeUpdates", "KeyConditions", "QueryFilter", "ScanFilter"}
_LONG = "1" + "0" * 44


def comparable(value: Any) -> Any:
    """A response with its numbers as numbers and its sets in order."""
    if isinstance(value, Mapping):
        if value.keys() == {"N"} and isinstance(value["N"], str):
            return {"N": Decimal(value["N"]).normalize()}
        if value.keys() == {"NS"}:
            return {"NS": sorted(Decimal(number).normalize() for number in value["NS"])}
        if value.keys() in ({"SS"}, {"BS"}):
            return {kind: sorted(elements) for kind, elements in value.items()}
        return {name: comparable(element) for name, element in value.items()}
    if isinstance(value, list):
        return [comparable(element) for element in value]
    return value


def run_all(matrix, cluster, run, other=None):
    """The outcome of each request by its name. Tables are made on the store; `other` runs what `run`
    cannot."""
    outcomes = {}
    for entry in matrix:
        name, operation, request = entry["name"], entry["operation"], entry["request"]
        if operation == "CreateTable":
            cluster.store(operation, request)
        elif other is not None and (operation not in _RESOURCE_OPERATIONS or _LEGACY & request.keys()):
            other(operation, request)
        else:
            outcomes[name] = comparable(run(operation, request))
    return outcomes


@pytest.fixture
def reference(matrix, start_cluster, http_driver):
    cluster = start_cluster()
    return run_all(matrix, cluster, http_driver(cluster.cluster.endpoint))


def test_a_node_answers_as_the_store_does(matrix, reference, start_cluster, http_driver):
    cluster = start_cluster()
    stored = run_all(matrix, cluster, http_driver(cluster.cluster.store_endpoint))
    assert stored.keys() == reference.keys()
    for name, outcome in stored.items():
        answer = reference[name]
        if "ConsumedCapacity" in outcome.get("response", {}) and "ConsumedCapacity" not in answer["response"]:
            # A cached answer has consumed nothing.
            del outcome["response"]["ConsumedCapacity"]
        assert answer == outcome, name


# What a client does on its own, whatever the server sends: a name or a group of names, and why.
TOLD_APART = {
    "python": {
        "transact cancelled": "keeps the reasons in `cancellation_reasons`, undecoded",
        "empty key": "refuses it locally, in words of its own",
    },
    "python-resource": {
        "empty key": "refuses it locally, in words of its own",
        f"put number {_LONG}": "boto3's converter takes no plain integer of more than 38 digits",
        **{
            f"get number {number}": "boto3's converter takes no plain integer of more than 38 digits"
            for number in (
                "9.9999999999999999999999999999999999999E+125",
                "-9.9999999999999999999999999999999999999E+125",
                "1E+125",
                _LONG,
            )
        },
    },
    "javascript-v3": {
        "transact twice the same item": "refuses it locally, in words of its own",
        "get projected lists[0][1], lists[1]": "puts an element at its index, not behind the one before",
    },
}
TOLD_APART["javascript-v1"] = TOLD_APART["javascript-v3"]


def as_boto3_words_it(outcome, client):
    """The JavaScript clients put the code before the message, and null where a reason has nothing to say."""
    error = outcome.get("error")
    if error is None or not client.startswith("javascript"):
        return outcome
    error["message"] = error["message"].removeprefix(error["code"] + ": ")
    if "reasons" in error:
        error["reasons"] = [
            {name: value for name, value in reason.items() if value is not None}
            for reason in error["reasons"]
        ]
    return outcome


def test_a_client_sees_what_boto3_sees(matrix, reference, start_cluster, http_driver, dax_driver):
    client, driver = dax_driver
    cluster = start_cluster()
    other = http_driver(cluster.cluster.endpoint) if client == "python-resource" else None
    with driver(f"dax://{cluster.address}") as run:
        outcomes = run_all(matrix, cluster, run, other)
    assert len(outcomes) > 150
    different = {
        name: (outcome, reference[name])
        for name, outcome in outcomes.items()
        if as_boto3_words_it(outcome, client) != reference[name] and name not in TOLD_APART[client]
    }
    for name, (ours, expected) in different.items():
        print(f"--- {name}\n  {client}: {str(ours)[:600]}\n  boto3:  {str(expected)[:600]}")
    assert not different
    for name in TOLD_APART[client].keys() & outcomes.keys():
        assert outcomes[name] != reference[name], f"{name} is no longer told apart"
