"""BatchExecuteStatement: every statement for itself, errors in their places."""

from __future__ import annotations

from typing import Any

import pytest

from backend.errors import ServiceError


def s(text: str) -> dict[str, str]:
    return {"S": text}


def n(text: str | int) -> dict[str, str]:
    return {"N": str(text)}


@pytest.fixture
def run(store):
    """`run("...", ("...", [parameters]))` gives the responses."""
    store.create("inventory", "pk:S")
    store.create("pairs", "pk:S", "sk:S")

    def execute(*statements: Any, **options: Any) -> Any:
        members = [
            {"Statement": one}
            if isinstance(one, str)
            else {"Statement": one[0], "Parameters": one[1], **(one[2:] or [{}])[0]}
            for one in statements
        ]
        return store("BatchExecuteStatement", Statements=members, **options)

    return execute


@pytest.fixture
def stocked(store, run):
    for sku, price in (("a", 100), ("b", 90), ("c", 110)):
        store(
            "PutItem", TableName="inventory", Item={"pk": s(sku), "price": n(price), "live": {"BOOL": True}}
        )


def test_reads_answer_in_order_without_items_that_are_not_there(run, stocked):
    responses = run(
        "SELECT price FROM inventory WHERE pk = 'b'",
        "SELECT * FROM inventory WHERE pk = 'absent'",
        ("SELECT pk FROM inventory WHERE pk = ?", [s("a")]),
    )["Responses"]
    assert responses == [
        {"TableName": "inventory", "Item": {"price": n(90)}},
        {"TableName": "inventory"},
        {"TableName": "inventory", "Item": {"pk": s("a")}},
    ]


def test_conditional_price_updates_with_an_error_each(run, stocked, store):
    """The bulk-update guidance: raise a price only where it is what the caller last saw."""
    statement = "UPDATE inventory SET price = ? WHERE pk = ? AND price = ?"
    responses = run(
        (statement, [n(105), s("a"), n(100)]),
        (statement, [n(95), s("b"), n(89)], {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}),
        (statement, [n(115), s("c"), n(110)]),
        (statement, [n(1), s("d"), n(1)]),
    )["Responses"]
    assert responses[0] == responses[2] == {"TableName": "inventory"}
    assert responses[1] == {
        "TableName": "inventory",
        "Error": {
            "Code": "ConditionalCheckFailed",
            "Message": "The conditional request failed",
            "Item": {"pk": s("b"), "price": n(90), "live": {"BOOL": True}},
        },
    }
    assert responses[3]["Error"]["Code"] == "ConditionalCheckFailed"
    prices = {one["pk"]["S"]: one["price"]["N"] for one in store("Scan", TableName="inventory")["Items"]}
    assert prices == {"a": "105", "b": "90", "c": "115"}


def test_other_errors_of_writes(run, stocked):
    responses = run(
        "INSERT INTO inventory VALUE {'pk': 'a'}",
        "INSERT INTO nowhere VALUE {'pk': 'a'}",
        "UPDATE inventory SET price = 1 WHERE price = 2",
        "DELETE FROM inventory WHERE pk = 'a' RETURNING ALL NEW *",
        "DELETE FROM inventory WHERE pk = 'a' RETURNING ALL OLD *",
        "DELETE FROM inventory WHERE",
        "EXISTS(SELECT * FROM inventory WHERE pk = 'a' AND price = 1)",
    )["Responses"]
    codes = [one.get("Error", {}).get("Code") for one in responses]
    assert codes == [
        "DuplicateItem",
        "ResourceNotFound",
        "ValidationError",
        "ValidationError",
        None,
        "ValidationError",
        "ValidationError",
    ]
    assert responses[4]["Item"]["pk"] == s("a")
    assert (
        responses[5]["Error"]["Message"]
        == "Statement wasn't well formed, can't be processed: Unexpected term"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM inventory WHERE price = 1",
        "SELECT * FROM inventory WHERE pk = 'a' AND attribute_exists(price)",
        "SELECT * FROM inventory",
        "SELECT * FROM pairs WHERE pk = 'a'",
        "SELECT * FROM pairs WHERE pk = 'a' AND sk = '1' AND pk = 'b'",
    ],
)
def test_a_read_names_the_primary_key_and_nothing_else(run, statement):
    (response,) = run(statement)["Responses"]
    assert response == {
        "Error": {
            "Code": "ValidationError",
            "Message": "Select statements within BatchExecuteStatement must specify the primary key "
            "in the where clause.",
        }
    }


def test_reads_and_writes_do_not_mix(run):
    with pytest.raises(ServiceError) as error:
        run("SELECT * FROM inventory WHERE pk = 'a'", "DELETE FROM inventory WHERE pk = 'a'")
    assert error.value.code == "ValidationException"


def test_capacity_is_summed_by_table(run, stocked):
    reads = run(*["SELECT * FROM inventory WHERE pk = 'a'"] * 3, ReturnConsumedCapacity="TOTAL")
    assert reads["ConsumedCapacity"] == [{"TableName": "inventory", "CapacityUnits": 1.5}]
    writes = run(
        "INSERT INTO inventory VALUE {'pk': 'z'}",
        "INSERT INTO pairs VALUE {'pk': 'z', 'sk': '1'}",
        ReturnConsumedCapacity="TOTAL",
    )
    assert [one["CapacityUnits"] for one in writes["ConsumedCapacity"]] == [1.0, 1.0]
