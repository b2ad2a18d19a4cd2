"""One file an operation: what it validates and what it does.

Each file has two functions and nothing else public:

* `validate(request)` judges what can be judged without a table, in the service's order: attribute values,
  then expressions. It returns a plan, whatever `run` needs of that work, or None. It runs after
  `backend.validation` has checked types and constraints.
* `run(engine, request, plan)` finds the table, judges the rest and acts. It changes nothing unless it
  succeeds.

`features_off` holds the operations that only tell of what is not there. `registry()` is how the engine finds
them all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from backend.operations.features_off import DESCRIBED
from backend.protocol import Request, Response

if TYPE_CHECKING:
    from backend.engine import Engine


class Operation(Protocol):
    """What a file of this package looks like to the engine."""

    def validate(self, request: Request) -> Any: ...

    def run(self, engine: Engine, request: Request, plan: Any) -> Response: ...


_FILES = {
    "CreateTable": "create_table",
    "DescribeTable": "describe_table",
    "ListTables": "list_tables",
    "UpdateTable": "update_table",
    "DeleteTable": "delete_table",
    "TagResource": "tag_resource",
    "UntagResource": "untag_resource",
    "ListTagsOfResource": "list_tags_of_resource",
    "UpdateTimeToLive": "update_time_to_live",
    "DescribeTimeToLive": "describe_time_to_live",
    "DescribeLimits": "describe_limits",
    "DescribeEndpoints": "describe_endpoints",
    "GetItem": "get_item",
    "PutItem": "put_item",
    "UpdateItem": "update_item",
    "DeleteItem": "delete_item",
    "Query": "query",
    "Scan": "scan",
    "BatchGetItem": "batch_get_item",
    "BatchWriteItem": "batch_write_item",
    "TransactGetItems": "transact_get_items",
    "TransactWriteItems": "transact_write_items",
    "ExecuteStatement": "execute_statement",
    "BatchExecuteStatement": "batch_execute_statement",
    "ExecuteTransaction": "execute_transaction",
    "ListStreams": "list_streams",
    "DescribeStream": "describe_stream",
    "GetShardIterator": "get_shard_iterator",
    "GetRecords": "get_records",
}


def registry() -> dict[str, Operation]:
    """Every operation that this store offers, by its name in the service's model."""
    found: dict[str, Operation] = {
        name: import_module(f"backend.operations.{file}") for name, file in _FILES.items()
    }
    return {**found, **DESCRIBED}
