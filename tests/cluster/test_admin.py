"""The administrator's routes of a cluster without a socket; `tests/cluster/cli/test_up.py` uses one."""

from __future__ import annotations

import json
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


async def asked(cluster: Cluster, method: str, body: object = None, path: str = PATH) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(
        await AdminFront(cluster).answer(method, path, json.dumps(body).encode())
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


async def test_other_routes_are_not_here(cluster: Cluster) -> None:
    for method, path in (("DELETE", PATH), ("GET", PATH + "/x")):
        with pytest.raises(ServiceError) as caught:
            await asked(cluster, method, path=path)
        assert caught.value.status == 404


def test_a_connection_for_an_operator_is_told_by_how_it_begins() -> None:
    assert b"GET /_daxsim/cluster HTTP/1.1\r\n".startswith(PREFIXES)
    assert b"POST /_daxsim/cluster HTTP/1.1\r\n".startswith(PREFIXES)
    assert not b"POST / HTTP/1.1\r\n".startswith(PREFIXES)
