"""Streams: records of changes, their order, their images, their 24 hours."""

from __future__ import annotations

import pytest

from backend.tables.changes import TIME_TO_LIVE
from backend.tables.streams import RETENTION, Streams
from backend.tables.table import commit

A = {"pk": {"S": "a"}}
B = {"pk": {"S": "b"}}


@pytest.fixture
def streams(bench):
    return Streams(lambda: bench.time, bench.settings, bench.storage)


@pytest.fixture
def table(bench):
    return bench.create()


def records(streams, stream):
    return [record for _, record in streams.read(stream, 0)]


def names(streams, stream):
    return [record["eventName"] for record in records(streams, stream)]


def test_inserts_modifications_and_removals(bench, streams, table):
    stream = streams.enable(table, "NEW_AND_OLD_IMAGES")
    bench.write(table, "a", A)
    bench.write(table, "a", {**A, "x": {"N": "1"}})
    bench.write(table, "a", None)
    assert names(streams, stream) == ["INSERT", "MODIFY", "REMOVE"]
    insert, modify, remove = (record["dynamodb"] for record in records(streams, stream))
    assert "OldImage" not in insert
    assert insert["NewImage"] == A
    assert insert["SizeBytes"] == 6
    assert modify["OldImage"] == A  # a bare key is an image too
    assert modify["NewImage"] == {**A, "x": {"N": "1"}}
    assert "NewImage" not in remove
    assert remove["OldImage"] == {**A, "x": {"N": "1"}}
    assert all(one["Keys"] == A for one in (insert, modify, remove))


def test_the_size_is_that_of_keys_and_images(bench, streams):
    table = bench.create()
    stream = streams.enable(table, "NEW_IMAGE")
    key = {"pk": {"S": "abcd"}}  # 6 bytes: a name of two, a value of four
    bench.write(table, "abcd", key)
    assert records(streams, stream)[0]["dynamodb"]["SizeBytes"] == 12


def test_what_every_record_says(bench, streams, table):
    stream = streams.enable(table, "KEYS_ONLY")
    bench.time = 1_000.9
    bench.write(table, "a", A)
    (record,) = records(streams, stream)
    assert record["eventVersion"] == "1.1"
    assert record["eventSource"] == "aws:dynamodb"
    assert record["awsRegion"] == "us-east-1"
    assert len(record["eventID"]) == 32
    assert "userIdentity" not in record
    assert record["dynamodb"]["ApproximateCreationDateTime"] == 1_000
    assert record["dynamodb"]["StreamViewType"] == "KEYS_ONLY"


@pytest.mark.parametrize(
    ("view", "images"),
    [
        ("KEYS_ONLY", set()),
        ("NEW_IMAGE", {"NewImage"}),
        ("OLD_IMAGE", {"OldImage"}),
        ("NEW_AND_OLD_IMAGES", {"NewImage", "OldImage"}),
    ],
)
def test_views(bench, streams, table, view, images):
    bench.write(table, "a", A)
    stream = streams.enable(table, view)
    bench.write(table, "a", {**A, "x": {"N": "1"}})
    (record,) = records(streams, stream)
    assert record["dynamodb"].keys() & {"NewImage", "OldImage"} == images


def test_a_change_of_nothing_has_no_record(bench, streams, table):
    item = {**A, "s": {"SS": ["x", "y"]}}
    bench.write(table, "a", item)
    stream = streams.enable(table, "KEYS_ONLY")
    bench.write(table, "a", {**A, "s": {"SS": ["y", "x"]}})
    bench.write(table, "b", None)
    assert records(streams, stream) == []


def test_sequence_numbers_grow_as_integers(bench, streams, table):
    stream = streams.enable(table, "KEYS_ONLY")
    for number in range(12):
        bench.write(table, "a", {**A, "x": {"N": str(number)}})
    texts = [record["dynamodb"]["SequenceNumber"] for record in records(streams, stream)]
    assert all(21 <= len(text) <= 40 and text.isdigit() for text in texts)
    assert [int(text) for text in texts] == sorted({int(text) for text in texts})
    assert int(texts[0]) > stream.first_sequence


