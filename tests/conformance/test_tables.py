"""Operations on tables: what may be declared, how it is described, how indexes come, fill and go."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytestmark = pytest.mark.store_only

INVALID = "One or more parameter values were invalid: "
NAME = "[a-zA-Z0-9_.-]+"
NEVER_MADE = "conformance-never-made"
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
PROVISIONED = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS}


def attributes(*declared: str) -> list[dict[str, str]]:
    """Definitions of attributes given as `"pk:S"`."""
    pairs = [one.split(":") for one in declared]
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in pairs]


def key(*names: str, kinds: tuple[str, ...] = ("HASH", "RANGE")) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, kinds, strict=False)]


def declaration(**more: Any) -> dict[str, Any]:
    """A CreateTable request for a table keyed by `a` and `b`; None takes a parameter away."""
    request = {
        "TableName": NEVER_MADE,
        "KeySchema": key("a", "b"),
        "AttributeDefinitions": attributes("a:S", "b:S"),
        "BillingMode": "PAY_PER_REQUEST",
        **more,
    }
    return {name: value for name, value in request.items() if value is not None}


def refused(dynamodb: Any, **more: Any) -> str:
    """Why CreateTable refuses, leaving no table."""
    message: str = dynamodb.invalid("CreateTable", **declaration(**more))
    assert NEVER_MADE not in dynamodb("ListTables")["TableNames"]
    return message


def describe(dynamodb: Any, table: str) -> Any:
    return dynamodb("DescribeTable", TableName=table)["Table"]


def constraint(value: str, path: str, constraint: str) -> str:
    return (
        f"1 validation error detected: Value '{value}' at '{path}' failed to satisfy constraint: {constraint}"
    )


# Names


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("ab", "Member must have length greater than or equal to 3"),
        ("a" * 256, "Member must have length less than or equal to 255"),
        ("abc!", f"Member must satisfy regular expression pattern: {NAME}"),
        ("a b c", f"Member must satisfy regular expression pattern: {NAME}"),
        ("äbc", f"Member must satisfy regular expression pattern: {NAME}"),
    ],
)
def test_names_have_3_to_255_characters_of_a_few(dynamodb: Any, name: str, broken: str) -> None:
    assert refused(dynamodb, TableName=name) == constraint(name, "tableName", broken)
    for indexes in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        path = f"{indexes[0].lower()}{indexes[1:]}.1.member.indexName"
        assert refused(dynamodb, **{indexes: [dynamodb.index(name, "a", "b")]}) == (
            constraint(name, path, broken)
        )


@pytest.mark.parametrize("name", ["a.b", "A_-", "0" * 255])
def test_names_that_pass(dynamodb: Any, name: str) -> None:
    index = dynamodb.index(name, "a")
    dynamodb("CreateTable", **declaration(TableName=name, GlobalSecondaryIndexes=[index]))
    dynamodb("DeleteTable", TableName=name)


def test_names_of_global_indexes_are_judged_before_those_of_local_ones(dynamodb: Any) -> None:
    broken = "failed to satisfy constraint: Member must have length greater than or equal to 3"
    assert refused(
        dynamodb,
        LocalSecondaryIndexes=[dynamodb.index("aa", "a", "b")],
        GlobalSecondaryIndexes=[dynamodb.index("zz", "a")],
    ) == (
        f"2 validation errors detected: Value 'zz' at 'globalSecondaryIndexes.1.member.indexName' {broken}; "
        f"Value 'aa' at 'localSecondaryIndexes.1.member.indexName' {broken}"
    )


# Attribute definitions and keys


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (("a:S",), "Invalid KeySchema: Some index key attribute have no definition"),
        (
            ("a:S", "c:S"),
            f"{INVALID}Some index key attributes are not defined in AttributeDefinitions. "
            "Keys: [a, b], AttributeDefinitions: [a, c]",
        ),
        (
            ("a:S", "b:S", "c:S"),
            f"{INVALID}Number of attributes in KeySchema does not exactly match number of attributes "
            "defined in AttributeDefinitions",
        ),
        (
            ("a:S", "b:S", "b:N"),
            "Attribute Name is duplicated: b",
        ),
        (
            ("a:S", "b:L"),
            "1 validation error detected: Value 'L' at 'attributeDefinitions.2.member.attributeType' "
            "failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]",
        ),
    ],
)
def test_definitions_are_those_of_the_key(dynamodb: Any, declared: tuple[str, ...], message: str) -> None:
    assert refused(dynamodb, AttributeDefinitions=attributes(*declared)) == message


def test_definitions_are_those_of_the_indexes_too(dynamodb: Any) -> None:
    by_c = {"GlobalSecondaryIndexes": [dynamodb.index("by-c", "c")]}
    assert refused(dynamodb, **by_c) == (
        f"{INVALID}Some index key attributes are not defined in AttributeDefinitions. "
        "Keys: [c], AttributeDefinitions: [a, b]"
    )
    surplus = attributes("a:S", "b:S", "c:S", "d:S")
    assert refused(dynamodb, AttributeDefinitions=surplus, **by_c) == (
        f"{INVALID}Some AttributeDefinitions are not used. "
        "AttributeDefinitions: [a, b, c, d], keys used: [a, b, c]"
    )
    twice = attributes("a:S", "b:S", "c:S", "c:N")
    assert refused(dynamodb, AttributeDefinitions=twice, **by_c) == "Attribute Name is duplicated: c"


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            key("a", "a"),
            "Both the Hash Key and the Range Key element in the KeySchema have the same name",
        ),
        (
            key("a", "b", kinds=("RANGE", "HASH")),
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
        ),
        (
            key("a", "b", kinds=("HASH", "HASH")),
            "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
        ),
        ([], constraint("[]", "keySchema", "Member must have length greater than or equal to 1")),
        (
            key("a", kinds=("SORT",)),
            constraint(
                "SORT", "keySchema.1.member.keyType", "Member must satisfy enum value set: [HASH, RANGE]"
            ),
        ),
    ],
)
def test_a_key_is_a_hash_and_perhaps_a_range(dynamodb: Any, schema: Any, message: str) -> None:
    assert refused(dynamodb, KeySchema=schema) == message


def test_a_key_has_two_attributes_at_most(dynamodb: Any) -> None:
    schema = [*key("a", "b"), {"AttributeName": "c", "KeyType": "RANGE"}]
    message = refused(dynamodb, KeySchema=schema, AttributeDefinitions=attributes("a:S", "b:S", "c:S"))
    assert message.endswith("at 'keySchema' failed to satisfy constraint: " + TWO_AT_MOST)


TWO_AT_MOST = "Member must have length less than or equal to 2"


def test_the_name_of_a_table_is_required_in_so_many_words(dynamodb: Any) -> None:
    assert refused(dynamodb, TableName=None) == (
        "The parameter 'TableName' is required but was not present in the request"
    )


@pytest.mark.parametrize(
    ("more", "broken"),
    [
        (
            {"AttributeDefinitions": [{}]},
            [
                "null at 'attributeDefinitions.1.member.attributeType'",
                "null at 'attributeDefinitions.1.member.attributeName'",
            ],
        ),
        (
            {"KeySchema": [{}]},
            ["null at 'keySchema.1.member.attributeName'", "null at 'keySchema.1.member.keyType'"],
        ),
    ],
)
def test_what_an_empty_member_lacks(dynamodb: Any, more: Any, broken: list[str]) -> None:
    told = "; ".join(f"Value {one} failed to satisfy constraint: Member must not be null" for one in broken)
    assert refused(dynamodb, **more) == f"2 validation errors detected: {told}"


def test_settings_that_are_empty_texts(dynamodb: Any) -> None:
    encryption = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": ""}
    least = "Member must have length greater than or equal to 1"
    assert refused(dynamodb, SSESpecification=encryption) == constraint(
        "", "sSESpecification.kMSMasterKeyId", least
    )
    views = "[OLD_IMAGE, KEYS_ONLY, NEW_AND_OLD_IMAGES, NEW_IMAGE]"
    stream = {"StreamEnabled": True, "StreamViewType": ""}
    assert refused(dynamodb, StreamSpecification=stream) == constraint(
        "", "streamSpecification.streamViewType", f"Member must satisfy enum value set: {views}"
    )


# Billing


@pytest.mark.parametrize(
    ("billing", "message"),
    [
        (
            {"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": UNITS},
            f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified "
            "when BillingMode is PAY_PER_REQUEST",
        ),
        (
            {"BillingMode": "PROVISIONED"},
            f"{INVALID}ReadCapacityUnits and WriteCapacityUnits must both be specified "
            "when BillingMode is PROVISIONED",
        ),
        (
            {"BillingMode": None},
            f"{INVALID}ReadCapacityUnits and WriteCapacityUnits must both be specified "
            "when BillingMode is PROVISIONED",
        ),
        (
            {"BillingMode": "FREE"},
            constraint(
                "FREE", "billingMode", "Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]"
            ),
        ),
        (
            {**PROVISIONED, "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 1}},
            constraint(
                "0",
                "provisionedThroughput.readCapacityUnits",
                "Member must have value greater than or equal to 1",
            ),
        ),
        *(
            (
                {**PROVISIONED, "ProvisionedThroughput": {**UNITS, name: 1_000_000_000_001}},
                f"Given value 1000000000001 for {name} is out of bounds",
            )
            for name in UNITS
        ),
    ],
)
def test_throughput_goes_with_provisioned_billing(dynamodb: Any, billing: Any, message: str) -> None:
    assert refused(dynamodb, **billing) == message


def test_throughput_of_an_index_goes_with_provisioned_billing(dynamodb: Any) -> None:
    index = dynamodb.index("by-b", "b")
    paid = {**index, "ProvisionedThroughput": UNITS}
    assert refused(dynamodb, GlobalSecondaryIndexes=[paid]) == (
        f"{INVALID}ProvisionedThroughput should not be specified for index: by-b "
        "when BillingMode is PAY_PER_REQUEST"
    )
    assert refused(dynamodb, **PROVISIONED, GlobalSecondaryIndexes=[index]) == (
        f"{INVALID}ProvisionedThroughput is not specified for index: by-b"
    )


def test_a_million_millions_are_in_bounds(dynamodb: Any) -> None:
    most = dict.fromkeys(UNITS, 1_000_000_000_000)
    table = dynamodb.create("pk:S", **{**PROVISIONED, "ProvisionedThroughput": most})
    assert describe(dynamodb, table)["ProvisionedThroughput"]["ReadCapacityUnits"] == 1_000_000_000_000


# Indexes


def test_a_local_index_has_the_table_s_hash_key_and_a_range_key_of_its_own(dynamodb: Any) -> None:
    declared = attributes("a:S", "b:S", "c:S")
    for index, message in [
        (dynamodb.index("by-c", "a"), "Index KeySchema does not have a range key for index: by-c"),
        (
            dynamodb.index("by-c", "b", "c"),
            "Index KeySchema does not have the same leading hash key as table KeySchema for index: by-c. "
            "index hash key: b, table hash key: a",
        ),
    ]:
        assert refused(dynamodb, AttributeDefinitions=declared, LocalSecondaryIndexes=[index]) == (
            INVALID + message
        )
    of_a_hash = {"KeySchema": key("a"), "LocalSecondaryIndexes": [dynamodb.index("by-b", "a", "b")]}
    assert refused(dynamodb, **of_a_hash) == (
        f"{INVALID}Table KeySchema does not have a range key, "
        "which is required when specifying a LocalSecondaryIndex"
    )


@pytest.mark.parametrize("kind", ["Local", "Global"])
def test_a_list_of_indexes_is_not_empty(dynamodb: Any, kind: str) -> None:
    parameter = f"{kind}SecondaryIndexes"
    assert refused(dynamodb, **{parameter: []}) == f"{INVALID}List of {parameter} is empty"


def test_a_table_has_5_local_and_20_global_indexes(dynamodb: Any) -> None:
    local = [dynamodb.index(f"local-{number}", "a", "b") for number in range(6)]
    assert refused(dynamodb, LocalSecondaryIndexes=local) == (
        f"{INVALID}Number of LocalSecondaryIndexes exceeds per-table limit of 5"
    )
    several = [dynamodb.index(f"global-{number}", "b") for number in range(21)]
    assert refused(dynamodb, GlobalSecondaryIndexes=several) == (
        f"{INVALID}GlobalSecondaryIndex count exceeds the per-table limit of 20"
    )
    table = dynamodb.create("a:S", "b:S", LocalSecondaryIndexes=local[1:], GlobalSecondaryIndexes=several[1:])
    described = describe(dynamodb, table)
    assert len(described["LocalSecondaryIndexes"]) == 5
    assert len(described["GlobalSecondaryIndexes"]) == 20


def test_the_name_of_an_index_is_used_once(dynamodb: Any) -> None:
    local, of_all = dynamodb.index("abc", "a", "b"), dynamodb.index("abc", "b")
    for indexes in (
        {"LocalSecondaryIndexes": [local, local]},
        {"GlobalSecondaryIndexes": [of_all, of_all]},
        {"LocalSecondaryIndexes": [local], "GlobalSecondaryIndexes": [of_all]},
    ):
        assert refused(dynamodb, **indexes) == f"{INVALID}Duplicate index name: abc"


@pytest.mark.parametrize(
    ("projection", "message"),
    [
        ({}, f"{INVALID}Unknown ProjectionType: null"),
        ({"NonKeyAttributes": ["c"]}, f"{INVALID}Unknown ProjectionType: null"),
        (
            {"ProjectionType": "INCLUDE"},
            f"{INVALID}ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        ),
        *(
            (
                {"ProjectionType": kind, "NonKeyAttributes": ["c"]},
                f"{INVALID}ProjectionType is {kind}, but NonKeyAttributes is specified",
            )
            for kind in ("ALL", "KEYS_ONLY")
        ),
        (
            {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["c", "d", "c"]},
            f"{INVALID}Duplicate element in NonKeyAttributes: c",
        ),
        (
            {"ProjectionType": "INCLUDE", "NonKeyAttributes": []},
            "1 validation error detected: Value '[]' at 'INDEXES.1.member.projection.nonKeyAttributes' "
            "failed to satisfy constraint: Member must have length greater than or equal to 1",
        ),
        (
            {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["c" * 256]},
            f"1 validation error detected: Value '{'c' * 256}' "
            "at 'INDEXES.1.member.projection.nonKeyAttributes.1.member' "
            "failed to satisfy constraint: Member must have length less than or equal to 255",
        ),
        (
            {"ProjectionType": "include"},
            "1 validation error detected: Value 'include' at 'INDEXES.1.member.projection.projectionType' "
            "failed to satisfy constraint: Member must satisfy enum value set: [ALL, INCLUDE, KEYS_ONLY]",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["local", "global"])
def test_a_projection_names_what_it_includes(dynamodb: Any, kind: str, projection: Any, message: str) -> None:
    index = {"IndexName": "by-b", "KeySchema": key("a", "b"), "Projection": projection}
    assert refused(dynamodb, **{f"{kind.title()}SecondaryIndexes": [index]}) == (
        message.replace("INDEXES", f"{kind}SecondaryIndexes")
    )


def test_an_index_may_include_keys(dynamodb: Any) -> None:
    index = dynamodb.index("by-b", "b", projection="INCLUDE", also=["a", "b", "c"])
    table = dynamodb.create("a:S", "b:S", GlobalSecondaryIndexes=[index])
    item = {name: {"S": name} for name in "abcd"}
    dynamodb.put(table, item)
    del item["d"]
    assert dynamodb("Scan", TableName=table, IndexName="by-b")["Items"] == [item]


# Descriptions


def test_a_new_table_is_being_created(dynamodb: Any) -> None:
    local, of_all = dynamodb.index("by-c", "a", "c"), dynamodb.index("by-b", "b")
    request = declaration(
        **PROVISIONED,
        AttributeDefinitions=attributes("a:S", "b:N", "c:B"),
        LocalSecondaryIndexes=[local],
        GlobalSecondaryIndexes=[{**of_all, "ProvisionedThroughput": UNITS}],
    )
    created = dynamodb("CreateTable", **request)["TableDescription"]
    arn, identity, born = (created.pop(name) for name in ("TableArn", "TableId", "CreationDateTime"))
    assert re.fullmatch(rf"arn:aws:dynamodb:[a-z0-9-]+:\d{{12}}:table/{NEVER_MADE}", arn)
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", identity)
    counts = {"ItemCount": 0, "IndexSizeBytes": 0}
    assert created == {
        "TableName": NEVER_MADE,
        "TableStatus": "CREATING",
        "KeySchema": key("a", "b"),
        "AttributeDefinitions": attributes("a:S", "b:N", "c:B"),
        "ItemCount": 0,
        "TableSizeBytes": 0,
        "ProvisionedThroughput": {**UNITS, "NumberOfDecreasesToday": 0},
        "DeletionProtectionEnabled": False,
        "LocalSecondaryIndexes": [{**local, **counts, "IndexArn": f"{arn}/index/by-c"}],
        "GlobalSecondaryIndexes": [
            {
                **of_all,
                **counts,
                "IndexArn": f"{arn}/index/by-b",
                "IndexStatus": "CREATING",
                "ProvisionedThroughput": {**UNITS, "NumberOfDecreasesToday": 0},
            }
        ],
    }
    described = describe(dynamodb, NEVER_MADE)
    warm = {"ReadUnitsPerSecond": 5, "WriteUnitsPerSecond": 5, "Status": "ACTIVE"}
    (index,) = created["GlobalSecondaryIndexes"]
    assert described == {
        **created,
        "TableArn": arn,
        "TableId": identity,
        "CreationDateTime": born,
        "TableStatus": "ACTIVE",
        "GlobalSecondaryIndexes": [{**index, "IndexStatus": "ACTIVE", "WarmThroughput": warm}],
        "WarmThroughput": warm,
    }
    dynamodb("DeleteTable", TableName=NEVER_MADE)


def test_a_table_billed_by_request_has_a_summary_and_no_units(dynamodb: Any) -> None:
    request = declaration(GlobalSecondaryIndexes=[dynamodb.index("by-b", "b")])
    created = dynamodb("CreateTable", **request)["TableDescription"]
    none = {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0, "NumberOfDecreasesToday": 0}
    assert created["BillingModeSummary"] == {"BillingMode": "PAY_PER_REQUEST"}
    assert created["ProvisionedThroughput"] == none
    assert created["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] == none
    assert "LocalSecondaryIndexes" not in created
    assert "WarmThroughput" not in created
    described = describe(dynamodb, NEVER_MADE)
    summary = described["BillingModeSummary"]
    assert summary["LastUpdateToPayPerRequestDateTime"] == described["CreationDateTime"]
    warm = {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000, "Status": "ACTIVE"}
    assert described["WarmThroughput"] == warm
    assert described["GlobalSecondaryIndexes"][0]["WarmThroughput"] == warm
    dynamodb("DeleteTable", TableName=NEVER_MADE)


def test_a_table_that_is_to_be_warm_says_so_at_once(dynamodb: Any) -> None:
    warm = {"ReadUnitsPerSecond": 13000, "WriteUnitsPerSecond": 4500}
    created = dynamodb("CreateTable", **declaration(WarmThroughput=warm))["TableDescription"]
    assert created["WarmThroughput"] == {**warm, "Status": "UPDATING"}
    assert describe(dynamodb, NEVER_MADE)["WarmThroughput"] == {**warm, "Status": "ACTIVE"}
    dynamodb("DeleteTable", TableName=NEVER_MADE)


@pytest.mark.parametrize("table_class", [None, "STANDARD_INFREQUENT_ACCESS"])
def test_a_table_class_is_described_if_it_was_given(dynamodb: Any, table_class: str | None) -> None:
    more = {} if table_class is None else {"TableClass": table_class}
    described = describe(dynamodb, dynamodb.create("pk:S", **more))
    expected = None if table_class is None else {"TableClass": table_class}
    assert described.get("TableClassSummary") == expected


def test_sizes_are_those_of_the_items(dynamodb: Any) -> None:
    index = dynamodb.index("by-b", "b", projection="KEYS_ONLY")
    table = dynamodb.create("pk:S", attributes=["b:S"], GlobalSecondaryIndexes=[index])
    dynamodb.put(table, {"pk": {"S": "1"}, "b": {"S": "22"}, "v": {"S": "333"}}, {"pk": {"S": "2"}})
    described = describe(dynamodb, table)
    assert (described["ItemCount"], described["TableSizeBytes"]) == (2, 10 + 3)
    (by_b,) = described["GlobalSecondaryIndexes"]
    assert (by_b["ItemCount"], by_b["IndexSizeBytes"]) == (1, 6)


# Tables that are there, and that are not


@pytest.mark.parametrize("more", [{}, {"KeySchema": key("a"), "AttributeDefinitions": attributes("a:N")}])
def test_a_name_is_taken_once(dynamodb: Any, table: str, more: Any) -> None:
    again = dynamodb.refusal("CreateTable", **declaration(TableName=table, **more))
    assert again == ("ResourceInUseException", f"Table already exists: {table}")


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("DescribeTable", {}),
        ("DeleteTable", {}),
        ("UpdateTable", {"DeletionProtectionEnabled": True}),
        ("DescribeTimeToLive", {}),
        (
            "UpdateTimeToLive",
            {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}},
        ),
    ],
)
def test_a_missing_table_is_named(dynamodb: Any, operation: str, request_: Any) -> None:
    assert dynamodb.refusal(operation, TableName="nothing", **request_) == (
        "ResourceNotFoundException",
        "Requested resource not found: Table: nothing not found",
    )
    for name, told in [
        (None, "The parameter 'TableName' is required but was not present in the request"),
        ("ab", "TableName must be at least 3 characters long and at most 255 characters long"),
        ("a" * 256, "TableName must be at least 3 characters long and at most 255 characters long"),
        ("abc!", constraint("abc!", "tableName", f"Member must satisfy regular expression pattern: {NAME}")),
    ]:
        named = {} if name is None else {"TableName": name}
        assert dynamodb.invalid(operation, **named, **request_) == told


def test_a_deleted_table_says_little_and_is_gone(dynamodb: Any, table: str) -> None:
    dynamodb.put(table, {"pk": {"S": "a"}})
    before = describe(dynamodb, table)
    deleted = dynamodb("DeleteTable", TableName=table)["TableDescription"]
    kept = (
        "BillingModeSummary",
        "DeletionProtectionEnabled",
        "ItemCount",
        "ProvisionedThroughput",
        "TableArn",
        "TableId",
        "TableName",
        "TableSizeBytes",
    )
    assert deleted == {**{name: before[name] for name in kept}, "TableStatus": "DELETING"}
    assert dynamodb.refusal("DescribeTable", TableName=table)[0] == "ResourceNotFoundException"
    assert dynamodb.refusal("Scan", TableName=table) == (
        "ResourceNotFoundException",
        "Requested resource not found",
    )
    assert table not in dynamodb("ListTables")["TableNames"]


def test_a_protected_table_stays(dynamodb: Any) -> None:
    table = dynamodb.create("pk:S", DeletionProtectionEnabled=True)
    assert describe(dynamodb, table)["DeletionProtectionEnabled"] is True
    assert dynamodb.invalid("DeleteTable", TableName=table) == (
        "Resource cannot be deleted as it is currently protected against deletion. "
        "Disable deletion protection first."
    )
    dynamodb("UpdateTable", TableName=table, DeletionProtectionEnabled=False)
    assert describe(dynamodb, table)["DeletionProtectionEnabled"] is False
    dynamodb("DeleteTable", TableName=table)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (
            {"Limit": 0},
            constraint("0", "limit", "Member must have value greater than or equal to 1"),
        ),
        (
            {"Limit": 101},
            constraint("101", "limit", "Member must have value less than or equal to 100"),
        ),
        (
            {"ExclusiveStartTableName": "ab"},
            constraint("ab", "exclusiveStartTableName", "Member must have length greater than or equal to 3"),
        ),
    ],
)
def test_how_many_tables_may_be_listed(dynamodb: Any, request_: Any, message: str) -> None:
    assert dynamodb.invalid("ListTables", **request_) == message


def test_tables_are_listed_by_name_in_pages(dynamodb: Any) -> None:
    made = [dynamodb.create("pk:S") for _ in range(3)]
    names = dynamodb("ListTables")["TableNames"]
    assert names == sorted(names, key=str.encode)
    assert set(made) <= set(names)
    before = f"{min(made)[:-1]}-"
    listed, start = [], before
    while start is not None:
        page = dynamodb("ListTables", Limit=2, ExclusiveStartTableName=start)
        listed += page["TableNames"]
        start = page.get("LastEvaluatedTableName")
        assert start is None or start == page["TableNames"][-1]
    assert listed == [name for name in names if name.encode() > before.encode()]


# UpdateTable


def by_g(dynamodb: Any, name: str = "by-g", **more: Any) -> dict[str, Any]:
    """An UpdateTable that creates an index."""
    return {
        "AttributeDefinitions": attributes("g:S"),
        "GlobalSecondaryIndexUpdates": [{"Create": {**dynamodb.index(name, "g"), **more}}],
    }


def test_there_must_be_something_to_change(dynamodb: Any, table: str) -> None:
    for nothing in ({}, {"GlobalSecondaryIndexUpdates": []}, {"AttributeDefinitions": attributes("pk:S")}):
        assert dynamodb.invalid("UpdateTable", TableName=table, **nothing) == (
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
            "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "
            "ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, "
            "WarmThroughput or TableClass is required"
        )


def test_throughput_must_change(dynamodb: Any) -> None:
    table = dynamodb.create("pk:S", **PROVISIONED)
    same = dynamodb.invalid("UpdateTable", TableName=table, ProvisionedThroughput=UNITS)
    assert same == (
        "The provisioned throughput for the table will not change. "
        "The requested value equals the current value. "
        "Current ReadCapacityUnits provisioned for the table: 5. Requested ReadCapacityUnits: 5. "
        "Current WriteCapacityUnits provisioned for the table: 5. Requested WriteCapacityUnits: 5. "
        "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
    )
    more = {**UNITS, "ReadCapacityUnits": 6}
    answer = dynamodb("UpdateTable", TableName=table, ProvisionedThroughput=more)["TableDescription"]
    assert (answer["TableStatus"], answer["ProvisionedThroughput"]["ReadCapacityUnits"]) == ("UPDATING", 5)
    described = describe(dynamodb, table)["ProvisionedThroughput"]
    assert (described["ReadCapacityUnits"], described["NumberOfDecreasesToday"]) == (6, 0)
    assert described["LastIncreaseDateTime"] > 0
    dynamodb("UpdateTable", TableName=table, ProvisionedThroughput=UNITS)
    assert describe(dynamodb, table)["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 1


def test_the_billing_mode_changes_both_ways(dynamodb: Any) -> None:
    table = dynamodb.create("pk:S", **PROVISIONED)
    dynamodb("UpdateTable", TableName=table, BillingMode="PAY_PER_REQUEST")
    described = describe(dynamodb, table)
    assert described["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert described["ProvisionedThroughput"]["ReadCapacityUnits"] == 0
    dynamodb("UpdateTable", TableName=table, BillingMode="PAY_PER_REQUEST")
    assert dynamodb.invalid("UpdateTable", TableName=table, ProvisionedThroughput=UNITS) == (
        f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified "
        "when BillingMode is PAY_PER_REQUEST"
    )
    assert dynamodb.invalid("UpdateTable", TableName=table, BillingMode="PROVISIONED") == (
        f"{INVALID}ProvisionedThroughput must be specified when BillingMode is PROVISIONED"
    )
    dynamodb("UpdateTable", TableName=table, **PROVISIONED)
    assert describe(dynamodb, table)["ProvisionedThroughput"]["ReadCapacityUnits"] == 5


ONE_AT_A_TIME = (
    "LimitExceededException",
    "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
)


def test_one_index_comes_or_goes_at_a_time(dynamodb: Any) -> None:
    table = dynamodb.create("pk:S", attributes=["h:S"], GlobalSecondaryIndexes=[dynamodb.index("by-h", "h")])
    two = by_g(dynamodb)
    two["GlobalSecondaryIndexUpdates"].append({"Create": dynamodb.index("by-g-too", "g")})
    assert dynamodb.refusal("UpdateTable", TableName=table, **two) == ONE_AT_A_TIME
    both = by_g(dynamodb)
    both["GlobalSecondaryIndexUpdates"].append({"Delete": {"IndexName": "by-h"}})
    assert dynamodb.refusal("UpdateTable", TableName=table, **both) == ONE_AT_A_TIME
    assert [one["IndexName"] for one in describe(dynamodb, table)["GlobalSecondaryIndexes"]] == ["by-h"]


def test_index_updates_that_are_refused(dynamodb: Any) -> None:
    table = dynamodb.create(
        "pk:S",
        "sk:S",
        attributes=["g:S"],
        GlobalSecondaryIndexes=[dynamodb.index("by-g", "g")],
        LocalSecondaryIndexes=[dynamodb.index("local", "pk", "g")],
    )
    before = describe(dynamodb, table)

    def update(*updates: Any, **more: Any) -> tuple[str, str]:
        answer: tuple[str, str] = dynamodb.refusal(
            "UpdateTable", TableName=table, GlobalSecondaryIndexUpdates=list(updates), **more
        )
        return answer

    assert update({"Delete": {"IndexName": "nothing"}})[0] == "ResourceNotFoundException"
    for name in ("by-g", "local"):
        assert update({"Create": dynamodb.index(name, "g")}) == (
            "ValidationException",
            "Attempting to create an index which already exists",
        )
    assert update({"Delete": {"IndexName": "local"}}) == (
        "ValidationException",
        "Cannot delete an index that is not a GlobalSecondaryIndex: local",
    )
    assert update({"Create": dynamodb.index("by-h", "h")}) == (
        "ValidationException",
        f"{INVALID}AttributeDefinitions is not specified for index: by-h",
    )
    assert update({"Create": dynamodb.index("by-h", "h")}, AttributeDefinitions=attributes("g:S")) == (
        "ValidationException",
        f"{INVALID}Some index key attributes are not defined in AttributeDefinitions. "
        "Keys: [h], AttributeDefinitions: [pk, sk, g]",
    )
    assert update({}) == (
        "ValidationException",
        f"{INVALID}One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
        "GlobalSecondaryIndexUpdate.Delete must not be null",
    )
    twice = {"Delete": {"IndexName": "by-g"}}
    assert update(twice, twice) == (
        "ValidationException",
        f"{INVALID}Only one global secondary index update per index is allowed simultaneously. Index: by-g",
    )
    paid = {"Create": {**dynamodb.index("by-s", "sk"), "ProvisionedThroughput": UNITS}}
    assert update(paid, AttributeDefinitions=attributes("sk:S")) == (
        "ValidationException",
        f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: by-s "
        "when BillingMode is PAY_PER_REQUEST",
    )
    assert describe(dynamodb, table) == before


def test_an_index_is_announced_filled_and_removed(dynamodb: Any, table: str) -> None:
    dynamodb.put(table, {"pk": {"S": "a"}, "g": {"S": "x"}}, {"pk": {"S": "b"}})
    answer = dynamodb("UpdateTable", TableName=table, **by_g(dynamodb))["TableDescription"]
    (index,) = answer["GlobalSecondaryIndexes"]
    assert (answer["TableStatus"], index["IndexStatus"]) == ("UPDATING", "CREATING")
    assert index["Backfilling"] is False
    described = describe(dynamodb, table)
    (index,) = described["GlobalSecondaryIndexes"]
    assert (described["TableStatus"], index["IndexStatus"], index["ItemCount"]) == ("ACTIVE", "ACTIVE", 1)
    assert "Backfilling" not in index
    assert described["AttributeDefinitions"] == attributes("g:S", "pk:S")
    scanned = dynamodb("Scan", TableName=table, IndexName="by-g")
    assert scanned["Items"] == [{"pk": {"S": "a"}, "g": {"S": "x"}}]

    deletion = [{"Delete": {"IndexName": "by-g"}}]
    answer = dynamodb("UpdateTable", TableName=table, GlobalSecondaryIndexUpdates=deletion)
    assert answer["TableDescription"]["GlobalSecondaryIndexes"][0]["IndexStatus"] == "DELETING"
    described = describe(dynamodb, table)
    assert "GlobalSecondaryIndexes" not in described
    assert described["AttributeDefinitions"] == attributes("pk:S")
    assert dynamodb.invalid("Scan", TableName=table, IndexName="by-g") == (
        "The table does not have the specified index: by-g"
    )
    assert dynamodb("Scan", TableName=table)["Count"] == 2


@pytest.mark.parametrize(
    "odd", [{"N": "1"}, {"S": ""}, {"NULL": True}, {"L": [{"S": "x"}]}, {"S": "x" * 2049}]
)
def test_a_new_index_leaves_out_what_does_not_fit(dynamodb: Any, table: str, odd: Any) -> None:
    dynamodb.put(table, {"pk": {"S": "odd"}, "g": odd}, {"pk": {"S": "fits"}, "g": {"S": "x"}})
    dynamodb("UpdateTable", TableName=table, **by_g(dynamodb))
    scanned = dynamodb("Scan", TableName=table, IndexName="by-g")
    assert [item["pk"] for item in scanned["Items"]] == [{"S": "fits"}]
    assert dynamodb.get(table, pk={"S": "odd"}) == {"pk": {"S": "odd"}, "g": odd}
    assert dynamodb.refusal("PutItem", TableName=table, Item={"pk": {"S": "late"}, "g": odd})[0] == (
        "ValidationException"
    )


# Rows of indexes


@pytest.fixture
def indexed(dynamodb: Any) -> str:
    name: str = dynamodb.create(
        "pk:S",
        "sk:S",
        attributes=["g:S", "n:N"],
        GlobalSecondaryIndexes=[dynamodb.index("by-g", "g", "n")],
        LocalSecondaryIndexes=[dynamodb.index("by-n", "pk", "n")],
    )
    return name


def test_a_row_needs_all_keys_of_its_index(dynamodb: Any, indexed: str) -> None:
    def rows(index: str) -> list[str]:
        return sorted(
            item["sk"]["S"] for item in dynamodb("Scan", TableName=indexed, IndexName=index)["Items"]
        )

    def change(sort: str, expression: str, **values: Any) -> None:
        dynamodb(
            "UpdateItem",
            TableName=indexed,
            Key={"pk": {"S": "a"}, "sk": {"S": sort}},
            UpdateExpression=expression,
            **({"ExpressionAttributeValues": values} if values else {}),
        )

    keys = {"g": {"S": "x"}, "n": {"N": "1"}}
    for sort, has in [("none", ""), ("half", "g"), ("other", "n"), ("both", "gn")]:
        item = {"pk": {"S": "a"}, "sk": {"S": sort}, **{name: keys[name] for name in has}}
        dynamodb.put(indexed, item)
    assert (rows("by-g"), rows("by-n")) == (["both"], ["both", "other"])
    change("half", "SET n = :n", **{":n": {"N": "2"}})
    change("both", "REMOVE g")
    assert (rows("by-g"), rows("by-n")) == (["half"], ["both", "half", "other"])
    dynamodb("DeleteItem", TableName=indexed, Key={"pk": {"S": "a"}, "sk": {"S": "half"}})
    assert (rows("by-g"), rows("by-n")) == ([], ["both", "other"])


def test_equal_index_keys_all_come_back(dynamodb: Any, indexed: str) -> None:
    equal = {"g": {"S": "x"}, "n": {"N": "1"}}
    sorts = [str(number) for number in range(5)]
    dynamodb.put(indexed, *({"pk": {"S": "a"}, "sk": {"S": sort}, **equal} for sort in sorts))
    for index, name, value in [("by-g", "g", "x"), ("by-n", "pk", "a")]:
        answer = dynamodb(
            "Query",
            TableName=indexed,
            IndexName=index,
            KeyConditionExpression=f"{name} = :v AND n = :n",
            ExpressionAttributeValues={":v": {"S": value}, ":n": {"N": "1.0"}},
        )
        assert sorted(item["sk"]["S"] for item in answer["Items"]) == sorts
