"""Requests that are almost right: each ends in an answer or in a ServiceError, and a refusal changes nothing.

Valid requests of every data operation are mutated at random places: members dropped, duplicated, replaced by
values of other types and by values that are legal elsewhere. They enter as JSON does, through `decode`.
"""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

import pytest

from backend.errors import ServiceError
from backend.validation.shapes import decode

KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}
ITEM = {
    **KEY,
    "genre": {"S": "rock"},
    "n": {"N": "1"},
    "m": {"M": {"l": {"L": [{"S": "x"}, {"BOOL": True}]}}},
}
NAMES = {"#n": "n"}
VALUES = {":v": {"N": "1"}}

REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("GetItem", {"Key": KEY, "ProjectionExpression": "#n, m.l[0]", "ExpressionAttributeNames": NAMES}),
    ("GetItem", {"Key": KEY, "AttributesToGet": ["n"], "ReturnConsumedCapacity": "TOTAL"}),
    (
        "PutItem",
        {
            "Item": ITEM,
            "ConditionExpression": "#n = :v OR attribute_not_exists(pk)",
            "ExpressionAttributeNames": NAMES,
            "ExpressionAttributeValues": VALUES,
            "ReturnValues": "ALL_OLD",
            "ReturnItemCollectionMetrics": "SIZE",
        },
    ),
    ("PutItem", {"Item": ITEM, "Expected": {"n": {"ComparisonOperator": "NOT_NULL"}}}),
    (
        "UpdateItem",
        {
            "Key": KEY,
            "UpdateExpression": "SET #n = if_not_exists(n, :v) + :v, m.l[1] = :v REMOVE q ADD z :v",
            "ConditionExpression": "size(genre) > :v",
            "ExpressionAttributeNames": NAMES,
            "ExpressionAttributeValues": VALUES,
            "ReturnValues": "UPDATED_NEW",
        },
    ),
    ("UpdateItem", {"Key": KEY, "AttributeUpdates": {"n": {"Action": "ADD", "Value": {"N": "1"}}}}),
    ("DeleteItem", {"Key": KEY, "ConditionExpression": "n = :v", "ExpressionAttributeValues": VALUES}),
    (
        "Query",
        {
            "KeyConditionExpression": "pk = :p AND sk BETWEEN :v AND :v",
            "FilterExpression": "contains(genre, :p)",
            "ExpressionAttributeValues": {**VALUES, ":p": {"S": "a"}},
            "ExclusiveStartKey": KEY,
            "Limit": 2,
            "ScanIndexForward": False,
        },
    ),
    (
        "Query",
        {
            "IndexName": "by-genre",
            "KeyConditionExpression": "genre = :g",
            "ExpressionAttributeValues": {":g": {"S": "rock"}},
            "ExclusiveStartKey": {**KEY, "genre": {"S": "rock"}},
            "Select": "ALL_PROJECTED_ATTRIBUTES",
        },
    ),
    (
        "Query",
        {
            "KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}},
            "QueryFilter": {"n": {"ComparisonOperator": "IN", "AttributeValueList": [{"N": "1"}]}},
        },
    ),
    ("Scan", {"Segment": 0, "TotalSegments": 2, "ExclusiveStartKey": KEY, "IndexName": "by-n"}),
    (
        "Scan",
        {"ScanFilter": {"n": {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"N": "1"}] * 2}}},
    ),
    ("BatchGetItem", {"RequestItems": {"music": {"Keys": [KEY], "ProjectionExpression": "n"}}}),
    (
        "BatchWriteItem",
        {
            "RequestItems": {
                "music": [
                    {"PutRequest": {"Item": ITEM}},
                    {"DeleteRequest": {"Key": {**KEY, "sk": {"N": "2"}}}},
                ]
            }
        },
    ),
    (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": "music", "Item": ITEM}},
                {
                    "Update": {
                        "TableName": "music",
                        "Key": {**KEY, "sk": {"N": "2"}},
                        "UpdateExpression": "SET n = :v",
                        "ExpressionAttributeValues": VALUES,
                    }
                },
                {
                    "ConditionCheck": {
                        "TableName": "music",
                        "Key": {**KEY, "sk": {"N": "3"}},
                        "ConditionExpression": "attribute_not_exists(pk)",
                    }
                },
            ],
            "ClientRequestToken": "token",
        },
    ),
    ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "music", "Key": KEY}}]}),
]
WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}

