"""What a load measures: latencies of requests sent after the warm-up, until time is up."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from cluster.lab.workloads.histogram import Histogram


class Measurement:
    """One run of a load. `over` ends with its time, or with the first failure. Needs a running event loop."""

    def __init__(self, warm_up: float, seconds: float) -> None:
        self.latency = Histogram()
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._warm_up = warm_up
        self._seconds = seconds
        self._from = self._until = float("inf")

    def begin(self) -> None:
        """The time starts, with its warm-up."""
        self._from = time.perf_counter() + self._warm_up
        self._until = self._from + self._seconds

    def answered(self, sent: float, now: float) -> bool:
        """Count an answer; whether to go on."""
        if now >= self._until:
            if not self.over.done():
                self.over.set_result(None)
            return False
        if sent >= self._from:
            self.latency.record(now - sent)
        return True

    def fail(self, what: str) -> None:
        if not self.over.done():
            self.over.set_exception(RuntimeError(what))

    def result(self) -> dict[str, Any]:
        """The figures, ready for JSON."""
        return {
            "requests_per_second": self.latency.count / self._seconds,
            "latency_seconds": self.latency.summary(),
        }
