"""Item collections: what a table with local indexes keeps together of a partition key, told and limited.

Rules (DynamoDB Developer Guide, "Item collections in local secondary indexes"):

* a collection is the items of one partition key and their rows in the local indexes; tables without local
  indexes have none;
* one that has reached its limit, 10 GB, takes no more items and none that grow; what shrinks it is allowed.

Sizes are measured, not kept: only when they are asked for, or when the whole table is larger than the limit
of one collection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.errors import ServiceError
from backend.model.keys import collection_of, partition_prefix, successor
from backend.protocol import Item
from backend.storage.base import OrderedMap, Row
from backend.tables.table import Table

if TYPE_CHECKING:
    from backend.engine import Engine

_GIGABYTE = 1 << 30


def collection_metrics(table: Table, key: Item) -> dict[str, Any] | None:
    """The ItemCollectionMetrics of a write; None for a table without local indexes.

    The estimate is a range of whole gigabytes around the size of the collection.
    """
    if not table.local_indexes:
        return None
    low = float(_size(table, partition_prefix(table.schema, key)) // _GIGABYTE)
    name = table.schema.partition.name
    return {"ItemCollectionKey": {name: key[name]}, "SizeEstimateRangeGB": [low, low + 1.0]}


def check_collection(engine: Engine, table: Table, key: bytes, old: Row | None, new: Row) -> None:
    """Refuse an item that is new or grows in a collection that has reached its limit. Raises
    ItemCollectionSizeLimitExceededException."""
    limit = engine.settings.item_collection_bytes
    if not table.local_indexes or (old is not None and new[1] <= old[1]):
        return
    if sum(one.stored_bytes for one in _maps(table)) < limit:
        return
    if _size(table, collection_of(key)) >= limit:
        raise ServiceError("ItemCollectionSizeLimitExceededException", "Collection size exceeded.")


def _size(table: Table, prefix: bytes) -> int:
    return sum(size for one in _maps(table) for _, (_, size) in one.range(prefix, successor(prefix)))


def _maps(table: Table) -> list[OrderedMap]:
    return [table.items, *(index.rows for index in table.local_indexes.values())]
