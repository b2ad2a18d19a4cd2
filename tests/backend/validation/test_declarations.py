"""What CreateTable and UpdateTable refuse of themselves, in the words of the service."""

from __future__ import annotations

from typing import Any

import pytest

from backend.errors import ServiceError
from backend.validation.shapes import check

INVALID = "One or more parameter values were invalid: "
UNITS = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}


def index(name: str = "by-a", **more: Any) -> dict[str, Any]:
    keys = [{"AttributeName": "a", "KeyType": "HASH"}]
    return {"IndexName": name, "KeySchema": keys, "Projection": {"ProjectionType": "ALL"}, **more}


def table(*attributes: str, **more: Any) -> dict[str, Any]:
    return {
        "TableName": "users",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in ("pk", *attributes)
        ],
        "BillingMode": "PAY_PER_REQUEST",
        **more,
    }


def provisioned(*attributes: str, **more: Any) -> dict[str, Any]:
    return table(*attributes, BillingMode="PROVISIONED", ProvisionedThroughput=UNITS, **more)


def refusal(operation: str, request: dict[str, Any]) -> str | None:
    with pytest.raises(ServiceError) as refused:
        check(operation, request)
    assert refused.value.code == "ValidationException"
    return refused.value.message


ENCRYPTION = [
    ({"Enabled": False, "SSEType": "KMS"}, "SSEType can not be specified if Enabled is false"),
    ({"Enabled": False, "KMSMasterKeyId": "k"}, "KMSMasterKeyId can not be specified if Enabled is false"),
    ({"Enabled": True, "KMSMasterKeyId": "k"}, "SSEType KMS is required if KMSMasterKeyId is specified"),
    ({"Enabled": True, "SSEType": "AES256"}, "SSEType AES256 is not supported"),
]


@pytest.mark.parametrize(("encryption", "message"), ENCRYPTION)
def test_encryption_that_contradicts_itself(encryption: dict[str, Any], message: str) -> None:
    assert refusal("CreateTable", table(SSESpecification=encryption)) == INVALID + message
    update = {"TableName": "users", "SSESpecification": encryption}
    assert refusal("UpdateTable", update) == INVALID + message


@pytest.mark.parametrize(
    "encryption",
    [{}, {"Enabled": False}, {"Enabled": True}, {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "k"}],
)
def test_encryption_that_makes_sense(encryption: dict[str, Any]) -> None:
    check("CreateTable", table(SSESpecification=encryption))


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (table("pk"), "Attribute Name is duplicated: pk"),
        (
            table(
                "a",
                GlobalSecondaryIndexes=[
                    index(Projection={"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x", "y", "x"]})
                ],
            ),
            f"{INVALID}Duplicate element in NonKeyAttributes: x",
        ),
        (
            table("a", GlobalSecondaryIndexes=[index(ProvisionedThroughput=UNITS)]),
            f"{INVALID}ProvisionedThroughput should not be specified for index: by-a "
            "when BillingMode is PAY_PER_REQUEST",
        ),
        (
            provisioned("a", GlobalSecondaryIndexes=[index()]),
            f"{INVALID}ProvisionedThroughput is not specified for index: by-a",
        ),
        (
            table(StreamSpecification={"StreamEnabled": True}),
            f"{INVALID}Table is being created with a stream enabled, UpdateViewType is required",
        ),
        (
            table(StreamSpecification={"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"}),
            f"{INVALID}Table is being created with a stream disabled, UpdateViewType should not be specified",
        ),
        (
            table(OnDemandThroughput={"MaxReadRequestUnits": 0}),
            f"{INVALID}Requested MaxReadRequestUnits for OnDemandThroughput for table "
            "is outside of valid range",
        ),
        (
            table("a", GlobalSecondaryIndexes=[index(OnDemandThroughput={"MaxWriteRequestUnits": -1})]),
            f"{INVALID}Requested MaxWriteRequestUnits for OnDemandThroughput for index : by-a "
            "is outside of valid range",
        ),
        (
            provisioned(OnDemandThroughput={"MaxReadRequestUnits": 5}),
            f"{INVALID}MaxReadRequestUnits for OnDemandThroughput cannot be specified "
            "when the table BillingMode is PROVISIONED",
        ),
    ],
)
def test_tables_that_cannot_be_created(request_: dict[str, Any], message: str) -> None:
    assert refusal("CreateTable", request_) == message


CREATE = [{"Create": index()}]
STREAM = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
ONLY = "must be the only operation in the request"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"SSESpecification": {"Enabled": True}, "DeletionProtectionEnabled": True},
            f"Server-Side Encryption modification {ONLY}",
        ),
        (
            {"TableClass": "STANDARD", "GlobalSecondaryIndexUpdates": CREATE},
            f"TableClass modification {ONLY}",
        ),
        (
            {"DeletionProtectionEnabled": True, "StreamSpecification": STREAM},
            f"DeletionProtection modification {ONLY}",
        ),
        (
            {"WarmThroughput": {"ReadUnitsPerSecond": 9}, "GlobalSecondaryIndexUpdates": CREATE},
            "Create global secondary index cannot be specified when updating WarmThroughput",
        ),
        (
            {"WarmThroughput": {"ReadUnitsPerSecond": 9}, "BillingMode": "PAY_PER_REQUEST"},
            f"WarmThroughput {ONLY}",
        ),
        (
            {"OnDemandThroughput": {"MaxReadRequestUnits": 9}, "StreamSpecification": STREAM},
            "OnDemandThroughput can only be combined with BillingMode in an UpdateTable request",
        ),
        (
            {"ProvisionedThroughput": UNITS, "StreamSpecification": STREAM},
            "You cannot modify stream status while updating table IOPS",
        ),
        (
            {"ProvisionedThroughput": UNITS, "GlobalSecondaryIndexUpdates": CREATE},
            "You cannot create or delete index while updating table IOPS",
        ),
        (
            {"StreamSpecification": STREAM, "GlobalSecondaryIndexUpdates": CREATE},
            "You cannot create or delete index while changing stream status",
        ),
        (
            {"BillingMode": "PAY_PER_REQUEST", "GlobalSecondaryIndexUpdates": []},
            "List of GlobalSecondaryIndexUpdates is empty",
        ),
        (
            {"GlobalSecondaryIndexUpdates": [{"Create": index(), "Delete": {"IndexName": "by-a"}}]},
            "Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object",
        ),
        (
            {"StreamSpecification": {"StreamEnabled": True}},
            "If stream is being enabled then UpdateViewType is required",
        ),
        (
            {"StreamSpecification": {"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"}},
            "If stream is being disabled, then UpdateViewType must not be specified",
        ),
    ],
)
def test_changes_that_are_not_made_together(changes: dict[str, Any], message: str) -> None:
    assert refusal("UpdateTable", {"TableName": "users", **changes}) == INVALID + message


@pytest.mark.parametrize(
    "changes",
    [
        {"BillingMode": "PAY_PER_REQUEST", "GlobalSecondaryIndexUpdates": CREATE},
        {"BillingMode": "PAY_PER_REQUEST", "OnDemandThroughput": {"MaxReadRequestUnits": 9}},
        {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS},
        {
            "GlobalSecondaryIndexUpdates": [
                *CREATE,
                {"Update": {"IndexName": "old", "ProvisionedThroughput": UNITS}},
            ]
        },
    ],
)
def test_changes_that_may_be_made_together(changes: dict[str, Any]) -> None:
    check("UpdateTable", {"TableName": "users", **changes})
