"""`daxsim up` as a user meets it, and the commands that act on what runs."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config

from cluster.cli import main
from cluster.cli.up import _told_of_the_store
from cluster.config import ClusterConfig

Up = Callable[..., tuple[subprocess.Popen[str], dict[str, Any]]]
PRODUCT = '{"Id": {"N": "101"}}'

pytestmark = pytest.mark.live


def resource(endpoint: str) -> Any:
    return boto3.resource(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )


def is_open(endpoint: str) -> bool:
    place = urlsplit(endpoint)
    with socket.socket() as client:
        return client.connect_ex((place.hostname, place.port)) == 0


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main.run([*arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


# --- Starting and stopping ----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_cleanly_and_frees_every_port(up: Up, number: int) -> None:
    child, places = up("--nodes", "2")
    endpoints = [
        places["endpoint"],
        places["store_endpoint"],
        *(node["endpoint"] for node in places["nodes"]),
    ]
    assert len(set(endpoints)) == 4
    assert all(is_open(endpoint) for endpoint in endpoints)
    child.send_signal(number)
    out, err = child.communicate(timeout=30)
    assert (child.returncode, out, err) == (0, "", "")
    assert not any(is_open(endpoint) for endpoint in endpoints)


def test_the_end_of_its_standard_input_can_stop_it(up: Up) -> None:
    child, _ = up("--nodes", "1", "--until-eof")
    _, err = child.communicate(timeout=30)
    assert (child.returncode, err) == (0, "")


def test_a_taken_port_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, out, err = run(capsys, "up", "--port", "0", "--store-port", str(port))
    assert (code, out) == (1, "")
    assert err == (
        f"daxsim: port {port} on 127.0.0.1 is in use by another program; "
        "--host, --port and --store-port choose others\n"
    )


def test_the_first_screen_fits_a_terminal_and_its_program_runs() -> None:
    command = (sys.executable, "-m", "cluster.cli.main", "up", "--until-eof", "--sample-data")
    child = subprocess.Popen(
        (*command, "--nodes", "1", "--port", "0", "--store-port", "0"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "80", "PYTHONUNBUFFERED": "1"},
    )
    assert child.stdout is not None
    lines: list[str] = []
    while not any("Ctrl-C" in line for line in lines):
        lines.append(child.stdout.readline().rstrip())
    start = next(number for number, line in enumerate(lines) if "import boto3" in line)
    program = "\n".join(line[4:] for line in lines[start:] if line.startswith("    "))
    ran = [
        subprocess.run((sys.executable, "-c", program), capture_output=True, text=True, timeout=60)
        for _ in range(2)
    ]
    child.communicate(timeout=30)
    assert [each.stderr for each in ran] == ["", ""]
    assert [each.stdout.splitlines()[-1] for each in ran] == ["store", "item-cache"]
    assert "Mountain bicycle" in ran[0].stdout
    assert "sample tables: ProductCatalog, DocumentRevisions, GameScores, Settings" in "\n".join(lines)


def test_the_first_screen_tells_how_the_store_differs_from_one_without_options() -> None:
    assert list(_told_of_the_store(ClusterConfig())) == []
    changed = ClusterConfig(
        data_dir="d", throttling=True, gsi_lag=1.5, stale_reads=2.0, table_delay=3.0, ttl_delay=0.0
    )
    assert list(_told_of_the_store(changed)) == [
        "tables and items are kept in d",
        "the store throttles as DynamoDB does; daxsim status --store tells what and where",
        "global secondary indexes follow 1.5 s after a write",
        "eventually consistent reads of the store see states up to 2 s old",
        "tables and indexes come and go in 3 s",
        "expired items are removed 0 s after their time to live",
    ]


def test_settings_reach_the_nodes(up: Up, capsys: pytest.CaptureFixture[str]) -> None:
    _, places = up("--nodes", "1", "--item-ttl", "7", "--query-ttl", "0", "--item-cache-bytes", "2MB")
    _, out, _ = run(capsys, "status", "--json", "--endpoint", places["endpoint"])
    node = json.loads(out)["nodes"][0]
    assert (node["item_cache"]["ttl"], node["query_cache"]["ttl"]) == (7, 0)
    assert node["item_cache"]["capacity_bytes"] == 2 * 1024**2


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"AKIA": 1}'])
def test_a_credentials_file_has_secret_keys_by_access_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    (tmp_path / "keys.json").write_text(content)
    code, _, err = run(capsys, "up", "--credentials", str(tmp_path / "keys.json"))
    assert code == 2
    assert "Invalid value for --credentials" in err


# --- Metering and throttling --------------------------------------------------------------------------------


def test_a_throttling_store_tells_which_partition_refused(up: Up, capsys: pytest.CaptureFixture[str]) -> None:
    _, places = up("--nodes", "1", "--throttling", "--no-split-for-heat", "--stale-reads", "1")
    at = ("--endpoint", places["endpoint"])
    client = boto3.client(
        "dynamodb",
        endpoint_url=places["store_endpoint"],
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
        config=Config(retries={"total_max_attempts": 1}),
    )
    client.create_table(
        TableName="Orders",
        KeySchema=[{"AttributeName": "Id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "Id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
        OnDemandThroughput={"MaxReadRequestUnits": 100, "MaxWriteRequestUnits": 1},
    )
    client.get_item(TableName="Orders", Key={"Id": {"S": "a"}}, ConsistentRead=True)
    large = {"Id": {"S": "a"}, "Text": {"S": "x" * 300_000}}
    client.put_item(TableName="Orders", Item=large)
    with pytest.raises(client.exceptions.ThrottlingException) as refused:
        client.put_item(TableName="Orders", Item={"Id": {"S": "a"}})
    reasons = refused.value.response["throttlingReasons"]
    assert reasons[0]["reason"] == "TableWriteMaxOnDemandThroughputExceeded"

    code, out, _ = run(capsys, "status", "--store", *at)
    assert code == 0
    assert max(len(line.rstrip()) for line in out.splitlines()) <= 80
    rows = [line.split() for line in out.splitlines()]
    orders = next(row for row in rows if row[:1] == ["Orders"])
    assert orders[1:] == ["1", "293", "0", "1"]
    assert any(row[:1] == ["partition"] and row[2:6] == ["of", "4", "1", "293"] for row in rows)
    assert ["over", "the", "maximum", "set", "0", "1"] in rows
    code, out, _ = run(capsys, "status", "--json", *at)
    assert len(json.loads(out)["store"]["Orders"]["Partitions"]) == 4


# --- Acting on a running cluster ----------------------------------------------------------------------------


def test_status_inspect_and_flush_tell_of_an_item(up: Up, capsys: pytest.CaptureFixture[str]) -> None:
    _, places = up("--sample-data")
    at = ("--endpoint", places["endpoint"])
    code, out, _ = run(capsys, "inspect", "ProductCatalog", PRODUCT, *at, "--json")
    assert code == 0
    assert {node: held["miss"] for node, held in json.loads(out).items()} == dict.fromkeys(
        ("node-1", "node-2", "node-3"), "never-seen"
    )
    products = resource(places["nodes"][0]["endpoint"]).Table("ProductCatalog")
    for _ in range(3):
        products.get_item(Key={"Id": 101})
    code, out, _ = run(capsys, "inspect", "ProductCatalog", PRODUCT, *at, "--json")
    assert json.loads(out)["node-1"]["response"]["Item"]["QuantityOnHand"] == {"N": "42"}

    code, out, _ = run(capsys, "status", *at)
    rows = [line.split() for line in out.splitlines() if "node-1" in line]
    assert code == 0
    # node, role, cache, hits, misses, hit ratio, entries, ...
    assert rows[0][:7] == ["node-1", "primary", "item", "2", "1", "66.7%", "1"]
    assert max(len(line.rstrip()) for line in out.splitlines()) <= 80

    code, out, _ = run(capsys, "flush", "ProductCatalog", PRODUCT, *at)
    assert (code, out.splitlines()[0]) == (0, "node-1  1 entry flushed")
    code, out, _ = run(capsys, "inspect", "ProductCatalog", PRODUCT, *at, "--json")
    assert json.loads(out)["node-1"]["miss"] == "flushed"


def test_inspect_shows_a_person_who_holds_what(up: Up, capsys: pytest.CaptureFixture[str]) -> None:
    _, places = up("--sample-data", "--replication-delay", "600")
    at = ("--endpoint", places["endpoint"])
    out = run(capsys, "inspect", "Nowhere", PRODUCT, *at)[1]
    assert "have not read the table yet, or its primary key" in out
    resource(places["nodes"][1]["endpoint"]).Table("ProductCatalog").get_item(Key={"Id": 101})
    lines = [
        " ".join(line.split())
        for line in run(capsys, "inspect", "ProductCatalog", PRODUCT, *at)[1].splitlines()
    ]
    assert lines[0] == 'item cache, ProductCatalog {"Id":{"N":"101"}}'
    assert "node-1 a miss, never-seen - - -" in lines
    held = next(line for line in lines if line.startswith("node-2 a hit"))
    assert re.fullmatch(r"node-2 a hit \d\.\d s (300\.0|29\d\.\d) s 199", held)
    assert lines[-1].startswith('node-2: {"Item":{"Id":{"N":"101"},"Title":')
    resource(places["nodes"][1]["endpoint"]).Table("ProductCatalog").get_item(Key={"Id": 7})
    assert "a hit on a negative entry" in run(capsys, "inspect", "ProductCatalog", '{"Id":{"N":"7"}}', *at)[1]
    code, _, err = run(capsys, "status", "--endpoint", places["nodes"][0]["endpoint"])
    assert (code, "is no cluster endpoint" in err) == (1, True)


def can_listen_on(host: str) -> bool:
    try:
        socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize(("host", "reached"), [("0.0.0.0", "127.0.0.1"), ("::1", "[::1]")])
def test_a_cluster_on_another_address_is_told_and_operated(
    up: Up, capsys: pytest.CaptureFixture[str], host: str, reached: str
) -> None:
    if not can_listen_on(host):
        pytest.skip(f"this machine has no {host}")
    _, places = up("--nodes", "2", "--host", host)
    endpoints = [places["endpoint"], *(node["endpoint"] for node in places["nodes"])]
    assert all(endpoint.startswith(f"http://{reached}:") for endpoint in endpoints)
    code, out, err = run(capsys, "flush", "--endpoint", places["endpoint"])
    assert (code, err, out.count("0 entries flushed")) == (0, "", 2)


def test_inspect_takes_a_request_from_a_file(
    up: Up, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, places = up("--sample-data", "--nodes", "1")
    scan = tmp_path / "scan.json"
    scan.write_text('{"TableName": "GameScores"}')
    resource(places["endpoint"]).Table("GameScores").scan()
    code, out, _ = run(capsys, "inspect", "--request", str(scan), "--endpoint", places["endpoint"], "--json")
    assert code == 0
    assert json.loads(out)["node-1"]["response"]["Count"] == 6


def test_a_node_dies_and_returns(up: Up, capsys: pytest.CaptureFixture[str]) -> None:
    _, places = up("--nodes", "2")
    at = ("--endpoint", places["endpoint"])
    code, out, _ = run(capsys, "kill", "node-2", *at)
    assert (code, out) == (0, "node-1  primary\nnode-2  dead\n")
    assert not is_open(places["nodes"][1]["endpoint"])
    assert "node-2 dead" in run(capsys, "status", *at)[1]
    code, _, err = run(capsys, "stop", "node-2", *at)
    assert (code, err) == (1, "daxsim: node-2 is dead\n")
    code, out, _ = run(capsys, "restart", "node-2", *at)
    assert (code, out) == (0, "node-1  primary\nnode-2  replica\n")
    assert is_open(places["nodes"][1]["endpoint"])


def test_a_cluster_without_a_live_node_still_restarts_one(up: Up, capsys: pytest.CaptureFixture[str]) -> None:
    _, places = up("--nodes", "1")
    at = ("--endpoint", places["endpoint"])
    assert run(capsys, "stop", "node-1", *at)[:2] == (0, "node-1  stopped\n")
    for command in (("flush",), ("inspect", "Table", PRODUCT)):
        code, out, err = run(capsys, *command, *at)
        assert (code, out, "is alive (daxsim restart NODE" in err) == (1, "", True)
    assert not is_open(places["nodes"][0]["endpoint"])
    assert run(capsys, "restart", "node-1", *at)[0] == 0
    assert is_open(places["nodes"][0]["endpoint"])


def test_a_dead_primary_is_told_to_be_missing(up: Up, capsys: pytest.CaptureFixture[str]) -> None:
    _, places = up("--nodes", "2")
    code, out, _ = run(capsys, "kill", "node-1", "--endpoint", places["endpoint"])
    refused = "no primary: writes are refused until a replica has taken over\n"
    assert (code, out) == (0, f"node-1  dead\nnode-2  replica\n{refused}")


def test_no_such_node_is_one_line(up: Up, capsys: pytest.CaptureFixture[str]) -> None:
    _, places = up("--nodes", "1")
    code, out, err = run(capsys, "kill", "node-9", "--endpoint", places["endpoint"])
    assert (code, out, err) == (1, "", "daxsim: no node 'node-9'; there are node-1\n")


# --- Replay over HTTP ---------------------------------------------------------------------------------------


def test_an_own_cluster_has_the_miss_ratio_of_lru(capsys: pytest.CaptureFixture[str], trace: Path) -> None:
    code, out, err = run(
        capsys,
        *("replay", str(trace), "--limit", "3000", "--capacity", "100"),
        *("--nodes", "1", "--connections", "1", "--json"),
    )
    over_http = json.loads(out)
    assert code == 0
    assert "replay: 3,000 of 3,000" in err
    code, out, _ = run(
        capsys, "replay", str(trace), "--limit", "3000", "--capacity", "100", "--in-process", "--json"
    )
    in_process = json.loads(out)
    assert code == 0
    assert over_http["misses"] == in_process["misses"] > 0
    assert over_http["requests"] == 3000


def test_a_running_cluster_is_replayed_through(
    up: Up, capsys: pytest.CaptureFixture[str], trace: Path
) -> None:
    _, places = up("--nodes", "3")
    code, out, _ = run(
        capsys, "replay", str(trace), "--limit", "500", "--endpoint", places["endpoint"], "--connections", "3"
    )
    assert code == 0
    assert "store reads saved" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--in-process", "--nodes", "2"), "--nodes makes no sense with --in-process"),
        (
            ("--endpoint", "http://127.0.0.1:1", "--capacity", "5"),
            "--capacity makes no sense with --endpoint",
        ),
        (("--no-load",), "--no-load makes sense only with --endpoint"),
        (("--rate", "5"), "--rate makes sense only with --in-process"),
        (("--capacity", "0"), "0 objects is no cache"),
        (("--write-fraction", "2"), "--write-fraction must be between 0 and 1"),
    ],
)
def test_what_a_replay_cannot_honour_is_refused(
    capsys: pytest.CaptureFixture[str], trace: Path, options: tuple[str, ...], message: str
) -> None:
    code, _, err = run(capsys, "replay", str(trace), *options)
    assert code == 2
    assert message in err


def test_what_is_no_trace_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(capsys, "replay", str(tmp_path / "no.trace"))[0] == 1
    (tmp_path / "empty.csv").write_text("op,key\n")
    code, _, err = run(capsys, "replay", str(tmp_path / "empty.csv"))
    assert (code, err) == (1, "daxsim: empty.csv: no request in it\n")


# --- A data directory ---------------------------------------------------------------------------------------


def test_what_was_acknowledged_survives_a_kill(up: Up, tmp_path: Path) -> None:
    directory = str(tmp_path / "data")
    child, places = up("--nodes", "1", "--data-dir", directory, "--sample-data")
    table = resource(places["endpoint"]).Table("ProductCatalog")
    table.put_item(Item={"Id": 7, "Title": "kept"})
    child.send_signal(signal.SIGKILL)
    child.wait(30)
    _, places = up("--nodes", "1", "--data-dir", directory, "--sample-data")
    assert places["tables"] == []
    table = resource(places["endpoint"]).Table("ProductCatalog")
    assert table.get_item(Key={"Id": 7})["Item"]["Title"] == "kept"
    assert table.get_item(Key={"Id": 101})["Item"]["Id"] == 101


def test_a_foreign_directory_is_one_line_and_untouched(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    code, out, err = run(capsys, "up", "--port", "0", "--store-port", "0", "--data-dir", str(tmp_path))
    assert (code, out) == (1, "")
    assert err == (
        f"daxsim: the data directory {tmp_path} is not empty and not daxsim's; give an empty or a new one\n"
    )
    assert [one.name for one in tmp_path.iterdir()] == ["letters.txt"]


def test_a_directory_in_use_is_one_line(up: Up, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    up("--nodes", "1", "--data-dir", str(tmp_path))
    code, _, err = run(capsys, "up", "--port", "0", "--store-port", "0", "--data-dir", str(tmp_path))
    assert (code, err) == (1, f"daxsim: the data directory {tmp_path} is in use by another process\n")
