"""What the garbage collector of a server visits, and what it still frees."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from cluster.runtime.garbage import survivors_set_aside


class _Circle:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _only_our_collections() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def test_a_full_collection_does_not_visit_what_survived_one_before():
    with survivors_set_aside():
        rows = [{"pk": {"S": str(number)}} for number in range(1_000)]
        gc.collect()
        assert not any(visited is rows for visited in gc.get_objects())
    assert any(visited is rows for visited in gc.get_objects())


def test_circles_made_since_the_last_full_collection_are_freed():
    with survivors_set_aside():
        given_up = weakref.ref(_Circle())
        gc.collect()
        assert given_up() is None


def test_circles_that_survived_a_full_collection_are_freed_when_it_is_over():
    with survivors_set_aside():
        circle = _Circle()
        gc.collect()
        given_up = weakref.ref(circle)
        del circle
    gc.collect()
    assert given_up() is None


def test_what_survived_is_freed_with_its_last_reference():
    class Row:
        pass

    with survivors_set_aside():
        row = Row()
        gc.collect()
        freed = weakref.ref(row)
        del row
        assert freed() is None
