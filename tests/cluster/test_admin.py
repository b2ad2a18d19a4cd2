"""The administrator's routes of a cluster without a socket; `tests/cluster/cli/test_up.py` uses one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from backend.errors import ServiceError
from cluster.admin import PATH, PREFIXES, AdminFront
from cluster.topology import UnknownNode, WrongState


class Cluster:
    """Notes what was done to it."""

    def __init__(self) -> None:
        self.done: list[tuple[str, str]] = []

    def status(self) -> dict[str, Any]:
        return {"primary": "node-1", "done": len(self.done)}

    def kill(self, node_id: str) -> None:
        self._do("kill", node_id)

    async def stop_node(self, node_id: str) -> None:
        self._do("stop", node_id)

    async def restart(self, node_id: str) -> None:
        self._do("restart", node_id)

    def _do(self, verb: str, node_id: str) -> None:
        if node_id == "node-9":
            raise UnknownNode("no node 'node-9'; there are node-1")
        if node_id == "node-2":
            raise WrongState("node-2 is dead")
        self.done.append((verb, node_id))


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


BY_A_TOOL = {"Host": "127.0.0.1:8111", "Content-Type": "application/json"}


async def asked(
    cluster: Cluster,
    method: str,
    body: object = None,
    path: str = PATH,
    headers: Mapping[str, str] = BY_A_TOOL,
) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(
        await AdminFront(cluster, "dax.example").answer(method, path, headers, json.dumps(body).encode())
    )
    return answer


async def test_the_status_is_the_cluster_s(cluster: Cluster) -> None:
    assert await asked(cluster, "GET") == {"primary": "node-1", "done": 0}


@pytest.mark.parametrize("verb", ["kill", "stop", "restart"])
async def test_a_verb_is_done_and_the_status_afterwards_told(cluster: Cluster, verb: str) -> None:
    assert (await asked(cluster, "POST", {"verb": verb, "node": "node-1"}))["done"] == 1
    assert cluster.done == [(verb, "node-1")]


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (
            {"verb": "kill", "node": "node-9"},
            "ResourceNotFoundException",
            "no node 'node-9'; there are node-1",
        ),
        ({"verb": "stop", "node": "node-2"}, "ResourceInUseException", "node-2 is dead"),
        ({"verb": "shoot", "node": "node-1"}, "ValidationException", "no verb 'shoot'; there are kill, stop"),
        ({"verb": "kill", "node": 1}, "ValidationException", "node must be a string"),
        ({"verb": "kill"}, "ValidationException", "the body must be"),
        ({"verb": "kill", "node": "node-1", "now": True}, "ValidationException", "the body must be"),
        ([], "ValidationException", "the body must be"),
    ],
)
async def test_what_is_wrong_is_told_and_nothing_is_done(
    cluster: Cluster, body: object, code: str, message: str
) -> None:
    with pytest.raises(ServiceError) as caught:
        await asked(cluster, "POST", body)
    assert caught.value.code == code
    assert str(caught.value.message).startswith(message)
    assert not cluster.done


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "text/plain; application/json"}, 415),
        ({"Content-Type": ""}, 415),
        ({"Origin": "http://elsewhere.example"}, 403),
        ({"Origin": "http://127.0.0.1:3000"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Host": "[::1"}, 403),
    ],
    ids=str,
)
async def test_a_page_of_another_site_operates_nothing(
    cluster: Cluster, headers: Mapping[str, str], status: int
) -> None:
    with pytest.raises(ServiceError) as caught:
        await asked(cluster, "POST", {"verb": "kill", "node": "node-1"}, headers={**BY_A_TOOL, **headers})
    assert caught.value.status == status
    assert not cluster.done


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("name", ["rebound.example", "127.0.0.1.rebound.example", "127.1.example:8111"])
async def test_a_name_that_others_may_own_is_no_name_of_a_cluster(
    cluster: Cluster, method: str, name: str
) -> None:
    """DNS rebinding: the browser takes the page of that name for one of the cluster's own."""
    headers = {**BY_A_TOOL, "Host": name, "Origin": f"http://{name}"}
    with pytest.raises(ServiceError, match=f"no operator calls this cluster {name}") as caught:
        await asked(cluster, method, {"verb": "kill", "node": "node-1"}, headers=headers)
    assert caught.value.status == 403
    assert not cluster.done


@pytest.mark.parametrize(
    "name",
    [
        "127.0.0.1:8111",
        "[::1]:8111",
        "192.0.2.7",
        "localhost:8111",
        "a.localhost",
        "daxsim:8111",
        "DAX.example",
    ],
)
async def test_addresses_local_names_and_the_bound_name_are_names_of_a_cluster(
    cluster: Cluster, name: str
) -> None:
    await asked(cluster, "POST", {"verb": "kill", "node": "node-1"}, headers={**BY_A_TOOL, "Host": name})
    assert cluster.done == [("kill", "node-1")]


async def test_a_page_of_the_cluster_s_own_may(cluster: Cluster) -> None:
    headers = {
        **BY_A_TOOL,
        "Origin": "http://127.0.0.1:8111",
        "Content-Type": "application/json;charset=UTF-8",
    }
    await asked(cluster, "POST", {"verb": "kill", "node": "node-1"}, headers=headers)
    assert cluster.done == [("kill", "node-1")]


async def test_other_routes_are_not_here(cluster: Cluster) -> None:
    for method, path in (("DELETE", PATH), ("GET", PATH + "/x")):
        with pytest.raises(ServiceError) as caught:
            await asked(cluster, method, path=path)
        assert caught.value.status == 404


def test_a_connection_for_an_operator_is_told_by_how_it_begins() -> None:
    assert b"GET /_daxsim/cluster HTTP/1.1\r\n".startswith(PREFIXES)
    assert b"POST /_daxsim/cluster HTTP/1.1\r\n".startswith(PREFIXES)
    assert not b"POST / HTTP/1.1\r\n".startswith(PREFIXES)
