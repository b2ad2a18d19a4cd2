"""`daxsim inspect`: what each node holds for a key or a request: what a read would be answered from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import orjson
from rich.console import Console
from rich.table import Table

from cluster.cli import admin
from cluster.cli.failure import Failure
from cluster.cli.values import JsonObject

_OPERATIONS = ("GetItem", "BatchGetItem", "Query", "Scan")


@click.command()
@click.argument("table", required=False, metavar="[TABLE]")
@click.argument("key", type=JsonObject(), required=False, metavar="[KEY-JSON]")
@click.option(
    "--request",
    "request_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A whole request as JSON instead of a table and key.",
)
@click.option(
    "--operation",
    type=click.Choice(_OPERATIONS),
    help="The operation of --request.  [default: told from its members]",
)
@admin.endpoint_option
@click.option("--json", "as_json", is_flag=True, help="Print the answers as one line of JSON.")
def inspect(
    table: str | None,
    key: dict[str, Any] | None,
    request_file: Path | None,
    operation: str | None,
    endpoint: str,
    as_json: bool,
) -> None:
    """Show what every node's cache holds for an item or a request. Nothing is read from the store.

    KEY-JSON is a primary key in DynamoDB's typed form: '{"Id": {"N": "101"}}'.
    """
    if request_file is not None:
        if table is not None:
            raise click.UsageError("give a table and a key, or --request, not both")
        request = _request_in(request_file)
        operation = operation or _operation_of(request)
    elif table is None or key is None:
        raise click.UsageError("give a table and a key, or --request FILE")
    elif operation is not None:
        raise click.UsageError("--operation makes sense only with --request")
    else:
        operation, request = "GetItem", {"TableName": table, "Key": key}
    message = {"operation": operation, "request": request}
    held = {
        node["node"]: admin.post(url, "/_daxsim/inspect", message) for node, url in admin.live_nodes(endpoint)
    }
    if as_json:
        click.echo(orjson.dumps(held).decode())
        return
    _print(held)


def _request_in(path: Path) -> dict[str, Any]:
    try:
        request = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise Failure(f"{path}: {error}") from error
    if not isinstance(request, dict):
        raise Failure(f"{path}: not a JSON object")
    return request


def _operation_of(request: dict[str, Any]) -> str:
    """The read that a request is, by the members that only it has."""
    if "RequestItems" in request:
        return "BatchGetItem"
    if "Key" in request:
        return "GetItem"
    if "KeyConditionExpression" in request or "KeyConditions" in request:
        return "Query"
    return "Scan"


def _print(held: dict[str, dict[str, Any]]) -> None:
    console = Console(highlight=False)
    for node, facts in held.items():
        table = Table(title=node, title_justify="left", show_header=False)
        for name, value in facts.items():
            table.add_row(name, value if isinstance(value, str) else orjson.dumps(value).decode())
        console.print(table)
