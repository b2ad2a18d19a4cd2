"""What a read wants of an item: its projection, compiled, so that a cached whole item can answer it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from backend.errors import ServiceError
from backend.protocol import Item
from dax.core import Unresolved

PROJECTING = frozenset({"ProjectionExpression", "AttributesToGet", "ExpressionAttributeNames"})
"""The members that a request for whole items does not have."""


def projector(settings: Mapping[str, Any]) -> Callable[[Item], Item] | None:
    """What makes of a whole item what a GetItem, or one table of a BatchGetItem, asks for; None: all of it.

    Raises `Unresolved` for a projection that is not valid: the store words the refusal.
    """
    if PROJECTING.isdisjoint(settings):
        return None
    text, names = settings.get("ProjectionExpression"), settings.get("AttributesToGet")
    if (text is None) == (names is None):
        raise Unresolved
    if text is not None:
        from backend.expressions.projections import projection
        from backend.expressions.scope import Scope

        scope = Scope(settings.get("ExpressionAttributeNames"), None)
        try:
            compiled = projection(text, scope)
            scope.check_all_used()
        except ServiceError:
            raise Unresolved from None
        return compiled.apply
    if "ExpressionAttributeNames" in settings or len(set(names)) < len(names):
        raise Unresolved
    return lambda item: {name: item[name] for name in names if name in item}
