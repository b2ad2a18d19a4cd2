"""`daxsim up`: run a cluster in the foreground until Ctrl-C.

The first screen is written for someone who has never seen the project: what listens where, what it is for,
and a program to paste. With `--json` it is one line for another program instead.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import orjson
from rich.console import Console
from rich.text import Text

from backend.storage.directory import DirectoryRefused
from backend.storage.row_file import Progress
from cluster.cli import sample_data
from cluster.cli.progress import progress
from cluster.cli.security import MADE_CERTIFICATES, made_certificate, read_credentials
from cluster.cli.values import Bytes, format_bytes
from cluster.config import ClusterConfig, ConfigError
from cluster.live import LiveCluster, start_live
from cluster.runtime import live
from cluster.runtime.garbage import survivors_set_aside
from cluster.runtime.listener import CannotListen

_DEFAULTS = ClusterConfig()
_MANY_ROWS = 100_000
"""It takes half a second or more to read so many."""


@click.command()
@click.option("--nodes", type=int, default=_DEFAULTS.nodes, show_default=True, metavar="N", help="1 to 11.")
@click.option("--host", default=_DEFAULTS.host, show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=int,
    default=_DEFAULTS.port,
    show_default=True,
    help="The cluster endpoint; the nodes follow on the next ports. 0: free ports.",
)
@click.option(
    "--store-port",
    type=int,
    default=_DEFAULTS.store_port,
    show_default=True,
    help="The store's own DynamoDB endpoint, around the cache. 0: a free port.",
)
@click.option(
    "--item-ttl",
    type=float,
    default=_DEFAULTS.item_ttl,
    show_default=True,
    metavar="SECONDS",
    help="Item cache time to live. 0: entries never expire.",
)
@click.option(
    "--query-ttl",
    type=float,
    default=_DEFAULTS.query_ttl,
    show_default=True,
    metavar="SECONDS",
    help="Query cache time to live. 0: results are not cached.",
)
@click.option(
    "--item-cache-bytes",
    type=Bytes(),
    default=_DEFAULTS.item_cache_bytes,
    metavar="SIZE",
    help=f"Item cache of each node, such as 64MB.  [default: {format_bytes(_DEFAULTS.item_cache_bytes)}]",
)
@click.option(
    "--query-cache-bytes",
    type=Bytes(),
    default=_DEFAULTS.query_cache_bytes,
    metavar="SIZE",
    help=f"Query cache of each node.  [default: {format_bytes(_DEFAULTS.query_cache_bytes)}]",
)
@click.option(
    "--item-cache-entries",
    type=click.IntRange(min=1),
    metavar="N",
    help="Count entries instead of bytes, in both caches: for comparing miss ratios.",
)
@click.option(
    "--replication-delay",
    type=float,
    default=_DEFAULTS.replication_delay,
    show_default=True,
    metavar="SECONDS",
    help="How late a write reaches the other nodes.",
)
@click.option(
    "--gsi-lag",
    type=float,
    default=_DEFAULTS.gsi_lag,
    show_default=True,
    metavar="SECONDS",
    help="How late a write reaches the global secondary indexes.",
)
@click.option(
    "--table-delay",
    type=float,
    default=_DEFAULTS.table_delay,
    show_default=True,
    metavar="SECONDS",
    help="How long a table or index stays CREATING, UPDATING or DELETING.",
)
@click.option(
    "--ttl-delay",
    type=float,
    default=_DEFAULTS.ttl_delay,
    show_default=True,
    metavar="SECONDS",
    help="How long after its time to live (TTL) an item is removed from the store.",
)
@click.option("--throttling", is_flag=True, help="Throttle tables, indexes and partitions as DynamoDB does.")
@click.option(
    "--adaptive-capacity/--no-adaptive-capacity",
    default=_DEFAULTS.adaptive_capacity,
    help="With --throttling: a partition may use what the others leave, or only its share.",
)
@click.option(
    "--split-for-heat/--no-split-for-heat",
    default=_DEFAULTS.split_for_heat,
    help="With --throttling: a partition that stays hot is split, or stays.",
)
@click.option(
    "--heat-seconds",
    type=float,
    default=_DEFAULTS.heat_seconds,
    show_default=True,
    metavar="SECONDS",
    help="With --throttling: how long a partition is near its limit before it is split.",
)
@click.option(
    "--stale-reads",
    type=float,
    default=_DEFAULTS.stale_reads,
    show_default=True,
    metavar="SECONDS",
    help="How old the state may be that eventually consistent reads of the store see.",
)
@click.option("--monotonic-reads", is_flag=True, help="With --stale-reads: reads never go back in time.")
@click.option(
    "--backend",
    "backend_url",
    metavar="URL",
    help="Stand in front of this DynamoDB-compatible endpoint instead of the embedded engine.",
)
@click.option(
    "--data-dir",
    type=click.Path(),
    metavar="DIRECTORY",
    help="Keep tables and items in this directory. Without it they end with the cluster.",
)
@click.option(
    "--group-commit",
    type=float,
    default=_DEFAULTS.group_commit,
    show_default=True,
    metavar="SECONDS",
    help="How long writes to --data-dir gather at most before one flush to the disk. 0: one each.",
)
@click.option(
    "--credentials",
    "credentials_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help='Verify the signatures of DAX clients: JSON of {"access key id": "secret access key"}.',
)
@click.option("--advertise", metavar="IP", help="The address that DAX clients are told, if not --host.")
@click.option("--tls", is_flag=True, help="Also speak TLS (daxs://, https://), with a certificate made here.")
@click.option("--tls-certificate", metavar="FILE", help="Use this PEM certificate instead.")
@click.option("--tls-key", metavar="FILE", help="The key of --tls-certificate.")
@click.option("--trace", is_flag=True, help="Print each request of a DAX client, decoded.")
@click.option("--sample-data", "with_samples", is_flag=True, help="Create four small tables with items.")
@click.option("--json", "as_json", is_flag=True, help="Print the endpoints as one line of JSON.")
@click.option("--until-eof", is_flag=True, hidden=True, help="Also stop when standard input ends.")
def up(
    with_samples: bool,
    as_json: bool,
    until_eof: bool,
    trace: bool,
    tls: bool,
    item_cache_entries: int | None,
    credentials_file: Path | None,
    **settings: Any,
) -> int:
    """Run a cluster until Ctrl-C."""
    if credentials_file is not None:
        settings["credentials"] = read_credentials(credentials_file)
    if tls and settings["tls_certificate"] is None:
        settings["tls_certificate"], settings["tls_key"] = made_certificate(
            settings["host"], settings["advertise"], MADE_CERTIFICATES
        )
    if item_cache_entries is not None:
        settings.update(
            unit_size=True, item_cache_bytes=item_cache_entries, query_cache_bytes=item_cache_entries
        )
    try:
        config = ClusterConfig(**settings)
    except ConfigError as error:
        raise click.UsageError(_in_option_names(str(error))) from error
    if with_samples and config.table_delay:
        raise click.UsageError("--sample-data fills its tables at once, which --table-delay does not let it")
    try:
        live.run(_serve(config, trace=trace, with_samples=with_samples, as_json=as_json, until_eof=until_eof))
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    except DirectoryRefused as error:
        raise click.ClickException(str(error)) from error
    except CannotListen as error:
        raise click.ClickException(f"{error}; --host, --port and --store-port choose others") from error
    return 0


async def _serve(
    config: ClusterConfig, *, trace: bool, with_samples: bool, as_json: bool, until_eof: bool
) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    if until_eof:
        await _stop_at_eof(stopped)
    with _loading() as loading:
        cluster = await start_live(config, _print_trace if trace else None, loading)
    try:
        tables = await sample_data.load(cluster.backend) if with_samples else []
        if as_json:
            print(orjson.dumps(_places(cluster, tables)).decode(), flush=True)
        else:
            _first_screen(cluster, with_samples)
        with survivors_set_aside():
            await stopped.wait()
    finally:
        await cluster.stop()
    if not as_json:
        print("\nThe cluster has stopped.")


@contextmanager
def _loading() -> Iterator[Progress]:
    """Gives what shows how far a data directory is read, once there is so much that somebody waits for it."""
    with ExitStack() as shown:
        bar: list[Callable[[int], None]] = []
        before = 0

        def loading(done: int, total: int) -> None:
            nonlocal before
            if total >= _MANY_ROWS:
                if not bar:
                    bar.append(shown.enter_context(progress("reading the data directory", total)))
                bar[0](done - before)
                before = done

        yield loading


def _print_trace(line: str) -> None:
    """On standard error, which `--json` leaves to people."""
    click.echo(line, err=True)


async def _stop_at_eof(stopped: asyncio.Event) -> None:
    """Whoever started us holds our standard input: when they are gone, we go too. Raises UsageError."""
    kind = os.fstat(sys.stdin.fileno()).st_mode
    if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or sys.stdin.isatty()):
        raise click.UsageError("--until-eof needs a pipe at standard input")

    class UntilEof(asyncio.Protocol):
        def connection_lost(self, exc: Exception | None) -> None:
            stopped.set()

    await asyncio.get_running_loop().connect_read_pipe(UntilEof, sys.stdin)


def _places(cluster: LiveCluster, tables: list[str]) -> dict[str, Any]:
    return {
        "endpoint": cluster.endpoint,
        "store_endpoint": cluster.store_endpoint,
        "region": cluster.config.region,
        "nodes": [
            {
                "node": member.node_id,
                "role": member.role,
                "endpoint": cluster.node_endpoint(member.node_id),
            }
            for member in cluster.members()
        ],
        "tables": tables,
    }


# --- The first screen ---------------------------------------------------------------------------------------

_PROGRAM = """\
import boto3
dynamodb = boto3.resource("dynamodb", endpoint_url="{endpoint}", region_name="{region}",
                          aws_access_key_id="local", aws_secret_access_key="local")
