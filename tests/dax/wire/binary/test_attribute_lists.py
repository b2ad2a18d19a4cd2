"""Attribute lists: one id for one list, on every node and after a restart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dax.wire.binary import attribute_lists
from dax.wire.binary.attribute_lists import AttributeLists, derived_id

DERIVED_AB = 8989175233295471


def test_the_empty_list_is_one():
    assert AttributeLists().id_of(()) == 1
    assert AttributeLists().names_of(1) == ()


@given(st.lists(st.text(min_size=1, max_size=10), min_size=1, max_size=5).map(tuple))
def test_every_cluster_gives_the_same_id(names):
    one, other = AttributeLists(), AttributeLists()
    other.id_of(("something", "before"))
    identifier = one.id_of(names)
    assert identifier == other.id_of(names)
    assert 2 <= identifier < 2**53
    assert one.names_of(identifier) == names


def test_ids_do_not_change_from_version_to_version():
    assert derived_id(("a", "b")) == DERIVED_AB
    assert derived_id(("b", "a")) != DERIVED_AB


def test_an_unknown_id():
    assert AttributeLists().names_of(2) is None
    assert AttributeLists().names_of(0) is None


def test_lists_are_told_before_they_are_handed_out_and_can_be_restored():
    told = []
    before = AttributeLists(lambda identifier, names: told.append((identifier, names)))
    identifier = before.id_of(("x", "y"))
    before.id_of(("x", "y"))
    assert told == [(identifier, ("x", "y"))]
    after = AttributeLists()
    after.restore(told)
    assert after.names_of(identifier) == ("x", "y")
    assert len(after) == len(before) == 2
    assert after.bytes_used == 2


def test_two_lists_with_one_hash_get_two_ids(monkeypatch):
    monkeypatch.setattr(attribute_lists, "derived_id", lambda names: 7)
    lists = AttributeLists()
    assert lists.id_of(("a",)) == 7
    assert lists.id_of(("b",)) == 8
    assert lists.names_of(8) == ("b",)
    assert lists.id_of(("a",)) == 7
