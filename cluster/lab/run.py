"""Playing a story on a venue, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from backend.errors import ServiceError
from cluster.config import ClusterConfig
from cluster.lab.client import Unreachable
from cluster.lab.history import History, HistoryRecorder
from cluster.lab.story import Changes, Stage, Story
from cluster.lab.venues import LiveVenue, SimulatedVenue
from cluster.lab.verdict import Finding
from cluster.runtime.simulated import Simulation, simulate

LIVE = "live"
SIMULATED = "simulated"


@dataclass(frozen=True, slots=True)
class Played:
    """What happened on the stage. `ended_by` is the refusal that ended the story early, if one did."""

    history: History
    ended_by: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A played story: its history, and what its judge found in it."""

    story: Story
    runtime: str
    seed: int | None
    history: History
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Every claim holds, and there is at least one."""
        return bool(self.findings) and all(finding.holds for finding in self.findings)


async def play_live(story: Story, changes: Changes | None = None) -> Outcome:
    """Play a story with boto3 on real sockets, on the running event loop."""
    changes = changes or Changes()
    venue = LiveVenue(_config(story, changes))
    played = await _play(story, venue, changes, runtime=LIVE, seed=None)
    return _judge(story, LIVE, None, played)


def play_simulated(story: Story, seed: int, changes: Changes | None = None) -> Outcome:
    """Play a story in the virtual time of a simulation with this seed."""
    changes = changes or Changes()
    return _judge(story, SIMULATED, seed, simulate(seed, simulated_program(story, changes)))


def simulated_program(story: Story, changes: Changes) -> Callable[[Simulation], Coroutine[Any, Any, Played]]:
    """The coroutine function that `cluster.runtime.simulated.simulate` and `check` run."""

    async def program(simulation: Simulation) -> Played:
        venue = SimulatedVenue(_config(story, changes), simulation)
        return await _play(story, venue, changes, runtime=SIMULATED, seed=simulation.seed)

    return program


async def _play(
    story: Story, venue: LiveVenue | SimulatedVenue, changes: Changes, *, runtime: str, seed: int | None
) -> Played:
    await venue.open()
    try:
        recorder = HistoryRecorder(venue.cluster.runtime.clock.now)
        settings = {**story.settings, **changes.settings}
        priced = {} if changes.write_price is None else {"write_price": changes.write_price}
        recorder.run(story=story.name, runtime=runtime, seed=seed, settings=settings, **priced)
        try:
            await story.play(Stage(venue, recorder, changes))
        except (ServiceError, Unreachable) as refusal:
            return Played(recorder.history, str(refusal))
        return Played(recorder.history)
    finally:
        await venue.close()


def _judge(story: Story, runtime: str, seed: int | None, played: Played) -> Outcome:
    if played.ended_by is None:
        findings = tuple(story.judge(played.history))
    else:
        last = played.history.operations()[-1]
        evidence = f"{last} was refused, which the story does not expect: {played.ended_by}"
        findings = (Finding(False, "the story is played to its end", evidence),)
    return Outcome(story, runtime, seed, played.history, findings)


def _config(story: Story, changes: Changes) -> ClusterConfig:
    return ClusterConfig().but(**{**story.settings, **changes.settings})
