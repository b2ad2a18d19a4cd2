"""What UpdateTable answers while a change is under way, and what DescribeTable says when it is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

FIVE = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
SEVEN = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 7}
WARM = {"ReadUnitsPerSecond": 20000, "WriteUnitsPerSecond": 20000}
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}


def index(name: str) -> dict[str, Any]:
    return {
        "IndexName": name,
        "KeySchema": [{"AttributeName": "group", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }


@pytest.fixture
def update(new_store: Callable[..., Any]) -> Callable[..., tuple[dict[str, Any], dict[str, Any]]]:
    """`update(table_members, **change)` makes a table, changes it, and gives the answer and what is described
    afterwards."""

    def update(table: dict[str, Any], **change: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        store = new_store()
        names = ("id", "group") if "GlobalSecondaryIndexes" in table else ("id",)
        store(
            "CreateTable",
            TableName="orders",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            **{"BillingMode": "PAY_PER_REQUEST", **table},
        )
        answer = store("UpdateTable", TableName="orders", **change)["TableDescription"]
        return answer, store("DescribeTable", TableName="orders")["Table"]

    return update


PROVISIONED = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": FIVE}
INDEXED = {"GlobalSecondaryIndexes": [index("by-group")]}
PROVISIONED_INDEX = {
    **PROVISIONED,
    "GlobalSecondaryIndexes": [{**index("by-group"), "ProvisionedThroughput": FIVE}],
}


@pytest.mark.parametrize(
    ("table", "change", "members"),
    [
        (
            {},
            {"StreamSpecification": STREAM},
            ["StreamSpecification", "LatestStreamArn", "LatestStreamLabel"],
        ),
        (
            {"StreamSpecification": STREAM},
            {"StreamSpecification": {"StreamEnabled": False}},
            ["StreamSpecification", "LatestStreamArn"],
        ),
    ],
)
def test_a_setting_is_the_new_one_at_once(update, table, change, members):
    answer, described = update(table, **change)
    assert answer["TableStatus"] == "UPDATING"
    assert {name: answer.get(name) for name in members} == {name: described.get(name) for name in members}


@pytest.mark.parametrize(
    ("change", "member"),
    [
        ({"DeletionProtectionEnabled": True}, {"DeletionProtectionEnabled": True}),
        ({"SSESpecification": {"Enabled": True}}, {"SSEDescription": {"Status": "UPDATING"}}),
        (
            {"OnDemandThroughput": {"MaxReadRequestUnits": 9}},
            {"OnDemandThroughput": {"MaxReadRequestUnits": 9}},
        ),
    ],
)
def test_protection_encryption_and_maximums_leave_the_table_active(update, change, member):
    answer, _ = update({}, **change)
    assert {**answer, "TableStatus": "ACTIVE", **member} == answer


READ, WRITE = "MaxReadRequestUnits", "MaxWriteRequestUnits"


@pytest.mark.parametrize(
    ("asked", "told", "left"),
    [
        ({READ: 20}, {READ: 20, WRITE: 5}, {READ: 20, WRITE: 5}),
        ({READ: -1}, {READ: -1, WRITE: 5}, {WRITE: 5}),
        ({WRITE: -1}, {READ: 10, WRITE: -1}, {READ: 10}),
        ({READ: -1, WRITE: -1}, {READ: -1, WRITE: -1}, None),
    ],
)
def test_a_maximum_stays_unless_it_is_named_and_goes_with_minus_one(update, asked, told, left):
    maximums = {"OnDemandThroughput": {READ: 10, WRITE: 5}}
    table = {**maximums, "GlobalSecondaryIndexes": [{**index("by-group"), **maximums}]}

    answer, described = update(table, OnDemandThroughput=asked)
    assert (answer["OnDemandThroughput"], described.get("OnDemandThroughput")) == (told, left)
    assert "GlobalSecondaryIndexes" in answer

    of_index = {"Update": {"IndexName": "by-group", "OnDemandThroughput": asked}}
    answer, described = update(table, GlobalSecondaryIndexUpdates=[of_index])
    (shown,), (later,) = answer["GlobalSecondaryIndexes"], described["GlobalSecondaryIndexes"]
    assert (shown["OnDemandThroughput"], later.get("OnDemandThroughput")) == (told, left)
    assert (answer["TableStatus"], shown["IndexStatus"]) == ("ACTIVE", "UPDATING")
    assert described["OnDemandThroughput"] == maximums["OnDemandThroughput"]


@pytest.mark.parametrize(
    ("table", "told"),
    [({}, None), ({"TableClass": "STANDARD"}, {"TableClass": "STANDARD"})],
)
def test_a_table_class_is_the_old_one_until_the_change_is_over(update, clock, table, told):
    answer, described = update(table, TableClass="STANDARD_INFREQUENT_ACCESS")
    assert (answer["TableStatus"], answer.get("TableClassSummary")) == ("UPDATING", told)
    assert described["TableClassSummary"] == {
        "TableClass": "STANDARD_INFREQUENT_ACCESS",
        "LastUpdateDateTime": clock.now(),
    }


def test_whoever_enables_a_stream_finds_its_arn_in_the_answer(update):
    answer, _ = update({}, StreamSpecification=STREAM)
    assert answer["StreamSpecification"] == STREAM
    assert answer["LatestStreamArn"] == f"{answer['TableArn']}/stream/{answer['LatestStreamLabel']}"


def test_provisioned_units_are_the_old_ones_and_their_change_has_begun(update):
    resize = {"Update": {"IndexName": "by-group", "ProvisionedThroughput": SEVEN}}
    answer, described = update(
        PROVISIONED_INDEX, ProvisionedThroughput=SEVEN, GlobalSecondaryIndexUpdates=[resize]
    )
    for shown, later in zip(both(answer), both(described), strict=True):
        assert shown["ProvisionedThroughput"].items() >= FIVE.items()
        assert "LastIncreaseDateTime" in shown["ProvisionedThroughput"]
        assert later["ProvisionedThroughput"].items() >= SEVEN.items()
    assert answer["GlobalSecondaryIndexes"][0]["IndexStatus"] == "UPDATING"
    assert described["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"


def test_who_switches_to_on_demand_has_no_units_at_once(update):
    answer, described = update(PROVISIONED_INDEX, BillingMode="PAY_PER_REQUEST")
    assert answer["BillingModeSummary"] == {"BillingMode": "PAY_PER_REQUEST"}
    assert "LastUpdateToPayPerRequestDateTime" in described["BillingModeSummary"]
    for shown in both(answer):
        assert shown["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
        assert shown["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0
    assert answer["GlobalSecondaryIndexes"][0]["IndexStatus"] == "UPDATING"
    decreases = [one["ProvisionedThroughput"]["NumberOfDecreasesToday"] for one in both(described)]
    assert decreases == [0, 1]


def test_who_switches_to_provisioned_has_the_new_units_at_once(update):
    resize = {"Update": {"IndexName": "by-group", "ProvisionedThroughput": SEVEN}}
    answer, _ = update(
        INDEXED, BillingMode="PROVISIONED", ProvisionedThroughput=SEVEN, GlobalSecondaryIndexUpdates=[resize]
    )
    assert answer["BillingModeSummary"]["BillingMode"] == "PROVISIONED"
    for shown in both(answer):
        assert shown["ProvisionedThroughput"].items() >= SEVEN.items()


def test_warm_throughput_is_the_new_one_and_under_way(update):
    warm = {"Update": {"IndexName": "by-group", "WarmThroughput": WARM}}
    answer, described = update(INDEXED, WarmThroughput=WARM, GlobalSecondaryIndexUpdates=[warm])
    for shown, later in zip(both(answer), both(described), strict=True):
        assert shown["WarmThroughput"] == {**WARM, "Status": "UPDATING"}
        assert later["WarmThroughput"] == {**WARM, "Status": "ACTIVE"}


def test_encryption_is_under_way(update):
    answer, described = update({}, SSESpecification={"Enabled": True})
    assert (answer["SSEDescription"], described["SSEDescription"]["Status"]) == (
        {"Status": "UPDATING"},
        "ENABLED",
    )
    encrypted = described["SSEDescription"]
    answer, described = update({"SSESpecification": {"Enabled": True}}, SSESpecification={"Enabled": False})
    assert answer["SSEDescription"] == {**encrypted, "Status": "UPDATING"}
    assert "SSEDescription" not in described


def test_an_index_comes_beside_the_others(update):
    answer, _ = update(
        INDEXED,
        AttributeDefinitions=[{"AttributeName": "group", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[{"Create": index("another")}],
    )
    assert statuses(answer) == {"by-group": "ACTIVE", "another": "CREATING"}
    assert answer["GlobalSecondaryIndexes"][1]["Backfilling"] is False


def test_an_index_that_goes_is_still_there_with_its_attributes(update):
    answer, described = update(INDEXED, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-group"}}])
    assert statuses(answer) == {"by-group": "DELETING"}
    assert [one["AttributeName"] for one in answer["AttributeDefinitions"]] == ["group", "id"]
    assert [one["AttributeName"] for one in described["AttributeDefinitions"]] == ["id"]


def both(description: dict[str, Any]) -> list[dict[str, Any]]:
    """The table and its index."""
    return [description, *description["GlobalSecondaryIndexes"]]


def statuses(description: dict[str, Any]) -> dict[str, str]:
    return {one["IndexName"]: one["IndexStatus"] for one in description["GlobalSecondaryIndexes"]}
