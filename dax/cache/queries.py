"""The query cache: responses of Query and Scan by the whole normalised request.

Two requests share an entry when they are one request: a parameter at its default equals an absent one, a
number equals its other spellings, members of a set have no order. Expression texts are compared as they are
written. Item writes do not touch this cache: only TTL, recency and a flush remove a result.

Of reads of one result set that are under way together the one that began last is the newest, whichever ends
last: what an earlier one brings never takes its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from backend.errors import ServiceError
from backend.model.sizes import item_size
from backend.model.values import normalise
from backend.protocol import Request, Response
from dax.cache.entries import QueryEntry, RemovalReason
from dax.cache.items import ENTRY_OVERHEAD
from dax.cache.store import EntryCache

QueryKey = tuple[str, str, bytes]
"""Table name, operation, and the canonical encoding of the normalised request."""

_DEFAULTS: Mapping[str, Any] = {
    "ConsistentRead": False,
    "ReturnConsumedCapacity": "NONE",
    "ScanIndexForward": True,
}
_VALUE_MAPS = ("ExpressionAttributeValues", "ExclusiveStartKey")
_CONDITION_MAPS = ("KeyConditions", "QueryFilter", "ScanFilter")


class QueryCache(EntryCache[QueryKey, QueryEntry]):
    """Responses by request. `ttl` in seconds, 0 = results are not cached."""

    def __init__(self, capacity: int, ttl: float, removal_memory: int, *, unit_size: bool = False) -> None:
        super().__init__(capacity, removal_memory)
        self.ttl = ttl
        self._unit_size = unit_size
        self._begun = 0
        self._void = 0

    def begin(self) -> int:
        """The number of a read that begins now: later ones have higher numbers."""
        self._begun += 1
        return self._begun

    def keep(self, key: QueryKey, response: Response, read: int, now: float) -> bool:
        """Make `response`, which the read of that number brought, the answer to `key`.

        False when it does not fit, results are not cached, the read began before a flush, or a later one has
        brought its result already.
        """
        present = self.peek(key)
        if not self.ttl or read <= self._void or (present is not None and present.sequence > read):
            return False
        kept = {name: value for name, value in response.items() if name != "ConsumedCapacity"}
        size = 1 if self._unit_size else self._weight(key, kept)
        return self.put(key, QueryEntry(kept, now, now + self.ttl, size, read), now)

    def flush(self, table: str | None = None) -> int:
        """Empty one table's results, or everything; how many entries that were."""
        self._void = self._begun
        return self.remove_if(lambda held: table is None or held[0] == table, RemovalReason.FLUSH)

    def _weight(self, key: QueryKey, response: Response) -> int:
        items = response.get("Items", ())
        return len(key[0]) + len(key[2]) + ENTRY_OVERHEAD + sum(item_size(item) for item in items)


def query_key(table: str, operation: str, request: Request) -> QueryKey | None:
    """The key of a checked Query or Scan on `table`; None when a value in it is not valid."""
    members = {
        name: value
        for name, value in request.items()
        if name != "TableName" and value != _DEFAULTS.get(name, _absent)
    }
    if members.get("Select") == _implied_select(members):
        del members["Select"]
    try:
        for name in _VALUE_MAPS:
            if name in members:
                members[name] = {key: _canonical(value) for key, value in members[name].items()}
        for name in _CONDITION_MAPS:
            if name in members:
                members[name] = {key: _condition(value) for key, value in members[name].items()}
    except ServiceError:
        return None
    return table, operation, orjson.dumps(members, option=orjson.OPT_SORT_KEYS)


def _absent() -> None:
    """Equals no value that a request can hold."""


def _implied_select(members: Mapping[str, Any]) -> str:
    if "ProjectionExpression" in members or "AttributesToGet" in members:
        return "SPECIFIC_ATTRIBUTES"
    return "ALL_PROJECTED_ATTRIBUTES" if "IndexName" in members else "ALL_ATTRIBUTES"


def _condition(condition: Mapping[str, Any]) -> Mapping[str, Any]:
    if "AttributeValueList" not in condition:
        return condition
    return {**condition, "AttributeValueList": [_canonical(v) for v in condition["AttributeValueList"]]}


def _canonical(value: Mapping[str, Any]) -> Any:
    return _plain(normalise(value))


def _plain(value: Mapping[str, Any]) -> Any:
    """A canonical attribute value as JSON can write it, equal values alike."""
    ((kind, content),) = value.items()
    if kind == "B":
        content = content.hex()
    elif kind == "BS":
        content = sorted(member.hex() for member in content)
    elif kind in ("SS", "NS"):
        content = sorted(content)
    elif kind == "L":
        content = [_plain(member) for member in content]
    elif kind == "M":
        content = {name: _plain(member) for name, member in content.items()}
    return {kind: content}