STRANGE: list[Any] = [
    *(None, "", "x", "music", "nothing", 0, 1, -1, 1e300, True, [], {}, [None], ["pk", "pk"]),
    *({"S": ""}, {"N": "x"}, {"N": "1e200"}, {"S": "a", "N": "1"}, {"NULL": False}, {"BOOL": "true"}),
    *({"SS": []}, {"SS": ["a", "a"]}, {"NS": ["1", "1.0"]}, {"B": "!"}, {"B": ""}, {"L": [{}]}),
    *({"M": {"": {"S": "x"}}}, {"a": {"S": "x"}}, "a = :v", "SET a = :v", "#n", ":v", "(((", "by-n"),
    *("\x00", "ü" * 300, "NONE", "ALL_NEW", "EQ"),
]


@pytest.fixture
def music(store, index_of):
    store.create(
        "music",
        "pk:S",
        "sk:N",
        attributes=["genre:S", "n:N"],
        LocalSecondaryIndexes=[index_of("by-n", "pk", "n", "KEYS_ONLY")],
        GlobalSecondaryIndexes=[index_of("by-genre", "genre")],
    )
    for number in range(3):
        store("PutItem", TableName="music", Item={**ITEM, "sk": {"N": str(number)}})
    return store


def mutated(request: Any, chance: random.Random) -> Any:
    """The request with one thing wrong somewhere."""
    copy = deepcopy(request)
    place = copy
    while True:
        members = list(place) if isinstance(place, dict) else range(len(place))
        if not members:
            return copy
        member = chance.choice(members)
        below = place[member]
        if isinstance(below, dict | list) and chance.random() < 0.75:
            place = below
            continue
        _spoil(place, member, chance)
        return copy


def _spoil(place: Any, member: Any, chance: random.Random) -> None:
    what = chance.random()
    if what < 0.2:
        del place[member]
    elif what < 0.3 and isinstance(place, list):
        place.append(deepcopy(place[member]))
    elif what < 0.4 and isinstance(place[member], str) and place[member]:
        text = place[member]
        at = chance.randrange(len(text))
        place[member] = (
            text[:at] + chance.choice(["", " ", "(", "#", ":", ".", "[9]", "AND ", "é"]) + text[at + 1 :]
        )
    elif what < 0.5 and isinstance(place, dict):
        place[chance.choice(["x", "pk", "S", "#x", ":x"])] = place.pop(member)
    else:
        place[member] = deepcopy(chance.choice(STRANGE))


def contents(store) -> list[list[tuple[bytes, Any]]]:
    table = store.engine.catalog.get("music")
    return [list(rows.range()) for rows in (table.items, *(index.rows for index in table.indexes.values()))]


@pytest.mark.parametrize("seed", range(len(REQUESTS)))
def test_an_almost_right_request_is_answered_or_refused(music, seed):
    chance = random.Random(seed)
    operation, valid = REQUESTS[seed]
    if "RequestItems" not in valid and "TransactItems" not in valid:
        valid = {"TableName": "music", **valid}
    refused = 0
    for _ in range(150):
        request = mutated(valid, chance)
        if chance.random() < 0.3:
            request = mutated(request, chance)
        before = contents(music)
        refusal = refusal_of(music, operation, request)
        refused += refusal is not None
        assert refusal is None or refusal.status == 400
        if refusal is not None or operation not in WRITES:
            assert contents(music) == before
    assert refused > 30


def refusal_of(store, operation: str, request: Any) -> ServiceError | None:
    try:
        store.engine.execute(operation, decode(operation, request))
    except ServiceError as error:
        return error
    return None
