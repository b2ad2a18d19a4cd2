"""The servers that are measured: each in a process of its own, pinned to one processor."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

HERE = Path(__file__).parent
DYNALITE_VERSION = "4.0.0"
CONNECTIONS = 32

_START_SECONDS = 60
_STOP_SECONDS = 20


class Unavailable(Exception):
    """A candidate cannot run here; the message says what it needs."""


def processors() -> tuple[set[int], set[int]]:
    """Where the server runs and where the load: one each, or the same one where there is only one."""
    available = sorted(os.sched_getaffinity(0))
    return {available[0]}, {available[-1]}


@contextmanager
def process(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A child on the servers' processor."""
    child = subprocess.Popen(
        command,
        preexec_fn=lambda: os.sched_setaffinity(0, processors()[0]),
        stdin=subprocess.PIPE,
        **options,
    )
    try:
        yield child
    finally:
        assert child.stdin
        child.stdin.close()
        child.terminate()
        try:
            child.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def cpu_seconds(pid: int) -> float | None:
    """What a process has used of a processor so far; None where the system has no `/proc`."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def daxsim(*more: str) -> Iterator[tuple[str, str]]:
    """A cluster of one node, with `more` options; its URL and its store's."""
    with daxsim_process(*more) as (node, store, _):
        yield node, store


@contextmanager
def daxsim_process(*more: str) -> Iterator[tuple[str, str, int]]:
    """The same with the id of its process."""
    options = ("--nodes", "1", "--port", "0", "--store-port", "0", "--item-ttl", "0", "--json", "--until-eof")
    command = (sys.executable, "-m", "cluster.cli.main", "up", *options, *more)
    with process(command, stdout=subprocess.PIPE) as child:
        assert child.stdout
        places = orjson.loads(child.stdout.readline() or b"{}")
        if not places:
            raise RuntimeError("daxsim up did not start")
        yield places["nodes"][0]["endpoint"], places["store_endpoint"], child.pid


@contextmanager
def bare_aiohttp(kind: str, body: bytes) -> Iterator[str]:
    """An aiohttp server that answers `body` to everything: `application` with a router, or `low-level`."""
    port = free_port()
    command = (sys.executable, "-m", "benchmarks.bare_aiohttp", kind, str(port))
    with process((*command, base64.b64encode(body).decode())) as child:
        yield _until_it_answers(child, port)


@contextmanager
def dynalite() -> Iterator[str]:
    """dynalite, in memory. Raises Unavailable without npm or Node.js."""
    script = _dynalite_script()
    port = free_port()
    with process(("node", str(script), "--port", str(port)), stdout=subprocess.DEVNULL) as child:
        yield _until_it_answers(child, port)


@contextmanager
def moto() -> Iterator[str]:
    """moto's server. Raises Unavailable where it is not installed."""
    try:
        import moto.server  # noqa: F401
    except ImportError as error:
        raise Unavailable(f'moto is not installed ({error}): pip install -e ".[bench]"') from error
    port = free_port()
    command = (sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port))
    with process(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        yield _until_it_answers(child, port)


def _dynalite_script() -> Path:
    script = HERE / "node_modules" / "dynalite" / "cli.js"
    if script.is_file():
        return script
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise Unavailable("dynalite needs Node.js and npm, which are not installed")
    options = ("--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error")
    command = ("npm", "install", *options, "--prefix", str(HERE), f"dynalite@{DYNALITE_VERSION}")
    try:
        subprocess.run(command, check=True, timeout=300, capture_output=True)
    except (subprocess.SubprocessError, OSError) as error:
        raise Unavailable(f"npm could not install dynalite ({error})") from error
    return script


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _until_it_answers(child: subprocess.Popen[bytes], port: int) -> str:
    url = f"http://127.0.0.1:{port}"
    for _ in range(_START_SECONDS * 10):
        if child.poll() is not None:
            raise RuntimeError(f"{child.args!r} ended with {child.returncode}")
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except urllib.error.HTTPError:
            return url
        except OSError:
            time.sleep(0.1)
        else:
            return url
    raise RuntimeError(f"nothing answers at {url}")


def measure(url: str, request: bytes, seconds: float, connections: int = CONNECTIONS) -> dict[str, Any]:
    """The load's result: `requests_per_second` and `latency_seconds` by name."""
    host, _, port = url.removeprefix("http://").partition(":")
    order = {
        "host": host,
        "port": int(port),
        "request": base64.b64encode(request).decode(),
        "connections": connections,
        "warm_up": min(0.5, seconds),
        "seconds": seconds,
    }
    child = subprocess.run(
        (sys.executable, "-m", "benchmarks.load"),
        input=orjson.dumps(order),
        stdout=subprocess.PIPE,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, processors()[1]),
    )
    result: dict[str, Any] = orjson.loads(child.stdout)
    return result
