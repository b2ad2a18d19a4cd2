from __future__ import annotations

import os

import pytest

from backend.embedded import EmbeddedBackend
from backend.engine import Engine
from backend.errors import ServiceError
from backend.protocol import Request, Response
from cluster.cli.sample_data import TABLES, load


@pytest.fixture
def backend() -> EmbeddedBackend:
    return EmbeddedBackend(Engine(lambda: 0.0, os.urandom))


async def test_every_table_is_there_with_its_items(backend: EmbeddedBackend) -> None:
    assert await load(backend) == ["ProductCatalog", "DocumentRevisions", "GameScores", "Settings"]
    for table in TABLES:
        assert (await backend.execute("Scan", {"TableName": table.name}))["Count"] == len(table.items)


async def test_the_best_scores_of_a_game_are_found_by_its_index(backend: EmbeddedBackend) -> None:
    await load(backend)
    found = await backend.execute(
        "Query",
        {
            "TableName": "GameScores",
            "IndexName": "GameTitleIndex",
            "KeyConditionExpression": "GameTitle = :g",
            "ExpressionAttributeValues": {":g": {"S": "Meteor Blasters"}},
            "ScanIndexForward": False,
        },
    )
    assert [item["UserId"]["S"] for item in found["Items"]] == ["Bob", "Alice", "Charlie"]


async def test_a_table_that_exists_is_left_alone(backend: EmbeddedBackend) -> None:
    await load(backend)
    key = {"Id": {"N": "101"}}
    await backend.execute("DeleteItem", {"TableName": "ProductCatalog", "Key": key})
    assert await load(backend) == []
    assert await backend.execute("GetItem", {"TableName": "ProductCatalog", "Key": key}) == {}


async def test_any_other_refusal_is_passed_on() -> None:
    class Refusing:
        async def execute(self, operation: str, request: Request) -> Response:
            raise ServiceError("AccessDeniedException", "no")

        async def close(self) -> None:
            pass

    with pytest.raises(ServiceError, match="no"):
        await load(Refusing())
