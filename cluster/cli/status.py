"""`daxsim status`: what each node of a running cluster is doing, refreshed in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
import orjson
from rich.console import Console
from rich.live import Live
from rich.table import Table

from cluster.cli import admin
from cluster.cli.values import format_bytes
from cluster.runtime import live
from cluster.runtime.live import LiveClock

_COLUMNS = (
    "node",
    "role",
    "address",
    "item hits",
    "misses",
    "hit ratio",
    "query hits",
    "misses",
    "hit ratio",
    "entries",
    "bytes",
    "evictions",
    "replication lag",
)


@click.command()
@admin.endpoint_option
@click.option("--once", is_flag=True, help="Print the table once; so it is where output is not a terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print everything once, as one line of JSON.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between two refreshes.",
)
def status(endpoint: str, once: bool, as_json: bool, interval: float) -> None:
    """Show the nodes of a running cluster; live on a terminal, until Ctrl-C."""
    state = admin.get(endpoint, "/_daxsim/cluster")
    if as_json:
        click.echo(orjson.dumps(state).decode())
        return
    console = Console(highlight=False)
    if once or not console.is_terminal:
        console.print(_table(state))
        return
    try:
        live.run(_watch(console, endpoint, state, interval))
    except KeyboardInterrupt:
        return


async def _watch(console: Console, endpoint: str, state: Mapping[str, Any], interval: float) -> None:
    clock = LiveClock()
    with Live(_table(state), console=console, auto_refresh=False) as screen:
        while True:
            await clock.sleep(interval)
            screen.update(_table(admin.get(endpoint, "/_daxsim/cluster")), refresh=True)


def _table(state: Mapping[str, Any]) -> Table:
    table = Table(title=f"daxsim cluster {state.get('endpoint', '')}", title_justify="left")
    for column in _COLUMNS:
        table.add_column(column, justify="left" if column in ("node", "role", "address") else "right")
    for node in state["nodes"]:
        table.add_row(*_row(node))
    return table


def _row(node: Mapping[str, Any]) -> list[str]:
    address = f"{node['host']}:{node['port']}"
    if node["state"] != "live":
        return [node["node"], f"[yellow]{node['state']}[/yellow]", address]
    items, queries = node["item_cache"], node["query_cache"]
    caches = (items, queries)
    return [
        node["node"],
        f"[bold]{node['role']}[/bold]" if node["role"] == "primary" else node["role"],
        address,
        *_hits(items),
        *_hits(queries),
        f"{sum(cache['entries'] for cache in caches):,}",
        format_bytes(sum(cache["bytes"] for cache in caches)),
        f"{sum(cache['evictions'] for cache in caches):,}",
        _lag(node),
    ]


def _hits(cache: Mapping[str, Any]) -> tuple[str, str, str]:
    ratio = cache["hit_ratio"]
    return f"{cache['hits']:,}", f"{cache['misses']:,}", "-" if ratio is None else f"{ratio:.1%}"


def _lag(node: Mapping[str, Any]) -> str:
    """A primary's is that of its slowest replica, with the number of changes that it has not confirmed."""
    lag = node["replication"]
    late = f"{lag['lag_seconds'] * 1000:.0f} ms"
    return f"{late}, {lag['lag_entries']:,} behind" if lag["lag_entries"] else late
