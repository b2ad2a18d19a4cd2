"""Verdicts: what must have happened, checked on the history and worded with its operations.

Each function looks at recorded operations and gives a `Finding`: the claim, whether it holds, and the
evidence, which names the operations by their numbers in the time line. When a claim does not hold, the
evidence is the contradiction. Nothing here knows which story it judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cluster.lab.history import Operation, plain

ITEM_CACHE = "item-cache"
QUERY_CACHE = "query-cache"
NEGATIVE_ENTRY = "negative-entry"
STORE = "store"
PASS_THROUGH = "pass-through"


_SOURCES = {
    ITEM_CACHE: "is answered by the item cache",
    QUERY_CACHE: "is answered by the query cache",
    NEGATIVE_ENTRY: "is answered by a negative entry",
    STORE: "goes to the store",
    PASS_THROUGH: "passes through to the store",
}
_MISSES = {
    "never-seen": "the node never had an entry for it",
    "expired": "its entry has expired",
    "evicted": "its entry has been evicted",
    "not-cacheable": "its result is not cached",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim about a run, and what the history says of it."""

    holds: bool
    claim: str
    evidence: str


def returned(operation: Operation, attribute: str, value: object) -> Finding:
    """The GetItem found an item with this value."""
    item = operation.item
    found = item is not None and item.get(attribute) == value
    return Finding(found, f"{operation} returns {attribute}={value}", _what_happened(operation, attribute))


def found_nothing(operation: Operation) -> Finding:
    """The GetItem succeeded and found no item."""
    holds = operation.outcome == "ok" and operation.item is None
    return Finding(holds, f"{operation} finds no item", _what_happened(operation))


def listed(operation: Operation, attribute: str, values: Sequence[object]) -> Finding:
    """The Query or Scan returned items with these values, in this order."""
    present = [item.get(attribute) for item in operation.items]
    holds = operation.outcome == "ok" and present == list(values)
    wanted = ", ".join(map(str, values)) or "nothing"
    return Finding(holds, f"{operation} lists {attribute} {wanted}", _what_happened(operation, attribute))


def served(
    operation: Operation, source: str, *, miss: str | None = None, age_at_least: float | None = None
) -> Finding:
    """The answer came from this source, for this reason of a miss, or from an entry at least so old."""
    claim = f"{operation} {_SOURCES[source]}"
    holds = operation.served_from == source
    if miss is not None:
        claim += f": {_MISSES[miss]}"
        holds = holds and operation.miss == miss
    if age_at_least is not None:
        claim += f", from an entry at least {duration(age_at_least)} old"
        holds = holds and operation.age is not None and operation.age >= age_at_least
    return Finding(holds, claim, _what_happened(operation))


def succeeded(operation: Operation) -> Finding:
    """The operation was acknowledged."""
    return Finding(operation.outcome == "ok", f"{operation} succeeds", _what_happened(operation))


def refused(operation: Operation, code: str) -> Finding:
    """The operation was refused with this error."""
    holds = operation.outcome != "ok" and operation.error == code
    return Finding(holds, f"{operation} is refused with {code}", _what_happened(operation))


def stale(read: Operation, write: Operation, attribute: str) -> Finding:
    """The read began after the write was acknowledged, and still did not return what it wrote."""
    written, seen = _written(write, attribute), _seen(read, attribute)
    after = write.completed is not None and write.outcome == "ok" and read.invoked >= write.completed
    holds = after and read.outcome == "ok" and seen != written
    evidence = (
        f"{write} was acknowledged at {_time(write.completed)} with {attribute}={written}; "
        f"{read} began at {_time(read.invoked)} and returned {_worded(attribute, seen)}"
    )
    return Finding(holds, f"{read} does not see {write}", evidence)


def fresh(read: Operation, write: Operation, attribute: str) -> Finding:
    """The read began after the write was acknowledged, and returned what it wrote."""
    written, seen = _written(write, attribute), _seen(read, attribute)
    after = write.completed is not None and write.outcome == "ok" and read.invoked >= write.completed
    evidence = (
        f"{write} was acknowledged at {_time(write.completed)} with {attribute}={written}; "
        f"{read} began at {_time(read.invoked)} and returned {_worded(attribute, seen)}"
    )
    return Finding(after and seen == written, f"{read} sees {write}", evidence)


