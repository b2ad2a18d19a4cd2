"""Key attributes are scalars: what reads an item, or filters it, may not look below one.

Judged once the table is known, whatever the item holds. Source: recorded answers of the service.
"""

from __future__ import annotations

from collections.abc import Collection

from backend.expressions.ast import Path
from backend.expressions.checks import leaves, operands_of, predicates
from backend.expressions.conditions import Condition
from backend.expressions.paths import check_scalars
from backend.expressions.projections import Projection
from backend.tables.table import Table


def check_projected_paths(table: Table, projection: Projection | None) -> None:
    """Refuse a projection that goes below a key attribute of the table or of an index."""
    if projection is not None:
        _check(table, projection.paths)


def check_filter_paths(table: Table, condition: Condition) -> None:
    """Refuse a filter that looks below a key attribute of the table or of an index."""
    if not table.key_names.isdisjoint(condition.top_level_names):
        found = [leaf for predicate in predicates(condition.tree) for leaf in leaves(operands_of(predicate))]
        _check(table, [leaf for leaf in found if isinstance(leaf, Path)])


def _check(table: Table, paths: Collection[Path]) -> None:
    check_scalars(paths, table.schema.names, "Key")
    check_scalars(paths, table.key_names, "IndexKey")
