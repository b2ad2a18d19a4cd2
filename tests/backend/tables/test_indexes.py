"""Rows of an index: when there is one, what it holds, what a change costs."""

import pytest

from backend.model.keys import KeyAttribute, KeySchema
from backend.model.sizes import item_size
from backend.storage.memory import MemoryStorage
from backend.tables.definitions import IndexDefinition, Projection
from backend.tables.indexes import Index

TABLE = KeySchema(KeyAttribute("pk", "S"))
BY_STATUS = KeySchema(KeyAttribute("status", "S"), KeyAttribute("at", "N"))


@pytest.fixture
def build():
    def build(projection: Projection) -> Index:
        key_schema = (("status", "HASH"), ("at", "RANGE"))
        definition = IndexDefinition("by-status", BY_STATUS, key_schema, projection)
        rows = MemoryStorage().open("rows")
        return Index(definition, TABLE, rows, is_global=True, active_from=0.0)

    return build


ITEM = {
    "pk": {"S": "1"},
    "status": {"S": "open"},
    "at": {"N": "5"},
    "note": {"S": "x" * 2000},
    "tag": {"S": "t"},
}


@pytest.mark.parametrize(
    ("projection", "held"),
    [
        (Projection("KEYS_ONLY"), {"pk", "status", "at"}),
        (Projection("INCLUDE", ("tag", "absent")), {"pk", "status", "at", "tag"}),
        (Projection("ALL"), set(ITEM)),
    ],
)
def test_a_row_holds_what_is_projected(build, projection, held):
    _, (contents, size) = build(projection).row_of(row(ITEM), b"key")
    assert set(contents) == held
    assert size == item_size(contents)


@pytest.mark.parametrize("missing", ["status", "at"])
def test_an_item_without_an_index_key_has_no_row(build, missing):
    item = {name: value for name, value in ITEM.items() if name != missing}
    assert build(Projection("ALL")).row_of(row(item), b"key") is None


@pytest.mark.parametrize("value", [{"N": "1"}, {"S": ""}, {"NULL": True}])
def test_an_item_whose_index_key_does_not_fit_has_no_row(build, value):
    assert build(Projection("ALL")).row_of(row({**ITEM, "status": value}), b"key") is None


def row(item):
    return None if item is None else (item, item_size(item))


def units_of(index, old, new):
    change = index.change(b"k", row(old), row(new))
    return None if change is None else change[3]


def test_units_follow_what_happens_to_the_row(build):
    index = build(Projection("KEYS_ONLY"))
    moved = {**ITEM, "status": {"S": "shut"}}
    gone = {name: value for name, value in ITEM.items() if name != "status"}
    assert units_of(index, None, ITEM) == 1
    assert units_of(index, ITEM, None) == 1
    assert units_of(index, ITEM, gone) == 1
    assert units_of(index, ITEM, moved) == 2
    assert units_of(index, ITEM, {**ITEM, "note": {"S": "not projected"}}) is None
    assert units_of(index, gone, None) is None


def test_a_row_changed_in_place_costs_its_larger_size(build):
    index = build(Projection("ALL"))
    smaller = {**ITEM, "note": {"S": ""}}
    assert units_of(index, ITEM, smaller) == 2
    assert units_of(index, smaller, smaller) is None
