"""ConsumedCapacity: what reads and writes cost, how pages are rounded, how the units are split."""

from __future__ import annotations

from typing import Any

import pytest

# A node that answers from its cache consumes nothing.
pytestmark = pytest.mark.store_only

KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}


def sized(size: int, number: int = 1) -> dict[str, Any]:
    """An item of that many bytes: 2 + 1 + 2 + 2 of keys, 1 + the text of an attribute."""
    return {"pk": {"S": "a"}, "sk": {"N": str(number)}, "v": {"S": "x" * (size - 8)}}


def units(dynamodb: Any, operation: str, **request: Any) -> float:
    """What the operation says it consumed in total."""
    answer = dynamodb(operation, ReturnConsumedCapacity="TOTAL", **request)
    consumed = answer["ConsumedCapacity"]
    assert consumed.keys() == {"TableName", "CapacityUnits"}
    total: float = consumed["CapacityUnits"]
    return total


# Reads


@pytest.mark.parametrize(
    ("size", "strong"), [(0, 1.0), (8, 1.0), (4096, 1.0), (4097, 2.0), (8192, 2.0), (8193, 3.0)]
)
def test_a_read_costs_a_unit_for_4_kb_and_half_when_it_may_be_stale(
    dynamodb: Any, sorted_table: str, size: int, strong: float
) -> None:
    if size:
        dynamodb.put(sorted_table, sized(size))
    request = {"TableName": sorted_table, "Key": KEY}
    assert units(dynamodb, "GetItem", **request, ConsistentRead=True) == strong
    assert units(dynamodb, "GetItem", **request) == strong / 2
    projected = {**request, "ProjectionExpression": "sk"}
    assert units(dynamodb, "GetItem", **projected, ConsistentRead=True) == strong

    for consistent, wanted in [(True, strong), (False, strong / 2)]:
        reads = {sorted_table: {"Keys": [KEY], "ConsistentRead": consistent, "ProjectionExpression": "sk"}}
        answer = dynamodb("BatchGetItem", RequestItems=reads, ReturnConsumedCapacity="TOTAL")
        assert answer["ConsumedCapacity"] == [{"TableName": sorted_table, "CapacityUnits": wanted}]

    get = {"Get": {"TableName": sorted_table, "Key": KEY, "ProjectionExpression": "sk"}}
    answer = dynamodb("TransactGetItems", TransactItems=[get], ReturnConsumedCapacity="TOTAL")
    double = 2 * strong
    assert answer["ConsumedCapacity"] == [
        {"TableName": sorted_table, "CapacityUnits": double, "ReadCapacityUnits": double}
    ]


# Writes


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        (0, 1024, 1.0),
        (0, 1025, 2.0),
        (1024, 8, 1.0),
        (1025, 8, 2.0),
        (8, 2049, 3.0),
        (2049, 8, 3.0),
        (3000, 3000, 3.0),
    ],
)
def test_a_write_costs_a_unit_for_each_kb_of_the_larger_state(
    dynamodb: Any, sorted_table: str, old: int, new: int, wanted: float
) -> None:
    def before() -> None:
        dynamodb("DeleteItem", TableName=sorted_table, Key=KEY)
        if old:
            dynamodb.put(sorted_table, sized(old))

    item = sized(new)
    change = {
        "TableName": sorted_table,
        "Key": KEY,
        "UpdateExpression": "SET v = :v",
        "ExpressionAttributeValues": {":v": item["v"]},
    }
    before()
    assert units(dynamodb, "PutItem", TableName=sorted_table, Item=item) == wanted
    before()
    assert units(dynamodb, "UpdateItem", **change) == wanted
    for request, factor in [
        ({"RequestItems": {sorted_table: [{"PutRequest": {"Item": item}}]}}, 1),
        ({"TransactItems": [{"Put": {"TableName": sorted_table, "Item": item}}]}, 2),
        ({"TransactItems": [{"Update": change}]}, 2),
    ]:
        before()
        operation = "BatchWriteItem" if factor == 1 else "TransactWriteItems"
        (consumed,) = dynamodb(operation, **request, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
        assert consumed["CapacityUnits"] == factor * wanted
        assert consumed.get("WriteCapacityUnits") == (None if factor == 1 else factor * wanted)


def test_a_delete_costs_what_it_removes_and_at_least_a_unit(dynamodb: Any, sorted_table: str) -> None:
    request = {"TableName": sorted_table, "Key": KEY}
    assert units(dynamodb, "DeleteItem", **request) == 1.0
    dynamodb.put(sorted_table, sized(2049))
    assert units(dynamodb, "DeleteItem", **request) == 3.0
    assert units(dynamodb, "UpdateItem", **request, UpdateExpression="REMOVE v") == 1.0


def test_a_check_costs_like_a_write(dynamodb: Any, sorted_table: str) -> None:
    dynamodb.put(sorted_table, sized(2049))
    check = {"TableName": sorted_table, "Key": KEY, "ConditionExpression": "attribute_exists(pk)"}
    request = {"TransactItems": [{"ConditionCheck": check}], "ReturnConsumedCapacity": "TOTAL"}
    (consumed,) = dynamodb("TransactWriteItems", **request)["ConsumedCapacity"]
    assert consumed["CapacityUnits"] == 6.0


def test_a_repeat_by_token_costs_reads(dynamodb: Any, sorted_table: str) -> None:
    put = {"Put": {"TableName": sorted_table, "Item": sized(4097)}}
    request = {
        "TransactItems": [put],
        "ClientRequestToken": f"{sorted_table}-repeat",
        "ReturnConsumedCapacity": "TOTAL",
    }
    (written,) = dynamodb("TransactWriteItems", **request)["ConsumedCapacity"]
    (read,) = dynamodb("TransactWriteItems", **request)["ConsumedCapacity"]
    assert written == {"TableName": sorted_table, "CapacityUnits": 10.0, "WriteCapacityUnits": 10.0}
    assert read == {"TableName": sorted_table, "CapacityUnits": 4.0, "ReadCapacityUnits": 4.0}


# Pages


@pytest.fixture
def page(dynamodb: Any, sorted_table: str) -> str:
    """Nine items of 1000 bytes: 3 units in one go, 9 one by one."""
    dynamodb.put(sorted_table, *(sized(1000, number) for number in range(1, 10)))
    return sorted_table


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"Select": "COUNT"},
        {"ProjectionExpression": "sk"},
        {"FilterExpression": "attribute_not_exists(v)"},
        {"Limit": 9},
    ],
)
@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_a_page_is_rounded_once(dynamodb: Any, page: str, operation: str, more: Any) -> None:
    request = {"TableName": page, **more}
    if operation == "Query":
        request |= {"KeyConditionExpression": "pk = :a", "ExpressionAttributeValues": {":a": {"S": "a"}}}
    assert units(dynamodb, operation, **request, ConsistentRead=True) == 3.0
    assert units(dynamodb, operation, **request) == 1.5