def test_an_undone_transaction_leaves_no_record(bench, streams, table):
    stream = streams.enable(table, "KEYS_ONLY")

    def refuse(change):
        if change.key == B:
            raise RuntimeError("no")

    table.observers.append(refuse)
    with pytest.raises(RuntimeError, match="no"):
        commit(bench.storage, [bench.prepare(table, "a", A), bench.prepare(table, "b", B)], bench.time)
    assert records(streams, stream) == []


def test_an_expiry_is_marked(bench, streams, table):
    bench.write(table, "a", A)
    stream = streams.enable(table, "KEYS_ONLY")
    commit(bench.storage, [bench.prepare(table, "a", None)], bench.time, TIME_TO_LIVE)
    (record,) = records(streams, stream)
    assert record["eventName"] == "REMOVE"
    assert record["userIdentity"] == {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}


def test_a_disabled_stream_records_no_more_and_stays_for_a_day(bench, streams, table):
    stream = streams.enable(table, "KEYS_ONLY")
    bench.write(table, "a", A)
    streams.disable(table)
    bench.write(table, "b", B)
    assert names(streams, stream) == ["INSERT"]
    assert stream.status == "DISABLED"
    bench.time += RETENTION - 1
    assert streams.find(stream.arn) is stream
    bench.time += 1
    assert streams.find(stream.arn) is None
    assert streams.latest(table) is None


def test_a_new_stream_has_another_name_even_in_the_same_instant(bench, streams, table):
    first = streams.enable(table, "KEYS_ONLY")
    streams.disable(table)
    second = streams.enable(table, "NEW_IMAGE")
    assert first.arn != second.arn
    assert streams.latest(table) is second
    assert streams.all(table.name) == [first, second]
    assert streams.all("other") == []


def test_the_stream_of_a_deleted_table_is_not_that_of_its_successor(bench, streams, table):
    old = streams.enable(table, "KEYS_ONLY")
    streams.disable(table)
    bench.catalog.drop(table)
    assert streams.latest(bench.create()) is None
    assert streams.find(old.arn) is old


def test_records_last_a_day(bench, streams, table):
    stream = streams.enable(table, "KEYS_ONLY")
    bench.write(table, "a", A)
    bench.time += RETENTION / 2
    bench.write(table, "b", B)
    bench.time += RETENTION / 2
    streams.trim(stream, bench.time)
    (left,) = records(streams, stream)
    assert left["dynamodb"]["Keys"] == B
    assert stream.trimmed_to == int(left["dynamodb"]["SequenceNumber"]) - 1


def test_writes_trim_a_little_and_a_tick_trims_all(bench, streams, table):
    stream = streams.enable(table, "KEYS_ONLY")
    for number in range(20):
        bench.write(table, "a", {**A, "x": {"N": str(number)}})
    bench.time += RETENTION
    bench.write(table, "b", B)
    assert len(records(streams, stream)) == 13
    streams.tick()
    assert len(records(streams, stream)) == 1


def test_numbers_go_on_after_everything_was_trimmed(bench, streams, table):
    stream = streams.enable(table, "KEYS_ONLY")
    bench.write(table, "a", A)
    last = stream.last_sequence
    bench.time += RETENTION
    streams.tick()
    bench.write(table, "b", B)
    assert stream.last_sequence == last + 1


def test_position_at_a_time(bench, streams, table):
    stream = streams.enable(table, "KEYS_ONLY")
    bench.write(table, "a", A)
    bench.time += 10
    bench.write(table, "b", B)
    position = streams.position_at(stream, bench.time - 5)
    assert [record["dynamodb"]["Keys"] for _, record in streams.read(stream, position)] == [B]
    assert streams.position_at(stream, bench.time + 1) == stream.last_sequence + 1


def test_streams_come_back_from_their_storage(bench, streams, table):
    stream = streams.enable(table, "OLD_IMAGE")
    bench.write(table, "a", A)
    table.observers.clear()
    again = Streams(lambda: bench.time, bench.settings, bench.storage)
    again.attach(table)
    bench.write(table, "b", B)
    found = again.latest(table)
    assert found == stream
    assert names(again, found) == ["INSERT", "INSERT"]
