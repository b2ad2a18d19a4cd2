"""What each operation consumes, where, and in which form it says so: the rules of metering, one case each.

Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html; beside
it GSI.html and LSI.html for indexes.
"""

from __future__ import annotations

import pytest

KB = 1024
_DIGIT = 2
"""Bytes of a number of one digit."""


def item(number, size, **more):
    """An item whose stored size is exactly `size` bytes."""
    texts = {name: {"S": text} for name, text in more.items()}
    taken = len("pkanx") + _DIGIT + sum(len(name) + len(text) for name, text in more.items())
    return {"pk": {"S": "a"}, "n": {"N": str(number)}, **texts, "x": {"S": "x" * (size - taken)}}


@pytest.fixture
def store(store, index_of):
    """Five items of 3 KB of one partition, with a local index of keys and a global one of everything."""
    store.create(
        "docs",
        "pk:S",
        "n:N",
        attributes=("kind:S", "rank:S"),
        LocalSecondaryIndexes=[index_of("by-rank", "pk", "rank", "KEYS_ONLY")],
        GlobalSecondaryIndexes=[index_of("by-kind", "kind"), index_of("kinds", "kind", "rank", "KEYS_ONLY")],
    )
    for number in range(1, 6):
        store("PutItem", TableName="docs", Item=item(number, 3 * KB, kind="k", rank="r"))
    return store


QUERY = {
    "TableName": "docs",
    "KeyConditionExpression": "pk = :a",
    "ExpressionAttributeValues": {":a": {"S": "a"}},
}
BY_KIND = {
    "TableName": "docs",
    "KeyConditionExpression": "kind = :k",
    "ExpressionAttributeValues": {":k": {"S": "k"}},
}
ONE = {"TableName": "docs", "Key": {"pk": {"S": "a"}, "n": {"N": "1"}}}
NONE = {"TableName": "docs", "Key": {"pk": {"S": "a"}, "n": {"N": "99"}}}


