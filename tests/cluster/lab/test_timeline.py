from __future__ import annotations

from cluster.lab.history import HistoryRecorder
from cluster.lab.timeline import timeline


def lines(act):
    time = [0.0]
    recorder = HistoryRecorder(lambda: time[0])

    def pass_time(seconds):
        time[0] += seconds

    act(recorder, pass_time)
    return [" ".join(line.split()) for line in timeline(recorder.history)]


def read(recorder, client, **told):
    request = {"TableName": "Things", "Key": {"k": {"S": "x"}}}
    number = recorder.invoke(client, "node-2", "GetItem", request)
    recorder.complete("ok", number, **{"node": "node-2", "served_from": "item-cache", **told})


def test_a_line_tells_when_who_what_where_and_why():
    def act(recorder, pass_time):
        pass_time(1.5)
        item = {"Item": {"k": {"S": "x"}, "v": {"N": "3"}}}
        read(recorder, "alice", response=item, age=0.25)
        read(recorder, "bob", response={}, served_from="store", miss="expired")

    assert lines(act) == [
        "1.500 s #1 alice GetItem node-2 k=x v=3 [item-cache, 0.25 s old]",
        "1.500 s #2 bob GetItem node-2 k=x no item [store, expired]",
    ]


def test_a_forwarded_write_and_a_refusal():
    def act(recorder, pass_time):
        request = {
            "TableName": "Things",
            "Key": {"k": {"S": "x"}},
            "UpdateExpression": "SET #v = #v + :one",
            "ExpressionAttributeNames": {"#v": "v"},
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
        first = recorder.invoke("alice", "node-2", "UpdateItem", request)
        second = recorder.invoke("alice", "node-2", "UpdateItem", request)
        recorder.complete("fail", second, error="ConditionalCheckFailedException")
        recorder.complete("ok", first, node="node-1", response={})

    assert lines(act) == [
        "0.000 s #2 alice UpdateItem node-2 k=x refused: ConditionalCheckFailedException",
        "0.000 s #1 alice UpdateItem node-2 > node-1 k=x SET v = v + 1",
    ]


def test_faults_notes_and_passing_time():
    def act(recorder, pass_time):
        recorder.fault("throttle_store", writes=2)
        recorder.note("Look.")
        recorder.fault("advance", seconds=300)
        pass_time(300)
        recorder.fault("hold_replication")
        recorder.fault("advance", seconds=365 * 86400)

    assert lines(act) == [
        "0.000 s -- throttle store: writes 2 --",
        "Look.",
        "0.000 s -- 300 s pass --",
        "300.000 s -- hold replication --",
        "300.000 s -- 365 days pass --",
    ]


def test_many_alike_become_one_line():
    def act(recorder, pass_time):
        for _ in range(5):
            read(recorder, "alice", response={})

    assert lines(act) == ["0.000 s #1-5 alice GetItem node-2 Things 5 of them [item-cache]"]
