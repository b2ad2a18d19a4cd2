"""Statement text to AST, with the service's words for what it cannot read.

    statement   = select | insert | update | delete | from-first update | EXISTS ( select )
    select      = SELECT ( * | path , ... ) FROM target [ WHERE condition ] [ ORDER BY path [ASC|DESC] , ... ]
    insert      = INSERT INTO target VALUE item
    update      = UPDATE target change ... [ WHERE condition ] [ returning ]
    from-first  = FROM target [ WHERE condition ] change ... [ returning ]
    delete      = DELETE FROM target [ WHERE condition ] [ returning ]
    change      = SET path = term , ... | REMOVE path , ...
    returning   = RETURNING ( ALL | MODIFIED ) ( OLD | NEW ) *

Conditions bind, loosest first: OR, AND, NOT, comparison (and IN, BETWEEN, IS), + and -. What a statement
means for a table (keys, indexes, types) is the planner's business; what this file refuses is refused for
every table.

Sources: the PartiQL reference of the DynamoDB developer guide; the exact messages recorded on the live
service by the public Parity Suite (tier 3, partiqlGrammar and partiql).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Literal, TypeVar, cast

from backend.errors import ServiceError, validation_error
from backend.partiql import ast
from backend.partiql.lexer import Cursor, Kind, Token, not_well_formed, tokens

T = TypeVar("T")

_MAX_NESTING = 60
"""Nested parentheses, lists and maps: as deep as attribute values may go, twice over."""

_TYPES = """
    null missing bool boolean smallint integer int int2 int4 int8 float real decimal numeric number timestamp
    char character varchar string symbol clob blob struct tuple list sexp bag date time
