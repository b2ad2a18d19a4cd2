"""`daxsim demo`: play the documented stories and say whether they went as documented.

Exit code 0 when every verdict holds, 1 when one does not. In the simulation nothing that is printed depends
on the machine: the same seed prints the same bytes.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from cluster.cli.failure import Failure
from cluster.config import ClusterConfig, ConfigError
from cluster.lab.run import Outcome, play_live, play_simulated
from cluster.lab.scenarios import GROUPS, STORIES, story
from cluster.lab.story import Changes, Story
from cluster.lab.timeline import timeline
from cluster.runtime.live import run
from cluster.topology import UnknownNode

_NOT_OF_A_STORY = ("host", "port", "store_port", "table_delay")
"""A story is played on free ports of this machine, or on none, and fills its tables at once."""


def _settings(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    """`--set item_ttl=60`: the values as numbers, checked by the configuration itself."""
    settings: dict[str, Any] = {}
    for assignment in given:
        name, _, text = assignment.partition("=")
        if name in _NOT_OF_A_STORY:
            raise click.BadParameter(f"{name} is the same in every story")
        try:
            value = json.loads(text)
        except json.JSONDecodeError:
            value = None
        if not isinstance(value, int | float):
            raise click.BadParameter(f"{assignment!r} is not NAME=NUMBER")
        settings[name] = value
        try:
            ClusterConfig().but(**settings)
        except ConfigError as error:
            raise click.BadParameter(str(error)) from None
    return settings


@click.command(short_help="Play the stories of the documentation.")
@click.argument("name", default="list")
@click.option("--simulated", is_flag=True, help="Play in virtual time, without sockets.")
@click.option("--seed", type=int, default=7, show_default=True, help="The seed of a simulation.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a story instead of text.")
@click.option(
    "--history",
    "history_file",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write what happened to this file, as JSON Lines.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    callback=_settings,
    metavar="NAME=VALUE",
    help="Change a cluster setting, to see what a story depends on: --set item_ttl=60.",
)
@click.option(
    "--write-price",
    type=click.FloatRange(min=0),
    metavar="DOLLARS",
    help="The price of a million write units, where a story needs one.",
)
def demo(
    name: str,
    simulated: bool,
    seed: int,
    as_json: bool,
    history_file: Path | None,
    settings: dict[str, Any],
    write_price: float | None,
) -> int:
    """Play the documented stories: NAME, a group (`consistency`, `capacity`), or `list`.

    `all` is the group `consistency`: what a cache may answer. `capacity` is what a table can take.
    """
    if name == "list":
        _list(as_json)
        return 0
    changes = Changes(settings=settings, write_price=write_price)
    outcomes = []
    history = _open(history_file)
    try:
        for chosen in _chosen(name):
            outcome = play_simulated(chosen, seed, changes) if simulated else run(play_live(chosen, changes))
            outcomes.append(outcome)
            if history is not None:
                history.write(outcome.history.encode())
            for line in [json.dumps(_report(outcome))] if as_json else _text(outcome):
                click.echo(line)
    except UnknownNode as error:
        raise Failure(f"this story needs more nodes: {error}") from error
    finally:
        if history is not None:
            history.close()
    failed = [outcome.story.name for outcome in outcomes if not outcome.passed]
    if not as_json and len(outcomes) > 1:
        click.echo(f"{len(outcomes) - len(failed)} of {len(outcomes)} stories passed")
    return 1 if failed else 0


def _open(path: Path | None) -> BinaryIO | None:
    if path is None:
        return None
    try:
        return path.open("wb")
    except OSError as error:
        raise click.FileError(str(path), error.strerror) from None


def _chosen(name: str) -> tuple[Story, ...]:
    if name == "all":
        return STORIES
    if name in GROUPS:
        return GROUPS[name]
    try:
        return (story(name),)
    except LookupError as error:
        raise click.BadParameter(str(error), param_hint="NAME") from None


def _list(as_json: bool) -> None:
    if as_json:
        listing = [
            {"group": group, "name": s.name, "title": s.title, "lesson": s.lesson, "source": s.source}
            for group, stories in GROUPS.items()
            for s in stories
        ]
        click.echo(json.dumps(listing))
        return
    width = max(len(one.name) for stories in GROUPS.values() for one in stories)
    for group, stories in GROUPS.items():
        click.echo(f"{group}:")
        for one in stories:
            click.echo(f"  {one.name:<{width}}  {one.title}")


def _text(outcome: Outcome) -> Iterator[str]:
    told = outcome.story
    yield f"{told.name}: {told.title}"
    yield ""
    yield from timeline(outcome.history)
    yield ""
    for finding in outcome.findings:
        yield f"  {'yes' if finding.holds else 'NO '}  {finding.claim}"
        if not finding.holds:
            yield from textwrap.wrap(f"but {finding.evidence}", 100, initial_indent=" " * 7)
    yield f"{'PASSED' if outcome.passed else 'FAILED'}  {told.lesson}"
    yield ""


def _report(outcome: Outcome) -> dict[str, Any]:
    return {
        "story": outcome.story.name,
        "runtime": outcome.runtime,
        "seed": outcome.seed,
        "passed": outcome.passed,
        "findings": [
            {"holds": finding.holds, "claim": finding.claim, "evidence": finding.evidence}
            for finding in outcome.findings
        ],
    }
