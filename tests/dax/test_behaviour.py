"""One playbook a row of the table of DAX's behaviour: what a client sees, what the store was asked for it."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import Any

import pytest

from backend.errors import ServiceError
from dax.answer import MissReason, ServedFrom

STORE, ITEM, NEGATIVE = ServedFrom.STORE, ServedFrom.ITEM_CACHE, ServedFrom.NEGATIVE_ENTRY
QUERY, PASSED = ServedFrom.QUERY_CACHE, ServedFrom.PASS_THROUGH
GIVEN = {":v": {"N": "1"}}


def query(pk: str = "a", **more: Any) -> dict[str, Any]:
    return {
        "TableName": "Table",
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": pk}},
        **more,
    }


# Reads of items


async def test_a_get_hits_after_it_missed(world, make_item):
    world.start()
    world.around_put("a", v=1)
    miss = await world.get("a")
    assert (miss.served_from, miss.miss) == (STORE, MissReason.NEVER_SEEN)
    world.clock.advance(2.5)
    hit = await world.get("a")
    assert (hit.served_from, hit.age, hit.node) == (ITEM, 2.5, "node-1")
    assert hit.response == miss.response == {"Item": make_item("a", v=1)}
    assert world.store.asked() == ["GetItem"]


async def test_a_number_key_is_one_key_in_all_its_spellings(world):
    world.start()
    world.table("Numbers", "n:N")
    for text in ("1", "1.0", "1e0"):
        answer = await world.run("GetItem", TableName="Numbers", Key={"n": {"N": text}})
    assert answer.served_from is NEGATIVE
    assert world.store.asked() == ["GetItem"]


async def test_a_table_named_by_arn_has_the_same_entries(world):
    world.start()
    await world.put("a", v=1)
    arn = "arn:aws:dynamodb:us-east-1:123456789012:table/Table"
    assert (await world.get("a", table=arn)).served_from is ITEM


async def test_a_projected_get_caches_the_whole_item(world, make_item):
    world.start()
    world.around_put("a", v=1, w=2)
    first = await world.get("a", ProjectionExpression="#v", ExpressionAttributeNames={"#v": "v"})
    assert first.response == {"Item": {"v": {"N": "1"}}}
    second = await world.get("a", AttributesToGet=["w"])
    assert (second.served_from, second.response) == (ITEM, {"Item": {"w": {"N": "2"}}})
    assert (await world.get("a")).response == {"Item": make_item("a", v=1, w=2)}
    assert world.store.asked() == ["GetItem"]


@pytest.mark.parametrize("path", ["pk[0]", "v.x"])
async def test_a_projection_below_a_key_of_table_or_index_is_refused_also_of_a_cached_item(world, path):
    world.start()
    world.around(
        "UpdateTable",
        TableName="Table",
        AttributeDefinitions=[{"AttributeName": "v", "AttributeType": "N"}],
        GlobalSecondaryIndexUpdates=[
            {
                "Create": {
                    "IndexName": "by-v",
                    "KeySchema": [{"AttributeName": "v", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            }
        ],
    )
    world.around_put("a", v=1)
    await world.get("a")
    with pytest.raises(ServiceError, match="Key attributes must be scalars"):
        await world.get("a", ProjectionExpression=path)


async def test_a_batch_fetches_only_the_keys_that_miss(world, make_item):
    world.start()
    for pk in ("a", "b"):
        world.around_put(pk, v=1)
    await world.get("a")
    await world.get("none")
    world.store.asked()
    keys = [make_item(pk) for pk in ("a", "b", "none", "other")]
    answer = await world.run("BatchGetItem", RequestItems={"Table": {"Keys": keys}})
    assert answer.response["Responses"]["Table"] == [make_item("a", v=1), make_item("b", v=1)]
    assert answer.response["UnprocessedKeys"] == {}
    assert answer.keys_served == {ITEM: 1, NEGATIVE: 1, STORE: 2}
    assert world.store.requests[-1][1]["RequestItems"] == {"Table": {"Keys": keys[1:2] + keys[3:]}}
    again = await world.run("BatchGetItem", RequestItems={"Table": {"Keys": keys}})
    assert (again.served_from, again.keys_served) == (ITEM, {ITEM: 2, NEGATIVE: 2})
    assert world.store.asked() == ["BatchGetItem"]


async def test_unprocessed_keys_are_passed_on_and_are_not_negative_entries(world, make_item):
    world.start()
    world.around_put("a", v=1)
    wanted = {
        "Keys": [make_item("a"), make_item("b")],
        "ProjectionExpression": "#v",
        "ExpressionAttributeNames": {"#v": "v"},
    }

    def leave_a(response: Any) -> Any:
        return {"Responses": {"Table": []}, "UnprocessedKeys": {"Table": {"Keys": [make_item("a")]}}}

    world.store.edit("BatchGetItem", leave_a)
    answer = await world.run("BatchGetItem", RequestItems={"Table": wanted})
    assert answer.response["UnprocessedKeys"] == {"Table": {**wanted, "Keys": [make_item("a")]}}
    assert (world.held("a"), world.held("b")) == (None, "nothing")


async def test_a_consistent_table_of_a_batch_passes_through(world, make_item):
    world.start()
    world.table("Other")
    await world.put("a", v=1)
    world.around_put("a", v=2)
    world.around_put("a", table="Other", v=3)
    answer = await world.run(
        "BatchGetItem",
        RequestItems={
            "Table": {"Keys": [make_item("a")], "ConsistentRead": True},
            "Other": {"Keys": [make_item("a")]},
        },
    )
    assert answer.response["Responses"] == {
        "Table": [make_item("a", v=2)],
        "Other": [make_item("a", v=3)],
    }
    assert answer.keys_served == {STORE: 1, PASSED: 1}
    assert (world.held("a"), world.held("a", table="Other")) == (
        make_item("a", v=1),
        make_item("a", v=3),
    )


async def test_strong_reads_pass_through_and_refresh_nothing(world, make_item):
    world.start()
    await world.put("a", v=42)
    world.around_put("a", v=41)
    strong = await world.get("a", ConsistentRead=True)
    assert (strong.served_from, strong.miss) == (PASSED, MissReason.NOT_CACHEABLE)
    assert strong.response == {"Item": make_item("a", v=41)}
    read = {"Get": {"TableName": "Table", "Key": make_item("a")}}
    transacted = await world.run("TransactGetItems", TransactItems=[read])
    assert transacted.response["Responses"] == [{"Item": make_item("a", v=41)}]
    assert (await world.get("a")).response == {"Item": make_item("a", v=42)}
    strong_miss = await world.get("b", ConsistentRead=True)
    assert (strong_miss.response, world.held("b")) == ({}, None)


async def test_a_hit_reports_no_consumed_capacity(world):
    world.start()
    world.around_put("a", v=1)
    miss = await world.get("a", ReturnConsumedCapacity="TOTAL")
    assert miss.response["ConsumedCapacity"]["CapacityUnits"] == 0.5
    hit = await world.get("a", ReturnConsumedCapacity="TOTAL")
    assert (hit.served_from, "ConsumedCapacity" in hit.response) == (ITEM, False)
    for expected in (True, False):
        answer = await world.run("Query", **query(ReturnConsumedCapacity="TOTAL"))
        assert ("ConsumedCapacity" in answer.response) is expected


# Queries and scans


@pytest.mark.parametrize("operation", ["Query", "Scan"])
async def test_result_sets_are_cached_by_the_whole_request(world, operation):
    world.start()
    world.around_put("a", v=1)
    request = query() if operation == "Query" else {"TableName": "Table"}
    miss = await world.run(operation, **request)
    same = await world.run(operation, **request, ConsistentRead=False, ReturnConsumedCapacity="NONE")
    assert (miss.served_from, same.served_from) == (STORE, QUERY)
    assert same.response == miss.response
    other = await world.run(operation, **request, Limit=1)
    assert (other.served_from, other.miss) == (STORE, MissReason.NEVER_SEEN)
    metrics = world.nodes["node-1"].status()["metrics"]
    assert (metrics[f"{operation}CacheHits"], metrics[f"{operation}CacheMisses"]) == (1, 2)
    assert world.held("a") is None  # results do not fill the item cache


async def test_item_writes_do_not_change_cached_results(world):
    world.start()
    await world.put("a", v=1)
    before = await world.run("Query", **query())
    await world.put("a", v=2)
    after = await world.run("Query", **query())
    assert (after.served_from, after.response) == (QUERY, before.response)
    strong = await world.run("Query", **query(ConsistentRead=True))
    assert (strong.served_from, strong.response["Items"][0]["v"]) == (PASSED, {"N": "2"})
    assert (await world.run("Query", **query())).response == before.response


async def test_an_empty_result_is_a_negative_entry(world):
    world.start()
    await world.run("Query", **query())
    world.around_put("a", v=1)
    assert (await world.run("Query", **query())).served_from is NEGATIVE


async def test_a_bad_query_is_never_cached(world):
    world.start()
    for _ in range(2):
        with pytest.raises(ServiceError) as failure:
            await world.run("Query", **query(FilterExpression="pk = :pk"))
        assert failure.value.code == "ValidationException"
    assert world.store.asked() == ["Query", "Query"]


# Writes


async def test_a_put_reaches_the_store_then_the_cache(world, make_item):
    world.start()
    await world.put("a", v="42")
    assert (world.held("a"), world.store.asked()) == (make_item("a", v="42"), ["PutItem"])
    assert (await world.get("a")).served_from is ITEM


async def test_a_put_is_cached_as_the_store_keeps_it(world):
    world.start()
    raw = {"pk": {"S": "a"}, "n": {"N": "1.50"}, "s": {"NS": ["2.0", "1"]}}
    await world.run("PutItem", TableName="Table", Item=raw)
    stored = world.around("GetItem", TableName="Table", Key={"pk": {"S": "a"}})["Item"]
    assert world.held("a")["n"] == stored["n"] == {"N": "1.5"}
    assert sorted(world.held("a")["s"]["NS"]) == sorted(stored["s"]["NS"])


async def test_a_delete_leaves_a_negative_entry(world, make_item):
    world.start()
    await world.put("a", v=1)
    answer = await world.run("DeleteItem", TableName="Table", Key=make_item("a"), ReturnValues="ALL_OLD")
    assert answer.response == {"Attributes": make_item("a", v=1)}
    assert (await world.get("a")).served_from is NEGATIVE


@pytest.mark.parametrize("wanted", [None, "NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"])
@pytest.mark.parametrize("existing", [True, False])
async def test_an_update_caches_the_new_item_and_answers_as_the_store(world, make_item, wanted, existing):
    world.start()
    world.table("Twin")
    if existing:
        await world.put("a", v=1, w=2)
        world.around_put("a", table="Twin", v=1, w=2)
    request: dict[str, Any] = {
        "Key": make_item("a"),
        "UpdateExpression": "SET v = if_not_exists(v, :zero) + :one, x = :one REMOVE w",
        "ExpressionAttributeValues": {":zero": {"N": "0"}, ":one": {"N": "1.0"}},
    }
    if wanted is not None:
        request["ReturnValues"] = wanted
    answer = await world.run("UpdateItem", TableName="Table", **request)
    assert answer.response == world.around("UpdateItem", TableName="Twin", **request)
    assert world.held("a") == make_item("a", v=2 if existing else 1, x=1)
    assert world.held("a") == world.around("GetItem", TableName="Table", Key=make_item("a"))["Item"]


@pytest.mark.parametrize("wanted", ["NONE", "UPDATED_NEW"])
async def test_a_legacy_update_caches_the_new_item(world, make_item, wanted):
    world.start()
    await world.put("a", v=1)
    updates = {"v": {"Action": "ADD", "Value": {"N": "4"}}, "w": {"Value": {"S": "x"}}}
    await world.run(
        "UpdateItem", TableName="Table", Key=make_item("a"), AttributeUpdates=updates, ReturnValues=wanted
    )
    assert world.held("a") == make_item("a", v=5, w="x")


@pytest.mark.parametrize("wanted", ["ALL_NEW", "UPDATED_NEW"])
async def test_an_update_that_creates_nothing_leaves_a_negative_entry(world, wanted):
    world.start()
    await world.update("a", "REMOVE v", ReturnValues=wanted)
    assert world.held("a") == "nothing"


async def test_a_batch_write_caches_what_was_processed(world, make_item):
    world.start()
    await world.put("b", v=1)
    put = {"PutRequest": {"Item": make_item("a", v=1)}}
    delete = {"DeleteRequest": {"Key": make_item("b")}}
    left = {"PutRequest": {"Item": make_item("c", v=1)}}
    world.store.edit("BatchWriteItem", lambda response: {"UnprocessedItems": {"Table": [left]}})
    answer = await world.run("BatchWriteItem", RequestItems={"Table": [put, delete, left]})
    assert answer.response == {"UnprocessedItems": {"Table": [left]}}
    assert (world.held("a"), world.held("b"), world.held("c")) == (make_item("a", v=1), "nothing", None)


async def test_a_transaction_reaches_the_cache_in_the_background(world, make_item):
    world.start(transaction_refresh_delay=1.0)
    await world.put("a", v=1)
    await world.put("b", v=1)
    put = {"Put": {"TableName": "Table", "Item": make_item("a", v=2)}}
    delete = {"Delete": {"TableName": "Table", "Key": make_item("b")}}
    await world.run("TransactWriteItems", TransactItems=[put, delete])
    assert (world.held("a"), world.held("b")) == (make_item("a", v=1), make_item("b", v=1))
    await world.settle()
    world.clock.advance(1.0)
    await world.settle()
    assert (world.held("a"), world.held("b")) == (make_item("a", v=2), "nothing")
    assert world.store.asked()[2:] == ["TransactWriteItems", "TransactGetItems"]


async def test_a_failed_refresh_drops_the_old_states(world, make_item):
    world.start()
    await world.put("a", v=1)
    world.store.fail("TransactGetItems", ServiceError("ThrottlingException", "slow down"))
    put = {"Put": {"TableName": "Table", "Item": make_item("a", v=2)}}
    await world.run("TransactWriteItems", TransactItems=[put])
    await world.settle()
    answer = await world.get("a")
    assert (answer.miss, answer.response) == (MissReason.WRITTEN, {"Item": make_item("a", v=2)})


@pytest.mark.parametrize(
    "error",
    [
        ServiceError("ProvisionedThroughputExceededException", "too fast"),
        ServiceError("ThrottlingException", "too fast"),
    ],
    ids=lambda error: error.code,
)
async def test_a_throttled_write_leaves_the_cache_untouched(world, make_item, error):
    world.start()
    await world.put("a", v=1)
    before = world.nodes["node-1"].snapshot()
    world.store.fail("PutItem", error)
    world.store.fail("UpdateItem", error)
    world.store.fail("DeleteItem", error)
    for write in (
        world.put("a", v=2),
        world.update("a", "SET v = :v", ExpressionAttributeValues=GIVEN),
        world.run("DeleteItem", TableName="Table", Key=make_item("a")),
    ):
        with pytest.raises(ServiceError) as failure:
            await write
        assert failure.value is error
    assert world.nodes["node-1"].snapshot() == before


async def test_a_failed_condition_leaves_the_cache_untouched(world, make_item):
    world.start()
    await world.put("a", v=1)
    world.around_put("a", v=2)
    with pytest.raises(ServiceError) as failure:
        await world.run(
            "PutItem",
            TableName="Table",
            Item=make_item("a", v=3),
            ConditionExpression="v = :v",
            ExpressionAttributeValues=GIVEN,
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert failure.value.fields["Item"] == make_item("a", v=2)
    assert world.held("a") == make_item("a", v=1)


@pytest.mark.parametrize(
    "error",
    [ServiceError("InternalServerError", "broken", status=500), ConnectionError("gone")],
    ids=["5xx", "broken"],
)
async def test_a_write_of_unknown_outcome_drops_the_entry(world, make_item, error):
    world.start(2)
    await world.put("a", v=1)
    world.store.fail("PutItem", error, executed=True)
    with pytest.raises(type(error)):
        await world.put("a", v=2)
    world.deliver()
    assert world.held("a", node="node-2") is None
    answer = await world.get("a")
    assert (answer.miss, answer.response) == (MissReason.WRITTEN, {"Item": make_item("a", v=2)})


async def test_a_refusal_after_a_lost_attempt_drops_the_entry(world):
    world.start(2)
    await world.put("a", v=1)
    error = ServiceError("ConditionalCheckFailedException", "The conditional request failed")
    error.after_unknown_outcome = True  # the store made the first attempt, and refused the second
    world.store.fail("PutItem", error, executed=True)
    with pytest.raises(ServiceError):
        await world.put("a", v=2)
    world.deliver()
    assert (world.held("a"), world.held("a", node="node-2")) == (None, None)


@pytest.mark.parametrize("lost", [False, True], ids=["accepted", "not heard of"])
@pytest.mark.parametrize("operation", ["UpdateItem", "PutItem"])
async def test_a_write_that_only_the_store_understands_drops_entries_on_every_node(
    world, monkeypatch, operation, lost
):
    def not_understood(*_: object) -> None:
        raise ServiceError("ValidationException", "not of this kind")

    world.start(2)
    await world.put("a", v=1)
    world.deliver()
    monkeypatch.setattr("dax.updates.update", not_understood)
    monkeypatch.setattr("dax.writes.normalise_item", not_understood)
    if lost:
        error = ServiceError("InternalServerError", "lost", status=500)
        world.store.fail(operation, error, executed=True)
    with pytest.raises(ServiceError) if lost else nullcontext():
        if operation == "PutItem":
            await world.put("a", v=2)
        else:
            values = {":v": {"N": "2"}}
            await world.update(
                "a", "SET v = :v", ExpressionAttributeValues=values, ReturnValues="UPDATED_NEW"
            )
    world.deliver()
    assert (world.held("a"), world.held("a", node="node-2")) == (None, None)
    assert (await world.get("a")).response["Item"]["v"] == {"N": "2"}


async def test_a_cancelled_write_drops_the_entry(world):
    world.start()
    await world.put("a", v=1)
    held = world.store.hold("PutItem", executed=True)
    write = world.begin("PutItem", TableName="Table", Item={"pk": {"S": "a"}})
    await held.reached.wait()
    write.cancel()
    with pytest.raises(asyncio.CancelledError):
        await write
    assert world.held("a") is None


async def test_writes_of_one_key_reach_the_cache_in_the_order_of_the_store(world, make_item):
    world.start()
    held = world.store.hold("PutItem", executed=True)
    first = world.begin("PutItem", TableName="Table", Item=make_item("a", v=1))
    await held.reached.wait()
    batch = {"Table": [{"PutRequest": {"Item": make_item(pk, v=2)}} for pk in ("b", "a")]}
    second = world.begin("BatchWriteItem", RequestItems=batch)
    await world.settle()
    assert world.store.asked() == ["PutItem"]  # the second waits for its turn
    held.release()
    await asyncio.gather(first, second)
    assert world.held("a") == make_item("a", v=2)
    assert world.around("GetItem", TableName="Table", Key=make_item("a"))["Item"] == make_item("a", v=2)


# Misses that race with writes


async def race(world: Any, node: str, **settings: Any) -> None:
    """A read misses at `node`, and while its answer is under way the item is written through the cluster."""
    world.start(2, **settings)
    world.around_put("a", v=1)
    held = world.store.hold("GetItem", executed=True)
    read = world.begin("GetItem", node, TableName="Table", Key={"pk": {"S": "a"}})
    await held.reached.wait()
    await world.put("a", v=2)
    held.release()
    assert (await read).response["Item"]["v"] == {"N": "1"}  # the reader gets what it read
    world.deliver()


@pytest.mark.parametrize("node", ["node-1", "node-2"])
async def test_a_slow_fill_does_not_replace_a_newer_write(world, make_item, node):
    await race(world, node)
    assert world.held("a", "node-1") == world.held("a", "node-2") == make_item("a", v=2)


@pytest.mark.parametrize("node", ["node-1", "node-2"])
async def test_without_the_guard_it_does(world, make_item, node):
    await race(world, node, fill_guard=False)
    assert world.held("a", "node-1") == world.held("a", "node-2") == make_item("a", v=1)


async def test_a_slow_fill_does_not_replace_a_transaction(world, make_item):
    world.start()
    world.around_put("a", v=1)
    held = world.store.hold("GetItem", executed=True)
    read = world.begin("GetItem", TableName="Table", Key=make_item("a"))
    await held.reached.wait()
    put = {"Put": {"TableName": "Table", "Item": make_item("a", v=2)}}
    await world.run("TransactWriteItems", TransactItems=[put])
    await world.settle()
    held.release()
    await read
    assert world.held("a") == make_item("a", v=2)


async def test_concurrent_misses_each_ask_the_store(world, make_item):
    world.start()
    world.around_put("a", v=1)
    held = [world.store.hold("GetItem", executed=True) for _ in range(2)]
    reads = [world.begin("GetItem", TableName="Table", Key=make_item("a")) for _ in range(2)]
    for each in held:
        await each.reached.wait()
        each.release()
    assert [answer.served_from for answer in await asyncio.gather(*reads)] == [STORE, STORE]


# Time, room and names


async def test_item_entries_expire(world):
    world.start(item_ttl=300)
    await world.put("a", v=1)
    world.clock.advance(299.999)
    assert (await world.get("a")).served_from is ITEM  # reading does not prolong it
    world.clock.advance(0.001)
    answer = await world.get("a")
    assert (answer.served_from, answer.miss) == (STORE, MissReason.EXPIRED)


async def test_a_negative_entry_hides_an_item_until_it_expires(world):
    world.start()
    await world.get("a")
    world.around_put("a", v=1)
    assert (await world.get("a")).served_from is NEGATIVE
    world.clock.advance(300)
    assert "Item" in (await world.get("a")).response


async def test_item_ttl_zero_never_expires_and_query_ttl_zero_never_caches(world):
    world.start(item_ttl=0, query_ttl=0)
    await world.put("a", v=1)
    world.clock.advance(10 * 365 * 86400)
    assert (await world.get("a")).served_from is ITEM
    for _ in range(2):
        answer = await world.run("Query", **query())
        assert (answer.served_from, answer.miss) == (STORE, MissReason.NOT_CACHEABLE)


async def test_the_least_recent_entry_makes_room(world):
    world.start(unit_size=True, item_cache_bytes=2)
    await world.put("a", v=1)
    await world.put("b", v=1)
    await world.get("a")
    await world.put("b", v=2)  # overwriting is no use: b is still the least recent
    await world.put("c", v=1)
    answer = await world.get("b")
    assert (answer.served_from, answer.miss) == (STORE, MissReason.EVICTED)
    assert world.nodes["node-1"].status()["item_cache"]["evictions"] == 2


async def test_unbounded_attribute_names_exhaust_the_cache(world):
    world.start(item_cache_bytes=20_000)
    await world.put("hot", v=1)
    for n in range(100):
        await world.put("churn", **{f"{n:0200d}": "x"})
        await world.get("hot")
    status = world.nodes["node-1"].status()
    assert status["attribute_lists"] == {"count": 101, "bytes": 100 * 202 + 3}
    assert (world.held("hot"), status["item_cache"]["entries"]) == (None, 0)


# Refusals


@pytest.mark.parametrize(
    "operation", ["CreateTable", "DescribeTable", "ListTables", "ExecuteStatement", "Nonsense"]
)
async def test_what_is_no_item_operation_is_refused(world, operation):
    world.start(store_endpoint="http://127.0.0.1:8000")
    with pytest.raises(ServiceError) as failure:
        await world.run(operation, TableName="Table")
    assert (failure.value.code, failure.value.status) == ("UnknownOperationException", 400)
    assert "http://127.0.0.1:8000" in str(failure.value)
    assert world.store.calls == []


@pytest.mark.parametrize(
    "change",
    [
        {"Key": {"other": {"S": "a"}}},
        {"Key": {"pk": {"N": "1"}}},
        {"Key": {"pk": {"S": ""}}},
        {"Key": {"pk": {"S": "a"}, "more": {"S": "b"}}},
        {"ProjectionExpression": "#undefined"},
        {"ExpressionAttributeNames": {"#unused": "v"}},
        {"AttributesToGet": ["v", "v"]},
        {"ReturnConsumedCapacity": "SOME"},
        {"TableName": "Missing"},
    ],
    ids=str,
)
async def test_a_bad_read_gets_the_store_s_error_from_a_warm_cache_too(world, make_item, change):
    world.start()
    await world.put("a", v=1)
    request = {"TableName": "Table", "Key": make_item("a"), **change}
    with pytest.raises(ServiceError) as expected:
        world.around("GetItem", **request)
    with pytest.raises(ServiceError) as failure:
        await world.run("GetItem", **request)
    assert (failure.value.code, failure.value.message) == (expected.value.code, expected.value.message)
    assert world.held("a") == make_item("a", v=1)


async def test_a_repeated_key_in_a_batch_gets_the_store_s_error(world, make_item):
    world.start()
    await world.put("a", v=1)
    for operation, request in (
        ("BatchGetItem", {"Table": {"Keys": [make_item("a"), make_item("a")]}}),
        ("BatchWriteItem", {"Table": [{"PutRequest": {"Item": make_item("a", v=n)}} for n in (2, 3)]}),
    ):
        with pytest.raises(ServiceError) as failure:
            await world.run(operation, RequestItems=request)
        assert failure.value.message == "Provided list of item keys contains duplicates"
    assert world.held("a") == make_item("a", v=1)


# The cluster


async def test_replicas_forward_writes_and_hear_of_them_later(world, make_item):
    world.start(3)
    answer = await world.put("a", node="node-2", v=1)
    assert answer.node == "node-1"
    assert [world.held("a", f"node-{n}") for n in (1, 2, 3)] == [make_item("a", v=1), None, None]
    world.deliver()
    assert world.held("a", "node-2") == world.held("a", "node-3") == make_item("a", v=1)
    assert world.nodes["node-1"].status()["replication"]["log_entries"] == 0
    assert world.store.asked() == ["PutItem"]


async def test_two_nodes_disagree_until_replication_catches_up(world, make_item):
    world.start(2)
    await world.put("a", v=1)
    world.deliver()
    await world.put("a", v=2)
    assert (await world.get("a", "node-1")).response == {"Item": make_item("a", v=2)}
    assert (await world.get("a", "node-2")).response == {"Item": make_item("a", v=1)}
    assert world.nodes["node-1"].status()["replication"]["lag_entries"] == 1
    world.deliver()
    assert (await world.get("a", "node-2")).response == {"Item": make_item("a", v=2)}


@pytest.mark.parametrize("node", ["node-1", "node-2"])
async def test_a_miss_fills_every_node(world, node):
    world.start(3)
    world.around_put("a", v=1)
    await world.get("a", node)
    assert (await world.get("a", node)).served_from is ITEM
    world.deliver()
    for n in (1, 2, 3):
        assert (await world.get("a", f"node-{n}")).served_from is ITEM
    assert world.store.asked() == ["GetItem"]


async def test_a_write_that_was_forwarded_to_a_former_primary_is_refused(world, make_item):
    world.start(2)
    with pytest.raises(ServiceError) as failure:
        await world.nodes["node-2"].execute(
            "PutItem", {"TableName": "Table", "Item": make_item("a")}, forwarded=True
        )
    assert (failure.value.code, failure.value.status) == ("InternalServerError", 500)
    assert world.store.asked() == []


async def test_a_write_in_flight_when_its_primary_is_replaced_is_dropped_from_every_cache(world, make_item):
    world.start(2)
    await world.put("a", v=1)
    world.deliver()
    held = world.store.hold("PutItem", executed=True)
    write = world.begin("PutItem", TableName="Table", Item=make_item("a", v=2))
    await held.reached.wait()
    world.promote("node-2")
    world.deliver()
    held.release()
    assert (await write).response == {}
    world.deliver()
    assert (world.held("a", "node-1"), world.held("a", "node-2")) == (None, None)
    assert (await world.get("a", "node-2")).response == {"Item": make_item("a", v=2)}


async def test_a_write_that_waits_for_its_turn_while_its_primary_is_replaced_is_forwarded(world, make_item):
    world.start(2)
    held = world.store.hold("PutItem", executed=True)
    first = world.begin("PutItem", TableName="Table", Item=make_item("a", v=1))
    await held.reached.wait()
    second = world.begin("PutItem", TableName="Table", Item=make_item("a", v=2))
    await world.settle()
    world.promote("node-2")
    held.release()
    await first
    assert (await second).node == "node-2"
    world.deliver()
    assert world.around("GetItem", TableName="Table", Key=make_item("a"))["Item"] == make_item("a", v=2)
    assert world.held("a", "node-1") in (None, make_item("a", v=2))


async def test_a_replica_takes_over_with_its_cache_and_the_others_follow(world, make_item):
    world.start(3)
    await world.put("a", v=1)
    world.deliver()
    del world.nodes["node-1"]
    world.promote("node-3")
    await world.put("b", node="node-2", v=1)
    world.deliver()
    for node in ("node-2", "node-3"):
        assert (world.held("a", node), world.held("b", node)) == (make_item("a", v=1), make_item("b", v=1))


async def test_a_node_that_joins_is_warm(world, make_item):
    primary = world.start(1)
    await world.put("a", v=1)
    world.clock.advance(100)
    joined = world.add("node-2")
    joined.warm(primary.snapshot())
    world.promote("node-1")
    world.deliver()
    answer = await world.get("a", "node-2")
    assert (answer.served_from, answer.age) == (ITEM, 100)
    await world.put("b", v=1)
    world.deliver()
    assert world.held("b", "node-2") == make_item("b", v=1)


async def test_a_lost_message_is_sent_again(world, make_item):
    world.start(2, resend_after=5.0)
    await world.put("a", v=1)
    world.mail.clear()
    for _ in range(2):
        await world.settle()
        world.clock.advance(5.0)
    await world.settle()
    world.deliver()
    assert world.held("a", "node-2") == make_item("a", v=1)


# Tables that come and go


async def test_a_table_made_anew_with_another_key_is_learned_again(world):
    world.start()
    await world.put("a", v=1)
    world.around("DeleteTable", TableName="Table")
    world.table("Table", "id:N")
    for _ in range(2):
        answer = await world.run("GetItem", TableName="Table", Key={"id": {"N": "1"}})
    assert answer.served_from is NEGATIVE
    await world.run("PutItem", TableName="Table", Item={"id": {"N": "1"}})
    answer = await world.run("GetItem", TableName="Table", Key={"id": {"N": "1"}})
    assert answer.response == {"Item": {"id": {"N": "1"}}}
    assert world.nodes["node-1"].status()["item_cache"]["entries"] == 1


async def test_a_put_after_a_table_was_made_anew_is_cached_under_its_new_key(world):
    world.start()
    await world.put("a", v=1)
    world.around("DeleteTable", TableName="Table")
    world.table("Table", "id:N")
    await world.run("PutItem", TableName="Table", Item={"id": {"N": "1"}})
    answer = await world.run("GetItem", TableName="Table", Key={"id": {"N": "1"}})
    assert answer.served_from is ITEM


async def test_reads_and_writes_of_a_missing_table_fail_as_at_the_store(world, make_item):
    world.start()
    for attempt in (world.get("a", table="Missing"), world.put("a", table="Missing")):
        with pytest.raises(ServiceError) as failure:
            await attempt
        assert failure.value.code == "ResourceNotFoundException"


# What a node tells


async def test_a_failure_of_a_forwarded_write_counts_where_the_client_sent_it(world):
    world.start(2)
    world.store.fail("PutItem", ServiceError("InternalServerError", "broken", status=500))
    with pytest.raises(ServiceError):
        await world.put("a", node="node-2")
    counted = [node.status()["metrics"] for node in world.nodes.values()]
    assert [each["FailedRequestCount"] for each in counted] == [0, 1]
    assert [each["PutItemRequestCount"] for each in counted] == [0, 1]


async def test_a_flush_says_so(world, make_item):
    node = world.start()
    await world.put("a", v=1)
    await world.put("b", v=1)
    await world.run("Query", **query())
    assert node.flush("Table", make_item("a")) == 1
    assert (await world.get("a")).miss is MissReason.FLUSHED
    assert node.flush(cache="both") == 3
    assert (await world.run("Query", **query())).miss is MissReason.FLUSHED
    with pytest.raises(ServiceError):
        node.flush(key=make_item("a"))


async def test_a_flushed_key_does_not_come_by_the_log_to_a_node_that_knows_no_schema(world, make_item):
    world.start(2)
    await world.put("a", v=1)
    world.clock.advance(1)
    assert [node.flush("Table", make_item("a")) for node in world.nodes.values()] == [1, 0]
    world.deliver()
    assert (world.held("a"), world.held("a", node="node-2")) == (None, None)


async def test_what_is_read_before_a_flush_is_not_kept_after_it(world, make_item):
    node = world.start()
    world.store.engine.execute("PutItem", {"TableName": "Table", "Item": make_item("a", v=1)})
    for operation, request in (
        ("GetItem", {"TableName": "Table", "Key": make_item("a")}),
        ("BatchGetItem", {"RequestItems": {"Table": {"Keys": [make_item("a")]}}}),
        ("Query", query()),
    ):
        held = world.store.hold(operation, executed=True)
        reading = asyncio.ensure_future(world.run(operation, **request))
        await held.reached.wait()
        node.flush(cache="both")
        held.release()
        assert (await reading).served_from is STORE
        assert (await world.run(operation, **request)).served_from is STORE
        node.flush(cache="both")


@pytest.mark.parametrize("later", ["answered", "failed"])
async def test_of_concurrent_reads_of_a_result_set_the_last_begun_is_kept(world, later):
    world.start()
    world.around_put("a", v=1)
    held = world.store.hold("Query", executed=True)
    older = asyncio.ensure_future(world.run("Query", **query()))
    await held.reached.wait()
    world.around_put("a", v=2)
    if later == "failed":
        world.store.fail("Query", ServiceError("InternalServerError", "broken", status=500))
    newer = await asyncio.gather(world.run("Query", **query()), return_exceptions=True)
    held.release()
    assert (await older).response["Items"][0]["v"] == {"N": "1"}  # what it read is its caller's answer
    kept = await world.run("Query", **query())
    assert kept.served_from is QUERY
    expected = newer[0] if later == "answered" else await older
    assert kept.response == expected.response


async def test_failures_are_counted_by_whose_fault_they_are(world, make_item):
    node = world.start()
    world.store.fail("GetItem", ServiceError("InternalServerError", "broken", status=500))
    for table in ("Table", "Missing"):
        with pytest.raises(ServiceError):
            await world.get("a", table=table)
    metrics = node.status()["metrics"]
    assert [metrics[f"{kind}RequestCount"] for kind in ("Fault", "Error", "Failed", "Total", "GetItem")] == [
        1, 1, 2, 2, 2,
    ]  # fmt: skip
