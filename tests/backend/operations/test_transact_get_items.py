"""TransactGetItems: one answer for each key, double units."""

import pytest


@pytest.fixture
def bank(store):
    store.create("bank", "pk:S")
    store("PutItem", TableName="bank", Item={"pk": {"S": "a"}, "v": {"S": "x" * 5000}})
    return store


def get(key: dict, **more) -> dict:
    return {"Get": {"TableName": "bank", "Key": key, **more}}


def test_answers_come_in_order_and_nothing_is_an_empty_answer(bank):
    asked = [get({"pk": {"S": "none"}}), get({"pk": {"S": "a"}}, ProjectionExpression="pk")]
    answer = bank("TransactGetItems", TransactItems=asked, ReturnConsumedCapacity="TOTAL")
    assert answer == {
        "Responses": [{}, {"Item": {"pk": {"S": "a"}}}],
        "ConsumedCapacity": [{"TableName": "bank", "CapacityUnits": 6.0, "ReadCapacityUnits": 6.0}],
    }


def test_a_key_that_does_not_fit_is_a_reason(bank, refusal):
    asked = [get({"pk": {"S": "a"}}), get({"zz": {"S": "a"}})]
    refused = refusal(bank, "TransactGetItems", TransactItems=asked)
    assert refused.code == "TransactionCanceledException"
    assert refused.fields["CancellationReasons"] == [
        {"Code": "None"},
        {"Code": "ValidationError", "Message": "The provided key element does not match the schema"},
    ]


def test_a_key_may_come_once(bank, refusal):
    refused = refusal(bank, "TransactGetItems", TransactItems=[get({"pk": {"S": "a"}})] * 2)
    assert refused.message == "Transaction request cannot include multiple operations on one item"


def test_a_missing_table_is_not_found(bank, refusal):
    asked = [{"Get": {"TableName": "nothing", "Key": {"pk": {"S": "a"}}}}]
    assert refusal(bank, "TransactGetItems", TransactItems=asked).code == "ResourceNotFoundException"
