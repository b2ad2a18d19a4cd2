"""The expressions of a request, or the legacy parameters that stand for them, compiled.

Rules: expressions and legacy parameters come to the same compiled forms, so the operations know only one
kind. A request has one scope of placeholders, and each placeholder must be used by one of its expressions.
That a request does not mix both kinds has been checked before.
"""

from __future__ import annotations

from backend.errors import validation_error
from backend.expressions import legacy
from backend.expressions.conditions import Condition, condition
from backend.expressions.key_conditions import KeyConditions, key_condition
from backend.expressions.projections import Projection, projection
from backend.expressions.scope import Scope
from backend.expressions.updates import Update, update
from backend.protocol import Request

_INVALID = "One or more parameter values were invalid: "


def projection_of(request: Request) -> Projection | None:
    """ProjectionExpression or AttributesToGet."""
    text = request.get("ProjectionExpression")
    if text is None:
        names = request.get("AttributesToGet")
        return None if names is None else legacy.attributes_to_get(names)
    scope = Scope(request.get("ExpressionAttributeNames"))
    compiled = projection(text, scope)
    scope.check_all_used()
    return compiled


def condition_of(request: Request) -> Condition | None:
    """ConditionExpression or Expected."""
    text = request.get("ConditionExpression")
    if text is None:
        return _expected(request)
    scope = _scope(request)
    compiled = condition(text, "ConditionExpression", scope)
    scope.check_all_used()
    return compiled


def update_and_condition_of(request: Request) -> tuple[Update | None, Condition | None]:
    """UpdateExpression and ConditionExpression, or AttributeUpdates and Expected."""
    update_text, condition_text = request.get("UpdateExpression"), request.get("ConditionExpression")
    if update_text is None and condition_text is None:
        changes = request.get("AttributeUpdates")
        return None if changes is None else legacy.attribute_updates(changes), _expected(request)
    scope = _scope(request)
    compiled_update = None if update_text is None else update(update_text, scope)
    compiled_condition = (
        None if condition_text is None else condition(condition_text, "ConditionExpression", scope)
    )
    scope.check_all_used()
    return compiled_update, compiled_condition


def filter_and_projection_of(request: Request) -> tuple[Condition | None, Projection | None]:
    """The clauses of a Scan."""
    if request.get("FilterExpression") is None and request.get("ProjectionExpression") is None:
        compiled_filter = legacy_filter_of(request, "ScanFilter")
        return compiled_filter, projection_of(request)
    scope = _scope(request)
    compiled = _filter_and_projection(request, scope)
    scope.check_all_used()
    return compiled


def query_clauses_of(request: Request) -> tuple[KeyConditions, Condition | None, Projection | None]:
    """The clauses of a Query."""
    scope = _scope(request)
    text = request.get("KeyConditionExpression")
    key = None if text is None else key_condition(text, scope)
    compiled_filter, compiled_projection = _filter_and_projection(request, scope)
    if key is None:
        if compiled_filter is None:
            compiled_filter = legacy_filter_of(request, "QueryFilter")
        key = legacy.key_conditions(request["KeyConditions"])
        if compiled_projection is None:
            compiled_projection = projection_of(request)
    scope.check_all_used()
    key.check()
    return key, compiled_filter, compiled_projection


def _scope(request: Request) -> Scope:
    return Scope(request.get("ExpressionAttributeNames"), request.get("ExpressionAttributeValues"))


def _filter_and_projection(request: Request, scope: Scope) -> tuple[Condition | None, Projection | None]:
    filter_text, projection_text = request.get("FilterExpression"), request.get("ProjectionExpression")
    return (
        None if filter_text is None else condition(filter_text, "FilterExpression", scope),
        None if projection_text is None else projection(projection_text, scope),
    )


def _expected(request: Request) -> Condition | None:
    expected = request.get("Expected")
    operator = _conditional_operator(request, expected)
    return None if expected is None else legacy.expected_condition(expected, operator)


def legacy_filter_of(request: Request, member: str) -> Condition | None:
    """QueryFilter or ScanFilter."""
    conditions = request.get(member)
    operator = _conditional_operator(request, conditions)
    return None if conditions is None else legacy.filter_condition(conditions, operator)


def _conditional_operator(request: Request, conditions: Request | None) -> str | None:
    operator: str | None = request.get("ConditionalOperator")
    if operator is not None:
        if not conditions:
            raise validation_error(f"{_INVALID}ConditionalOperator cannot be used without Filter or Expected")
        if len(conditions) < 2:
            raise validation_error(
                f"{_INVALID}ConditionalOperator can only be used when Filter or Expected "
                "has two or more elements"
            )
    return operator
