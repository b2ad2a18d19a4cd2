"""Limits: how deep values nest, how long names are, how many bytes an item has."""

from __future__ import annotations

from typing import Any

import pytest

INVALID = "ValidationException"
KEY = {"pk": {"S": "a" * 100}}
KEY_BYTES = 2 + 100
NESTED = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)
MAX_ITEM = 400 * 1024

Call = tuple[str, dict[str, Any]]


def with_value(value: Any, name: str = "x") -> dict[str, Any]:
    return {**KEY, name: value}


def puts_of(table: str, item: dict[str, Any]) -> dict[str, Call]:
    """Every way to put an item."""
    put = {"TableName": table, "Item": item}
    return {
        "PutItem": ("PutItem", put),
        "BatchWriteItem": ("BatchWriteItem", {"RequestItems": {table: [{"PutRequest": {"Item": item}}]}}),
        "Put": ("TransactWriteItems", {"TransactItems": [{"Put": put}]}),
    }


def updates_of(table: str, name: str, value: Any) -> dict[str, Call]:
    """Every way to give the item such an attribute."""
    keyed = {"TableName": table, "Key": KEY}
    update = {
        **keyed,
        "UpdateExpression": "SET #a = :a",
        "ExpressionAttributeNames": {"#a": name},
        "ExpressionAttributeValues": {":a": value},
    }
    legacy = {name: {"Action": "PUT", "Value": value}}
    return {
        "UpdateItem": ("UpdateItem", update),
        "AttributeUpdates": ("UpdateItem", {**keyed, "AttributeUpdates": legacy}),
        "Update": ("TransactWriteItems", {"TransactItems": [{"Update": update}]}),
    }


def check_refused(dynamodb: Any, table: str, calls: dict[str, Call], message: str) -> None:
    for way, (operation, request) in calls.items():
        assert dynamodb.refusal(operation, **request) == (INVALID, message), way
    assert dynamodb.items(table) == []


def check_written(dynamodb: Any, table: str, calls: dict[str, Call], item: dict[str, Any]) -> None:
    """Each of the calls makes that item."""
    for way, (operation, request) in calls.items():
        dynamodb(operation, **request)
        assert dynamodb.get(table, **KEY) == item, way
        dynamodb("DeleteItem", TableName=table, Key=KEY)


# Nesting


def nested(levels: int, datatype: str = "M", leaf: Any = None) -> Any:
    """A value of so many levels, its scalar being one of them."""
    value = leaf or {"S": "leaf"}
    for _ in range(levels - 1):
        value = {"M": {"n": value}} if datatype == "M" else {"L": [value]}
    return value


@pytest.mark.parametrize("datatype", ["M", "L"])
def test_values_nest_32_levels(dynamodb: Any, table: str, datatype: str) -> None:
    def calls(value: Any) -> dict[str, Call]:
        return puts_of(table, with_value(value)) | updates_of(table, "x", value)

    told = f"ExpressionAttributeValues contains invalid value: {NESTED} for key :a"
    for levels in (33, 100, 300):
        deep = calls(nested(levels, datatype))
        check_refused(dynamodb, table, {way: deep.pop(way) for way in ("UpdateItem", "Update")}, told)
        check_refused(dynamodb, table, deep, NESTED)
    fits = nested(32, datatype)
    check_written(dynamodb, table, calls(fits), with_value(fits))


def test_what_comes_before_a_value_is_told_before_its_depth(dynamodb: Any, table: str) -> None:
    deep = {"TableName": table, "Key": {"pk": nested(100)}}
    condition = {"TableName": table, "Key": KEY, "ConditionExpression": "a = = b"}
    told = 'Invalid ConditionExpression: Syntax error; token: "=", near: "= = b"'
    actions = [{"ConditionCheck": condition}, {"Delete": deep}]
    assert dynamodb.refusal("TransactWriteItems", TransactItems=actions) == (INVALID, told)
    code, told = dynamodb.refusal("DeleteItem", **deep, ReturnValues="BOGUS")
    assert code == INVALID
    assert "'BOGUS' at 'returnValues'" in told
    unnamed = {**with_value(nested(100)), "": {"S": "b"}}
    assert dynamodb.refusal("PutItem", TableName=table, Item=unnamed) == (INVALID, "Empty attribute name")


def test_values_to_compare_nest_32_levels(dynamodb: Any, table: str) -> None:
    put = {"TableName": table, "Item": KEY, "ConditionExpression": "x = :x"}
    told = f"ExpressionAttributeValues contains invalid value: {NESTED} for key :x"
    deep = dynamodb.refusal("PutItem", **put, ExpressionAttributeValues={":x": nested(33)})
    assert deep == (INVALID, told)
    fits = dynamodb.refusal("PutItem", **put, ExpressionAttributeValues={":x": nested(32)})
    assert fits == ("ConditionalCheckFailedException", "The conditional request failed")


