"""Global indexes with keys of up to four partition and four sort attributes, rule by rule.

Sources: "Multi-attribute key schema" of "Using global secondary indexes" and "Multi-attribute keys pattern"
of the developer guide; the announcement of November 2025 on the AWS Database Blog; the answers recorded on
the live service by the public Parity Suite.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.engine import Engine
from backend.model.keys import partition_prefix
from backend.tables.definitions import schema_of

HASH = ("wing", "school")
RANGE = ("made", "title")
EAST = {":w": {"S": "east"}, ":s": {"S": "cubist"}}
INVALID = "One or more parameter values were invalid: "


def keys(*hash_names: str, ranges: tuple[str, ...] = ()) -> list[dict[str, str]]:
    kinds = [(name, "HASH") for name in hash_names] + [(name, "RANGE") for name in ranges]
    return [{"AttributeName": name, "KeyType": kind} for name, kind in kinds]


def index(key_schema: list[dict[str, str]], projection: str = "ALL") -> dict[str, Any]:
    return {"IndexName": "by-place", "KeySchema": key_schema, "Projection": {"ProjectionType": projection}}


def work(pk: str, made: str, title: str, **more: Any) -> dict[str, Any]:
    return {
        "pk": {"S": pk},
        "wing": {"S": "east"},
        "school": {"S": "cubist"},
        "made": {"N": made},
        "title": {"S": title},
        **more,
    }


@pytest.fixture
def museum(store):
    """Five works in one partition of the index, in this order: d, b, c, e, a."""
    attributes = ["wing:S", "school:S", "made:N", "title:S"]
    indexes = [index(keys(*HASH, ranges=RANGE))]
    store.create("museum", "pk:S", attributes=attributes, GlobalSecondaryIndexes=indexes)
    for pk, made, title in [
        ("a", "10", "z"),
        ("b", "9", "y"),
        ("c", "10", "x"),
        ("d", "9", "x"),
        ("e", "10", "xy"),
    ]:
        store("PutItem", TableName="museum", Item=work(pk, made, title))
    return store


def query(store, condition: str, values: dict[str, Any] | None = None, **more: Any) -> Any:
    return store(
        "Query",
        TableName="museum",
        IndexName="by-place",
        KeyConditionExpression=condition,
        ExpressionAttributeValues={
            name: value for name, value in {**EAST, **(values or {})}.items() if name in condition
        },
        **more,
    )


def found(store, condition: str, values: dict[str, Any] | None = None, **more: Any) -> str:
    answer = query(store, f"wing = :w AND school = :s{condition}", values, **more)
    return "".join(item["pk"]["S"] for item in answer["Items"])


@pytest.fixture
def refused(refusal):
    """`refused(store, condition, values)` is the text that a query ends in."""

    def text(store, condition: str, values: dict[str, Any] | None = None, **more: Any) -> str:
        values = {**EAST, **(values or {})}
        error = refusal(
            store,
            "Query",
            TableName="museum",
            IndexName="by-place",
            KeyConditionExpression=condition,
            ExpressionAttributeValues={name: value for name, value in values.items() if name in condition},
            **more,
        )
        assert error.code == "ValidationException"
        return error.message

    return text


# Declaring


def test_an_index_takes_four_attributes_of_each_kind_and_describes_them_as_declared(store):
    schema = keys(*"abcd", ranges=tuple("efgh"))
    store.create(
        "wide",
        "pk:S",
        attributes=[f"{name}:S" for name in "abcdefgh"],
        GlobalSecondaryIndexes=[index(schema)],
    )
    described = store("DescribeTable", TableName="wide")["Table"]["GlobalSecondaryIndexes"][0]
    assert described["KeySchema"] == schema


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            keys(*"abcde"),
            f"{INVALID}The KeySchema exceeds the maximum allowed number of HASH key attributes",
        ),
        (
            keys("a", ranges=tuple("bcdef")),
            f"{INVALID}The KeySchema exceeds the maximum allowed number of RANGE key attributes",
        ),
        (
            keys("a", ranges=("b",)) + keys("c"),
            f"{INVALID}All HASH key attributes must precede RANGE key attributes in the KeySchema",
        ),
        (keys("a", "a"), "The KeySchema contains multiple key attributes with the same name"),
        (keys("a", "b", ranges=("a",)), "The KeySchema contains multiple key attributes with the same name"),
        (
            keys(ranges=("a", "b")),
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
        ),
    ],
)
def test_key_schemas_that_no_index_may_have(store, refusal, schema, message):
    attributes = sorted({element["AttributeName"] for element in schema})
    created = {"TableName": "wide", "BillingMode": "PAY_PER_REQUEST", "KeySchema": keys("pk")}
    definitions = [{"AttributeName": name, "AttributeType": "S"} for name in ["pk", *attributes]]
    error = refusal(
        store,
        "CreateTable",
        AttributeDefinitions=definitions,
        GlobalSecondaryIndexes=[index(schema)],
        **created,
    )
    assert (error.code, error.message) == ("ValidationException", message)

    store("CreateTable", AttributeDefinitions=definitions[:1], **created)
    error = refusal(
        store,
        "UpdateTable",
        TableName="wide",
        AttributeDefinitions=definitions,
        GlobalSecondaryIndexUpdates=[{"Create": index(schema)}],
    )
    assert (error.code, error.message) == ("ValidationException", message)


def test_tables_and_local_indexes_have_one_attribute_of_each_kind(store, refusal):
    definitions = [{"AttributeName": name, "AttributeType": "S"} for name in "abc"]
    created = {"TableName": "wide", "BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": definitions}
    wide = keys("a", ranges=("b", "c"))
    too_long = "failed to satisfy constraint: Member must have length less than or equal to 2"
    error = refusal(store, "CreateTable", KeySchema=wide, **created)
    assert "at 'keySchema'" in error.message
    assert error.message.endswith(too_long)
    error = refusal(
        store,
        "CreateTable",
        KeySchema=keys("a", ranges=("b",)),
        LocalSecondaryIndexes=[index(wide)],
        **created,
    )
    assert "at 'localSecondaryIndexes.1.member.keySchema'" in error.message
    assert error.message.endswith(too_long)


# Which items are there


def test_an_item_without_every_key_attribute_is_not_in_the_index(museum):
    for missing in (*HASH, *RANGE):
        item = work("sparse", "9", "x")
        del item[missing]
        museum("PutItem", TableName="museum", Item=item)
        assert found(museum, "") == "dbcea"
    museum("PutItem", TableName="museum", Item=work("f", "9", "x"))
    assert sorted(found(museum, " AND made = :m", {":m": {"N": "9"}})) == ["b", "d", "f"]


def test_an_update_moves_an_item_in_and_out_of_the_index(museum):
    museum("UpdateItem", TableName="museum", Key={"pk": {"S": "d"}}, UpdateExpression="REMOVE school")
    assert found(museum, "") == "bcea"
    museum(
        "UpdateItem",
        TableName="museum",
        Key={"pk": {"S": "d"}},
        UpdateExpression="SET school = :s, made = :m",
        ExpressionAttributeValues={":s": {"S": "cubist"}, ":m": {"N": "11"}},
    )
    assert found(museum, "") == "bcead"


@pytest.mark.parametrize("name", ["wing", "school", "title"])
def test_each_key_attribute_has_its_type_and_is_not_empty(museum, refusal, name):
    error = refusal(museum, "PutItem", TableName="museum", Item=work("f", "9", "x") | {name: {"N": "1"}})
    assert error.message == (
        f"{INVALID}Type mismatch for Index Key {name} Expected: S Actual: N IndexName: by-place"
    )
    error = refusal(museum, "PutItem", TableName="museum", Item=work("f", "9", "x") | {name: {"S": ""}})
    assert error.message == (
        "One or more parameter values are not valid. A value specified for a secondary index key is not "
        "supported. The AttributeValue for a key attribute cannot contain an empty string value. "
        f"IndexName: by-place, IndexKey: {name}"
    )


@pytest.mark.parametrize(("name", "limit"), [("wing", 2048), ("school", 2048), ("title", 1024)])
def test_each_key_attribute_has_its_greatest_size(museum, refusal, name, limit):
    museum("PutItem", TableName="museum", Item=work("f", "9", "x") | {name: {"S": "x" * limit}})
    error = refusal(
        museum, "PutItem", TableName="museum", Item=work("f", "9", "x") | {name: {"S": "x" * (limit + 1)}}
    )
    assert "has exceeded" in error.message


def test_an_index_that_is_added_is_filled_from_the_items_that_are_there(store):
    store.create("museum", "pk:S")
    for pk, title in [("a", "y"), ("b", "x")]:
        store("PutItem", TableName="museum", Item=work(pk, "9", title))
    store("PutItem", TableName="museum", Item={"pk": {"S": "c"}, "wing": {"S": "east"}})
    store(
        "UpdateTable",
        TableName="museum",
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": "N" if name == "made" else "S"}
            for name in (*HASH, *RANGE)
        ],
        GlobalSecondaryIndexUpdates=[{"Create": index(keys(*HASH, ranges=RANGE))}],
    )
    assert found(store, "") == "ba"


def test_all_key_attributes_are_projected(store):
    store.create(
        "museum",
        "pk:S",
        attributes=["wing:S", "school:S", "made:N", "title:S"],
        GlobalSecondaryIndexes=[index(keys(*HASH, ranges=RANGE), "KEYS_ONLY")],
    )
    store("PutItem", TableName="museum", Item=work("a", "9", "x", price={"N": "1"}))
    assert query(store, "wing = :w AND school = :s")["Items"] == [work("a", "9", "x")]


# Querying


def test_a_query_needs_an_equality_on_every_partition_attribute(museum, refused):
    missed = "HASH key attributes {} must have equality conditions specified in the query"
    assert refused(museum, "wing = :w") == missed.format("school")
    assert refused(museum, "school = :s") == missed.format("wing")
    assert refused(museum, "made = :m", {":m": {"N": "9"}}) == missed.format("wing, school")
    assert refused(museum, "wing = :w AND school > :s") == missed.format("school")
    assert refused(museum, "wing = :w AND begins_with(school, :s)") == missed.format("school")
    assert refused(museum, "school = :s AND wing BETWEEN :w AND :w") == missed.format("wing")


def test_items_are_ordered_by_each_sort_attribute_in_turn_numbers_by_value(museum):
    assert found(museum, "") == "dbcea"
    assert found(museum, "", ScanIndexForward=False) == "aecbd"


@pytest.mark.parametrize(
    ("condition", "pks"),
    [
        ("made = :m", "cea"),
        ("made > :n", "cea"),
        ("made BETWEEN :n AND :m", "dbcea"),
        ("made = :m AND title = :t", "c"),
        ("made = :m AND title > :t", "ea"),
        ("made = :m AND title <= :u", "ce"),
        ("made = :m AND begins_with(title, :t)", "ce"),
        ("made = :m AND title BETWEEN :t AND :u", "ce"),
    ],
)
def test_sort_attributes_are_queried_from_the_left_with_a_range_on_the_last(museum, condition, pks):
    values = {":m": {"N": "10"}, ":n": {"N": "9"}, ":t": {"S": "x"}, ":u": {"S": "xy"}}
    assert found(museum, f" AND {condition}", values) == pks


def test_the_clauses_may_stand_in_any_order(museum):
    answer = query(
        museum, "title = :t AND school = :s AND made = :m AND wing = :w", {":t": {"S": "x"}, ":m": {"N": "9"}}
    )
    assert [item["pk"]["S"] for item in answer["Items"]] == ["d"]


def test_no_sort_attribute_may_be_left_out_before_one_that_has_a_condition(museum, refused):
    values = {":m": {"N": "9"}, ":t": {"S": "x"}}
    message = (
        "RANGE key attributes made must have equality conditions specified in the query "
        "because a condition is present on key attribute title"
    )
    assert refused(museum, "wing = :w AND school = :s AND title = :t", values) == message
    assert refused(museum, "wing = :w AND school = :s AND made > :m AND title = :t", values) == message


def test_more_conditions_than_key_attributes_are_refused_by_number(museum, refused):
    condition = "wing = :w AND school = :s AND made = :m AND title = :t AND pk = :t"
    assert refused(museum, condition, {":m": {"N": "9"}, ":t": {"S": "x"}}) == (
        "The number of query conditions (5) exceeds the number of key attributes defined in the schema (4)"
    )


def test_a_value_of_another_type_than_the_attribute_is_refused(museum, refused):
    message = f"{INVALID}Condition parameter type does not match schema type"
    assert refused(museum, "wing = :w AND school = :n", {":n": {"N": "1"}}) == message
    assert refused(museum, "wing = :w AND school = :s AND made = :t", {":t": {"S": "x"}}) == message


def test_filters_may_name_the_tables_keys_and_not_the_indexs(museum, refused):
    condition = "wing = :w AND school = :s"
    assert found(museum, "", FilterExpression="attribute_exists(pk)") == "dbcea"
    for name in (*HASH, *RANGE):
        assert refused(museum, condition, FilterExpression=f"attribute_exists({name})") == (
            f"Filter Expression can only contain non-primary key attributes: Primary key attribute: {name}"
        )


def test_legacy_key_conditions_reach_every_attribute(museum, refusal):
    def equal(value: dict[str, str], operator: str = "EQ") -> dict[str, Any]:
        return {"ComparisonOperator": operator, "AttributeValueList": [value]}

    place = {"wing": equal({"S": "east"}), "school": equal({"S": "cubist"})}
    where = {"TableName": "museum", "IndexName": "by-place"}
    conditions = place | {"made": equal({"N": "10"}), "title": equal({"S": "x"}, "GT")}
    answer = museum("Query", KeyConditions=conditions, **where)
    assert [item["pk"]["S"] for item in answer["Items"]] == ["e", "a"]
    error = refusal(museum, "Query", KeyConditions=place | {"title": equal({"S": "x"})}, **where)
    assert error.message.startswith("RANGE key attributes made must have equality conditions")


def test_an_index_is_not_read_consistently(museum, refused):
    assert refused(museum, "wing = :w AND school = :s", ConsistentRead=True) == (
        "Consistent reads are not supported on global secondary indexes"
    )


# Paging


def test_a_page_ends_at_a_key_of_all_attributes_of_index_and_table(museum):
    page = query(museum, "wing = :w AND school = :s", Limit=2)
    assert page["LastEvaluatedKey"] == work("b", "9", "y")
    assert found(museum, "", ExclusiveStartKey=page["LastEvaluatedKey"]) == "cea"


@pytest.mark.parametrize("name", [*HASH, *RANGE, "pk"])
def test_a_starting_key_has_all_of_them(museum, refused, name):
    start = work("b", "9", "y")
    del start[name]
    assert refused(museum, "wing = :w AND school = :s", ExclusiveStartKey=start) == (
        "The provided starting key is invalid"
    )


def test_a_scan_of_the_index_pages_through_all_partitions(museum):
    for number in range(6):
        item = work(f"other{number}", "1", "t") | {"school": {"S": f"school{number}"}}
        museum("PutItem", TableName="museum", Item=item)
    seen, start = [], {}
    while True:
        page = museum("Scan", TableName="museum", IndexName="by-place", Limit=1, **start)
        seen += [item["pk"]["S"] for item in page["Items"]]
        if "LastEvaluatedKey" not in page:
            break
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    assert sorted(seen) == ["a", "b", "c", "d", "e", *(f"other{number}" for number in range(6))]


# What else sees the keys


def test_the_partition_of_a_row_is_that_of_all_partition_attributes_together():
    schema = schema_of(keys(*HASH, ranges=("title",)), {"wing": "S", "school": "S", "title": "S"})

    def partition(wing: str, school: str, title: str = "x") -> bytes:
        return partition_prefix(schema, {"wing": {"S": wing}, "school": {"S": school}, "title": {"S": title}})

    assert partition("east", "cubist") == partition("east", "cubist", "y")
    others = [("east", "fauve"), ("west", "cubist"), ("eas", "tcubist"), ("cubist", "east")]
    assert partition("east", "cubist") not in {partition(*other) for other in others}


def test_a_change_of_any_key_attribute_costs_the_index_a_delete_and_a_put(museum):
    update = {"TableName": "museum", "Key": {"pk": {"S": "a"}}, "ReturnConsumedCapacity": "INDEXES"}
    for name, value in {"school": {"S": "fauve"}, "title": {"S": "new"}}.items():
        answer = museum(
            "UpdateItem",
            UpdateExpression=f"SET {name} = :v",
            ExpressionAttributeValues={":v": value},
            **update,
        )
        assert answer["ConsumedCapacity"]["GlobalSecondaryIndexes"]["by-place"]["CapacityUnits"] == 2.0


def test_a_stream_of_keys_only_has_the_tables_keys_only(store):
    store.create(
        "museum",
        "pk:S",
        attributes=["wing:S", "school:S"],
        GlobalSecondaryIndexes=[index(keys(*HASH))],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
    )
    store("PutItem", TableName="museum", Item=work("a", "9", "x"))
    arn = store("ListStreams")["Streams"][0]["StreamArn"]
    shard = store("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    iterator = store("GetShardIterator", StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
    record = store("GetRecords", ShardIterator=iterator["ShardIterator"])["Records"][0]["dynamodb"]
    assert record["Keys"] == {"pk": {"S": "a"}}
    assert "NewImage" not in record


def test_item_collections_are_not_measured_by_it(museum):
    answer = museum(
        "PutItem", TableName="museum", Item=work("f", "9", "x"), ReturnItemCollectionMetrics="SIZE"
    )
    assert "ItemCollectionMetrics" not in answer


# All of it against a naive reading of the rules

_TYPES = {"h1": "S", "h2": "N", "r1": "N", "r2": "B", "r3": "S"}
_VALUES = {
    "S": st.sampled_from(["a", "ab", "b", "a\0", "é", "😀"]).map(lambda text: {"S": text}),
    "N": st.sampled_from(["-1", "0", "2", "10", "0.5"]).map(lambda text: {"N": text}),
    "B": st.sampled_from([b"a", b"a\0", b"a\0b", b"\xff", b"b"]).map(lambda raw: {"B": raw}),
}
_RANGES = ("r1", "r2", "r3")


def comparable(value: dict[str, Any]) -> Any:
    ((kind, content),) = value.items()
    return Decimal(content) if kind == "N" else content.encode() if kind == "S" else content


def rank(item: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(comparable(item[name]) for name in _RANGES)


_MATCHES = {
    "=": lambda x, low, high: x == low,
    "<": lambda x, low, high: x < low,
    "<=": lambda x, low, high: x <= low,
    ">": lambda x, low, high: x > low,
    ">=": lambda x, low, high: x >= low,
    "BETWEEN": lambda x, low, high: low <= x <= high,
    "begins_with": lambda x, low, high: x.startswith(low),
}


@st.composite
def a_condition(draw: st.DrawFn) -> list[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Attribute, operator and one or two operands: equalities from the left, the last anything."""
    tests = []
    number = draw(st.integers(0, len(_RANGES)))
    for position, name in enumerate(("h1", "h2", *_RANGES[:number])):
        kind = _TYPES[name]
        low, high = sorted([draw(_VALUES[kind]), draw(_VALUES[kind])], key=comparable)
        operators = ["="]
        if number and position == number + 1:
            operators = [one for one in _MATCHES if one != "begins_with" or kind != "N"]
        tests.append((name, draw(st.sampled_from(operators)), low, high))
    return tests


