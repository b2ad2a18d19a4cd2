"""What a PartiQL statement says, before any table is known.

Every node is immutable. `position` is the `line:column:length` of the token that messages point at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from backend.errors import ServiceError, validation_error

PathPart = str | int
"""A map key or a list index."""


# Terms: what a comparison compares and an assignment assigns.


@dataclass(frozen=True, slots=True)
class Path:
    """A document path; the first part is an attribute name."""

    parts: tuple[PathPart, ...]
    position: str

    @property
    def attribute(self) -> str:
        return str(self.parts[0])

    @property
    def is_attribute(self) -> bool:
        return len(self.parts) == 1


@dataclass(frozen=True, slots=True)
class Scalar:
    """A string, number (as written), boolean or null: the one type and content of an attribute value."""

    type: Choice["S", "N", "BOOL", "NULL"]
    content: str | bool
    position: str


@dataclass(frozen=True, slots=True)
class ListLiteral:
    elements: tuple[Term, ...]
    position: str


@dataclass(frozen=True, slots=True)
class MapLiteral:
    entries: tuple[tuple[str, Term], ...]
    position: str


@dataclass(frozen=True, slots=True)
class BagLiteral:
    """`<<1, 2>>`: a number set or a string set."""

    elements: tuple[Term, ...]
    position: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """The `index`th `?` of the statement, from 0."""

    index: int
    position: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function call; `name` in lower case."""

    name: str
    arguments: tuple[Expression, ...]
    position: str


@dataclass(frozen=True, slots=True)
class Arithmetic:
    operator: Choice["+", "-"]
    left: Term
    right: Term
    position: str


Term = Path | Scalar | ListLiteral | MapLiteral | BagLiteral | Parameter | Call | Arithmetic


# Conditions. A call is one too: `begins_with(a, 'x')`.


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: Choice["=", "<>", "<", "<=", ">", ">="]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Between:
    operand: Expression
    lower: Expression
    upper: Expression


@dataclass(frozen=True, slots=True)
class In:
    operand: Expression
    candidates: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class IsType:
    """`path IS [NOT] <type>`; `type` in lower case, `missing` and `null` among them."""

    operand: Expression
    type: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Not:
    operand: Expression


@dataclass(frozen=True, slots=True)
class And:
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    operands: tuple[Expression, ...]


Condition = Comparison | Between | In | IsType | Not | And | Or
Expression = Term | Condition


# Statements.


@dataclass(frozen=True, slots=True)
class Target:
    """The table, and the index of it, that a statement names."""

    table: str
    index: str | None = None


@dataclass(frozen=True, slots=True)
class Ordering:
    path: Path
    descending: bool


@dataclass(frozen=True, slots=True)
class NotAPath:
    """A term to project that is no path. The service refuses it only once it has found table and index."""

    position: str

    def refusal(self) -> ServiceError:
        return validation_error(f"Unexpected path component at {self.position}")


@dataclass(frozen=True, slots=True)
class Select:
    """`projection` is None for `*`."""

    projection: tuple[Path | NotAPath, ...] | None
    target: Target
    where: Expression | None
    order_by: tuple[Ordering, ...] = ()


@dataclass(frozen=True, slots=True)
class Exists:
    """`EXISTS(SELECT ...)`: a condition check of ExecuteTransaction."""

    select: Select


@dataclass(frozen=True, slots=True)
class Insert:
    target: Target
    value: Term


@dataclass(frozen=True, slots=True)
class Assignment:
    path: Path
    value: Term


@dataclass(frozen=True, slots=True)
class Removal:
    path: Path


@dataclass(frozen=True, slots=True)
class Returning:
    """`RETURNING ALL|MODIFIED OLD|NEW *`."""

    scope: Choice["ALL", "MODIFIED"]
    image: Choice["OLD", "NEW"]


@dataclass(frozen=True, slots=True)
class Update:
    target: Target
    changes: tuple[Assignment | Removal, ...]
    where: Expression | None
    returning: Returning | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    target: Target
    where: Expression | None
    returning: Returning | None = None


Statement = Select | Exists | Insert | Update | Delete


@dataclass(frozen=True, slots=True)
class Parsed:
    """A statement and how many parameters (`?`) it takes."""

    statement: Statement
    parameters: int
