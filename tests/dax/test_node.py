"""What a node tells about itself, and the short way of a hit."""

from __future__ import annotations

import pytest

from backend.errors import ServiceError

SCAN = {"TableName": "Table", "Limit": 5}


async def test_a_query_is_inspected_without_counting_as_a_read(world):
    node = world.start()
    before = node.inspect("Scan", SCAN)
    assert (before["cache"], before["present"], before["miss"]) == ("query", False, "never-seen")
    assert before["cache_key"] == '{"Limit":5}'
    await world.run("Scan", **SCAN)
    world.clock.advance(30)
    report = node.inspect("Scan", {**SCAN, "ConsistentRead": False})
    assert (report["present"], report["negative"], report["age"], report["ttl_left"]) == (True, True, 30, 270)
    assert report["response"] == {"Items": [], "Count": 0, "ScannedCount": 0}
    assert node.inspect("Scan", {**SCAN, "ConsistentRead": True})["miss"] == "not-cacheable"
    world.clock.advance(270)
    assert node.inspect("Scan", SCAN)["miss"] == "expired"
    assert (node.metrics.scan_hits, node.metrics.scan_misses) == (0, 1)


async def test_a_batch_is_inspected_key_by_key(world, make_item):
    node = world.start()
    await world.put("a", v=1)
    keys = [make_item("a"), make_item("b")]
    report = node.inspect("BatchGetItem", {"RequestItems": {"Table": {"Keys": keys}}})
    assert [(each["key"], each["present"]) for each in report["keys"]] == [(keys[0], True), (keys[1], False)]


async def test_what_no_cache_answers_cannot_be_inspected(world):
    node = world.start()
    for operation, request in (("PutItem", {}), ("GetItem", {"TableName": "Table"})):
        with pytest.raises(ServiceError) as failure:
            node.inspect(operation, request)
        assert failure.value.code == "ValidationException"


async def test_a_replica_knows_entries_of_a_table_it_was_never_asked_for(world, make_item):
    world.start(2)
    world.table("Pairs", "pk:S", "sk:N")
    key = {"sk": {"N": "1.0"}, "pk": {"S": "a"}}
    await world.run("GetItem", TableName="Pairs", Key=key)
    world.deliver()
    replica = world.nodes["node-2"]
    assert replica.inspect("GetItem", {"TableName": "Pairs", "Key": key})["negative"] is True
    assert replica.flush("Pairs", {"pk": {"S": "a"}, "sk": {"N": "1"}}) == 1
    assert replica.flush("Pairs", key) == 0


async def test_the_short_way_of_a_hit_counts_as_a_get(world, make_item):
    node = world.start()
    request = {"TableName": "Table", "Key": make_item("a")}
    assert node.memo_key(request) is None  # not while the table's key is unknown
    await world.put("a", v=1)
    key = node.memo_key(request)
    assert key is not None
    entry = node.hit(key, world.clock.now())
    assert entry is not None
    assert entry.response == {"Item": make_item("a", v=1)}
    assert (node.metrics.item_hits, node.metrics.requests["GetItem"]) == (1, 1)
    assert node.hit(key, world.clock.now() + 300) is None
    assert (node.metrics.item_misses, node.metrics.requests["GetItem"]) == (0, 1)


@pytest.mark.parametrize(
    "more",
    [
        {"ConsistentRead": True},
        {"ReturnConsumedCapacity": "TOTAL"},
        {"ProjectionExpression": "v"},
        {"Odd": 1},
    ],
    ids=str,
)
async def test_only_a_plain_get_has_a_short_way(world, make_item, more):
    node = world.start()
    await world.put("a", v=1)
    assert node.memo_key({"TableName": "Table", "Key": make_item("a"), **more}) is None


async def test_the_recorder_hears_what_happens_inside(world, make_item):
    world.start()
    await world.get("a")
    await world.put("a", v=1)
    put = {"Put": {"TableName": "Table", "Item": make_item("b")}}
    await world.run("TransactWriteItems", TransactItems=[put])
    await world.settle()
    events = [event for event, _ in world.recorder.events]
    assert events == ["fill", "write-committed", "write-committed", "refreshed"]
    assert all(facts["node"] == "node-1" for _, facts in world.recorder.events)
