"""Time to Live: what expires, when, and how it goes."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.model.sizes import item_size
from backend.settings import EngineSettings
from backend.storage.memory import MemoryStorage
from backend.tables.catalog import TableCatalog
from backend.tables.changes import TIME_TO_LIVE
from backend.tables.definitions import definition_of
from backend.tables.table import Write, commit
from backend.tables.ttl import FIVE_YEARS, Expiry

DELAY = 100.0
NOW = 2_000_000_000.0


def item(key, ttl):
    return {"pk": {"S": key}, "ttl": ttl}


@pytest.fixture
def table(bench):
    bench.time = NOW
    return bench.create()


@pytest.fixture
def expiry(bench):
    return Expiry(bench.storage, DELAY)


def keys(table):
    return sorted(row[0]["pk"]["S"] for _, row in table.items.range())


def test_an_item_goes_the_delay_after_its_time(bench, table, expiry):
    expiry.enable(table, "ttl", NOW)
    bench.write(table, "a", item("a", {"N": str(int(NOW) + 50)}))
    assert expiry.next_due == NOW + 50 + DELAY
    assert expiry.run(NOW + 50 + DELAY - 1) == 0
    assert keys(table) == ["a"]
    assert expiry.run(NOW + 50 + DELAY) == 1
    assert keys(table) == []
    assert expiry.next_due == inf


def test_items_already_there_expire_too(bench, table, expiry):
    bench.write(table, "a", item("a", {"N": str(int(NOW) - 1000)}))
    expiry.enable(table, "ttl", NOW)
    assert expiry.run(NOW) == 1


@pytest.mark.parametrize(
    "value",
    [
        {"S": str(int(NOW))},
        {"NS": [str(int(NOW))]},
        {"N": str(int(NOW) - FIVE_YEARS - 1)},
        {"N": "-5"},
        {"N": "9" * 38},
        {"NULL": True},
    ],
)
def test_what_never_expires(bench, table, expiry, value):
    expiry.enable(table, "ttl", NOW)
    bench.write(table, "a", item("a", value))
    assert expiry.next_due == inf
    assert expiry.run(NOW + 10 * FIVE_YEARS) == 0


def test_a_fraction_of_a_second_is_cut_off(bench, table, expiry):
    expiry.enable(table, "ttl", NOW)
    bench.write(table, "a", item("a", {"N": f"{int(NOW)}.9"}))
    assert expiry.next_due == NOW + DELAY


def test_a_rewritten_item_expires_by_its_new_time(bench, table, expiry):
    expiry.enable(table, "ttl", NOW)
    bench.write(table, "a", item("a", {"N": str(int(NOW))}))
    bench.write(table, "a", item("a", {"N": str(int(NOW) + 1000)}))
    assert expiry.run(NOW + DELAY) == 0
    bench.write(table, "a", {"pk": {"S": "a"}})
    assert expiry.run(NOW + 2000 + DELAY) == 0
    assert keys(table) == ["a"]


def test_a_removal_is_a_write_by_the_service(bench, table, expiry):
    changes = []
    expiry.enable(table, "ttl", NOW)
    table.observers.append(changes.append)
    gone = item("a", {"N": str(int(NOW))})
    bench.write(table, "a", gone)
    expiry.run(NOW + DELAY)
    assert [(change.source, change.old, change.new) for change in changes[1:]] == [(TIME_TO_LIVE, gone, None)]


def test_work_is_bounded(bench, table, expiry):
    expiry.enable(table, "ttl", NOW)
    for number in range(5):
        bench.write(table, str(number), item(str(number), {"N": str(int(NOW) + number)}))
    assert expiry.run(NOW + 1000, limit=2) == 2
    assert keys(table) == ["2", "3", "4"]
    assert expiry.next_due == NOW + 2 + DELAY


def test_a_key_attribute_may_say_when(bench, table, expiry):
    number_keyed = bench.create(
        "keyed",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "N"}],
    )
    expiry.enable(number_keyed, "pk", NOW)
    key = {"pk": {"N": str(int(NOW))}}
    storage_key = number_keyed.schema.encode(key)
    commit(bench.storage, [Write(number_keyed, storage_key, None, (key, 10))], NOW)
    assert expiry.run(NOW + DELAY) == 1


def test_switched_off_nothing_expires(bench, table, expiry):
    expiry.enable(table, "ttl", NOW)
    bench.write(table, "a", item("a", {"N": str(int(NOW))}))
    expiry.disable(table)
    expiry.disable(table)
    assert expiry.next_due == inf
    assert expiry.run(NOW + 1000) == 0
    assert table.observers == []


def test_a_schedule_comes_back_from_its_storage(bench, table, expiry):
    expiry.enable(table, "ttl", NOW)
    bench.write(table, "a", item("a", {"N": str(int(NOW))}))
    table.observers.clear()
    again = Expiry(bench.storage, DELAY)
    again.attach(table, "ttl")
    assert again.next_due == NOW + DELAY
    assert again.run(NOW + DELAY) == 1


def test_a_table_on_its_way_out_is_left_alone(bench, slow_bench, expiry):
    table = slow_bench.create()
    going = Expiry(slow_bench.storage, DELAY)
    going.enable(table, "ttl", slow_bench.time)
    slow_bench.write(table, "a", item("a", {"N": "1000"}))
    slow_bench.catalog.drop(table)
    assert going.run(slow_bench.time + 1000) == 0


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.one_of(st.none(), st.integers(0, 30))), max_size=20))
def test_the_schedule_agrees_with_the_items(writes):
    """Whatever is written, exactly the items whose time is over go."""
    storage = MemoryStorage()
    catalog = TableCatalog(lambda: NOW, lambda count: bytes(count), EngineSettings(), storage)
    table = catalog.create(
        definition_of(
            {
                "TableName": "orders",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            }
        )
    )
    expiry = Expiry(storage, DELAY)
    expiry.enable(table, "ttl", NOW)
    model = {}
    for key, seconds in writes:
        storage_key = table.schema.encode({"pk": {"S": key}})
        new = None if seconds is None else item(key, {"N": str(int(NOW) + seconds)})
        row = None if new is None else (new, item_size(new))
        commit(storage, [Write(table, storage_key, table.items.get(storage_key), row)], NOW)
        model[key] = seconds
    expiry.run(NOW + DELAY + 15)
    assert keys(table) == sorted(
        key for key, seconds in model.items() if seconds is not None and seconds > 15
    )