def test_a_limit_saves_and_an_empty_page_costs_as_little_as_can_be(dynamodb: Any, page: str) -> None:
    request = {"TableName": page, "ConsistentRead": True}
    assert units(dynamodb, "Scan", **request, Limit=4) == 1.0
    assert units(dynamodb, "Scan", **request, Limit=5) == 2.0
    nobody = {"KeyConditionExpression": "pk = :a", "ExpressionAttributeValues": {":a": {"S": "nobody"}}}
    assert units(dynamodb, "Query", **request, **nobody) == 1.0
    assert units(dynamodb, "Query", TableName=page, **nobody) == 0.5


# Splits by index


@pytest.fixture
def indexed(dynamodb: Any) -> str:
    name: str = dynamodb.create(
        "pk:S",
        "sk:N",
        attributes=["g:S", "l:S"],
        GlobalSecondaryIndexes=[
            dynamodb.index("by-g", "g"),
            dynamodb.index("by-g-keys", "g", projection="KEYS_ONLY"),
        ],
        LocalSecondaryIndexes=[dynamodb.index("by-l", "pk", "l")],
    )
    return name


def split(table: str, own: float, local: Any = None, of_all: Any = None) -> dict[str, Any]:
    """A ConsumedCapacity of INDEXES."""
    parts = {"LocalSecondaryIndexes": local, "GlobalSecondaryIndexes": of_all}
    by_index = {
        member: {name: {"CapacityUnits": one} for name, one in part.items()}
        for member, part in parts.items()
        if part
    }
    total = own + sum(one for part in parts.values() if part for one in part.values())
    return {"TableName": table, "CapacityUnits": total, "Table": {"CapacityUnits": own}, **by_index}


