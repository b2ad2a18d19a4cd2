"""UpdateItem: change attributes of an item, or create it.

ReturnValues: ALL_OLD and ALL_NEW are whole items; UPDATED_OLD and UPDATED_NEW only what the update touched;
no Attributes at all when that is nothing.

Unlike every other write, UpdateItem limits what its expression writes besides the whole item: what
`expressions.charges` charges comes to 400 KB at most, before any condition. So an item of exactly 400 KB can
be put but, where its key is short, not be made by one SET.
Public source: DynamoDB API Reference, "UpdateItem".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backend.expressions.conditions import Condition
from backend.expressions.updates import Update
from backend.model.sizes import check_item_size
from backend.model.values import normalise_item
from backend.operations.accounting import charge_write, report_write
from backend.operations.clauses import update_and_condition_of
from backend.operations.writes import prepare_update
from backend.protocol import Item, Request, Response
from backend.tables.table import Write, commit

if TYPE_CHECKING:
    from backend.engine import Engine

Plan = tuple[Update | None, Condition | None]


def validate(request: Request) -> Plan:
    normalise_item(request["Key"])
    return update_and_condition_of(request)


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    update, condition = plan
    table = engine.catalog.get(request["TableName"])
    if update is not None:
        check_item_size(update.charge, update=True)
    write = prepare_update(engine, table, request, update, condition)
    charge_write(engine, write)
    commit(engine.storage, (write,), engine.now())
    answer: dict[str, Any] = {}
    attributes = _attributes(request.get("ReturnValues"), update, write)
    if attributes:
        answer["Attributes"] = attributes
    report_write(answer, request, write, request["Key"])
    return answer


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
