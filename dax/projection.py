"""What a read wants of an item: its projection, compiled, so that a cached whole item can answer it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from backend.errors import ServiceError
from backend.expressions.legacy import attributes_to_get
from backend.expressions.paths import check_scalars
from backend.expressions.projections import projection
from backend.expressions.scope import Scope
from backend.protocol import Item
from dax.core import Unresolved

PROJECTING = frozenset({"ProjectionExpression", "AttributesToGet", "ExpressionAttributeNames"})
"""The members that a request for whole items does not have."""


def projector(settings: Mapping[str, Any], keys: Collection[str]) -> Callable[[Item], Item] | None:
    """What makes of a whole item what a GetItem, or one table of a BatchGetItem, asks for; None: all of it.

    `keys` are the key attributes of the table and its indexes. Raises `Unresolved` for a projection that is
    not valid, as one that leads below a key: the store words the refusal.
    """
    if PROJECTING.isdisjoint(settings):
        return None
    text, attributes = settings.get("ProjectionExpression"), settings.get("AttributesToGet")
    names = settings.get("ExpressionAttributeNames")
    try:
        if text is not None and attributes is None:
            scope = Scope(names)
            compiled = projection(text, scope)
            scope.check_all_used()
            check_scalars(compiled.paths, keys, "Key")
            return compiled.apply
        if attributes is not None and text is None and names is None:
            return attributes_to_get(attributes).apply
    except ServiceError as error:
        raise Unresolved from error
    raise Unresolved
