"""ReturnValues, and the item that a failed condition returns."""

from __future__ import annotations

from typing import Any

import pytest

KEY = {"pk": {"S": "k"}}
ONE, TWO, THREE = {"N": "1"}, {"N": "2"}, {"N": "3"}
ITEM = {**KEY, "a": ONE, "m": {"M": {"x": ONE, "y": TWO}}, "l": {"L": [ONE, TWO, THREE]}}
put_and_delete = pytest.mark.parametrize(
    ("operation", "subject"), [("PutItem", "Item"), ("DeleteItem", "Key")]
)
every_write = pytest.mark.parametrize(
    ("operation", "subject"), [("PutItem", "Item"), ("DeleteItem", "Key"), ("UpdateItem", "Key")]
)
CHOICES = ["NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"]


@pytest.mark.parametrize("there", [True, False])
@put_and_delete
def test_what_is_replaced_or_deleted_can_be_returned(
    dynamodb: Any, table: str, operation: str, subject: str, there: bool
) -> None:
    request = {"TableName": table, subject: KEY}
    for choice in ({"ReturnValues": "ALL_OLD"}, {"ReturnValues": "NONE"}, {}):
        dynamodb("DeleteItem", TableName=table, Key=KEY)
        if there:
            dynamodb.put(table, ITEM)
        expected = {"Attributes": ITEM} if there and choice == {"ReturnValues": "ALL_OLD"} else {}
        assert dynamodb(operation, **request, **choice) == expected
        assert dynamodb.get(table, **KEY) == (KEY if operation == "PutItem" else None)


@pytest.mark.parametrize("choice", ["UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"])
@put_and_delete
def test_nothing_else_can_be_returned_of_it(
    dynamodb: Any, table: str, operation: str, subject: str, choice: str
) -> None:
    dynamodb.put(table, ITEM)
    refused = dynamodb.invalid(operation, TableName=table, ReturnValues=choice, **{subject: KEY})
    assert refused == "ReturnValues can only be ALL_OLD or NONE"
    assert dynamodb.get(table, **KEY) == ITEM


@every_write
def test_return_values_are_known_by_their_exact_names(
    dynamodb: Any, table: str, operation: str, subject: str
) -> None:
    for choice in ("all_old", "OLD", ""):
        refused = dynamodb.invalid(operation, TableName=table, ReturnValues=choice, **{subject: KEY})
        assert refused == (
            f"1 validation error detected: Value '{choice}' at 'returnValues' failed to satisfy constraint: "
            "Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
        )
    assert dynamodb.get(table, **KEY) is None


def updated(
    dynamodb: Any, table: str, item: dict[str, Any] | None, choice: str, expression: str, **values: Any
) -> Any:
    """What the update returns of the item; None when Attributes are absent."""
    dynamodb("DeleteItem", TableName=table, Key=KEY)
    if item is not None:
        dynamodb.put(table, item)
    request = {"TableName": table, "Key": KEY, "ReturnValues": choice, "UpdateExpression": expression}
    if values:
        request["ExpressionAttributeValues"] = {f":{name}": value for name, value in values.items()}
    answer = dynamodb("UpdateItem", **request)
    assert answer.get("Attributes") != {}
    return answer.get("Attributes")


@pytest.mark.parametrize(
    ("expression", "old", "new"),
    [
        ("SET a = :two", {"a": ONE}, {"a": TWO}),
        ("SET b = :two", None, {"b": TWO}),
        ("SET a = :two, b = :two", {"a": ONE}, {"a": TWO, "b": TWO}),
        ("SET a = a", {"a": ONE}, {"a": ONE}),
        ("REMOVE a", {"a": ONE}, None),
        ("REMOVE b", None, None),
        ("ADD a :two", {"a": ONE}, {"a": THREE}),
        ("SET m.x = :two", {"m": {"M": {"x": ONE}}}, {"m": {"M": {"x": TWO}}}),
        ("SET m.z = :two", None, {"m": {"M": {"z": TWO}}}),
        ("REMOVE m.x", {"m": {"M": {"x": ONE}}}, None),
        ("SET m = :two", {"m": ITEM["m"]}, {"m": TWO}),
        ("SET l[1] = :two", {"l": {"L": [TWO]}}, {"l": {"L": [TWO]}}),
        ("SET l[2] = :two, l[0] = :two", {"l": {"L": [ONE, THREE]}}, {"l": {"L": [TWO, TWO]}}),
        ("SET l[9] = :two", None, None),
        ("SET l[3] = :two", None, {"l": {"L": [TWO]}}),
        ("REMOVE l[0]", {"l": {"L": [ONE]}}, {"l": {"L": [TWO]}}),
        ("REMOVE l[2]", {"l": {"L": [THREE]}}, None),
        ("SET a = :two REMOVE m.x, l[9]", {"a": ONE, "m": {"M": {"x": ONE}}}, {"a": TWO}),
    ],
)
def test_what_was_touched_is_returned_in_its_nesting(
    dynamodb: Any, table: str, expression: str, old: Any, new: Any
) -> None:
    """Never the key. Of a list, what is now at the touched index: an element that moved there, or nothing."""
    used = {"two": TWO} if ":two" in expression else {}
    assert updated(dynamodb, table, ITEM, "UPDATED_OLD", expression, **used) == old
    assert updated(dynamodb, table, ITEM, "UPDATED_NEW", expression, **used) == new
    assert updated(dynamodb, table, ITEM, "ALL_OLD", expression, **used) == ITEM
    assert updated(dynamodb, table, ITEM, "ALL_NEW", expression, **used) == dynamodb.get(table, **KEY)
    assert updated(dynamodb, table, ITEM, "NONE", expression, **used) is None


