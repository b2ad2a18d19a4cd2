"""Mutated requests at a node get what the store says to them: never a defect, never another error."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from backend.errors import ServiceError
from backend.wire import decode_request

KEY = {"pk": {"S": "a"}}
ONE = {":v": {"N": "1"}}
VALID: list[tuple[str, dict[str, Any]]] = [
    (
        "GetItem",
        {
            "TableName": "Table",
            "Key": KEY,
            "ProjectionExpression": "#v",
            "ExpressionAttributeNames": {"#v": "v"},
        },
    ),
    (
        "PutItem",
        {
            "TableName": "Table",
            "Item": {**KEY, "v": {"N": "1"}},
            "ConditionExpression": "attribute_not_exists(q)",
            "ReturnValues": "ALL_OLD",
        },
    ),
    (
        "UpdateItem",
        {
            "TableName": "Table",
            "Key": KEY,
            "UpdateExpression": "SET v = :v",
            "ExpressionAttributeValues": ONE,
            "ReturnValues": "UPDATED_NEW",
        },
    ),
    (
        "UpdateItem",
        {
            "TableName": "Table",
            "Key": KEY,
            "AttributeUpdates": {"v": {"Action": "ADD", "Value": {"N": "2"}}},
            "ReturnValues": "UPDATED_OLD",
        },
    ),
    ("DeleteItem", {"TableName": "Table", "Key": KEY, "Expected": {"v": {"Exists": False}}}),
    ("BatchGetItem", {"RequestItems": {"Table": {"Keys": [KEY], "AttributesToGet": ["v"]}}}),
    (
        "BatchWriteItem",
        {
            "RequestItems": {
                "Table": [{"PutRequest": {"Item": KEY}}, {"DeleteRequest": {"Key": {"pk": {"S": "b"}}}}]
            }
        },
    ),
    ("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "Table", "Item": KEY}}]}),
    ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "Table", "Key": KEY}}]}),
    (
        "Query",
        {
            "TableName": "Table",
            "KeyConditionExpression": "pk = :v",
            "ExpressionAttributeValues": {":v": {"S": "a"}},
            "Limit": 3,
        },
    ),
    (
        "Scan",
        {
            "TableName": "Table",
            "ScanFilter": {"v": {"ComparisonOperator": "EQ", "AttributeValueList": [{"N": "1"}]}},
            "Segment": 0,
            "TotalSegments": 2,
        },
    ),
]
JUNK: list[Any] = [None, 0, -1, 1.5, True, "", [], {}, "x", "Table", "NONE", "#a", ":v", "v["]
JUNK += [{"S": "x"}, {"N": "x"}, {"N": "1"}, {"B": "AA=="}, {"SS": []}, {"L": [{}]}, KEY, [{"S": "a"}]]
NAMES = ["S", "N", "x", "pk", "TableName", "Key", "ConsistentRead"]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each container and key, or index, under which something stands."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def mutate(request: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    mutant = copy.deepcopy(request)
    for _ in range(draw.choice((1, 1, 2))):
        container, key = draw.choice(list(places(mutant)) or [(mutant, "TableName")])
        match draw.randrange(4):
            case 0 | 1:
                container[key] = copy.deepcopy(draw.choice(JUNK))
            case 2:
                container.pop(key, None) if isinstance(container, dict) else container.pop(key)
            case _ if isinstance(container, dict):
                container[draw.choice(NAMES)] = copy.deepcopy(draw.choice(JUNK))
            case _:
                container.append(copy.deepcopy(container[key]))
    return mutant


@pytest.mark.parametrize("seed", range(4))
async def test_a_mutated_request_is_answered_as_by_the_store(world, make_world, seed):
    world.start(2)
    twin = make_world()
    twin.table("Table")
    draw = random.Random(seed)
    tried = 0
    while tried < 250:
        operation, valid = draw.choice(VALID)
        try:
            request = decode_request(operation, orjson.dumps(mutate(valid, draw)))
        except ServiceError:
            continue  # the wire refuses it before a node sees it
        tried += 1
        try:
            expected = twin.around(operation, **request)
        except ServiceError as error:
            expected = error.code, error.message
        try:
            answered = (await world.run(operation, draw.choice(["node-1", "node-2"]), **request)).response
        except ServiceError as error:
            answered = error.code, error.message
        await world.settle()
        world.deliver()
        if isinstance(answered, tuple) or operation not in ("Query", "Scan"):
            assert answered == expected, (operation, request)
        else:
            assert isinstance(expected, dict)  # a cached result set may be older than the writes
