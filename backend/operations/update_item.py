"""UpdateItem: change attributes of an item, or create it.

ReturnValues: ALL_OLD and ALL_NEW are whole items; UPDATED_OLD and UPDATED_NEW only what the update touched;
no Attributes at all when that is nothing.

Unlike every other write, UpdateItem has a limit on what it writes besides that on the whole item: the
attributes that it sets or adds to, and some bytes for each action, come to 400 KB at most. So an item of
exactly 400 KB can be put but, where its key is short, not be made by one SET.
Public sources: DynamoDB API Reference, "UpdateItem"; the bytes of an action were measured on the service.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.expressions import ast
from backend.expressions.conditions import Condition
from backend.expressions.updates import Update
from backend.model.sizes import MAX_ITEM_BYTES, check_item_size, item_size
from backend.model.values import normalise_item
from backend.operations.accounting import charge_write, report_write
from backend.operations.clauses import update_and_condition_of
from backend.operations.writes import prepare_update
from backend.protocol import Item, Request, Response
from backend.storage.base import Row
from backend.tables.table import Write, commit

if TYPE_CHECKING:
    from backend.engine import Engine

Plan = tuple[Update | None, Condition | None]

_UPDATE_BYTES, _SET_BYTES, _REMOVE_BYTES, _INDEX_BYTES = 3, 19, 2, 1
"""Of an update, of each SET or ADD, of each REMOVE or DELETE, and more of one that ends at a list's index."""


def validate(request: Request) -> Plan:
    normalise_item(request["Key"])
    return update_and_condition_of(request)


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    update, condition = plan
    table = engine.catalog.get(request["TableName"])
    write = prepare_update(engine, table, request, update, condition)
    if update is not None and write.new is not None:
        _check_written(update.tree.actions, write.new)
    charge_write(engine, write)
    commit(engine.storage, (write,), engine.now())
    answer: dict[str, Any] = {}
    attributes = _attributes(request.get("ReturnValues"), update, write)
    if attributes:
        answer["Attributes"] = attributes
    report_write(answer, request, write, request["Key"])
    return answer


def _check_written(actions: tuple[ast.Action, ...], row: Row) -> None:
    item, size = row
    if size + _UPDATE_BYTES + (_SET_BYTES + _INDEX_BYTES) * len(actions) <= MAX_ITEM_BYTES:
        return
    written: set[str | int] = set()
    size = _UPDATE_BYTES
    for action in actions:
        if isinstance(action, ast.Set | ast.Add):
            written.add(action.path.elements[0])
            size += _SET_BYTES + (_INDEX_BYTES if isinstance(action.path.elements[-1], int) else 0)
        else:
            size += _REMOVE_BYTES
    size += item_size({name: value for name, value in item.items() if name in written})
    check_item_size(size, update=True)


def _attributes(wanted: str | None, update: Update | None, write: Write) -> Item | None:
    if wanted is None or wanted == "NONE":
        return None
    old = None if write.old is None else write.old[0]
    new = None if write.new is None else write.new[0]
    if wanted == "ALL_OLD":
        return old
    if wanted == "ALL_NEW":
        return new
    if update is None:
        return None
    return update.updated_old(old, new) if wanted == "UPDATED_OLD" else update.updated_new(old, new)
