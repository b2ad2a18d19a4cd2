"""What the tests of operations share: how a request is refused, and a limiter that says no."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from backend.errors import ServiceError
from backend.model.keys import collection_of


@pytest.fixture
def refusal() -> Callable[..., ServiceError]:
    """`refusal(store, "PutItem", ...)` is the error that the request must end in."""

    def refuse(store: Callable[..., Any], operation: str, **request: Any) -> ServiceError:
        with pytest.raises(ServiceError) as refused:
            store(operation, **request)
        return refused.value

    return refuse


class RecordingLimiter:
    """Notes what it is asked, and refuses tables by name."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None, float, float]] = []
        self.collections: set[bytes] = set()
        self.refused: set[str] = set()

    def admit(self, demands):
        for one in demands:
            self.asked.append((one.table.name, one.index and one.index.name, one.reads, one.writes))
            self.collections.add(collection_of(one.key))
            if one.table.name in self.refused:
                raise ServiceError("ProvisionedThroughputExceededException", "too hot")

    def adapt(self, table):
        """What a table has makes no difference here."""

    def warm(self, table, index):
        return {}

    def describe(self, table, index):
        return []


@pytest.fixture
def limiter() -> RecordingLimiter:
    return RecordingLimiter()
