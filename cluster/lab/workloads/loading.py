"""Putting the items of a replay into a store over its own endpoint, beneath every cache.

A table that exists is used as it is. Items are written 25 at a time, as BatchWriteItem allows, over several
connections; what the store leaves unprocessed is sent again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from backend.errors import ServiceError
from cluster.lab.workloads.http_client import Connection

_BATCH = 25
_CONNECTIONS = 4
_ATTEMPTS = 20

_Batch = list[dict[str, Any]]


async def load(
    store: str,
    tables: Iterable[dict[str, Any]],
    puts: Iterable[dict[str, Any]],
    progress: Callable[[int], None],
) -> None:
    """Create the tables and put the items at the endpoint `store`; `progress(n)` after each n items.

    Raises ServiceError where the store refuses, OSError where it cannot be reached.
    """
    connections = [Connection(store) for _ in range(_CONNECTIONS)]
    try:
        for table in tables:
            await _create(connections[0], table)
        source = _batches(puts)
        await asyncio.gather(*(_write(connection, source, progress) for connection in connections))
    finally:
        for connection in connections:
            connection.close()


async def _create(connection: Connection, table: dict[str, Any]) -> None:
    try:
        await connection.call("CreateTable", table)
    except ServiceError as error:
        if error.code != "ResourceInUseException":
            raise


def _batches(puts: Iterable[dict[str, Any]]) -> Iterator[_Batch]:
    source = iter(puts)
    while batch := list(islice(source, _BATCH)):
        yield batch


async def _write(connection: Connection, source: Iterator[_Batch], progress: Callable[[int], None]) -> None:
    for batch in source:
        wanted: dict[str, list[dict[str, Any]]] = {}
        for put in batch:
            wanted.setdefault(put["TableName"], []).append({"PutRequest": {"Item": put["Item"]}})
        for _ in range(_ATTEMPTS):
            answer = await connection.call("BatchWriteItem", {"RequestItems": wanted})
            wanted = answer.get("UnprocessedItems") or {}
            if not wanted:
                break
        else:
            raise ServiceError(
                "ProvisionedThroughputExceededException",
                f"the store left items unprocessed {_ATTEMPTS} times in a row",
            )
        progress(len(batch))
