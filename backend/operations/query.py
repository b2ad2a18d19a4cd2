"""Query: the items of one partition of a table or index, in sort-key order, as far as the key condition goes.

The starting key is judged around the key condition as the service does it: first its shape and partition,
then the condition, then the rest of the key, then whether it lies within the condition.
Public source: DynamoDB API Reference, "Query".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from backend.errors import validation_error
from backend.expressions.conditions import Condition
from backend.expressions.key_conditions import KeyCondition, KeyConditions
from backend.expressions.projections import Projection
from backend.operations.clauses import legacy_filter_of, query_clauses_of
from backend.operations.key_paths import check_filter_paths, check_projected_paths
from backend.operations.pages import (
    Source,
    answer_page,
    check_select,
    check_start_key,
    check_start_partition,
    read_page,
    rows_between,
    start_key_of,
)
from backend.protocol import Item, Request, Response
from backend.validation.rules import attributes_to_get_once, key_condition_present

if TYPE_CHECKING:
    from backend.engine import Engine


class Plan(NamedTuple):
    start: Item | None
    key: KeyConditions
    filter: Condition | None
    projection: Projection | None


def validate(request: Request) -> Plan:
    legacy_filter_of(request, "QueryFilter")
    attributes_to_get_once(request)
    start = start_key_of(request)
    key_condition_present(request)
    key, condition, projection = query_clauses_of(request)
    check_select(request)
    return Plan(start, key, condition, projection)


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    source = Source(engine, request)
    if plan.start is not None:
        check_start_partition(source, plan.start)
    key = plan.key.bind(source.schema)
    start = None if plan.start is None else _start(source, plan.start, key)
    check_projected_paths(source.table, plan.projection)
    if plan.filter is not None:
        _check_filtered_names(source, request, plan.filter)
    source.check_projected(() if plan.projection is None else plan.projection.top_level_names)
    if plan.filter is not None:
        check_filter_paths(source.table, plan.filter)
    page = read_page(
        engine,
        source,
        rows_between(source.rows, key.start, key.stop, start, request.get("ScanIndexForward") is not False),
        request.get("Limit"),
        None if plan.filter is None else plan.filter.matches,
        None if plan.projection is None else plan.projection.apply,
    )
    return answer_page(engine, source, request, page, key.start)


def _start(source: Source, start: Item, key: KeyCondition) -> bytes:
    """Where to go on. Raises ValidationException for a key that this query cannot have stopped at."""
    check_start_key(source, start)
    storage_key = source.storage_key(start)
    is_inside = key.contains(storage_key)
    if not key.sort:
        if not is_inside:
            raise validation_error(
                "The provided starting key is outside query boundaries based on provided conditions"
            )
        return storage_key
    # An index may have many rows of one key.
    is_one_row = source.index is None and key.sort[0].operator == "="
    if not is_one_row and not _sort_matches(source, start, key):
        raise validation_error("The provided starting key does not match the range key predicate")
    # In these words, a starting key of another partition is refused under any condition on sort keys.
    if is_one_row or not is_inside:
        raise validation_error("The query can return at most one row and cannot be restarted")
    return storage_key


def _sort_matches(source: Source, start: Item, key: KeyCondition) -> bool:
    """Whether the sort key of a starting key satisfies the condition, whatever its partition is."""
    return key.contains(source.storage_key({**start, **key.partition}))


def _check_filtered_names(source: Source, request: Request, condition: Condition) -> None:
    for name in source.schema.names:
        if name in condition.top_level_names:
            kind = "QueryFilter" if request.get("QueryFilter") is not None else "Filter Expression"
            raise validation_error(
                f"{kind} can only contain non-primary key attributes: Primary key attribute: {name}"
            )
