"""Expression text to tokens.

Every character ends up in a token or is white space: a blank, a tab, the end of a line. One that no token
begins with is a token of its own, `unknown`, so that the parser alone says what a syntax error is. A syntax
error names the token and shows the text from the token before it to the token behind it, as the service does.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from backend.errors import ServiceError, validation_error

MAX_EXPRESSION_BYTES = 4096

_TOKEN = re.compile(
    r"""(?P<name>[A-Za-z][A-Za-z0-9_]*)
      | (?P<alias>\#[A-Za-z0-9_]+)
      | (?P<value>:[A-Za-z0-9_]+)
      | (?P<index>[0-9]+)
      | (?P<symbol><>|<=|>=|[=<>(),.\[\]+-])
      | (?P<unknown>[^ \t\r\n])""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """`kind` is `name`, `alias` (#n), `value` (:v), `index`, `symbol`, `unknown` or `end`."""

    kind: str
    text: str
    start: int
    end: int


def tokens(text: str, kind: str) -> list[Token]:
    """The tokens of an expression and a closing `end`; ValidationException for a text too long or empty."""
    size = len(text.encode())
    if size > MAX_EXPRESSION_BYTES:
        # Of an update the service does not say how long it is.
        told = "" if kind == "UpdateExpression" else f" expression size: {size}"
        raise invalid(kind, f"Expression size has exceeded the maximum allowed size;{told}")
    found = [Token(match.lastgroup or "", match[0], *match.span()) for match in _TOKEN.finditer(text)]
    if not found:
        raise invalid(kind, "The expression can not be empty;")
    found.append(Token("end", "<EOF>", len(text), len(text)))
    return found


def invalid(kind: str, problem: str) -> ServiceError:
    """A refusal of the expression that the request calls `kind` (`FilterExpression`)."""
    return validation_error(f"Invalid {kind}: {problem}")


def syntax_error(kind: str, text: str, found: list[Token], position: int) -> ServiceError:
    """The refusal of the token at `position`."""
    token = found[position]
    first = found[max(position - 1, 0)]
    last = found[min(position + 1, len(found) - 1)]
    end = last.end if last.kind != "end" else token.end if token.kind != "end" else first.end
    return invalid(kind, f'Syntax error; token: "{token.text}", near: "{text[first.start : end]}"')
