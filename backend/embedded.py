"""The engine of this process as a `Backend`."""

from __future__ import annotations

from backend.engine import Engine
from backend.protocol import Request, Response


class EmbeddedBackend:
    """A `Backend` whose operations run at once: `execute` never yields to the event loop."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    async def execute(self, operation: str, request: Request) -> Response:
        return self.engine.execute(operation, request)

    async def close(self) -> None:
        """Nothing is held but memory."""
