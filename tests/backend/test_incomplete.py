"""What is kept of incomplete requests is bounded, and the slowest pay for it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from backend.incomplete import IncompleteRequests


def test_the_slowest_are_cut_off_until_the_others_fit() -> None:
    cut: list[str] = []
    requests = IncompleteRequests[str](100, cut.append)
    for name, size in (("a", 40), ("b", 10), ("a", 50), ("c", 40)):
        requests.note(name, size)
    assert cut == []
    requests.note("d", 60)
    assert (cut, len(requests)) == (["a", "b"], 2)
    requests.forget("d")
    requests.note("e", 60)
    assert cut == ["a", "b"]


def test_one_that_is_too_large_alone_is_cut_off_itself() -> None:
    cut: list[str] = []
    requests = IncompleteRequests[str](100, cut.append)
    requests.note("a", 101)
    assert (cut, len(requests)) == (["a"], 0)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 60)), max_size=60))
def test_the_limit_holds_whatever_arrives(arrivals: list[tuple[int, int]]) -> None:
    kept: dict[int, int] = {}
    requests = IncompleteRequests[int](100, lambda connection: kept.update({connection: 0}))
    for connection, size in arrivals:
        if size:
            kept[connection] = size
            requests.note(connection, size)
        else:
            kept[connection] = 0
            requests.forget(connection)
        assert sum(kept.values()) <= 100
        assert len(requests) == sum(size > 0 for size in kept.values())