@pytest.mark.parametrize("source", [":x", "list_append(:x, :x)", "if_not_exists(nothing, :x)", "origin"])
def test_an_update_cannot_nest_a_value_deeper_than_32_levels(dynamodb: Any, table: str, source: str) -> None:
    """The parent is at level 30: a value below it has two levels at most."""
    before = {**with_value(nested(30, leaf={"M": {}})), "origin": {"L": [{"L": [{"S": "a"}]}]}}
    dynamodb.put(table, before)
    path = ".".join(["x", *["n"] * 29, "below"])
    values = {} if source == "origin" else {"ExpressionAttributeValues": {":x": {"L": [{"L": [{"S": "a"}]}]}}}
    update = {"TableName": table, "Key": KEY, "UpdateExpression": f"SET {path} = {source}", **values}
    assert dynamodb.refusal("UpdateItem", **update) == (INVALID, NESTED)
    assert dynamodb.get(table, **KEY) == before
    if values:
        update["ExpressionAttributeValues"] = {":x": {"L": [{"S": "a"}]}}
        assert dynamodb.answer("UpdateItem", **update).status == 200


@pytest.mark.parametrize("step", [".n", "[0]"])
def test_document_paths_have_32_elements(dynamodb: Any, table: str, step: str) -> None:
    for path, fits in (("x" + step * 31, True), ("x" + step * 32, False)):
        for operation, expression, request in [
            ("GetItem", "ProjectionExpression", {"Key": KEY, "ProjectionExpression": path}),
            ("Scan", "ProjectionExpression", {"ProjectionExpression": path}),
            ("Scan", "FilterExpression", {"FilterExpression": f"attribute_exists({path})"}),
            (
                "PutItem",
                "ConditionExpression",
                {"Item": KEY, "ConditionExpression": f"attribute_not_exists({path})"},
            ),
            (
                "UpdateItem",
                "UpdateExpression",
                {"Key": {"pk": {"S": "b"}}, "UpdateExpression": f"REMOVE {path}"},
            ),
        ]:
            if fits:
                assert dynamodb.answer(operation, TableName=table, **request).status == 200
                continue
            told = f"Invalid {expression}: The document path has too many nesting levels; nesting levels: 33"
            assert dynamodb.refusal(operation, TableName=table, **request) == (INVALID, told)


# Names

MAX_NAME = 65535


@pytest.mark.parametrize("character", ["a", "é"])
def test_an_attribute_name_has_65535_bytes(dynamodb: Any, table: str, character: str) -> None:
    longest = character * (MAX_NAME // len(character.encode()))
    too_long = longest + character
    inside = {"M": {too_long: {"S": ""}}}
    told = "Attribute name is too large, must be less than 65536 bytes"
    check_refused(dynamodb, table, puts_of(table, with_value({"S": ""}, too_long)), told)
    check_refused(dynamodb, table, puts_of(table, with_value(inside)), told)
    for operation, request in updates_of(table, too_long, {"S": ""}).values():
        assert dynamodb.refusal(operation, **request)[0] == INVALID
    assert dynamodb.items(table) == []
    kept = with_value({"S": ""}, longest)
    calls = puts_of(table, kept) | updates_of(table, longest, {"S": ""})
    check_written(dynamodb, table, calls, kept)


def test_an_attribute_name_is_not_empty(dynamodb: Any, table: str) -> None:
    calls = puts_of(table, with_value({"S": ""}, "")) | updates_of(table, "", {"S": ""})
    told = "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a"
    check_refused(dynamodb, table, {way: calls.pop(way) for way in ("UpdateItem", "Update")}, told)
    check_refused(dynamodb, table, calls, "Empty attribute name")
    check_refused(dynamodb, table, puts_of(table, with_value({"M": {"": {"S": ""}}})), "Empty attribute name")


@pytest.mark.store_only
def test_names_of_keys_and_of_projected_attributes_have_255_characters(dynamodb: Any) -> None:
    longest, too_long = "a" * 255, "a" * 256
    told = "failed to satisfy constraint: Member must have length less than or equal to 255"

    def create(key: str, index_key: str, projected: str) -> Any:
        return dynamodb.answer(
            "CreateTable",
            TableName=f"conformance-{id(dynamodb)}",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in (key, index_key)],
            KeySchema=[{"AttributeName": key, "KeyType": "HASH"}],
            GlobalSecondaryIndexes=[dynamodb.index("abc", index_key, projection="INCLUDE", also=[projected])],
        )

    for names in [(too_long, "b", "c"), ("a", too_long, "c"), ("a", "b", too_long)]:
        answer = create(*names)
        assert (answer.status, told in answer.json["message"]) == (400, True)
    created = create(longest, "b" * 255, "c" * 255)
    assert created.status == 200
    dynamodb("DeleteTable", TableName=created.json["TableDescription"]["TableName"])


