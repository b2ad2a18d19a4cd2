"""Sizes to units."""

import pytest

from backend.tables.capacity import read_units, write_units


@pytest.mark.parametrize(
    ("size", "strong", "eventual"),
    [(0, 1.0, 0.5), (1, 1.0, 0.5), (4096, 1.0, 0.5), (4097, 2.0, 1.0), (409600, 100.0, 50.0)],
)
def test_reads_cost_one_unit_for_each_4_kb_begun_or_half(size, strong, eventual):
    assert read_units(size, consistent=True) == strong
    assert read_units(size, consistent=False) == eventual


@pytest.mark.parametrize(
    ("old", "new", "units"), [(0, 0, 1), (0, 1024, 1), (0, 1025, 2), (3000, 10, 3), (10, 3000, 3)]
)
def test_writes_cost_one_unit_for_each_kb_begun_of_the_larger_item(old, new, units):
    assert write_units(old, new) == units
