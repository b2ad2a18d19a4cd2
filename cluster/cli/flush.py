"""`daxsim flush`: empty an entry, a table or a cache on every node of a running cluster."""

from __future__ import annotations

from typing import Any

import click
import orjson

from cluster.cli import admin
from cluster.cli.values import PrimaryKey


@click.command(short_help="Make the caches forget everything, a table or an item.")
@click.argument("table", required=False, metavar="[TABLE]")
@click.argument("key", type=PrimaryKey(), required=False, metavar="[KEY-JSON]")
@click.option(
    "--cache",
    type=click.Choice(["item", "query", "both"]),
    help="Which cache.  [default: both; item where a key is given]",
)
@admin.endpoint_option
@click.option("--json", "as_json", is_flag=True, help="Print the count as JSON.")
def flush(
    table: str | None, key: dict[str, Any] | None, cache: str | None, endpoint: str, as_json: bool
) -> None:
    """Forget what the caches hold: everything, a TABLE's entries, or one item.

    KEY-JSON is a primary key in DynamoDB's typed form: '{"Id": {"N": "101"}}'.
    """
    if key is not None and cache not in (None, "item"):
        raise click.UsageError("a key names an entry of the item cache: --cache must be item")
    message: dict[str, Any] = {"cache": cache or ("item" if key else "both")}
    if table is not None:
        message["table"] = table
    if key is not None:
        message["key"] = key
    flushed = {
        node["node"]: int(admin.post(url, "/_daxsim/flush", message)["flushed"])
        for node, url in admin.live_nodes(endpoint)
    }
    if as_json:
        click.echo(orjson.dumps({"flushed": flushed}).decode())
        return
    for name, count in flushed.items():
        click.echo(f"{name}  {count:,} {'entry' if count == 1 else 'entries'} flushed")