def test_a_longer_name_may_ride_in_a_projection_of_all(dynamodb: Any) -> None:
    table = dynamodb.create(
        "pk:S",
        "sk:S",
        attributes=["xk:S"],
        GlobalSecondaryIndexes=[dynamodb.index("global", "xk")],
        LocalSecondaryIndexes=[dynamodb.index("local", "pk", "xk")],
    )
    riding = {**KEY, "sk": {"S": "a"}, "xk": {"S": "a"}, "x" * 1000: {"S": ""}}
    dynamodb.put(table, riding)
    for name in ("global", "local"):
        assert dynamodb("Scan", TableName=table, IndexName=name)["Items"] == [riding]


# Sizes

TOO_LARGE = "Item size has exceeded the maximum allowed size"
UPDATE_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"


def padded(size: int, rest: int = 0) -> dict[str, Any]:
    """An item of exactly that size, of which attributes beside it take `rest` bytes."""
    return with_value({"S": "x" * (size - rest - KEY_BYTES - len("padding"))}, "padding")


def test_an_item_has_409600_bytes(dynamodb: Any, table: str) -> None:
    over, fits = padded(MAX_ITEM + 1), padded(MAX_ITEM)
    check_refused(dynamodb, table, puts_of(table, over), TOO_LARGE)
    updates = updates_of(table, "padding", over["padding"])
    operation, request = updates.pop("Update")
    check_refused(dynamodb, table, updates, UPDATE_TOO_LARGE)
    # What an update makes is known only when the transaction is under way.
    cancelled = dynamodb.answer(operation, **request).json
    assert cancelled["CancellationReasons"] == [{"Code": "ValidationError", "Message": UPDATE_TOO_LARGE}]
    calls = puts_of(table, fits) | updates_of(table, "padding", fits["padding"])
    check_written(dynamodb, table, calls, fits)


@pytest.mark.parametrize(
    ("actions", "more", "cost"),
    [
        ("SET p = :p", {}, 22),
        ("SET #p = :p", {}, 22),
        ("SET p = :p REMOVE r", {}, 24),
        ("SET p = :p, c = :c", {"c": {"S": "y" * 50}}, 41),
        ("SET p = :p ADD c :n", {"c": {"N": "1"}}, 41),
    ],
)
def test_an_update_writes_409600_bytes_of_which_each_action_has_some(
    dynamodb: Any, table: str, actions: str, more: dict[str, Any], cost: int
) -> None:
    """What it does not write, the key and others, does not count; other writes have no such limit."""
    key, kept = {"pk": {"S": "k"}}, {"u": {"S": "yyy"}}
    uncounted = len("pk") + len("k") + len("u") + len("yyy")
    ceiling = MAX_ITEM + uncounted - cost
    beside = uncounted + sum(len(name) + len(value.get("S", "xx")) for name, value in more.items())

    def update(size: int) -> dict[str, Any]:
        values = {":p": {"S": "x" * (size - beside - len("p"))}, ":c": more.get("c"), ":n": more.get("c")}
        return {
            "TableName": table,
            "Key": key,
            "UpdateExpression": actions,
            "ExpressionAttributeValues": {name: values[name] for name in values if name in actions},
            **({"ExpressionAttributeNames": {"#p": "p"}} if "#p" in actions else {}),
        }

    dynamodb.put(table, {**key, **kept})
    assert dynamodb.invalid("UpdateItem", **update(ceiling + 1)) == UPDATE_TOO_LARGE
    assert dynamodb.items(table) == [{**key, **kept}]
    dynamodb("UpdateItem", **update(ceiling))
    [item] = dynamodb.items(table)
    assert item == {**key, **kept, **more, "p": update(ceiling)["ExpressionAttributeValues"][":p"]}
    dynamodb.put(table, {**key, **kept})
    dynamodb("TransactWriteItems", TransactItems=[{"Update": update(MAX_ITEM)}])


