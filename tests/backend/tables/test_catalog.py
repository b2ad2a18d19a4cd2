"""Tables by name and ARN, and their statuses on the clock."""

import pytest

from backend.errors import ServiceError


def code_of(call, *arguments) -> tuple[str, str | None]:
    with pytest.raises(ServiceError) as refused:
        call(*arguments)
    return refused.value.code, refused.value.message


def test_a_table_is_found_by_name_and_by_arn(bench):
    table = bench.create("orders")
    assert bench.catalog.get("orders") is table
    assert table.arn == f"arn:aws:dynamodb:us-east-1:{bench.settings.account_id}:table/orders"
    assert bench.catalog.get(table.arn) is table


def test_a_name_is_taken_once(bench):
    bench.create("orders")
    assert code_of(bench.create, "orders") == ("ResourceInUseException", "Table already exists: orders")


def test_a_missing_table_is_not_found_in_two_wordings(bench):
    assert code_of(bench.catalog.get, "nothing") == (
        "ResourceNotFoundException",
        "Requested resource not found",
    )
    assert code_of(bench.catalog.describe_target, "nothing") == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: nothing not found",
    )


def test_statuses_follow_the_clock(slow_bench):
    bench = slow_bench
    table = bench.create("orders")
    assert table.status(bench.time) == "CREATING"
    assert code_of(bench.catalog.get, "orders")[0] == "ResourceNotFoundException"
    bench.time += 5.0
    assert table.status(bench.time) == "ACTIVE"
    assert bench.catalog.get("orders") is table
    table.begin_update(bench.time)
    assert table.status(bench.time) == "UPDATING"
    assert bench.catalog.get("orders") is table
    bench.time += 5.0
    bench.catalog.drop(table)
    assert table.status(bench.time) == "DELETING"
    assert bench.catalog.names() == ["orders"]
    assert code_of(bench.catalog.get, "orders")[0] == "ResourceNotFoundException"
    bench.time += 5.0
    assert bench.catalog.names() == []
    assert bench.catalog.find("orders") is None


def test_a_table_of_the_same_name_starts_empty(bench):
    table = bench.create("orders")
    bench.write(table, "1", {"pk": {"S": "1"}})
    bench.catalog.drop(table)
    again = bench.create("orders")
    assert again.id != table.id
    assert len(again.items) == 0


def test_names_come_in_byte_order(bench):
    for name in ("b.table", "a-table", "B.table", "a.table", "a_table"):
        bench.create(name)
    assert bench.catalog.names() == ["B.table", "a-table", "a.table", "a_table", "b.table"]


@pytest.mark.parametrize("find", ["find", "get", "describe_target"])
def test_only_arns_of_this_account_and_region_name_tables(bench, find):
    table = bench.create("orders")
    look = getattr(bench.catalog, find)
    assert look(table.arn) is table
    for part, other, what in [("arn:aws:", "arn:aws-cn:", "partition"), ("us-east-1", "eu-west-1", "region")]:
        arn = table.arn.replace(part, other)
        message = f"1 validation error detected: Invalid AWS {what} in '{arn}'"
        assert code_of(look, arn) == ("ValidationException", message)
    foreign = table.arn.replace("123456789012", "210987654321")
    assert code_of(look, foreign) == ("AccessDeniedException", "Access is denied")
