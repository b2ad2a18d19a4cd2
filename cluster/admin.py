"""What an operator asks of a whole cluster, over HTTP on the cluster endpoint.

    GET  /_daxsim/cluster                               -> `LiveCluster.status`
    POST /_daxsim/cluster   {"verb": "kill" | "stop" | "restart", "node": "node-2"}
                            -> the status afterwards

Rules of this file:

* these connections belong to the cluster and to no node: the node that dies may be any, and a cluster whose
  nodes are all dead still restarts one. So the first request of a connection to the cluster endpoint decides:
  one that begins here stays here (`PREFIXES`), any other goes to a node, where these routes do not exist;
* what is wrong with a request is told as DynamoDB tells it: HTTP 400 with `__type` and `message`. No
  signature is asked for, but pages of other sites are kept out, as a node does (`dax.wire.json.admin`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Protocol

from aiohttp import web

from backend.errors import ServiceError, resource_not_found, validation_error
from backend.http_edge import server_log
from backend.wire import encode_response, error_body, parse
from cluster.topology import UnknownNode, WrongState
from dax.wire.json.admin import check_sender
from dax.world import NodeId

PATH = "/_daxsim/cluster"
PREFIXES = (b"GET " + PATH.encode(), b"POST " + PATH.encode())
"""How a connection begins that is for an operator."""

_VERBS = ("kill", "stop", "restart")


class Operated(Protocol):
    """The cluster, as an operator handles it."""

    def status(self) -> Mapping[str, Any]: ...

    def kill(self, node_id: NodeId) -> None: ...

    async def stop_node(self, node_id: NodeId) -> None: ...

    async def restart(self, node_id: NodeId) -> None: ...


class AdminFront:
    """A protocol factory for asyncio servers, one protocol a connection. `host` is what they bind to."""

    def __init__(self, cluster: Operated, host: str) -> None:
        self._cluster = cluster
        self._host = host
        self._server: web.Server | None = None

    def __call__(self) -> asyncio.Protocol:
        """A new connection. Needs a running event loop."""
        if self._server is None:
            self._server = web.Server(self._handle, access_log=None, logger=server_log)
        return self._server()

    async def shutdown(self, patience: float) -> None:
        """Close every connection once its answer is out, or after `patience` seconds."""
        if self._server is not None:
            self._server.pre_shutdown()
            await self._server.shutdown(patience)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            read = await request.read()
            body = await self.answer(request.method, request.path, request.headers, read)
        except ServiceError as error:
            return _response(error.status, error_body(error))
        return _response(HTTPStatus.OK, body)

    async def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> bytes:
        """The JSON body that answers one request. Raises ServiceError."""
        check_sender(method, headers, self._host)
        if path != PATH or method not in ("GET", "POST"):
            raise ServiceError(
                "UnknownOperationException", f"{method} {path} is not a route here", status=404
            )
        if method == "POST":
            await self._operate(*_verb_and_node(body))
        return encode_response(self._cluster.status())

    async def _operate(self, verb: str, node_id: NodeId) -> None:
        try:
            if verb == "kill":
                self._cluster.kill(node_id)
            elif verb == "stop":
                await self._cluster.stop_node(node_id)
            else:
                await self._cluster.restart(node_id)
        except UnknownNode as error:
            raise resource_not_found(str(error)) from error
        except WrongState as error:
            raise ServiceError("ResourceInUseException", str(error)) from error


def _verb_and_node(body: bytes) -> tuple[str, NodeId]:
    asked = parse(body)
    if not isinstance(asked, dict) or set(asked) != {"verb", "node"}:
        raise validation_error('the body must be {"verb": ..., "node": ...}')
    verb, node_id = asked["verb"], asked["node"]
    if verb not in _VERBS:
        raise validation_error(f"no verb {verb!r}; there are {', '.join(_VERBS)}")
    if not isinstance(node_id, str):
        raise validation_error("node must be a string")
    return verb, node_id


def _response(status: int, body: bytes) -> web.Response:
    return web.Response(status=status, body=body, content_type="application/json")
