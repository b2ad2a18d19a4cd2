"""TransactWriteItems: all or nothing, reasons, tokens, double units."""

import pytest


@pytest.fixture
def bank(store, index_of):
    store.create(
        "bank", "pk:S", attributes=["owner:S"], GlobalSecondaryIndexes=[index_of("by-owner", "owner")]
    )
    store("PutItem", TableName="bank", Item=account("a", 10))
    store("PutItem", TableName="bank", Item=account("b", 0))
    return store


def account(key: str, amount: int) -> dict:
    return {"pk": {"S": key}, "amount": {"N": str(amount)}, "owner": {"S": f"owner-{key}"}}


def move(key: str, amount: int, at_least: int = 0, **more) -> dict:
    return {
        "Update": {
            "TableName": "bank",
            "Key": {"pk": {"S": key}},
            "UpdateExpression": "ADD amount :change",
            "ConditionExpression": "amount >= :least",
            "ExpressionAttributeValues": {":change": {"N": str(amount)}, ":least": {"N": str(at_least)}},
            **more,
        }
    }


def put(key: str, **more) -> dict:
    return {"Put": {"TableName": "bank", "Item": account(key, 1), **more}}


def check(key: str, condition: str, **more) -> dict:
    parameters = {"TableName": "bank", "Key": {"pk": {"S": key}}, "ConditionExpression": condition, **more}
    return {"ConditionCheck": parameters}


def delete(key: str) -> dict:
    return {"Delete": {"TableName": "bank", "Key": {"pk": {"S": key}}}}


def amounts(store) -> dict[str, str]:
    return {item["pk"]["S"]: item["amount"]["N"] for item in store("Scan", TableName="bank")["Items"]}


def test_all_actions_happen_together(bank):
    actions = [move("a", -3, 3), put("c"), delete("b"), check("d", "attribute_not_exists(pk)")]
    assert bank("TransactWriteItems", TransactItems=actions) == {}
    assert amounts(bank) == {"a": "7", "c": "1"}


def test_one_refusal_cancels_all_with_a_reason_for_each(bank, refusal):
    actions = [
        put("c"),
        move("b", -3, 3, ReturnValuesOnConditionCheckFailure="ALL_OLD"),
        move("a", 3),
        check("a", "attribute_not_exists(pk)"),
    ]
    refused = refusal(bank, "TransactWriteItems", TransactItems=actions[:3])
    assert (refused.code, refused.message) == (
        "TransactionCanceledException",
        "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[None, ConditionalCheckFailed, None]",
    )
    assert refused.fields["CancellationReasons"] == [
        {"Code": "None"},
        {
            "Code": "ConditionalCheckFailed",
            "Message": "The conditional request failed",
            "Item": account("b", 0),
        },
        {"Code": "None"},
    ]
    assert amounts(bank) == {"a": "10", "b": "0"}
    assert len(bank.engine.catalog.get("bank").indexes["by-owner"].rows) == 2


def test_an_update_that_does_not_fit_the_item_is_a_reason(bank, refusal):
    update = move("a", 1, ExpressionAttributeValues={":change": {"SS": ["x"]}, ":least": {"N": "0"}})
    refused = refusal(bank, "TransactWriteItems", TransactItems=[put("c"), update])
    assert [reason["Code"] for reason in refused.fields["CancellationReasons"]] == ["None", "ValidationError"]
    assert amounts(bank) == {"a": "10", "b": "0"}


@pytest.mark.parametrize(
    ("actions", "code", "message"),
    [
        (
            [put("c"), delete("c")],
            "ValidationException",
            "Transaction request cannot include multiple operations on one item",
        ),
        (
            [put("c"), {"Put": {"TableName": "nothing", "Item": {"pk": {"S": "c"}}}}],
            "ResourceNotFoundException",
            "Requested resource not found",
        ),
        (
            [{"Put": {"TableName": "bank", "Item": {"pk": {"S": ""}}}}],
            "ValidationException",
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: pk",
        ),
    ],
)
def test_a_transaction_that_is_wrong_as_a_whole_is_refused(bank, refusal, actions, code, message):
    refused = refusal(bank, "TransactWriteItems", TransactItems=actions)
    assert (refused.code, refused.message) == (code, message)
    assert amounts(bank) == {"a": "10", "b": "0"}


