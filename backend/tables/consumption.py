"""ConsumedCapacity: what one request used of one table, and how the service reports it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.tables.indexes import Index
from backend.tables.table import Table, Write


class Consumption:
    """The units one request used on one table, split into the table's own and each index's."""

    __slots__ = ("by_index", "own", "table")

    def __init__(self, table: Table, own: float = 0.0) -> None:
        self.table = table
        self.own = own
        self.by_index: dict[str, float] = {}

    @classmethod
    def of(cls, write: Write, factor: float = 1.0) -> Consumption:
        """The units of a write, times `factor`."""
        consumption = cls(write.table, write.units * factor)
        for index, change in write.by_index or ():
            consumption.add_index(index.name, change[3] * factor)
        return consumption

    def add_index(self, name: str, units: float) -> None:
        self.by_index[name] = self.by_index.get(name, 0.0) + units

    def report(self, mode: str, called: str | None = None, also_as: str | None = None) -> dict[str, Any]:
        """A `ConsumedCapacity` structure for ReturnConsumedCapacity `TOTAL` or `INDEXES`.

        `called` is what the request calls the table, its name or its ARN. `also_as` repeats every amount
        under `ReadCapacityUnits` or `WriteCapacityUnits`: transactions do.
        """
        total = _amount(self.own + sum(self.by_index.values()), also_as)
        answer: dict[str, Any] = {"TableName": called or self.table.name, **total}
        if mode == "INDEXES":
            answer["Table"] = _amount(self.own, also_as)
            for member, indexes in (
                ("LocalSecondaryIndexes", self.table.local_indexes),
                ("GlobalSecondaryIndexes", self.table.global_indexes),
            ):
                split = self._split(indexes, also_as)
                if split:
                    answer[member] = split
        return answer

    def _split(self, indexes: Mapping[str, Index], also_as: str | None) -> dict[str, Any]:
        return {name: _amount(units, also_as) for name, units in self.by_index.items() if name in indexes}


def _amount(units: float, also_as: str | None) -> dict[str, float]:
    return {"CapacityUnits": units} if also_as is None else {"CapacityUnits": units, also_as: units}
