"""`daxsim status`: what each node of a running cluster is doing, refreshed in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
import orjson
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.live import Live
from rich.table import Table

from cluster.cli import admin
from cluster.cli.values import Number, format_bytes
from cluster.runtime import live
from cluster.runtime.live import LiveClock

# A node is two lines, one a cache, so that the table fits a terminal of 80 columns.
_COLUMNS = ("node", "cache", "hits", "misses", "hit ratio", "entries", "bytes", "evicted", "lag")

_LIMITS = {
    "ProvisionedThroughput": "provisioned units",
    "MaxOnDemandThroughput": "the maximum set",
    "AccountLimit": "the account's quota",
    "KeyRangeThroughput": "a key range's limit",
}
"""The limits of throttling, by their part in the names of CloudWatch's metrics."""


@click.command(short_help="Show the nodes of a running cluster, live.")
@admin.endpoint_option
@click.option("--once", is_flag=True, help="Print the table once; so it is where output is not a terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print everything once, as one line of JSON.")
@click.option(
    "--interval",
    type=Number(min=0.1),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between two refreshes.",
)
@click.option("--store", is_flag=True, help="What each table and index of the store has consumed, once.")
def status(endpoint: str, once: bool, as_json: bool, interval: float, store: bool) -> None:
    """Show the nodes of a running cluster; live on a terminal, until Ctrl-C."""
    state = admin.get(endpoint, "/_daxsim/cluster")
    if as_json:
        click.echo(orjson.dumps(state).decode())
        return
    console = Console(highlight=False)
    if store:
        if "store" not in state:
            raise click.ClickException("the cluster's store is another endpoint, which counts for itself")
        console.print(_store_table(state["store"]))
        return
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
    table = Table(title=f"daxsim cluster {state['endpoint']}", title_justify="left", box=SIMPLE_HEAD)
    table.padding = (0, 1, 0, 0)
    for number, column in enumerate(_COLUMNS):
        table.add_column(column, justify="left" if number < 2 else "right", no_wrap=True)
    for node in state["nodes"]:
        table.add_row(*_row(node))
    return table


def _store_table(tables: Mapping[str, Any]) -> Table:
    """A line a table, an index and, where the store throttles, a partition that has been used."""
    shown = Table(title="capacity consumed, and requests throttled", title_justify="left", box=SIMPLE_HEAD)
    shown.padding = (0, 1, 0, 0)
    columns = (
        "table",
        "index or partition",
        "reads\nunits",
        "writes\nunits",
        "reads\nthrottled",
        "writes\nthrottled",
    )
    for number, column in enumerate(columns):
        shown.add_column(column, justify="left" if number < 2 else "right", no_wrap=True)
    for name, table in tables.items():
        shown.add_row(name, "", *_counted(table))
        _add_limits(shown, table)
        _add_partitions(shown, table)
        for index, counters in table["Indexes"].items():
            shown.add_row("", index, *_counted(counters))
            _add_limits(shown, counters)
            _add_partitions(shown, counters)
    return shown


def _add_limits(shown: Table, resource: Mapping[str, Any]) -> None:
    """Of the throttled requests: which limit they were over."""
    for limit, words in _LIMITS.items():
        events = [resource.get(f"{side}{limit}ThrottleEvents", 0) for side in ("Read", "Write")]
        if any(events):
            shown.add_row("", f"  over {words}", "", "", *(f"{count:,}" for count in events))


def _add_partitions(shown: Table, resource: Mapping[str, Any]) -> None:
    for number, partition in enumerate(resource.get("Partitions", ()), start=1):
        figures = _counted(partition)
        if set(figures) != {"0"}:
            shown.add_row("", f"  partition {number} of {len(resource['Partitions'])}", *figures)


def _counted(counters: Mapping[str, Any]) -> tuple[str, ...]:
    names = (
        "ConsumedReadCapacityUnits",
        "ConsumedWriteCapacityUnits",
        "ReadThrottleEvents",
        "WriteThrottleEvents",
    )
    return tuple(f"{counters[name]:,.10g}" for name in names)


def _row(node: Mapping[str, Any]) -> list[str]:
    address = f"{node['host']}:{node['port']}"
    if node["state"] != "live":
        return [f"{node['node']} [yellow]{node['state']}[/yellow]\n{address}"]
    role = f"[bold]{node['role']}[/bold]" if node["role"] == "primary" else node["role"]
    items, queries = node["item_cache"], node["query_cache"]
    pairs = zip(_figures(items), _figures(queries), strict=True)
    return [
        f"{node['node']} {role}\n{address}",
        "item\nquery",
        *("\n".join(pair) for pair in pairs),
        _lag(node["replication"]),
    ]


def _figures(cache: Mapping[str, Any]) -> tuple[str, ...]:
    ratio = cache["hit_ratio"]
    return (
        f"{cache['hits']:,}",
        f"{cache['misses']:,}",
        "-" if ratio is None else f"{ratio:.1%}",
        f"{cache['entries']:,}",
        format_bytes(cache["bytes"]),
        f"{cache['evictions']:,}",
    )


def _lag(replication: Mapping[str, Any]) -> str:
    """A primary's is that of its slowest replica, with the number of changes that it has not confirmed."""
    late = f"{replication['lag_seconds'] * 1000:.0f} ms"
    behind = replication["lag_entries"]
    return f"{late}\n{behind:,} behind" if behind else late
