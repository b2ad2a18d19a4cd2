"""Query and Scan: what they accept, what a page holds, and where the next one begins."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

KEYS = {"pk": {"S": "a"}, "sk": {"N": "1"}}
STARTING = "The provided starting key"
STARTING_KEY = f"{STARTING} is invalid"
NOT_RESTARTED = "The query can return at most one row and cannot be restarted"
MISMATCH = "The provided key element does not match the schema"
INVALID = "One or more parameter values were invalid: "


def song(number: int) -> dict[str, Any]:
    return {
        "pk": {"S": "a"},
        "sk": {"N": str(number)},
        "genre": {"S": "rock"},
        "year": {"N": str(2000 - number)},
        "title": {"S": f"t{number}"},
        "note": {"S": "odd" if number % 2 else "even"},
    }


@pytest.fixture
def songs(dynamodb: Any) -> str:
    """Six songs of one partition, with a local index by year and global ones by genre."""
    name: str = dynamodb.create(
        "pk:S",
        "sk:N",
        attributes=["genre:S", "year:N"],
        LocalSecondaryIndexes=[dynamodb.index("by-year", "pk", "year", projection="KEYS_ONLY")],
        GlobalSecondaryIndexes=[
            dynamodb.index("by-genre", "genre", "year", projection="INCLUDE", also=["title"]),
            dynamodb.index("by-genre-only", "genre"),
        ],
    )
    dynamodb.put(name, *map(song, range(6)))
    return name


def by_pk(table: str, more: str = "", values: Any = None, **request: Any) -> dict[str, Any]:
    """A Query of the partition `a`, with `more` after the condition on its key."""
    return {
        "TableName": table,
        "KeyConditionExpression": "pk = :a" + more,
        "ExpressionAttributeValues": {":a": {"S": "a"}, **(values or {})},
        **request,
    }


def by_genre(table: str, **request: Any) -> dict[str, Any]:
    return {
        "TableName": table,
        "IndexName": "by-genre",
        "KeyConditionExpression": "genre = :g",
        "ExpressionAttributeValues": {":g": {"S": "rock"}},
        **request,
    }


def numbers(answer: Any) -> list[int]:
    return [int(item["sk"]["N"]) for item in answer["Items"]]


def legacy(**conditions: tuple[str, list[Any]]) -> dict[str, Any]:
    return {
        name: {"ComparisonOperator": kind, "AttributeValueList": operands}
        for name, (kind, operands) in conditions.items()
    }


# Key conditions

NOT_A_PARTITION = "Query key condition not supported"
MISSED = "Query condition missed key schema element: "
OTHER_TYPE = f"{INVALID}Condition parameter type does not match schema type"
OPERAND = (
    "Invalid KeyConditionExpression: Incorrect operand type for operator or function; "
    "operator or function: {}, operand type: {}"
)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("sk = :n", f"{MISSED}pk"),
        ("note = :a", f"{MISSED}pk"),
        ("pk = :a AND note = :a", f"{MISSED}sk"),
        ("pk < :a", NOT_A_PARTITION),
        ("pk >= :a AND sk = :n", NOT_A_PARTITION),
        ("pk BETWEEN :a AND :a", NOT_A_PARTITION),
        ("begins_with(pk, :a)", NOT_A_PARTITION),
        (
            "pk = :a AND sk = :n AND note = :a",
            "The number of query conditions (3) exceeds "
            "the number of key attributes defined in the schema (2)",
        ),
        (
            "pk = :a AND sk > :n AND sk < :n",
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
        ),
    ],
)
def test_a_query_names_one_partition_and_at_most_one_range(
    dynamodb: Any, sorted_table: str, condition: str, message: str
) -> None:
    values = {":a": {"S": "a"}, ":n": {"N": "1"}}
    used = {name: value for name, value in values.items() if name in condition}
    refused = dynamodb.invalid(
        "Query",
        TableName=sorted_table,
        KeyConditionExpression=condition,
        ExpressionAttributeValues=used,
    )
    assert refused == message


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({}, "Conditions can be of length 1 or 2 only"),
        (legacy(sk=("EQ", [{"N": "1"}])), f"{MISSED}pk"),
        (legacy(pk=("LT", [{"S": "a"}])), NOT_A_PARTITION),
        (legacy(pk=("EQ", [{"S": "a"}]), note=("EQ", [{"S": "a"}])), f"{MISSED}sk"),
        (
            legacy(pk=("EQ", [{"S": "a"}]), sk=("NE", [{"N": "1"}])),
            "Attempted conditional constraint is not an indexable operation",
        ),
        (
            legacy(pk=("EQ", [{"S": "a"}]), sk=("BETWEEN", [{"N": "2"}, {"N": "1"}])),
            "The BETWEEN condition was provided a range where the lower bound is greater than "
            "the upper bound",
        ),
    ],
)
def test_legacy_key_conditions_are_judged_alike(
    dynamodb: Any, sorted_table: str, conditions: Any, message: str
) -> None:
    assert dynamodb.invalid("Query", TableName=sorted_table, KeyConditions=conditions) == message


def test_a_query_needs_a_key_condition(dynamodb: Any, table: str) -> None:
    assert dynamodb.invalid("Query", TableName=table) == (
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
    )
    assert dynamodb.invalid("Query", TableName=table, KeyConditionExpression="") == (
        "Invalid KeyConditionExpression: The expression can not be empty;"
    )


def test_a_table_without_a_sort_key_takes_no_second_condition(dynamodb: Any, table: str) -> None:
    assert dynamodb.invalid("Query", **by_pk(table, " AND sk = :a")) == (
        "The number of query conditions (2) exceeds the number of key attributes defined in the schema (1)"
    )


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("pk = :a OR sk = :n", "Invalid operator used in KeyConditionExpression: OR"),
        ("NOT pk = :a", "Invalid operator used in KeyConditionExpression: NOT"),
        ("pk <> :a", "Invalid operator used in KeyConditionExpression: <>"),
        ("pk IN (:a)", "Invalid operator used in KeyConditionExpression: IN"),
        ("contains(pk, :a)", "Invalid operator used in KeyConditionExpression: contains"),
        ("attribute_exists(pk)", "Invalid operator used in KeyConditionExpression: attribute_exists"),
        ("pk.x = :a", "KeyConditionExpressions cannot have conditions on nested attributes"),
        ("pk[0] = :a", "KeyConditionExpressions cannot have conditions on nested attributes"),
        ("size(pk) = :n", "KeyConditionExpressions cannot contain nested operations"),
        (
            "pk = sk",
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
        ),
        (":a = :a", "Invalid condition in KeyConditionExpression: No key attribute specified"),
        (
            "begins_with(:a, pk)",
            "Invalid condition in KeyConditionExpression: begins_with operator must have the key attribute "
            "as its first operand",
        ),
        ("pk = :a AND begins_with(sk, :n)", OPERAND.format("begins_with", "N")),
        ("pk = :a AND sk < :t", OPERAND.format("<", "BOOL")),
        ("pk = :a AND :t >= sk", OPERAND.format(">=", "BOOL")),
        ("pk = :a AND sk BETWEEN :t AND :t", OPERAND.format("BETWEEN", "BOOL")),
        ("pk = :a AND begins_with(sk, :t)", OPERAND.format("begins_with", "BOOL")),
        ("pk = :a AND begins_with(sk, :a)", OTHER_TYPE),
        ("pk = :a AND sk = :t", OTHER_TYPE),
        ("pk = :n", OTHER_TYPE),
        ("pk = :a AND sk = :a", OTHER_TYPE),
    ],
)
def test_what_is_no_condition_on_keys(dynamodb: Any, sorted_table: str, condition: str, message: str) -> None:
    values = {":a": {"S": "a"}, ":n": {"N": "1"}, ":t": {"BOOL": True}}
    used = {name: value for name, value in values.items() if name in condition}
    more = {"ExpressionAttributeValues": used} if used else {}
    refused = dynamodb.invalid("Query", TableName=sorted_table, KeyConditionExpression=condition, **more)
    assert refused == message


UNDEFINED = (
    "Invalid KeyConditionExpression: An expression attribute value used in expression is not defined; "
    "attribute value: :u"
)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("pk = :u AND begins_with(sk, :n)", UNDEFINED),
        ("begins_with(sk, :n) AND pk = :u", OPERAND.format("begins_with", "N")),
        ("pk = :a AND begins_with(sk, :n) AND sk = :u", OPERAND.format("begins_with", "N")),
        ("pk = :a AND sk > :n AND begins_with(sk, :n)", OPERAND.format("begins_with", "N")),
    ],
)
def test_the_first_fault_of_a_key_condition_is_told_before_its_table_is_looked_for(
    dynamodb: Any, sorted_table: str, condition: str, message: str
) -> None:
    values = {":a": {"S": "a"}, ":n": {"N": "1"}}
    request = {
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": {name: value for name, value in values.items() if name in condition},
    }
    for table in (sorted_table, "nothing"):
        assert dynamodb.invalid("Query", TableName=table, **request) == message


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ("", [0, 1, 2, 3, 4, 5]),
        (" AND sk = :n", [2]),
        (" AND :n = sk", [2]),
        (" AND sk < :n", [0, 1]),
        (" AND :n > sk", [0, 1]),
        (" AND sk <= :n", [0, 1, 2]),
        (" AND sk > :n", [3, 4, 5]),
        (" AND :n < sk", [3, 4, 5]),
        (" AND (sk >= :n)", [2, 3, 4, 5]),
        (" AND sk BETWEEN :n AND :m", [2, 3, 4]),
    ],
)
def test_conditions_on_the_sort_key_and_both_directions(
    dynamodb: Any, songs: str, more: str, found: list[int]
) -> None:
    values = {":n": {"N": "2.0"}, ":m": {"N": "4e0"}}
    used = {name: value for name, value in values.items() if name in more}
    assert numbers(dynamodb("Query", **by_pk(songs, more, used))) == found
    assert numbers(dynamodb("Query", **by_pk(songs, more, used, ScanIndexForward=False))) == found[::-1]


@pytest.mark.parametrize("kind", ["S", "B"])
def test_begins_with_on_strings_and_binaries(dynamodb: Any, kind: str) -> None:
    keys = ["YQ==", "YWE=", "YWI=", "Yg==", "Yf//"] if kind == "B" else ["a", "aa", "ab", "b", "a\uffff"]
    table = dynamodb.create("pk:S", f"sk:{kind}")
    dynamodb.put(table, *({"pk": {"S": "a"}, "sk": {kind: key}} for key in keys))
    request = by_pk(table, " AND begins_with(sk, :p)", {":p": {kind: keys[0]}})
    found = [item["sk"][kind] for item in dynamodb("Query", **request)["Items"]]
    assert found == [*keys[:3], keys[4]]


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        (
            {"N": "2"},
            {"N": "1"},
            "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or "
            "equal to lower bound; lower bound operand: AttributeValue: {N:2}, "
            "upper bound operand: AttributeValue: {N:1}",
        ),
        (
            {"S": "1"},
            {"N": "2"},
            "Invalid KeyConditionExpression: The BETWEEN operator requires same data type for lower and "
            "upper bounds; lower bound operand: AttributeValue: {S:1}, "
            "upper bound operand: AttributeValue: {N:2}",
        ),
    ],
)
def test_a_range_that_ends_before_it_begins_is_refused(
    dynamodb: Any, sorted_table: str, lower: Any, upper: Any, message: str
) -> None:
    request = by_pk(sorted_table, " AND sk BETWEEN :l AND :u", {":l": lower, ":u": upper})
    assert dynamodb.invalid("Query", **request) == message


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    keys=st.lists(st.decimals(-1000, 1000, places=2).map(abs), min_size=1, max_size=5, unique=True),
    bound=st.decimals(-1000, 1000, places=2),
    symbol=st.sampled_from(["<", "<=", ">", ">=", "="]),
    forward=st.booleans(),
)
@pytest.mark.store_only
def test_any_range_is_what_comparison_makes_it(
    dynamodb: Any, sorted_table: str, keys: list[Any], bound: Any, symbol: str, forward: bool
) -> None:
    compare = {
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
        "=": operator.eq,
    }[symbol]
    partition = {"S": f"{keys}"}
    puts = [{"PutRequest": {"Item": {"pk": partition, "sk": {"N": str(key)}}}} for key in keys]
    dynamodb("BatchWriteItem", RequestItems={sorted_table: puts})
    answer = dynamodb(
        "Query",
        TableName=sorted_table,
        KeyConditionExpression=f"pk = :p AND sk {symbol} :b",
        ExpressionAttributeValues={":p": partition, ":b": {"N": str(bound)}},
        ScanIndexForward=forward,
    )
    found = [float(item["sk"]["N"]) for item in answer["Items"]]
    wanted = sorted((key for key in keys if compare(key, bound)), reverse=not forward)
    assert found == [float(key) for key in wanted]


# Filters


@pytest.mark.parametrize(
    ("request_", "key"),
    [
        ({"FilterExpression": "pk = :a"}, "pk"),
        ({"FilterExpression": "note = :a AND sk = :a"}, "sk"),
        ({"FilterExpression": "attribute_exists(sk)"}, "sk"),
        ({"FilterExpression": "year = :a", "IndexName": "by-year"}, "year"),
    ],
)
def test_a_query_does_not_filter_by_its_own_key(dynamodb: Any, songs: str, request_: Any, key: str) -> None:
    filtered = {**by_pk(songs), **request_}
    if "year" in filtered["FilterExpression"]:
        filtered["FilterExpression"] = "#y = :a"
        filtered["ExpressionAttributeNames"] = {"#y": "year"}
    assert dynamodb.invalid("Query", **filtered) == (
        f"Filter Expression can only contain non-primary key attributes: Primary key attribute: {key}"
    )


def test_a_legacy_filter_is_named_by_its_parameter(dynamodb: Any, songs: str) -> None:
    refused = dynamodb.invalid(
        "Query",
        TableName=songs,
        KeyConditions=legacy(pk=("EQ", [{"S": "a"}])),
        QueryFilter=legacy(sk=("EQ", [{"N": "1"}])),
    )
    assert refused == "QueryFilter can only contain non-primary key attributes: Primary key attribute: sk"


def test_a_filter_is_judged_before_what_the_index_projects(dynamodb: Any, songs: str) -> None:
    filtered = by_genre(songs, FilterExpression="genre = :g", Select="ALL_ATTRIBUTES")
    assert dynamodb.invalid("Query", **filtered) == (
        "Filter Expression can only contain non-primary key attributes: Primary key attribute: genre"
    )


def test_other_keys_and_scans_may_be_filtered_by(dynamodb: Any, songs: str) -> None:
    of_the_table = by_genre(songs, FilterExpression="sk = :n")
    of_the_table["ExpressionAttributeValues"][":n"] = {"N": "3"}
    assert numbers(dynamodb("Query", **of_the_table)) == [3]
    scanned = dynamodb(
        "Scan",
        TableName=songs,
        FilterExpression="pk = :a AND sk = :n",
        ExpressionAttributeValues={":a": {"S": "a"}, ":n": {"N": "3"}},
    )
    assert (numbers(scanned), scanned["ScannedCount"]) == ([3], 6)


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_a_filter_does_not_look_below_a_key(dynamodb: Any, songs: str, operation: str) -> None:
    request = by_pk(songs, FilterExpression="genre.x = :a")
    if operation == "Scan":
        del request["KeyConditionExpression"]
    assert dynamodb.invalid(operation, **request) == (
        "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
        "IndexKey: genre"
    )


# Pages


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_a_limit_counts_what_is_evaluated(dynamodb: Any, songs: str, operation: str) -> None:
    request = by_pk(songs, FilterExpression="note = :odd", Limit=3)
    request["ExpressionAttributeValues"][":odd"] = {"S": "odd"}
    if operation == "Scan":
        del request["KeyConditionExpression"]
        request["FilterExpression"] += " AND pk = :a"
    answer = dynamodb(operation, **request)
    assert (answer["Count"], answer["ScannedCount"], numbers(answer)) == (1, 3, [1])
    assert answer["LastEvaluatedKey"] == {"pk": {"S": "a"}, "sk": {"N": "2"}}


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_a_limit_reached_at_the_last_item_still_has_a_next_page(
    dynamodb: Any, songs: str, operation: str
) -> None:
    request = by_pk(songs, Limit=6) if operation == "Query" else {"TableName": songs, "Limit": 6}
    last = dynamodb(operation, **request)["LastEvaluatedKey"]
    assert last == {"pk": {"S": "a"}, "sk": {"N": "5"}}
    rest = dynamodb(operation, **request, ExclusiveStartKey=last)
    assert rest == {"Count": 0, "ScannedCount": 0, "Items": []}
    assert "LastEvaluatedKey" not in dynamodb(operation, **{**request, "Limit": 7})


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_a_limit_is_at_least_one(dynamodb: Any, table: str, operation: str) -> None:
    request = by_pk(table, Limit=0)
    if operation == "Scan":
        request = {"TableName": table, "Limit": 0}
    told = "Value at 'Limit'" if operation == "Query" else "Value '0' at 'limit'"
    assert dynamodb.invalid(operation, **request) == (
        f"1 validation error detected: {told} failed to satisfy constraint: "
        "Member must have value greater than or equal to 1"
    )


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    limit=st.integers(1, 7),
    index=st.sampled_from([None, "by-year", "by-genre", "by-genre-only"]),
    forward=st.booleans(),
    scan=st.booleans(),
)
def test_pages_join_to_the_whole(
    dynamodb: Any, songs: str, limit: int, index: str | None, forward: bool, scan: bool
) -> None:
    of_genre = index is not None and index.startswith("by-genre")
    request = by_genre(songs) if of_genre else by_pk(songs)
    if index is not None:
        request["IndexName"] = index
    if scan:
        del request["KeyConditionExpression"], request["ExpressionAttributeValues"]
    else:
        request["ScanIndexForward"] = forward
    operation = "Scan" if scan else "Query"
    whole = dynamodb(operation, **request)["Items"]
    assert len(whole) == 6
    pages, start = [], {}
    while True:
        answer = dynamodb(operation, **request, Limit=limit, **start)
        pages += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            break
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert pages == whole


@pytest.fixture
def heavy(dynamodb: Any) -> str:
    """Four items of 350 KB in one partition: the third crosses 1 MB."""
    name: str = dynamodb.create("pk:S", "sk:N")
    for number in range(4):
        item = {"pk": {"S": "a"}, "sk": {"N": str(number)}, "v": {"S": "x" * 350 * 1024}}
        dynamodb("PutItem", TableName=name, Item=item)
    return name


def test_a_page_ends_behind_the_item_that_crosses_a_megabyte(dynamodb: Any, heavy: str) -> None:
    for operation, request in [
        ("Query", by_pk(heavy, ProjectionExpression="sk")),
        ("Query", by_pk(heavy, Select="COUNT")),
        ("Query", by_pk(heavy, FilterExpression="attribute_not_exists(v)")),
        ("Query", by_pk(heavy, Limit=4)),
        ("Scan", {"TableName": heavy, "ProjectionExpression": "sk"}),
        ("Scan", {"TableName": heavy, "Select": "COUNT"}),
    ]:
        answer = dynamodb(operation, **request)
        assert answer["ScannedCount"] == 3
        assert answer["LastEvaluatedKey"] == {"pk": {"S": "a"}, "sk": {"N": "2"}}
    backwards = dynamodb("Query", **by_pk(heavy, Select="COUNT", ScanIndexForward=False))
    assert (backwards["Count"], backwards["LastEvaluatedKey"]["sk"]) == (3, {"N": "1"})
    rest = dynamodb("Query", **by_pk(heavy, ExclusiveStartKey=answer["LastEvaluatedKey"], Select="COUNT"))
    assert rest == {"Count": 1, "ScannedCount": 1}


# Starting keys


@pytest.mark.parametrize(
    ("index", "names"),
    [
        (None, {"pk", "sk"}),
        ("by-year", {"pk", "year", "sk"}),
        ("by-genre", {"genre", "year", "pk", "sk"}),
        ("by-genre-only", {"genre", "pk", "sk"}),
    ],
)
@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_the_last_key_is_that_of_index_and_table(
    dynamodb: Any, songs: str, operation: str, index: str | None, names: set[str]
) -> None:
    request = by_genre(songs, Limit=1) if "genre" in names else by_pk(songs, Limit=1)
    if operation == "Scan":
        request = {"TableName": songs, "Limit": 1}
    if index is not None:
        request["IndexName"] = index
    answer = dynamodb(operation, **request)
    first = {**song(0 if index in (None, "by-genre-only") else 5)}
    assert set(answer["LastEvaluatedKey"]) == names
    if index != "by-genre-only":
        assert answer["LastEvaluatedKey"] == {name: first[name] for name in names}


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"pk": {"S": "a"}}, STARTING_KEY),
        ({"pk": {"S": "a"}, "x": {"N": "1"}}, STARTING_KEY),
        ({**KEYS, "x": {"N": "1"}}, STARTING_KEY),
        ({"pk": {"N": "1"}, "sk": {"N": "1"}}, MISMATCH),
        ({"pk": {"S": "a"}, "sk": {"S": "1"}}, MISMATCH),
        ({"pk": {"S": "b"}, "sk": {"N": "4"}}, NOT_RESTARTED),
        ({"pk": {"S": "b"}, "sk": {"N": "1"}}, f"{STARTING} does not match the range key predicate"),
        (KEYS, f"{STARTING} does not match the range key predicate"),
        (
            {"pk": {"S": "a"}, "sk": {}},
            f"{STARTING_KEY}: Supplied AttributeValue is empty, "
            "must contain exactly one of the supported datatypes",
        ),
        ({"pk": {"S": "a"}, "sk": {"N": "x"}}, "The parameter cannot be converted to a numeric value: x"),
        ({"pk": {"S": "a"}, "sk": {"NS": ["1", "1.0"]}}, "Input collection contains duplicates"),
        (
            {"pk": {"S": "a"}, "sk": {"SS": ["x", "x"]}},
            f"{INVALID}Input collection [x, x] contains duplicates.",
        ),
    ],
)
def test_a_query_starts_only_where_it_can_have_stopped(
    dynamodb: Any, songs: str, start: Any, message: str
) -> None:
    request = by_pk(songs, " AND sk > :n", {":n": {"N": "2"}}, ExclusiveStartKey=start)
    assert dynamodb.invalid("Query", **request) == message


def test_a_query_of_one_item_has_no_next_page(dynamodb: Any, songs: str) -> None:
    request = by_pk(songs, " AND sk = :n", {":n": {"N": "1"}}, ExclusiveStartKey=KEYS)
    assert dynamodb.invalid("Query", **request) == NOT_RESTARTED


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"genre": {"S": "rock"}, "year": {"N": "1"}}, STARTING_KEY),
        (KEYS, STARTING_KEY),
        ({**KEYS, "genre": {"S": "rock"}, "x": {"N": "1"}}, STARTING_KEY),
        ({**KEYS, "genre": {"N": "1"}, "year": {"N": "1"}}, MISMATCH),
        ({**KEYS, "genre": {"S": "rock"}, "year": {"S": "1"}}, MISMATCH),
        (
            {"pk": {"N": "1"}, "sk": {"N": "1"}, "genre": {"S": "rock"}, "year": {"N": "1"}},
            f"{STARTING_KEY}: {MISMATCH}",
        ),
        (
            {**KEYS, "genre": {"S": "jazz"}, "year": {"N": "1"}},
            f"{STARTING} is outside query boundaries based on provided conditions",
        ),
    ],
)
def test_a_query_of_an_index_needs_both_keys_to_start(
    dynamodb: Any, songs: str, start: Any, message: str
) -> None:
    assert dynamodb.invalid("Query", **by_genre(songs, ExclusiveStartKey=start)) == message


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"pk": {"S": "a"}}, f"{STARTING_KEY}: {MISMATCH}"),
        ({**KEYS, "x": {"N": "1"}}, f"{STARTING_KEY}: {MISMATCH}"),
        ({"pk": {"S": "a"}, "sk": {"S": "1"}}, f"{STARTING_KEY}: {MISMATCH}"),
        (
            {"pk": {}},
            f"{STARTING_KEY}: Supplied AttributeValue is empty, "
            "must contain exactly one of the supported datatypes",
        ),
    ],
)
def test_a_scan_starts_only_at_a_key(dynamodb: Any, songs: str, start: Any, message: str) -> None:
    assert dynamodb.invalid("Scan", TableName=songs, ExclusiveStartKey=start) == message


@pytest.mark.parametrize("start", [KEYS, {**KEYS, "genre": {"S": "rock"}, "x": {"N": "1"}}])
def test_a_scan_of_an_index_needs_both_keys_to_start(dynamodb: Any, songs: str, start: Any) -> None:
    request = {"TableName": songs, "IndexName": "by-genre", "ExclusiveStartKey": start}
    assert dynamodb.invalid("Scan", **request) == STARTING_KEY
    assert dynamodb.invalid("Scan", **request, Select="ALL_ATTRIBUTES") == STARTING_KEY


def test_the_first_wrong_attribute_of_a_starting_key_is_told(dynamodb: Any, songs: str) -> None:
    rock, late = {"genre": {"S": "rock"}}, {"year": {"S": "late"}}
    other = {"x": {"S": "1"}, "y": {"S": "1"}}
    for start, message in [
        ({**other, "z": {"S": "1"}, "genre": {"N": "1"}}, MISMATCH),
        ({**other, "z": {"S": "1"}, **rock}, STARTING_KEY),
        ({**other, **rock, **late}, MISMATCH),
        ({**other, **rock, "year": {"N": "1"}}, f"{STARTING_KEY}: {MISMATCH}"),
    ]:
        request = {"TableName": songs, "IndexName": "by-genre", "ExclusiveStartKey": start}
        assert dynamodb.invalid("Scan", **request) == message
        assert dynamodb.invalid("Query", **by_genre(songs, ExclusiveStartKey=start)) == message


def test_what_an_index_projects_is_judged_between_its_key_and_the_table_s(dynamodb: Any, songs: str) -> None:
    start = {"genre": {"S": "rock"}, "year": {"N": "1"}, "x": {"S": "1"}, "y": {"S": "1"}}
    refused = dynamodb.invalid(
        "Scan", TableName=songs, IndexName="by-genre", Select="ALL_ATTRIBUTES", ExclusiveStartKey=start
    )
    assert refused.startswith(
        f"{INVALID}Select type ALL_ATTRIBUTES is not supported for global secondary index"
    )


def test_a_starting_key_need_not_exist(dynamodb: Any, songs: str) -> None:
    start = {"pk": {"S": "a"}, "sk": {"N": "2.5"}}
    assert numbers(dynamodb("Query", **by_pk(songs, ExclusiveStartKey=start))) == [3, 4, 5]
    backwards = by_pk(songs, ExclusiveStartKey=start, ScanIndexForward=False)
    assert numbers(dynamodb("Query", **backwards)) == [2, 1, 0]
    assert numbers(dynamodb("Scan", TableName=songs, ExclusiveStartKey=start)) == [3, 4, 5]


# Select


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_count_has_no_items(dynamodb: Any, songs: str, operation: str) -> None:
    request = by_pk(songs) if operation == "Query" else {"TableName": songs}
    assert dynamodb(operation, **request, Select="COUNT") == {"Count": 6, "ScannedCount": 6}


SPECIFIC = "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"Select": "SPECIFIC_ATTRIBUTES"}, SPECIFIC),
        (
            {"Select": "COUNT", "ProjectionExpression": "title"},
            "Cannot specify the ProjectionExpression when choosing to get only the Count",
        ),
        (
            {"Select": "ALL_ATTRIBUTES", "ProjectionExpression": "title"},
            "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES",
        ),
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES", "ProjectionExpression": "title", "IndexName": "by-year"},
            "Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES",
        ),
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
        ),
        (
            {"Select": "count"},
            "1 validation error detected: Value 'count' at 'select' failed to satisfy constraint: "
            "Member must satisfy enum value set: "
            "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
        ),
    ],
)
@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_what_select_excludes(
    dynamodb: Any, songs: str, operation: str, asked: dict[str, Any], message: str
) -> None:
    request = by_pk(songs) if operation == "Query" else {"TableName": songs}
    assert dynamodb.invalid(operation, **request, **asked) == message


def test_select_with_legacy_attributes(dynamodb: Any, songs: str) -> None:
    request = {"TableName": songs, "AttributesToGet": ["title"]}
    assert dynamodb.invalid("Scan", **request, Select="COUNT") == (
        "Cannot specify the AttributesToGet when choosing to get only the Count"
    )
    specific = dynamodb("Scan", **request, Select="SPECIFIC_ATTRIBUTES", Limit=1)
    assert specific["Items"] == [{"title": {"S": "t0"}}]


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_an_index_gives_what_it_projects(dynamodb: Any, songs: str, operation: str) -> None:
    keys = {"pk", "sk", "genre", "year"}
    for index, held in [
        ("by-genre", {*keys, "title"}),
        ("by-genre-only", {*keys, "title", "note"}),
        ("by-year", {"pk", "sk", "year"}),
    ]:
        request = by_pk(songs) if index == "by-year" else by_genre(songs)
        if operation == "Scan":
            request = {"TableName": songs}
        for select in ({}, {"Select": "ALL_PROJECTED_ATTRIBUTES"}):
            answer = dynamodb(operation, **{**request, "IndexName": index, "Limit": 1}, **select)
            assert set(answer["Items"][0]) == held


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_a_local_index_fetches_from_the_table_and_a_global_one_does_not(
    dynamodb: Any, songs: str, operation: str
) -> None:
    local = by_pk(songs, IndexName="by-year", Limit=1)
    wide = by_genre(songs, Select="ALL_ATTRIBUTES")
    narrow = by_genre(songs, ProjectionExpression="title, note.x, pk")
    if operation == "Scan":
        for request in (local, wide, narrow):
            del request["KeyConditionExpression"], request["ExpressionAttributeValues"]
    assert dynamodb(operation, **local, Select="ALL_ATTRIBUTES")["Items"] == [song(5)]
    assert dynamodb(operation, **local, ProjectionExpression="note")["Items"] == [{"note": {"S": "odd"}}]
    assert dynamodb.invalid(operation, **wide) == (
        f"{INVALID}Select type ALL_ATTRIBUTES is not supported for global secondary index by-genre "
        "because its projection type is not ALL"
    )
    assert dynamodb.invalid(operation, **narrow) == (
        f"{INVALID}Global secondary index by-genre does not project [note]"
    )
    if operation == "Query":
        everything = by_genre(songs, IndexName="by-genre-only", Select="ALL_ATTRIBUTES")
        assert len(dynamodb("Query", **everything)["Items"][0]) == 6


# Indexes


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_consistent_reads_are_for_tables_and_local_indexes(dynamodb: Any, songs: str, operation: str) -> None:
    global_, local = by_genre(songs), by_pk(songs, IndexName="by-year")
    if operation == "Scan":
        global_, local = ({"TableName": songs, "IndexName": name} for name in ("by-genre", "by-year"))
    assert dynamodb.invalid(operation, **global_, ConsistentRead=True) == (
        "Consistent reads are not supported on global secondary indexes"
    )
    assert dynamodb(operation, **local, ConsistentRead=True)["Count"] == 6


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_an_unknown_index_and_an_unknown_table(dynamodb: Any, table: str, operation: str) -> None:
    request = by_pk(table, IndexName="nothing")
    if operation == "Scan":
        request = {"TableName": table, "IndexName": "nothing"}
    assert dynamodb.invalid(operation, **request) == "The table does not have the specified index: nothing"
    missing = dynamodb.refusal(operation, **{**request, "TableName": "nothing"})
    assert missing == ("ResourceNotFoundException", "Requested resource not found")


# Parallel scans


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"Segment": 0},
            "The TotalSegments parameter is required but was not present in the request "
            "when Segment parameter is present",
        ),
        (
            {"TotalSegments": 1},
            "The Segment parameter is required but was not present in the request "
            "when parameter TotalSegments is present",
        ),
        (
            {"Segment": 2, "TotalSegments": 2},
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            "Segment: 2 is not less than TotalSegments: 2",
        ),
        (
            {"Segment": -1, "TotalSegments": 2},
            "1 validation error detected: Value '-1' at 'segment' failed to satisfy constraint: "
            "Member must have value greater than or equal to 0",
        ),
        (
            {"Segment": 0, "TotalSegments": 0},
            "1 validation error detected: Value '0' at 'totalSegments' failed to satisfy constraint: "
            "Member must have value greater than or equal to 1",
        ),
        (
            {"Segment": 0, "TotalSegments": 1_000_001},
            "1 validation error detected: Value '1000001' at 'totalSegments' failed to satisfy constraint: "
            "Member must have value less than or equal to 1000000",
        ),
    ],
)
def test_segments_are_numbered_from_zero(
    dynamodb: Any, table: str, asked: dict[str, int], message: str
) -> None:
    assert dynamodb.invalid("Scan", TableName=table, **asked) == message


@pytest.fixture
def spread(dynamodb: Any) -> str:
    """Twenty partitions of three items each."""
    name: str = dynamodb.create("pk:S", "sk:N")
    items = [{"pk": {"S": f"p{n // 3}"}, "sk": {"N": str(n % 3)}} for n in range(60)]
    for begin in range(0, 60, 20):
        puts = [{"PutRequest": {"Item": item}} for item in items[begin : begin + 20]]
        dynamodb("BatchWriteItem", RequestItems={name: puts})
    return name


@pytest.mark.parametrize("total", [1, 2, 7, 1_000_000])
def test_segments_share_out_whole_partitions(dynamodb: Any, spread: str, total: int) -> None:
    whole = dynamodb("Scan", TableName=spread)["Items"]
    shares = [
        dynamodb("Scan", TableName=spread, Segment=segment, TotalSegments=total)["Items"]
        for segment in range(min(total, 7))
    ]
    partitions = [{item["pk"]["S"] for item in share} for share in shares]
    assert sum(map(len, partitions)) == len(set().union(*partitions))
    if total <= 7:
        assert sorted(map(str, itertools.chain(*shares))) == sorted(map(str, whole))


def test_a_segment_starts_only_within_itself(dynamodb: Any, spread: str) -> None:
    first = dynamodb("Scan", TableName=spread, Segment=0, TotalSegments=2, Limit=1)
    start = first["LastEvaluatedKey"]
    refused = dynamodb.invalid("Scan", TableName=spread, Segment=1, TotalSegments=2, ExclusiveStartKey=start)
    assert refused == (
        f"{STARTING_KEY}: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. "
        "TotalSegments: 2 Segment: 1"
    )


def test_a_scan_is_ordered_within_partitions_and_stable_between_pages(dynamodb: Any, spread: str) -> None:
    whole = dynamodb("Scan", TableName=spread)["Items"]
    partitions = [item["pk"]["S"] for item in whole]
    assert len(list(itertools.groupby(partitions))) == 20
    for name in set(partitions):
        assert [item["sk"]["N"] for item in whole if item["pk"]["S"] == name] == ["0", "1", "2"]
    items, start = [], {}
    for _ in range(9):
        page = dynamodb("Scan", TableName=spread, Limit=7, **start)
        items += page["Items"]
        start = {"ExclusiveStartKey": page.get("LastEvaluatedKey")}
    assert items == whole


@pytest.mark.parametrize(
    ("kind", "recorded"),
    [
        ("S", ["2", "8", "9", "1", "6", "hello", "0", "5", "4", "äáöü", "aardman", "7", "3", "zapf"]),
        ("N", ["7", "999.9", "8", "3", "2", "-999.9", "9", "4", "-0.09", "6", "1", "0", "0.012345", "5"]),
    ],
)
def test_a_scan_comes_in_the_order_of_the_service_s_hashes(
    dynamodb: Any, kind: str, recorded: list[str]
) -> None:
    table = dynamodb.create(f"pk:{kind}")
    dynamodb.put(table, *({"pk": {kind: text}} for text in sorted(recorded)))
    assert [item["pk"][kind] for item in dynamodb("Scan", TableName=table)["Items"]] == recorded


def test_a_segment_has_the_keys_that_the_service_puts_there(dynamodb: Any) -> None:
    table = dynamodb.create("pk:S")
    places = {"3635": 0, "228": 0, "1668": 1, "3435": 4}
    dynamodb.put(table, *({"pk": {"S": text}} for text in places))
    for text, segment in places.items():
        answer = dynamodb("Scan", TableName=table, Segment=segment, TotalSegments=4096)
        assert {"pk": {"S": text}} in answer["Items"]


def test_equal_keys_of_an_index_come_in_the_order_of_the_service_s_hashes(dynamodb: Any) -> None:
    """The hash of partition and sort key together, not of the partition key."""
    indexes = [dynamodb.index("by-i", "i")]
    table = dynamodb.create("a:S", "b:S", attributes=["i:S"], GlobalSecondaryIndexes=indexes)
    recorded = ["bb", "aa", "ce", "ea", "da", "cd"]
    dynamodb.put(table, *({"a": {"S": a}, "b": {"S": b}, "i": {"S": "i"}} for a, b in sorted(recorded)))
    request = {
        "TableName": table,
        "IndexName": "by-i",
        "KeyConditionExpression": "i = :i",
        "ExpressionAttributeValues": {":i": {"S": "i"}},
    }
    order = [item["a"]["S"] + item["b"]["S"] for item in dynamodb("Query", **request)["Items"]]
    assert order == recorded
    page = dynamodb("Query", **request, Limit=4)
    rest = dynamodb("Query", **request, ExclusiveStartKey=page["LastEvaluatedKey"])
    assert [item["a"]["S"] + item["b"]["S"] for item in page["Items"] + rest["Items"]] == recorded
