"""When provisioned throughput last went up and down, as descriptions of tables and indexes report it.

Decreases are counted by the UTC day, as the service limits them by it; the limit itself is not enforced.
"""

from __future__ import annotations

from typing import Any

from backend.tables.definitions import Throughput

_DAY = 24 * 3600


class ThroughputHistory:
    """The changes of one table's or index's throughput. Times are seconds since the epoch."""

    __slots__ = ("_decreases_of_day", "decreased_at", "increased_at")

    def __init__(self) -> None:
        self.increased_at: float | None = None
        self.decreased_at: float | None = None
        self._decreases_of_day = (0, 0)

    def state(self) -> list[Any]:
        """All of it, as JSON; `of` reads it."""
        return [self.increased_at, self.decreased_at, *self._decreases_of_day]

    @classmethod
    def of(cls, state: list[Any]) -> ThroughputHistory:
        """The history whose `state` that is."""
        history = cls()
        history.increased_at, history.decreased_at, day, decreases = state
        history._decreases_of_day = (day, decreases)
        return history

    def note(self, before: Throughput, after: Throughput, time: float) -> None:
        """Remember that throughput changed at `time`; one change may raise reads and lower writes."""
        if after.read > before.read or after.write > before.write:
            self.increased_at = time
        if after.read < before.read or after.write < before.write:
            self.decreased_at = time
            day = int(time // _DAY)
            same_day = self._decreases_of_day[0] == day
            self._decreases_of_day = (day, self._decreases_of_day[1] + 1 if same_day else 1)

    def describe(self, throughput: Throughput, now: float) -> dict[str, Any]:
        """A ProvisionedThroughputDescription."""
        day, decreases = self._decreases_of_day
        answer: dict[str, Any] = {
            "NumberOfDecreasesToday": decreases if day == int(now // _DAY) else 0,
            "ReadCapacityUnits": throughput.read,
            "WriteCapacityUnits": throughput.write,
        }
        if self.increased_at is not None:
            answer["LastIncreaseDateTime"] = self.increased_at
        if self.decreased_at is not None:
            answer["LastDecreaseDateTime"] = self.decreased_at
        return answer
