"""Rules between the parameters of one request, told one at a time: the first broken rule is the answer.

`EARLY` rules speak before the constraints are collected, `LATE` rules after them. Rules that the service
comes to only after the attribute values stand here too; the operations call them in their place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from backend.errors import validation_error
from backend.protocol import Request
from backend.validation.constraints import collected
from backend.validation.declarations import check_create_table, check_update_table
from backend.validation.names import MAX_ARN, MAX_NAME, MIN_NAME

Rule = Callable[[Request], None]

INVALID = "One or more parameter values were invalid: "
MAX_BATCH_KEYS = 100


# Table names of the control plane


def table_name_present(request: Request) -> None:
    if request.get("TableName") is None:
        raise validation_error("The parameter 'TableName' is required but was not present in the request")


def table_name_length(request: Request) -> None:
    """Operations on existing tables word a wrong length in their own way; CreateTable collects it."""
    name = request["TableName"]
    longest = MAX_ARN if name.startswith("arn:") else MAX_NAME
    if not MIN_NAME <= len(name) <= longest:
        raise validation_error(
            f"TableName must be at least {MIN_NAME} characters long and at most {MAX_NAME} characters long"
        )


# Expressions


def expressions_or_legacy(expressions: Sequence[str], legacy: Sequence[str]) -> Rule:
    """Expression parameters exclude the legacy ones, and placeholders need an expression.

    Placeholders for values need an expression that can hold a value, which a projection cannot.
    """
    with_values = [name for name in expressions if name != "ProjectionExpression"]

    def rule(request: Request) -> None:
        used = [name for name in expressions if request.get(name) is not None]
        if used:
            refused = [name for name in legacy if request.get(name) is not None]
            # KeyConditions may stand beside a filter or projection expression.
            if "KeyConditions" in refused and "KeyConditionExpression" not in used:
                refused.remove("KeyConditions")
            if refused:
                raise validation_error(
                    "Can not use both expression and non-expression parameters in the same request: "
                    f"Non-expression parameters: {{{', '.join(refused)}}} "
                    f"Expression parameters: {{{', '.join(used)}}}"
                )
        elif request.get("ExpressionAttributeNames") is not None:
            raise validation_error("ExpressionAttributeNames can only be specified when using expressions")
        if (
            with_values
            and request.get("ExpressionAttributeValues") is not None
            and all(request.get(name) is None for name in with_values)
        ):
            are = "are" if len(with_values) > 1 else "is"
            raise validation_error(
                "ExpressionAttributeValues can only be specified when using expressions: "
                f"{' and '.join(with_values)} {are} null"
            )

    return rule


def attributes_to_get_once(request: Request) -> None:
    seen = set()
    for name in request.get("AttributesToGet") or ():
        if name in seen:
            raise validation_error(f"{INVALID}Duplicate value in attribute name: {name}")
        seen.add(name)


def return_values_of_replaced_item(request: Request) -> None:
    """PutItem and DeleteItem know the old item only."""
    if request.get("ReturnValues") not in (None, "ALL_OLD", "NONE"):
        raise validation_error("ReturnValues can only be ALL_OLD or NONE")


# Query and Scan


def key_condition_present(request: Request) -> None:
    if request.get("KeyConditions") is None and request.get("KeyConditionExpression") is None:
        raise validation_error(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
        )


def segments(request: Request) -> None:
    segment, total = request.get("Segment"), request.get("TotalSegments")
    if segment is not None and total is None:
        raise validation_error(
            "The TotalSegments parameter is required but was not present in the request "
            "when Segment parameter is present"
        )
    if total is not None and segment is None:
        raise validation_error(
            "The Segment parameter is required but was not present in the request "
            "when parameter TotalSegments is present"
        )
    if segment is not None and total is not None and segment >= total:
        raise validation_error(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            f"Segment: {segment} is not less than TotalSegments: {total}"
        )


# Batches and transactions


def request_items_present(operation: str) -> Rule:
    def rule(request: Request) -> None:
        if request.get("RequestItems") == {}:
            raise validation_error(f"The requestItems parameter is required for {operation}")

    return rule


def keys_per_table(request: Request) -> None:
    for table, read in (request.get("RequestItems") or {}).items():
        if read is not None and len(read.get("Keys") or ()) > MAX_BATCH_KEYS:
            raise collected(
                [
                    f"Value at 'RequestItems.{table}.member.Keys' failed to satisfy constraint: "
                    f"Member must have length less than or equal to {MAX_BATCH_KEYS}"
                ]
            )


def reads_of_batch(request: Request) -> None:
    expressions = expressions_or_legacy(("ProjectionExpression",), ("AttributesToGet",))
    reads = request["RequestItems"].values()
    for read in reads:
        expressions(read)
    # Nor may one table be read with an expression and another without.
    expressions({name: value for read in reads for name, value in read.items() if value is not None})
    if sum(len(read["Keys"]) for read in reads) > MAX_BATCH_KEYS:
        raise validation_error("Too many items requested for the BatchGetItem call")


def writes_of_batch(request: Request) -> None:
    for writes in request["RequestItems"].values():
        if any(len(write) != 1 for write in writes):
            raise validation_error(
                "Supplied AttributeValue has more than one datatypes set, "
                "must contain exactly one of the supported datatypes"
            )
    if sum(map(len, request["RequestItems"].values())) > 25:
        raise validation_error("Too many items requested for the BatchWriteItem call")


def actions_of_transaction(request: Request) -> None:
    for member in request["TransactItems"]:
        if len(member) != 1:
            raise validation_error("TransactItems can only contain one of Check, Put, Update or Delete")
        for action, parameters in member.items():
            _TRANSACTION_EXPRESSIONS[action](parameters)


def reads_of_transaction(request: Request) -> None:
    for member in request["TransactItems"]:
        _PROJECTION(member["Get"])


_CONDITION = expressions_or_legacy(("ConditionExpression",), ())
_PROJECTION = expressions_or_legacy(("ProjectionExpression",), ())
_TRANSACTION_EXPRESSIONS: Mapping[str, Rule] = {
    "ConditionCheck": _CONDITION,
    "Put": _CONDITION,
    "Delete": _CONDITION,
    "Update": expressions_or_legacy(("UpdateExpression", "ConditionExpression"), ()),
}

# The table of rules

_ON_TABLE: tuple[Rule, ...] = (table_name_present, table_name_length)

EARLY: Mapping[str, tuple[Rule, ...]] = {
    "CreateTable": (table_name_present,),
    "DeleteTable": _ON_TABLE,
    "DescribeTable": _ON_TABLE,
    "UpdateTable": _ON_TABLE,
    "DescribeTimeToLive": _ON_TABLE,
    "UpdateTimeToLive": _ON_TABLE,
    "BatchGetItem": (request_items_present("BatchGetItem"), keys_per_table),
    "BatchWriteItem": (request_items_present("BatchWriteItem"),),
}

_ON_REPLACED_ITEM: tuple[Rule, ...] = (
    expressions_or_legacy(("ConditionExpression",), ("Expected", "ConditionalOperator")),
)

LATE: Mapping[str, tuple[Rule, ...]] = {
    "GetItem": (expressions_or_legacy(("ProjectionExpression",), ("AttributesToGet",)),),
    "PutItem": _ON_REPLACED_ITEM,
    "DeleteItem": _ON_REPLACED_ITEM,
    "UpdateItem": (
        expressions_or_legacy(
            ("UpdateExpression", "ConditionExpression"),
            ("AttributeUpdates", "Expected", "ConditionalOperator"),
        ),
    ),
    "Query": (
        expressions_or_legacy(
            ("ProjectionExpression", "FilterExpression", "KeyConditionExpression"),
            ("AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions"),
        ),
    ),
    "Scan": (
        expressions_or_legacy(
            ("ProjectionExpression", "FilterExpression"),
            ("AttributesToGet", "ScanFilter", "ConditionalOperator"),
        ),
    ),
    "BatchGetItem": (reads_of_batch,),
    "BatchWriteItem": (writes_of_batch,),
    "TransactWriteItems": (actions_of_transaction,),
    "TransactGetItems": (reads_of_transaction,),
    "CreateTable": (check_create_table,),
    "UpdateTable": (check_update_table,),
}

# What an operation tells without its value and under the parameter's own name, when nothing else is wrong.
_LONE: Mapping[str, tuple[re.Pattern[str], str]] = {
    "BatchGetItem": (
        re.compile(r"Value '\[\]' at 'requestItems\.(.+)\.member\.keys'"),
        r"Value at 'RequestItems.\1.member.Keys'",
    ),
    "Query": (re.compile(r"Value '-?\d+' at 'limit'"), "Value at 'Limit'"),
}


_EMPTY_NAME = re.compile(r"Value '' at '(?:.+\.)?tableName' .+ equal to 1")


def reworded(operation: str, violations: list[str]) -> list[str]:
    """The collected violations as this operation words them.

    An empty table name is all that is told, unless something is missing.
    """
    if len(violations) > 1 and not any(told.startswith("Value null") for told in violations):
        violations = [told for told in violations if _EMPTY_NAME.match(told)][:1] or violations
    if operation in _LONE and len(violations) == 1:
        told, instead = _LONE[operation]
        return [told.sub(instead, violations[0])]
    return violations


def apply(rules: Iterable[Rule], request: Request) -> None:
    for rule in rules:
        rule(request)
