"""The reserved words."""

from __future__ import annotations

import pytest

from backend.expressions.reserved import RESERVED_WORDS, is_reserved


def test_the_list_is_whole() -> None:
    assert len(RESERVED_WORDS) == 573
    assert {"ABORT", "ZONE", "FLATTERN", "INNTER", "TTL", "URL"} <= RESERVED_WORDS


@pytest.mark.parametrize("word", ["size", "Name", "STATUS", "data", "set", "and"])
def test_case_does_not_matter(word: str) -> None:
    assert is_reserved(word)


@pytest.mark.parametrize("word", ["pk", "names_", "abor", "attribute_exists"])
def test_other_words_are_free(word: str) -> None:
    assert not is_reserved(word)
