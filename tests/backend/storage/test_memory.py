"""MemoryStorage: order, ranges, and all-or-nothing transactions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.storage.base import Row
from backend.storage.memory import MemoryStorage


def row(text: str) -> Row:
    return ({"v": {"S": text}}, len(text))


def keys(rows) -> list[bytes]:
    return [key for key, _ in rows]


@pytest.fixture
def storage() -> MemoryStorage:
    storage = MemoryStorage()
    with storage.transaction():
        for key in (b"b", b"a", b"\xff", b"ab"):
            storage.open("one").put(key, row(key.hex()))
    return storage


def test_keys_order_as_unsigned_bytes(storage):
    assert keys(storage.open("one").range()) == [b"a", b"ab", b"b", b"\xff"]
    assert keys(storage.open("one").range(reverse=True)) == [b"\xff", b"b", b"ab", b"a"]


def test_a_range_has_its_start_and_not_its_stop(storage):
    assert keys(storage.open("one").range(b"ab", b"\xff")) == [b"ab", b"b"]
    assert keys(storage.open("one").range(b"ab", b"\xff", reverse=True)) == [b"b", b"ab"]


def test_a_row_is_handed_out_as_it_was_put(storage):
    stored = row("shared")
    with storage.transaction():
        storage.open("one").put(b"k", stored)
    assert storage.open("one").get(b"k") is stored


def fail_half_way(storage):
    one, two = storage.open("one"), storage.open("two")
    with storage.transaction():
        one.put(b"a", row("replaced"))
        one.put(b"new", row("new"))
        one.delete(b"b")
        one.put(b"b", row("put again"))
        two.put(b"x", row("x"))
        raise ZeroDivisionError


def test_an_exception_undoes_every_write_of_every_map(storage):
    before = list(storage.open("one").range())
    with pytest.raises(ZeroDivisionError):
        fail_half_way(storage)
    assert list(storage.open("one").range()) == before
    assert len(storage.open("two")) == 0


def test_writes_outside_a_transaction_are_refused(storage):
    with pytest.raises(RuntimeError):
        storage.open("one").put(b"k", row("k"))
    with pytest.raises(RuntimeError):
        storage.open("one").delete(b"a")
    assert len(storage.open("one")) == 4


def test_transactions_do_not_nest(storage):
    with storage.transaction(), pytest.raises(RuntimeError), storage.transaction():
        pass


def test_a_dropped_map_comes_back_empty(storage):
    storage.drop("one")
    storage.drop("never there")
    assert len(storage.open("one")) == 0


writes = st.lists(st.tuples(st.binary(max_size=2), st.one_of(st.none(), st.text(max_size=3))), max_size=20)


@given(first=writes, second=writes, fails=st.booleans())
def test_a_transaction_is_all_or_nothing(first, second, fails):
    storage = MemoryStorage()
    stored = storage.open("map")
    model: dict[bytes, Row] = {}

    def write(target, changes):
        for key, text in changes:
            if text is None:
                target.delete(key)
            else:
                target.put(key, row(text))

    def write_model(changes):
        for key, text in changes:
            if text is None:
                model.pop(key, None)
            else:
                model[key] = row(text)

    with storage.transaction():
        write(stored, first)
    write_model(first)
    try:
        with storage.transaction():
            write(stored, second)
            if fails:
                raise ZeroDivisionError
        write_model(second)
    except ZeroDivisionError:
        pass
    assert list(stored.range()) == sorted(model.items())
    assert len(stored) == len(model)


def test_stored_bytes_are_the_sizes_of_the_rows_through_commits_and_undone_transactions(storage):
    one = storage.open("one")
    before = one.stored_bytes
    assert before == sum(size for _, (_, size) in one.range()) > 0
    with pytest.raises(ZeroDivisionError):
        fail_half_way(storage)
    assert one.stored_bytes == before
    with storage.transaction():
        one.put(b"a", row("a longer one"))
        one.delete(b"b")
        one.delete(b"never there")
    assert one.stored_bytes == sum(size for _, (_, size) in one.range()) != before
