"""The tokens of a PartiQL statement.

Rules, as the service applies them:

* Keywords and bare names ignore case for keywords and keep it for names; `"quoted"` names may be anything,
  `""` inside stands for one quote. Strings are `'single quoted'`, `''` inside stands for one quote.
* Comments (`-- to the end of the line`, `/* block */`) are white space. `#` starts nothing.
* Number literals may have an exponent and may lack a leading digit (`.5`, `7.31e6`); one whose exponent or
  scale does not fit 32 bits cannot be read at all.
* Every token knows its line and column (from 1) and its length in characters: messages quote them.

What cannot be tokenised is refused as not well formed, with nothing after the colon.

Source: the exact messages recorded on the live service by the public Parity Suite (tier 3, partiqlGrammar).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from backend.errors import ServiceError, validation_error

_INT32_MAX = 2**31 - 1


class Kind(Enum):
    """What a token is."""

    NAME = "name"
    QUOTED_NAME = "quoted name"
    KEYWORD = "keyword"
    STRING = "string"
    NUMBER = "number"
    PARAMETER = "parameter"
    SYMBOL = "symbol"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """`text` is the name, the string's content, the number as written, or the keyword in lower case."""

    kind: Kind
    text: str
    line: int
    column: int
    length: int

    @property
    def position(self) -> str:
        """`line:column:length`, as messages of the service quote it."""
        return f"{self.line}:{self.column}:{self.length}"

    def is_keyword(self, *words: str) -> bool:
        return self.kind is Kind.KEYWORD and self.text in words

    def is_symbol(self, *symbols: str) -> bool:
        return self.kind is Kind.SYMBOL and self.text in symbols


def not_well_formed(detail: str = "") -> ServiceError:
    """The service's envelope for a statement that its parser cannot read."""
    return validation_error(f"Statement wasn't well formed, can't be processed: {detail}")


# The reserved words of SQL-92 as PartiQL keeps them, and PartiQL's own. A bare name that is one of these must
# be quoted to be an attribute. The parts of a date (`year`, `month`, ...) are not reserved.
_RESERVED = """
    absolute action add all allocate alter and any are as asc assertion at authorization avg begin
    between bit bit_length both by cascade cascaded case cast catalog char character
    character_length char_length check close coalesce collate collation column commit connect
    connection constraint constraints continue convert corresponding count create cross current
    current_date current_time current_timestamp current_user cursor date deallocate dec decimal
    declare default deferrable deferred delete desc describe descriptor diagnostics disconnect
    distinct domain double drop else end escape except exception exec execute exists external
    extract false fetch first float for foreign found from full get global go goto grant group
    having identity immediate in indicator initially inner input insensitive insert int integer
    intersect interval into is isolation join key language last left level like local lower match
    max min module names national natural nchar next no not null nullif numeric octet_length of on
    only open option or order outer output overlaps pad partial position precision prepare preserve
    primary prior privileges procedure public read real references relative restrict revoke right
    rollback rows schema scroll section select session session_user set size smallint some space sql
    sqlcode sqlerror sqlstate substring sum system_user table temporary then time timestamp to
    transaction translate translation trim true union unique unknown update upper usage user using
    value values varchar varying view when whenever where with work write zone missing pivot unpivot
    limit tuple remove index conflict do return let bag struct symbol clob blob list sexp string
    bool boolean int2 int4 int8 number
"""
KEYWORDS = frozenset(_RESERVED.split())

_TOKEN = re.compile(
    r"""
    (?P<space>\s+ | --[^\n]* | /\*(?:.|\n)*?\*/)
  | (?P<string>'(?:[^']|'')*')
  | (?P<quoted>"(?:[^"]|"")*")
  | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<word>[A-Za-z_$][A-Za-z0-9_$]*)
  | (?P<parameter>\?)
  | (?P<symbol><<|>>|<=|>=|<>|!=|\|\||[=<>+\-*/%()\[\]{},.:;])
    """,
    re.VERBOSE,
)


def tokens(text: str) -> list[Token]:
    """Every token of the statement, then one END.

    Raises `ValidationException` on a character, comment, string or number that cannot be read.
    """
    found: list[Token] = []
    offset, line, line_start = 0, 1, 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        unclosed_comment = text.startswith("/*", offset) and match is not None and match.lastgroup != "space"
        if match is None or unclosed_comment:
            raise not_well_formed()
        kind, raw = match.lastgroup, match.group()
        if kind != "space":
            found.append(_token(kind, raw, line, offset - line_start + 1))
        offset = match.end()
        newlines = raw.count("\n")
        if newlines:
            line += newlines
            line_start = match.start() + raw.rindex("\n") + 1
    found.append(Token(Kind.END, "", line, offset - line_start + 1, 0))
    return found


def _token(kind: str | None, raw: str, line: int, column: int) -> Token:
    length = len(raw)
    if kind == "word":
        lowered = raw.lower()
        if lowered in KEYWORDS:
            return Token(Kind.KEYWORD, lowered, line, column, length)
        return Token(Kind.NAME, raw, line, column, length)
    if kind == "string":
        return Token(Kind.STRING, raw[1:-1].replace("''", "'"), line, column, length)
    if kind == "quoted":
        return Token(Kind.QUOTED_NAME, raw[1:-1].replace('""', '"'), line, column, length)
    if kind == "number":
        _check_scale(raw)
        return Token(Kind.NUMBER, raw, line, column, length)
    if kind == "parameter":
        return Token(Kind.PARAMETER, raw, line, column, length)
    return Token(Kind.SYMBOL, raw, line, column, length)


def _check_scale(raw: str) -> None:
    """Refuse an exponent, or a scale (digits after the point less the exponent), outside 32 bits."""
    mantissa, _, exponent_text = raw.lower().partition("e")
    exponent = int(exponent_text or "0")
    scale = len(mantissa.partition(".")[2]) - exponent
    if abs(exponent) > _INT32_MAX or abs(scale) > _INT32_MAX:
        raise not_well_formed()


class Cursor:
    """A walk over the tokens of a statement; END is never passed."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self.position = 0

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self.position]

    @property
    def following(self) -> Token:
        """The token behind the next one."""
        return self._tokens[min(self.position + 1, len(self._tokens) - 1)]

    def advance(self) -> Token:
        """Take the next token, whatever it is."""
        token = self.token
        if token.kind is not Kind.END:
            self.position += 1
        return token

    def take_keyword(self, *words: str) -> bool:
        """Take the next token if it is one of these keywords."""
        return self.token.is_keyword(*words) and bool(self.advance())

    def take_symbol(self, *symbols: str) -> bool:
        """Take the next token if it is one of these symbols."""
        return self.token.is_symbol(*symbols) and bool(self.advance())

    def take_word(self, word: str) -> bool:
        """Take a word that means something here only, such as RETURNING, and is a plain name elsewhere."""
        token = self.token
        is_word = token.kind in (Kind.NAME, Kind.KEYWORD) and token.text.lower() == word
        return is_word and bool(self.advance())

    def expect_symbol(self, symbol: str, detail: str) -> None:
        """Take the symbol, or refuse the statement as not well formed."""
        if not self.take_symbol(symbol):
            raise not_well_formed(detail)