@pytest.mark.parametrize(
    ("operation", "request_", "units"),
    [
        ("GetItem", ONE, 0.5),
        ("GetItem", {**ONE, "ConsistentRead": True}, 1.0),
        ("GetItem", {**ONE, "ConsistentRead": True, "ProjectionExpression": "n"}, 1.0),
        ("GetItem", NONE, 0.5),
        ("GetItem", {**NONE, "ConsistentRead": True}, 1.0),
        # 15 KB are 4 steps of 4 KB together, and would be 5 one by one.
        ("Query", QUERY, 2.0),
        ("Query", {**QUERY, "ConsistentRead": True}, 4.0),
        ("Query", {**QUERY, "Select": "COUNT"}, 2.0),
        ("Query", {**QUERY, "ProjectionExpression": "n"}, 2.0),
        ("Query", {**QUERY, "FilterExpression": "attribute_exists(nothing)"}, 2.0),
        ("Query", {**QUERY, "Limit": 1}, 0.5),
        ("Query", {**QUERY, "ExpressionAttributeValues": {":a": {"S": "nobody"}}}, 0.5),
        ("Scan", {"TableName": "docs"}, 2.0),
        ("Scan", {"TableName": "docs", "Select": "COUNT", "ConsistentRead": True}, 4.0),
        ("Query", {**BY_KIND, "IndexName": "by-kind"}, 2.0),
        ("Query", {**BY_KIND, "IndexName": "kinds"}, 0.5),
        ("Scan", {"TableName": "docs", "IndexName": "kinds"}, 0.5),
        ("Query", {**QUERY, "IndexName": "by-rank"}, 0.5),
        ("Query", {**QUERY, "IndexName": "by-rank", "ConsistentRead": True}, 1.0),
        # A local index fetches what it does not project, and each item by itself: 0.5 + 5 * 0.5.
        ("Query", {**QUERY, "IndexName": "by-rank", "Select": "ALL_ATTRIBUTES"}, 3.0),
        ("Query", {**QUERY, "IndexName": "by-rank", "ProjectionExpression": "x"}, 3.0),
    ],
)
def test_reads(store, operation, request_, units):
    answer = store(operation, **request_, ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == {"TableName": "docs", "CapacityUnits": units}


def test_reads_of_an_index_are_the_index_s_and_fetches_the_table_s(store):
    asked = {**QUERY, "IndexName": "by-rank", "ReturnConsumedCapacity": "INDEXES"}
    assert store("Query", **asked)["ConsumedCapacity"] == {
        "TableName": "docs",
        "CapacityUnits": 0.5,
        "Table": {"CapacityUnits": 0.0},
        "LocalSecondaryIndexes": {"by-rank": {"CapacityUnits": 0.5}},
    }
    fetched = store("Query", **asked, Select="ALL_ATTRIBUTES")["ConsumedCapacity"]
    assert fetched["Table"] == {"CapacityUnits": 2.5}
    assert fetched["LocalSecondaryIndexes"] == {"by-rank": {"CapacityUnits": 0.5}}


def _put(number, size, **more):
    return "PutItem", {"TableName": "docs", "Item": item(number, size, **more)}


def _update(expression, **values):
    request = {**ONE, "UpdateExpression": expression}
    if values:
        request["ExpressionAttributeValues"] = {f":{name}": {"S": text} for name, text in values.items()}
    return "UpdateItem", request


@pytest.mark.parametrize(
    ("write", "table", "by_rank", "by_kind", "kinds"),
    [
        (_put(9, KB), 1, 0, 0, 0),
        (_put(9, KB + 1), 2, 0, 0, 0),
        # A new item with every key: a row in each index, of its own size.
        (_put(9, 3 * KB, kind="k", rank="r"), 3, 1, 3, 1),
        (_put(9, 3 * KB, kind="k"), 3, 0, 3, 0),
        # A smaller item in the place of a larger one costs the larger; its rows too.
        (_put(1, 100, kind="k", rank="r"), 3, 0, 3, 0),
        # Another key: a delete and a put.
        (_update("SET kind = :v", v="l"), 3, 0, 6, 2),
        (_update("SET #r = :v", v="s"), 3, 2, 3, 2),
        # A key gone: a delete.
        (_update("REMOVE kind"), 3, 0, 3, 1),
        # What only one index projects.
        (_update("SET z = :v", v="z"), 4, 0, 4, 0),
        # Nothing changes.
        (_update("SET kind = :v", v="k"), 3, 0, 0, 0),
        (("DeleteItem", ONE), 3, 1, 3, 1),
        (("DeleteItem", NONE), 1, 0, 0, 0),
        (("UpdateItem", NONE), 1, 0, 0, 0),
    ],
)
def test_writes_and_what_they_cost_each_index(store, write, table, by_rank, by_kind, kinds):
    operation, request = write
    if "#r" in request.get("UpdateExpression", ""):
        request = {**request, "ExpressionAttributeNames": {"#r": "rank"}}
    before = store.engine.capacity()["docs"]
    told = store(operation, **request, ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
    assert told["Table"] == {"CapacityUnits": table}
    locals_, globals_ = told.get("LocalSecondaryIndexes", {}), told.get("GlobalSecondaryIndexes", {})
    units = {name: one["CapacityUnits"] for name, one in {**locals_, **globals_}.items()}
    wanted = {"by-rank": by_rank, "by-kind": by_kind, "kinds": kinds}
    assert units == {name: cost for name, cost in wanted.items() if cost}
    assert told["CapacityUnits"] == table + by_rank + by_kind + kinds
    after = store.engine.capacity()["docs"]
    assert _written(after) - _written(before) == table
    for name, cost in wanted.items():
        assert _written(after["Indexes"][name]) - _written(before["Indexes"][name]) == cost


def _written(counters):
    return counters["ConsumedWriteCapacityUnits"]


@pytest.mark.parametrize(("request_", "units"), [(ONE, 3.0), (NONE, 1.0)])
def test_a_failed_condition_costs_what_is_there_and_no_index(store, refusal, request_, units):
    before = store.engine.capacity()["docs"]
    condition = "attribute_exists(nothing)"
    error = refusal(store, "DeleteItem", **request_, ConditionExpression=condition)
    assert error.code == "ConditionalCheckFailedException"
    after = store.engine.capacity()["docs"]
    assert _written(after) - _written(before) == units
    assert after["Indexes"] == before["Indexes"]


def test_a_batch_of_reads_is_rounded_item_by_item(store):
    keys = [{"pk": {"S": "a"}, "n": {"N": str(n)}} for n in (1, 2, 3, 99)]
    asked = {"RequestItems": {"docs": {"Keys": keys, "ConsistentRead": True}}}
    total = store("BatchGetItem", **asked, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
    assert total == [{"TableName": "docs", "CapacityUnits": 4.0}]
    indexes = store("BatchGetItem", **asked, ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
    assert indexes == [{"TableName": "docs", "CapacityUnits": 4.0, "Table": {"CapacityUnits": 4.0}}]


def test_a_batch_of_writes_is_the_sum_of_its_writes_by_table(store):
    store.create("other", "pk:S")
    puts = [{"PutRequest": {"Item": item(n, 2 * KB, kind="k", rank="r")}} for n in (7, 8)]
    asked = {"docs": puts, "other": [{"DeleteRequest": {"Key": {"pk": {"S": "z"}}}}]}
    answer = store("BatchWriteItem", RequestItems=asked, ReturnConsumedCapacity="INDEXES")
    docs, other = answer["ConsumedCapacity"]
    assert (docs["CapacityUnits"], docs["Table"]) == (12.0, {"CapacityUnits": 4.0})
    assert docs["GlobalSecondaryIndexes"] == {
        "by-kind": {"CapacityUnits": 4.0},
        "kinds": {"CapacityUnits": 2.0},
    }
    assert other == {"TableName": "other", "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}}


def test_a_transaction_costs_double_indexes_included(store):
    put = {"Put": {"TableName": "docs", "Item": item(9, KB, kind="k", rank="r")}}
    (told,) = store("TransactWriteItems", TransactItems=[put], ReturnConsumedCapacity="INDEXES")[
        "ConsumedCapacity"
    ]
    two = {"CapacityUnits": 2.0, "WriteCapacityUnits": 2.0}
    assert told == {
        "TableName": "docs",
        "CapacityUnits": 8.0,
        "WriteCapacityUnits": 8.0,
        "Table": two,
        "LocalSecondaryIndexes": {"by-rank": two},
        "GlobalSecondaryIndexes": {"by-kind": two, "kinds": two},
    }
    gets = [{"Get": ONE}, {"Get": NONE}]
    (told,) = store("TransactGetItems", TransactItems=gets, ReturnConsumedCapacity="TOTAL")[
        "ConsumedCapacity"
    ]
    assert told == {"TableName": "docs", "CapacityUnits": 4.0, "ReadCapacityUnits": 4.0}


@pytest.mark.parametrize("mode", ["NONE", None])
def test_nothing_is_reported_that_was_not_asked_for_and_all_of_it_counted(store, mode):
    more = {} if mode is None else {"ReturnConsumedCapacity": mode}
    before = store.engine.capacity()["docs"]["ConsumedReadCapacityUnits"]
    assert "ConsumedCapacity" not in store("GetItem", **ONE, **more)
    assert store.engine.capacity()["docs"]["ConsumedReadCapacityUnits"] == before + 0.5


def test_an_expired_item_is_removed_for_nothing(store, clock):
    spec = {"Enabled": True, "AttributeName": "until"}
    store("UpdateTimeToLive", TableName="docs", TimeToLiveSpecification=spec)
    until = {"until": {"N": str(int(clock.time) + 10)}}
    store("PutItem", TableName="docs", Item={**item(9, 100, kind="k"), **until})
    before = store.engine.capacity()["docs"]
    clock.advance(100 * 3600)
    store.engine.tick()
    assert "Item" not in store("GetItem", TableName="docs", Key={"pk": {"S": "a"}, "n": {"N": "9"}})
    assert _written(store.engine.capacity()["docs"]) == _written(before)
