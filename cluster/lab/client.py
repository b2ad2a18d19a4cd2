"""A client as a story sees it: one operation at a time, typed items, and where each answer came from.

Rules of this file:

* `Client` records every invocation and completion; a story cannot ask without leaving a trace;
* what carries the request is a `Connection`: boto3 on a socket when live, a call in memory when simulated;
* nothing here retries. A refused request is a fact that the story is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from backend.errors import ServiceError
from cluster.lab.history import HistoryRecorder


@dataclass(frozen=True, slots=True)
class Reply:
    """The response of an operation, with what the answering node said of it."""

    response: Mapping[str, Any]
    node: str | None = None
    served_from: str | None = None
    age: float | None = None
    miss: str | None = None

    @property
    def item(self) -> Mapping[str, Any] | None:
        """The item of a GetItem, typed."""
        return self.response.get("Item")


class Unreachable(ConnectionError):
    """No answer came: whether the operation happened is unknown."""


class Connection(Protocol):
    """The way from one client to one node, to the cluster, or to the store."""

    async def call(self, operation: str, request: Mapping[str, Any]) -> Reply:
        """Raises ServiceError for a refusal, Unreachable when no answer comes."""
        ...


class Client:
    """A named client. Each method is a DynamoDB operation with botocore's parameter names.

        reply = await alice.get_item(TableName="ProductCatalog", Key={"Id": {"N": "101"}})

    Raises ServiceError when the operation is refused, and Unreachable when no answer comes.
    """

    def __init__(self, name: str, through: str, connection: Connection, recorder: HistoryRecorder) -> None:
        self.name = name
        self.through = through
        self._connection = connection
        self._recorder = recorder

    async def call(self, operation: str, request: Mapping[str, Any]) -> Reply:
        """Run one operation by its name, and record it."""
        number = self._recorder.invoke(self.name, self.through, operation, request)
        try:
            reply = await self._connection.call(operation, request)
        except ServiceError as error:
            # A 5xx does not say whether the write had happened.
            outcome = "fail" if error.status < 500 else "info"
            self._recorder.complete(
                outcome, number, error=error.code, message=error.message, reason=_reason(error)
            )
            raise
        except Unreachable as error:
            self._recorder.complete("info", number, error="Unreachable", message=str(error))
            raise
        self._recorder.complete(
            "ok",
            number,
            response=reply.response,
            node=reply.node,
            served_from=reply.served_from,
            age=reply.age,
            miss=reply.miss,
        )
        return reply

    async def create_table(self, **request: Any) -> Reply:
        return await self.call("CreateTable", request)

    async def get_item(self, **request: Any) -> Reply:
        return await self.call("GetItem", request)

    async def batch_get_item(self, **request: Any) -> Reply:
        return await self.call("BatchGetItem", request)

    async def put_item(self, **request: Any) -> Reply:
        return await self.call("PutItem", request)

    async def update_item(self, **request: Any) -> Reply:
        return await self.call("UpdateItem", request)

    async def delete_item(self, **request: Any) -> Reply:
        return await self.call("DeleteItem", request)

    async def batch_write_item(self, **request: Any) -> Reply:
        return await self.call("BatchWriteItem", request)

    async def query(self, **request: Any) -> Reply:
        return await self.call("Query", request)

    async def scan(self, **request: Any) -> Reply:
        return await self.call("Scan", request)

    async def update_table(self, **request: Any) -> Reply:
        return await self.call("UpdateTable", request)

    async def transact_get_items(self, **request: Any) -> Reply:
        return await self.call("TransactGetItems", request)

    async def transact_write_items(self, **request: Any) -> Reply:
        return await self.call("TransactWriteItems", request)


def _reason(error: ServiceError) -> str | None:
    """Which limit a throttled request was over, such as `TableWriteKeyRangeThroughputExceeded`."""
    reasons = error.fields.get("ThrottlingReasons") or error.fields.get("throttlingReasons")
    return reasons[0]["reason"] if reasons else None
