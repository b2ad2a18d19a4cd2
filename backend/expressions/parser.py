"""Expression text to syntax tree.

The grammar, upper-case words matching in any case:

    condition  = condition OR condition | condition AND condition | NOT condition | "(" condition ")" |
    predicate predicate  = operand comparator operand | operand BETWEEN operand AND operand
               | operand IN "(" operand {"," operand} ")" | function
    operand    = path | :value | function | "(" operand ")"
    function   = name "(" operand {"," operand} ")"
    path       = (name | #name) {"." (name | #name) | "[" index "]"}
    update     = {SET assignment {"," assignment} | REMOVE path {"," path} | ADD ... | DELETE path :value ...}
    assignment = path "=" (operand | operand "+" operand | operand "-" operand)
    projection = path {"," path}

A parenthesis may hold a condition or an operand, which shows only behind it: `_expression` parses either,
and whoever needs one of the two says so. What a tree may contain beyond its syntax (known functions,
reserved words, defined placeholders) is checked later, by whoever compiles it: the service reports errors
in that order too. The exception is doubled parentheses, which it reports on sight.

Nesting is bounded by what can be legal: each pair of parentheses that is not superfluous holds an operator,
and an expression has at most 300: comparisons and what joins them in a condition, sums and functions in an
update.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NoReturn

from backend.expressions.ast import (
    Action,
    Add,
    And,
    Arithmetic,
    Between,
    Comparison,
    Condition,
    Delete,
    Function,
    In,
    Not,
    Operand,
    Or,
    Path,
    Placeholder,
    Projection,
    Remove,
    Set,
    Update,
)
from backend.expressions.lexer import Token, invalid, syntax_error, tokens

MAX_OPERATORS = 300
MAX_INDEX = 4294967294
_COMPARATORS = frozenset(("=", "<>", "<", "<=", ">", ">="))
_CONDITION_WORDS = frozenset(("AND", "OR", "NOT", "BETWEEN", "IN"))
_SECTIONS = frozenset(("SET", "REMOVE", "ADD", "DELETE"))
_CACHED_TEXTS = 4096


@lru_cache(_CACHED_TEXTS)
def parse_condition(text: str, kind: str) -> Condition:
    """The tree of a ConditionExpression, FilterExpression or KeyConditionExpression (`kind`)."""
    return _Parser(text, kind, _CONDITION_WORDS).condition()


@lru_cache(_CACHED_TEXTS)
def parse_update(text: str) -> Update:
    """The tree of an UpdateExpression."""
    return _Parser(text, "UpdateExpression", _SECTIONS).update()


@lru_cache(_CACHED_TEXTS)
def parse_projection(text: str) -> Projection:
    """The tree of a ProjectionExpression."""
    return _Parser(text, "ProjectionExpression", frozenset()).projection()


class _Parser:
    """A recursive descent over the tokens of one text. `words` are its grammar's keywords."""

    def __init__(self, text: str, kind: str, words: frozenset[str]) -> None:
        self._text = text
        self._kind = kind
        self._words = words
        self._tokens = tokens(text, kind)
        self._position = 0
        self._depth = 0
        self._operators = 0
        # First and last token of the parenthesis closed last: another one right around it is superfluous.
        self._closed = (-1, -1)

    # The three grammars.

    def condition(self) -> Condition:
        tree = self._condition(self._expression(0))
        self._end()
        self._check_operators()
        return tree

    def update(self) -> Update:
        actions: list[Action] = []
        seen: set[str] = set()
        repeated: str | None = None
        while True:
            section = self._keyword()
            if section not in _SECTIONS:
                self._fail()
            if section in seen:
                repeated = repeated or section
            seen.add(section)
            self._advance()
            actions.append(self._action(section))
            while self._accept(","):
                actions.append(self._action(section))
            if self._token.kind == "end":
                self._check_operators()
                return Update(tuple(actions), repeated)

    def projection(self) -> Projection:
        paths = [self._path()]
        while self._accept(","):
            paths.append(self._path())
        self._end()
        return Projection(tuple(paths))

    # Conditions.

    def _expression(self, level: int) -> Condition | Operand:
        """What stands before the next operator that binds less than `level`: 0 takes OR, 1 AND, 2 neither."""
        negations = 0
        while self._keyword() == "NOT":
            self._advance()
            negations += 1
        tree = self._predicate()
        for _ in range(negations):
            tree = Not(self._condition(tree))
        self._operators += negations
        while True:
            word = self._keyword()
            if word == "AND" and level <= 1:
                tree = And(self._chain(tree, "AND", 2))
            elif word == "OR" and level == 0:
                tree = Or(self._chain(tree, "OR", 1))
            else:
                return tree

    def _chain(self, first: Condition | Operand, word: str, level: int) -> tuple[Condition, ...]:
        conditions = [self._condition(first)]
        while self._keyword() == word:
            self._advance()
            self._operators += 1
            conditions.append(self._condition(self._expression(level)))
        return tuple(conditions)

    def _condition(self, tree: Condition | Operand) -> Condition:
        """The tree, if it can be true or false; otherwise the token behind it is the wrong one."""
        if not isinstance(tree, Comparison | Between | In | Function | And | Or | Not):
            self._fail()
        return tree

    def _predicate(self) -> Condition | Operand:
        if self._token.text == "(":
            start = self._open()
            left = self._expression(0)
            self._close(start)
        else:
            left = self._operand()
        if isinstance(left, Comparison | Between | In | And | Or | Not):
            return left
        text = self._token.text
        if text in _COMPARATORS:
            self._advance()
            self._operators += 1
            return Comparison(text, left, self._operand())
        word = self._keyword()
        if word == "BETWEEN":
            self._advance()
            self._operators += 1
            lower = self._operand()
            if self._keyword() != "AND":
                self._fail()
            self._advance()
            return Between(left, lower, self._operand())
        if word == "IN":
            self._advance()
            self._operators += 1
            return In(left, self._list_of_operands())
        return left

    # Operands.

    def _operand(self) -> Operand:
        token = self._token
        if token.kind == "value":
            self._advance()
            return Placeholder(token.text)
        if token.text == "(":
            start = self._open()
            operand = self._operand()
            self._close(start)
            return operand
        if token.kind == "name" and self._tokens[self._position + 1].text == "(":
            if token.text.upper() in self._words:
                self._fail()
            self._advance()
            if self._words is _SECTIONS:
                self._operators += 1
            self._deeper()
            arguments = self._list_of_operands()
            self._depth -= 1
            return Function(token.text, arguments)
        return self._path()

    def _list_of_operands(self) -> tuple[Operand, ...]:
        self._expect("(")
        operands = [self._operand()]
        while self._accept(","):
            operands.append(self._operand())
        self._expect(")")
        return tuple(operands)

    def _path(self) -> Path:
        elements: list[str | int] = [self._name()]
        while True:
            if self._accept("."):
                elements.append(self._name())
            elif self._accept("["):
                if self._token.kind != "index":
                    self._fail()
                elements.append(self._index())
                self._advance()
                self._expect("]")
            else:
                return Path(tuple(elements))

    def _index(self) -> int:
        index = int(self._token.text)
        if index > MAX_INDEX:
            raise invalid(self._kind, f"List index is not within the allowable range; index: [{index}]")
        return index

    def _name(self) -> str:
        token = self._token
        if token.kind != "alias" and (token.kind != "name" or token.text.upper() in self._words):
            self._fail()
        self._advance()
        return token.text

    # Updates.

    def _action(self, section: str) -> Action:
        path = self._path()
        if section == "SET":
            self._expect("=")
            return Set(path, self._right_hand_side())
        if section == "REMOVE":
            return Remove(path)
        token = self._token
        if token.kind != "value":
            self._fail()
        self._advance()
        value = Placeholder(token.text)
        return Add(path, value) if section == "ADD" else Delete(path, value)

    def _right_hand_side(self) -> Operand | Arithmetic:
        if self._token.text == "(":
            start = self._open()
            inner = self._right_hand_side()
            self._close(start)
            if isinstance(inner, Arithmetic):
                return inner
            left: Operand = inner
        else:
            left = self._operand()
        operator = self._token.text
        if operator not in ("+", "-"):
            return left
        self._advance()
        self._operators += 1
        return Arithmetic(operator, left, self._operand())

    # Tokens.

    @property
    def _token(self) -> Token:
        return self._tokens[self._position]

    def _keyword(self) -> str:
        """The current token in upper case if it is a name, else nothing."""
        token = self._tokens[self._position]
        return token.text.upper() if token.kind == "name" else ""

    def _advance(self) -> None:
        if self._position < len(self._tokens) - 1:
            self._position += 1

    def _accept(self, symbol: str) -> bool:
        token = self._tokens[self._position]
        if token.text == symbol and token.kind == "symbol":
            self._position += 1
            return True
        return False

    def _expect(self, symbol: str) -> None:
        if not self._accept(symbol):
            self._fail()

    def _open(self) -> int:
        start = self._position
        self._position += 1
        self._deeper()
        return start

    def _close(self, start: int) -> None:
        end = self._position
        self._expect(")")
        self._depth -= 1
        if self._closed == (start + 1, end - 1):
            raise self._redundant()
        self._closed = (start, end)

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_OPERATORS:
            raise self._redundant()

    def _redundant(self) -> Exception:
        return invalid(self._kind, "The expression has redundant parentheses;")

    def _check_operators(self) -> None:
        if self._operators > MAX_OPERATORS:
            raise invalid(
                self._kind,
                f"The expression contains too many operators; operator count: {self._operators}",
            )

    def _end(self) -> None:
        if self._token.kind != "end":
            self._fail()

    def _fail(self) -> NoReturn:
        raise syntax_error(self._kind, self._text, self._tokens, self._position)
