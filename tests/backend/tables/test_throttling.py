"""What is admitted and what is refused, with which error: seen from the operations, on a clock of its own."""

from __future__ import annotations

import pytest
from botocore.parsers import create_parser
from botocore.session import Session
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.engine import Engine, EngineSettings
from backend.errors import ServiceError
from backend.settings import ThrottlingSettings
from backend.tables.throttling import (
    MAXIMUM,
    ON_DEMAND_INDEX,
    ON_DEMAND_TABLE,
    PROVISIONED_INDEX,
    PROVISIONED_TABLE,
    QUOTA,
)
from backend.wire import error_body

ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/orders"


@pytest.fixture
def shop(new_store, index_of):
    """`shop(read, write)`, or `shop()` on demand: a store with a table `orders`, and what to do with it."""

    def build(read=None, write=None, index=None, table=None, **throttling):
        store = new_store(settings={"throttling": ThrottlingSettings(**throttling)})
        request = {
            "TableName": "orders",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            **(table or {}),
        }
        if read is None:
            request["BillingMode"] = "PAY_PER_REQUEST"
        else:
            request["ProvisionedThroughput"] = _throughput(read, write)
        if index is not None:
            one = {**index_of("by-status", "status"), **index}
            request["GlobalSecondaryIndexes"] = [one]
            request["AttributeDefinitions"].append({"AttributeName": "status", "AttributeType": "S"})
        store("CreateTable", **request)
        return Shop(store)

    return build


def _throughput(read, write):
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


class Clock:
    def __init__(self):
        self.time = 1_700_000_000.0

    def now(self):
        return self.time

    def advance(self, seconds):
        self.time += seconds


class Shop:
    def __init__(self, store):
        self.store = store

    def put(self, key, units=1, **more):
        """A put of an item of so many KB; gives the error or None."""
        item = {"pk": {"S": key}, "x": {"S": "x" * (units * 1024 - 200)}}
        return self._try("PutItem", TableName="orders", Item=item | {n: {"S": v} for n, v in more.items()})

    def get(self, key, consistent=True):
        return self._try("GetItem", TableName="orders", Key={"pk": {"S": key}}, ConsistentRead=consistent)

    def _try(self, operation, **request):
        try:
            self.store(operation, **request)
        except ServiceError as error:
            return error
        return None

    def admitted(self, work, times):
        """How many of so many tries went through."""
        return sum(work() is None for _ in range(times))

    def pass_(self, seconds):
        self.store.clock.advance(seconds)

    def capacity(self):
        return self.store.engine.capacity()["orders"]


def reasons(error):
    return error.fields.get("ThrottlingReasons") or error.fields.get("throttlingReasons")


# Provisioned


def test_provisioned_units_are_there_each_second_and_the_error_says_what_is_exceeded(shop):
    orders = shop(5, 10)
    assert orders.admitted(lambda: orders.put("a"), 20) == 10
    error = orders.put("a")
    assert (error.code, error.message, error.status) == (
        "ProvisionedThroughputExceededException",
        PROVISIONED_TABLE,
        400,
    )
    assert reasons(error) == [{"reason": "TableWriteProvisionedThroughputExceeded", "resource": ARN}]
    assert orders.admitted(lambda: orders.get("a"), 20) == 5
    assert reasons(orders.get("a"))[0]["reason"] == "TableReadProvisionedThroughputExceeded"
    orders.pass_(1)
    assert orders.admitted(lambda: orders.put("a"), 20) == 10


def test_300_seconds_of_unused_units_are_kept_for_a_burst(shop):
    orders = shop(1, 2)
    orders.pass_(10_000)
    assert orders.admitted(lambda: orders.put("a"), 700) == 600
    orders = shop(1, 2, burst_seconds=0)
    orders.pass_(10_000)
    assert orders.admitted(lambda: orders.put("a"), 700) == 2


def test_an_eventually_consistent_read_takes_half_a_unit(shop):
    orders = shop(5, 5)
    assert orders.admitted(lambda: orders.get("a", consistent=False), 20) == 10


