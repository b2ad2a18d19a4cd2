"""An engine with a clock that a test sets and entropy that repeats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from backend.engine import Engine, EngineSettings


class ManualClock:
    """Time stands still until a test moves it."""

    def __init__(self) -> None:
        self.time = 1_700_000_000.0

    def now(self) -> float:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += seconds


class Store:
    """An engine under test: `store("PutItem", TableName=..., Item=...)`."""

    def __init__(self, clock: ManualClock, **options: Any) -> None:
        self.clock = clock
        self._drawn = 0
        settings = EngineSettings(**options.pop("settings", {}))
        self.engine = Engine(clock.now, self._entropy, settings, **options)

    def _entropy(self, count: int) -> bytes:
        self._drawn += 1
        return self._drawn.to_bytes(count, "big")

    def __call__(self, operation: str, **request: Any) -> Any:
        return self.engine.execute(operation, request)

    def create(self, name: str, *keys: str, **more: Any) -> None:
        """A table keyed by attributes given as `"pk:S"`; its indexes' attributes are declared in
        `attributes`."""
        pairs = [key.split(":") for key in keys]
        attributes = dict([*pairs, *(one.split(":") for one in more.pop("attributes", ()))])
        self(
            "CreateTable",
            TableName=name,
            KeySchema=key_schema(*(pair[0] for pair in pairs)),
            AttributeDefinitions=[
                {"AttributeName": attribute, "AttributeType": kind} for attribute, kind in attributes.items()
            ],
            BillingMode="PAY_PER_REQUEST",
            **more,
        )


def key_schema(partition: str, sort: str | None = None) -> list[dict[str, str]]:
    schema = [{"AttributeName": partition, "KeyType": "HASH"}]
    return schema if sort is None else [*schema, {"AttributeName": sort, "KeyType": "RANGE"}]


def index(
    name: str, partition: str, sort: str | None = None, projection: str = "ALL", include: tuple[str, ...] = ()
) -> dict[str, Any]:
    kind: dict[str, Any] = {"ProjectionType": projection}
    if include:
        kind["NonKeyAttributes"] = list(include)
    return {"IndexName": name, "KeySchema": key_schema(partition, sort), "Projection": kind}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def new_store(clock: ManualClock) -> Callable[..., Store]:
    """`new_store(settings={"gsi_lag": 1.0}, limiter=...)` gives an engine with those options."""

    def build(**options: Any) -> Store:
        return Store(clock, **options)

    return build


@pytest.fixture
def store(new_store: Callable[..., Store]) -> Store:
    return new_store()


@pytest.fixture
def index_of() -> Callable[..., dict[str, Any]]:
    """`index_of("name", "pk", "sk", "INCLUDE", ("a",))`: an index as CreateTable takes it."""
    return index
