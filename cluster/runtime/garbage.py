"""The garbage collector of a process that holds a store.

A full collection visits every container there is. With a million items in the tables that takes seconds, in
which nothing is answered, and a table that grows causes one for each quarter that it grows by. Items are
never found to be garbage that way: they are freed with the last reference to them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def survivors_set_aside() -> Iterator[None]:
    """Let a full collection visit only what was made since the one before: survivors are visited once.

    What exists at the beginning is set aside too. The price: objects that refer to each other in a circle,
    survive a full collection and are given up later are not freed until the block ends.
    """
    gc.freeze()
    gc.callbacks.append(_set_aside)
    try:
        yield
    finally:
        gc.callbacks.remove(_set_aside)
        gc.unfreeze()


def _set_aside(phase: str, collection: Mapping[str, int]) -> None:
    if phase == "stop" and collection["generation"] == 2:
        gc.freeze()