def test_a_refused_write_changes_nothing_and_takes_nothing(shop):
    orders = shop(5, 2)
    orders.put("a", colour="red")
    assert orders.put("a", 2, colour="blue") is not None
    got = orders.store("GetItem", TableName="orders", Key={"pk": {"S": "a"}})
    assert got["Item"]["colour"] == {"S": "red"}
    assert orders.put("a", colour="green") is None
    assert orders.capacity()["ConsumedWriteCapacityUnits"] == 2.0
    assert orders.capacity()["WriteThrottleEvents"] == 1


def test_a_partition_takes_1000_writes_and_3000_reads_a_second_whatever_the_table_has(shop):
    orders = shop(30_000, 10_000)
    orders.pass_(600)
    assert orders.admitted(lambda: orders.put("hot", 50), 60) == 20
    error = orders.put("hot", 50)
    assert error.code == "ProvisionedThroughputExceededException"
    assert reasons(error) == [{"reason": "TableWriteKeyRangeThroughputExceeded", "resource": ARN}]
    assert orders.put("cold") is None, "reads and the other partitions are not concerned"
    assert orders.admitted(lambda: orders.get("hot"), 400) == 3000 // 13
    assert reasons(orders.get("hot"))[0]["reason"] == "TableReadKeyRangeThroughputExceeded"


def test_the_number_of_partitions_follows_throughput_and_size(shop):
    assert len(shop(3000, 9000).capacity()["Partitions"]) == 10
    orders = shop(10, 1000, partition_bytes=100 * 1024)
    assert len(orders.capacity()["Partitions"]) == 2
    for n in range(10):
        orders.put(f"k{n}", 50)
    assert len(orders.capacity()["Partitions"]) == 5


def test_raised_throughput_adds_partitions_and_lowered_takes_none_away(shop):
    orders = shop(10, 10)
    for write, count in ((5000, 6), (10, 6)):
        orders.store("UpdateTable", TableName="orders", ProvisionedThroughput=_throughput(10, write))
        assert len(orders.capacity()["Partitions"]) == count


def test_adaptive_capacity_lends_a_partition_what_the_others_leave(shop):
    adaptive, fixed = shop(100, 2000), shop(100, 2000, adaptive_capacity=False)
    assert len(adaptive.capacity()["Partitions"]) == 3
    assert adaptive.admitted(lambda: adaptive.put("hot", 50), 60) == 20
    assert fixed.admitted(lambda: fixed.put("hot", 50), 60) == 13
    assert reasons(fixed.put("hot", 50))[0]["reason"] == "TableWriteKeyRangeThroughputExceeded"


def test_a_hot_partition_is_split_and_a_hot_key_isolated(shop):
    def heat(orders):
        """Two keys of one partition, for a quarter of an hour: how many writes of the last second passed."""
        for _ in range(900):
            passed = sum(orders.put(key, 200) is None for key in ("k1", "k2") * 4)
            orders.pass_(1)
        return passed

    whole = shop(10, 900, split_for_heat=False)
    assert heat(whole) <= 5
    orders = shop(3000, 4000, heat_seconds=60, partition_write_units=400.0, partition_read_units=30_000.0)
    before = len(orders.capacity()["Partitions"])
    assert heat(orders) == 4, "two writes a second each: the limit of a partition of their own"
    assert len(orders.capacity()["Partitions"]) > before


# On demand


def test_a_new_on_demand_table_takes_4000_writes_on_four_partitions(shop):
    orders = shop()
    assert len(orders.capacity()["Partitions"]) == 4
    keys = [f"k{n}" for n in range(400)]
    admitted = sum(orders.put(key, 20) is None for key in keys)
    assert 3500 <= admitted * 20 <= 4000
    errors = [error for key in keys if (error := orders.put(key, 20)) is not None]
    assert {(error.code, error.message) for error in errors} == {("ThrottlingException", ON_DEMAND_TABLE)}
    assert reasons(errors[0]) == [{"reason": "TableWriteKeyRangeThroughputExceeded", "resource": ARN}]


