"""TransactWriteItems and TransactGetItems: all or none, a reason for each action, tokens, ARNs."""

from __future__ import annotations

from typing import Any

import pytest

INVALID = "One or more parameter values were invalid: "
EMPTY_KEY = (
    "One or more parameter values are not valid. "
    "The AttributeValue for a key attribute cannot contain an empty string value. Key: pk"
)
MISMATCH = "The provided key element does not match the schema"
TWICE = "Transaction request cannot include multiple operations on one item"
SYNTAX = 'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("'
UNUSED = "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"
NOT_FOUND = ("ResourceNotFoundException", "Requested resource not found")
NEW, OLD = "attribute_not_exists(pk)", "attribute_exists(pk)"


def key(value: str) -> dict[str, Any]:
    return {"pk": {"S": value}}


def put(table: str, value: str, condition: str | None = None, **more: Any) -> dict[str, Any]:
    action = {"TableName": table, "Item": {**key(value), **more}}
    return {"Put": action if condition is None else {**action, "ConditionExpression": condition}}


def update(table: str, value: str, number: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "Update": {
            "TableName": table,
            "Key": key(value),
            "UpdateExpression": "SET v = :v",
            "ExpressionAttributeValues": {":v": {"N": str(number)}},
            **more,
        }
    }


def delete(table: str, value: str, **more: Any) -> dict[str, Any]:
    return {"Delete": {"TableName": table, "Key": key(value), **more}}


def check(table: str, value: str, condition: str = OLD, **more: Any) -> dict[str, Any]:
    return {
        "ConditionCheck": {"TableName": table, "Key": key(value), "ConditionExpression": condition, **more}
    }


def get(table: str, value: str, **more: Any) -> dict[str, Any]:
    return {"Get": {"TableName": table, "Key": key(value), **more}}


def cancelled(dynamodb: Any, operation: str, *actions: Any, **request: Any) -> list[dict[str, Any]]:
    """The reasons of a transaction that is to be cancelled."""
    answer = dynamodb.answer(operation, TransactItems=list(actions), **request)
    assert answer.status == 400, answer.body
    body = answer.json
    assert body["__type"] == "com.amazonaws.dynamodb.v20120810#TransactionCanceledException"
    reasons: list[dict[str, Any]] = body["CancellationReasons"]
    codes = ", ".join(reason["Code"] for reason in reasons)
    text = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
    assert body.get("message", body.get("Message")) == text
    return reasons


FAILED = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
INNOCENT = {"Code": "None"}


# Which actions make a transaction


def test_all_kinds_of_actions_on_two_tables(dynamodb: Any, table: str) -> None:
    other = dynamodb.create("pk:S")
    dynamodb.put(table, key("b"), key("c"), key("d"))
    actions = [put(table, "a"), update(table, "b"), delete(table, "c"), check(table, "d"), put(other, "a")]
    assert dynamodb("TransactWriteItems", TransactItems=actions) == {}
    reads = [get(table, name) for name in "abcd"] + [get(other, "a")]
    assert dynamodb("TransactGetItems", TransactItems=reads)["Responses"] == [
        {"Item": key("a")},
        {"Item": {**key("b"), "v": {"N": "1"}}},
        {},
        {"Item": key("d")},
        {"Item": key("a")},
    ]


@pytest.mark.parametrize("first", [put, update, delete, check])
@pytest.mark.parametrize("second", [put, update, delete, check])
def test_an_item_is_named_once(dynamodb: Any, table: str, first: Any, second: Any) -> None:
    actions = [put(table, "other"), first(table, "a"), second(table, "a")]
    assert dynamodb.invalid("TransactWriteItems", TransactItems=actions) == TWICE
    assert dynamodb.get(table, pk={"S": "other"}) is None


def test_an_item_is_named_once_in_all_its_spellings(dynamodb: Any) -> None:
    table = dynamodb.create("pk:N")
    deletes = [{"Delete": {"TableName": table, "Key": {"pk": {"N": text}}}} for text in ("10", "1e1")]
    assert dynamodb.invalid("TransactWriteItems", TransactItems=deletes) == TWICE
    gets = [{"Get": delete["Delete"]} for delete in deletes]
    assert dynamodb.invalid("TransactGetItems", TransactItems=gets) == TWICE


