"""Playing a story on a venue, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cluster.config import ClusterConfig
from cluster.lab.history import History, HistoryRecorder
from cluster.lab.story import Changes, Stage, Story
from cluster.lab.venues import LiveVenue, SimulatedVenue
from cluster.lab.verdict import Finding
from cluster.runtime.simulated import Simulation, simulate

LIVE = "live"
SIMULATED = "simulated"


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
    history = await _play(story, venue, changes, runtime=LIVE, seed=None)
    return _judge(story, LIVE, None, history)


def play_simulated(story: Story, seed: int, changes: Changes | None = None) -> Outcome:
    """Play a story in the virtual time of a simulation with this seed."""
    changes = changes or Changes()
    return _judge(story, SIMULATED, seed, simulate(seed, simulated_program(story, changes)))


def simulated_program(story: Story, changes: Changes) -> Any:
    """The coroutine function that `cluster.runtime.simulated.simulate` and `check` run."""

    async def program(simulation: Simulation) -> History:
        venue = SimulatedVenue(_config(story, changes), simulation)
        return await _play(story, venue, changes, runtime=SIMULATED, seed=simulation.seed)

    return program


async def _play(
    story: Story, venue: LiveVenue | SimulatedVenue, changes: Changes, *, runtime: str, seed: int | None
) -> History:
    await venue.open()
    try:
        recorder = HistoryRecorder(venue.cluster.runtime.clock.now)
        settings = {**story.settings, **changes.settings}
        recorder.run(story=story.name, runtime=runtime, seed=seed, settings=settings)
        await story.play(Stage(venue, recorder, changes))
        return recorder.history
    finally:
        await venue.close()


def _judge(story: Story, runtime: str, seed: int | None, history: History) -> Outcome:
    return Outcome(story, runtime, seed, history, tuple(story.judge(history)))


def _config(story: Story, changes: Changes) -> ClusterConfig:
    return ClusterConfig().but(**{**story.settings, **changes.settings})
