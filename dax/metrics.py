"""Counters of one node under their CloudWatch names: plain integers here, exported when somebody asks.

Names and meanings: "DAX metrics and dimensions" in the DynamoDB developer guide. ThrottledRequestCount
counts what the node itself refuses for lack of capacity, never the store's throttling; a node has no limit
of its own yet, so it is 0. CPUUtilization belongs to a machine and is not kept here.
"""

from __future__ import annotations

from backend.errors import ServiceError

OPERATIONS = (
    "GetItem",
    "BatchGetItem",
    "Query",
    "Scan",
    "TransactGetItems",
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "BatchWriteItem",
    "TransactWriteItems",
)


class Metrics:
    """What happened since the node started.

    item_, query_ and scan_ hits and misses count look-ups: a BatchGetItem counts each of its keys.
    requests counts what clients sent, by operation; writes that a replica forwards, and their failures, count
    at the replica.
    client_connections, network_bytes_in and network_bytes_out are kept by the wires.
    """

    __slots__ = (
        "client_connections",
        "errors",
        "faults",
        "item_hits",
        "item_misses",
        "network_bytes_in",
        "network_bytes_out",
        "query_hits",
        "query_misses",
        "requests",
        "scan_hits",
        "scan_misses",
        "throttled",
    )

    def __init__(self) -> None:
        self.item_hits = 0
        self.item_misses = 0
        self.query_hits = 0
        self.query_misses = 0
        self.scan_hits = 0
        self.scan_misses = 0
        self.requests: dict[str, int] = dict.fromkeys(OPERATIONS, 0)
        self.errors = 0
        self.faults = 0
        self.throttled = 0
        self.client_connections = 0
        self.network_bytes_in = 0
        self.network_bytes_out = 0

    def count_failure(self, error: ServiceError) -> None:
        """A request ends in `error`: the caller's (4xx) or ours (5xx)."""
        if error.status >= 500:
            self.faults += 1
        else:
            self.errors += 1

    def export(self, *, database_bytes: int, evicted_bytes: int, capacity_bytes: int) -> dict[str, float]:
        """Everything by its CloudWatch name; the arguments are what only the caches know."""
        exported: dict[str, float] = {
            "ItemCacheHits": self.item_hits,
            "ItemCacheMisses": self.item_misses,
            "QueryCacheHits": self.query_hits,
            "QueryCacheMisses": self.query_misses,
            "ScanCacheHits": self.scan_hits,
            "ScanCacheMisses": self.scan_misses,
            "TotalRequestCount": sum(self.requests.values()),
            "ErrorRequestCount": self.errors,
            "FaultRequestCount": self.faults,
            "FailedRequestCount": self.errors + self.faults,
            "ThrottledRequestCount": self.throttled,
            "ClientConnections": self.client_connections,
            "NetworkBytesIn": self.network_bytes_in,
            "NetworkBytesOut": self.network_bytes_out,
            "EstimatedDbSize": database_bytes,
            "EvictedSize": evicted_bytes,
            "CacheMemoryUtilization": 100.0 * database_bytes / capacity_bytes if capacity_bytes else 0.0,
        }
        for operation, count in self.requests.items():
            exported[f"{operation}RequestCount"] = count
        return exported