def test_more_than_4_mb_are_refused(bank, refusal):
    big = [
        {"Put": {"TableName": "bank", "Item": {"pk": {"S": str(number)}, "v": {"S": "x" * 400_000}}}}
        for number in range(11)
    ]
    assert refusal(bank, "TransactWriteItems", TransactItems=big).code == "ValidationException"
    assert len(amounts(bank)) == 2
    assert bank("TransactWriteItems", TransactItems=big[:10]) == {}


def test_a_token_makes_a_repeat_harmless_for_ten_minutes(bank, clock, refusal):
    request = {"TransactItems": [move("a", 5)], "ClientRequestToken": "t-1"}
    first = bank("TransactWriteItems", **request, ReturnConsumedCapacity="TOTAL")
    assert (
        first["ConsumedCapacity"] == [{"TableName": "bank", "CapacityUnits": 2.0, "WriteCapacityUnits": 2.0}]
        or first["ConsumedCapacity"][0]["CapacityUnits"] == 4.0
    )
    clock.advance(599.0)
    again = bank("TransactWriteItems", **request, ReturnConsumedCapacity="TOTAL")
    assert again["ConsumedCapacity"] == [
        {"TableName": "bank", "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}
    ]
    assert amounts(bank)["a"] == "15"
    refused = refusal(bank, "TransactWriteItems", TransactItems=[move("a", 6)], ClientRequestToken="t-1")
    assert refused.code == "IdempotentParameterMismatchException"
    clock.advance(1.0)
    bank("TransactWriteItems", **request)
    assert amounts(bank)["a"] == "20"
    clock.advance(599.0)
    bank("TransactWriteItems", **request)
    assert amounts(bank)["a"] == "20"


def test_a_cancelled_transaction_leaves_no_token(bank, refusal):
    request = {"TransactItems": [move("b", -5, 5)], "ClientRequestToken": "t-2"}
    assert refusal(bank, "TransactWriteItems", **request).code == "TransactionCanceledException"
    bank("TransactWriteItems", TransactItems=[move("b", 5)])
    assert bank("TransactWriteItems", **request) == {}
    assert amounts(bank)["b"] == "0"


def test_writes_and_checks_cost_double(bank):
    answer = bank(
        "TransactWriteItems",
        TransactItems=[put("c"), check("a", "attribute_exists(pk)")],
        ReturnConsumedCapacity="INDEXES",
    )
    units = {"CapacityUnits": 4.0, "WriteCapacityUnits": 4.0}
    index = {"CapacityUnits": 2.0, "WriteCapacityUnits": 2.0}
    assert answer["ConsumedCapacity"] == [
        {
            "TableName": "bank",
            "CapacityUnits": 6.0,
            "WriteCapacityUnits": 6.0,
            "Table": units,
            "GlobalSecondaryIndexes": {"by-owner": index},
        }
    ]


def test_an_observer_is_told_of_writes_and_not_of_checks(bank):
    seen = []
    bank.engine.catalog.get("bank").observers.append(seen.append)
    bank("TransactWriteItems", TransactItems=[put("c"), check("a", "attribute_exists(pk)"), delete("b")])
    assert [(change.key["pk"]["S"], change.new is None) for change in seen] == [("c", False), ("b", True)]


def test_throttling_is_a_reason_and_changes_nothing(new_store, limiter, refusal):
    store = new_store(limiter=limiter)
    store.create("bank", "pk:S")
    limiter.refused.add("bank")
    refused = refusal(store, "TransactWriteItems", TransactItems=[put("c")])
    codes = [reason["Code"] for reason in refused.fields["CancellationReasons"]]
    assert codes == ["ProvisionedThroughputExceeded"]
    assert len(store.engine.catalog.get("bank").items) == 0


def test_a_table_may_be_named_by_arn(bank):
    arn = bank.engine.catalog.get("bank").arn
    action = {"Put": {"TableName": arn, "Item": account("c", 1)}}
    assert bank("TransactWriteItems", TransactItems=[action]) == {}
    assert amounts(bank)["c"] == "1"
