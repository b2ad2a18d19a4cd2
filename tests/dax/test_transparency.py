"""A cluster that nobody writes around answers item requests as its store would: responses, errors and state.

Random requests, valid and not, go to a random node of a cluster whose replication is immediate, and to a
twin of the store. Whatever came from a cache must be what the store would have said.
"""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from backend.errors import ServiceError

PKS = st.sampled_from(["a", "b", "c"])
NUMBERS = st.sampled_from(["0", "1", "1.50", "-2e2"])
KEYS = st.builds(lambda pk: {"pk": {"S": pk}}, PKS)
VALUES = st.one_of(
    st.builds(lambda n: {"N": n}, NUMBERS),
    st.sampled_from(
        [{"S": ""}, {"S": "x"}, {"SS": ["a", "b"]}, {"L": [{"N": "1.0"}]}, {"M": {}}, {"NULL": True}]
    ),
    st.sampled_from([{"SS": []}, {"N": "x"}, {}]),  # invalid ones
)
ITEMS = st.builds(
    lambda key, attributes: {**attributes, **key}, KEYS, st.dictionaries(st.sampled_from("vw"), VALUES)
)
CONDITIONS = st.sampled_from(
    [{}, {}, {"ConditionExpression": "attribute_exists(v)"}, {"ConditionExpression": "v"}]
)
UPDATES = st.sampled_from(
    [
        {},
        {"UpdateExpression": "REMOVE v"},
        {"UpdateExpression": "SET v = :n REMOVE w", "ExpressionAttributeValues": {":n": {"N": "7.0"}}},
        {"UpdateExpression": "ADD v :n", "ExpressionAttributeValues": {":n": {"N": "7.0"}}},
        {"UpdateExpression": "SET w = v"},
        {"UpdateExpression": "SET pk = v"},
        {"AttributeUpdates": {"v": {"Action": "ADD", "Value": {"N": "2"}}}},
        {"AttributeUpdates": {"w": {"Action": "DELETE"}}},
    ]
)
RETURNS = st.sampled_from(
    [{}] + [{"ReturnValues": r} for r in ("ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW", "X")]
)
PROJECTIONS = st.sampled_from(
    [{}, {}, {"ProjectionExpression": "v, w"}, {"ProjectionExpression": "v["}, {"AttributesToGet": ["v"]}]
)


def merged(*parts: Any) -> Any:
    return st.builds(lambda *found: {name: value for part in found for name, value in part.items()}, *parts)


def named(name: str, values: Any) -> Any:
    return st.builds(lambda value: {name: value}, values)


TABLE = st.just({"TableName": "Table"})
PUTS, DELETES = named("PutRequest", named("Item", ITEMS)), named("DeleteRequest", named("Key", KEYS))
ACTIONS = st.one_of(
    named("Put", merged(TABLE, named("Item", ITEMS), CONDITIONS)),
    named("Delete", merged(TABLE, named("Key", KEYS), CONDITIONS)),
    named("Update", merged(TABLE, named("Key", KEYS), UPDATES)),
)
REQUESTS = st.one_of(
    st.tuples(st.just("GetItem"), merged(TABLE, named("Key", KEYS), PROJECTIONS)),
    st.tuples(st.just("GetItem"), merged(TABLE, named("Key", KEYS), PROJECTIONS)),
    st.tuples(st.just("PutItem"), merged(TABLE, named("Item", ITEMS), CONDITIONS, RETURNS)),
    st.tuples(st.just("UpdateItem"), merged(TABLE, named("Key", KEYS), UPDATES, CONDITIONS, RETURNS)),
    st.tuples(st.just("DeleteItem"), merged(TABLE, named("Key", KEYS), CONDITIONS, RETURNS)),
    st.tuples(
        st.just("BatchGetItem"),
        named("RequestItems", named("Table", merged(named("Keys", st.lists(KEYS, max_size=3)), PROJECTIONS))),
    ),
    st.tuples(
        st.just("BatchWriteItem"),
        named("RequestItems", named("Table", st.lists(st.one_of(PUTS, DELETES), max_size=3))),
    ),
    st.tuples(st.just("TransactWriteItems"), named("TransactItems", st.lists(ACTIONS, max_size=3))),
)


def twin_answer(world: Any, operation: str, request: Any) -> Any:
    try:
        return comparable(world.around(operation, **request))
    except ServiceError as error:
        return error.code, error.message


def comparable(response: Any) -> Any:
    """A response, a batch's items in an order of their own."""
    if "Responses" in response:
        responses = {table: sorted(items, key=repr) for table, items in response["Responses"].items()}
        return {**response, "Responses": responses}
    return response


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(REQUESTS, st.sampled_from(["node-1", "node-2"])), max_size=25))
def test_a_cluster_answers_as_its_store_would(make_world, steps):
    async def play() -> None:
        world, twin = make_world(), make_world()
        world.start(2)
        twin.table("Table")
        for (operation, request), node in steps:
            expected = twin_answer(twin, operation, request)
            try:
                answered = comparable((await world.run(operation, node, **request)).response)
            except ServiceError as error:
                answered = error.code, error.message
            assert answered == expected, (operation, request)
            await world.settle()  # the reads that follow transactions
            world.deliver()
        for pk in ("a", "b", "c"):
            stored = world.around("GetItem", TableName="Table", Key={"pk": {"S": pk}}).get("Item", "nothing")
            for node in world.nodes:
                assert world.held(pk, node) in (None, stored)
        await world.close()

    asyncio.run(play())
