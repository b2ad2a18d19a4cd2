"""UpdateItem at the primary: which old or new state to ask of the store, so that the cache learns the new
item.

The store returns one state, and the cache needs the new one. Callers that want nothing or ALL_NEW share it.
For the others the store is asked for the old item, and the new one, and the caller's answer, are computed
from it with the expressions the engine uses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from backend.errors import ServiceError
from backend.expressions.legacy import attribute_updates
from backend.expressions.scope import Scope
from backend.expressions.updates import Update, from_actions, update
from backend.model.keys import KeySchema
from backend.protocol import Item, Request, Response
from dax.core import Unresolved


@dataclass(frozen=True, slots=True)
class UpdatePlan:
    """The request for the store, and what becomes of its response: the new item, and the caller's."""

    store_request: Request
    outcome: Callable[[Response], tuple[Item | None, Response]]


def plan_update(request: Request, schema: KeySchema, key: Item) -> UpdatePlan:
    """How to run a checked UpdateItem on the item with the canonical `key`.

    Raises `Unresolved` for an update that is not valid: the store words the refusal.
    """
    wanted = request.get("ReturnValues", "NONE")
    if wanted in ("NONE", "ALL_NEW"):

        def from_new(response: Response) -> tuple[Item | None, Response]:
            new = response.get("Attributes")
            return new, response if wanted == "ALL_NEW" else _with_attributes(response, None)

        return UpdatePlan({**request, "ReturnValues": "ALL_NEW"}, from_new)

    compiled = _compiled(request)

    def from_old(response: Response) -> tuple[Item | None, Response]:
        old = response.get("Attributes")
        new = compiled.apply(old, key, schema)
        if wanted == "ALL_OLD":
            return new, response
        touched = (
            compiled.updated_old(old, new) if wanted == "UPDATED_OLD" else compiled.updated_new(old, new)
        )
        return new, _with_attributes(response, touched)

    return UpdatePlan({**request, "ReturnValues": "ALL_OLD"}, from_old)


def _compiled(request: Request) -> Update:
    try:
        if "AttributeUpdates" in request:
            return attribute_updates(request["AttributeUpdates"])
        if "UpdateExpression" in request:
            names, values = request.get("ExpressionAttributeNames"), request.get("ExpressionAttributeValues")
            return update(request["UpdateExpression"], Scope(names, values))
    except ServiceError:
        raise Unresolved from None
    return from_actions(())


def _with_attributes(response: Response, attributes: Item | None) -> Response:
    answer: dict[str, Any] = {name: value for name, value in response.items() if name != "Attributes"}
    if attributes:
        answer["Attributes"] = attributes
    return answer
