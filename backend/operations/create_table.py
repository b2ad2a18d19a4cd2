"""CreateTable: a new, empty table with its indexes.

Rules: `backend.validation.declarations` has judged keys, indexes and capacity; what is left is whether the
name is free. The answer always says CREATING, however short that lasts.
Public source: DynamoDB API Reference, "CreateTable".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.operations.control_plane import description, merged_tags
from backend.protocol import Request, Response
from backend.tables.definitions import definition_of

if TYPE_CHECKING:
    from backend.engine import Engine


def validate(request: Request) -> None:
    merged_tags({}, request.get("Tags") or ())


def run(engine: Engine, request: Request, plan: None) -> Response:
    name = engine.catalog.name_of(request["TableName"])
    table = engine.catalog.create(definition_of({**request, "TableName": name}))
    stream = request.get("StreamSpecification")
    if stream is not None and stream["StreamEnabled"]:
        engine.streams.enable(table, stream["StreamViewType"])
    if engine.limiter is not None:
        engine.limiter.adapt(table)
    return {"TableDescription": description(engine, table, "CREATING")}