"""
_WITH_SAMPLES = """\
answer = dynamodb.Table("ProductCatalog").get_item(Key={"Id": 101})
print(answer["Item"])
print(answer["ResponseMetadata"]["HTTPHeaders"]["x-daxsim-served-from"])  # store, then item-cache
"""
_WITHOUT_SAMPLES = """\
table = dynamodb.Table("Music")   # create it first, with endpoint_url="{store}"
table.put_item(Item={{"Artist": "Nina Simone", "Year": 1965}})
print(table.get_item(Key={{"Artist": "Nina Simone"}})["Item"])
"""


def _first_screen(cluster: LiveCluster, with_samples: bool) -> None:
    config = cluster.config
    console = Console(highlight=False, soft_wrap=True)
    nodes = f"{config.nodes} node" + ("s" if config.nodes > 1 else "")
    console.print(f"[bold]daxsim {version('daxsim')}[/bold]: a local DAX cluster of {nodes} is running.\n")
    for line in _addresses(cluster):
        console.print(Text(line))
    console.print(
        f"\n  item TTL {_seconds(config.item_ttl, 'entries never expire')}"
        f", query TTL {_seconds(config.query_ttl, 'results are not cached')}, {_capacity(config)}"
    )
    for line in _told_of_the_store(config):
        console.print(Text(f"  {line}"))
    if with_samples:
        console.print(f"  sample tables: {', '.join(table.name for table in sample_data.TABLES)}")
    console.print("\nTry it, with any credentials (python, pip install boto3):\n")
    program = _PROGRAM.format(endpoint=cluster.endpoint, region=config.region)
    more = _WITH_SAMPLES if with_samples else _WITHOUT_SAMPLES.format(store=cluster.store_endpoint)
    for line in (program + more).splitlines():
        console.print(Text("    " + line, style="cyan"))
    dax = cluster.endpoint.replace("http", "dax", 1)
    console.print(f"\nThe DAX SDK clients connect unmodified: [cyan]{dax}[/cyan]")
    if config.tls_certificate:
        daxs = dax.replace("dax", "daxs", 1)
        console.print(f"Over TLS: [cyan]{daxs}[/cyan], for those who trust {config.tls_certificate}")
    endpoint = "" if cluster.endpoint == "http://127.0.0.1:8111" else f" --endpoint {cluster.endpoint}"
    console.print(f"In another terminal: {_program_name()} status{endpoint}. Ctrl-C stops the cluster.")


def _program_name() -> str:
    """How this program is called where it is not on the path, as in the environment of `make up`."""
    called = sys.argv[0]
    return called if Path(called).name == "daxsim" and shutil.which("daxsim") is None else "daxsim"


def _addresses(cluster: LiveCluster) -> Iterator[str]:
    """A line for each port, in columns that no narrow terminal breaks."""
    rows = [("cluster", cluster.endpoint, "applications connect here")]
    for member in cluster.members():
        what = "writes go to the store through it" if member.role == "primary" else "a copy of the cache"
        rows.append((member.node_id, cluster.node_endpoint(member.node_id), f"{member.role}: {what}"))
    behind = cluster.config.backend_url or "the tables"
    rows.append(("store", str(cluster.store_endpoint), f"{behind}, no cache: create tables here"))
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, url, what in rows:
        yield f"  {name:<{widths[0]}}  {url:<{widths[1]}}  {what}"


def _told_of_the_store(config: ClusterConfig) -> Iterator[str]:
    """What is not as in a store without options, and might surprise who forgot the options."""
    if config.data_dir is not None:
        yield f"tables and items are kept in {config.data_dir}"
    if config.throttling:
        yield "the store throttles as DynamoDB does; daxsim status --store tells what and where"
    if config.gsi_lag:
        yield f"global secondary indexes follow {config.gsi_lag:g} s after a write"
    if config.stale_reads:
        yield f"eventually consistent reads of the store see states up to {config.stale_reads:g} s old"
    if config.table_delay:
        yield f"tables and indexes come and go in {config.table_delay:g} s"
    if config.ttl_delay != _DEFAULTS.ttl_delay:
        yield f"expired items are removed {config.ttl_delay:g} s after their time to live"


def _seconds(seconds: float, at_zero: str) -> str:
    return f"{seconds:g} s" if seconds else f"0 ({at_zero})"


def _capacity(config: ClusterConfig) -> str:
    if config.unit_size:
        return f"{config.item_cache_bytes} entries in each cache of a node"
    return (
        f"{format_bytes(config.item_cache_bytes)} of item cache and "
        f"{format_bytes(config.query_cache_bytes)} of query cache on each node"
    )


def _in_option_names(message: str) -> str:
    """A setting's error in the words of the command line: `item_ttl must ...` is about `--item-ttl`."""
    names = {field.name: "--" + field.name.replace("_", "-") for field in fields(ClusterConfig)}
    names["backend_url"] = "--backend"

    def named(word: re.Match[str]) -> str:
        return names.get(word[0], word[0])

    # In the middle of a sentence `host` and `port` are words.
    return re.sub(r"^[a-z_]+|\b[a-z]+(?:_[a-z]+)+\b|\bthrottling\b", named, message)
