"""Requests as one line for a person: operation, table, key, and expressions as a person would write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from backend.protocol import Item, Request

Trace = Callable[[str], None]
"""Gets a line for each request."""

_EXPRESSIONS = (
    ("KeyConditionExpression", "where"),
    ("FilterExpression", "filter"),
    ("UpdateExpression", "update"),
    ("ConditionExpression", "if"),
    ("ProjectionExpression", "only"),
)
_PLACEHOLDER = re.compile(r"[#:][nv]\d+")
_LONGEST_VALUE = 60


def describe(operation: str, request: Request) -> str:
    """`GetItem music {artist="Abba", year=1976} consistent only title, tracks[0]`."""
    if "RequestItems" in request:
        parts = [f"{table}×{len(_actions(actions))}" for table, actions in request["RequestItems"].items()]
        return " ".join([operation, *parts])
    if "TransactItems" in request:
        actions = [next(iter(action.items())) for action in request["TransactItems"]]
        return operation + " [" + "; ".join(describe(kind, action) for kind, action in actions) + "]"
    words = [operation, str(request["TableName"])]
    if "IndexName" in request:
        words.append(f"index {request['IndexName']}")
    words += [item_text(request[member]) for member in ("Key", "Item") if member in request]
    if request.get("ConsistentRead"):
        words.append("consistent")
    words += [
        f"{word} {_expression(request[member], request)}"
        for member, word in _EXPRESSIONS
        if member in request
    ]
    if "Limit" in request:
        words.append(f"limit {request['Limit']}")
    if "ExclusiveStartKey" in request:
        words.append(f"after {item_text(request['ExclusiveStartKey'])}")
    return " ".join(words)


def _actions(actions: Any) -> list[Any]:
    keys: list[Any] = actions["Keys"] if isinstance(actions, Mapping) else actions
    return keys


def _expression(text: str, request: Request) -> str:
    """The text with its placeholders replaced by what they stand for."""
    names = request.get("ExpressionAttributeNames", {})
    values = request.get("ExpressionAttributeValues", {})

    def resolve(match: re.Match[str]) -> str:
        placeholder = match.group()
        if placeholder in names:
            return str(names[placeholder])
        return value_text(values[placeholder]) if placeholder in values else placeholder

    return _PLACEHOLDER.sub(resolve, text)


def item_text(item: Item) -> str:
    """An item or key with its values as a person writes them."""
    return "{" + ", ".join(f"{name}={value_text(value)}" for name, value in item.items()) + "}"


def value_text(value: Mapping[str, Any]) -> str:
    """One attribute value, shortened when it is long."""
    ((kind, content),) = value.items()
    if kind == "N":
        text = str(content)
    elif kind == "S":
        text = '"' + content + '"'
    elif kind == "M":
        text = item_text(content)
    elif kind == "L":
        text = "[" + ", ".join(value_text(element) for element in content) + "]"
    elif kind == "NULL":
        text = "null"
    else:
        text = repr(content)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
