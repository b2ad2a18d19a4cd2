"""A table: writes with their indexes and observers are one transaction, and late indexes catch up on the
clock."""

import pytest

from backend.errors import ServiceError
from backend.tables.changes import ItemChange
from backend.tables.definitions import attribute_types_of, index_of
from backend.tables.table import commit


def order(key: str, status: str | None = None) -> dict:
    item = {"pk": {"S": key}}
    return item if status is None else {**item, "status": {"S": status}}


def statuses(bench, table, name="by-status") -> list[str]:
    rows = table.index_view(table.indexes[name], bench.time, consistent=False).range()
    return sorted(row[0]["status"]["S"] for _, row in rows)


def test_a_global_index_without_lag_changes_with_the_item(bench, by_status):
    table = bench.create(GlobalSecondaryIndexes=[by_status])
    bench.write(table, "1", order("1", "open"))
    bench.write(table, "2", order("2"))
    assert statuses(bench, table) == ["open"]
    bench.write(table, "1", order("1", "shut"))
    assert statuses(bench, table) == ["shut"]
    bench.write(table, "1", None)
    assert statuses(bench, table) == []


def test_a_late_change_is_seen_when_it_is_due_and_not_before(lagging_bench, by_status):
    bench = lagging_bench
    table = bench.create(GlobalSecondaryIndexes=[by_status])
    bench.write(table, "1", order("1", "open"))
    bench.time += 1.5
    bench.write(table, "1", order("1", "shut"))
    assert statuses(bench, table) == []
    bench.time += 0.5
    assert statuses(bench, table) == ["open"]
    bench.time += 1.0
    assert statuses(bench, table) == ["open"]
    bench.time += 0.5
    assert statuses(bench, table) == ["shut"]


def test_a_local_index_never_lags(lagging_bench, by_status):
    bench = lagging_bench
    near = {**by_status, "IndexName": "near"}
    table = bench.create(LocalSecondaryIndexes=[near], GlobalSecondaryIndexes=[by_status])
    bench.write(table, "1", order("1", "open"))
    assert statuses(bench, table, "near") == ["open"]
    assert statuses(bench, table) == []


def test_late_changes_do_not_pile_up_unread(lagging_bench, by_status):
    bench = lagging_bench
    table = bench.create(GlobalSecondaryIndexes=[by_status])
    for number in range(50):
        bench.write(table, str(number), order(str(number), "open"))
        bench.time += 1.0
    assert len(bench.storage.open(f"{table.id}/late-index-changes")) <= 3


def test_a_clock_set_back_does_not_reorder_late_changes(lagging_bench, by_status):
    bench = lagging_bench
    table = bench.create(GlobalSecondaryIndexes=[by_status])
    bench.write(table, "1", order("1", "open"))
    bench.time -= 100.0
    bench.write(table, "1", order("1", "shut"))
    bench.time += 50.0
    assert statuses(bench, table) == []
    bench.time += 60.0
    assert statuses(bench, table) == ["shut"]


def test_an_observer_sees_one_change_inside_the_transaction(bench):
    table = bench.create()
    seen: list[ItemChange] = []
    table.observers.append(seen.append)
    bench.write(table, "1", order("1", "open"))
    bench.write(table, "1", order("1"))
    bench.write(table, "1", None)
    bench.write(table, "1", None)
    assert [(change.old, change.new) for change in seen] == [
        (None, order("1", "open")),
        (order("1", "open"), order("1")),
        (order("1"), None),
    ]
    assert {(change.table, change.key["pk"]["S"], change.time, change.source) for change in seen} == {
        (table, "1", bench.time, "user")
    }


def test_an_observer_that_fails_undoes_the_write_and_its_indexes(bench, by_status):
    table = bench.create(GlobalSecondaryIndexes=[by_status])
    bench.write(table, "1", order("1", "open"))

    def fail(change: ItemChange) -> None:
        raise ZeroDivisionError

    table.observers.append(fail)
    with pytest.raises(ZeroDivisionError):
        bench.write(table, "1", order("1", "shut"))
    assert [row[0] for _, row in table.items.range()] == [order("1", "open")]
    assert statuses(bench, table) == ["open"]
    assert table.items.stored_bytes == sum(row[1] for _, row in table.items.range())


def test_several_writes_commit_together_or_not_at_all(bench, by_status):
    table = bench.create(GlobalSecondaryIndexes=[by_status])
    writes = [bench.prepare(table, key, order(key, "open")) for key in ("1", "2")]

    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        commit(bench.storage, writes, bench.time, also=fail)
    assert (len(table.items), statuses(bench, table), table.items.stored_bytes) == (0, [], 0)
    commit(bench.storage, writes, bench.time)
    assert (len(table.items), statuses(bench, table)) == (2, ["open", "open"])


def test_stored_bytes_follow_the_items(bench):
    table = bench.create()
    bench.write(table, "1", order("1", "open"))
    bench.write(table, "2", order("2", "open"))
    bench.write(table, "1", order("1"))
    bench.write(table, "2", None)
    assert table.items.stored_bytes == len("pk1")


def test_a_new_index_is_filled_from_the_items_that_fit_it(bench, by_status):
    table = bench.create()
    bench.write(table, "1", order("1", "open"))
    bench.write(table, "2", order("2", ""))
    bench.write(table, "3", {"pk": {"S": "3"}, "status": {"N": "3"}})
    bench.write(table, "4", order("4"))
    types = attribute_types_of([{"AttributeName": "status", "AttributeType": "S"}])
    table.create_index(index_of(by_status, types), bench.time)
    assert statuses(bench, table) == ["open"]
    bench.write(table, "4", order("4", "late"))
    assert statuses(bench, table) == ["late", "open"]
    table.drop_index("by-status")
    with pytest.raises(ServiceError, match="does not have the specified index: by-status"):
        table.index("by-status", bench.time)


def test_an_index_being_built_cannot_be_read(slow_bench, by_status):
    bench = slow_bench
    table = bench.create()
    types = attribute_types_of([{"AttributeName": "status", "AttributeType": "S"}])
    table.create_index(index_of(by_status, types), bench.time)
    with pytest.raises(ServiceError) as refused:
        table.index("by-status", bench.time)
    assert refused.value.code == "ValidationException"
    bench.time += 5.0
    assert table.index("by-status", bench.time).name == "by-status"


def test_index_keys_of_a_wrong_type_are_refused(bench, by_status):
    table = bench.create(GlobalSecondaryIndexes=[by_status])
    with pytest.raises(
        ServiceError, match="Type mismatch for Index Key status Expected: S Actual: N IndexName"
    ):
        table.check_index_keys({"pk": {"S": "1"}, "status": {"N": "1"}})
