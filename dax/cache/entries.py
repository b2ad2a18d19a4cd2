"""What a cache keeps for one key: the answer, when it was stored, what it weighs, and its encoded forms.

An entry never changes its answer: a newer state is a newer entry. Its encodings are made by the wire that
first needs them and stay with it, so that a hit is a lookup and a write.
"""

from __future__ import annotations

from enum import StrEnum

from backend.protocol import Item, Response

FOREVER = float("inf")


class RemovalReason(StrEnum):
    """Why an entry left a cache."""

    TTL = "ttl"
    CAPACITY = "capacity"
    WRITTEN = "written"
    FLUSH = "flush"


class Entry:
    """One cached answer.

    stored_at, expires_at: seconds of the cluster's clock (`FOREVER` = no expiry by time).
    size: what it counts against the capacity. sequence: the replication log's position that it came from, or,
    of a result set, the number of the node's read that brought it.
    json, json_head: the DynamoDB-JSON body and the head lines that belong to it; None until that wire asks.
    binary: the response as the DAX binary protocol sends it, or None until that wire asks.
    """

    __slots__ = ("binary", "expires_at", "json", "json_head", "sequence", "size", "stored_at")

    def __init__(self, stored_at: float, expires_at: float, size: int, sequence: int) -> None:
        self.stored_at = stored_at
        self.expires_at = expires_at
        self.size = size
        self.sequence = sequence
        self.json: bytes | None = None
        self.json_head: str | None = None
        self.binary: bytes | None = None

    @property
    def negative(self) -> bool:
        """Whether the entry says that there is nothing."""
        raise NotImplementedError

    @property
    def response(self) -> Response:
        """The response of the operation that a hit answers."""
        raise NotImplementedError


class ItemEntry(Entry):
    """An item of a table, or (`item` None) the knowledge that there is no item with that key."""

    __slots__ = ("item",)

    def __init__(
        self, item: Item | None, stored_at: float, expires_at: float, size: int, sequence: int
    ) -> None:
        super().__init__(stored_at, expires_at, size, sequence)
        self.item = item

    @property
    def negative(self) -> bool:
        return self.item is None

    @property
    def response(self) -> Response:
        """The response of a GetItem without projection."""
        return {} if self.item is None else {"Item": self.item}

    def __repr__(self) -> str:
        return f"ItemEntry({self.item!r}, stored_at={self.stored_at}, sequence={self.sequence})"


class QueryEntry(Entry):
    """The response of one Query or Scan request, without its ConsumedCapacity."""

    __slots__ = ("_response",)

    def __init__(
        self, response: Response, stored_at: float, expires_at: float, size: int, sequence: int
    ) -> None:
        super().__init__(stored_at, expires_at, size, sequence)
        self._response = response

    @property
    def negative(self) -> bool:
        """Whether the result set is empty and there is no page after it."""
        return not self._response.get("Count") and "LastEvaluatedKey" not in self._response

    @property
    def response(self) -> Response:
        return self._response

    def __repr__(self) -> str:
        return f"QueryEntry({self._response!r}, stored_at={self.stored_at})"
