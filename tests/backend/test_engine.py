"""The engine as a whole: dispatch, the clock, and the backend over it."""

import pytest

from backend.embedded import EmbeddedBackend
from backend.errors import ServiceError


@pytest.mark.parametrize("operation", ["Nonsense", "getItem", "", "__init__"])
def test_an_unknown_operation_is_refused_without_a_message(store, operation):
    with pytest.raises(ServiceError) as refused:
        store(operation)
    assert (refused.value.code, refused.value.message) == ("UnknownOperationException", None)


def test_a_request_is_checked_before_anything_else(store):
    with pytest.raises(ServiceError, match="1 validation error detected: Value null at 'tableName'"):
        store("GetItem", Key={"pk": {}})


def test_a_tick_brings_late_indexes_up_to_date(new_store, clock, index_of):
    store = new_store(settings={"gsi_lag": 2.0})
    store.create(
        "music", "pk:S", attributes=["genre:S"], GlobalSecondaryIndexes=[index_of("by-genre", "genre")]
    )
    store("PutItem", TableName="music", Item={"pk": {"S": "a"}, "genre": {"S": "rock"}})
    rows = store.engine.catalog.get("music").indexes["by-genre"].rows
    store.engine.tick()
    assert len(rows) == 0
    clock.advance(2.0)
    store.engine.tick()
    assert len(rows) == 1


async def test_the_embedded_backend_is_the_engine(store):
    store.create("music", "pk:S")
    backend = EmbeddedBackend(store.engine)
    await backend.execute("PutItem", {"TableName": "music", "Item": {"pk": {"S": "a"}}})
    answer = await backend.execute("GetItem", {"TableName": "music", "Key": {"pk": {"S": "a"}}})
    assert answer == {"Item": {"pk": {"S": "a"}}}
    with pytest.raises(ServiceError):
        await backend.execute("GetItem", {"TableName": "nothing", "Key": {"pk": {"S": "a"}}})
    await backend.close()
    await backend.close()
