"""A history as lines for a person: when, who, what, where, what came of it, and why.

An operation stands at the time at which it was invoked, in the order in which the completions came. Three or
more in a row of one client and one kind become one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from cluster.lab.history import STORE, Event, History, Operation, plain
from cluster.lab.verdict import duration

_LONG = 10 * 86400
_WIDEST_VALUE = 20
_WIDEST_WHAT = 40
_WIDEST_RESULT = 64
_ROW = "{time:>11}  {client:<21} {operation:<15} {place:<16} {what:<40} {result}"


def timeline(history: History) -> Iterator[str]:
    """The lines, without line ends."""
    operations = {operation.id: operation for operation in history.operations()}
    rows: list[Operation | Event] = [
        operations[event["id"]] if event["type"] in ("ok", "fail", "info") else event
        for event in history.events
        if event["type"] in ("ok", "fail", "info", "fault", "note")
    ]
    for key, group in groupby(rows, key=_kind):
        members = list(group)
        if key is not None and len(members) > 2:
            yield _several([member for member in members if isinstance(member, Operation)])
        else:
            for member in members:
                yield _one(member) if isinstance(member, Operation) else _event(member)


def _kind(row: Operation | Event) -> tuple[str, str, str | None] | None:
    """What makes neighbours alike; None is like nothing that matters, and never folded."""
    return (row.client, row.operation, row.served_from) if isinstance(row, Operation) else None


def _event(event: Event) -> str:
    time = _time(event["time"])
    if event["type"] == "note":
        return f"{'':>11}  {event['text']}"
    if event["verb"] == "advance":
        return f"{time:>11}  -- {duration(event['seconds'])} pass --"
    facts = ", ".join(f"{name} {value}" for name, value in event.items() if name not in _EVENT_FRAME)
    return f"{time:>11}  -- {event['verb'].replace('_', ' ')}{': ' if facts else ''}{facts} --"


_EVENT_FRAME = ("type", "time", "verb")


def _one(operation: Operation) -> str:
    return _ROW.format(
        time=_time(operation.invoked),
        client=f"#{operation.id} {operation.client}",
        operation=operation.operation,
        what=_shortened(_what(operation), _WIDEST_WHAT),
        place=_place(operation),
        result=_result(operation),
    ).rstrip()


def _several(operations: list[Operation]) -> str:
    first, last = operations[0], operations[-1]
    refused = sum(operation.outcome != "ok" for operation in operations)
    result = f"{len(operations)} of them" + (f", {refused} refused" if refused else "")
    return _ROW.format(
        time=_time(first.invoked),
        client=f"#{first.id}-{last.id} {first.client}",
        operation=first.operation,
        what=first.table or _what(first),
        place=_place(first),
        result=f"{result}{_why(first)}",
    ).rstrip()


def _what(operation: Operation) -> str:
    """What the request is about, in a few words."""
    request = operation.request
    if operation.operation == "GetItem":
        strong = " strongly" if request.get("ConsistentRead") else ""
        return f"{_pairs(request['Key'])}{strong}"
    if operation.operation in ("UpdateItem", "DeleteItem"):
        return _pairs(request["Key"])
    if operation.operation == "Query":
        return _filled(request, "KeyConditionExpression")
    if operation.operation in ("BatchWriteItem", "BatchGetItem"):
        return ", ".join(request["RequestItems"])
    if operation.operation == "TransactWriteItems":
        return f"{len(request['TransactItems'])} items"
    return str(request.get("TableName", ""))


def _written(operation: Operation) -> str:
    """What an acknowledged write has done."""
    request = operation.request
    if operation.operation == "PutItem":
        return _pairs(request["Item"])
    if operation.operation == "UpdateItem":
        return _filled(request, "UpdateExpression")
    if operation.operation == "TransactWriteItems":
        actions = [action for member in request["TransactItems"] for action in member.values()]
        return "; ".join(
            f"{_pairs(action.get('Key') or action['Item'])}: {_filled(action, 'UpdateExpression')}".rstrip(
                ": "
            )
            for action in actions
        )
    return "done"


def _filled(request: Mapping[str, Any], member: str) -> str:
    """An expression with its placeholders replaced."""
    text = request.get(member, "")
    values = plain(request.get("ExpressionAttributeValues", {}))
    names = request.get("ExpressionAttributeNames", {})
    return re.sub(r"[:#]\w+", lambda found: str(values.get(found[0], names.get(found[0]))), text)


def _place(operation: Operation) -> str:
    """The node that was asked, and the one that answered if it was another."""
    if operation.node is None or operation.node == operation.through:
        return operation.through
    return f"{operation.through} > {operation.node}"


def _result(operation: Operation) -> str:
    if operation.outcome != "ok":
        return f"refused: {operation.error}" if operation.outcome == "fail" else f"unknown: {operation.error}"
    if operation.operation == "GetItem":
        found = operation.response.get("Item")
        key = operation.request["Key"]
        text = "no item" if not found else _pairs({n: v for n, v in found.items() if n not in key})
    elif operation.operation in ("Query", "Scan"):
        text = _listing(operation.items)
    else:
        text = _written(operation)
    return f"{_shortened(text, _WIDEST_RESULT)}{_why(operation)}"


def _why(operation: Operation) -> str:
    """Where the answer came from, and why not from a cache."""
    if operation.node == STORE or operation.operation not in _READS:
        return ""
    parts = [operation.served_from or "unknown source"]
    if operation.miss is not None:
        parts.append(operation.miss)
    if operation.age is not None:
        parts.append(f"{duration(operation.age)} old")
    return f"  [{', '.join(parts)}]"


_READS = ("GetItem", "BatchGetItem", "Query", "Scan", "TransactGetItems")


def _listing(items: list[Mapping[str, Any]]) -> str:
    if not items:
        return "0 items"
    if len(items) == 1:
        return f"1 item: {' '.join(f'{n}={_value(v)}' for n, v in items[0].items())}"
    common = {name for name, value in items[0].items() if all(i.get(name) == value for i in items)}
    shown = [" ".join(f"{n}={_value(v)}" for n, v in i.items() if n not in common) for i in items]
    return f"{len(items)} items: {', '.join(filter(None, shown))}".rstrip(": ")


def _pairs(item: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={_value(value)}" for name, value in plain(item).items())


def _value(value: object) -> str:
    return _shortened(str(value), _WIDEST_VALUE)


def _shortened(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _time(seconds: float) -> str:
    return f"{seconds:.3f} s" if seconds < _LONG else duration(seconds)