def disagree(one: Operation, other: Operation, attribute: str) -> Finding:
    """Two reads of one key returned different values."""
    first, second = _seen(one, attribute), _seen(other, attribute)
    evidence = (
        f"{one} on {one.node} returned {_worded(attribute, first)}, "
        f"{other} on {other.node} returned {_worded(attribute, second)}"
    )
    return Finding(first != second, f"{one} and {other} disagree", evidence)


def agree(one: Operation, other: Operation, attribute: str) -> Finding:
    """Two reads of one key returned the same value."""
    difference = disagree(one, other, attribute)
    return Finding(not difference.holds, f"{one} and {other} agree", difference.evidence)


def same_result(one: Operation, other: Operation) -> Finding:
    """Two Query or Scan operations returned the same items."""
    holds = one.outcome == other.outcome == "ok" and one.items == other.items
    evidence = f"{one} returned {len(one.items)} items, {other} returned {len(other.items)} items"
    evidence += ", equal one by one" if holds else ", not the same"
    return Finding(holds, f"{other} returns what {one} returned", evidence)


def count_served(operations: Sequence[Operation], source: str, count: int, claim: str) -> Finding:
    """Exactly so many of these operations were answered by this source."""
    actual = [operation for operation in operations if operation.served_from == source]
    names = ", ".join(f"#{operation.id}" for operation in actual[:12]) + (", ..." if len(actual) > 12 else "")
    evidence = f"{len(actual)} of {len(operations)} came from the {source}" + (f": {names}" if names else "")
    return Finding(len(actual) == count, claim, evidence)


def _what_happened(operation: Operation, attribute: str | None = None) -> str:
    when = f"at {_time(operation.completed)}"
    if operation.outcome is None:
        return f"{operation} was never answered"
    if operation.outcome != "ok":
        return f"{when} it was refused: {operation.error}"
    parts = [when]
    if operation.operation in ("Query", "Scan"):
        listing = ", ".join(str(i.get(attribute)) for i in operation.items) if attribute else ""
        parts.append(f"it returned {len(operation.items)} items" + (f" ({listing})" if listing else ""))
    elif operation.operation == "GetItem":
        item = operation.item
        if item is None:
            parts.append("it returned no item")
        elif attribute is not None:
            parts.append(f"it returned {_worded(attribute, item.get(attribute))}")
        else:
            parts.append("it returned an item")
    else:
        parts.append("it was acknowledged")
    return " ".join(parts) + provenance(operation)


def provenance(operation: Operation) -> str:
    """`, node-2, item-cache, 180.0 s old`: what the node said of its answer."""
    parts = [operation.node, operation.served_from if operation.served_from != operation.node else None]
    if operation.age is not None:
        parts.append(f"{duration(operation.age)} old")
    if operation.miss is not None:
        parts.append(f"miss: {operation.miss}")
    return "".join(f", {part}" for part in parts if part)


def duration(seconds: float) -> str:
    """`0.25 s`, `300 s`, `365 days`."""
    days = seconds / 86400
    return f"{days:.0f} days" if days >= 3 else f"{seconds:.3f}".rstrip("0").rstrip(".") + " s"


def _seen(read: Operation, attribute: str) -> Any:
    return None if read.item is None else read.item.get(attribute)


def _written(write: Operation, attribute: str) -> Any:
    """The value that a PutItem or, if it asked for ReturnValues, an UpdateItem has written."""
    for source in (write.request.get("Item"), write.response.get("Attributes")):
        if source and attribute in source:
            return plain(source)[attribute]
    raise ValueError(f"{write} does not tell what it wrote to {attribute}: ask for ReturnValues")


def _worded(attribute: str, value: object) -> str:
    return "no item" if value is None else f"{attribute}={value}"


def _time(seconds: float | None) -> str:
    return "no time" if seconds is None else f"{seconds:.3f} s"
