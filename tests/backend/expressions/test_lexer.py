"""Tokens, and how a syntax error shows where it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import ServiceError
from backend.expressions.lexer import MAX_EXPRESSION_BYTES, syntax_error, tokens


def test_kinds() -> None:
    found = tokens("a.#b[0]<>:c!", "FilterExpression")
    assert [(token.kind, token.text) for token in found] == [
        ("name", "a"),
        ("symbol", "."),
        ("alias", "#b"),
        ("symbol", "["),
        ("index", "0"),
        ("symbol", "]"),
        ("symbol", "<>"),
        ("value", ":c"),
        ("unknown", "!"),
        ("end", "<EOF>"),
    ]


@given(st.text(max_size=30))
def test_every_character_is_in_a_token_or_white_space(text: str) -> None:
    if not text.strip(" \t\r\n"):
        with pytest.raises(ServiceError, match="The expression can not be empty;"):
            tokens(text, "FilterExpression")
        return
    found = tokens(text, "FilterExpression")
    rest = list(text)
    for token in found[:-1]:
        assert text[token.start : token.end] == token.text
        rest[token.start : token.end] = " " * len(token.text)
    assert not "".join(rest).strip(" \t\r\n")


@pytest.mark.parametrize(
    ("text", "position", "shown"),
    [
        ("INVALID SYNTAX HERE", 0, 'token: "INVALID", near: "INVALID SYNTAX"'),
        ("!!!INVALID", 0, 'token: "!", near: "!!"'),
        ("ADD hits : incr", 2, 'token: ":", near: "hits : incr"'),
        ("a =", 2, 'token: "<EOF>", near: "="'),
        ("a = b c", 3, 'token: "c", near: "b c"'),
    ],
)
def test_syntax_errors_show_the_neighbours(text: str, position: int, shown: str) -> None:
    error = syntax_error("UpdateExpression", text, tokens(text, "UpdateExpression"), position)
    assert error.message == f"Invalid UpdateExpression: Syntax error; {shown}"


def test_the_size_limit_counts_bytes_and_comes_before_syntax() -> None:
    tokens("é" * (MAX_EXPRESSION_BYTES // 2), "FilterExpression")
    with pytest.raises(ServiceError) as refused:
        tokens("é" * (MAX_EXPRESSION_BYTES // 2) + "!", "FilterExpression")
    assert refused.value.message == (
        "Invalid FilterExpression: "
        "Expression size has exceeded the maximum allowed size; expression size: 4097"
    )
