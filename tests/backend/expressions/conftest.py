"""What the tests of expressions share: a way to ask for a refusal, and values of every type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from backend.errors import ServiceError

Refusal = Callable[[Callable[[], object]], str | None]


@pytest.fixture
def refusal() -> Refusal:
    """Runs an action that must be refused with a ValidationException, and gives its message."""

    def run(act: Callable[[], object]) -> str | None:
        with pytest.raises(ServiceError) as refused:
            act()
        assert refused.value.code == "ValidationException"
        return refused.value.message

    return run


@pytest.fixture
def one_of_each() -> dict[str, Any]:
    """A value of each datatype, by datatype."""
    return {
        "S": {"S": "a"},
        "N": {"N": "1"},
        "B": {"B": b"a"},
        "BOOL": {"BOOL": True},
        "NULL": {"NULL": True},
        "SS": {"SS": ["a"]},
        "NS": {"NS": ["1"]},
        "BS": {"BS": [b"a"]},
        "M": {"M": {}},
        "L": {"L": []},
    }
