"""What the DAX clients do beside requests: discovery, TLS, credentials, and a node that goes away."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from backend.errors import ServiceError
from dax.wire.binary.errors import CODES

pytestmark = [pytest.mark.live, pytest.mark.clients]

TABLE = {
    "TableName": "music",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
ITEM = {"pk": {"S": "k"}, "v": {"N": "7"}}
GET = ("GetItem", {"TableName": "music", "Key": {"pk": {"S": "k"}}})
PUT = ("PutItem", {"TableName": "music", "Item": ITEM})


# A request on a pooled connection that the server has closed never settles in the JavaScript clients.
GIVE_UP = ("DAX_TIMEOUT_MS", "1000")


def writes(run):
    """Whether a write succeeds now."""
    try:
        return run(*PUT) == {"response": {}}
    except OSError:
        return False


def refusal(driver, endpoint):
    """What a client says that does not get in: its constructor, or in answer to a write."""
    try:
        with driver(endpoint) as run:
            outcome = run(*PUT)
    except Exception as failure:
        return str(failure)
    return outcome["error"]["message"]


@pytest.fixture
def certificate(tmp_path: Path):
    from cluster.runtime.certificates import ensure_certificate

    return ensure_certificate(tmp_path, [], time.time())


def wait_for(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def test_reads_are_spread_and_writes_go_to_the_primary(start_cluster, dax_driver):
    _, driver = dax_driver
    running = start_cluster(nodes=3)
    running.store("CreateTable", TABLE)
    with driver(f"dax://{running.address}") as run:
        assert run(*PUT) == {"response": {}}
        for _ in range(60):
            assert run(*GET) == {"response": {"Item": ITEM}}
    nodes = [running.cluster.cluster.node(f"node-{n}") for n in (1, 2, 3)]
    assert [node.metrics.requests["PutItem"] for node in nodes] == [1, 0, 0]
    assert all(node.metrics.requests["GetItem"] >= 5 for node in nodes)


def test_the_document_client_for_javascript(start_cluster, document_driver):
    running = start_cluster()
    running.store("CreateTable", TABLE)
    item = {"pk": "k", "n": 7, "half": 0.5, "list": [1, "two", None, True], "map": {"a": {"b": "c"}}}
    with document_driver(f"dax://{running.address}") as run:
        assert run("put", {"TableName": "music", "Item": item}) == {"response": {}}
        for _ in range(2):
            assert run("get", {"TableName": "music", "Key": {"pk": "k"}}) == {"response": {"Item": item}}
        updated = run(
            "update",
            {
                "TableName": "music",
                "Key": {"pk": "k"},
                "UpdateExpression": "SET n = n + :one",
                "ExpressionAttributeValues": {":one": 1},
                "ReturnValues": "UPDATED_NEW",
            },
        )
        assert updated == {"response": {"Attributes": {"n": 8}}}
        found = run(
            "query",
            {
                "TableName": "music",
                "KeyConditionExpression": "pk = :k",
                "ExpressionAttributeValues": {":k": "k"},
            },
        )
        assert found["response"]["Items"] == [{**item, "n": 8}]
    stored = running.store("GetItem", {"TableName": "music", "Key": {"pk": {"S": "k"}}})["Item"]
    assert stored["half"] == {"N": "0.5"}


@pytest.mark.parametrize("example", ["dax_v3.mjs", "dax_v1.cjs"])
def test_the_examples_for_javascript(start_cluster, example, javascript_modules, tmp_path):
    root = Path(__file__).parents[2]
    script = tmp_path / example
    script.write_text((root / "examples" / "javascript" / example).read_text())
    (tmp_path / "node_modules").symlink_to(javascript_modules)
    running = start_cluster()
    running.store("CreateTable", TABLE)
    running.store("PutItem", {"TableName": "music", "Item": ITEM})
    command = ("node", str(script), f"dax://{running.address}", "music")
    shown = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout
    assert shown.splitlines() == ["1 items", '{"pk":"k","v":7}']


def test_a_client_goes_on_when_the_primary_dies(start_cluster, dax_driver, monkeypatch):
    monkeypatch.setenv(*GIVE_UP)
    _, driver = dax_driver
    running = start_cluster(nodes=3, failover_delay=0.1)
    running.store("CreateTable", TABLE)
    with driver(f"dax://{running.address}") as run:
        assert run(*PUT) == {"response": {}}
        running.do(lambda: running.cluster.kill("node-1"))

        wait_for(lambda: writes(run))
        assert run(*GET) == {"response": {"Item": ITEM}}


def test_attribute_lists_survive_the_restart_of_a_node(start_cluster, dax_driver, monkeypatch):
    monkeypatch.setenv(*GIVE_UP)
    _, driver = dax_driver
    running = start_cluster(nodes=1)
    running.store("CreateTable", TABLE)
    with driver(f"dax://{running.address}") as run:
        assert run(*PUT) == {"response": {}}
        running.call(running.cluster.stop_node("node-1"))
        running.call(running.cluster.restart("node-1"))
        wait_for(lambda: writes(run))
        assert run(*GET) == {"response": {"Item": ITEM}}


# What clients call by another name than the service, and what they try again: the Python client everything.
OTHER_NAMES = {
    "python": {
        "InternalServerError": "InternalServerErrorException",
        "RequestLimitExceeded": "RequestLimitExceededException",
    },
    "javascript": {"InternalServerError": "InternalServerErrorException"},
}
TRIED_AGAIN_BY_JAVASCRIPT = {
    "LimitExceededException",
    "MissingAuthenticationTokenException",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
    "TransactionCanceledException",
}


@pytest.mark.parametrize("dax_driver", ["python", "javascript-v3", "javascript-v1"], indirect=True)
def test_every_error_arrives_by_its_name_after_the_client_s_own_attempts(
    start_cluster, dax_driver, monkeypatch
):
    name, driver = dax_driver
    client, _, _ = name.partition("-")
    running = start_cluster()
    running.store("CreateTable", TABLE)
    backend, planted, attempts = running.cluster.store.backend, None, 0
    execute = backend.execute

    async def refuse(operation, request):
        nonlocal attempts
        if operation != "PutItem":
            return await execute(operation, request)
        attempts += 1
        raise ServiceError(planted, "in these words", status=500 if "Internal" in planted else 400)

    monkeypatch.setattr(backend, "execute", refuse)
    with driver(f"dax://{running.address}") as run:
        for planted in (*CODES, "AnErrorOfTomorrow"):
            attempts = 0
            error = run(*PUT)["error"]
            assert error["code"] == OTHER_NAMES[client].get(planted, planted)
            assert "in these words" in error["message"]
            again = planted in TRIED_AGAIN_BY_JAVASCRIPT
            assert attempts == (3 if client == "python" else 1 + again), planted


def test_a_throttled_client_tries_again_by_itself(start_cluster, dax_driver):
    _, driver = dax_driver
    running = start_cluster()
    running.store("CreateTable", TABLE)
    with driver(f"dax://{running.address}") as run:
        running.do(lambda: running.cluster.store.throttle_next(1))
        assert run(*PUT) == {"response": {}}
        running.do(lambda: running.cluster.store.throttle_next(10))
        assert run(*PUT)["error"]["code"] == "ProvisionedThroughputExceededException"


def test_tls(start_cluster, dax_driver, certificate, monkeypatch):
    _, driver = dax_driver
    certificate_file, key_file = map(str, certificate)
    monkeypatch.setenv("SSL_CERT_FILE", certificate_file)
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", certificate_file)
    running = start_cluster(nodes=2, tls_certificate=certificate_file, tls_key=key_file)
    running.store("CreateTable", TABLE)
    with driver(f"daxs://{running.address}") as run:
        assert run(*PUT) == {"response": {}}
        for _ in range(10):
            assert run(*GET) == {"response": {"Item": ITEM}}
    with driver(f"dax://{running.address}") as run:
        assert run(*GET) == {"response": {"Item": ITEM}}


@pytest.mark.parametrize("wrong", ["another name", "another authority"])
def test_a_certificate_that_does_not_fit_is_refused(
    start_cluster, dax_driver, certificate, wrong, tmp_path, monkeypatch, caplog
):
    from cluster.runtime.certificates import make_certificate

    monkeypatch.setenv(*GIVE_UP)
    _, driver = dax_driver
    files = tmp_path / "other-cert.pem", tmp_path / "other-key.pem"
    names = ["elsewhere.example"] if wrong == "another name" else ["127.0.0.1"]
    for file, content in zip(files, make_certificate(names, time.time()), strict=True):
        file.write_bytes(content)
    trusted = str(files[0] if wrong == "another name" else certificate[0])
    monkeypatch.setenv("SSL_CERT_FILE", trusted)
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", trusted)
    running = start_cluster(tls_certificate=str(files[0]), tls_key=str(files[1]))
    running.store("CreateTable", TABLE)
    assert refusal(driver, f"daxs://{running.address}")
    assert running.store("Scan", {"TableName": "music"})["Count"] == 0
    assert sum(running.cluster.cluster.node("node-1").metrics.requests.values()) == 0


def test_known_credentials_are_accepted(start_cluster, dax_driver):
    _, driver = dax_driver
    running = start_cluster(credentials={"AKIDEXAMPLE": "secret"})
    running.store("CreateTable", TABLE)
    with driver(f"dax://{running.address}") as run:
        assert run(*PUT) == {"response": {}}


@pytest.mark.parametrize("known", [{"AKIDEXAMPLE": "another"}, {"AKIDOTHER": "secret"}])
def test_other_credentials_reach_nothing_from_any_client(
    start_cluster, dax_driver, known, monkeypatch, caplog
):
    monkeypatch.setenv(*GIVE_UP)
    _, driver = dax_driver
    running = start_cluster(credentials=known)
    running.store("CreateTable", TABLE)
    assert refusal(driver, f"dax://{running.address}")
    assert running.store("Scan", {"TableName": "music"})["Count"] == 0
    assert "refused the signature of access key AKIDEXAMPLE" in caplog.text


@pytest.mark.parametrize("known", [{"AKIDEXAMPLE": "another"}, {"AKIDOTHER": "secret"}])
def test_other_credentials_are_refused_and_the_log_says_so(start_cluster, known, caplog):
    import amazondax

    running = start_cluster(credentials=known)
    with pytest.raises(Exception, match=r"(?i)token|signature|route|endpoint"):
        amazondax.AmazonDaxClient(
            endpoint_url=f"dax://{running.address}",
            region_name="us-east-1",
            aws_access_key_id="AKIDEXAMPLE",
            aws_secret_access_key="secret",
        )
    assert "refused the signature of access key AKIDEXAMPLE" in caplog.text