def test_what_an_update_writes_is_a_matter_of_its_request(dynamodb: Any, table: str) -> None:
    """A value counts each time it is used, also where it goes nowhere, and before the condition is asked."""
    keyed = {"TableName": table, "Key": {"pk": {"S": "k"}}}
    update = {
        **keyed,
        "UpdateExpression": "SET a = if_not_exists(a, :p), b = if_not_exists(b, :p)",
        "ExpressionAttributeValues": {":p": {"S": "x" * (MAX_ITEM // 2)}},
    }
    dynamodb.put(table, {**keyed["Key"], "a": {"S": "a"}, "b": {"S": "b"}})
    for more in ({}, {"ConditionExpression": "attribute_not_exists(pk)"}):
        assert dynamodb.invalid("UpdateItem", **update, **more) == UPDATE_TOO_LARGE
    dynamodb("TransactWriteItems", TransactItems=[{"Update": update}])


def test_legacy_updates_are_limited_by_the_item_alone(dynamodb: Any, table: str) -> None:
    def update(size: int) -> dict[str, Any]:
        padding = {"S": "x" * (size - len("pk") - len("k") - len("p"))}
        updates = {"p": {"Action": "PUT", "Value": padding}}
        return {"TableName": table, "Key": {"pk": {"S": "k"}}, "AttributeUpdates": updates}

    dynamodb("UpdateItem", **update(MAX_ITEM))
    assert dynamodb.invalid("UpdateItem", **update(MAX_ITEM + 1)) == UPDATE_TOO_LARGE


def test_an_update_of_a_list_s_element_costs_a_byte_more(dynamodb: Any, table: str) -> None:
    """The whole list counts as written."""
    key = {"pk": {"S": "k"}}
    list_bytes, element_bytes, action_bytes = 3, 1, 3 + 19 + 1
    fits = MAX_ITEM - len("d") - list_bytes - element_bytes - action_bytes

    def update(size: int) -> dict[str, Any]:
        values = {"ExpressionAttributeValues": {":p": {"S": "x" * size}}}
        return {"TableName": table, "Key": key, "UpdateExpression": "SET d[0] = :p", **values}

    dynamodb.put(table, {**key, "d": {"L": [{"S": ""}]}})
    assert dynamodb.invalid("UpdateItem", **update(fits + 1)) == UPDATE_TOO_LARGE
    dynamodb("UpdateItem", **update(fits))


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ({"é" * 100: {"S": "😀"}}, 200 + 4),
        ({"b": {"B": "AAAA"}}, 1 + 3),
        ({"b": {"BOOL": True}, "n": {"NULL": True}}, 4),
        ({"s": {"SS": ["ab", "é", ""]}}, 1 + 4),
        ({"s": {"BS": ["AAAA", "AA=="]}}, 1 + 4),
        ({"s": {"NS": ["1", "12", "123"]}}, 1 + 2 + 2 + 3),
        ({"l": {"L": []}}, 1 + 3),
        ({"l": {"L": [{"S": "ab"}, {"BOOL": True}]}}, 1 + 3 + (1 + 2) + (1 + 1)),
        ({"m": {"M": {}}}, 1 + 3),
        ({"m": {"M": {"é": {"S": "ab"}}}}, 1 + 3 + (1 + 2 + 2)),
    ],
)
def test_names_and_values_of_all_datatypes_are_counted(
    dynamodb: Any, table: str, attributes: dict[str, Any], size: int
) -> None:
    check_size(dynamodb, table, attributes, size)


@pytest.mark.parametrize(
    ("number", "size"),
    [
        ("0", 1), ("-0", 1), ("1", 2), ("12", 2), ("123", 3), ("1234", 3), ("9" * 38, 20), ("0042", 2),
        ("100", 2), ("1010", 3), ("0.0000001", 2), ("1e125", 2), ("1e-100", 2), ("1.5", 3), ("15", 2),
        ("1.200", 3), ("1.234", 4), ("3.14159", 5), ("123456", 4), ("100.5", 4), ("0.15", 2), ("-42", 3),
    ],
)  # fmt: skip
def test_a_number_is_counted_by_its_significant_digits(
    dynamodb: Any, table: str, number: str, size: int
) -> None:
    """The figures were measured at the limit."""
    check_size(dynamodb, table, {"n": {"N": number}}, 1 + size)


def check_size(dynamodb: Any, table: str, attributes: dict[str, Any], size: int) -> None:
    """They are the bytes that are left below the limit, and not one more."""
    fits = {**padded(MAX_ITEM, size), **attributes}
    over = {**padded(MAX_ITEM + 1, size), **attributes}
    assert dynamodb.refusal("PutItem", TableName=table, Item=over) == (INVALID, TOO_LARGE)
    dynamodb.put(table, fits)
