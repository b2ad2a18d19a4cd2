"""What the operations on tables share: finding one, its state, its description, and resource ARNs.

Rules: a table in transition refuses another one with ResourceInUseException; a description is the table's own
plus what the engine's streams know of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any

from backend.errors import ServiceError, resource_not_found, validation_error
from backend.tables.definitions import PAY_PER_REQUEST
from backend.tables.descriptions import describe
from backend.tables.table import Table

if TYPE_CHECKING:
    from backend.engine import Engine

INVALID = "One or more parameter values were invalid: "
MAX_TAGS = 50
MAX_TAG_KEY = 128
MAX_TAG_VALUE = 256

_IN_TRANSITION = {"CREATING": "created", "UPDATING": "updated", "DELETING": "deleted"}
_ANY_RESOURCE = re.compile(r".+:.+:.+:.+:.+:.+/.+")
_TABLE_ARN = re.compile(r"arn:aws[a-z-]*:dynamodb:([^:]+):(\d+):table/([a-zA-Z0-9_.-]{3,255})")
_TABLE_RESOURCE = re.compile(
    r"arn:aws:dynamodb:([^:]+):(\d+):table/([a-zA-Z0-9_.-]{3,255})(?:/(index|stream)/.+)?"
)
_TAG_TEXT = re.compile(r"[\w\s.:/=+\-@]*")


def table_to_change(engine: Engine, name: str) -> Table:
    """The table of that name or ARN, if it is ACTIVE.

    Raises ResourceNotFoundException, or ResourceInUseException while the table is in transition.
    """
    table = engine.catalog.describe_target(name)
    engine.catalog.forget_dropped_indexes(table)
    doing = _IN_TRANSITION.get(table.status(engine.now()))
    if doing is not None:
        raise ServiceError(
            "ResourceInUseException",
            f"Attempt to change a resource which is still in use: Table is being {doing}: {table.name}",
        )
    return table


def description(engine: Engine, table: Table, status: str | None = None) -> dict[str, Any]:
    """The TableDescription of a table, its latest stream included; `status` overrides what the clock says."""
    engine.catalog.forget_dropped_indexes(table)
    answer = describe(table, engine.now(), status)
    _show_warmth(engine, table, answer)
    stream = engine.streams.latest(table)
    if stream is not None:
        if stream.disabled is None:
            answer["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": stream.view_type}
        answer["LatestStreamLabel"] = stream.label
        answer["LatestStreamArn"] = stream.arn
    return answer


def _show_warmth(engine: Engine, table: Table, answer: dict[str, Any]) -> None:
    """On demand, warm throughput is what a table or index takes at once, and grows as that does."""
    if engine.limiter is None or table.billing_mode != PAY_PER_REQUEST:
        return
    indexes = answer.get("GlobalSecondaryIndexes", ())
    for index, shown in ((None, answer), *((table.global_indexes[one["IndexName"]], one) for one in indexes)):
        if "WarmThroughput" in shown:
            shown["WarmThroughput"] |= engine.limiter.warm(table, index)


def tagged_table(
    engine: Engine, operation: str, request: Mapping[str, Any], parameter: str | None = None, what: str = ""
) -> Table:
    """The table whose ARN the ResourceArn of a tag operation is.

    `parameter` names the list that must be there beside it, `what` its elements. Raises ValidationException
    for what is no ARN of a table, AccessDeniedException for what belongs to somebody else, and
    ResourceNotFoundException.
    """
    arn = request.get("ResourceArn")
    if arn is None:
        raise validation_error("Invalid TableArn")
    # TagResource calls a text without any colon malformed; the others take it for somebody else's resource.
    malformed = operation == "TagResource" and arn and ":" not in arn
    if not malformed and not _ANY_RESOURCE.fullmatch(arn):
        raise _access_denied(engine, operation, arn)
    if parameter is not None and request.get(parameter) is None:
        path = parameter[0].lower() + parameter[1:]
        raise validation_error(
            f"1 validation error detected: Value null at '{path}' failed to satisfy constraint: "
            "Member must not be null"
        )
    parts = _TABLE_ARN.fullmatch(arn)
    if parts is None:
        raise validation_error(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")
    if parameter is not None and not request[parameter]:
        raise validation_error(f"Atleast one {what} needs to be provided as Input.")
    region, account, name = parts.groups()
    if account != engine.settings.account_id:
        raise _access_denied(engine, operation, arn)
    if region != engine.settings.region:
        raise validation_error(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")
    table = engine.catalog.find(name)
    if table is None:
        told = "" if operation == "UntagResource" else f": ResourcArn: {arn} not found"
        raise resource_not_found(f"Requested resource not found{told}")
    return table


def resource_table(engine: Engine, arn: str) -> Table:
    """The table of the ResourceArn of a policy operation: the table's own ARN or that of one of its streams.

    Raises ValidationException for anything else and ResourceNotFoundException.
    """
    if not arn.startswith("arn:"):
        raise validation_error(f"{INVALID}ARNs must start with 'arn:': {arn}")
    parts = _TABLE_RESOURCE.fullmatch(arn)
    if parts is None:
        raise validation_error(f"{INVALID}Provided Arn is not a DynamoDB resource arn: {arn}")
    region, account, name, below = parts.groups()
    if region != engine.settings.region:
        raise validation_error(f"{INVALID}Invalid resource Arn: {arn}")
    if account != engine.settings.account_id:
        raise validation_error(
            "This action is only supported by accounts that match the resource owner’s account."
        )
    if below == "index":
        raise validation_error(
            f"{INVALID}Invalid resource arn provided, only table or stream is accepted. "
            f"Provided resource arn: {arn}"
        )
    return engine.catalog.describe_target(name)


def _access_denied(engine: Engine, operation: str, arn: str) -> ServiceError:
    return ServiceError(
        "AccessDeniedException",
        f"User: arn:aws:iam::{engine.settings.account_id}:user/local is not authorized to perform: "
        f"dynamodb:{operation} on resource: {arn or '*'}",
    )


def merged_tags(present: Mapping[str, str], tags: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The tags of a resource after adding some. Raises ValidationException when they may not be added."""
    added: dict[str, str] = {}
    for tag in tags:
        key, value = valid_tag_key(tag.get("Key")), tag.get("Value")
        if value is None or len(value) > MAX_TAG_VALUE or not _TAG_TEXT.fullmatch(value):
            raise validation_error(f"The Tag Value provided is invalid, Value: {_or_null(value)}")
        if key in added:
            raise validation_error(f"Duplicate Tag Keys provided as input: Duplicate Tag Key found {key}")
        added[key] = value
    merged = {**present, **added}
    check_tag_count(merged)
    return merged


def valid_tag_key(key: str | None) -> str:
    """The key itself. Raises ValidationException for none, a wrong length, other characters and `aws:`."""
    if not key or len(key) > MAX_TAG_KEY or not _TAG_TEXT.fullmatch(key):
        raise validation_error(f"The Tag Key provided is invalid, Key: {_or_null(key)}")
    if key.lower().startswith("aws:"):
        raise validation_error(f"Tag Key cannot be prefixed with aws:, Key: {key}")
    return key


def check_tag_count(tags: Sized) -> None:
    if len(tags) > MAX_TAGS:
        raise validation_error("Number of Tags exceed the current limit for the provided ResourceArn")


def _or_null(text: str | None) -> str:
    return "null" if text is None else text