def test_twice_the_previous_peak_is_there_half_an_hour_later(shop):
    limits = {"initial_peak_write_units": 100.0, "initial_peak_read_units": 100.0}
    orders = shop(**limits)

    def second():
        passed = orders.admitted(lambda: orders.put("a", 50), 20)
        orders.pass_(1)
        return passed * 50

    assert second() == 200
    orders.pass_(60)
    assert second() == 200, "a peak of a minute ago does not count yet"
    orders.pass_(1800)
    second()
    assert second() == 400


def test_a_description_says_how_much_an_on_demand_table_has_warmed_up_to(shop):
    orders = shop(initial_peak_write_units=100.0, initial_peak_read_units=300.0, index={})

    def warm(described):
        return [described["WarmThroughput"][f"{side}UnitsPerSecond"] for side in ("Read", "Write")]

    def table():
        return orders.store("DescribeTable", TableName="orders")["Table"]

    assert warm(table()) == [600, 200]
    orders.admitted(lambda: orders.put("a", 50), 20)
    orders.pass_(1800)
    orders.put("a")
    assert warm(table()) == [600, 400]
    assert warm(table()["GlobalSecondaryIndexes"][0]) == [600, 200]
    assert warm(shop(3, 7).store("DescribeTable", TableName="orders")["Table"]) == [3, 7]


def test_a_maximum_on_the_table_is_kept_and_can_be_taken_away(shop):
    orders = shop(table={"OnDemandThroughput": {"MaxWriteRequestUnits": 10, "MaxReadRequestUnits": 5}})
    assert orders.admitted(lambda: orders.put("a"), 20) == 10
    error = orders.put("a")
    assert (error.code, error.message) == ("ThrottlingException", MAXIMUM)
    assert reasons(error) == [{"reason": "TableWriteMaxOnDemandThroughputExceeded", "resource": ARN}]
    assert orders.admitted(lambda: orders.get("a"), 20) == 5
    orders.store(
        "UpdateTable",
        TableName="orders",
        OnDemandThroughput={"MaxWriteRequestUnits": -1, "MaxReadRequestUnits": -1},
    )
    orders.pass_(1)
    assert orders.admitted(lambda: orders.put("a"), 20) == 20


def test_warm_throughput_is_there_at_once_and_splits_beforehand(shop):
    warm = {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 10_000}
    orders = shop(table={"WarmThroughput": warm})
    assert len(orders.capacity()["Partitions"]) == 10
    cold = shop()
    cold.store("UpdateTable", TableName="orders", WarmThroughput=warm)
    assert len(cold.capacity()["Partitions"]) == 10


def test_a_switch_to_on_demand_begins_at_half_of_what_was_provisioned(shop):
    orders = shop(10, 8000)
    orders.store("UpdateTable", TableName="orders", BillingMode="PAY_PER_REQUEST")
    orders.pass_(1)
    assert sum(orders.put(f"k{n}", 100) is None for n in range(200)) * 100 > 4000
    assert len(orders.capacity()["Partitions"]) == 9


def test_the_quota_of_the_account_is_a_request_limit(shop):
    orders = shop(quota_write_units=10.0)
    assert orders.admitted(lambda: orders.put("a"), 20) == 10
    error = orders.put("a")
    assert (error.code, error.message) == ("RequestLimitExceeded", QUOTA)
    assert reasons(error) == [{"reason": "TableWriteAccountLimitExceeded", "resource": ARN}]


# Indexes


def test_an_index_without_capacity_throttles_the_writes_of_its_table(shop):
    orders = shop(5, 100, index={"ProvisionedThroughput": _throughput(5, 2)})
    assert orders.admitted(lambda: orders.put("a", status="open"), 1) == 1
    assert orders.put("b", status="open") is None
    error = orders.put("c", status="open")
    assert (error.code, error.message) == ("ProvisionedThroughputExceededException", PROVISIONED_INDEX)
    assert reasons(error) == [
        {"reason": "IndexWriteProvisionedThroughputExceeded", "resource": f"{ARN}/index/by-status"}
    ]
    assert "Item" not in orders.store("GetItem", TableName="orders", Key={"pk": {"S": "c"}})
    assert orders.put("c") is None, "an item that is not in the index does not need it"
    counted = orders.capacity()
    assert counted["ConsumedWriteCapacityUnits"] == 3.0
    assert counted["Indexes"]["by-status"]["WriteThrottleEvents"] == 1
    assert counted["WriteThrottleEvents"] == 0
    assert counted["Indexes"]["by-status"]["WriteProvisionedThroughputThrottleEvents"] == 1


