"""Item sizes, by the examples of the rules."""

from __future__ import annotations

from typing import Any

import pytest

from backend.errors import ServiceError
from backend.model.sizes import MAX_ITEM_BYTES, check_item_size, item_size, value_size


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "abc"}, 3),
        ({"S": "é"}, 2),
        ({"S": ""}, 0),
        ({"B": b"abc"}, 3),
        ({"N": "0"}, 1),
        ({"N": "-12345"}, 5),
        ({"BOOL": False}, 1),
        ({"NULL": True}, 1),
        ({"SS": ["a", "é"]}, 3),
        ({"NS": ["1", "0"]}, 3),
        ({"BS": [b"ab", b"c"]}, 3),
        ({"L": []}, 3),
        ({"L": [{"S": "ab"}, {"NULL": True}]}, 3 + 1 + 2 + 1 + 1),
        ({"L": [{"N": "12"}, {"N": "-1"}, {"N": "12"}]}, 3 + 3 + 2 + 3 + 2),
        ({"L": [{"S": "é"}, {"S": "a"}]}, 3 + 2 + 2 + 1),
        ({"M": {}}, 3),
        ({"M": {"ab": {"S": "c"}}}, 3 + 1 + 2 + 1),
    ],
)
def test_value_size(value: Any, size: int) -> None:
    assert value_size(value) == size


def test_item_size_counts_names_in_utf8() -> None:
    assert item_size({"pk": {"S": "ab"}, "é": {"N": "1"}}) == 2 + 2 + 2 + 2


def test_the_limit_is_400_kilobytes_names_included() -> None:
    fits = {"a": {"S": "x" * (MAX_ITEM_BYTES - 1)}}
    assert item_size(fits) == 409600
    check_item_size(409600)
    for update, message in (
        (False, "Item size has exceeded the maximum allowed size"),
        (True, "Item size to update has exceeded the maximum allowed size"),
    ):
        with pytest.raises(ServiceError) as refused:
            check_item_size(item_size({**fits, "b": {"S": ""}}), update=update)
        assert refused.value.message == message
