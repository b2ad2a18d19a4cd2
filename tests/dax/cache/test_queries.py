"""Which requests share a query-cache entry, and what an entry holds."""

from __future__ import annotations

from typing import Any

import pytest

from dax.cache.queries import QueryCache, query_key

BASE: dict[str, Any] = {
    "TableName": "Table",
    "KeyConditionExpression": "pk = :pk AND n > :n",
    "ExpressionAttributeValues": {":pk": {"S": "a"}, ":n": {"N": "1.5"}},
}


def key(**change: Any) -> Any:
    return query_key("Table", "Query", {**BASE, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"ConsistentRead": False},
        {"ScanIndexForward": True},
        {"ReturnConsumedCapacity": "NONE"},
        {"Select": "ALL_ATTRIBUTES"},
        {"ExpressionAttributeValues": {":n": {"N": "01.50"}, ":pk": {"S": "a"}}},
    ],
    ids=str,
)
def test_one_request_in_two_spellings_is_one_entry(change):
    assert key(**change) == key()


@pytest.mark.parametrize(
    "change",
    [
        {"ScanIndexForward": False},
        {"Limit": 1},
        {"IndexName": "index"},
        {"Select": "COUNT"},
        {"ReturnConsumedCapacity": "TOTAL"},
        {"ExpressionAttributeValues": {":pk": {"S": "a"}, ":n": {"N": "2"}}},
        {"ExpressionAttributeValues": {":pk": {"B": b"a"}, ":n": {"N": "1.5"}}},
        {"KeyConditionExpression": "pk = :pk  AND n > :n"},
        {"ExclusiveStartKey": {"pk": {"S": "a"}}},
    ],
    ids=str,
)
def test_another_parameter_is_another_entry(change):
    assert key(**change) != key()


def test_a_default_select_depends_on_what_is_read():
    assert key(IndexName="index", Select="ALL_PROJECTED_ATTRIBUTES") == key(IndexName="index")
    assert key(IndexName="index", Select="ALL_ATTRIBUTES") != key(IndexName="index")
    projected = {"ProjectionExpression": "v"}
    assert key(**projected, Select="SPECIFIC_ATTRIBUTES") == key(**projected)
    assert key(**projected, Select="ALL_ATTRIBUTES") != key(**projected)


def test_operations_and_tables_are_apart():
    request = {"TableName": "Table"}
    keys = {query_key(t, operation, request) for t in ("Table", "Other") for operation in ("Query", "Scan")}
    assert len(keys) == 4


def test_members_of_sets_have_no_order_and_those_of_lists_have():
    def with_value(value: Any) -> Any:
        return key(ExpressionAttributeValues={":pk": value})

    assert with_value({"SS": ["a", "b"]}) == with_value({"SS": ["b", "a"]})
    assert with_value({"BS": [b"a", b"b"]}) == with_value({"BS": [b"b", b"a"]})
    assert with_value({"NS": ["1", "2.0"]}) == with_value({"NS": ["2", "1"]})
    left, right = {"S": "a"}, {"M": {"x": {"B": b"\x00"}}}
    assert with_value({"L": [left, right]}) != with_value({"L": [right, left]})


def test_legacy_conditions_are_normalised_too():
    def with_number(text: str) -> Any:
        condition = {"ComparisonOperator": "EQ", "AttributeValueList": [{"N": text}]}
        empty = {"ComparisonOperator": "NULL"}
        return query_key("Table", "Scan", {"TableName": "Table", "ScanFilter": {"n": condition, "m": empty}})

    assert with_number("1") == with_number("1.0") != with_number("2")


def test_a_value_that_is_not_valid_has_no_key():
    assert key(ExpressionAttributeValues={":n": {"N": "x"}}) is None


def test_an_entry_forgets_the_consumed_capacity_and_weighs_its_items():
    cache = QueryCache(10_000, 300, 10)
    response = {"Items": [{"v": {"S": "x" * 100}}] * 3, "Count": 3, "ConsumedCapacity": {"CapacityUnits": 1}}
    assert cache.keep(key(), response, 1, 0.0)
    entry = cache.peek(key())
    assert entry is not None
    assert (entry.negative, entry.response) == (False, {"Items": response["Items"], "Count": 3})
    assert entry.size > 303


def test_an_empty_page_in_the_middle_is_not_negative():
    cache = QueryCache(10_000, 300, 10)
    cache.keep(key(), {"Items": [], "Count": 0, "LastEvaluatedKey": {"pk": {"S": "a"}}}, 1, 0.0)
    cache.keep(key(Limit=1), {"Items": [], "Count": 0}, 1, 0.0)
    entries = [cache.peek(each) for each in (key(), key(Limit=1))]
    assert [entry.negative for entry in entries if entry is not None] == [False, True]


def test_a_table_is_flushed_alone():
    cache = QueryCache(10_000, 300, 10)
    for table in ("Table", "Other"):
        cache.keep((table, "Scan", b"{}"), {"Items": [], "Count": 0}, 1, 0.0)
    assert (cache.flush("Table"), cache.flush("Table"), cache.flush()) == (1, 0, 1)
