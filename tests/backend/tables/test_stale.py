"""Reads of a state that lags behind: how old, how steady, and which reads are never stale."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.settings import StaleReadSettings
from backend.storage.memory import MemoryStorage
from backend.tables.stale import RememberingStorage, StaleView

KEY = {"TableName": "orders", "Key": {"pk": {"S": "a"}}}


class Draws:
    """Entropy whose next shares of the lag a test sets: 0 is fresh, 255 almost the whole lag."""

    def __init__(self):
        self.share = 0

    def __call__(self, count):
        return bytes([self.share]) * count


@pytest.fixture
def lagging(new_store, index_of):
    """A store whose eventually consistent reads lag up to ten seconds, with a table of one item."""

    def build(**settings):
        store = new_store(settings={"stale_reads": StaleReadSettings(lag=10.0, **settings)})
        store.create(
            "orders",
            "pk:S",
            "n:N",
            attributes=("status:S",),
            LocalSecondaryIndexes=[index_of("by-status", "pk", "status", "KEYS_ONLY")],
            GlobalSecondaryIndexes=[index_of("all-by-status", "status")],
        )
        draws = Draws()
        replicas = store.engine.catalog.get("orders").items.replicas
        replicas._entropy = draws
        return store, draws

    return build


def _put(store, n, status):
    item = {"pk": {"S": "a"}, "n": {"N": str(n)}, "status": {"S": status}, "more": {"S": "x"}}
    store("PutItem", TableName="orders", Item=item)


def _get(store, n, **more):
    answer = store("GetItem", TableName="orders", Key={"pk": {"S": "a"}, "n": {"N": str(n)}}, **more)
    return answer.get("Item", {}).get("status", {}).get("S")


def _query(store, **more):
    found = store(
        "Query",
        TableName="orders",
        KeyConditionExpression="pk = :a",
        ExpressionAttributeValues={":a": {"S": "a"}},
        **more,
    )
    return [(item["n"]["N"], item["status"]["S"]) for item in found["Items"]]


def test_off_reads_see_every_write(store):
    store.create("orders", "pk:S", "n:N")
    _put(store, 1, "open")
    assert _get(store, 1) == "open"


def test_an_eventually_consistent_read_may_miss_a_recent_write_and_a_consistent_one_never(lagging, clock):
    store, draws = lagging()
    _put(store, 1, "open")
    clock.advance(20)
    _put(store, 1, "closed")
    clock.advance(5)
    draws.share = 255
    assert _get(store, 1) == "open"
    assert _get(store, 1, ConsistentRead=True) == "closed"
    draws.share = 0
    assert _get(store, 1) == "closed"
    draws.share = 255
    clock.advance(5)
    assert _get(store, 1) == "closed", "nothing is older than the lag"


def test_inserts_and_deletes_lag_in_every_kind_of_read(lagging, clock):
    store, draws = lagging()
    _put(store, 1, "open")
    _put(store, 2, "open")
    clock.advance(20)
    store("DeleteItem", TableName="orders", Key={"pk": {"S": "a"}, "n": {"N": "1"}})
    _put(store, 3, "open")
    draws.share = 255
    stale, fresh = [("1", "open"), ("2", "open")], [("2", "open"), ("3", "open")]
    assert _query(store) == stale
    assert _query(store, ScanIndexForward=False) == stale[::-1]
    assert _query(store, ConsistentRead=True) == fresh
    assert store("Scan", TableName="orders")["Count"] == 2
    assert store("Scan", TableName="orders", ConsistentRead=True)["Items"][1]["n"] == {"N": "3"}
    keys = [{"pk": {"S": "a"}, "n": {"N": str(n)}} for n in (1, 3)]
    batch = store("BatchGetItem", RequestItems={"orders": {"Keys": keys}})["Responses"]["orders"]
    assert [item["n"]["N"] for item in batch] == ["1"]
    gets = [{"Get": {"TableName": "orders", "Key": key}} for key in keys]
    transacted = store("TransactGetItems", TransactItems=gets)["Responses"]
    assert [bool(one) for one in transacted] == [False, True]
    selected = store("ExecuteStatement", Statement="SELECT * FROM orders WHERE pk = 'a' AND n = 3")
    assert selected["Items"] == []


def test_an_index_lags_with_the_items_behind_its_rows(lagging, clock):
    store, draws = lagging()
    _put(store, 1, "open")
    clock.advance(20)
    _put(store, 1, "closed")
    draws.share = 255
    asked = {"IndexName": "by-status", "Select": "ALL_ATTRIBUTES"}
    assert _query(store, **asked) == [("1", "open")]
    assert _query(store, **asked, ConsistentRead=True) == [("1", "closed")]
    by_status = {
        "TableName": "orders",
        "IndexName": "all-by-status",
        "KeyConditionExpression": "#s = :s",
        "ExpressionAttributeNames": {"#s": "status"},
    }
    assert store("Query", **by_status, ExpressionAttributeValues={":s": {"S": "open"}})["Count"] == 1
    assert store("Query", **by_status, ExpressionAttributeValues={":s": {"S": "closed"}})["Count"] == 0


def test_writes_and_conditions_judge_the_current_item(lagging, clock):
    store, draws = lagging()
    _put(store, 1, "open")
    clock.advance(20)
    _put(store, 1, "closed")
    draws.share = 255
    answer = store(
        "UpdateItem",
        TableName="orders",
        Key={"pk": {"S": "a"}, "n": {"N": "1"}},
        UpdateExpression="SET seen = #s",
        ConditionExpression="#s = :closed",
        ExpressionAttributeNames={"#s": "status"},
        ExpressionAttributeValues={":closed": {"S": "closed"}},
        ReturnValues="ALL_NEW",
    )
    assert answer["Attributes"]["seen"] == {"S": "closed"}


@pytest.mark.parametrize("monotonic", [True, False])
def test_monotonic_reads_never_go_back(lagging, clock, monotonic):
    store, draws = lagging(monotonic=monotonic)
    _put(store, 1, "open")
    clock.advance(20)
    _put(store, 1, "closed")
    clock.advance(1)
    draws.share = 0
    assert _get(store, 1) == "closed"
    draws.share = 255
    assert _get(store, 1) == ("closed" if monotonic else "open")


def test_the_same_entropy_gives_the_same_reads(new_store, clock):
    def run():
        clock.time = 1_700_000_000.0
        store = new_store(settings={"stale_reads": StaleReadSettings(lag=10.0)})
        store.create("orders", "pk:S", "n:N")
        seen = []
        for n in range(30):
            _put(store, n % 3, f"v{n}")
            clock.advance(1)
            seen.append(_get(store, n % 3))
        return seen

    assert run() == run()


CHANGES = st.lists(
    st.tuples(
        st.floats(0, 3), st.sampled_from([b"\x01a", b"\x50b", b"\xf0c"]), st.one_of(st.none(), st.integers())
    ),
    max_size=40,
)


@given(CHANGES, st.floats(0, 10), st.booleans())
def test_a_view_is_a_state_that_has_been(changes, age, reverse):
    """Against every state there has been, kept whole."""
    time = [0.0]
    storage = RememberingStorage(
        MemoryStorage(), lambda: time[0], lambda n: bytes(n), StaleReadSettings(lag=10.0, partitions=1)
    )
    rows = storage.open("table/items")
    states = [(float("-inf"), {})]
    for wait, key, value in changes:
        time[0] += wait
        state = dict(states[-1][1])
        with storage.transaction():
            if value is None:
                rows.delete(key)
                state.pop(key, None)
            else:
                rows.put(key, ({"n": {"N": str(value)}}, 8))
                state[key] = ({"n": {"N": str(value)}}, 8)
        states.append((time[0], state))
    moment = time[0] - age
    moments = rows.replicas.moments()
    moments._drawn = {0: moment}
    rows._forget()
    view = StaleView(rows, moments)
    wanted = [state for at, state in states if at <= moment][-1]
    if moment > time[0] - 10.0 or age == 0:
        assert list(view.range(reverse=reverse)) == sorted(wanted.items(), reverse=reverse)
        assert {key: view.get(key) for key in wanted} == wanted
