"""What CreateTable and UpdateTable refuse about keys, indexes and capacity before they look at any table.

The order of the checks is the service's: capacity, key schema of the table, local indexes, global indexes,
and last of all attribute definitions that nothing uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.errors import validation_error
from backend.protocol import Request

INVALID = "One or more parameter values were invalid: "
MAX_CAPACITY_UNITS = 1_000_000_000_000
MAX_LOCAL_INDEXES = 5
MAX_GLOBAL_INDEXES = 20
MAX_KEY_ATTRIBUTES = 4
"""Partition or sort attributes of a global index; a table and a local index have one of each."""

INITIAL_ON_DEMAND = {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000}
"""What a table or global index takes at once from the beginning when it is billed by request."""
_INITIAL_ON_DEMAND_GUIDE = (
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
    "on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
)
_CAPACITY_OF = {"ReadUnitsPerSecond": "ReadCapacityUnits", "WriteUnitsPerSecond": "WriteCapacityUnits"}

Index = Mapping[str, Any]
KeyElements = Sequence[Mapping[str, str]]

_UPDATES = (
    "ProvisionedThroughput", "BillingMode", "StreamSpecification", "GlobalSecondaryIndexUpdates",
    "SSESpecification", "TableClass", "DeletionProtectionEnabled", "OnDemandThroughput", "WarmThroughput",
)  # fmt: skip
_ALONE = {
    "SSESpecification": "Server-Side Encryption modification",
    "TableClass": "TableClass modification",
    "DeletionProtectionEnabled": "DeletionProtection modification",
}
"""What UpdateTable changes only by itself, and what it calls that."""


def check_create_table(request: Request) -> None:
    """Raises ValidationException for the first thing wrong with a CreateTable request."""
    on_demand = request.get("BillingMode") == "PAY_PER_REQUEST"
    check_capacity(request.get("ProvisionedThroughput"), on_demand=on_demand)
    check_maximums(request.get("OnDemandThroughput"), "table", on_demand=on_demand, least=1)
    defined = [one["AttributeName"] for one in request["AttributeDefinitions"]]
    local, indexes = request.get("LocalSecondaryIndexes"), request.get("GlobalSecondaryIndexes")

    _check_table_keys(request["KeySchema"], defined, has_indexes=local is not None or indexes is not None)
    names: set[str] = set()
    if local is not None:
        _check_local_indexes(local, request["KeySchema"], defined, names)
    if indexes is not None:
        _check_global_indexes(indexes, defined, names, on_demand=on_demand)
    _check_all_used(request["KeySchema"], [*(local or ()), *(indexes or ())], defined)
    _check_new_stream(request.get("StreamSpecification"))
    check_encryption(request.get("SSESpecification"))
    _check_initial_warmth(request.get("WarmThroughput"), "table", request.get("ProvisionedThroughput"))


def check_capacity(throughput: Mapping[str, int] | None, *, on_demand: bool) -> None:
    if on_demand:
        if throughput is not None:
            raise validation_error(
                f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified "
                "when BillingMode is PAY_PER_REQUEST"
            )
        return
    if throughput is None:
        raise validation_error(
            f"{INVALID}ReadCapacityUnits and WriteCapacityUnits must both be specified "
            "when BillingMode is PROVISIONED"
        )
    check_capacity_bounds(throughput)


def check_capacity_bounds(throughput: Mapping[str, int]) -> None:
    for name in ("ReadCapacityUnits", "WriteCapacityUnits"):
        if throughput[name] > MAX_CAPACITY_UNITS:
            raise validation_error(f"Given value {throughput[name]} for {name} is out of bounds")


def check_maximums(maximums: Mapping[str, int] | None, where: str, *, on_demand: bool, least: int) -> None:
    """Refuse an OnDemandThroughput, of which no unit may be below `least`; `where` is the table or index."""
    for name, units in (maximums or {}).items():
        if not on_demand:
            index = "" if where == "table" else f" for {where}"
            raise validation_error(
                f"{INVALID}{name} for OnDemandThroughput{index} cannot be specified "
                "when the table BillingMode is PROVISIONED"
            )
        if units < least or units == 0:
            raise validation_error(
                f"{INVALID}Requested {name} for OnDemandThroughput for {where} is outside of valid range"
            )


def _check_initial_warmth(
    warm: Mapping[str, int] | None, where: str, provisioned: Mapping[str, int] | None
) -> None:
    """Refuse a new table or index that is to be less warm than it is from the beginning."""
    for name, units in (warm or {}).items():
        if provisioned is None and units < INITIAL_ON_DEMAND[name]:
            least = f"initial throughput for OnDemand. See: {_INITIAL_ON_DEMAND_GUIDE}"
        elif provisioned is not None and units < provisioned[capacity := _CAPACITY_OF[name]]:
            least = f"{capacity} of ProvisionedThroughput"
        else:
            continue
        raise validation_error(
            f"{INVALID}Requested {name} for WarmThroughput for {where} is lower than {least}"
        )


def check_encryption(specification: Mapping[str, Any] | None) -> None:
    """Refuse an SSESpecification whose members contradict each other."""
    if specification is None:
        return
    kind, key = specification.get("SSEType"), specification.get("KMSMasterKeyId")
    if specification.get("Enabled") is False:
        for member, given in (("SSEType", kind), ("KMSMasterKeyId", key)):
            if given is not None:
                raise validation_error(f"{INVALID}{member} can not be specified if Enabled is false")
    elif kind == "AES256":
        raise validation_error(f"{INVALID}SSEType AES256 is not supported")
    elif key is not None and kind is None:
        raise validation_error(f"{INVALID}SSEType KMS is required if KMSMasterKeyId is specified")


def _check_new_stream(specification: Mapping[str, Any] | None) -> None:
    if specification is None:
        return
    if specification["StreamEnabled"] and not specification.get("StreamViewType"):
        raise validation_error(
            f"{INVALID}Table is being created with a stream enabled, UpdateViewType is required"
        )
    if not specification["StreamEnabled"] and specification.get("StreamViewType"):
        raise validation_error(
            f"{INVALID}Table is being created with a stream disabled, UpdateViewType should not be specified"
        )


def _check_changed_stream(specification: Mapping[str, Any] | None) -> None:
    if specification is None:
        return
    if specification["StreamEnabled"] and not specification.get("StreamViewType"):
        raise validation_error(f"{INVALID}If stream is being enabled then UpdateViewType is required")
    if not specification["StreamEnabled"] and specification.get("StreamViewType"):
        raise validation_error(
            f"{INVALID}If stream is being disabled, then UpdateViewType must not be specified"
        )


# Keys


def _check_table_keys(elements: KeyElements, defined: list[str], *, has_indexes: bool) -> None:
    if len(elements) > len(defined):
        raise validation_error("Invalid KeySchema: Some index key attribute have no definition")
    _check_defined(elements, defined)
    _check_simple_keys(elements)
    if len(set(defined)) != len(defined):
        raise validation_error(f"Attribute Name is duplicated: {_duplicate(defined)}")
    if not has_indexes and len(elements) != len(defined):
        raise validation_error(
            f"{INVALID}Number of attributes in KeySchema does not exactly match number of attributes "
            "defined in AttributeDefinitions"
        )


def _check_defined(elements: KeyElements, defined: Sequence[str]) -> None:
    keys = [element["AttributeName"] for element in elements]
    if not set(keys) <= set(defined):
        raise validation_error(
            f"{INVALID}Some index key attributes are not defined in AttributeDefinitions. "
            f"Keys: {_print(keys)}, AttributeDefinitions: {_print(defined)}"
        )


def _check_simple_keys(elements: KeyElements) -> None:
    """One HASH, then perhaps one RANGE, of two names."""
    if len(elements) == 2 and elements[0]["AttributeName"] == elements[1]["AttributeName"]:
        raise validation_error(
            "Both the Hash Key and the Range Key element in the KeySchema have the same name"
        )
    if elements[0]["KeyType"] != "HASH":
        raise validation_error("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if len(elements) == 2 and elements[1]["KeyType"] != "RANGE":
        raise validation_error("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")


def _check_global_keys(elements: KeyElements) -> None:
    """One to four HASH elements, then up to four RANGE elements, all of different names.

    A schema of one HASH and one further element is judged and worded like that of a table.
    """
    kinds = [element["KeyType"] for element in elements]
    names = [element["AttributeName"] for element in elements]
    if len(elements) <= 2 and kinds != ["HASH", "HASH"]:
        _check_simple_keys(elements)
        return
    if kinds[0] != "HASH":
        raise validation_error("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if len(set(names)) != len(names):
        raise validation_error("The KeySchema contains multiple key attributes with the same name")
    if kinds != sorted(kinds):
        raise validation_error(
            f"{INVALID}All HASH key attributes must precede RANGE key attributes in the KeySchema"
        )
    for kind in ("HASH", "RANGE"):
        if kinds.count(kind) > MAX_KEY_ATTRIBUTES:
            raise validation_error(
                f"{INVALID}The KeySchema exceeds the maximum allowed number of {kind} key attributes"
            )


def _check_all_used(table_keys: KeyElements, indexes: Sequence[Index], defined: Sequence[str]) -> None:
    used = [element["AttributeName"] for element in table_keys]
    for index in indexes:
        used += [one["AttributeName"] for one in index["KeySchema"] if one["AttributeName"] not in used]
    if not set(defined) <= set(used):
        raise validation_error(
            f"{INVALID}Some AttributeDefinitions are not used. "
            f"AttributeDefinitions: {_print(defined)}, keys used: {_print(used)}"
        )


# Indexes


def _check_local_indexes(
    indexes: Sequence[Index], table_keys: KeyElements, defined: Sequence[str], names: set[str]
) -> None:
    if not indexes:
        raise validation_error(f"{INVALID}List of LocalSecondaryIndexes is empty")
    if len(table_keys) != 2:
        raise validation_error(
            f"{INVALID}Table KeySchema does not have a range key, "
            "which is required when specifying a LocalSecondaryIndex"
        )
    table_hash = table_keys[0]["AttributeName"]
    for index in indexes:
        name, elements = index["IndexName"], index["KeySchema"]
        _check_defined(elements, defined)
        _check_simple_keys(elements)
        if len(elements) != 2:
            raise validation_error(f"{INVALID}Index KeySchema does not have a range key for index: {name}")
        if elements[0]["AttributeName"] != table_hash:
            raise validation_error(
                f"{INVALID}Index KeySchema does not have the same leading hash key as table KeySchema "
                f"for index: {name}. index hash key: {elements[0]['AttributeName']}, "
                f"table hash key: {table_hash}"
            )
        check_projection(index["Projection"])
        _check_name_is_new(name, names)
    if len(indexes) > MAX_LOCAL_INDEXES:
        raise validation_error(
            f"{INVALID}Number of LocalSecondaryIndexes exceeds per-table limit of {MAX_LOCAL_INDEXES}"
        )


def _check_global_indexes(
    indexes: Sequence[Index], defined: Sequence[str], names: set[str], *, on_demand: bool
) -> None:
    if not indexes:
        raise validation_error(f"{INVALID}List of GlobalSecondaryIndexes is empty")
    for index in indexes:
        check_global_index(index, defined, on_demand=on_demand)
        _check_name_is_new(index["IndexName"], names)
    if len(indexes) > MAX_GLOBAL_INDEXES:
        raise validation_error(
            f"{INVALID}GlobalSecondaryIndex count exceeds the per-table limit of {MAX_GLOBAL_INDEXES}"
        )


def check_global_index(
    index: Index, defined: Sequence[str], *, on_demand: bool, update: bool = False
) -> None:
    """Refuse a global index of CreateTable or, worded differently, of UpdateTable."""
    _check_defined(index["KeySchema"], defined)
    _check_global_keys(index["KeySchema"])
    check_projection(index["Projection"])
    name, throughput = index["IndexName"], index.get("ProvisionedThroughput")
    if on_demand and throughput is not None:
        raise validation_error(
            f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: {name} "
            "when BillingMode is PAY_PER_REQUEST"
            if update
            else f"{INVALID}ProvisionedThroughput should not be specified for index: {name} "
            "when BillingMode is PAY_PER_REQUEST"
        )
    if not on_demand and throughput is None:
        raise validation_error(
            f"{INVALID}Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: {name}"
            if update
            else f"{INVALID}ProvisionedThroughput is not specified for index: {name}"
        )
    if throughput is not None:
        check_capacity_bounds(throughput)
    check_maximums(index.get("OnDemandThroughput"), f"index : {name}", on_demand=on_demand, least=1)
    _check_initial_warmth(index.get("WarmThroughput"), f"index {name}", throughput)


def check_projection(projection: Mapping[str, Any]) -> None:
    kind, attributes = projection.get("ProjectionType"), projection.get("NonKeyAttributes")
    if kind is None:
        raise validation_error(f"{INVALID}Unknown ProjectionType: null")
    if attributes is not None and kind != "INCLUDE":
        raise validation_error(f"{INVALID}ProjectionType is {kind}, but NonKeyAttributes is specified")
    if attributes is None and kind == "INCLUDE":
        raise validation_error(f"{INVALID}ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    if attributes is not None and len(set(attributes)) != len(attributes):
        raise validation_error(f"{INVALID}Duplicate element in NonKeyAttributes: {_duplicate(attributes)}")


def _check_name_is_new(name: str, names: set[str]) -> None:
    if name in names:
        raise validation_error(f"{INVALID}Duplicate index name: {name}")
    names.add(name)


# UpdateTable


def check_update_table(request: Request) -> None:
    """Raises ValidationException for the first thing wrong with an UpdateTable request of itself."""
    asked = [name for name in _UPDATES if request.get(name) is not None]
    updates = request.get("GlobalSecondaryIndexUpdates")
    if not asked or (asked == ["GlobalSecondaryIndexUpdates"] and not updates):
        raise validation_error(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
            "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "
            "ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, "
            "WarmThroughput or TableClass is required"
        )
    throughput = request.get("ProvisionedThroughput")
    if request.get("BillingMode") == "PROVISIONED" and throughput is None:
        raise validation_error(
            f"{INVALID}ProvisionedThroughput must be specified when BillingMode is PROVISIONED"
        )
    if throughput is not None:
        check_capacity_bounds(throughput)
    _check_changed_stream(request.get("StreamSpecification"))
    check_encryption(request.get("SSESpecification"))
    if updates is not None and not updates:
        raise validation_error(f"{INVALID}List of GlobalSecondaryIndexUpdates is empty")
    names: set[str] = set()
    for update in updates or ():
        _check_index_update(update, names)
    _check_combination(asked, updates or ())


def _check_combination(asked: Sequence[str], updates: Sequence[Mapping[str, Any]]) -> None:
    """Refuse changes that UpdateTable does not make together."""
    for name, what in _ALONE.items():
        if name in asked and len(asked) > 1:
            raise validation_error(f"{INVALID}{what} must be the only operation in the request")
    new_or_gone = any("Create" in update or "Delete" in update for update in updates)
    if "WarmThroughput" in asked:
        if any("Create" in update for update in updates):
            raise validation_error(
                f"{INVALID}Create global secondary index cannot be specified when updating WarmThroughput"
            )
        if not {*asked} <= {"WarmThroughput", "GlobalSecondaryIndexUpdates"} or new_or_gone:
            raise validation_error(f"{INVALID}WarmThroughput must be the only operation in the request")
    if "OnDemandThroughput" in asked and not {*asked} <= {"OnDemandThroughput", "BillingMode"}:
        raise validation_error(
            f"{INVALID}OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"
        )
    if "ProvisionedThroughput" in asked and "StreamSpecification" in asked:
        raise validation_error(f"{INVALID}You cannot modify stream status while updating table IOPS")
    if "ProvisionedThroughput" in asked and new_or_gone:
        raise validation_error(f"{INVALID}You cannot create or delete index while updating table IOPS")
    if "StreamSpecification" in asked and new_or_gone:
        raise validation_error(f"{INVALID}You cannot create or delete index while changing stream status")


def _check_index_update(update: Mapping[str, Any], names: set[str]) -> None:
    actions = [action for action in ("Update", "Create", "Delete") if action in update]
    if not actions:
        raise validation_error(
            f"{INVALID}One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
            "GlobalSecondaryIndexUpdate.Delete must not be null"
        )
    if len(actions) > 1:
        raise validation_error(
            f"{INVALID}Only one global secondary index action is allowed "
            "per GlobalSecondaryIndexUpdate object"
        )
    name = update[actions[0]]["IndexName"]
    if name in names:
        raise validation_error(
            f"{INVALID}Only one global secondary index update per index is allowed simultaneously. "
            f"Index: {name}"
        )
    names.add(name)


def _duplicate(names: Sequence[str]) -> str:
    """The first name that was there before."""
    return next(name for position, name in enumerate(names) if name in names[:position])


def _print(names: Sequence[str]) -> str:
    return f"[{', '.join(names)}]"
