"""Operations on tables, through the engine: what they accept, refuse and answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from backend.engine import Engine
from backend.errors import ServiceError
from backend.settings import EngineSettings

ACCOUNT = "123456789012"
NOBODY = f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/nobody"
START = 1_700_000_000.0


class Store:
    """An engine on a clock that the test moves; `delay` is how long tables stay in transition."""

    def __init__(self, delay: float = 0.0) -> None:
        self.now = START
        self.engine = Engine(lambda: self.now, lambda n: bytes(range(n)), EngineSettings(table_delay=delay))

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        return dict(self.engine.execute(operation, request))

    def refusal(self, operation: str, **request: Any) -> tuple[str, str | None]:
        with pytest.raises(ServiceError) as refused:
            self.engine.execute(operation, request)
        return refused.value.code, refused.value.message

    def create(self, name: str = "users", **more: Any) -> dict[str, Any]:
        request = {
            "TableName": name,
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
        }
        description: dict[str, Any] = self.call("CreateTable", **{**request, **more})["TableDescription"]
        return description

    def describe(self, name: str = "users") -> dict[str, Any]:
        description: dict[str, Any] = self.call("DescribeTable", TableName=name)["Table"]
        return description


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def slow() -> Store:
    return Store(delay=10.0)


PROVISIONED = {
    "BillingMode": "PROVISIONED",
    "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
}


def keys(*names: str) -> list[dict[str, str]]:
    kinds = ("HASH", "RANGE")
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, kinds, strict=False)]


def definitions(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


def index(name: str, *names: str, **more: Any) -> dict[str, Any]:
    return {"IndexName": name, "KeySchema": keys(*names), "Projection": {"ProjectionType": "ALL"}, **more}


def creation(name: str, *names: str) -> Mapping[str, Any]:
    return {
        "AttributeDefinitions": definitions(*names),
        "GlobalSecondaryIndexUpdates": [{"Create": index(name, *names)}],
    }


# CreateTable and DescribeTable


def test_a_new_table_is_creating_and_then_active(slow: Store) -> None:
    created = slow.create()
    assert created["TableStatus"] == "CREATING"
    assert created["TableArn"] == f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/users"
    assert (created["ItemCount"], created["TableSizeBytes"]) == (0, 0)
    assert created["BillingModeSummary"] == {"BillingMode": "PAY_PER_REQUEST"}
    assert created["DeletionProtectionEnabled"] is False
    assert "GlobalSecondaryIndexes" not in created
    slow.now += 9
    assert slow.describe()["TableStatus"] == "CREATING"
    slow.now += 1
    assert slow.describe()["TableStatus"] == "ACTIVE"


def test_a_name_is_taken_once(store: Store) -> None:
    store.create()
    with pytest.raises(ServiceError, match="Table already exists: users") as refused:
        store.create()
    assert refused.value.code == "ResourceInUseException"


def test_a_provisioned_table_has_no_billing_summary(store: Store) -> None:
    created = store.create(**PROVISIONED)
    assert "BillingModeSummary" not in created
    assert created["ProvisionedThroughput"] == {
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": 5,
        "WriteCapacityUnits": 5,
    }


def test_a_table_created_by_arn_has_the_name_in_it(store: Store) -> None:
    created = store.create(f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/users")
    assert created["TableName"] == "users"
    assert store.call("ListTables") == {"TableNames": ["users"]}


def test_a_table_is_found_by_arn(store: Store) -> None:
    arn = store.create()["TableArn"]
    assert store.describe(arn)["TableName"] == "users"


def test_an_unknown_table(store: Store) -> None:
    refused = ("ResourceNotFoundException", "Requested resource not found: Table: nobody not found")
    for operation in ("DescribeTable", "DeleteTable", "DescribeTimeToLive"):
        assert store.refusal(operation, TableName="nobody") == refused
    assert store.refusal("UpdateTable", TableName="nobody", DeletionProtectionEnabled=True) == refused


def test_a_stream_is_enabled_with_the_table(store: Store) -> None:
    created = store.create(StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
    assert created["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    assert created["LatestStreamArn"] == f"{created['TableArn']}/stream/{created['LatestStreamLabel']}"


def test_refused_tags_leave_no_table(store: Store) -> None:
    with pytest.raises(ServiceError, match="Number of Tags exceed the current limit"):
        store.create(Tags=[{"Key": str(number), "Value": ""} for number in range(51)])
    assert store.call("ListTables") == {"TableNames": []}


# ListTables


def test_tables_are_listed_in_byte_order_and_pages(store: Store) -> None:
    for name in ("bbb", "Zzz", "aaa"):
        store.create(name)
    assert store.call("ListTables") == {"TableNames": ["Zzz", "aaa", "bbb"]}
    page = store.call("ListTables", Limit=2)
    assert page == {"TableNames": ["Zzz", "aaa"], "LastEvaluatedTableName": "aaa"}
    assert store.call("ListTables", Limit=2, ExclusiveStartTableName="aaa") == {"TableNames": ["bbb"]}
    assert store.call("ListTables", ExclusiveStartTableName="aab")["TableNames"] == ["bbb"]


# DeleteTable


def test_deletion_takes_its_time_and_keeps_the_name_until_then(slow: Store) -> None:
    slow.create()
    assert slow.refusal("DeleteTable", TableName="users") == (
        "ResourceInUseException",
        "Attempt to change a resource which is still in use: Table is being created: users",
    )
    slow.now += 10
    deleted = slow.call("DeleteTable", TableName="users")["TableDescription"]
    assert deleted["TableStatus"] == slow.describe()["TableStatus"] == "DELETING"
    assert slow.refusal("DeleteTable", TableName="users")[0] == "ResourceInUseException"
    slow.now += 10
    assert slow.refusal("DescribeTable", TableName="users")[0] == "ResourceNotFoundException"
    slow.create()


def test_a_protected_table_stays(store: Store) -> None:
    store.create(DeletionProtectionEnabled=True)
    code, message = store.refusal("DeleteTable", TableName="users")
    assert (code, message) == (
        "ValidationException",
        "Resource cannot be deleted as it is currently protected against deletion. "
        "Disable deletion protection first.",
    )
    store.call("UpdateTable", TableName="users", DeletionProtectionEnabled=False)
    store.call("DeleteTable", TableName="users")
    assert store.call("ListTables")["TableNames"] == []


# UpdateTable: capacity


def test_a_table_stays_while_an_index_comes_or_goes(slow: Store) -> None:
    slow.create()
    slow.now += 10
    for action in ({"Create": index("by-a", "a")}, {"Delete": {"IndexName": "by-a"}}):
        updates = {"AttributeDefinitions": definitions("a"), "GlobalSecondaryIndexUpdates": [action]}
        slow.call("UpdateTable", TableName="users", **updates)
        assert slow.refusal("DeleteTable", TableName="users") == (
            "ResourceInUseException",
            "Attempt to change a resource which is still in use: "
            "Cannot delete table while indexes are being created, updated, or deleted.",
        )
        slow.now += 10
    slow.call("DeleteTable", TableName="users")


def test_throughput_changes_and_remembers_when(slow: Store) -> None:
    slow.create(**PROVISIONED)
    slow.now += 10
    more = {"ReadCapacityUnits": 10, "WriteCapacityUnits": 5}
    answer = slow.call("UpdateTable", TableName="users", ProvisionedThroughput=more)["TableDescription"]
    assert answer["TableStatus"] == "UPDATING"
    assert answer["ProvisionedThroughput"]["ReadCapacityUnits"] == 5
    assert answer["ProvisionedThroughput"]["LastIncreaseDateTime"] == START + 10
    assert slow.refusal("UpdateTable", TableName="users", DeletionProtectionEnabled=True) == (
        "ResourceInUseException",
        "Attempt to change a resource which is still in use: Table is being updated: users",
    )
    slow.now += 10
    assert slow.describe()["ProvisionedThroughput"] == {
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": 10,
        "WriteCapacityUnits": 5,
        "LastIncreaseDateTime": START + 20,
    }
    less = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    slow.call("UpdateTable", TableName="users", ProvisionedThroughput=less)
    slow.now += 10
    assert slow.describe()["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 1
    slow.now += 24 * 3600
    assert slow.describe()["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0


def test_the_same_throughput_is_refused(store: Store) -> None:
    store.create(**PROVISIONED)
    code, message = store.refusal("UpdateTable", TableName="users", **PROVISIONED)
    assert code == "ValidationException"
    assert message is not None
    assert message.startswith(
        "The provisioned throughput for the table will not change. "
        "The requested value equals the current value. "
        "Current ReadCapacityUnits provisioned for the table: 5. Requested ReadCapacityUnits: 5. "
    )


def test_billing_switches_both_ways(store: Store) -> None:
    store.create(
        **PROVISIONED,
        AttributeDefinitions=definitions("pk", "a"),
        GlobalSecondaryIndexes=[
            index("by-a", "a", ProvisionedThroughput=PROVISIONED["ProvisionedThroughput"]),
        ],
    )
    store.call("UpdateTable", TableName="users", BillingMode="PAY_PER_REQUEST")
    described = store.describe()
    assert described["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert described["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    assert described["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    assert store.call("UpdateTable", TableName="users", BillingMode="PAY_PER_REQUEST")

    assert store.refusal("UpdateTable", TableName="users", **PROVISIONED) == (
        "ValidationException",
        "One or more parameter values were invalid: ProvisionedThroughput must be specified for index: by-a",
    )
    resize = {"IndexName": "by-a", "ProvisionedThroughput": {"ReadCapacityUnits": 2, "WriteCapacityUnits": 2}}
    with pytest.raises(ServiceError, match="Neither ReadCapacityUnits nor"):
        store.call("UpdateTable", TableName="users", ProvisionedThroughput=resize["ProvisionedThroughput"])
    store.call(
        "UpdateTable", TableName="users", **PROVISIONED, GlobalSecondaryIndexUpdates=[{"Update": resize}]
    )
    described = store.describe()
    assert described["ProvisionedThroughput"]["ReadCapacityUnits"] == 5
    assert described["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["ReadCapacityUnits"] == 2


# UpdateTable: indexes


def test_a_new_index_is_filled_and_serves_when_its_time_has_come(slow: Store) -> None:
    slow.create()
    slow.now += 10
    for number in range(3):
        item = {"pk": {"S": str(number)}, **({"a": {"S": "x"}} if number else {"a": {"N": "1"}})}
        slow.call("PutItem", TableName="users", Item=item)
    answer = slow.call("UpdateTable", TableName="users", **creation("by-a", "a"))["TableDescription"]
    assert answer["TableStatus"] == "UPDATING"
    assert answer["GlobalSecondaryIndexes"][0]["IndexStatus"] == "CREATING"
    assert {one["AttributeName"] for one in answer["AttributeDefinitions"]} == {"pk", "a"}
    assert slow.describe()["GlobalSecondaryIndexes"][0]["Backfilling"] is True
    slow.now += 10
    described = slow.describe()
    assert (described["TableStatus"], described["GlobalSecondaryIndexes"][0]["IndexStatus"]) == (
        "ACTIVE",
        "ACTIVE",
    )
    # The item whose attribute has another type than the index key stays out.
    assert described["GlobalSecondaryIndexes"][0]["ItemCount"] == 2


def test_an_index_goes_away(slow: Store) -> None:
    slow.create(AttributeDefinitions=definitions("pk", "a"), GlobalSecondaryIndexes=[index("by-a", "a")])
    slow.now += 10
    deletion = [{"Delete": {"IndexName": "by-a"}}]
    answer = slow.call("UpdateTable", TableName="users", GlobalSecondaryIndexUpdates=deletion)
    assert answer["TableDescription"]["GlobalSecondaryIndexes"][0]["IndexStatus"] == "DELETING"
    assert slow.describe()["GlobalSecondaryIndexes"][0]["IndexStatus"] == "DELETING"
    slow.now += 10
    described = slow.describe()
    assert "GlobalSecondaryIndexes" not in described
    assert described["AttributeDefinitions"] == definitions("pk")


def test_what_is_refused_of_index_updates(store: Store) -> None:
    store.create(AttributeDefinitions=definitions("pk", "a"), GlobalSecondaryIndexes=[index("by-a", "a")])

    def refused(updates: list[Any], **more: Any) -> tuple[str, str | None]:
        return store.refusal("UpdateTable", TableName="users", GlobalSecondaryIndexUpdates=updates, **more)

    deletions = [{"Delete": {"IndexName": name}} for name in ("abc", "abd")]
    assert refused(deletions) == (
        "LimitExceededException",
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
    )
    assert refused(deletions[:1]) == (
        "ResourceNotFoundException",
        "Requested resource not found: Index abc for table users",
    )
    existing = creation("by-a", "a")
    assert refused(existing["GlobalSecondaryIndexUpdates"])[0] == "ValidationException"
    assert refused([{"Create": index("by-b", "b")}]) == (
        "ValidationException",
        "One or more parameter values were invalid: AttributeDefinitions is not specified for index: by-b",
    )
    assert refused([{"Create": index("by-b", "b")}], AttributeDefinitions=definitions("c")) == (
        "ValidationException",
        "One or more parameter values were invalid: Some index key attributes are not defined in "
        "AttributeDefinitions. Keys: [b], AttributeDefinitions: [pk, a]",
    )
    other_type = [{"AttributeName": "a", "AttributeType": "N"}]
    assert "cannot be defined" in str(
        refused([{"Create": index("b-b", "a")}], AttributeDefinitions=other_type)
    )
    too_much = {"ReadCapacityUnits": 1_000_000_000_001, "WriteCapacityUnits": 1}
    assert "Action Blocked: IndexUpdate" in str(
        refused([{"Update": {"IndexName": "abc", "ProvisionedThroughput": too_much}}])
    )
    assert store.describe()["AttributeDefinitions"] == definitions("a", "pk")


def test_nothing_to_change_is_refused(store: Store) -> None:
    store.create()
    for request in ({}, {"GlobalSecondaryIndexUpdates": []}):
        code, message = store.refusal("UpdateTable", TableName="users", **request)
        assert code == "ValidationException"
        assert str(message).startswith("At least one of ProvisionedThroughput, BillingMode, ")


def test_definitions_that_no_new_index_uses_are_not_looked_at(store: Store) -> None:
    store.create(AttributeDefinitions=definitions("pk", "a"), GlobalSecondaryIndexes=[index("by-a", "a")])
    conflicting = [{"AttributeName": "pk", "AttributeType": "N"}, *definitions("b", "c")]
    store.call(
        "UpdateTable",
        TableName="users",
        AttributeDefinitions=conflicting,
        GlobalSecondaryIndexUpdates=[{"Create": index("by-b", "b")}],
    )
    store.call(
        "UpdateTable", TableName="users", AttributeDefinitions=conflicting, DeletionProtectionEnabled=True
    )
    assert store.describe()["AttributeDefinitions"] == definitions("a", "b", "pk")


def test_a_table_has_so_many_global_indexes(store: Store) -> None:
    names = [f"key{number:02}" for number in range(20)]
    indexes = [index(name, name) for name in names]
    store.create(AttributeDefinitions=definitions("pk", *names), GlobalSecondaryIndexes=indexes)
    refused = store.refusal(
        "UpdateTable",
        TableName="users",
        AttributeDefinitions=definitions("one-more"),
        GlobalSecondaryIndexUpdates=[{"Create": index("one-more", "one-more")}],
    )
    assert refused == (
        "LimitExceededException",
        "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of 20",
    )


def test_maximums_end_with_the_billing_by_request(store: Store) -> None:
    limits = {"MaxReadRequestUnits": 9, "MaxWriteRequestUnits": 9}
    store.create(
        AttributeDefinitions=definitions("pk", "a"),
        GlobalSecondaryIndexes=[{**index("by-a", "a"), "OnDemandThroughput": limits}],
        OnDemandThroughput=limits,
    )
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    store.call(
        "UpdateTable",
        TableName="users",
        BillingMode="PROVISIONED",
        ProvisionedThroughput=units,
        GlobalSecondaryIndexUpdates=[{"Update": {"IndexName": "by-a", "ProvisionedThroughput": units}}],
    )
    described = store.describe()
    assert "OnDemandThroughput" not in described
    assert "OnDemandThroughput" not in described["GlobalSecondaryIndexes"][0]


def test_warm_throughput_only_rises(store: Store) -> None:
    store.create(AttributeDefinitions=definitions("pk", "a"), GlobalSecondaryIndexes=[index("by-a", "a")])
    lower, higher = (
        {"ReadUnitsPerSecond": 11_999},
        {"ReadUnitsPerSecond": 12_001, "WriteUnitsPerSecond": 4_000},
    )
    table: dict[str, Any] = {"TableName": "users"}
    for where, changes in [
        ("table", {"WarmThroughput": lower}),
        (
            "index by-a",
            {"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "by-a", "WarmThroughput": lower}}]},
        ),
    ]:
        assert store.refusal("UpdateTable", **table, **changes) == (
            "ValidationException",
            "One or more parameter values were invalid: Requested ReadUnitsPerSecond for WarmThroughput "
            f"for {where} is lower than current WarmThroughput, decreasing WarmThroughput is not supported",
        )
    store.call("UpdateTable", **table, WarmThroughput=higher)
    assert store.describe()["WarmThroughput"] == {**higher, "Status": "ACTIVE"}


def test_encryption_that_is_there_is_not_asked_for_again(store: Store) -> None:
    store.create()
    off, managed = {"Enabled": False}, {"Enabled": True}
    arn = "arn:aws:kms:us-east-1:123456789012:alias/mine"
    own = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "alias/mine"}
    invalid = "One or more parameter values were invalid: "
    by_default = f"{invalid}Table is already encrypted by default"
    with_key = (
        f"{invalid}Table is already encrypted with given KMSMasterKeyId. "
        "Use KMSMasterKeyId parameter if you want to change Master Key"
    )

    def update(encryption: Any) -> Any:
        return store.call("UpdateTable", TableName="users", SSESpecification=encryption)

    def refusal(encryption: Any) -> tuple[str, str | None]:
        return store.refusal("UpdateTable", TableName="users", SSESpecification=encryption)

    assert refusal(off) == ("ValidationException", by_default)
    assert refusal({}) == ("ValidationException", by_default)
    update(managed)
    update(managed)
    assert store.describe()["SSEDescription"] == {
        "Status": "ENABLED",
        "SSEType": "KMS",
        "KMSMasterKeyArn": "arn:aws:kms:us-east-1:123456789012:alias/aws/dynamodb",
    }
    update(own)
    update(own)
    assert refusal({**own, "KMSMasterKeyId": arn}) == ("ValidationException", with_key)
    assert store.describe()["SSEDescription"]["KMSMasterKeyArn"] == arn
    update(off)
    assert "SSEDescription" not in store.describe()
    assert refusal(off) == ("ValidationException", by_default)
    update({"SSEType": "KMS"})
    assert store.describe()["SSEDescription"]["Status"] == "ENABLED"


def test_a_table_that_never_had_a_class_is_standard_unsaid(store: Store) -> None:
    store.create()
    for table_class, told in [("STANDARD", False), ("STANDARD_INFREQUENT_ACCESS", True), ("STANDARD", True)]:
        store.call("UpdateTable", TableName="users", TableClass=table_class)
        expected = {"TableClass": table_class, "LastUpdateDateTime": START} if told else None
        assert store.describe().get("TableClassSummary") == expected


def test_a_new_table_is_not_less_warm_than_any(store: Store) -> None:
    low = "Requested {0} for WarmThroughput for {1} is lower than {2}"
    initial = (
        "initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/"
        "developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
    )
    of_capacity = "WriteCapacityUnits of ProvisionedThroughput"
    provisioned = {
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
    }
    cold = {"WarmThroughput": {"WriteUnitsPerSecond": 4}}
    for more, told in [
        (cold, low.format("WriteUnitsPerSecond", "table", initial)),
        ({**provisioned, **cold}, low.format("WriteUnitsPerSecond", "table", of_capacity)),
    ]:
        with pytest.raises(ServiceError, match=re.escape(told)):
            store.create(**more)
    store.create(WarmThroughput={"ReadUnitsPerSecond": 12_001})
    warm = {"ReadUnitsPerSecond": 12_001, "WriteUnitsPerSecond": 4_000, "Status": "ACTIVE"}
    assert store.describe()["WarmThroughput"] == warm
    store.call("UpdateTable", TableName="users", WarmThroughput={"WriteUnitsPerSecond": 5_000})
    assert store.describe()["WarmThroughput"] == {**warm, "WriteUnitsPerSecond": 5_000}


def test_an_index_of_several_attributes_in_each_key(store: Store) -> None:
    store.create()
    schema = [
        *({"AttributeName": name, "KeyType": "HASH"} for name in ("a", "b")),
        *({"AttributeName": name, "KeyType": "RANGE"} for name in ("c", "d")),
    ]
    declared = {"IndexName": "many", "KeySchema": schema, "Projection": {"ProjectionType": "ALL"}}
    store.call(
        "UpdateTable",
        TableName="users",
        AttributeDefinitions=definitions("a", "b", "c", "d"),
        GlobalSecondaryIndexUpdates=[{"Create": declared}],
    )
    store.call("PutItem", TableName="users", Item={name: {"S": name} for name in ("pk", "a", "b", "c", "d")})
    store.call("PutItem", TableName="users", Item={name: {"S": "2"} for name in ("pk", "a", "b", "c")})
    described = store.describe()["GlobalSecondaryIndexes"][0]
    assert (described["KeySchema"], described["ItemCount"]) == (schema, 1)


# UpdateTable: stream


def test_a_stream_is_enabled_once_and_disabled_once(store: Store) -> None:
    store.create()
    enabled = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    store.call("UpdateTable", TableName="users", StreamSpecification=enabled)
    arn = store.describe()["LatestStreamArn"]
    code, message = store.refusal("UpdateTable", TableName="users", StreamSpecification=enabled)
    assert code == "ValidationException"
    assert "already" in str(message)
    disabled = {"StreamEnabled": False}
    store.call("UpdateTable", TableName="users", StreamSpecification=disabled)
    described = store.describe()
    assert "StreamSpecification" not in described
    assert described["LatestStreamArn"] == arn
    assert (
        store.refusal("UpdateTable", TableName="users", StreamSpecification=disabled)[0]
        == "ValidationException"
    )


# Tags


def test_tags_are_added_overwritten_and_removed(store: Store) -> None:
    arn = store.create(Tags=[{"Key": "env", "Value": "test"}])["TableArn"]
    store.call(
        "TagResource", ResourceArn=arn, Tags=[{"Key": "env", "Value": "prod"}, {"Key": "team", "Value": ""}]
    )
    tags = [{"Key": "env", "Value": "prod"}, {"Key": "team", "Value": ""}]
    assert store.call("ListTagsOfResource", ResourceArn=arn) == {"Tags": tags}
    assert store.call("UntagResource", ResourceArn=arn, TagKeys=["env", "nothing"]) == {}
    assert store.call("ListTagsOfResource", ResourceArn=arn) == {"Tags": tags[1:]}


@pytest.mark.parametrize(
    ("arn", "code", "message"),
    [
        (None, "ValidationException", "Invalid TableArn"),
        (
            "a:b:c:d:e:f/g",
            "ValidationException",
            "Invalid TableArn: Invalid ResourceArn provided as input a:b:c:d:e:f/g",
        ),
        (
            "abcd",
            "AccessDeniedException",
            f"User: arn:aws:iam::{ACCOUNT}:user/local is not authorized to perform: "
            "dynamodb:ListTagsOfResource on resource: abcd",
        ),
        (
            "",
            "AccessDeniedException",
            f"User: arn:aws:iam::{ACCOUNT}:user/local is not authorized to perform: "
            "dynamodb:ListTagsOfResource on resource: *",
        ),
        (
            NOBODY,
            "ResourceNotFoundException",
            f"Requested resource not found: ResourcArn: {NOBODY} not found",
        ),
    ],
)
def test_arns_that_name_no_table(store: Store, arn: str | None, code: str, message: str) -> None:
    request = {} if arn is None else {"ResourceArn": arn}
    assert store.refusal("ListTagsOfResource", **request) == (code, message)


def test_a_resource_of_another_account_or_an_index_is_refused(store: Store) -> None:
    arn = store.create()["TableArn"]
    foreign = arn.replace(ACCOUNT, "000000000000")
    assert store.refusal("ListTagsOfResource", ResourceArn=foreign)[0] == "AccessDeniedException"
    assert store.refusal("ListTagsOfResource", ResourceArn=f"{arn}/index/by-a")[0] == "ValidationException"


def test_what_is_refused_of_tags(store: Store) -> None:
    arn = store.create()["TableArn"]
    assert store.refusal("TagResource", ResourceArn=arn)[1] == (
        "1 validation error detected: Value null at 'tags' failed to satisfy constraint: "
        "Member must not be null"
    )
    assert store.refusal("TagResource", ResourceArn=arn, Tags=[])[1] == (
        "Atleast one Tag needs to be provided as Input."
    )
    assert store.refusal("UntagResource", ResourceArn=arn, TagKeys=[])[1] == (
        "Atleast one Tag Key needs to be provided as Input."
    )
    wrong_key, wrong_value = (
        "The Tag Key provided is invalid, Key:",
        "The Tag Value provided is invalid, Value:",
    )
    for tag, told in (
        ({}, f"{wrong_key} null"),
        ({"Key": "", "Value": ""}, f"{wrong_key} "),
        ({"Key": "k" * 129, "Value": ""}, f"{wrong_key} {'k' * 129}"),
        ({"Key": "k"}, f"{wrong_value} null"),
        ({"Key": "k", "Value": "v" * 257}, f"{wrong_value} {'v' * 257}"),
        ({"Key": "k!", "Value": ""}, f"{wrong_key} k!"),
        ({"Key": "aws:k", "Value": ""}, "Tag Key cannot be prefixed with aws:, Key: aws:k"),
    ):
        refused = ("ValidationException", told)
        assert store.refusal("TagResource", ResourceArn=arn, Tags=[tag]) == refused
        if "Value" in tag and told.startswith(wrong_key):
            assert store.refusal("UntagResource", ResourceArn=arn, TagKeys=[tag["Key"]]) == refused
    full = [{"Key": "\N{GREEK SMALL LETTER ALPHA}" * 128, "Value": "v" * 256}]
    full += [{"Key": str(number), "Value": ""} for number in range(49)]
    store.call("TagResource", ResourceArn=arn, Tags=full)
    too_many = "Number of Tags exceed the current limit for the provided ResourceArn"
    one_more = store.refusal("TagResource", ResourceArn=arn, Tags=[{"Key": "x", "Value": ""}])
    assert one_more == ("ValidationException", too_many)
    keys = [str(number) for number in range(51)]
    assert store.refusal("UntagResource", ResourceArn=arn, TagKeys=keys)[1] == too_many


# Time to live, limits, endpoints


def test_time_to_live_is_switched_on_and_off_once(store: Store) -> None:
    store.create()

    def update(enabled: bool, attribute: str) -> dict[str, Any]:
        return {
            "TableName": "users",
            "TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": attribute},
        }

    described = {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    assert store.call("DescribeTimeToLive", TableName="users") == described
    assert store.refusal("UpdateTimeToLive", **update(False, "ttl"))[1] == "TimeToLive is already disabled"
    assert store.call("UpdateTimeToLive", **update(True, "ttl")) == {
        "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}
    }
    assert store.call("DescribeTimeToLive", TableName="users") == {
        "TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
    }
    assert store.refusal("UpdateTimeToLive", **update(True, "ttl"))[1] == "TimeToLive is already enabled"
    for enabled in (True, False):
        assert "different" in str(store.refusal("UpdateTimeToLive", **update(enabled, "other")))
    store.call("UpdateTimeToLive", **update(False, "ttl"))
    assert store.call("DescribeTimeToLive", TableName="users") == described
    for attribute in ("", "a" * 256):
        assert store.refusal("UpdateTimeToLive", **update(True, attribute))[0] == "ValidationException"


def test_limits_and_endpoints(store: Store) -> None:
    assert store.call("DescribeLimits")["TableMaxReadCapacityUnits"] == 40_000
    assert store.call("DescribeEndpoints")["Endpoints"][0]["Address"] == "dynamodb.us-east-1.amazonaws.com"