"""
_TYPE_NAMES = frozenset(_TYPES.split())
_TWO_WORD_TYPES = {"double": "precision", "character": "varying"}

_COMPARISONS = {"=": "=", "<>": "<>", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_INFIX_KEYWORDS = ("is", "in", "between", "like", "and", "or")
_FUNCTION_KEYWORDS = (
    "size",
    "count",
    "exists",
    "sum",
    "avg",
    "min",
    "max",
    "lower",
    "upper",
    "substring",
    "trim",
)
_UNSUPPORTED_CLAUSES = {"limit": "LIMIT", "group": "GROUP BY", "having": "HAVING"}


@lru_cache(maxsize=1024)
def parse(text: str) -> ast.Parsed:
    """The statement in `text`. Raises `ValidationException` as the service words it."""
    parser = _Parser(tokens(text))
    statement = parser.statement()
    return ast.Parsed(statement, parser.parameters)


class _Parser(Cursor):
    """Recursive descent over the tokens; `parameters` counts the `?` met so far."""

    def __init__(self, found: list[Token]) -> None:
        super().__init__(found)
        self._nesting = 0
        self.parameters = 0

    # Statements

    def statement(self) -> ast.Statement:
        statement = self._statement_body()
        self.take_symbol(";")
        if self.token.kind is not Kind.END:
            for word, clause in _UNSUPPORTED_CLAUSES.items():
                if isinstance(statement, ast.Select) and self.token.is_keyword(word):
                    raise validation_error(f"Unsupported clause: {clause} at {self.token.position}")
            raise not_well_formed("Unexpected token after expression")
        return statement

    def _statement_body(self) -> ast.Statement:
        if self.take_keyword("select"):
            return self._select()
        if self.take_keyword("insert"):
            return self._insert()
        if self.take_keyword("update"):
            return self._update()
        if self.take_keyword("delete"):
            return self._delete()
        if self.take_keyword("from"):
            return self._from_first_update()
        if self.token.is_keyword("exists"):
            return self._exists()
        raise self._no_data_manipulation()

    def _no_data_manipulation(self) -> ServiceError:
        """A bare expression: a type test is named in the refusal, everything else is no data manipulation."""
        if isinstance(self._expression(), ast.IsType) and self.token.kind is Kind.END:
            return validation_error("Unsupported operation: IsType")
        return not_well_formed("Expected data manipulation")

    def _select(self) -> ast.Select:
        projection = None if self.take_symbol("*") else self._projection()
        if not self.take_keyword("from"):
            raise not_well_formed("Expected FROM clause")
        if self.token.kind is Kind.END or self.token.is_symbol(";"):
            raise not_well_formed("Unexpected term")
        target = self._target()
        where = self._where()
        order_by: list[ast.Ordering] = []
        if self.take_keyword("order"):
            if not self.take_keyword("by"):
                raise not_well_formed("Expected BY after ORDER")
            order_by.append(self._ordering())
            while self.take_symbol(","):
                order_by.append(self._ordering())
        return ast.Select(projection, target, where, tuple(order_by))

    def _projection(self) -> tuple[ast.Path | ast.NotAPath, ...]:
        paths = [self._projected_path()]
        while self.take_symbol(","):
            paths.append(self._projected_path())
        return tuple(paths)

    def _projected_path(self) -> ast.Path | ast.NotAPath:
        term = self._expression()
        alias = self.token.is_keyword("as") or self.token.kind in (Kind.NAME, Kind.QUOTED_NAME)
        if isinstance(term, ast.Path):
            if alias:
                raise validation_error("Aliasing is not supported")
            return term
        no_path = ast.NotAPath(getattr(term, "position", self.token.position))
        if alias:
            raise no_path.refusal()
        return no_path

    def _ordering(self) -> ast.Ordering:
        path = self._expression()
        if not isinstance(path, ast.Path):
            raise validation_error("Only attribute names are supported in ORDER BY clause")
        descending = self.take_keyword("desc")
        if not descending:
            self.take_keyword("asc")
        return ast.Ordering(path, descending)

    def _exists(self) -> ast.Exists:
        start = self.position
        self.advance()
        if self.take_symbol("(") and self.take_keyword("select"):
            select = self._select()
            self.expect_symbol(")", "Expected closing parenthesis")
            return ast.Exists(select)
        self.position = start
        raise self._no_data_manipulation()

    def _insert(self) -> ast.Insert:
        if not self.take_keyword("into"):
            raise not_well_formed("Expected INTO after INSERT")
        target = self._simple_target()
        if target.index is not None:
            raise validation_error("FROM clause may only contain a single table name")
        if not self.take_keyword("value"):
            if self.token.is_keyword("values"):
                raise not_well_formed("Unexpected keyword")
            raise not_well_formed("Unexpected token after expression")
        return ast.Insert(target, self._term())

    def _update(self) -> ast.Update:
        target = self._target()
        changes = self._changes()
        where = self._where()
        return ast.Update(target, changes, where, self._returning())

    def _from_first_update(self) -> ast.Update:
        target = self._target()
        where = self._where()
        changes = self._changes()
        return ast.Update(target, changes, where, self._returning())

    def _changes(self) -> tuple[ast.Assignment | ast.Removal, ...]:
        changes: list[ast.Assignment | ast.Removal] = []
        while True:
            if self.take_keyword("set"):
                changes.append(self._assignment())
                while self.take_symbol(","):
                    changes.append(self._assignment())
            elif self.take_keyword("remove"):
                changes.append(ast.Removal(self._changed_path()))
                while self.take_symbol(","):
                    changes.append(ast.Removal(self._changed_path()))
            else:
                break
        if not changes:
            raise not_well_formed("Expected data manipulation")
        return tuple(changes)

    def _assignment(self) -> ast.Assignment:
        path = self._changed_path()
        self.expect_symbol("=", "Expected '=' for assignment")
        return ast.Assignment(path, self._term())

    def _changed_path(self) -> ast.Path:
        path = self._primary()
        if not isinstance(path, ast.Path):
            raise not_well_formed("Expected identifier for simple path")
        return path

    def _delete(self) -> ast.Delete:
        if not self.take_keyword("from"):
            raise not_well_formed("Expected FROM after DELETE")
        target = self._target()
        return ast.Delete(target, self._where(), self._returning())

    def _where(self) -> ast.Expression | None:
        return self._expression() if self.take_keyword("where") else None

    def _returning(self) -> ast.Returning | None:
        if not self.take_word("returning"):
            return None
        scope = "ALL" if self.take_word("all") else "MODIFIED" if self.take_word("modified") else None
        image = "OLD" if self.take_word("old") else "NEW" if self.take_word("new") else None
        if scope is None or image is None:
            raise not_well_formed("Expected ALL OLD, ALL NEW, MODIFIED OLD or MODIFIED NEW in RETURNING")
        self.expect_symbol("*", "Expected '*' in RETURNING")
        return ast.Returning(cast(Literal["ALL", "MODIFIED"], scope), cast(Literal["OLD", "NEW"], image))

    # Targets

    def _target(self) -> ast.Target:
        target = self._simple_target()
        self._refuse_alias()
        return target

    def _refuse_alias(self) -> None:
        token = self.token
        named = token.kind in (Kind.NAME, Kind.QUOTED_NAME) and token.text.lower() != "returning"
        if named or token.is_keyword("as"):
            raise validation_error("Aliasing is not supported")

    def _simple_target(self) -> ast.Target:
        names = [self._target_name()]
        while self.take_symbol("."):
            names.append(self._target_name())
        if not all(names):
            raise validation_error("Path component cannot be an empty string")
        if len(names) > 2:
            raise validation_error("A path may contain at most 2 components in the FROM clause")
        return ast.Target(names[0], names[1] if len(names) == 2 else None)

    def _target_name(self) -> str:
        if self.token.kind not in (Kind.NAME, Kind.QUOTED_NAME):
            raise not_well_formed("Expected identifier for simple path")
        return self.advance().text

    # Conditions

    def _expression(self) -> ast.Expression:
        return self._nested(self._or)

    def _nested(self, read: Callable[[], T]) -> T:
        self._nesting += 1
        if self._nesting > _MAX_NESTING:
            raise not_well_formed("Expression is nested too deeply")
        value = read()
        self._nesting -= 1
        return value

    def _or(self) -> ast.Expression:
        operands = [self._and()]
        while self.take_keyword("or"):
            self._expect_right_hand_side()
            operands.append(self._and())
        return operands[0] if len(operands) == 1 else ast.Or(tuple(operands))

    def _and(self) -> ast.Expression:
        operands = [self._not()]
        while self.take_keyword("and"):
            self._expect_right_hand_side()
            operands.append(self._not())
        return operands[0] if len(operands) == 1 else ast.And(tuple(operands))

    def _expect_right_hand_side(self) -> None:
        if self.token.kind is Kind.END or self.token.is_symbol(";"):
            raise not_well_formed("Missing right-hand side expression of infix operator")

    def _not(self) -> ast.Expression:
        if self.take_keyword("not"):
            return self._nested(lambda: ast.Not(self._not()))
        return self._comparison()

    def _comparison(self) -> ast.Expression:
        left = self._term_or_condition()
        while True:
            token = self.token
            if token.kind is Kind.SYMBOL and token.text in _COMPARISONS:
                self.advance()
                self._expect_right_hand_side()
                right = self._term_or_condition()
                left = ast.Comparison(_COMPARISONS[token.text], left, right)  # type: ignore[arg-type]
            elif token.is_keyword("is"):
                left = self._is(left)
            elif token.is_keyword("in", "between") or (
                token.is_keyword("not") and self.following.is_keyword("in", "between", "like")
            ):
                left = self._in_or_between(left)
            elif token.is_keyword("like"):
                raise validation_error(f"Unsupported operation: Like at {token.position}")
            else:
                return left

    def _is(self, operand: ast.Expression) -> ast.IsType:
        self.advance()
        negated = self.take_keyword("not")
        token = self.advance()
        name = token.text.lower()
        second = _TWO_WORD_TYPES.get(name)
        if second is not None and self.take_word(second):
            return ast.IsType(operand, f"{name} {second}", negated)
        if token.kind not in (Kind.KEYWORD, Kind.NAME) or name not in _TYPE_NAMES:
            raise not_well_formed("Expected type name")
        return ast.IsType(operand, name, negated)

    def _in_or_between(self, operand: ast.Expression) -> ast.Expression:
        negated = self.take_keyword("not")
        token = self.advance()
        self._expect_right_hand_side()
        if token.text == "like":
            raise validation_error(f"Unsupported operation: Like at {token.position}")
        found: ast.Expression
        if token.text == "in":
            found = ast.In(operand, self._candidates())
        else:
            lower = self._term_or_condition()
            if not self.take_keyword("and"):
                raise not_well_formed("Expected AND in BETWEEN")
            self._expect_right_hand_side()
            found = ast.Between(operand, lower, self._term_or_condition())
        return ast.Not(found) if negated else found

    def _candidates(self) -> tuple[ast.Expression, ...]:
        if self.take_symbol("("):
            found = [self._expression()]
            while self.take_symbol(","):
                found.append(self._expression())
            self.expect_symbol(")", "Expected closing parenthesis")
            return tuple(found)
        candidates = self._term()
        if isinstance(candidates, ast.ListLiteral | ast.BagLiteral):
            return candidates.elements
        raise validation_error("The IN operator requires a list of values")

    # Terms

    def _term(self) -> ast.Term:
        term = self._term_or_condition()
        if isinstance(term, ast.Condition):
            raise not_well_formed("Unexpected expression")
        return term

    def _term_or_condition(self) -> ast.Expression:
        left = self._unary()
        while self.token.is_symbol("+", "-"):
            operator = self.advance()
            self._expect_right_hand_side()
            right = self._unary()
            if isinstance(left, ast.Condition) or isinstance(right, ast.Condition):
                raise not_well_formed("Unexpected expression")
            sign: Literal["+", "-"] = "+" if operator.text == "+" else "-"
            left = ast.Arithmetic(sign, left, right, operator.position)
        return left

    def _unary(self) -> ast.Expression:
        token = self.token
        if token.is_symbol("-", "+"):
            following = self.following
            if following.kind is not Kind.NUMBER:
                raise not_well_formed("Unexpected operator")
            self.advance()
            self.advance()
            sign = "-" if token.text == "-" else ""
            return ast.Scalar("N", sign + following.text, token.position)
        return self._primary()

    def _primary(self) -> ast.Expression:
        token = self.advance()
        match token.kind:
            case Kind.STRING:
                return ast.Scalar("S", token.text, token.position)
            case Kind.NUMBER:
                return ast.Scalar("N", token.text, token.position)
            case Kind.PARAMETER:
                self.parameters += 1
                return ast.Parameter(self.parameters - 1, token.position)
            case Kind.NAME | Kind.QUOTED_NAME:
                if token.kind is Kind.NAME and self.token.is_symbol("("):
                    return self._call(token)
                return self._path(token)
            case Kind.KEYWORD:
                return self._keyword(token)
            case Kind.SYMBOL:
                return self._symbol(token)
            case Kind.END:
                raise not_well_formed("Unexpected term")

    def _keyword(self, token: Token) -> ast.Expression:
        if token.text in ("true", "false"):
            return ast.Scalar("BOOL", token.text == "true", token.position)
        if token.text == "null":
            return ast.Scalar("NULL", True, token.position)
        if token.text in _FUNCTION_KEYWORDS and self.token.is_symbol("("):
            return self._call(token)
        if token.is_keyword(*_INFIX_KEYWORDS):
            raise not_well_formed("Unexpected operator")
        raise not_well_formed("Unexpected keyword")

    def _symbol(self, token: Token) -> ast.Expression:
        if token.text == "(":
            inner = self._expression()
            self.expect_symbol(")", "Expected closing parenthesis")
            return inner
        if token.text == "[":
            return ast.ListLiteral(self._elements("]"), token.position)
        if token.text == "<<":
            return ast.BagLiteral(self._elements(">>"), token.position)
        if token.text == "{":
            return ast.MapLiteral(self._entries(), token.position)
        if token.text in _COMPARISONS or token.text in ("*", "/", "%", "||"):
            raise not_well_formed("Unexpected operator")
        raise not_well_formed("Unexpected term")

    def _elements(self, closing: str) -> tuple[ast.Term, ...]:
        if self.take_symbol(closing):
            return ()
        found = [self._nested(self._term)]
        while self.take_symbol(","):
            found.append(self._nested(self._term))
        self.expect_symbol(closing, f"Expected '{closing}'")
        return tuple(found)

    def _entries(self) -> tuple[tuple[str, ast.Term], ...]:
        if self.take_symbol("}"):
            return ()
        found = [self._entry()]
        while self.take_symbol(","):
            found.append(self._entry())
        self.expect_symbol("}", "Expected '}'")
        return tuple(found)

    def _entry(self) -> tuple[str, ast.Term]:
        token = self.advance()
        if token.kind not in (Kind.STRING, Kind.QUOTED_NAME):
            raise not_well_formed("Expected a string as a map key")
        self.expect_symbol(":", "Expected ':' after a map key")
        return token.text, self._nested(self._term)

    def _call(self, name: Token) -> ast.Call:
        self.advance()
        arguments: list[ast.Expression] = []
        if not self.take_symbol(")"):
            self.take_symbol("*")  # COUNT(*): refused wherever a call is looked at, for want of an argument
            while not self.take_symbol(")"):
                arguments.append(self._expression())
                if not self.take_symbol(",") and not self.token.is_symbol(")"):
                    raise not_well_formed("Expected closing parenthesis")
        return ast.Call(name.text.lower(), tuple(arguments), name.position)

    def _path(self, first: Token) -> ast.Path:
        parts: list[ast.PathPart] = [first.text]
        while True:
            if self.take_symbol("."):
                token = self.advance()
                if token.kind not in (Kind.NAME, Kind.QUOTED_NAME):
                    raise not_well_formed("Invalid path dot component")
                parts.append(token.text)
            elif self.take_symbol("["):
                token = self.advance()
                if token.kind is Kind.NUMBER and token.text.isdigit():
                    parts.append(int(token.text))
                elif token.kind is Kind.STRING:
                    parts.append(token.text)
                else:
                    raise not_well_formed("Invalid path component")
                self.expect_symbol("]", "Expected ']'")
            else:
                return ast.Path(tuple(parts), first.position)
