"""The table that a statement reads or writes.

Rule: what is wrong with a WHERE clause by itself is told before that there is no such table.
Source: the order of refusals that the public Parity Suite recorded on the live service.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from backend.errors import ServiceError
from backend.partiql import ast, translate
from backend.protocol import AttributeValue
from backend.tables.table import Table

if TYPE_CHECKING:
    from backend.engine import Engine


def table_of(
    engine: Engine, statement: ast.Select | ast.Update | ast.Delete, parameters: Sequence[AttributeValue]
) -> Table:
    """The table of a statement. Raises `ServiceError`."""
    try:
        return engine.catalog.get(statement.target.table)
    except ServiceError:
        if statement.where is not None:
            translate.compiled((statement.where,), parameters)
        raise
