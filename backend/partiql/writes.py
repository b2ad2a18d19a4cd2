"""INSERT, UPDATE, DELETE and EXISTS as the writes they are: prepared like PutItem, UpdateItem and DeleteItem.

Rules:

* INSERT never replaces: an item with that key is a DuplicateItemException;
* UPDATE never creates: it carries the condition that the item exists; what WHERE says beside the key is a
  condition too;
* DELETE of a missing item succeeds unless WHERE says more than the key;
* EXISTS checks a condition and changes nothing; only a transaction takes it;
* RETURNING of a DELETE is ALL OLD; where nothing is to be returned the list is empty, never an empty item.

Sources: the PartiQL statements of the DynamoDB developer guide; the answers and messages recorded on the live
service by the public Parity Suite (partiql in tiers 2 and 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backend.errors import ServiceError, validation_error
from backend.expressions import ast as tree
from backend.expressions.conditions import from_tree
from backend.expressions.updates import Update
from backend.model.keys import check_key
from backend.model.sizes import check_item_size
from backend.model.values import normalise_and_measure
from backend.operations.transactions import Action
from backend.operations.writes import prepare_delete, prepare_put, prepare_update, refused
from backend.partiql import ast, translate
from backend.partiql.planner import target_of_write
from backend.partiql.targets import table_of
from backend.partiql.values import item_of
from backend.protocol import AttributeValue, Item, Request
from backend.tables.table import Table, Write

if TYPE_CHECKING:
    from backend.engine import Engine

WriteStatement = ast.Insert | ast.Update | ast.Delete | ast.Exists
Parameters = Sequence[AttributeValue]


def _nothing(write: Write) -> list[Item]:
    return []


@dataclass(frozen=True, slots=True)
class PlannedWrite(Action):
    """A write statement bound to its table; `returned` gives what RETURNING asks for of its `Write`."""

    returned: Callable[[Write], list[Item]] = _nothing


def plan_write(
    engine: Engine, statement: WriteStatement, parameters: Parameters, options: Request
) -> PlannedWrite:
    """Bind a statement. `options` may have ReturnValuesOnConditionCheckFailure.

    Raises `ServiceError` for what can be judged without looking at the item.
    """
    match statement:
        case ast.Insert():
            return _insert(engine, statement, parameters, options)
        case ast.Update():
            return _update(engine, statement, parameters, options)
        case ast.Delete():
            return _delete(engine, statement, parameters, options)
        case ast.Exists():
            return _check(engine, statement, parameters, options)


def _insert(engine: Engine, statement: ast.Insert, parameters: Parameters, options: Request) -> PlannedWrite:
    row = normalise_and_measure(item_of(statement.value, parameters))
    check_item_size(row[1])
    table = engine.catalog.get(statement.target.table)
    is_new = from_tree(tree.Function("attribute_not_exists", (tree.Path((table.schema.partition.name,)),)))

    def prepare(factor: float) -> Write:
        try:
            return prepare_put(engine, table, options, row, is_new, factor)
        except ServiceError as refusal:
            if refusal.code != "ConditionalCheckFailedException":
                raise
            message = "Duplicate primary key exists in table"
            raise ServiceError("DuplicateItemException", message, fields=refusal.fields) from None

    return PlannedWrite(table, row[0], prepare)


def _update(engine: Engine, statement: ast.Update, parameters: Parameters, options: Request) -> PlannedWrite:
    table = _table_to_write(engine, statement, parameters)
    changes = translate.compiled_update(statement.changes, parameters)
    key, rest = target_of_write(statement.where, table.schema, parameters)
    exists = ast.IsType(ast.Path((table.schema.partition.name,), ""), "missing", negated=True)
    condition = translate.compiled((exists, *rest), parameters)

    def prepare(factor: float) -> Write:
        with translate.own_words():
            return prepare_update(engine, table, {**options, "Key": key}, changes, condition, factor)

    def returned(write: Write) -> list[Item]:
        return _updated(statement.returning, changes, write)

    return PlannedWrite(table, key, prepare, returned=returned)


def _updated(returning: ast.Returning | None, changes: Update, write: Write) -> list[Item]:
    if returning is None:
        return []
    old = None if write.old is None else write.old[0]
    new = None if write.new is None else write.new[0]
    if returning.scope == "ALL":
        found = old if returning.image == "OLD" else new
    elif returning.image == "OLD":
        found = changes.updated_old(old, new)
    else:
        found = changes.updated_new(old, new)
    return [found] if found else []


def _delete(engine: Engine, statement: ast.Delete, parameters: Parameters, options: Request) -> PlannedWrite:
    returning = statement.returning
    if returning is not None and returning != ast.Returning("ALL", "OLD"):
        raise validation_error(
            f"Invalid returning clause: RETURNING {returning.scope} {returning.image} *. "
            "Only RETURNING ALL OLD * is allowed in DELETE statements."
        )
    table = _table_to_write(engine, statement, parameters)
    key, rest = target_of_write(statement.where, table.schema, parameters)
    condition = translate.compiled(rest, parameters)

    def prepare(factor: float) -> Write:
        return prepare_delete(engine, table, {**options, "Key": key}, condition, factor)

    def returned(write: Write) -> list[Item]:
        return [write.old[0]] if returning is not None and write.old is not None else []

    return PlannedWrite(table, key, prepare, returned=returned)


def _check(engine: Engine, statement: ast.Exists, parameters: Parameters, options: Request) -> PlannedWrite:
    select = statement.select
    if select.target.index is not None:
        raise validation_error("Operations on indices are not supported in transactions")
    table = table_of(engine, select, parameters)
    key, rest = target_of_write(select.where, table.schema, parameters)
    condition = translate.compiled(rest, parameters)
    if condition is None:
        raise validation_error("EXISTS() must contain a single item read with additional condition")

    def prepare(factor: float) -> Write:
        storage_key = table.schema.encode(check_key(table.schema, key))
        row = table.items.get(storage_key)
        if not condition.matches(None if row is None else row[0]):
            raise refused(engine, table, storage_key, row, options, factor)
        return Write(table, storage_key, row, row)

    return PlannedWrite(table, key, prepare, changes=False)


def _table_to_write(engine: Engine, statement: ast.Update | ast.Delete, parameters: Parameters) -> Table:
    table = table_of(engine, statement, parameters)
    if statement.target.index is not None:
        raise validation_error("This operation is not supported on an index")
    return table
