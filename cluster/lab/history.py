"""Histories: what every client asked, when, and what it got. All checkers and reports read these alone.

Rules of this file:

* a history is a sequence of events, one JSON object a line when written; `docs/history.md` gives the schema;
* an operation is an `invoke` and one completion: `ok`; `fail` (it did not happen); or `info` (nobody knows);
* times are seconds since the run began, on the cluster's own clock: virtual when simulated, and moved by
  `advance` in both runtimes;
* in JSON, binary values are base64 and dates are seconds, as on DynamoDB's own wire. Lines have sorted keys
  and no spaces, so that equal histories are equal bytes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Event = Mapping[str, Any]

SCHEMA = 1

STORE = "store"
"""The `through` and the `node` of operations that go to the store directly."""


@dataclass(slots=True)
class Operation:
    """An invocation with its completion. What is None was not told, or has not happened."""

    id: int
    client: str
    through: str
    operation: str
    request: Mapping[str, Any]
    invoked: float
    completed: float | None = None
    outcome: str | None = None
    response: Mapping[str, Any] = field(default_factory=dict)
    node: str | None = None
    served_from: str | None = None
    age: float | None = None
    miss: str | None = None
    error: str | None = None
    message: str | None = None
    reason: str | None = None

    @property
    def table(self) -> str | None:
        """The table that the request names, if it names one."""
        name = self.request.get("TableName")
        return name if isinstance(name, str) else None

    @property
    def item(self) -> Mapping[str, Any] | None:
        """The item of a GetItem in plain Python values; None when there was none."""
        item = self.response.get("Item")
        return plain(item) if item else None

    @property
    def items(self) -> list[Mapping[str, Any]]:
        """The items of a Query or Scan in plain Python values."""
        return [plain(item) for item in self.response.get("Items", [])]

    def __str__(self) -> str:
        return f"#{self.id} ({self.client}'s {self.operation})"


class History:
    """The events of one run, in the order in which they happened."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.events: list[Event] = list(events)

    def operations(self) -> list[Operation]:
        """Every operation, in the order of invocation."""
        found: dict[int, Operation] = {}
        for event in self.events:
            kind = event["type"]
            if kind == "invoke":
                found[event["id"]] = Operation(
                    id=event["id"],
                    client=event["client"],
                    through=event["through"],
                    operation=event["operation"],
                    request=event["request"],
                    invoked=event["time"],
                )
            elif kind in ("ok", "fail", "info"):
                operation = found[event["id"]]
                operation.completed = event["time"]
                operation.outcome = kind
                operation.response = event.get("response") or {}
                operation.node = event.get("node")
                operation.served_from = event.get("served_from")
                operation.age = event.get("age")
                operation.miss = event.get("miss")
                operation.error = event.get("error")
                operation.message = event.get("message")
                operation.reason = event.get("reason")
        return list(found.values())

    def of(self, client: str, operation: str | None = None) -> list[Operation]:
        """The operations of one client, of one kind if named, in the order of invocation."""
        return [
            o
            for o in self.operations()
            if o.client == client and (operation is None or o.operation == operation)
        ]

    def runs(self) -> list[History]:
        """One history for each `run` event, for a file that holds several."""
        starts = [n for n, event in enumerate(self.events) if event["type"] == "run"]
        return [
            History(self.events[start:end])
            for start, end in zip(starts, [*starts[1:], len(self.events)], strict=True)
        ]

    # JSON Lines

    def lines(self) -> Iterator[str]:
        """Each event as a line of JSON, without its line end."""
        for event in self.events:
            yield json.dumps(_to_json(event), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def encode(self) -> bytes:
        """The history as a file's contents."""
        return "".join(f"{line}\n" for line in self.lines()).encode()

    @staticmethod
    def decode(contents: bytes) -> History:
        """The history that `encode` wrote. Raises ValueError for anything else."""
        return History(_from_json(json.loads(line)) for line in contents.split(b"\n") if line)


class HistoryRecorder:
    """Writes a history while it happens."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.history = History()
        self._now = now
        self._start = now()
        self._ids = 0

    def run(self, **facts: Any) -> None:
        """The first event: what is run, where, with which settings."""
        self._add("run", schema=SCHEMA, **facts)

    def invoke(self, client: str, through: str, operation: str, request: Mapping[str, Any]) -> int:
        """An operation begins; gives the id that its completion names."""
        self._ids += 1
        self._add(
            "invoke", id=self._ids, client=client, through=through, operation=operation, request=request
        )
        return self._ids

    def complete(self, outcome: str, operation_id: int, **facts: Any) -> None:
        """An operation ends with `outcome` "ok", "fail" or "info"."""
        self._add(outcome, id=operation_id, **{k: v for k, v in facts.items() if v is not None})

    def fault(self, verb: str, **facts: Any) -> None:
        """Someone did something to the cluster, its store or its clock."""
        self._add("fault", verb=verb, **facts)

    def note(self, text: str) -> None:
        """A sentence for whoever reads the time line."""
        self._add("note", text=text)

    def _add(self, kind: str, **facts: Any) -> None:
        self.history.events.append({"type": kind, "time": round(self._now() - self._start, 6), **facts})


def plain(value: Mapping[str, Any]) -> Any:
    """An item in plain values, for comparing and showing: numbers are int or float, sets are sorted lists."""
    return {name: _plain_value(attribute) for name, attribute in value.items()}


def _plain_value(attribute: Mapping[str, Any]) -> Any:
    ((kind, value),) = attribute.items()
    if kind == "N":
        return _number(value)
    if kind == "M":
        return plain(value)
    if kind == "L":
        return [_plain_value(element) for element in value]
    if kind == "NS":
        return sorted(_number(element) for element in value)
    if kind in ("SS", "BS"):
        return sorted(value)
    return None if kind == "NULL" else value


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _to_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _to_json(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(member) for member in value]
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        if len(value) == 1:
            if isinstance(text := value.get("B"), str):
                return {"B": base64.b64decode(text)}
            if isinstance(texts := value.get("BS"), list):
                return {"BS": [base64.b64decode(text) for text in texts]}
        return {name: _from_json(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_from_json(member) for member in value]
    return value
