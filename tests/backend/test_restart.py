"""An engine that is made anew on the storage of another one goes on where that one was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backend.engine import Engine
from backend.errors import ServiceError
from backend.storage.durable import DurableStorage

DAY = 24 * 3600


class Restarts:
    """A store on a data directory. `restart()` closes it and opens it again."""

    def __init__(self, new_store: Any, path: Path) -> None:
        self._new_store, self._path = new_store, path
        self.options: dict[str, Any] = {}
        self.store: Any = None

    def open(self, **settings: Any) -> Any:
        self.options = settings
        self.storage = DurableStorage(self._path)
        self.store = self._new_store(settings=settings, storage=self.storage)
        return self.store

    def restart(self) -> Any:
        drawn = self.store._drawn
        self.storage.close()
        self.open(**self.options)
        self.store._drawn = drawn
        return self.store


@pytest.fixture
def restarts(new_store, tmp_path):
    made = Restarts(new_store, tmp_path / "data")
    yield made
    made.storage.close()


def described(store: Any) -> list[Any]:
    """Everything that can be asked about every table."""
    found = []
    for name in store("ListTables")["TableNames"]:
        table = store("DescribeTable", TableName=name)["Table"]
        found.append(table)
        found.append(store("ListTagsOfResource", ResourceArn=table["TableArn"]))
        found.append(store("DescribeTimeToLive", TableName=name))
    found.append(store("ListStreams"))
    return found


def declared(store: Any, *more: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in more]


def test_whatever_can_be_told_of_a_table_survives(restarts, index_of, clock):
    store = restarts.open()
    multiple = index_of("many", "a", "b")
    multiple["KeySchema"].insert(1, {"AttributeName": "c", "KeyType": "HASH"})
    store.create(
        "music",
        "pk:S",
        "sk:N",
        attributes=("a:S", "b:S", "c:S", "near:B"),
        LocalSecondaryIndexes=[index_of("local", "pk", "near", "INCLUDE", ("x", "y"))],
        GlobalSecondaryIndexes=[multiple],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        SSESpecification={"Enabled": True},
        TableClass="STANDARD_INFREQUENT_ACCESS",
        OnDemandThroughput={"MaxReadRequestUnits": 7, "MaxWriteRequestUnits": 8},
        Tags=[{"Key": "team", "Value": "one"}, {"Key": "old", "Value": "x"}],
    )
    store(
        "CreateTable",
        TableName="plain",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=declared(store, "pk"),
        ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
    )
    clock.advance(10.0)
    arn = store("DescribeTable", TableName="music")["Table"]["TableArn"]
    store("TagResource", ResourceArn=arn, Tags=[{"Key": "team", "Value": "two"}])
    store("UntagResource", ResourceArn=arn, TagKeys=["old"])
    store(
        "UpdateTimeToLive",
        TableName="music",
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"},
    )
    store(
        "UpdateTable",
        TableName="plain",
        ProvisionedThroughput={"ReadCapacityUnits": 9, "WriteCapacityUnits": 2},
    )
    store("UpdateTable", TableName="plain", DeletionProtectionEnabled=True)
    store("UpdateTable", TableName="music", TableClass="STANDARD")
    store(
        "UpdateTable",
        TableName="plain",
        AttributeDefinitions=declared(store, "pk", "late"),
        GlobalSecondaryIndexUpdates=[
            {
                "Create": {
                    **index_of("late", "late"),
                    "ProvisionedThroughput": {"ReadCapacityUnits": 3, "WriteCapacityUnits": 3},
                }
            }
        ],
    )
    store(
        "UpdateTable",
        TableName="plain",
        GlobalSecondaryIndexUpdates=[
            {
                "Update": {
                    "IndexName": "late",
                    "ProvisionedThroughput": {"ReadCapacityUnits": 4, "WriteCapacityUnits": 1},
                }
            }
        ],
    )
    store("PutItem", TableName="music", Item={"pk": {"S": "a"}, "sk": {"N": "1"}, "near": {"B": b"\x00\xff"}})
    store("PutItem", TableName="plain", Item={"pk": {"S": "a"}, "late": {"S": "x"}})
    before = described(store)
    for _ in range(2):
        store = restarts.restart()
        assert described(store) == before


def test_items_and_indexes_survive_and_go_on(restarts, index_of):
    store = restarts.open()
    store.create(
        "music", "pk:S", attributes=("genre:S",), GlobalSecondaryIndexes=[index_of("by-genre", "genre")]
    )
    for key in "abc":
        item = {"pk": {"S": key}, "genre": {"S": "rock"}, "parts": {"L": [{"B": b"\xff"}, {"NULL": True}]}}
        store("PutItem", TableName="music", Item=item)
    before = store("Scan", TableName="music"), store("Scan", TableName="music", IndexName="by-genre")
    store = restarts.restart()
    assert (
        store("Scan", TableName="music"),
        store("Scan", TableName="music", IndexName="by-genre"),
    ) == before
    store("DeleteItem", TableName="music", Key={"pk": {"S": "b"}})
    store = restarts.restart()
    assert store("Scan", TableName="music", IndexName="by-genre")["Count"] == 2


def test_late_changes_of_an_index_arrive_after_the_restart_and_in_their_order(restarts, index_of, clock):
    store = restarts.open(gsi_lag=5.0)
    store.create(
        "music", "pk:S", attributes=("genre:S",), GlobalSecondaryIndexes=[index_of("by-genre", "genre")]
    )
    store("PutItem", TableName="music", Item={"pk": {"S": "a"}, "genre": {"S": "rock"}})
    store = restarts.restart()
    store("PutItem", TableName="music", Item={"pk": {"S": "a"}, "genre": {"S": "jazz"}})
    assert store("Scan", TableName="music", IndexName="by-genre")["Items"] == []
    store = restarts.restart()
    clock.advance(5.0)
    found = store("Scan", TableName="music", IndexName="by-genre")["Items"]
    assert found == [{"pk": {"S": "a"}, "genre": {"S": "jazz"}}]


def test_a_table_in_transition_stays_so_until_its_time(restarts, clock):
    store = restarts.open(table_delay=10.0)
    store.create("music", "pk:S")
    store = restarts.restart()
    assert store("DescribeTable", TableName="music")["Table"]["TableStatus"] == "CREATING"
    clock.advance(10.0)
    assert store("DescribeTable", TableName="music")["Table"]["TableStatus"] == "ACTIVE"
    store("DeleteTable", TableName="music")
    store = restarts.restart()
    assert store("DescribeTable", TableName="music")["Table"]["TableStatus"] == "DELETING"
    clock.advance(10.0)
    store = restarts.restart()
    assert store("ListTables")["TableNames"] == []
    store = restarts.restart()
    assert store("ListTables")["TableNames"] == []


def test_an_index_whose_deletion_is_over_stays_away(restarts, index_of, clock):
    store = restarts.open(table_delay=10.0)
    store.create("music", "pk:S", attributes=("a:S",), GlobalSecondaryIndexes=[index_of("by-a", "a")])
    clock.advance(10.0)
    store("UpdateTable", TableName="music", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-a"}}])
    clock.advance(10.0)
    assert "GlobalSecondaryIndexes" not in store("DescribeTable", TableName="music")["Table"]
    store = restarts.restart()
    # It would refuse what is no key of it.
    store("PutItem", TableName="music", Item={"pk": {"S": "a"}, "a": {"N": "1"}})


def test_a_table_of_a_deleted_ones_name_is_empty(restarts):
    store = restarts.open()
    store.create("music", "pk:S")
    store("PutItem", TableName="music", Item={"pk": {"S": "a"}})
    store("DeleteTable", TableName="music")
    store = restarts.restart()
    store.create("music", "pk:S")
    store = restarts.restart()
    assert store("Scan", TableName="music")["Count"] == 0


def test_an_index_that_was_dropped_and_made_anew_has_the_new_rows(restarts, index_of):
    store = restarts.open()
    store.create(
        "music", "pk:S", attributes=("genre:S",), GlobalSecondaryIndexes=[index_of("by-genre", "genre")]
    )
    store("PutItem", TableName="music", Item={"pk": {"S": "a"}, "genre": {"S": "rock"}})
    drop = [{"Delete": {"IndexName": "by-genre"}}]
    store("UpdateTable", TableName="music", GlobalSecondaryIndexUpdates=drop)
    store = restarts.restart()
    store("DeleteItem", TableName="music", Key={"pk": {"S": "a"}})
    store("PutItem", TableName="music", Item={"pk": {"S": "b"}, "genre": {"S": "jazz"}})
    store("DescribeTable", TableName="music")
    make = [{"Create": index_of("by-genre", "genre")}]
    attributes = declared(store, "pk", "genre")
    store("UpdateTable", TableName="music", AttributeDefinitions=attributes, GlobalSecondaryIndexUpdates=make)
    store = restarts.restart()
    found = store("Scan", TableName="music", IndexName="by-genre")["Items"]
    assert found == [{"pk": {"S": "b"}, "genre": {"S": "jazz"}}]


def test_items_expire_after_the_restart_and_their_stream_says_so(restarts, clock):
    store = restarts.open(ttl_delay=0.0)
    store.create("music", "pk:S", StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    store(
        "UpdateTimeToLive",
        TableName="music",
        TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"},
    )
    store("PutItem", TableName="music", Item={"pk": {"S": "a"}, "expires": {"N": str(int(clock.time) + 60)}})
    store = restarts.restart()
    clock.advance(30.0)
    assert store("Scan", TableName="music")["Count"] == 1
    clock.advance(31.0)
    assert store("Scan", TableName="music")["Count"] == 0
    store = restarts.restart()
    records = read_stream(store)
    assert [record["eventName"] for record in records] == ["INSERT", "REMOVE"]
    assert records[1]["userIdentity"]["Type"] == "Service"


def iterator(store: Any) -> str:
    arn = store("ListStreams")["Streams"][0]["StreamArn"]
    (shard,) = store("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]
    answer = store(
        "GetShardIterator", StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )
    return str(answer["ShardIterator"])


def read_stream(store: Any) -> list[Any]:
    return list(store("GetRecords", ShardIterator=iterator(store))["Records"])


def test_an_iterator_of_a_stream_goes_on_and_its_numbers_grow(restarts):
    store = restarts.open()
    store.create("music", "pk:S", StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    store("PutItem", TableName="music", Item={"pk": {"S": "a"}})
    first = store("GetRecords", ShardIterator=iterator(store))
    store = restarts.restart()
    store("PutItem", TableName="music", Item={"pk": {"S": "b"}})
    (record,) = store("GetRecords", ShardIterator=first["NextShardIterator"])["Records"]
    assert record["dynamodb"]["Keys"] == {"pk": {"S": "b"}}
    numbers = [int(one["dynamodb"]["SequenceNumber"]) for one in read_stream(store)]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == 2


def test_the_stream_of_a_deleted_table_is_readable_for_a_day(restarts, clock):
    store = restarts.open()
    store.create("music", "pk:S", StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    store("PutItem", TableName="music", Item={"pk": {"S": "a"}})
    store("DeleteTable", TableName="music")
    store = restarts.restart()
    assert len(read_stream(store)) == 1
    clock.advance(DAY)
    assert store("ListStreams")["Streams"] == []
    assert restarts.restart()("ListStreams")["Streams"] == []


def test_a_repeated_transaction_is_recognised(restarts, clock):
    store = restarts.open()
    store.create("music", "pk:S")

    def count(by: str) -> Any:
        update = {
            "TableName": "music",
            "Key": {"pk": {"S": "a"}},
            "UpdateExpression": "ADD plays :by",
            "ExpressionAttributeValues": {":by": {"N": by}},
        }
        return restarts.store(
            "TransactWriteItems", TransactItems=[{"Update": update}], ClientRequestToken="once"
        )

    count("1")
    restarts.restart()
    count("1")
    with pytest.raises(ServiceError) as mismatch:
        count("2")
    assert mismatch.value.code == "IdempotentParameterMismatchException"
    key = {"TableName": "music", "Key": {"pk": {"S": "a"}}}
    assert restarts.store("GetItem", **key)["Item"]["plays"] == {"N": "1"}
    clock.advance(601.0)
    restarts.restart()
    count("1")
    assert restarts.store("GetItem", **key)["Item"]["plays"] == {"N": "2"}


def test_a_storage_in_memory_serves_a_second_engine_as_well(store):
    store.create("music", "pk:S")
    store("PutItem", TableName="music", Item={"pk": {"S": "a"}})
    second = Engine(store.clock.now, bytes, storage=store.engine.storage)
    assert second.execute("Scan", {"TableName": "music"})["Count"] == 1
