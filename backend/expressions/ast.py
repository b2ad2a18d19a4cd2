"""The syntax trees of all expressions.

The rules of this file:

* Nodes are frozen, hashable when their constants are, and can be built directly: a parser of expression
  text, the legacy parameters and PartiQL statements all produce them.
* A path is a tuple of attribute names and list indexes, `("a", 0, "b.c")` for `a[0].#n`. A name is never
  split. In a tree fresh from the text, a name that begins with `#` is a placeholder, because no bare name
  can; `paths.resolve` replaces it. In every other tree a name is a name.
* A value is a `Placeholder` (`:v`) of the request's values, or a `Constant` that carries its value.
"""

from __future__ import annotations

from dataclasses import dataclass

from backend.protocol import AttributeValue

PathElements = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A document path."""

    elements: PathElements


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A name of ExpressionAttributeValues, with its colon."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A canonical attribute value in place."""

    value: AttributeValue


@dataclass(frozen=True, slots=True)
class Function:
    """A call: a condition (`attribute_exists`) or an operand (`size`), whatever its name says."""

    name: str
    arguments: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`, the operator being one of `=`, `<>`, `<`, `<=`, `>`, `>=`."""

    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Between:
    """`operand BETWEEN lower AND upper`, both bounds included."""

    operand: Operand
    lower: Operand
    upper: Operand


@dataclass(frozen=True, slots=True)
class In:
    """`operand IN (candidate, ...)`."""

    operand: Operand
    candidates: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class And:
    """All of at least two conditions."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of at least two conditions."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The contrary of a condition."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left + right` or `left - right`, on the right-hand side of a SET."""

    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Set:
    """`SET path = value`."""

    path: Path
    value: Operand | Arithmetic


@dataclass(frozen=True, slots=True)
class Remove:
    """`REMOVE path`."""

    path: Path


@dataclass(frozen=True, slots=True)
class Add:
    """`ADD path value`: adds a number, or members to a set."""

    path: Path
    value: Value


@dataclass(frozen=True, slots=True)
class Delete:
    """`DELETE path value`: takes members out of a set."""

    path: Path
    value: Value


Value = Placeholder | Constant
Operand = Path | Placeholder | Constant | Function
Predicate = Comparison | Between | In | Function
Condition = Comparison | Between | In | Function | And | Or | Not
Action = Set | Remove | Add | Delete


@dataclass(frozen=True, slots=True)
class Update:
    """The actions of an update, in the order of their text.

    `repeated_section` is the first section that the text opens twice: an error, but not one of syntax.
    """

    actions: tuple[Action, ...]
    repeated_section: str | None = None


@dataclass(frozen=True, slots=True)
class Projection:
    """The paths of a projection, in the order of their text."""

    paths: tuple[Path, ...]
