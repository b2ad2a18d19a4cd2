"""Long work in parts: whoever runs it may do something else after each."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")

Steps = Generator[None, None, T]
"""Work that yields after each part, and in the end returns its result."""


def finished(steps: Steps[T]) -> T:
    """The result of work that is done all at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
