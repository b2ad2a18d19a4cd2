"""How partitions follow the load: split by sort key where that helps, and there again after a restart."""

from __future__ import annotations

import gc
import weakref
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.engine import Engine, EngineSettings
from backend.errors import ServiceError
from backend.model.keys import HASH_BYTES
from backend.settings import ThrottlingSettings
from backend.storage.memory import MemoryStorage

COLLECTION = HASH_BYTES + 2 + len("hot")
"""The bytes that the storage keys of the hot account begin with."""


BY_DAY = {
    "IndexName": "by-day",
    "KeySchema": [
        {"AttributeName": "account", "KeyType": "HASH"},
        {"AttributeName": "day", "KeyType": "RANGE"},
    ],
    "Projection": {"ProjectionType": "ALL"},
}


class Ledger:
    """A table of entries by account and number, all of one account; ten writes a second are a partition's."""

    def __init__(self, new_store, storage=None, **throttling):
        limits = {"heat_seconds": 10.0, "partition_write_units": 100.0, "partition_read_units": 300.0}
        settings = {"throttling": ThrottlingSettings(**limits | throttling)}
        self.store = new_store(settings=settings, storage=storage or MemoryStorage())

    def create(self, **indexes):
        attributes = {name for one in indexes.values() for declared in one for name in _names(declared)}
        more = sorted(attributes - {"account"})
        self.store(
            "CreateTable",
            TableName="ledger",
            KeySchema=[
                {"AttributeName": "account", "KeyType": "HASH"},
                {"AttributeName": "number", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": "account", "AttributeType": "S"},
                {"AttributeName": "number", "AttributeType": "N"},
                *({"AttributeName": name, "AttributeType": "S"} for name in more),
            ],
            BillingMode="PAY_PER_REQUEST",
            **indexes,
        )
        return self

    def put(self, number):
        """A write of 10 units; gives the error or None."""
        item = {
            "account": {"S": "hot"},
            "number": {"N": str(number)},
            "day": {"S": f"{number:04}"},
            "owner": {"S": "hot"},
            "text": {"S": f"{self.store.clock.time}".ljust(10_000, "x")},
        }
        return self._try("PutItem", Item=item)

    def get(self, number):
        """A read of 3 units; gives the error or None."""
        key = {"account": {"S": "hot"}, "number": {"N": str(number)}}
        return self._try("GetItem", Key=key, ConsistentRead=True)

    def _try(self, operation, **request):
        try:
            self.store(operation, TableName="ledger", **request)
        except ServiceError as error:
            return error
        return None

    def second(self, numbers):
        """How many of these writes pass within a second."""
        self.store.clock.advance(1)
        return sum(self.put(number) is None for number in numbers)

    def read_units(self, first, last):
        """What a Query of the account's entries spends on the partitions it reads."""
        before = self._read()
        self.store(
            "Query",
            TableName="ledger",
            KeyConditionExpression="account = :a AND #n BETWEEN :first AND :last",
            ExpressionAttributeNames={"#n": "number"},
            ExpressionAttributeValues={
                ":a": {"S": "hot"},
                ":first": {"N": str(first)},
                ":last": {"N": str(last)},
            },
            ConsistentRead=True,
        )
        return [new - old for old, new in zip(before, self._read(), strict=True) if new != old]

    def storage_key(self, number):
        schema = self.store.engine.catalog.get("ledger").schema
        return schema.encode({"account": {"S": "hot"}, "number": {"N": str(number)}})

    def _read(self):
        return [one["ConsumedReadCapacityUnits"] for one in self.partitions()]

    def partitions(self):
        return self.store.engine.capacity()["ledger"]["Partitions"]

    def cuts(self):
        """How many partitions begin among the items of an account."""
        return sum(len(one["StartKey"]) > 2 * COLLECTION for one in self.partitions())


def _names(index):
    return [element["AttributeName"] for element in index["KeySchema"]]


def scattered(second):
    """Fifteen of a hundred numbers, in no order."""
    return [(second * 15 + number) * 7 % 100 for number in range(15)]


def rising(second):
    return [second * 15 + number for number in range(15)]


def test_a_hot_item_collection_is_split_by_its_sort_key_and_then_served(new_store):
    ledger = Ledger(new_store).create()
    passed = [ledger.second(scattered(second)) for second in range(40)]
    assert passed[:9] == [10] * 9
    assert passed[-9:] == [15] * 9
    assert ledger.cuts() == 1


def test_hot_reads_split_a_collection_too(new_store):
    ledger = Ledger(new_store, partition_read_units=30.0).create()
    for number in range(100):
        ledger.second([number])

    def reads(second):
        ledger.store.clock.advance(1)
        return sum(ledger.get(number) is None for number in scattered(second))

    passed = [reads(second) for second in range(40)]
    assert passed[:9] == [10] * 9
    assert passed[-9:] == [15] * 9


def test_ever_increasing_sort_keys_gain_nothing(new_store):
    ledger = Ledger(new_store).create()
    assert [ledger.second(rising(second)) for second in range(60)] == [10] * 60
    assert ledger.cuts() == 0


def test_a_table_with_a_local_index_keeps_its_item_collections_whole(new_store):
    ledger = Ledger(new_store).create(LocalSecondaryIndexes=[BY_DAY])
    passed = [ledger.second(scattered(second)) for second in range(40)]
    assert passed == [5] * 40, "the local index's units are the table's"
    assert ledger.cuts() == 0


@pytest.mark.parametrize(("sort", "passes"), [("day", 15), (None, 10)])
def test_a_hot_key_of_a_global_index_is_split_if_the_index_has_a_sort_key(new_store, index_of, sort, passes):
    ledger = Ledger(new_store).create(GlobalSecondaryIndexes=[index_of("by-owner", "owner", sort)])
    for second in range(60):
        passed = ledger.second(scattered(second))
    assert passed == passes


def test_nothing_is_split_when_that_is_switched_off(new_store):
    ledger = Ledger(new_store, split_for_heat=False).create()
    assert [ledger.second(scattered(second)) for second in range(40)] == [10] * 40


def test_a_query_over_a_split_collection_spends_units_on_the_partitions_it_reads(new_store):
    ledger = Ledger(new_store).create()
    for second in range(40):
        ledger.second(scattered(second))
    (cut,) = [one["StartKey"] for one in ledger.partitions() if len(one["StartKey"]) > 2 * COLLECTION]
    edge = next(n for n in range(101) if ledger.storage_key(n) >= bytes.fromhex(cut))
    assert 40 < edge < 60
    assert ledger.read_units(edge - 1, edge - 1) == [3.0]
    assert ledger.read_units(edge - 3, edge - 1) == [8.0]
    assert ledger.read_units(edge - 1, edge) == pytest.approx([2.5, 2.5], rel=0.01)
    assert ledger.read_units(edge - 1, edge + 3) == pytest.approx([2.6, 10.4], rel=0.01)


class Plain:
    """A store of one test run, for hypothesis makes many in one test."""

    def __init__(self, settings, storage):
        self.clock = self
        self.time = 1_000.0
        self.engine = Engine(lambda: self.time, bytes, EngineSettings(**settings), storage)

    def advance(self, seconds):
        self.time += seconds

    def __call__(self, operation, **request):
        return self.engine.execute(operation, request)


numbers = st.lists(st.integers(0, 40), max_size=15)


@settings(max_examples=40, deadline=None)
@given(st.lists(numbers, min_size=3, max_size=12), st.booleans())
def test_all_units_are_of_some_partition_however_it_is_split(seconds, has_local_index):
    ledger = Ledger(Plain, heat_seconds=1.0)
    ledger.create(**({"LocalSecondaryIndexes": [BY_DAY]} if has_local_index else {}))
    for asked in seconds:
        ledger.second(asked)
        with suppress(ServiceError):
            ledger.read_units(min(asked, default=0), max(asked, default=40))
        with suppress(ServiceError):
            ledger.store("Scan", TableName="ledger")
    counted = ledger.store.engine.capacity()["ledger"]
    for units in ("ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"):
        everything = counted[units] + sum(one[units] for one in counted["Indexes"].values())
        assert sum(one[units] for one in counted["Partitions"]) == pytest.approx(everything)
    starts = [one["StartKey"] for one in counted["Partitions"]]
    assert starts == sorted(set(starts))
    assert not has_local_index or ledger.cuts() == 0


def test_units_of_a_page_are_counted_where_it_read_though_one_of_its_partitions_is_split(new_store):
    # "rare" is in the first of four partitions. It is written last, and then they are too few for the bytes.
    limits = {"partition_read_units": 30.0, "initial_peak_read_units": 60.0, "partition_bytes": 50_000}
    ledger = Ledger(new_store, heat_seconds=1.0, initial_peak_write_units=200.0, **limits).create()
    ledger.second([1, 2])
    ledger.store.clock.advance(1)
    rare = {"account": {"S": "rare"}, "number": {"N": "1"}, "text": {"S": "x" * 390_000}}
    ledger.store("PutItem", TableName="ledger", Item=rare)
    ledger.store.clock.advance(1)
    assert [ledger.get(number) for number in (1, 2) * 5] == [None] * 10
    ledger.store.clock.advance(1)
    ledger.store("Scan", TableName="ledger")
    counted = ledger.store.engine.capacity()["ledger"]
    assert sum(one["ConsumedReadCapacityUnits"] for one in counted["Partitions"]) == pytest.approx(
        counted["ConsumedReadCapacityUnits"]
    )
    assert ledger.cuts() == 1


# What is stored


def reopened(new_store, ledger):
    """The same data in a new process."""
    return Ledger(new_store, ledger.store.engine.storage)


def test_a_split_is_there_again_after_a_restart(new_store):
    ledger = Ledger(new_store).create()
    for second in range(40):
        ledger.second(scattered(second))
    starts = [one["StartKey"] for one in ledger.partitions()]
    again = reopened(new_store, ledger)
    assert again.second(scattered(40)) == 15
    assert [one["StartKey"] for one in again.partitions()] == starts


def test_a_previous_peak_is_there_again_after_a_restart(new_store):
    limits = {
        "initial_peak_write_units": 40.0,
        "initial_peak_read_units": 40.0,
        "peak_seconds": 30.0,
        "split_for_heat": False,
    }
    ledger = Ledger(new_store, **limits).create()
    assert [ledger.second(range(15)) for _ in range(40)][-1] == 10
    again = Ledger(new_store, ledger.store.engine.storage, **limits)
    assert again.second(range(15)) == 10, "twice the peak of 80, up to what a partition takes"
    forgotten = Ledger(new_store, **limits).create()
    assert forgotten.second(range(15)) == 8


def test_requests_store_nothing_but_changes_of_the_partitions_or_the_peak(new_store):
    storage = CountingStorage()
    ledger = Ledger(new_store, storage).create()
    writes = storage.transactions
    admitted = sum(ledger.second(scattered(second)) for second in range(8))
    assert storage.transactions == writes + admitted


class CountingStorage(MemoryStorage):
    def __init__(self):
        super().__init__()
        self.transactions = 0

    def transaction(self):
        self.transactions += 1
        return super().transaction()


def test_what_was_stored_goes_with_the_table_and_with_the_index(new_store, index_of):
    indexes = [index_of("by-owner", "owner", "day")]
    ledger = Ledger(new_store).create(GlobalSecondaryIndexes=indexes)
    for second in range(60):
        ledger.second(scattered(second))
    drop = [{"Delete": {"IndexName": "by-owner"}}]
    ledger.store("UpdateTable", TableName="ledger", GlobalSecondaryIndexUpdates=drop)
    ledger.store("UpdateTable", **_created(indexes[0]))
    assert len(ledger.store.engine.capacity()["ledger"]["Indexes"]["by-owner"]["Partitions"]) == 40
    ledger.store("DeleteTable", TableName="ledger")
    ledger.create(GlobalSecondaryIndexes=indexes)
    assert len(ledger.partitions()) == 40


def test_a_dropped_table_is_forgotten_wholly(new_store):
    ledger = Ledger(new_store).create()
    ledger.second(range(5))
    table = weakref.ref(ledger.store.engine.catalog.get("ledger"))
    ledger.store("DeleteTable", TableName="ledger")
    gc.collect()
    assert table() is None


def _created(index):
    names = [{"AttributeName": name, "AttributeType": "S"} for name in ("account", "owner", "day")]
    numbers = [{"AttributeName": "number", "AttributeType": "N"}]
    return {
        "TableName": "ledger",
        "AttributeDefinitions": names + numbers,
        "GlobalSecondaryIndexUpdates": [{"Create": index}],
    }