def test_an_item_is_read_once(dynamodb: Any, table: str) -> None:
    assert dynamodb.invalid("TransactGetItems", TransactItems=[get(table, "a"), get(table, "a")]) == TWICE


def test_the_same_key_in_two_tables_is_two_items(dynamodb: Any, table: str) -> None:
    other = dynamodb.create("pk:S")
    dynamodb("TransactWriteItems", TransactItems=[put(table, "a"), put(other, "a")])
    answer = dynamodb("TransactGetItems", TransactItems=[get(table, "a"), get(other, "a")])
    assert answer["Responses"] == [{"Item": key("a")}, {"Item": key("a")}]


@pytest.mark.parametrize(("operation", "make"), [("TransactWriteItems", put), ("TransactGetItems", get)])
def test_a_transaction_has_1_to_100_actions(dynamodb: Any, table: str, operation: str, make: Any) -> None:
    actions = [make(table, str(number)) for number in range(101)]
    dynamodb(operation, TransactItems=actions[1:])
    too_many = dynamodb.invalid(operation, TransactItems=actions)
    assert too_many.startswith("1 validation error detected: Value '[")
    assert too_many.endswith(
        "' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100"
    )
    assert dynamodb.invalid(operation, TransactItems=[]) == (
        "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1"
    )
    assert dynamodb.get(table, pk={"S": "0"}) is None


@pytest.mark.parametrize("makers", [(), (put, delete), (update, check)])
def test_a_member_is_one_action(dynamodb: Any, table: str, makers: Any) -> None:
    member: dict[str, Any] = {}
    for number, make in enumerate(makers):
        member |= make(table, str(number))
    assert dynamodb.invalid("TransactWriteItems", TransactItems=[member]) == (
        "TransactItems can only contain one of Check, Put, Update or Delete"
    )


@pytest.mark.parametrize(
    ("action", "missing"),
    [
        ({"ConditionCheck": {"TableName": "abc", "Key": key("a")}}, "conditionCheck.conditionExpression"),
        ({"Update": {"TableName": "abc", "Key": key("a")}}, "update.updateExpression"),
        ({"Put": {"TableName": "abc"}}, "put.item"),
        ({"Delete": {"Key": key("a")}}, "delete.tableName"),
    ],
)
def test_what_an_action_needs(dynamodb: Any, action: Any, missing: str) -> None:
    assert dynamodb.invalid("TransactWriteItems", TransactItems=[action]) == (
        f"1 validation error detected: Value null at 'transactItems.1.member.{missing}' "
        "failed to satisfy constraint: Member must not be null"
    )


# Conditions that fail


def test_reasons_stand_in_the_order_of_the_actions(dynamodb: Any, table: str) -> None:
    dynamodb.put(table, key("b"))
    actions = [put(table, "a", NEW), put(table, "b", NEW, v={"N": "2"}), delete(table, "c")]
    assert cancelled(dynamodb, "TransactWriteItems", *actions) == [INNOCENT, FAILED, INNOCENT]
    assert dynamodb.get(table, pk={"S": "a"}) is None
    assert dynamodb.get(table, pk={"S": "b"}) == key("b")


@pytest.mark.parametrize(
    "make",
    [
        lambda table: put(table, "a", OLD),
        lambda table: update(table, "a", ConditionExpression=OLD),
        lambda table: delete(table, "a", ConditionExpression=OLD),
        lambda table: check(table, "a"),
    ],
)
def test_every_kind_of_action_can_fail(dynamodb: Any, table: str, make: Any) -> None:
    reasons = cancelled(dynamodb, "TransactWriteItems", put(table, "b"), make(table))
    assert reasons == [INNOCENT, FAILED]
    assert dynamodb("Scan", TableName=table)["Count"] == 0


