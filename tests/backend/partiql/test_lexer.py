"""Tokens: what a statement's characters are, and where."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import ServiceError
from backend.partiql.lexer import KEYWORDS, Kind, tokens

NOT_WELL_FORMED = "Statement wasn't well formed, can't be processed: "


def kinds(text: str) -> list[tuple[Kind, str]]:
    return [(token.kind, token.text) for token in tokens(text)[:-1]]


def test_keywords_ignore_case_and_names_keep_it():
    assert kinds("SeLeCt Artist") == [(Kind.KEYWORD, "select"), (Kind.NAME, "Artist")]


def test_a_doubled_quote_stands_for_one():
    assert kinds("""'it''s' "a""b" """) == [(Kind.STRING, "it's"), (Kind.QUOTED_NAME, 'a"b')]


def test_comments_are_white_space():
    assert kinds("a -- b\n/* c\n d */ e") == [(Kind.NAME, "a"), (Kind.NAME, "e")]


@pytest.mark.parametrize("number", ["1", "1.5", ".5", "7.31e6", "7.31E+6", "73100000e-1", "5."])
def test_number_literals(number: str):
    assert kinds(number) == [(Kind.NUMBER, number)]


def test_bags_and_comparisons_are_not_confused():
    assert [text for _, text in kinds("<<1>> <= <> !=")] == ["<<", "1", ">>", "<=", "<>", "!="]


def test_positions_count_lines_columns_and_characters_from_one():
    first, second, _ = tokens("ab\n  size")
    assert (first.position, second.position) == ("1:1:2", "2:3:4")


@pytest.mark.parametrize(
    "text",
    [
        "pk = 1 # note",
        "pk = 1 /* note",
        "'open",
        '"open',
        "1e2147483648",
        "1e99999999999",
        "1.5e-2147483647",
        "`ion`",
    ],
)
def test_what_cannot_be_read_is_refused_with_nothing_after_the_colon(text: str):
    with pytest.raises(ServiceError) as refusal:
        tokens(text)
    assert (refusal.value.code, refusal.value.message) == ("ValidationException", NOT_WELL_FORMED)


def test_the_parts_of_a_date_are_no_keywords():
    assert not KEYWORDS & {"year", "month", "day", "hour", "minute", "second", "data", "title"}


@given(st.text())
def test_any_string_survives_quoting(content: str):
    quoted = "'" + content.replace("'", "''") + "'"
    assert kinds(quoted) == [(Kind.STRING, content)]


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str):
    with suppress(ServiceError):
        assert tokens(text)[-1].kind is Kind.END