_WHOLE = st.fixed_dictionaries({name: _VALUES[kind] for name, kind in _TYPES.items()})
_SPARSE = st.fixed_dictionaries({}, optional={name: _VALUES[kind] for name, kind in _TYPES.items()})
_ITEMS = st.lists(st.one_of(_WHOLE, _WHOLE, _SPARSE), max_size=25)


def new_store() -> Callable[..., Any]:
    drawn = count(1)
    engine = Engine(lambda: 1.7e9, lambda size: next(drawn).to_bytes(size, "big"))
    return lambda operation, **request: engine.execute(operation, request)


@given(_ITEMS, a_condition(), st.lists(st.integers(1, 4), min_size=1, max_size=5), st.booleans())
@settings(max_examples=60)
def test_a_query_is_a_filter_and_a_sort_however_it_is_paged(items, tests, limits, forward) -> None:
    store = new_store()
    store(
        "CreateTable",
        TableName="museum",
        KeySchema=keys("pk"),
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": kind} for name, kind in {"pk": "S", **_TYPES}.items()
        ],
        BillingMode="PAY_PER_REQUEST",
        GlobalSecondaryIndexes=[index(keys("h1", "h2", ranges=_RANGES))],
    )
    rows = [{"pk": {"S": str(number)}, **item} for number, item in enumerate(items)]
    for row in rows:
        store("PutItem", TableName="museum", Item=row)

    texts, values = [], {}
    for name, operator, low, high in tests:
        values[f":{name}"] = low
        if operator == "BETWEEN":
            values[f":{name}high"] = high
        texts.append(
            {
                "BETWEEN": f"{name} BETWEEN :{name} AND :{name}high",
                "begins_with": f"begins_with({name}, :{name})",
            }.get(operator, f"{name} {operator} :{name}")
        )
    answer, start = [], {}
    for number in range(len(rows) + 2):
        page = query(
            store,
            " AND ".join(texts),
            values,
            Limit=limits[number % len(limits)],
            ScanIndexForward=forward,
            **start,
        )
        answer += page["Items"]
        if "LastEvaluatedKey" not in page:
            break
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    expected = [
        row
        for row in rows
        if set(_TYPES) <= set(row)
        and all(
            _MATCHES[operator](comparable(row[name]), comparable(low), comparable(high))
            for name, operator, low, high in tests
        )
    ]
    assert [rank(row) for row in answer] == sorted(map(rank, expected), reverse=not forward)
    assert sorted(row["pk"]["S"] for row in answer) == sorted(row["pk"]["S"] for row in expected)
