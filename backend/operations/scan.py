"""Scan: every item of a table or index, page by page, in the order of partition hashes.

With Segment and TotalSegments only the partitions whose hash falls into that share of the hash space. The
starting key is judged before the paths of projection and filter, and around what an index projects.
Public source: DynamoDB API Reference, "Scan".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from backend.errors import validation_error
from backend.expressions.conditions import Condition
from backend.expressions.projections import Projection
from backend.model.keys import segment_bounds
from backend.operations.clauses import filter_and_projection_of, legacy_filter_of
from backend.operations.key_paths import check_filter_paths, check_projected_paths
from backend.operations.pages import (
    Source,
    answer_page,
    check_scan_start_key,
    check_select,
    check_table_start_key,
    read_page,
    rows_between,
    start_key_of,
)
from backend.protocol import Item, Request, Response
from backend.validation.rules import attributes_to_get_once, segments

if TYPE_CHECKING:
    from backend.engine import Engine


class Plan(NamedTuple):
    start: Item | None
    filter: Condition | None
    projection: Projection | None


def validate(request: Request) -> Plan:
    attributes_to_get_once(request)
    legacy_filter_of(request, "ScanFilter")
    start = start_key_of(request)
    segments(request)
    condition, projection = filter_and_projection_of(request)
    check_select(request)
    return Plan(start, condition, projection)


def run(engine: Engine, request: Request, plan: Plan) -> Response:
    source = Source(engine, request)
    if plan.start is not None:
        check_scan_start_key(source, plan.start)
    source.check_projected(() if plan.projection is None else plan.projection.top_level_names)
    low, high, start = _bounds(source, request, plan.start)
    check_projected_paths(source.table, plan.projection)
    if plan.filter is not None:
        check_filter_paths(source.table, plan.filter)
    page = read_page(
        engine,
        source,
        rows_between(source.rows, low, high, start, forward=True),
        request.get("Limit"),
        None if plan.filter is None else plan.filter.matches,
        None if plan.projection is None else plan.projection.apply,
    )
    return answer_page(engine, source, request, page, start or low or b"")


def _bounds(
    source: Source, request: Request, start: Item | None
) -> tuple[bytes | None, bytes | None, bytes | None]:
    """First storage key of the segment, the one behind its last, and the one to go on behind."""
    low, high = None, None
    segment, total = request.get("Segment"), request.get("TotalSegments")
    if segment is not None and total is not None:
        low, high = segment_bounds(segment, total)
    if start is None:
        return low, high, None
    check_table_start_key(source, start)
    key = source.storage_key(start)
    if (low is not None and key < low) or (high is not None and key >= high):
        raise validation_error(
            "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey "
            f"with correct Segment. TotalSegments: {total} Segment: {segment}"
        )
    return low, high, key
