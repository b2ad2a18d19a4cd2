"""`daxsim replay`: a trace of a real cache's requests, read through a DAX cluster.

Three ways, from the fastest to the most real:

* `--in-process`: one node without sockets, requests in the order of the trace: the exact miss ratio;
* nothing said: a cluster of its own, in another process, over HTTP;
* `--endpoint URL`: a cluster that is running already.

An option that the chosen way cannot honour is an error, not ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import orjson
from click.core import ParameterSource
from rich.console import Console
from rich.table import Table

from cluster.cli import admin
from cluster.cli.failure import Failure
from cluster.cli.own_cluster import Places, own_cluster
from cluster.cli.progress import progress
from cluster.cli.values import Bytes, Number
from cluster.lab.workloads import loading, requests
from cluster.lab.workloads.http_client import Connection
from cluster.lab.workloads.local_node import LocalNode
from cluster.lab.workloads.replay import HttpTarget, Result
from cluster.lab.workloads.replay import replay as run_replay
from cluster.lab.workloads.requests import Shape, Survey, survey
from cluster.lab.workloads.traces import FORMATS, Trace, TraceError, open_trace
from cluster.runtime import live
from dax.settings import NodeSettings


class _Capacity(click.ParamType[tuple[int, bool]]):
    """A number of objects, or a size in bytes with its unit."""

    name = "capacity"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, bool]:
        """The capacity, and whether it counts objects."""
        if isinstance(value, tuple):
            return value
        text = str(value).strip()
        if text.isascii() and text.isdigit() and int(text) > 0:
            return int(text), True
        if text.isascii() and text.isdigit():
            self.fail("0 objects is no cache", param, ctx)
        return Bytes().convert(text, param, ctx), False


@dataclass(frozen=True)
class _Plan:
    """What is replayed, and through what."""

    trace: Trace
    shape: Shape
    found: Survey
    capacity: tuple[int, bool] | None
    ttl: float
    nodes: int
    connections: int
    rate: float
    endpoint: str | None
    store_endpoint: str | None
    load: bool


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--format", "format_name", metavar="NAME", help=f"One of: {', '.join(FORMATS)}.")
@click.option("--in-process", is_flag=True, help="One node without sockets: exact counts, fast.")
@click.option("--endpoint", metavar="URL", help="Use this running cluster.")
@click.option("--store-endpoint", metavar="URL", help="Where to put the items; by default the cluster tells.")
@click.option("--no-load", is_flag=True, help="With --endpoint: the tables and items are there already.")
@click.option("--nodes", type=click.IntRange(1, 11), default=3, show_default=True, help="Of an own cluster.")
@click.option(
    "--capacity",
    type=_Capacity(),
    metavar="N|SIZE",
    help="Item cache of each node: 2048 is a number of objects, 64MB a size.",
)
@click.option(
    "--ttl",
    type=Number(min=0),
    default=0.0,
    show_default=True,
    metavar="SECONDS",
    help="Item TTL. 0: entries leave only for want of room.",
)
@click.option("--limit", type=int, metavar="N", help="Stop after N requests.")
@click.option(
    "--write-fraction", type=float, default=0.0, metavar="F", help="Send this share of reads as writes."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Chooses which reads become writes.")
@click.option("--reads-only", is_flag=True, help="Send writes as reads too, as published miss ratios count.")
@click.option(
    "--item-size",
    type=Bytes(),
    default=256,
    show_default=True,
    metavar="SIZE",
    help="Of an item whose size the trace does not tell.",
)
@click.option(
    "--connections",
    type=click.IntRange(1, 1000),
    default=8,
    show_default=True,
    metavar="N",
    help="How many requests are under way at a time.",
)
@click.option(
    "--rate",
    type=Number(min=0, min_open=True),
    default=1000.0,
    show_default=True,
    metavar="N",
    help="With --in-process: requests a second of trace time, where the trace has no times.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as one line of JSON.")
@click.pass_context
def replay(ctx: click.Context, /, file: Path, format_name: str | None, **options: Any) -> int:
    """Read a trace of a real cache's requests through a cluster.

    FILE is a binary trace (.trace) or a CSV file (.csv), plain or compressed (.xz, .gz).
    """
    in_process, as_json = options["in_process"], options["as_json"]
    _refuse_conflicts(ctx, in_process, options["endpoint"])
    try:
        shape = Shape(
            **{name: options[name] for name in ("limit", "write_fraction", "seed", "reads_only", "item_size")}
        )
    except ValueError as error:
        name, _, rest = str(error).partition(" ")
        raise click.UsageError(f"--{name.replace('_', '-')} {rest}") from error
    try:
        trace = open_trace(file, format_name)
        found = survey(trace, shape)
        if not found.requests:
            raise TraceError(f"{file.name}: no request in it")
        plan = _Plan(
            trace,
            shape,
            found,
            load=not options["no_load"],
            **{
                name: options[name]
                for name in (
                    "capacity",
                    "ttl",
                    "nodes",
                    "connections",
                    "rate",
                    "endpoint",
                    "store_endpoint",
                )
            },
        )
        result = live.run(_in_process(plan) if in_process else _over_http(plan))
    except TraceError as error:
        raise Failure(str(error)) from error
    except OSError as error:
        raise Failure(f"the replay broke off: {error}") from error
    _report(plan, result, in_process, as_json)
    return 1 if result.errors else 0


_NOT_WITH = {
    "in_process": ("endpoint", "store_endpoint", "no_load", "nodes", "connections"),
    "endpoint": ("in_process", "nodes", "capacity", "ttl", "rate"),
    "own": ("store_endpoint", "no_load", "rate"),
}


def _refuse_conflicts(ctx: click.Context, in_process: bool, endpoint: str | None) -> None:
    way = "in_process" if in_process else "endpoint" if endpoint else "own"
    for name in _NOT_WITH[way]:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = "--" + name.replace("_", "-")
            if way == "own":
                needed = "--in-process" if name == "rate" else "--endpoint"
                raise click.UsageError(f"{option} makes sense only with {needed}")
            raise click.UsageError(f"{option} makes no sense with --{way.replace('_', '-')}")


# --- The three ways -----------------------------------------------------------------------------------------


async def _in_process(plan: _Plan) -> Result:
    settings = NodeSettings(item_ttl=plan.ttl)
    if plan.capacity:
        settings = NodeSettings(
            item_ttl=plan.ttl, item_cache_bytes=plan.capacity[0], unit_size=plan.capacity[1]
        )
    local = LocalNode(settings, plan.rate)
    try:
        local.load(
            requests.tables(plan.trace, plan.found.sizes), requests.puts(plan.trace, plan.found, plan.shape)
        )
        with progress("replay", plan.found.requests) as done:
            return await run_replay(
                requests.requests(plan.trace, plan.shape),
                [local.target()],
                live.stopwatch,
                done,
            )
    finally:
        await local.close()


async def _over_http(plan: _Plan) -> Result:
    async with AsyncExitStack() as stack:
        places = (
            _running(plan) if plan.endpoint else await stack.enter_async_context(own_cluster(_options(plan)))
        )
        if plan.load:
            with progress("load", plan.found.keys) as done:
                await loading.load(
                    places.store,
                    requests.tables(plan.trace, plan.found.sizes),
                    requests.puts(plan.trace, plan.found, plan.shape),
                    done,
                )
        connections = [
            Connection(places.nodes[number % len(places.nodes)]) for number in range(plan.connections)
        ]
        for connection in connections:
            stack.callback(connection.close)
        with progress("replay", plan.found.requests) as done:
            return await run_replay(
                requests.requests(plan.trace, plan.shape),
                [HttpTarget(connection) for connection in connections],
                live.stopwatch,
                done,
            )


def _running(plan: _Plan) -> Places:
    assert plan.endpoint
    store = plan.store_endpoint
    if store is None and plan.load:
        store = admin.get(plan.endpoint, "/_daxsim/cluster").get("store_endpoint")
        if not store:
            raise Failure(f"{plan.endpoint} tells no store endpoint: say --store-endpoint or --no-load")
    return Places((plan.endpoint.rstrip("/"),), (store or "").rstrip("/"))


def _options(plan: _Plan) -> Sequence[str]:
    options = ["--nodes", str(plan.nodes), "--item-ttl", str(plan.ttl)]
    if plan.capacity:
        capacity, objects = plan.capacity
        options += ["--item-cache-entries" if objects else "--item-cache-bytes", str(capacity)]
    return options


# --- The report ---------------------------------------------------------------------------------------------


def _report(plan: _Plan, result: Result, in_process: bool, as_json: bool) -> None:
    if as_json:
        about = {
            "trace": plan.trace.path.name,
            "format": plan.trace.format.name,
            "keys": plan.found.keys,
            "way": "in-process" if in_process else "endpoint" if plan.endpoint else "own-cluster",
        }
        click.echo(orjson.dumps({**about, **result.summary()}).decode())
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_row("requests", f"{result.requests:,}")
    table.add_row("different keys", f"{plan.found.keys:,}")
    if result.writes:
        table.add_row("writes", f"{result.writes:,}")
    table.add_row("hit ratio", f"{result.hit_ratio:.4f}")
    table.add_row("miss ratio", f"{result.miss_ratio:.4f}")
    table.add_row("store reads saved", f"{result.hits:,} of {result.reads:,}")
    table.add_row("throughput", f"{result.throughput:,.0f} requests/s")
    for name, seconds in result.latency.summary().items():
        table.add_row(f"latency {name}", _duration(seconds))
    for code, count in result.errors.items():
        table.add_row(f"[red]refused: {code}[/red]", f"{count:,}")
    Console(highlight=False).print(f"{plan.trace.path.name} ({plan.trace.format.name})", table, sep="\n\n")


def _duration(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"