@pytest.mark.parametrize("kind", ["Put", "Update", "Delete", "ConditionCheck"])
def test_a_reason_holds_the_item_for_those_who_ask(dynamodb: Any, table: str, kind: str) -> None:
    there = {**key("there"), "v": {"N": "7"}}
    dynamodb.put(table, there)
    condition = {
        "ConditionExpression": "v = :w",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    makers = {"Put": put, "Update": update, "Delete": delete, "ConditionCheck": check}
    actions = []
    for name in ("there", "nobody"):
        action = makers[kind](table, name)[kind]
        values = {**action.get("ExpressionAttributeValues", {}), ":w": {"N": "0"}}
        actions.append({kind: {**action, **condition, "ExpressionAttributeValues": values}})
    silent = {kind: {**actions[0][kind], "ReturnValuesOnConditionCheckFailure": "NONE"}}
    assert cancelled(dynamodb, "TransactWriteItems", *actions) == [{**FAILED, "Item": there}, FAILED]
    assert cancelled(dynamodb, "TransactWriteItems", silent) == [FAILED]
    assert dynamodb.get(table, pk={"S": "there"}) == there


# Wrong items and keys


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda table: put(table, ""), EMPTY_KEY),
        (lambda table: update(table, ""), EMPTY_KEY),
        (lambda table: delete(table, ""), EMPTY_KEY),
        (lambda table: check(table, ""), EMPTY_KEY),
        (
            lambda table: put(table, "a", g={"S": ""}),
            "One or more parameter values are not valid. A value specified for a secondary index key is not "
            "supported. The AttributeValue for a key attribute cannot contain an empty string value. "
            "IndexName: by-g, IndexKey: g",
        ),
        (
            lambda table: put(table, "a", v={"S": "x" * 409_600}),
            "Item size has exceeded the maximum allowed size",
        ),
        (
            lambda table: put(table, "a", v={"NS": []}),
            f"{INVALID}An number set  may not be empty",
        ),
        (lambda table: put(table, "a", "attribute_exists("), SYNTAX),
        (lambda table: update(table, "a", ConditionExpression="attribute_exists("), SYNTAX),
        (lambda table: check(table, "a", ExpressionAttributeValues={":v": {"S": "a"}}), UNUSED),
        (
            lambda table: check(table, "a", ExpressionAttributeNames={}),
            "ExpressionAttributeNames must not be empty",
        ),
        (
            lambda table: put(table, "a", NEW, v={}),
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
        ),
    ],
)
def test_what_refuses_the_request_and_gives_no_reasons(dynamodb: Any, make: Any, message: str) -> None:
    index = dynamodb.index("by-g", "g")
    table = dynamodb.create("pk:S", attributes=["g:S"], GlobalSecondaryIndexes=[index])
    actions = [put(table, "good"), make(table)]
    assert dynamodb.invalid("TransactWriteItems", TransactItems=actions) == message
    assert dynamodb("Scan", TableName=table)["Count"] == 0


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ({"Put": {"Item": {"pk": {"N": "1"}}}}, f"{INVALID}Type mismatch for key pk expected: S actual: N"),
        (
            {"Put": {"Item": {"pk": {"L": [{"S": "a"}]}}}},
            f"{INVALID}Type mismatch for key pk expected: S actual: L",
        ),
        ({"Put": {"Item": {"x": {"S": "a"}}}}, f"{INVALID}Missing the key pk in the item"),
        (
            {"Put": {"Item": {**key("a"), "g": {"N": "1"}}}},
            f"{INVALID}Type mismatch for Index Key g Expected: S Actual: N IndexName: by-g",
        ),
        ({"Delete": {"Key": {"pk": {"N": "1"}}}}, MISMATCH),
        ({"Delete": {"Key": {}}}, MISMATCH),
        ({"ConditionCheck": {"Key": {"pk": {"BOOL": True}}, "ConditionExpression": OLD}}, MISMATCH),
        ({"Update": {"Key": {"x": {"S": "a"}}, "UpdateExpression": "REMOVE v"}}, MISMATCH),
        (
            {"Update": {"Key": key("a"), "UpdateExpression": "REMOVE pk"}},
            f"{INVALID}Cannot update attribute pk. This attribute is part of the key",
        ),
        (
            {"Update": {"Key": key("a"), "UpdateExpression": "SET v = w"}},
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            {
                "Update": {
                    "Key": key("a"),
                    "UpdateExpression": "SET v = :v",
                    "ExpressionAttributeValues": {":v": {"S": "x" * 409_600}},
                }
            },
            "Item size to update has exceeded the maximum allowed size",
        ),
    ],
)
def test_what_is_a_reason_of_its_action(dynamodb: Any, action: Any, message: str) -> None:
    index = dynamodb.index("by-g", "g")
    table = dynamodb.create("pk:S", attributes=["g:S"], GlobalSecondaryIndexes=[index])
    ((kind, parameters),) = action.items()
    wrong = {kind: {"TableName": table, **parameters}}
    reasons = cancelled(dynamodb, "TransactWriteItems", put(table, "good"), wrong)
    assert reasons == [INNOCENT, {"Code": "ValidationError", "Message": message}]
    assert dynamodb("Scan", TableName=table)["Count"] == 0


