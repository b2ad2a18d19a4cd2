"""What a command raises to end with one line and exit code 1."""

from __future__ import annotations

import click


class Failure(click.ClickException):
    """The command was understood and could not be done. The message is one line for a person."""

    exit_code = 1
