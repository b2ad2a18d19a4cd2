"""Log records as lines for a person: one line a record, and no line again and again.

A client that cannot get in tries every few seconds, on a new port each time; a hundred of them say the same
thing a hundred times. What differs from an earlier line by its port numbers only is counted for some seconds
and not shown; the next such line tells how many there were.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable

_QUIET_SECONDS = 30.0
_REMEMBERED = 1_000
_PORT = re.compile(r"(?<=:)\d{2,5}\b|(?<=', )\d{2,5}\b")  # of `host:port` and of Python's pairs


class LineFormatter(logging.Formatter):
    """A log record in one line, its traceback only for those who ask."""

    def format(self, record: logging.LogRecord) -> str:
        if os.environ.get("DAXSIM_DEBUG"):
            return super().format(record)
        error = record.exc_info[1] if record.exc_info else None
        cause = f" ({type(error).__name__}: {error})" if error else ""
        again = getattr(record, "again", 0)
        count = f" (and {again} times more like this)" if again else ""
        return f"daxsim: {record.getMessage()}{cause}{count}"


class Once(logging.Filter):
    """Lets a message through once in a while. `now`: seconds, of any clock that goes on."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self._now = now
        self._said: dict[str, tuple[float, int]] = {}  # when a message was shown, and how often not since

    def filter(self, record: logging.LogRecord) -> bool:
        if os.environ.get("DAXSIM_DEBUG"):
            return True
        message, now = _PORT.sub("*", record.getMessage()), self._now()
        shown_at, hidden = self._said.get(message, (now - _QUIET_SECONDS, 0))
        if now - shown_at < _QUIET_SECONDS:
            self._said[message] = (shown_at, hidden + 1)
            return False
        if len(self._said) >= _REMEMBERED:
            self._said.clear()
        self._said[message] = (now, 0)
        record.again = hidden
        return True
