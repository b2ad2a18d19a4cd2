"""How far a long command is, on standard error: a bar on a terminal, a few plain lines for a log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

_LINES = 10


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Gives `done(n)`: n more of `total` are done."""
    if sys.stderr.isatty():
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        ) as bar:
            task = bar.add_task(what, total=total)
            yield lambda n: bar.advance(task, n)
    else:
        yield _Lines(what, total).done


class _Lines:
    """A line at each tenth."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total = what, total
        self._count, self._printed = 0, 0

    def done(self, n: int) -> None:
        self._count += n
        tenths = self._count * _LINES // self._total if self._total else _LINES
        if tenths > self._printed:
            self._printed = tenths
            click.echo(f"{self._what}: {self._count:,} of {self._total:,}", err=True)
