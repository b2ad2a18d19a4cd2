"""What an operator asks of one node over HTTP, beside the DynamoDB operations.

    GET  /_daxsim/status    -> `Node.status`
    POST /_daxsim/inspect   {"operation": "GetItem", "request": {...}} -> `Node.inspect`
    POST /_daxsim/flush     {"table": name?, "key": {...}?, "cache": "item" | "query" | "both"?}
                            -> {"node": id, "flushed": entries}

Requests and keys are in DynamoDB JSON (binary as base64), and so are items in the answers. What is wrong
with a request is told as DynamoDB tells it: HTTP 400 with `__type` and `message`. No signature is asked for;
but the page of another site, open in the operator's browser, is kept out (`check_sender`).
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

from backend.errors import ServiceError, validation_error
from backend.protocol_checks import JSON
from backend.validation.shapes import decode, is_known
from backend.wire import encode_response, parse
from dax.node import Node

PREFIX = "/_daxsim/"


def check_sender(method: str, headers: Mapping[str, str], host: str) -> None:
    """Refuse what a browser sends for a page of another site. Raises ServiceError.

    A page may send any site a POST with a form's content type, and a foreign site need not agree. With JSON
    the browser asks first, by a preflight that these routes do not grant. Source: the CORS protocol of the
    Fetch standard. A page whose own name has been made to mean this machine (DNS rebinding) is of this site
    to the browser, and told by that name. `headers` is case-insensitive; `host` is what the server binds to.
    """
    asked = headers.get("Host", "").lower()
    if not _is_ours(_split(f"//{asked}").hostname or "", host):
        told = (
            f"no operator calls this cluster {asked}: use its IP address, localhost or the name it binds to"
        )
        raise ServiceError("AccessDeniedException", told, status=403)
    origin = headers.get("Origin")
    if origin is not None and _split(origin).netloc.lower() != asked:
        raise ServiceError("AccessDeniedException", f"no page of {origin} may do this", status=403)
    media_type = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if method == "POST" and media_type != JSON:
        told = f"the Content-Type must be {JSON}, not {media_type or 'absent'}"
        raise ServiceError("ValidationException", told, status=415)


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:
        raise ServiceError("AccessDeniedException", f"{url} names no host: {error}", status=403) from error


def _is_ours(name: str, host: str) -> bool:
    """Whether nobody else can own this name: an address, a name without a dot as a container's, or `host`."""
    try:
        ip_address(name)
    except ValueError:
        return "." not in name or name.endswith(".localhost") or name == host.lower()
    return True


def answer(node: Node, method: str, path: str, headers: Mapping[str, str], body: bytes, host: str) -> bytes:
    """The JSON body that answers a request to a server bound to `host`. Raises ServiceError."""
    check_sender(method, headers, host)
    route = (method, path.removeprefix(PREFIX))
    if route == ("GET", "status"):
        return encode_response(node.status())
    if route == ("POST", "inspect"):
        return encode_response(_inspect(node, _members(body, {"operation", "request"})))
    if route == ("POST", "flush"):
        return encode_response(_flush(node, _members(body, {"table", "key", "cache"})))
    raise ServiceError("UnknownOperationException", f"{method} {path} is not a route of a node", status=404)


def _inspect(node: Node, members: dict[str, Any]) -> dict[str, Any]:
    operation, request = members.get("operation"), members.get("request")
    if not isinstance(operation, str) or not isinstance(request, dict):
        raise validation_error("inspect takes an operation (a string) and its request (an object)")
    if not is_known(operation):
        raise validation_error(f"{operation} is not an operation")
    return node.inspect(operation, decode(operation, request))


def _flush(node: Node, members: dict[str, Any]) -> dict[str, Any]:
    table, key, cache = members.get("table"), members.get("key"), members.get("cache", "item")
    if table is not None and not isinstance(table, str):
        raise validation_error("table must be a string")
    if not isinstance(cache, str):
        raise validation_error("cache must be a string")
    if key is not None:
        key = decode("GetItem", {"TableName": table, "Key": key})["Key"]
    return {"node": node.node_id, "flushed": node.flush(table, key, cache)}


def _members(body: bytes, allowed: set[str]) -> dict[str, Any]:
    parsed = parse(body)
    if not isinstance(parsed, dict):
        raise validation_error("the body must be a JSON object")
    unknown = sorted(set(parsed) - allowed)
    if unknown:
        told = f"unknown members: {', '.join(unknown)}; there are {', '.join(sorted(allowed))}"
        raise validation_error(told)
    return parsed