def test_reads_of_an_index_are_its_own(shop):
    orders = shop(1, 100, index={"ProvisionedThroughput": _throughput(3, 100)})
    orders.put("a", status="open")

    def query():
        return orders._try(
            "Query",
            TableName="orders",
            IndexName="by-status",
            KeyConditionExpression="#s = :s",
            ExpressionAttributeNames={"#s": "status"},
            ExpressionAttributeValues={":s": {"S": "open"}},
        )

    assert orders.admitted(query, 20) == 6
    assert reasons(query())[0]["reason"] == "IndexReadProvisionedThroughputExceeded"
    assert orders.get("a") is None


def test_a_hot_index_key_throttles_a_table_whose_keys_are_spread(shop):
    orders = shop(index={})
    errors = [e for n in range(60) if (e := orders.put(f"k{n}", 50, status="PENDING")) is not None]
    assert len(errors) == 40
    assert {(e.code, e.message) for e in errors} == {("ThrottlingException", ON_DEMAND_INDEX)}
    assert reasons(errors[0])[0]["reason"] == "IndexWriteKeyRangeThroughputExceeded"


def test_moving_a_row_asks_both_of_its_partitions(shop):
    orders = shop(10, 4000, index={"ProvisionedThroughput": _throughput(10, 4000)})
    orders.put("a", 50, status="open")
    orders.pass_(1)
    before = orders.capacity()["Indexes"]["by-status"]["Partitions"]
    orders.put("a", 50, status="closed")
    after = orders.capacity()["Indexes"]["by-status"]["Partitions"]
    grown = [
        b["ConsumedWriteCapacityUnits"] - a["ConsumedWriteCapacityUnits"]
        for a, b in zip(before, after, strict=True)
    ]
    assert sorted(grown) in ([0, 0, 0, 0, 100], [0, 0, 0, 50, 50])


# Every operation

KEY = {"pk": {"S": "a"}}
SELECT, INSERT = "SELECT * FROM orders WHERE pk='a'", "INSERT INTO orders VALUE {'pk':'new'}"
READS = {
    "GetItem": {"TableName": "orders", "Key": KEY, "ConsistentRead": True},
    "Query": {
        "TableName": "orders",
        "KeyConditionExpression": "pk = :a",
        "ExpressionAttributeValues": {":a": KEY["pk"]},
    },
    "Scan": {"TableName": "orders"},
    "BatchGetItem": {"RequestItems": {"orders": {"Keys": [KEY]}}},
    "ExecuteStatement": {"Statement": SELECT},
}
WRITES = {
    "PutItem": {"TableName": "orders", "Item": KEY},
    "UpdateItem": {"TableName": "orders", "Key": KEY},
    "DeleteItem": {"TableName": "orders", "Key": KEY},
    "BatchWriteItem": {"RequestItems": {"orders": [{"PutRequest": {"Item": KEY}}]}},
    "ExecuteStatement": {"Statement": INSERT},
}
ALL = [("Read", *one) for one in READS.items()] + [("Write", *one) for one in WRITES.items()]


def spent(orders):
    """The store when nothing is left of this second's one unit, nor of the minute to come."""
    orders.put("a", 100)
    while orders.get("a") is None:
        pass
    return orders


