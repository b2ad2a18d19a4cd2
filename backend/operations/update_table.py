"""UpdateTable: capacity, billing mode, global indexes, stream, deletion protection, table class, encryption.

Rules:

* everything is judged before anything is changed; a table in transition is in use;
* one global index is created or deleted at a time; throughput of any number may change in one call;
* AttributeDefinitions matter to a new index only: what else they say is not looked at;
* a new index is filled from the items at once and serves queries when its CREATING time is over;
* `update_table_answer` says what the answer shows while the change is under way.

Public source: DynamoDB API Reference, "UpdateTable".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backend.errors import ServiceError, resource_not_found, validation_error
from backend.operations.control_plane import INVALID, description, table_to_change
from backend.operations.update_table_answer import answer, takes_no_time
from backend.protocol import Request, Response
from backend.tables.definitions import (
    PAY_PER_REQUEST,
    PROVISIONED,
    Throughput,
    attribute_types_of,
    index_of,
    throughput_of,
)
from backend.tables.descriptions import asks_for_kms
from backend.tables.indexes import Index
from backend.tables.table import Table
from backend.validation.declarations import (
    MAX_CAPACITY_UNITS,
    MAX_GLOBAL_INDEXES,
    check_global_index,
    check_maximums,
)

if TYPE_CHECKING:
    from backend.engine import Engine

_ONE_AT_A_TIME = (
    "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
)


def validate(request: Request) -> None:
    """What the request shows by itself `backend.validation.declarations` has judged."""


def run(engine: Engine, request: Request, plan: None) -> Response:
    table = table_to_change(engine, request["TableName"])
    updates = request.get("GlobalSecondaryIndexUpdates") or ()
    created = [update["Create"] for update in updates if "Create" in update]
    deleted = [update["Delete"]["IndexName"] for update in updates if "Delete" in update]
    resized = {update["Update"]["IndexName"]: update["Update"] for update in updates if "Update" in update}

    _check_billing(table, request, resized)
    types = _check_attributes(table, request, created, deleted)
    _check_indexes(table, request, types, created, deleted, resized, engine.now())
    _check_stream(engine, table, request)

    now = engine.now()
    before = description(engine, table)
    _check_encryption(request.get("SSESpecification"), before.get("SSEDescription"))
    _check_warm_throughput(request, resized, before)
    if not takes_no_time(request):
        table.begin_update(now)
    _apply_settings(engine, table, request)
    _apply_capacity(table, request, resized, now)
    _apply_indexes(table, types, created, deleted, now)
    engine.catalog.save(table)
    if engine.limiter is not None:
        engine.limiter.adapt(table)
    return {"TableDescription": answer(request, before, description(engine, table), now)}


# Judging


def _check_billing(table: Table, request: Request, resized: Mapping[str, Any]) -> None:
    mode = request.get("BillingMode") or table.billing_mode
    asked = request.get("ProvisionedThroughput")
    maximums = request.get("OnDemandThroughput")
    check_maximums(maximums, "table", on_demand=mode == PAY_PER_REQUEST, least=-1)
    if mode == PAY_PER_REQUEST and asked is not None:
        raise validation_error(
            f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified "
            "when BillingMode is PAY_PER_REQUEST"
        )
    if mode == PROVISIONED and table.billing_mode == PAY_PER_REQUEST:
        left = [name for name in table.global_indexes if name not in resized]
        if left:
            raise validation_error(
                f"{INVALID}ProvisionedThroughput must be specified for index: {','.join(left)}"
            )
    elif asked is not None and throughput_of(asked) == table.throughput:
        raise validation_error(_will_not_change("table", table.throughput, throughput_of(asked)))


def _will_not_change(what: str, current: Throughput, requested: Throughput) -> str:
    return (
        f"The provisioned throughput for the {what} will not change. "
        "The requested value equals the current value. "
        f"Current ReadCapacityUnits provisioned for the {what}: {current.read}. "
        f"Requested ReadCapacityUnits: {requested.read}. "
        f"Current WriteCapacityUnits provisioned for the {what}: {current.write}. "
        f"Requested WriteCapacityUnits: {requested.write}. "
        "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
    )


def _check_attributes(
    table: Table, request: Request, created: list[Mapping[str, Any]], deleted: list[str]
) -> dict[str, str]:
    """The attribute definitions after the update: those that some key uses."""
    kept = [table.schema, *(one.schema for name, one in table.indexes.items() if name not in deleted)]
    in_use = {name for schema in kept for name in schema.names}
    new = {element["AttributeName"] for index in created for element in index["KeySchema"]}
    given = attribute_types_of(request.get("AttributeDefinitions") or ())
    for name in new & in_use & set(given):
        if given[name] != table.attribute_types[name]:
            raise validation_error(
                f"{INVALID}Attribute {name} is a key of type {table.attribute_types[name]} "
                f"and cannot be defined with type {given[name]}"
            )
    known = {**table.attribute_types, **{name: given[name] for name in given if name in new}}
    return {name: kind for name, kind in known.items() if name in in_use | new}


def _check_indexes(
    table: Table,
    request: Request,
    types: Mapping[str, str],
    created: list[Mapping[str, Any]],
    deleted: list[str],
    resized: Mapping[str, Any],
    now: float,
) -> None:
    busy = any(index.status(now) != "ACTIVE" for index in table.global_indexes.values())
    if len(created) + len(deleted) > 1 or (busy and (created or deleted)):
        raise ServiceError("LimitExceededException", _ONE_AT_A_TIME)
    on_demand = (request.get("BillingMode") or table.billing_mode) == PAY_PER_REQUEST
    for name, update in resized.items():
        _check_resized(table, name, update, on_demand=on_demand)
    for index in created:
        if index["IndexName"] in table.indexes:
            raise validation_error("Attempting to create an index which already exists")
        if request.get("AttributeDefinitions") is None:
            raise validation_error(
                f"{INVALID}AttributeDefinitions is not specified for index: {index['IndexName']}"
            )
        check_global_index(index, list(types), on_demand=on_demand, update=True)
        if len(table.global_indexes) >= MAX_GLOBAL_INDEXES:
            raise ServiceError(
                "LimitExceededException",
                "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit "
                f"of {MAX_GLOBAL_INDEXES}",
            )
    for name in deleted:
        if name not in table.global_indexes:
            raise _no_index(table, name, "delete")


def _check_resized(table: Table, name: str, update: Mapping[str, Any], *, on_demand: bool) -> None:
    asked = update.get("ProvisionedThroughput")
    if asked is not None and max(asked.values()) > MAX_CAPACITY_UNITS:
        raise validation_error(
            "This operation cannot be performed with given input values. "
            "Please contact DynamoDB service team for more info: Action Blocked: IndexUpdate"
        )
    if name not in table.global_indexes:
        raise _no_index(table, name, "update")
    check_maximums(update.get("OnDemandThroughput"), f"index : {name}", on_demand=on_demand, least=-1)
    if asked is None:
        return
    if on_demand:
        raise validation_error(
            f"{INVALID}ProvisionedThroughput should not be specified for index: {name} "
            "when BillingMode is PAY_PER_REQUEST"
        )
    current = table.global_indexes[name].definition.throughput
    if throughput_of(asked) == current:
        raise validation_error(_will_not_change("index", current, current))


def _no_index(table: Table, name: str, action: str) -> ServiceError:
    if name in table.local_indexes:
        return validation_error(f"Cannot {action} an index that is not a GlobalSecondaryIndex: {name}")
    return resource_not_found(f"Requested resource not found: Index {name} for table {table.name}")


def _check_encryption(asked: Mapping[str, Any] | None, current: Mapping[str, Any] | None) -> None:
    """Refuse to go back to the default where it holds, and a key named by the very ARN that is described."""
    if asked is None:
        return
    if current is None:
        if not asks_for_kms(asked):
            raise validation_error(f"{INVALID}Table is already encrypted by default")
    elif asked.get("KMSMasterKeyId") == current["KMSMasterKeyArn"]:
        raise validation_error(
            f"{INVALID}Table is already encrypted with given KMSMasterKeyId. "
            "Use KMSMasterKeyId parameter if you want to change Master Key"
        )


def _check_warm_throughput(request: Request, resized: Mapping[str, Any], current: Mapping[str, Any]) -> None:
    """Refuse to make the table or an index that `current` describes less warm than it is."""
    asked = [("table", request.get("WarmThroughput"), current)]
    for index in current.get("GlobalSecondaryIndexes", ()):
        update = resized.get(index["IndexName"], {})
        asked.append((f"index {index['IndexName']}", update.get("WarmThroughput"), index))
    for where, wanted, described in asked:
        for name, units in (wanted or {}).items():
            if units < described.get("WarmThroughput", {}).get(name, 0):
                raise validation_error(
                    f"{INVALID}Requested {name} for WarmThroughput for {where} is lower than current "
                    "WarmThroughput, decreasing WarmThroughput is not supported"
                )


def _check_stream(engine: Engine, table: Table, request: Request) -> None:
    asked = request.get("StreamSpecification")
    if asked is None:
        return
    latest = engine.streams.latest(table)
    is_enabled = latest is not None and latest.disabled is None
    if asked["StreamEnabled"] and is_enabled:
        raise validation_error(f"Table already has an enabled stream: TableName: {table.name}")
    if not asked["StreamEnabled"] and not is_enabled:
        raise validation_error(f"Table has no stream to disable: TableName: {table.name}")


# Acting


def _apply_settings(engine: Engine, table: Table, request: Request) -> None:
    stream = request.get("StreamSpecification")
    if stream is not None:
        if stream["StreamEnabled"]:
            engine.streams.enable(table, stream["StreamViewType"])
        else:
            engine.streams.disable(table)
        table.stream = stream
    if "DeletionProtectionEnabled" in request:
        table.deletion_protection = request["DeletionProtectionEnabled"]
    if "TableClass" in request and (table.table_class or request["TableClass"] != "STANDARD"):
        if table.table_class != request["TableClass"]:
            table.table_class_since = engine.now()
        table.table_class = request["TableClass"]
    if "SSESpecification" in request:
        table.encryption = request["SSESpecification"]
    if "OnDemandThroughput" in request:
        asked = request["OnDemandThroughput"]
        table.on_demand_throughput = _maximums_left(table.on_demand_throughput, asked)
    if "WarmThroughput" in request:
        table.warm_throughput = {**(table.warm_throughput or {}), **request["WarmThroughput"]}


def _apply_capacity(table: Table, request: Request, resized: Mapping[str, Any], now: float) -> None:
    mode = request.get("BillingMode") or table.billing_mode
    if mode == PAY_PER_REQUEST and table.billing_mode == PROVISIONED:
        table.on_demand_since = now
        # No decrease of the table's, as the service counts them, though one of each index's.
        table.throughput = Throughput()
        for index in table.global_indexes.values():
            _set_index_throughput(index, {"ProvisionedThroughput": None}, now)
    if mode == PROVISIONED and table.billing_mode == PAY_PER_REQUEST:
        table.on_demand_throughput = None
        for index in table.global_indexes.values():
            _set_index_throughput(index, {"OnDemandThroughput": None}, now)
    table.billing_mode = mode
    if request.get("ProvisionedThroughput") is not None:
        _set_throughput(table, throughput_of(request["ProvisionedThroughput"]))
    for name, update in resized.items():
        _set_index_throughput(table.global_indexes[name], update, now)


def _maximums_left(
    current: Mapping[str, int] | None, asked: Mapping[str, int] | None
) -> dict[str, int] | None:
    """The maximums after an update, which keeps those that it does not name and removes those that it sets to
    -1; None when there are none."""
    if asked is None:
        return None
    return {name: units for name, units in {**(current or {}), **asked}.items() if units != -1} or None


def _set_throughput(table: Table, throughput: Throughput) -> None:
    table.throughput_history.note(table.throughput, throughput, table.active_from)
    table.throughput = throughput


def _set_index_throughput(index: Index, update: Mapping[str, Any], now: float) -> None:
    definition = index.definition
    if "ProvisionedThroughput" in update:
        throughput = throughput_of(update["ProvisionedThroughput"])
        index.throughput_history.note(definition.throughput, throughput, now)
        definition = replace(definition, throughput=throughput)
    if "OnDemandThroughput" in update:
        left = _maximums_left(definition.on_demand_throughput, update["OnDemandThroughput"])
        definition = replace(definition, on_demand_throughput=left)
    if "WarmThroughput" in update:
        warm = {**(definition.warm_throughput or {}), **update["WarmThroughput"]}
        definition = replace(definition, warm_throughput=warm)
    index.definition = definition


def _apply_indexes(
    table: Table, types: dict[str, str], created: list[Mapping[str, Any]], deleted: list[str], now: float
) -> None:
    table.attribute_types = types
    for declared in created:
        table.create_index(index_of(declared, types), now)
    for name in deleted:
        table.begin_dropping_index(name, now)
