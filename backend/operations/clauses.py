"""The expressions of a request, or the legacy parameters that stand for them, compiled.

Rules: expressions and legacy parameters come to the same compiled forms, so the operations know only one
kind. A request has one scope of placeholders, and each placeholder must be used by one of its expressions.
That a request does not mix both kinds has been checked before.
"""

from __future__ import annotations

from backend.expressions.conditions import Condition, condition
from backend.expressions.projections import Projection, projection
from backend.expressions.scope import Scope
from backend.protocol import Request


def _scope(request: Request) -> Scope:
    return Scope(request.get("ExpressionAttributeNames"), request.get("ExpressionAttributeValues"))


def projection_of(request: Request) -> Projection | None:
    """ProjectionExpression or AttributesToGet."""
    text = request.get("ProjectionExpression")
    if text is not None:
        scope = _scope(request)
        compiled = projection(text, scope)
        scope.check_all_used()
        return compiled
    return None


def condition_of(request: Request) -> Condition | None:
    """ConditionExpression or Expected."""
    text = request.get("ConditionExpression")
    if text is not None:
        scope = _scope(request)
        compiled = condition(text, "ConditionExpression", scope)
        scope.check_all_used()
        return compiled
    return None
