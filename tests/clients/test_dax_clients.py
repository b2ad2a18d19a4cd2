"""What the DAX clients do beside requests: discovery, TLS, credentials, and a node that goes away."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

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


def test_a_certificate_for_another_name_is_refused(start_cluster, tmp_path, monkeypatch, caplog):
    import amazondax

    from cluster.runtime.certificates import make_certificate

    files = tmp_path / "cert.pem", tmp_path / "key.pem"
    for file, content in zip(files, make_certificate(["elsewhere.example"], time.time()), strict=True):
        file.write_bytes(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(files[0]))
    running = start_cluster(tls_certificate=str(files[0]), tls_key=str(files[1]))
    with pytest.raises(Exception, match=r"(?i)route|certificate|endpoint"):
        amazondax.AmazonDaxClient(
            endpoint_url=f"daxs://{running.address}",
            region_name="us-east-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
        )


def test_known_credentials_are_accepted(start_cluster, dax_driver):
    _, driver = dax_driver
    running = start_cluster(credentials={"AKIDEXAMPLE": "secret"})
    running.store("CreateTable", TABLE)
    with driver(f"dax://{running.address}") as run:
        assert run(*PUT) == {"response": {}}


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