@pytest.mark.parametrize(("side", "operation", "request_"), ALL)
def test_every_operation_says_what_it_exceeds(shop, side, operation, request_):
    provisioned = spent(shop(1, 1))._try(operation, **request_)
    assert provisioned.code == "ProvisionedThroughputExceededException"
    assert provisioned.message == PROVISIONED_TABLE
    assert reasons(provisioned) == [
        {"reason": f"Table{side}ProvisionedThroughputExceeded", "resource": ARN},
    ]
    maximum = {"OnDemandThroughput": {"MaxWriteRequestUnits": 1, "MaxReadRequestUnits": 1}}
    on_demand = spent(shop(table=maximum))._try(operation, **request_)
    assert (on_demand.code, on_demand.message) == ("ThrottlingException", MAXIMUM)
    assert reasons(on_demand) == [
        {"reason": f"Table{side}MaxOnDemandThroughputExceeded", "resource": ARN},
    ]


@pytest.mark.parametrize("code", ["ProvisionedThroughputExceeded", "ThrottlingError"])
def test_statements_and_actions_say_it_in_codes_of_their_own(shop, code):
    maximum = {"OnDemandThroughput": {"MaxWriteRequestUnits": 1, "MaxReadRequestUnits": 1}}
    is_provisioned = code == "ProvisionedThroughputExceeded"
    orders = spent(shop(1, 1) if is_provisioned else shop(table=maximum))
    message = PROVISIONED_TABLE if is_provisioned else MAXIMUM
    for statement in (SELECT, INSERT):
        answer = orders.store("BatchExecuteStatement", Statements=[{"Statement": statement}])
        assert answer["Responses"] == [{"Error": {"Code": code, "Message": message}, "TableName": "orders"}]
        error = orders._try("ExecuteTransaction", TransactStatements=[{"Statement": statement}])
        assert error.fields["CancellationReasons"] == [{"Code": code, "Message": message}]
    for operation, action in (
        ("TransactGetItems", {"Get": {"TableName": "orders", "Key": KEY}}),
        ("TransactWriteItems", {"Put": {"TableName": "orders", "Item": KEY}}),
    ):
        error = orders._try(operation, TransactItems=[action])
        assert error.code == "TransactionCanceledException"
        assert error.fields["CancellationReasons"] == [{"Code": code, "Message": message}]


def test_the_errors_are_those_of_the_service_s_model_on_the_wire(shop):
    """The members of an error are found by botocore under the names of its model."""
    model = Session().get_service_model("dynamodb")
    maximum = {"OnDemandThroughput": {"MaxWriteRequestUnits": 1, "MaxReadRequestUnits": 1}}
    for orders in (shop(1, 1), shop(table=maximum), shop(quota_write_units=1.0, quota_read_units=1.0)):
        error = spent(orders)._try("GetItem", **READS["GetItem"])
        answer = {"status_code": error.status, "headers": {}, "body": error_body(error)}
        shape = model.operation_model("GetItem").output_shape
        parsed = create_parser("json").parse(answer, shape)
        assert parsed["Error"]["Code"] == error.code
        found = create_parser("json").parse(answer, model.shape_for(error.code))
        named = {name.lower(): value for name, value in found.items()}
        assert named["throttlingreasons"] == reasons(error) != []


# Many items at once


def test_a_batch_writes_what_there_is_room_for_and_returns_the_rest(shop):
    orders = shop(5, 3)
    puts = [{"PutRequest": {"Item": {"pk": {"S": f"k{n}"}}}} for n in range(5)]
    answer = orders.store("BatchWriteItem", RequestItems={"orders": puts})
    assert answer["UnprocessedItems"] == {"orders": puts[3:]}
    error = orders._try("BatchWriteItem", RequestItems={"orders": puts[3:]})
    assert error.code == "ProvisionedThroughputExceededException"
    orders.pass_(1)
    assert orders.store("BatchWriteItem", RequestItems={"orders": puts[3:]})["UnprocessedItems"] == {}


def test_a_batch_reads_what_there_is_room_for_and_returns_the_other_keys(shop):
    orders = shop(2, 5)
    keys = [{"pk": {"S": f"k{n}"}} for n in range(6)]
    answer = orders.store("BatchGetItem", RequestItems={"orders": {"Keys": keys}})
    assert answer["UnprocessedKeys"] == {"orders": {"Keys": keys[4:]}}
    error = orders._try("BatchGetItem", RequestItems={"orders": {"Keys": keys[4:]}})
    assert error.code == "ProvisionedThroughputExceededException"


