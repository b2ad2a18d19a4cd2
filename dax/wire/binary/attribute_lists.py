"""Attribute lists and their ids: what stands for the names of an item's non-key attributes.

On the wire an item is an id and then values; the id means an *ordered* list of names. Clients keep both
directions for as long as they live and never ask twice, so that an id must mean the same list on every node,
and after a restart. Therefore:

* Id 1 is the empty list; 0 is never an id (JavaScript clients hang on it).
* An id is derived from the list by a hash, in 2 .. 2^53-1. Every node of every cluster gives a list the same
  id, in any order of events: there is nothing to agree on and nothing to repair.
* Only the way back, id to list, is knowledge. One `AttributeLists` object is shared by the nodes of a
  cluster, so a node that restarts finds it there. `learned` is called with each new list before its id is
  handed out, for a cluster that keeps its data in a directory to write it down; while that is `unsettled`,
  answers wait. `restore` takes it back at the start.
* Should two lists ever hash to one id, the later one takes the next free id.
* The order is taken as given. Clients sort names by different rules; two orders are two ids.

The table grows with every distinct list and never shrinks, in DAX as here: unbounded attribute names exhaust
a node.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from hashlib import sha256
from typing import Protocol

from dax.wire.binary import cbor

Names = tuple[str, ...]

EMPTY_ID = 1
_FIRST_ID = 2
_ID_COUNT = (1 << 53) - _FIRST_ID


class Settling(Awaitable[None], Protocol):
    """Something that is being made durable."""

    def done(self) -> bool: ...

    def exception(self) -> BaseException | None: ...


Learned = Callable[[int, Names], Settling | None]
"""Writes a list down; what it returns is done once nothing can take the list back."""


class AttributeLists:
    """The lists of one cluster, both ways."""

    def __init__(self, learned: Learned | None = None) -> None:
        self._ids: dict[Names, int] = {(): EMPTY_ID}
        self._names: dict[int, Names] = {EMPTY_ID: ()}
        self._learned = learned
        self._settling: Settling | None = None
        self.bytes_used = 0

    def __len__(self) -> int:
        return len(self._ids)

    def id_of(self, names: Names) -> int:
        """The id of a list, handed out now if it is new."""
        known = self._ids.get(names)
        if known is not None:
            return known
        identifier = derived_id(names)
        while identifier in self._names:
            identifier = (identifier - _FIRST_ID + 1) % _ID_COUNT + _FIRST_ID
        if self._learned is not None:
            self._settling = self._learned(identifier, names)
        self._remember(identifier, names)
        return identifier

    @property
    def unsettled(self) -> Settling | None:
        """What an answer must await that may tell of a new list; None, nearly always, when there is none.

        A list that could not be written down stays unsettled for ever.
        """
        settling = self._settling
        if settling is not None and settling.done() and settling.exception() is None:
            settling = self._settling = None
        return settling

    def names_of(self, identifier: int) -> Names | None:
        """The list behind an id; None when this cluster never handed it out."""
        return self._names.get(identifier)

    def restore(self, lists: Iterable[tuple[int, Names]]) -> None:
        """Take back what `learned` was told in an earlier life of the cluster."""
        for identifier, names in lists:
            if names not in self._ids:
                self._remember(identifier, names)

    def _remember(self, identifier: int, names: Names) -> None:
        self._ids[names] = identifier
        self._names[identifier] = names
        self.bytes_used += sum(len(name) for name in names)


def derived_id(names: Names) -> int:
    """The id that a list has unless another list came first with the same."""
    digest = sha256(cbor.array([cbor.text(name) for name in names])).digest()
    return int.from_bytes(digest[:8], "big") % _ID_COUNT + _FIRST_ID
