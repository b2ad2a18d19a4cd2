"""An answer and where it came from: the part of a response that DAX never shows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from backend.protocol import Response

if TYPE_CHECKING:
    from dax.cache.entries import Entry


class ServedFrom(StrEnum):
    """Who produced the response."""

    ITEM_CACHE = "item-cache"
    QUERY_CACHE = "query-cache"
    NEGATIVE_ENTRY = "negative-entry"
    STORE = "store"
    PASS_THROUGH = "pass-through"


class MissReason(StrEnum):
    """Why a read had to go to the store."""

    NEVER_SEEN = "never-seen"
    EXPIRED = "expired"
    EVICTED = "evicted"
    WRITTEN = "written"
    FLUSHED = "flushed"
    NOT_CACHEABLE = "not-cacheable"


@dataclass(slots=True)
class Answer:
    """The response of one operation, with its provenance.

    `age` is the entry's age in seconds when a cache answered, `miss` the reason when a cacheable or
    uncacheable read went to the store. `entry` is the cache entry behind a hit, which keeps its encoded bytes
    for each wire. `keys_served` counts the keys of a BatchGetItem that each source answered.
    """

    response: Response
    served_from: ServedFrom
    node: str
    age: float | None = None
    miss: MissReason | None = None
    entry: Entry | None = None
    keys_served: dict[ServedFrom, int] | None = None
