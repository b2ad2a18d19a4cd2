"""What the commands ask of a running cluster: its administrative routes, over plain HTTP.

Rules of this file: an answer is the parsed JSON object; everything else is a `Failure` that says, in one
line, what could not be reached or what was refused.
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import click
import orjson

from cluster.cli.failure import Failure

DEFAULT_ENDPOINT = "http://127.0.0.1:8111"
_TIMEOUT = 30.0

endpoint_option = click.option(
    "--endpoint",
    default=DEFAULT_ENDPOINT,
    show_default=True,
    envvar="DAXSIM_ENDPOINT",
    metavar="URL",
    help="The cluster endpoint of a running cluster.",
)


def get(endpoint: str, path: str) -> dict[str, Any]:
    """The answer to GET `path`."""
    return _ask(endpoint, path, None)


def post(endpoint: str, path: str, message: dict[str, Any]) -> dict[str, Any]:
    """The answer to POST `path` with `message` as JSON."""
    return _ask(endpoint, path, orjson.dumps(message))


def _ask(endpoint: str, path: str, body: bytes | None) -> dict[str, Any]:
    if not urlsplit(endpoint).netloc or urlsplit(endpoint).scheme not in ("http", "https"):
        raise click.BadParameter(f"{endpoint!r} is not http://host:port", param_hint="--endpoint")
    request = urllib.request.Request(
        endpoint.rstrip("/") + path, data=body, headers={"Content-Type": "application/json"}
    )
    # No proxy: a cluster is asked where it says that it is.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=_TIMEOUT) as response:
            answer = orjson.loads(response.read())
    except urllib.error.HTTPError as error:
        raise Failure(_refusal(endpoint, error)) from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        reason = getattr(reason, "strerror", None) or reason
        raise Failure(
            f"cannot reach {endpoint}: {reason}; is a cluster running there (daxsim up)?"
        ) from error
    except orjson.JSONDecodeError as error:
        raise Failure(f"{endpoint} does not answer like a daxsim cluster") from error
    if not isinstance(answer, dict):
        raise Failure(f"{endpoint} does not answer like a daxsim cluster")
    return answer


def _refusal(endpoint: str, error: urllib.error.HTTPError) -> str:
    try:
        fields = orjson.loads(error.read())
    except orjson.JSONDecodeError:
        fields = None
    if not isinstance(fields, dict):
        return f"{endpoint} does not answer like a daxsim cluster (HTTP {error.code})"
    if error.code == HTTPStatus.NOT_FOUND:
        return f"{endpoint} is no cluster endpoint: that is one port below node-1's, as `daxsim up` prints it"
    message = fields.get("message") or fields.get("Message") or fields.get("__type")
    return str(message or f"{endpoint} answered with HTTP {error.code}")


def live_nodes(endpoint: str) -> list[tuple[dict[str, Any], str]]:
    """Each live node's status and its URL. An entry lives on a node, so commands ask them all."""
    live = [node for node in get(endpoint, "/_daxsim/cluster")["nodes"] if node["state"] == "live"]
    if not live:
        raise Failure(f"no node of the cluster at {endpoint} is alive (daxsim restart NODE brings one back)")
    return [(node, _url_of(node, endpoint)) for node in live]


def _url_of(node: dict[str, Any], endpoint: str) -> str:
    """Where a node is reached: one that listens on every address, where its cluster is."""
    host = str(node["host"])
    if host in ("0.0.0.0", "::"):
        host = urlsplit(endpoint).hostname or host
    return f"http://[{host}]:{node['port']}" if ":" in host else f"http://{host}:{node['port']}"
