"""`daxsim demo`: output, exit codes, and the same bytes for the same seed."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys

import pytest

from cluster.cli.main import run
from cluster.lab.history import History
from cluster.lab.scenarios import CAPACITY_STORIES, STORIES


@pytest.fixture
def daxsim(capsys):
    """Run a command line in this process: exit code, standard output, standard error."""

    def command(*arguments):
        code = run(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command


def test_list_names_every_story(daxsim):
    code, out, _ = daxsim("demo", "list")
    assert code == 0
    names = [story.name for story in (*STORIES, *CAPACITY_STORIES)]
    assert [line.split()[0] for line in out.splitlines() if line.startswith(" ")] == names
    assert [line for line in out.splitlines() if not line.startswith(" ")] == ["consistency:", "capacity:"]
    code, out, _ = daxsim("demo", "list", "--json")
    assert [entry["name"] for entry in json.loads(out)] == names


@pytest.mark.sim
def test_a_story_is_told_with_its_verdict(daxsim):
    code, out, _ = daxsim("demo", "write-around", "--simulated")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "write-around: Alice writes through the cache, Bob around it"
    assert any("#5 alice" in line and "Price=500  [item-cache, 0 s old]" in line for line in lines)
    assert any("-- 301 s pass --" in line for line in lines)
    assert lines[-2].startswith("PASSED  ")


@pytest.mark.sim
def test_a_broken_expectation_prints_failed_with_the_contradiction_and_exits_1(daxsim):
    code, out, _ = daxsim("demo", "product-catalogue", "--simulated", "--set", "item_ttl=300")
    assert code == 1
    assert "FAILED" in out
    assert "but at 770.025 s it returned an item, node-2, store, miss: expired" in " ".join(out.split())


@pytest.mark.sim
def test_json_gives_an_object_a_story(daxsim):
    code, out, _ = daxsim("demo", "all", "--simulated", "--json", "--seed", "3")
    reports = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [report["story"] for report in reports] == [story.name for story in STORIES]
    assert all(report["passed"] and report["seed"] == 3 for report in reports)
    assert all(finding["evidence"] for report in reports for finding in report["findings"])


@pytest.mark.sim
def test_a_group_is_played_by_its_name_and_the_price_is_as_given(daxsim):
    code, out, _ = daxsim("demo", "capacity", "--simulated", "--json", "--write-price", "1.25")
    reports = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [report["story"] for report in reports] == [story.name for story in CAPACITY_STORIES]
    claims = [finding["claim"] for report in reports for finding in report["findings"]]
    assert "a million updates of three index keys cost $8.75, and $1.25 without indexes" in claims


@pytest.mark.sim
def test_all_simulated_takes_seconds_and_prints_the_same_bytes_in_any_process(tmp_path):
    def in_a_process(hash_seed):
        history = tmp_path / f"{hash_seed}.jsonl"
        arguments = ["demo", "all", "--simulated", "--seed", "7", "--history", str(history)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = subprocess.run(
            [sys.executable, "-m", "cluster.cli.main", *arguments],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        # The processor's time: what others do on this machine is not the simulation's.
        assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 5
        assert result.stderr == b""
        return result.stdout, history.read_bytes()

    first, second = in_a_process("1"), in_a_process("2")
    assert first == second
    assert b"13 of 13 stories passed" in first[0]
    runs = [event for event in History.decode(first[1]).events if event["type"] == "run"]
    assert [event["story"] for event in runs] == [story.name for story in STORIES]


@pytest.mark.live
def test_a_story_live_with_its_history(daxsim, tmp_path):
    history = tmp_path / "history.jsonl"
    code, out, _ = daxsim("demo", "strong-read", "--history", str(history))
    assert code == 0
    assert "PASSED" in out
    first, *rest = History.decode(history.read_bytes()).events
    assert (first["type"], first["runtime"], first["schema"]) == ("run", "live", 1)
    assert {event["type"] for event in rest} == {"invoke", "ok", "note"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nonesuch"], 2, "no story 'nonesuch'; there are product-catalogue"),
        (["write-around", "--set", "ttl=3"], 2, "no such setting: ttl"),
        (["write-around", "--set", "item_ttl=-3"], 2, "item_ttl must be a number of seconds"),
        (["write-around", "--set", "item_ttl=soon"], 2, "'item_ttl=soon' is not NAME=NUMBER"),
        (["write-around", "--set", "item_ttl"], 2, "'item_ttl' is not NAME=NUMBER"),
        (["write-around", "--set", 'region="x"'], 2, "is not NAME=NUMBER"),
        (["write-around", "--set", "nodes=2.5"], 2, "nodes must be a whole number, not 2.5"),
        (["write-around", "--set", "port=8111"], 2, "port is the same in every story"),
        (["two-nodes-disagree", "--simulated", "--set", "nodes=1"], 1, "no node 'node-2'"),
        (["write-around", "--seed", "x"], 2, "not a valid integer"),
        (["write-around", "--simulated", "--history", "/nowhere/h.jsonl"], 1, "/nowhere/h.jsonl"),
    ],
)
def test_what_makes_no_sense_is_one_line(daxsim, arguments, code, message):
    got, out, err = daxsim("demo", *arguments)
    assert (got, out) == (code, "")
    assert message in err
    assert err.count("\n") == 1
