"""The writes of one item, prepared: what PutItem, UpdateItem and DeleteItem share with their transactional
forms.

Rules:

* preparing judges everything and changes nothing: keys, the condition against the item that is there, the new
  item's size and index keys. It returns the `Write` to commit;
* a refusal is a `ServiceError`: ValidationException; ConditionalCheckFailedException, which carries the
  current item when the request asked for it; or ItemCollectionSizeLimitExceededException;
* `factor` is 2 in a transaction: the units of a failed condition are charged here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.errors import ServiceError
from backend.expressions.conditions import Condition
from backend.expressions.updates import Update
from backend.model.keys import check_item, check_key
from backend.model.sizes import check_item_size, item_size
from backend.operations.accounting import charge_refused_write
from backend.operations.item_collections import check_collection
from backend.protocol import Item, Request
from backend.storage.base import Row
from backend.tables.table import Table, Write

if TYPE_CHECKING:
    from backend.engine import Engine


def prepare_put(
    engine: Engine, table: Table, request: Request, row: Row, condition: Condition | None, factor: float = 1.0
) -> Write:
    """Replace whatever is there by `row`: a canonical item of known size."""
    item = row[0]
    check_item(table.schema, item)
    if table.indexes:
        table.check_index_keys(item)
    key = table.schema.encode(item)
    old = table.items.get(key)
    if condition is not None and not condition.matches(None if old is None else old[0]):
        raise refused(engine, table, key, old, request, factor)
    check_collection(engine, table, key, old, row)
    return Write(table, key, old, row)


def prepare_update(
    engine: Engine,
    table: Table,
    request: Request,
    update: Update | None,
    condition: Condition | None,
    factor: float = 1.0,
) -> Write:
    """Apply an update to the item that is there, or to a bare key."""
    item_key = check_key(table.schema, request["Key"])
    key = table.schema.encode(item_key)
    old = table.items.get(key)
    old_item = None if old is None else old[0]
    if update is not None:
        update.check_attributes(table.schema, table.index_schemas)
    if condition is not None and not condition.matches(old_item):
        raise refused(engine, table, key, old, request, factor)
    new_item = update.apply(old_item, item_key, table.schema) if update is not None else old_item or item_key
    if new_item is None or new_item is old_item:
        return Write(table, key, old, old)
    size = item_size(new_item)
    check_item_size(size, update=True)
    if update is not None:
        update.check_result(new_item, table.index_schemas)
    check_collection(engine, table, key, old, (new_item, size))
    return Write(table, key, old, (new_item, size))


def prepare_delete(
    engine: Engine, table: Table, request: Request, condition: Condition | None, factor: float = 1.0
) -> Write:
    """Remove the item, or nothing."""
    key = table.schema.encode(check_key(table.schema, request["Key"]))
    old = table.items.get(key)
    if condition is not None and not condition.matches(None if old is None else old[0]):
        raise refused(engine, table, key, old, request, factor)
    return Write(table, key, old, None)


def refused(
    engine: Engine, table: Table, key: bytes, old: Row | None, request: Request, factor: float = 1.0
) -> ServiceError:
    """The failure of a condition, charged, with the item if it was asked for."""
    charge_refused_write(engine, table, key, old, factor)
    asked = request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD" and old is not None
    fields: dict[str, Item] = {"Item": old[0]} if asked and old is not None else {}
    return ServiceError("ConditionalCheckFailedException", "The conditional request failed", fields=fields)
