"""AttributeUpdates: PUT, ADD and DELETE of whole attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

KEY = {"pk": {"S": "k"}}
INVALID = "One or more parameter values were invalid: "
ONE, TWO, THREE = {"N": "1"}, {"N": "2"}, {"N": "3"}
OF_EACH_TYPE: dict[str, Any] = {
    "S": {"S": "x"},
    "N": ONE,
    "B": {"B": "AQ=="},
    "BOOL": {"BOOL": True},
    "NULL": {"NULL": True},
    "SS": {"SS": ["x"]},
    "NS": {"NS": ["1"]},
    "BS": {"BS": ["AQ=="]},
    "L": {"L": [ONE]},
    "M": {"M": {"x": ONE}},
}


def change(action: str | None, value: Any = None) -> dict[str, Any]:
    return {**({"Action": action} if action else {}), **({"Value": value} if value else {})}


@pytest.mark.parametrize(
    ("before", "update", "after"),
    [
        ({}, change("PUT", ONE), ONE),
        ({"a": ONE}, change(None, {"M": {"x": TWO}}), {"M": {"x": TWO}}),
        ({"a": ONE}, change("DELETE"), None),
        ({}, change("DELETE"), None),
        ({"a": ONE}, change("ADD", TWO), THREE),
        ({}, change("ADD", TWO), TWO),
        ({"a": {"SS": ["x"]}}, change("ADD", {"SS": ["x", "y"]}), {"SS": ["x", "y"]}),
        ({}, change("ADD", {"NS": ["1"]}), {"NS": ["1"]}),
        ({"a": {"NS": ["1", "2"]}}, change("DELETE", {"NS": ["2.0", "3"]}), {"NS": ["1"]}),
        ({"a": {"BS": ["AQ=="]}}, change("DELETE", {"BS": ["AQ=="]}), None),
        ({}, change("DELETE", {"SS": ["x"]}), None),
        ({"a": {"L": [ONE]}}, change("ADD", {"L": [TWO, ONE]}), {"L": [ONE, TWO, ONE]}),
    ],
)
def test_actions(dynamodb: Any, table: str, before: Mapping[str, Any], update: Any, after: Any) -> None:
    dynamodb.put(table, {**KEY, **before, "b": ONE})
    dynamodb("UpdateItem", TableName=table, Key=KEY, AttributeUpdates={"a": update, "c": change("PUT", TWO)})
    found = dynamodb.get(table, **KEY)
    if after and "SS" in after:
        found["a"]["SS"].sort()
    assert found == {**KEY, **({"a": after} if after else {}), "b": ONE, "c": TWO}


def test_names_are_whole_names(dynamodb: Any, table: str) -> None:
    """A dot or a bracket in one is a part of it, and reserved words are names like any other."""
    dynamodb.put(table, {**KEY, "a": {"M": {"b": ONE}}})
    names = ("a.b", "a[0]", "status", "#a", ":v")
    changes = {name: change("PUT", TWO) for name in names}
    dynamodb("UpdateItem", TableName=table, Key=KEY, AttributeUpdates=changes)
    assert dynamodb.get(table, **KEY) == {**KEY, "a": {"M": {"b": ONE}}, **dict.fromkeys(names, TWO)}


def refused(dynamodb: Any, table: str, **changes: Any) -> str:
    before = dynamodb.get(table, **KEY)
    message = dynamodb.invalid("UpdateItem", TableName=table, Key=KEY, AttributeUpdates=changes)
    assert dynamodb.get(table, **KEY) == before
    return str(message)


@pytest.mark.store_only
@pytest.mark.parametrize("datatype", OF_EACH_TYPE)
def test_add_and_delete_take_certain_types(dynamodb: Any, table: str, datatype: str) -> None:
    value = OF_EACH_TYPE[datatype]
    if datatype not in ("N", "L", "SS", "NS", "BS"):
        assert refused(dynamodb, table, a=change("ADD", value)) == (
            f"{INVALID}ADD action is not supported for the type {datatype}"
        )
    if datatype not in ("SS", "NS", "BS"):
        assert refused(dynamodb, table, a=change("DELETE", value)) == (
            f"{INVALID}DELETE action with value is not supported for the type {datatype}"
        )


@pytest.mark.store_only
@pytest.mark.parametrize("datatype", OF_EACH_TYPE)
def test_the_attribute_is_of_the_type_that_is_added_or_deleted(
    dynamodb: Any, table: str, datatype: str
) -> None:
    dynamodb.put(table, {**KEY, "a": OF_EACH_TYPE[datatype]})
    for other in ("N", "L", "SS", "NS", "BS"):
        if other != datatype:
            mismatch = "Type mismatch for attribute to update"
            ok = {"ok": change("PUT", ONE)}
            assert refused(dynamodb, table, a=change("ADD", OF_EACH_TYPE[other]), **ok) == mismatch
            if other not in ("N", "L"):
                assert refused(dynamodb, table, a=change("DELETE", OF_EACH_TYPE[other]), **ok) == mismatch


def test_only_a_delete_needs_no_value(dynamodb: Any, table: str) -> None:
    for action in ("PUT", "ADD", None):
        assert refused(dynamodb, table, b=change("PUT", ONE), a=change(action)) == (
            f"{INVALID}Only DELETE action is allowed when no attribute value is specified"
        )
