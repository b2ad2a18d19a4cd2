from backend.errors import ServiceError
from dax.metrics import OPERATIONS, Metrics


def test_counters_are_exported_under_their_cloudwatch_names():
    metrics = Metrics()
    metrics.item_hits, metrics.scan_misses = 3, 2
    metrics.requests["Query"] = 4
    metrics.count_failure(ServiceError("ValidationException", "no"))
    metrics.count_failure(ServiceError("InternalServerError", "no", status=500))
    exported = metrics.export(database_bytes=50, evicted_bytes=7, capacity_bytes=200)
    assert exported["ItemCacheHits"] == 3
    assert exported["ScanCacheMisses"] == 2
    assert exported["TotalRequestCount"] == exported["QueryRequestCount"] == 4
    failed = [exported[f"{kind}RequestCount"] for kind in ("Error", "Fault", "Failed")]
    assert failed == [1, 1, 2]
    assert (exported["EvictedSize"], exported["CacheMemoryUtilization"]) == (7, 25.0)
    assert {f"{operation}RequestCount" for operation in OPERATIONS} <= set(exported)


def test_a_node_without_cache_is_not_utilised():
    assert (
        Metrics().export(database_bytes=0, evicted_bytes=0, capacity_bytes=0)["CacheMemoryUtilization"] == 0
    )