@pytest.mark.parametrize(
    ("capacity", "code", "message"),
    [
        ((5, 4), "ProvisionedThroughputExceeded", PROVISIONED_TABLE),
        ((), "ThrottlingError", ON_DEMAND_TABLE),
    ],
)
def test_a_throttled_transaction_is_cancelled_with_a_reason_for_each_action(shop, capacity, code, message):
    orders = shop(*capacity, partition_write_units=4.0, initial_peak_write_units=2.0)
    actions = [
        {"Put": {"TableName": "orders", "Item": {"pk": {"S": "a"}, "x": {"S": "x" * n}}}} for n in (10,)
    ]
    actions.append({"Put": {"TableName": "orders", "Item": {"pk": {"S": "b"}, "x": {"S": "x" * 2000}}}})
    error = orders._try("TransactWriteItems", TransactItems=actions)
    assert error.code == "TransactionCanceledException"
    assert error.fields["CancellationReasons"] == [{"Code": "None"}, {"Code": code, "Message": message}]
    assert orders.store("Scan", TableName="orders")["Count"] == 0


def test_a_throttled_transactional_read_is_cancelled(shop):
    orders = shop(3, 5)
    gets = [{"Get": {"TableName": "orders", "Key": {"pk": {"S": key}}}} for key in "ab"]
    error = orders._try("TransactGetItems", TransactItems=gets)
    assert [one["Code"] for one in error.fields["CancellationReasons"]] == [
        "None",
        "ProvisionedThroughputExceeded",
    ]


def test_a_scan_spends_a_page_at_once_and_the_table_pays_it_off(shop):
    orders = shop(10, 1000)
    for n in range(20):
        orders.put(f"k{n}", 50)
    assert orders._try("Scan", TableName="orders") is None
    assert orders.capacity()["ConsumedReadCapacityUnits"] == pytest.approx(125, abs=5)
    assert orders.get("k1").code == "ProvisionedThroughputExceededException"
    orders.pass_(11)
    assert orders.get("k1") is not None
    orders.pass_(2)
    assert orders.get("k1") is None


# The whole


def test_off_unless_asked_for(store):
    store.create("orders", "pk:S")
    for n in range(2000):
        store("PutItem", TableName="orders", Item={"pk": {"S": "hot"}, "n": {"N": str(n)}})
    assert "Partitions" not in store.engine.capacity()["orders"]
    assert store.engine.capacity()["orders"]["ConsumedWriteCapacityUnits"] == 2000.0


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 90), st.sampled_from([0, 0, 0.3, 1])), max_size=60)
)
def test_counted_units_are_those_of_the_partitions_and_no_second_gives_more(requests):
    clock = Clock()
    store = Engine(clock.now, lambda count: bytes(count), EngineSettings(throttling=ThrottlingSettings()))
    store.execute(
        "CreateTable",
        {
            "TableName": "orders",
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "ProvisionedThroughput": _throughput(3000, 3000),
        },
    )
    given_units: dict[tuple[int, int], float] = {}
    held: dict[int, int] = {}
    for key, units, wait in requests:
        clock.advance(wait)
        try:
            store.execute(
                "PutItem",
                {
                    "TableName": "orders",
                    "Item": {"pk": {"S": f"k{key}"}, "x": {"S": "x" * (units * 1024 - 50)}},
                },
            )
        except ServiceError:
            continue
        slot = key, int(clock.time)
        given_units[slot] = given_units.get(slot, 0.0) + max(units, held.get(key, 0))
        held[key] = units
    counted = store.capacity()["orders"]
    by_partition = sum(one["ConsumedWriteCapacityUnits"] for one in counted["Partitions"])
    assert by_partition == counted["ConsumedWriteCapacityUnits"] == sum(given_units.values())
    assert all(units <= 1000 for units in given_units.values())
