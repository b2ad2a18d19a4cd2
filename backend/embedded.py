"""The engine of this process as a `Backend`."""

from __future__ import annotations

from backend.engine import Engine
from backend.group_commit import GroupCommit
from backend.protocol import Request, Response


class EmbeddedBackend:
    """A `Backend` whose operations run at once.

    Over a storage in memory `execute` never yields to the event loop. Over a durable one, `commits` holds the
    answer of every operation until nothing it changed or may have read can be lost any more.
    """

    def __init__(self, engine: Engine, commits: GroupCommit | None = None) -> None:
        self.engine = engine
        self.commits = commits

    async def execute(self, operation: str, request: Request) -> Response:
        commits = self.commits
        if commits is None:
            return self.engine.execute(operation, request)
        commits.check()
        try:
            return self.engine.execute(operation, request)
        finally:
            # A refusal waits too: that of a condition tells what it has read.
            ticket = commits.ticket()
            if ticket is not None:
                await ticket

    async def close(self) -> None:
        """Make durable what is not yet, and leave the data directory. Closing twice is harmless."""
        if self.commits is not None:
            await self.commits.close()
