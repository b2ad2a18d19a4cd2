"""What every command owes a user: one line, an exit code, and no traceback."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import click
import pytest

from backend.errors import ServiceError
from cluster.cli import main
from cluster.cli.failure import Failure


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> object:
    """Makes `daxsim fail` raise what it is given."""

    def install(error: BaseException) -> None:
        @click.command()
        def fail() -> None:
            raise error

        monkeypatch.setattr(main._LazyGroup, "get_command", lambda *_: fail)

    return install


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (Failure("port 8111 is taken"), 1, "daxsim: port 8111 is taken\n"),
        (ServiceError("ValidationException", "No\nsuch"), 1, "daxsim: ValidationException: No such\n"),
        (ServiceError("UnknownOperationException"), 1, "daxsim: UnknownOperationException\n"),
        (KeyboardInterrupt(), 130, "\ndaxsim: interrupted\n"),
        (click.UsageError("bad"), 2, "daxsim: bad (see: daxsim fail --help)\n"),
        (
            ZeroDivisionError("division by zero"),
            1,
            "daxsim: internal error, ZeroDivisionError: division by zero (DAXSIM_DEBUG=1 shows where)\n",
        ),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(
    failing: object, capsys: pytest.CaptureFixture[str], error: BaseException, code: int, line: str
) -> None:
    failing(error)  # type: ignore[operator]
    assert main.run(["fail"]) == code
    assert capsys.readouterr().err == line


def test_a_traceback_is_for_those_who_ask(
    failing: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAXSIM_DEBUG", "1")
    failing(Failure("no"))  # type: ignore[operator]
    assert main.run(["fail"]) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (
            ["up", "--nodes", "x"],
            "Invalid value for '--nodes': 'x' is not a valid integer (see: daxsim up --help)",
        ),
        (["up", "--nodes", "12"], "--nodes must be between 1 and 11, not 12"),
        (["up", "--nodes", "0"], "--nodes must be between 1 and 11, not 0"),
        (["up", "--item-ttl", "-1"], "--item-ttl must be a number of seconds, 0 or more"),
        (["up", "--item-ttl", "nan"], "--item-ttl must be a number of seconds, 0 or more"),
        (["up", "--port", "70000"], "--port must be between 0 and"),
        (["up", "--item-cache-bytes", "much"], "'much' is not a size"),
        (["up", "--backend", "dynamo"], "--backend must begin with http:// or https://"),
        (["up", "--tls-key", "k.pem"], "--tls-certificate and --tls-key are given together"),
        (["up", "--backend", "http://a", "--data-dir", "b"], "store, and --backend names another one"),
        (
            ["up", "--backend", "http://a", "--gsi-lag", "1"],
            "--gsi-lag is of the embedded store, not of a --b",
        ),
        (
            ["up", "--sample-data", "--table-delay", "1"],
            "--sample-data fills its tables at once, which --table",
        ),
        (["up", "--no-split-for-heat"], "--adaptive-capacity, --split-for-heat and --heat-seconds mean"),
        (["replay", "t.csv", "--ttl", "nan"], "'--ttl': nan is not a number"),
        (["replay", "t.csv", "--rate", "inf"], "'--rate': inf is not a number"),
        (["status", "--interval", "nan"], "'--interval': nan is not a number"),
        (["status", "--endpoint", "8111"], "'8111' is not http://host:port"),
        (["inspect"], "give a table and a key, or --request FILE"),
        (["inspect", "T", "{}", "--operation", "Query"], "--operation makes sense only with --request"),
        (["inspect", "T", '{"Id": 1}'], 'the values have no types; say {"Id":{"N":"1"}}'),
        (["flush", "T", '{"Id": {"N": "1"}}', "--cache", "query"], "--cache must be item"),
        (["kill"], "Missing argument 'NODE'"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_code_two(
    capsys: pytest.CaptureFixture[str], arguments: list[str], line: str
) -> None:
    assert main.run(arguments) == 2
    error = capsys.readouterr().err
    assert line in error
    assert error.startswith("daxsim: ")
    assert error.count("\n") == 1


@pytest.mark.live
@pytest.mark.parametrize("command", [["status"], ["flush"], ["kill", "node-1"], ["inspect", "T", "{}"]])
def test_no_cluster_is_one_line(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert main.run([*command, "--endpoint", "http://127.0.0.1:9"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("daxsim: cannot reach http://127.0.0.1:9: Connection refused; is a cluster")
    assert error.count("\n") == 1


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["--help"]) == 0
    listing = capsys.readouterr().out
    for name in main._COMMANDS:
        assert f"\n  {name} " in listing
        assert "..." not in listing.partition("Commands:")[2]
        assert main.run([name, "--help"]) == 0
        assert capsys.readouterr().out.startswith(f"Usage: daxsim {name}")


@pytest.mark.parametrize("module", ["cluster.cli", "cluster.cli.main"])
def test_the_module_is_the_program(module: str) -> None:
    command = (sys.executable, "-m", module, "--version")
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == f"daxsim, version {version('daxsim')}\n"


def test_ctrl_c_while_the_program_is_being_loaded_is_one_line() -> None:
    """Loading takes a fifth of a second, in which people do press it."""
    interrupted = (
        "import runpy, sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'click': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "runpy.run_module('cluster.cli', run_name='__main__')\n"
    )
    result = subprocess.run((sys.executable, "-c", interrupted), capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (130, "")
    assert result.stderr == "\ndaxsim: interrupted\n"