def test_a_missing_table_refuses_all_but_wrong_expressions_come_first(dynamodb: Any, table: str) -> None:
    lost = put("missing", "a")
    for actions in ([put(table, "a"), lost], [lost, check(table, "nobody")]):
        assert dynamodb.refusal("TransactWriteItems", TransactItems=actions) == NOT_FOUND
    for wrong, message in [
        (check(table, "a", "attribute_exists("), SYNTAX),
        (check(table, "a", ExpressionAttributeValues={":v": {"S": "a"}}), UNUSED),
        (put(table, "a", v={"S": "x" * 409_600}), "Item size has exceeded the maximum allowed size"),
    ]:
        for actions in ([lost, wrong], [wrong, lost]):
            assert dynamodb.invalid("TransactWriteItems", TransactItems=actions) == message
    assert dynamodb("Scan", TableName=table)["Count"] == 0


def test_the_first_wrong_action_is_told(dynamodb: Any, table: str) -> None:
    wrong = check(table, "a", "attribute_exists("), check(table, "a", ExpressionAttributeNames={})
    assert dynamodb.invalid("TransactWriteItems", TransactItems=list(wrong)) == SYNTAX
    assert dynamodb.invalid("TransactWriteItems", TransactItems=list(wrong[::-1])) == (
        "ExpressionAttributeNames must not be empty"
    )


def test_a_transaction_has_4_megabytes(dynamodb: Any, table: str) -> None:
    big = {"S": "x" * 400_000}
    actions = [put(table, str(number), v=big) for number in range(11)]
    assert dynamodb.invalid("TransactWriteItems", TransactItems=actions) == (
        "Collection size of all items in a transaction exceeded the limit of 4194304 bytes"
    )
    dynamodb("TransactWriteItems", TransactItems=actions[1:])
    dynamodb.put(table, {**key("0"), "v": big})
    reads = [get(table, str(number)) for number in range(11)]
    assert dynamodb.invalid("TransactGetItems", TransactItems=reads) == (
        "Collection size of all items in a transaction exceeded the limit of 4194304 bytes"
    )


def test_unknown_words_are_refused_together_and_before_all_else(dynamodb: Any) -> None:
    lost = [put("missing", "a"), put("missing", "a")]
    request = {"ReturnConsumedCapacity": "ALL", "ReturnItemCollectionMetrics": "ALL"}
    assert dynamodb.invalid("TransactWriteItems", TransactItems=lost, **request) == (
        "2 validation errors detected: Value 'ALL' at 'returnConsumedCapacity' "
        "failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; "
        "Value 'ALL' at 'returnItemCollectionMetrics' failed to satisfy constraint: "
        "Member must satisfy enum value set: [SIZE, NONE]"
    )


# Tokens


