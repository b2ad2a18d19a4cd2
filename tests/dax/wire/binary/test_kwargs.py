"""The optional parameters."""

from __future__ import annotations

import pytest

from dax.wire.binary import kwargs
from dax.wire.binary.cbor import Malformed


def test_none_and_empty():
    assert kwargs.parameters("GetItem", None) == {}
    assert kwargs.parameters("GetItem", {}) == {}


def test_what_the_trees_supersede_is_left_out():
    assert kwargs.parameters("PutItem", {1: {"#n": "name"}, 5: {":v": 1}, 7: 2}) == {7: 2}


@pytest.mark.parametrize("key", [8, 12, 18, 20, -1, "3", None])
def test_another_parameter_is_refused(key):
    with pytest.raises(Malformed, match="GetItem has no optional parameter"):
        kwargs.parameters("GetItem", {key: 1})


def test_plain_parameters():
    given = {2: 1, 3: 2, 6: 1, 7: 5, 11: b"by_\xc3\xbc", 13: 7, 14: 0, 15: 3, 16: 1, 17: 4, 19: "token"}
    assert kwargs.simple(given) == {
        "ConsistentRead": True,
        "ReturnConsumedCapacity": "INDEXES",
        "ReturnItemCollectionMetrics": "SIZE",
        "ReturnValues": "UPDATED_NEW",
        "IndexName": "by_ü",
        "Limit": 7,
        "ScanIndexForward": False,
        "Select": "COUNT",
        "Segment": 1,
        "TotalSegments": 4,
        "ClientRequestToken": "token",
    }


@pytest.mark.parametrize(
    "given",
    [
        {2: 2},
        {2: "x"},
        {3: 3},
        {3: -1},
        {3: True},
        {7: 0},
        {7: 6},
        {11: 5},
        {11: b"\xff"},
        {13: "1"},
        {15: 0},
    ],
)
def test_wrong_values_are_refused(given):
    with pytest.raises(Malformed):
        kwargs.simple(given)
