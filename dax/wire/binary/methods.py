"""The methods of the protocol: their ids, what follows them, and the operation they stand for. One table.

A request is `1`, the method id and a fixed number of items; a successful answer `80` and a fixed number of
items. Neither carries a length, so that both sides must know these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

SERVICE = 1


@dataclass(frozen=True, slots=True)
class Method:
    """One row of the table.

    arguments: items behind the method id. results: items behind the success marker; None: never answered.
    operation: the DynamoDB operation it carries, None for the protocol's own methods.
    """

    name: str
    id: int
    arguments: int
    results: int | None
    operation: str | None = None

    def __repr__(self) -> str:
        return f"Method({self.name})"


AUTHORIZE = Method("authorizeConnection", 1489122155, 5, None)
ENDPOINTS = Method("endpoints", 455855874, 0, 1)
DEFINE_KEY_SCHEMA = Method("defineKeySchema", -742646399, 1, 1)
DEFINE_ATTRIBUTE_LIST_ID = Method("defineAttributeListId", -1230579644, 1, 1)
DEFINE_ATTRIBUTE_LIST = Method("defineAttributeList", 670678385, 1, 1)
GET_ITEM = Method("getItem", 263244906, 3, 1, "GetItem")
PUT_ITEM = Method("putItem", -2106490455, 4, 1, "PutItem")
UPDATE_ITEM = Method("updateItem", 1425579023, 3, 1, "UpdateItem")
DELETE_ITEM = Method("deleteItem", 1013539361, 3, 1, "DeleteItem")
QUERY = Method("query", -931250863, 3, 1, "Query")
SCAN = Method("scan", -1875390620, 2, 1, "Scan")
BATCH_GET_ITEM = Method("batchGetItem", -697851100, 2, 2, "BatchGetItem")
BATCH_WRITE_ITEM = Method("batchWriteItem", 116217951, 2, 3, "BatchWriteItem")
TRANSACT_GET_ITEMS = Method("transactGetItems", 1866287579, 4, 1, "TransactGetItems")
TRANSACT_WRITE_ITEMS = Method("transactWriteItems", -1160037738, 9, 1, "TransactWriteItems")

ALL = (
    AUTHORIZE,
    ENDPOINTS,
    DEFINE_KEY_SCHEMA,
    DEFINE_ATTRIBUTE_LIST_ID,
    DEFINE_ATTRIBUTE_LIST,
    GET_ITEM,
    PUT_ITEM,
    UPDATE_ITEM,
    DELETE_ITEM,
    QUERY,
    SCAN,
    BATCH_GET_ITEM,
    BATCH_WRITE_ITEM,
    TRANSACT_GET_ITEMS,
    TRANSACT_WRITE_ITEMS,
)

BY_ID = {method.id: method for method in ALL}

KNOWN_UNSUPPORTED = {
    785068263: "methods",
    -1016793520: "services",
    -313431286: "createTable",
    2120496185: "deleteTable",
    -819330193: "describeTable",
    383747477: "updateTable",
    1874119219: "listTables",
    -475661135: "describeLimits",
}
"""Ids that exist and that no client sends. Their arguments are not public, so they end a connection."""
