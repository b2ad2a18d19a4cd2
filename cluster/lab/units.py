"""Verdicts about capacity: what operations consumed, which were throttled, and what units cost.

Each function looks at recorded operations, which asked for ReturnConsumedCapacity, and gives a `Finding` as
those of `cluster.lab.verdict` do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

from cluster.lab.history import History, Operation
from cluster.lab.verdict import Finding

PARTITION_WRITE_UNITS = 1000.0
PARTITION_READ_UNITS = 3000.0
"""What one partition takes in a second."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a million units cost, in US dollars, and since when."""

    dollars: float
    since: str
    source: str

    def of(self, units: float) -> float:
        """The price of a million times `units`."""
        return self.dollars * units


ON_DEMAND_WRITES = Price(
    0.625,
    "2024-11-01, us-east-1, standard table class",
    "https://aws.amazon.com/dynamodb/pricing/on-demand/",
)


def price_of_writes(history: History) -> Price:
    """The price that the run was given, or the published one."""
    given = history.events[0].get("write_price")
    return ON_DEMAND_WRITES if given is None else Price(given, "this run", "given with --write-price")


def consumed(operation: Operation) -> float:
    """The units of an operation on all its tables and indexes; 0 when it was refused."""
    told: Any = operation.response.get("ConsumedCapacity") or []
    return float(sum(one["CapacityUnits"] for one in (told if isinstance(told, list) else [told])))


def none_refused(operations: Sequence[Operation], what: str) -> Finding:
    """All of these were done."""
    done = sum(operation.outcome == "ok" for operation in operations)
    evidence = f"{done} of {len(operations)} were done, for {sum(map(consumed, operations)):,.0f} units"
    return Finding(bool(operations) and done == len(operations), f"{what}: none is throttled", evidence)


def some_throttled(operations: Sequence[Operation], reason: str, what: str) -> Finding:
    """Some of these were refused, every one because of this limit."""
    reasons = Counter(str(o.reason or o.error) for o in operations if o.outcome != "ok")
    told = ", ".join(f"{count} by {name}" for name, count in sorted(reasons.items())) or "none"
    evidence = f"of {len(operations)} these were refused: {told}"
    return Finding(set(reasons) == {reason}, f"{what}: some are throttled, by {reason}", evidence)


def at_most_each_second(operations: Sequence[Operation], limit: float, what: str) -> Finding:
    """In no second did these get more units than that, and in at least one they were refused more."""
    seconds: dict[int, float] = {}
    for operation in operations:
        second = floor(operation.invoked)
        seconds[second] = seconds.get(second, 0.0) + consumed(operation)
    most = max(seconds.values(), default=0.0)
    evidence = f"at most {most:,.0f} units in one of {len(seconds)} seconds"
    return Finding(0 < most <= limit, f"{what}: no second gives more than {limit:,.0f} units", evidence)


def uses_share(operations: Sequence[Operation], seconds: int, provisioned: float, share: float) -> Finding:
    """Of what the table has been provisioned for those seconds, less than this share was used."""
    used = sum(map(consumed, operations)) / (seconds * provisioned)
    claim = f"the table uses less than {share:.0%} of its {provisioned:,.0f} provisioned units"
    return Finding(0 < used < share, claim, f"it used {used:.0%} over {seconds} seconds")


def costs(operation: Operation, units: float, why: str) -> Finding:
    """The operation consumed exactly so many units."""
    told = operation.response.get("ConsumedCapacity") or {}
    split = told.get("GlobalSecondaryIndexes") or {}
    parts = [f"the table {told.get('Table', {}).get('CapacityUnits', 0):g}"]
    parts += [f"{name} {one['CapacityUnits']:g}" for name, one in sorted(split.items())]
    evidence = f"{operation} consumed {consumed(operation):g} units: {', '.join(parts)}"
    claim = f"{operation} costs {units:g} {'unit' if units == 1 else 'units'}: {why}"
    return Finding(consumed(operation) == units, claim, evidence)
