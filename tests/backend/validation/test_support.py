"""What of the service's model this store honours, refuses, or does not have: walked shape by shape, so that a
newer model cannot bring anything that is ignored in silence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from backend.errors import ServiceError
from backend.operations import registry
from backend.validation.model import TARGETS, Model, model, model_of
from backend.validation.shapes import check, decode
from backend.validation.support import HONOURED, REFUSED, RefusalCompiler

OPERATIONS = sorted(registry())
UNOFFERED = sorted(
    operation
    for service in TARGETS.values()
    for operation in model(service).operations()
    if operation not in registry()
)


def structures(service: Model, name: str) -> Iterator[str]:
    """The structures of a request, those below a refused member apart."""
    pending, seen = [name], set()
    while pending:
        one = pending.pop()
        if one in seen or one in ("", "AttributeValue"):
            continue
        seen.add(one)
        shape = service.shape(one)
        if shape["type"] == "structure":
            yield one
            refused = REFUSED.get(one, frozenset())
            members = shape.get("members", {})
            pending += [reference["shape"] for member, reference in members.items() if member not in refused]
        elif shape["type"] in ("list", "map"):
            pending.append(shape["member" if shape["type"] == "list" else "value"]["shape"])


def members(service: Model, structure: str) -> set[str]:
    return set(service.shape(structure).get("members", {}))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_member_of_every_request_is_honoured_or_refused(operation: str) -> None:
    service = model_of(operation)
    assert service is not None
    for structure in structures(service, service.input_of(operation)):
        honoured, refused = HONOURED.get(structure, frozenset()), REFUSED.get(structure, frozenset())
        assert not honoured & refused
        assert members(service, structure) == honoured | refused, structure


def test_nothing_is_listed_that_no_request_has() -> None:
    used = {
        structure
        for operation in OPERATIONS
        if (service := model_of(operation)) is not None
        for structure in structures(service, service.input_of(operation))
    }
    assert {*HONOURED, *REFUSED} <= used


def sample(service: Model, name: str) -> Any:
    """Some value of a shape, with every member there is."""
    shape = service.shape(name)
    match shape["type"]:
        case "structure":
            return {
                member: sample(service, reference["shape"]) for member, reference in shape["members"].items()
            }
        case "list":
            return [sample(service, shape["member"]["shape"])]
        case "boolean":
            return False
        case "integer" | "long" | "double":
            return shape.get("min", 1)
        case _:
            return shape["enum"][0] if "enum" in shape else "x" * max(3, shape.get("min", 3))


@pytest.mark.parametrize(
    ("operation", "base"),
    [
        (
            "CreateTable",
            {
                "TableName": "abc",
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
        ),
        ("UpdateTable", {"TableName": "abc", "DeletionProtectionEnabled": True}),
    ],
)
def test_a_refused_member_is_named_whatever_its_value(
    store: Any, operation: str, base: dict[str, Any]
) -> None:
    service = model("dynamodb")
    structure = service.input_of(operation)
    check(operation, base)
    for member in sorted(REFUSED[structure]):
        value = sample(service, service.shape(structure)["members"][member]["shape"])
        request = decode(operation, {**base, member: value})
        with pytest.raises(ServiceError) as refused:
            store.engine.execute(operation, request)
        assert (refused.value.code, member in str(refused.value.message)) == ("ValidationException", True)
    assert store("ListTables") == {"TableNames": []}


def test_a_member_that_a_newer_model_brings_is_refused_at_any_depth() -> None:
    honoured = {name: known - {"KMSMasterKeyId", "NonKeyAttributes"} for name, known in HONOURED.items()}
    refuse = RefusalCompiler(model("dynamodb"), honoured).structure("CreateTableInput")
    assert refuse is not None
    refuse({"SSESpecification": {"Enabled": True}, "LocalSecondaryIndexes": [{"Projection": {}}]})
    for request in (
        {"SSESpecification": {"KMSMasterKeyId": "k"}},
        {"GlobalSecondaryIndexes": [{}, {"Projection": {"NonKeyAttributes": ["a"]}}]},
    ):
        with pytest.raises(ServiceError, match="is not supported by this endpoint"):
            refuse(request)


@pytest.mark.parametrize("operation", UNOFFERED)
def test_an_operation_that_the_store_does_not_have_is_refused_by_name(store: Any, operation: str) -> None:
    with pytest.raises(ServiceError) as refused:
        store(operation, TableName="abc")
    assert (refused.value.code, refused.value.status) == ("UnknownOperationException", 400)
    assert refused.value.message == f"{operation} is not supported by this endpoint"


SETTINGS: list[tuple[dict[str, Any], Callable[[dict[str, Any]], Any], Any]] = [
    (
        {"SSESpecification": {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "alias/mine"}},
        lambda table: table["SSEDescription"],
        {
            "Status": "ENABLED",
            "SSEType": "KMS",
            "KMSMasterKeyArn": "arn:aws:kms:us-east-1:123456789012:alias/mine",
        },
    ),
    (
        {"WarmThroughput": {"ReadUnitsPerSecond": 15000, "WriteUnitsPerSecond": 7000}},
        lambda table: table["WarmThroughput"],
        {"ReadUnitsPerSecond": 15000, "WriteUnitsPerSecond": 7000, "Status": "ACTIVE"},
    ),
    (
        {"OnDemandThroughput": {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20}},
        lambda table: table["OnDemandThroughput"],
        {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20},
    ),
    (
        {"TableClass": "STANDARD_INFREQUENT_ACCESS"},
        lambda table: table["TableClassSummary"]["TableClass"],
        "STANDARD_INFREQUENT_ACCESS",
    ),
    ({"DeletionProtectionEnabled": True}, lambda table: table["DeletionProtectionEnabled"], True),
    (
        {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}},
        lambda table: table["StreamSpecification"],
        {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
    ),
]


@pytest.mark.parametrize(
    ("setting", "shown", "expected"), SETTINGS, ids=[next(iter(each[0])) for each in SETTINGS]
)
@pytest.mark.parametrize("at_creation", [True, False], ids=["create", "update"])
def test_a_setting_of_a_table_shows_in_its_description(
    store: Any, setting: dict[str, Any], shown: Callable[[Any], Any], expected: Any, at_creation: bool
) -> None:
    store.create("abc", "pk:S", **(setting if at_creation else {}))
    if not at_creation:
        store("UpdateTable", TableName="abc", **setting)
    assert shown(store("DescribeTable", TableName="abc")["Table"]) == expected