def test_writes_are_split_by_the_indexes_they_change(dynamodb: Any, indexed: str) -> None:
    def put(**more: Any) -> Any:
        answer = dynamodb("PutItem", TableName=indexed, Item=more, ReturnConsumedCapacity="INDEXES")
        return answer["ConsumedCapacity"]

    item = {**sized(1500), "g": {"S": "x"}}
    assert put(**sized(1500)) == split(indexed, 2.0)
    assert put(**item) == split(indexed, 2.0, of_all={"by-g": 2.0, "by-g-keys": 1.0})
    assert put(**item) == split(indexed, 2.0)
    other = {**item, "v": {"S": "y" * 1492}}
    assert put(**other) == split(indexed, 2.0, of_all={"by-g": 2.0})
    moved = {**other, "g": {"S": "y"}}
    assert put(**moved) == split(indexed, 2.0, of_all={"by-g": 4.0, "by-g-keys": 2.0})
    near = {**moved, "l": {"S": "l"}}
    assert put(**near) == split(indexed, 2.0, local={"by-l": 2.0}, of_all={"by-g": 2.0})
    gone = dynamodb("DeleteItem", TableName=indexed, Key=KEY, ReturnConsumedCapacity="INDEXES")
    assert gone["ConsumedCapacity"] == (
        split(indexed, 2.0, local={"by-l": 2.0}, of_all={"by-g": 2.0, "by-g-keys": 1.0})
    )


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_reads_are_split_into_table_and_index(dynamodb: Any, indexed: str, operation: str) -> None:
    item = {**sized(3000), "g": {"S": "x"}, "l": {"S": "y"}}
    dynamodb.put(indexed, item, {**item, "sk": {"N": "2"}})

    def read(name: str, value: str, index: str | None = None) -> Any:
        request: dict[str, Any] = {"TableName": indexed, "ReturnConsumedCapacity": "INDEXES"}
        if index is not None:
            request["IndexName"] = index
        if operation == "Query":
            request["KeyConditionExpression"] = f"{name} = :v"
            request["ExpressionAttributeValues"] = {":v": {"S": value}}
        return dynamodb(operation, **request)["ConsumedCapacity"]

    assert read("pk", "a") == split(indexed, 1.0)
    assert read("pk", "a", "by-l") == split(indexed, 0.0, local={"by-l": 1.0})
    assert read("g", "x", "by-g") == split(indexed, 0.0, of_all={"by-g": 1.0})
    assert read("g", "x", "by-g-keys") == split(indexed, 0.0, of_all={"by-g-keys": 0.5})


def test_batches_and_transactions_report_each_table(dynamodb: Any, indexed: str) -> None:
    other = dynamodb.create("pk:S")
    plain, with_index = {"pk": {"S": "a"}}, {**sized(100), "g": {"S": "x"}}
    asked = {"ReturnConsumedCapacity": "INDEXES"}
    writes = {
        indexed: [{"PutRequest": {"Item": with_index}}],
        other: [{"PutRequest": {"Item": {"pk": {"S": name}}}} for name in "abc"],
    }
    by_index = {"by-g": 1.0, "by-g-keys": 1.0}
    assert dynamodb("BatchWriteItem", RequestItems=writes, **asked)["ConsumedCapacity"] == [
        split(indexed, 1.0, of_all=by_index),
        split(other, 3.0),
    ]
    reads = {indexed: {"Keys": [KEY]}, other: {"Keys": [plain, {"pk": {"S": "nobody"}}]}}
    assert dynamodb("BatchGetItem", RequestItems=reads, **asked)["ConsumedCapacity"] == [
        split(indexed, 0.5),
        split(other, 1.0),
    ]
    gets = [
        {"Get": {"TableName": indexed, "Key": KEY}},
        {"Get": {"TableName": other, "Key": plain}},
    ]
    (_, of_other) = dynamodb("TransactGetItems", TransactItems=gets, **asked)["ConsumedCapacity"]
    two = {"CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}
    assert of_other == {"TableName": other, **two, "Table": two}


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("GetItem", {"Key": {"pk": {"S": "a"}}}),
        ("PutItem", {"Item": {"pk": {"S": "a"}}}),
        ("DeleteItem", {"Key": {"pk": {"S": "a"}}}),
        ("UpdateItem", {"Key": {"pk": {"S": "a"}}}),
        ("Scan", {}),
    ],
)
def test_who_names_a_table_by_its_arn_is_answered_with_it(
    dynamodb: Any, table: str, operation: str, request_: Any
) -> None:
    arn = dynamodb("DescribeTable", TableName=table)["Table"]["TableArn"]
    answer = dynamodb(operation, TableName=arn, ReturnConsumedCapacity="TOTAL", **request_)
    assert answer["ConsumedCapacity"]["TableName"] == arn


def test_batches_and_transactions_call_a_table_as_they_were_told(dynamodb: Any, table: str) -> None:
    arn = dynamodb("DescribeTable", TableName=table)["Table"]["TableArn"]
    item = {"pk": {"S": "a"}}
    for operation, request in [
        ("BatchWriteItem", {"RequestItems": {arn: [{"PutRequest": {"Item": item}}]}}),
        ("BatchGetItem", {"RequestItems": {arn: {"Keys": [item]}}}),
        ("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": arn, "Item": item}}]}),
        ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": arn, "Key": item}}]}),
    ]:
        (consumed,) = dynamodb(operation, **request, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
        assert consumed["TableName"] == arn


def test_what_capacity_may_be_asked_for(dynamodb: Any, table: str) -> None:
    request = {"TableName": table, "ReturnConsumedCapacity": "ALL"}
    assert dynamodb.invalid("Scan", **request) == (
        "1 validation error detected: Value 'ALL' at 'returnConsumedCapacity' failed to satisfy constraint: "
        "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
    )
    assert "ConsumedCapacity" not in dynamodb("Scan", TableName=table, ReturnConsumedCapacity="NONE")
