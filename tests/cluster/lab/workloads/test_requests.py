from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from backend.model.sizes import MAX_ITEM_BYTES, item_size
from cluster.lab.workloads.requests import Shape, accesses, puts, requests, survey, tables
from cluster.lab.workloads.traces import Trace, open_trace

CSV = "op,key,size\nget,a,\nput,b,1000\nget,a,500\ndelete,c,\nget,d,9999999\n"


@pytest.fixture
def mixed(tmp_path: Path) -> Trace:
    (tmp_path / "mixed.csv").write_text(CSV)
    return open_trace(tmp_path / "mixed.csv")


@pytest.fixture
def web(fixture_trace: Path) -> Trace:
    return open_trace(fixture_trace)


def test_each_access_is_a_request(mixed: Trace) -> None:
    sent = list(requests(mixed, Shape()))
    assert [each.operation for each in sent] == ["GetItem", "PutItem", "GetItem", "DeleteItem", "GetItem"]
    assert sent[0].request == {"TableName": "trace", "Key": {"pk": {"S": "a"}}}
    assert sent[3].request == {"TableName": "trace", "Key": {"pk": {"S": "c"}}}


def test_items_are_as_large_as_the_trace_says(mixed: Trace) -> None:
    shape = Shape(item_size=300)
    sizes = {
        put["Item"]["pk"]["S"]: item_size(put["Item"]) for put in puts(mixed, survey(mixed, shape), shape)
    }
    assert sizes == {"a": 500, "b": 1000, "c": 300, "d": MAX_ITEM_BYTES}


def test_a_survey_counts_what_will_be_sent(web: Trace) -> None:
    found = survey(web, Shape(limit=1000))
    assert found.requests == sum(1 for _ in requests(web, Shape(limit=1000))) == 1000
    assert found.keys == len({access.key for access in accesses(web, Shape(limit=1000))})


def test_there_is_a_table_for_every_address(web: Trace) -> None:
    found = survey(web, Shape())
    names = {create["TableName"] for create in tables(web, found.sizes)}
    assert names == {web.format.address(key).table for key in found.sizes}


def test_the_seed_chooses_the_writes(web: Trace) -> None:
    shape = Shape(write_fraction=0.2, seed=7)
    first, second = (list(requests(web, shape)) for _ in range(2))
    assert first == second
    assert first != list(requests(web, replace(shape, seed=8)))
    operations = Counter(each.operation for each in first)
    assert operations["PutItem"] / len(first) == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize(("fraction", "operation"), [(0.0, "GetItem"), (1.0, "PutItem")])
def test_the_ends_of_the_write_fraction(web: Trace, fraction: float, operation: str) -> None:
    shape = Shape(limit=500, write_fraction=fraction)
    assert {each.operation for each in requests(web, shape)} == {operation}


def test_reads_only_sends_nothing_else(mixed: Trace) -> None:
    assert {each.operation for each in requests(mixed, Shape(reads_only=True))} == {"GetItem"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"limit": 0}, "limit must be 1 or more"),
        ({"write_fraction": 1.1}, "write_fraction must be between 0 and 1"),
        ({"item_size": 0}, "item_size must be between 1 and"),
        ({"reads_only": True, "write_fraction": 0.1}, "exclude each other"),
    ],
)
def test_a_shape_that_makes_no_sense_is_refused(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Shape(**wrong)  # type: ignore[arg-type]