def test_a_new_item_has_no_old_values(dynamodb: Any, table: str) -> None:
    new = {"ALL_NEW": {**KEY, "a": ONE}, "UPDATED_NEW": {"a": ONE}}
    for choice in CHOICES:
        assert updated(dynamodb, table, None, choice, "SET a = :v", v=ONE) == new.get(choice)
        assert updated(dynamodb, table, None, choice, "REMOVE a") is None


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"a": {"Value": TWO}}, {"a": ONE}, {"a": TWO}),
        ({"a": {"Action": "DELETE"}, "b": {"Value": TWO}}, {"a": ONE}, {"b": TWO}),
        ({"a": {"Action": "ADD", "Value": TWO}}, {"a": ONE}, {"a": THREE}),
        ({"m": {"Action": "DELETE"}}, {"m": ITEM["m"]}, None),
    ],
)
def test_what_legacy_updates_touched(dynamodb: Any, table: str, changes: Any, old: Any, new: Any) -> None:
    for choice, attributes in (("UPDATED_OLD", old), ("UPDATED_NEW", new), ("ALL_OLD", ITEM)):
        dynamodb.put(table, ITEM)
        request = {"TableName": table, "Key": KEY, "AttributeUpdates": changes, "ReturnValues": choice}
        assert dynamodb("UpdateItem", **request) == ({} if attributes is None else {"Attributes": attributes})


@pytest.mark.parametrize("choice", CHOICES)
def test_an_update_without_actions_touches_nothing(dynamodb: Any, table: str, choice: str) -> None:
    dynamodb.put(table, ITEM)
    answer = dynamodb("UpdateItem", TableName=table, Key=KEY, ReturnValues=choice)
    assert answer == ({"Attributes": ITEM} if choice.startswith("ALL") else {})


# Failed conditions


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("choice", ["ALL_OLD", "NONE", None])
@every_write
def test_a_failed_condition_returns_the_item_if_asked(
    dynamodb: Any, table: str, operation: str, subject: str, choice: str | None, there: bool
) -> None:
    """As typed JSON, beside the message; nothing of an item that is not there."""
    item = {**ITEM, "b": {"B": "AAEC"}, "s": {"BS": ["AQ=="]}} if there else None
    if item:
        dynamodb.put(table, item)
    request = {
        "TableName": table,
        subject: KEY,
        "ConditionExpression": "a = :v",
        "ExpressionAttributeValues": {":v": TWO},
        "ReturnValuesOnConditionCheckFailure": choice,
        "ReturnValues": "ALL_OLD",
    }
    answer = dynamodb.answer(operation, **request)
    expected = {
        "__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
        "message": "The conditional request failed",
    }
    assert (answer.status, answer.json) == (
        400,
        {**expected, "Item": item} if item and choice == "ALL_OLD" else expected,
    )
    assert dynamodb.get(table, **KEY) == item


@every_write
def test_only_all_old_can_be_returned_of_a_failure(
    dynamodb: Any, table: str, operation: str, subject: str
) -> None:
    request = {"TableName": table, subject: KEY, "ConditionExpression": "attribute_not_exists(pk)"}
    for choice in ("ALL_NEW", "all_old"):
        refused = dynamodb.invalid(operation, **request, ReturnValuesOnConditionCheckFailure=choice)
        assert refused == (
            f"1 validation error detected: Value '{choice}' at 'returnValuesOnConditionCheckFailure' "
            "failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, NONE]"
        )
    assert dynamodb.get(table, **KEY) is None
