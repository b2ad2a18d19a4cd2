"""`daxsim kill`, `stop` and `restart`: what an operator, or bad luck, does to one node of a cluster."""

from __future__ import annotations

import click
import orjson

from cluster.cli import admin

_node = click.argument("node", metavar="NODE")
_json = click.option("--json", "as_json", is_flag=True, help="Print the cluster's state as one line of JSON.")


@click.command(short_help="Let a node die at once.")
@_node
@admin.endpoint_option
@_json
def kill(node: str, endpoint: str, as_json: bool) -> None:
    """Let a node die at once: its connections break, and a replica takes over from a primary.

    NODE is a node's name, such as node-2.
    """
    _do("kill", node, endpoint, as_json)


@click.command(short_help="Stop a node in order.")
@_node
@admin.endpoint_option
@_json
def stop(node: str, endpoint: str, as_json: bool) -> None:
    """Stop a node in order: it answers what it was asked, then leaves the cluster.

    NODE is a node's name, such as node-2.
    """
    _do("stop", node, endpoint, as_json)


@click.command(short_help="Bring a node back, warm.")
@_node
@admin.endpoint_option
@_json
def restart(node: str, endpoint: str, as_json: bool) -> None:
    """Bring a node back, its caches warmed from another; a running one is stopped first.

    NODE is a node's name, such as node-2.
    """
    _do("restart", node, endpoint, as_json)


def _do(verb: str, node: str, endpoint: str, as_json: bool) -> None:
    state = admin.post(endpoint, "/_daxsim/cluster", {"verb": verb, "node": node})
    if as_json:
        click.echo(orjson.dumps(state).decode())
        return
    for each in state["nodes"]:
        role = each["role"] if each["state"] == "live" else each["state"]
        click.echo(f"{each['node']}  {role}")
    if state["primary"] is None and any(each["state"] == "live" for each in state["nodes"]):
        click.echo("no primary: writes are refused until a replica has taken over")