def test_a_token_makes_a_repeat_harmless(dynamodb: Any, table: str) -> None:
    request = {"TransactItems": [update(table, "a")], "ClientRequestToken": f"{table}-1"}
    assert dynamodb("TransactWriteItems", **request) == {}
    dynamodb.put(table, {**key("a"), "v": {"N": "2"}})
    assert dynamodb("TransactWriteItems", **request) == {}
    assert dynamodb.get(table, pk={"S": "a"}) == {**key("a"), "v": {"N": "2"}}


def test_a_token_stands_for_one_request_for_ten_minutes(dynamodb: Any, table: str) -> None:
    token = {"ClientRequestToken": f"{table}-2"}
    dynamodb("TransactWriteItems", TransactItems=[put(table, "a")], **token)
    other = {"TransactItems": [put(table, "b")], **token}
    code, message = dynamodb.refusal("TransactWriteItems", **other)
    assert code == "IdempotentParameterMismatchException"
    assert "same client token" in message
    dynamodb.advance(599)
    assert dynamodb.refusal("TransactWriteItems", **other)[0] == "IdempotentParameterMismatchException"
    assert dynamodb.get(table, pk={"S": "b"}) is None
    dynamodb.advance(2)
    assert dynamodb("TransactWriteItems", **other) == {}
    assert dynamodb.get(table, pk={"S": "b"}) == key("b")


def test_a_cancelled_transaction_leaves_its_token_free(dynamodb: Any, table: str) -> None:
    token = {"ClientRequestToken": f"{table}-3"}
    assert cancelled(dynamodb, "TransactWriteItems", check(table, "a"), **token) == [FAILED]
    dynamodb.put(table, key("a"))
    assert dynamodb("TransactWriteItems", TransactItems=[check(table, "a")], **token) == {}


def test_a_token_has_1_to_36_characters(dynamodb: Any, table: str) -> None:
    actions = [put(table, "a")]
    too_long = "x" * 37
    assert dynamodb.invalid("TransactWriteItems", TransactItems=actions, ClientRequestToken=too_long) == (
        f"1 validation error detected: Value '{too_long}' at 'clientRequestToken' "
        "failed to satisfy constraint: Member must have length less than or equal to 36"
    )
    assert dynamodb.invalid("TransactWriteItems", TransactItems=actions, ClientRequestToken="") == (
        "1 validation error detected: Value '' at 'clientRequestToken' "
        "failed to satisfy constraint: Member must have length greater than or equal to 1"
    )
    assert dynamodb.get(table, pk={"S": "a"}) is None


# ARNs


def test_a_table_may_be_named_by_its_arn(dynamodb: Any, table: str) -> None:
    arn = dynamodb("DescribeTable", TableName=table)["Table"]["TableArn"]
    dynamodb("TransactWriteItems", TransactItems=[put(arn, "a"), put(table, "b")])
    twice = [put(arn, "c"), delete(table, "c")]
    assert dynamodb.invalid("TransactWriteItems", TransactItems=twice) == TWICE
    read = dynamodb("TransactGetItems", TransactItems=[get(table, "a"), get(arn, "b")])
    assert read["Responses"] == [{"Item": key("a")}, {"Item": key("b")}]

    dynamodb("PutItem", TableName=arn, Item=key("d"))
    change = {"UpdateExpression": "SET v = :v", "ExpressionAttributeValues": {":v": {"N": "1"}}}
    dynamodb("UpdateItem", TableName=arn, Key=key("d"), **change)
    assert dynamodb("GetItem", TableName=arn, Key=key("d"))["Item"] == {**key("d"), "v": {"N": "1"}}
    assert dynamodb.get(table, pk={"S": "d"}) == {**key("d"), "v": {"N": "1"}}
    dynamodb("DeleteItem", TableName=arn, Key=key("d"))
    dynamodb("BatchWriteItem", RequestItems={arn: [{"PutRequest": {"Item": key("e")}}]})
    batch = dynamodb("BatchGetItem", RequestItems={arn: {"Keys": [key("d"), key("e")]}})
    assert batch == {"Responses": {arn: [key("e")]}, "UnprocessedKeys": {}}
    asked = {"KeyConditionExpression": "pk = :a", "ExpressionAttributeValues": {":a": {"S": "a"}}}
    assert dynamodb("Query", TableName=arn, **asked)["Items"] == [key("a")]
    assert dynamodb("Scan", TableName=arn)["Count"] == 3


