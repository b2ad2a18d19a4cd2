"""TableDescription: what is there, what is absent, and how it follows the table."""

from backend.tables.descriptions import describe


def test_an_on_demand_table_without_indexes(bench):
    table = bench.create("orders")
    bench.write(table, "1", {"pk": {"S": "1"}})
    assert describe(table, bench.time) == {
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "TableName": "orders",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "TableStatus": "ACTIVE",
        "CreationDateTime": 1000.0,
        "ProvisionedThroughput": {
            "NumberOfDecreasesToday": 0,
            "ReadCapacityUnits": 0,
            "WriteCapacityUnits": 0,
        },
        "TableSizeBytes": 3,
        "ItemCount": 1,
        "TableArn": table.arn,
        "TableId": table.id,
        "DeletionProtectionEnabled": False,
        "BillingModeSummary": {
            "BillingMode": "PAY_PER_REQUEST",
            "LastUpdateToPayPerRequestDateTime": 1000.0,
        },
        "WarmThroughput": {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000, "Status": "ACTIVE"},
    }


def test_attributes_are_sorted_by_name_and_indexes_are_not(bench):
    def include(name, key):
        return {
            "IndexName": name,
            "KeySchema": [{"AttributeName": key, "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["zz", "aa", "mm"]},
        }

    names = ["z", "pk", "a"]
    table = bench.create(
        "orders",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
        GlobalSecondaryIndexes=[include("by-z", "z"), include("by-a", "a")],
    )
    description = describe(table, bench.time)
    assert [one["AttributeName"] for one in description["AttributeDefinitions"]] == ["a", "pk", "z"]
    indexes = description["GlobalSecondaryIndexes"]
    assert [one["IndexName"] for one in indexes] == ["by-z", "by-a"]
    assert indexes[0]["Projection"]["NonKeyAttributes"] == ["aa", "mm", "zz"]


def test_a_provisioned_table_has_no_billing_summary(bench):
    throughput = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 2}
    table = bench.create("orders", BillingMode="PROVISIONED", ProvisionedThroughput=throughput)
    description = describe(table, bench.time)
    assert "BillingModeSummary" not in description
    assert description["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **throughput}


def test_a_table_being_created_counts_nothing(slow_bench, by_status):
    table = slow_bench.create("orders", GlobalSecondaryIndexes=[by_status])
    description = describe(table, slow_bench.time)
    assert (description["TableStatus"], description["ItemCount"], description["TableSizeBytes"]) == (
        "CREATING",
        0,
        0,
    )
    assert "WarmThroughput" not in description
    assert description["GlobalSecondaryIndexes"][0]["IndexStatus"] == "CREATING"
    slow_bench.time += 5.0
    index = describe(table, slow_bench.time)["GlobalSecondaryIndexes"][0]
    assert index["IndexStatus"] == "ACTIVE"


def test_indexes_are_counted_and_measured(bench, by_status):
    near = {**by_status, "IndexName": "near", "Projection": {"ProjectionType": "ALL"}}
    table = bench.create("orders", LocalSecondaryIndexes=[near], GlobalSecondaryIndexes=[by_status])
    bench.write(table, "1", {"pk": {"S": "1"}, "status": {"S": "open"}, "x": {"S": "12345"}})
    bench.write(table, "2", {"pk": {"S": "2"}})
    description = describe(table, bench.time)
    (local,) = description["LocalSecondaryIndexes"]
    (far,) = description["GlobalSecondaryIndexes"]
    assert (local["ItemCount"], local["IndexSizeBytes"]) == (1, 19)
    assert (far["ItemCount"], far["IndexSizeBytes"]) == (1, 13)
    assert far["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert far["IndexArn"] == f"{table.arn}/index/by-status"
    assert "IndexStatus" not in local
