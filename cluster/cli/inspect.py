"""`daxsim inspect`: what each node holds for a key or a request: what a read would be answered from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import orjson
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cluster.cli import admin
from cluster.cli.failure import Failure
from cluster.cli.values import PrimaryKey

_OPERATIONS = ("GetItem", "BatchGetItem", "Query", "Scan")


@click.command(short_help="Show what every node's cache holds.")
@click.argument("table", required=False, metavar="[TABLE]")
@click.argument("key", type=PrimaryKey(), required=False, metavar="[KEY-JSON]")
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


# --- For a person -------------------------------------------------------------------------------------------


def _print(held: dict[str, dict[str, Any]]) -> None:
    """A table for each key that was asked about, a line in it for each node, and below what they hold."""
    console = Console(highlight=False, soft_wrap=True)
    by_key = zip(*(report.get("keys", [report]) for report in held.values()), strict=True)
    for reports in by_key:
        first = reports[0]
        asked = _json(first["key"]) if first["cache"] == "item" else first["cache_key"]
        console.print(Text(f"{first['cache']} cache, {first['table']} {asked or ''}"))
        console.print(_lines(reports))
        if first["cache"] == "item" and not any(report["cache_key"] for report in reports):
            console.print("These nodes have not read the table yet, or its primary key has another form.")
        for response, nodes in _responses(reports).items():
            console.print(Text(f"{', '.join(nodes)}: {response}"))


def _lines(reports: Iterable[dict[str, Any]]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for heading in ("node", "a read would be", "age", "TTL left", "bytes"):
        table.add_column(heading, justify="left" if heading in ("node", "a read would be") else "right")
    for report in reports:
        if report["present"]:
            left = "no end" if report["ttl_left"] is None else f"{report['ttl_left']:.1f} s"
            answered = "a hit on a negative entry" if report["negative"] else "a hit"
            table.add_row(report["node"], answered, f"{report['age']:.1f} s", left, f"{report['size']:,}")
        else:
            table.add_row(report["node"], f"a miss, {report['miss']}", "-", "-", "-")
    return table


def _responses(reports: Iterable[dict[str, Any]]) -> dict[str, list[str]]:
    """What is held, and by which nodes: one line for those that agree."""
    holders: dict[str, list[str]] = {}
    for report in reports:
        if report["present"]:
            holders.setdefault(_json(report["response"]), []).append(report["node"])
    return holders


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
