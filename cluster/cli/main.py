"""`daxsim`: the command line.

Rules of this file:

* whatever goes wrong is one line on standard error, `daxsim: <what>`, and an exit code: 2 for a command line
  that makes no sense, 1 for anything else that failed, 130 for an interrupted one-off command;
* no traceback reaches a user. `DAXSIM_DEBUG=1` shows it to whoever looks for the cause;
* a command's module is imported when the command is used, so that `daxsim --version` does not pay for all of
  them.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import traceback
from importlib.metadata import version

import click

from backend.errors import ServiceError
from cluster.cli.log_lines import LineFormatter, Once
from cluster.runtime.wall import wall_time

_COMMANDS = {
    "up": "cluster.cli.up:up",
    "status": "cluster.cli.status:status",
    "inspect": "cluster.cli.inspect:inspect",
    "flush": "cluster.cli.flush:flush",
    "kill": "cluster.cli.nodes:kill",
    "stop": "cluster.cli.nodes:stop",
    "restart": "cluster.cli.nodes:restart",
    "demo": "cluster.cli.demo:demo",
    "replay": "cluster.cli.replay:replay",
}


class _LazyGroup(click.Group):
    """Commands by name, in the order of `_COMMANDS`, imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("daxsim"), prog_name="daxsim")
def cli() -> None:
    """A local Amazon DynamoDB Accelerator (DAX): a cache cluster in front of a DynamoDB engine.

    Start with `daxsim up --sample-data`, then point boto3 at http://127.0.0.1:8111.
    """


def run(arguments: list[str]) -> int:
    """Run one command line; its exit code. Nothing that a command raises leaves here."""
    _log_in_lines()
    try:
        code = cli.main(arguments, prog_name="daxsim", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.UsageError as error:
        return _fail(_usage(error), 2)
    except click.ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    except ServiceError as error:
        return _fail(f"{error.code}: {error.message}" if error.message else error.code, 1)
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted", 130)
    except BrokenPipeError:
        # Whoever read our output has enough of it; Python would complain again when it closes standard
        # output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return _fail(f"internal error, {what} (DAXSIM_DEBUG=1 shows where)", 1)
    return code if isinstance(code, int) else 0


def _log_in_lines() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormatter())
    handler.addFilter(Once(wall_time))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


def _usage(error: click.UsageError) -> str:
    message = error.format_message().rstrip(".")
    command = error.ctx.command_path if error.ctx else "daxsim"
    return f"{message} (see: {command} --help)"


def _fail(message: str, code: int) -> int:
    if os.environ.get("DAXSIM_DEBUG"):
        traceback.print_exc()
    click.echo(f"daxsim: {' '.join(message.split())}", err=True)
    return code


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