@pytest.mark.parametrize(
    ("place", "other", "refusal"),
    [
        (
            3,
            "mars-north-1",
            ("ValidationException", "1 validation error detected: Invalid AWS region in '{}'"),
        ),
        (4, "000000000000", ("AccessDeniedException", "Access is denied")),
    ],
)
def test_an_arn_of_elsewhere_names_no_table_here(
    dynamodb: Any, table: str, place: int, other: str, refusal: tuple[str, str]
) -> None:
    dynamodb.put(table, key("a"))
    parts = dynamodb("DescribeTable", TableName=table)["Table"]["TableArn"].split(":")
    here, elsewhere = ":".join(parts), ":".join([*parts[:place], other, *parts[place + 1 :]])
    by_key = {"KeyConditionExpression": "pk = :a", "ExpressionAttributeValues": {":a": {"S": "a"}}}
    reads = [("GetItem", {"Key": key("a")}), ("Query", by_key), ("Scan", {})]
    for name in (here, table):
        # A node has now cached it all.
        for operation, request in reads:
            dynamodb(operation, TableName=name, **request)
    told = (refusal[0], refusal[1].format(elsewhere))
    for operation, request in [*reads, ("PutItem", {"Item": key("a")}), ("DeleteItem", {"Key": key("a")})]:
        assert dynamodb.refusal(operation, TableName=elsewhere, **request) == told
    batch = {"RequestItems": {elsewhere: {"Keys": [key("a")]}}}
    assert dynamodb.refusal("BatchGetItem", **batch) == told
    assert dynamodb.refusal("TransactGetItems", TransactItems=[get(elsewhere, "a")]) == told
    assert dynamodb.get(table, pk={"S": "a"}) == key("a")


# Reads


def test_reads_are_answered_in_order_and_each_with_its_projection(dynamodb: Any, table: str) -> None:
    dynamodb.put(table, *({**key(name), "v": {"S": name}, "w": {"N": "1"}} for name in "abc"))
    reads = [
        get(table, "c", ProjectionExpression="v"),
        get(table, "nobody"),
        get(table, "a", ProjectionExpression="#n", ExpressionAttributeNames={"#n": "w"}),
        get(table, "b", ProjectionExpression="absent"),
    ]
    assert dynamodb("TransactGetItems", TransactItems=reads) == {
        "Responses": [{"Item": {"v": {"S": "c"}}}, {}, {"Item": {"w": {"N": "1"}}}, {"Item": {}}]
    }


def test_reads_that_are_refused(dynamodb: Any, table: str) -> None:
    wrong = {"Get": {"TableName": table, "Key": {"pk": {"N": "1"}}}}
    reasons = cancelled(dynamodb, "TransactGetItems", get(table, "a"), wrong)
    assert reasons == [INNOCENT, {"Code": "ValidationError", "Message": MISMATCH}]
    nothing = {"Get": {"TableName": table, "Key": {}}}
    assert cancelled(dynamodb, "TransactGetItems", nothing)[0]["Code"] == "ValidationError"
    for read, message in [
        (get(table, ""), EMPTY_KEY),
        (
            get(table, "a", ProjectionExpression="!!!"),
            'Invalid ProjectionExpression: Syntax error; token: "!", near: "!!"',
        ),
        (
            get(table, "a", ProjectionExpression=""),
            "Invalid ProjectionExpression: The expression can not be empty;",
        ),
        (
            get(table, "a", ExpressionAttributeNames={"#a": "a"}),
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
    ]:
        assert dynamodb.invalid("TransactGetItems", TransactItems=[read]) == message
    lost = [get(table, "a"), get("missing", "a")]
    assert dynamodb.refusal("TransactGetItems", TransactItems=lost) == NOT_FOUND
