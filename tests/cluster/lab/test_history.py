from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.lab.history import History, HistoryRecorder, plain

SCALARS = st.one_of(
    st.builds(lambda text: {"S": text}, st.text(max_size=5)),
    st.builds(lambda number: {"N": str(number)}, st.integers()),
    st.builds(lambda data: {"B": data}, st.binary(max_size=5)),
    st.builds(lambda data: {"BS": data}, st.lists(st.binary(max_size=5), max_size=3)),
    st.builds(lambda flag: {"BOOL": flag}, st.booleans()),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.builds(lambda members: {"L": members}, st.lists(inner, max_size=3)),
        st.builds(lambda members: {"M": members}, st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    ),
    max_leaves=8,
)


class Clock:
    def __init__(self):
        self.time = 1000.0

    def now(self):
        return self.time


@pytest.fixture
def clock():
    return Clock()


def test_an_operation_is_an_invocation_with_its_completion(clock):
    recorder = HistoryRecorder(clock.now)
    get = recorder.invoke("alice", "node-1", "GetItem", {"TableName": "Things", "Key": {"k": {"S": "x"}}})
    clock.time += 1.5
    put = recorder.invoke("bob", "store", "PutItem", {"TableName": "Things", "Item": {"k": {"S": "x"}}})
    recorder.complete(
        "ok", get, response={"Item": {"v": {"N": "3"}}}, node="node-1", served_from="item-cache", age=2.0
    )
    recorder.complete("fail", put, error="ThrottlingException", message="slow down")
    recorder.invoke("carol", "cluster", "Scan", {"TableName": "Things"})
    first, second, third = recorder.history.operations()
    assert (first.invoked, first.completed, first.outcome) == (0.0, 1.5, "ok")
    assert (first.item, first.served_from, first.age, first.miss) == ({"v": 3}, "item-cache", 2.0, None)
    assert (second.outcome, second.error, second.item) == ("fail", "ThrottlingException", None)
    assert (third.outcome, third.completed, third.table) == (None, None, "Things")
    assert str(second) == "#2 (bob's PutItem)"
    assert recorder.history.of("alice", "GetItem")[0].id == 1
    assert recorder.history.of("alice", "PutItem") == []


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=4))
def test_a_history_survives_its_file(item):
    clock = Clock()
    recorder = HistoryRecorder(clock.now)
    number = recorder.invoke("alice", "node-1", "PutItem", {"TableName": "Things", "Item": item})
    recorder.complete("ok", number, response={"Attributes": item})
    history = recorder.history
    decoded = History.decode(history.encode())
    assert decoded.events == history.events
    assert decoded.encode() == history.encode()


def test_a_file_of_several_runs_is_split(clock):
    recorder = HistoryRecorder(clock.now)
    for name in ("one", "two"):
        recorder.run(story=name)
        recorder.note(name)
    runs = recorder.history.runs()
    assert [[event.get("story") or event["text"] for event in run.events] for run in runs] == [
        ["one", "one"],
        ["two", "two"],
    ]


def test_plain_values_compare_as_a_reader_expects():
    item = {
        "n": {"N": "42"},
        "d": {"N": "1.5"},
        "s": {"S": "x"},
        "set": {"SS": ["b", "a"]},
        "ns": {"NS": ["10", "9"]},
        "l": {"L": [{"BOOL": True}, {"NULL": True}]},
        "m": {"M": {"n": {"N": "-1"}}},
    }
    assert plain(item) == {
        "n": 42,
        "d": 1.5,
        "s": "x",
        "set": ["a", "b"],
        "ns": [9, 10],
        "l": [True, None],
        "m": {"n": -1},
    }
