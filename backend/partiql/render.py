"""Conditions and changes of a statement as expression text, so that one evaluator serves both languages.

Rules:

* Names and values become placeholders (`#n0`, `:v0`), collected over all expressions of one request.
* Function names are case-insensitive in PartiQL; operand counts and the shapes that expressions do not have
  (`IS`, `set_add`, a function compared with true) are checked and translated here, everything else is the
  expression's own business.
* No parentheses are doubled: an expression refuses redundant ones.

Sources: the PartiQL operators and functions of the DynamoDB developer guide; the exact messages recorded on
the live service by the public Parity Suite (tier 3, partiqlFunctions).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from backend.errors import ServiceError, validation_error
from backend.model import numbers
from backend.partiql import ast
from backend.partiql.values import is_constant, value_of
from backend.protocol import AttributeValue

_OPERANDS = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
    "size": 1,
}
_PREDICATES = frozenset(_OPERANDS) - {"size"}
_MAX_CANDIDATES = 100
_EXPRESSION_CANDIDATES = 99
"""An IN of an expression takes 99 candidates; PartiQL's takes 100."""

_NUMBER_TYPES = """
smallint integer int int2 int4 int8 float real decimal numeric number
"""
_DATATYPES: dict[str, tuple[str, ...]] = {
    "null": ("NULL",),
    "bool": ("BOOL",),
    "boolean": ("BOOL",),
    "double precision": ("N",),
    "string": ("S",),
    "char": ("S",),
    "character": ("S",),
    "character varying": ("S",),
    "varchar": ("S",),
    "blob": ("B",),
    "list": ("L",),
    "struct": ("M",),
    "tuple": ("M",),
    "bag": ("SS", "NS", "BS"),
    **dict.fromkeys(_NUMBER_TYPES.split(), ("N",)),
}


class Renderer:
    """Expression texts over one pool of placeholders."""

    def __init__(self, parameters: Sequence[AttributeValue]) -> None:
        self._parameters = parameters
        self._aliases: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.values: dict[str, AttributeValue] = {}

    # Operands

    def path(self, path: ast.Path) -> str:
        text = ""
        for part in path.parts:
            if isinstance(part, int):
                text += f"[{part}]"
            else:
                text += ("." if text else "") + self.name(part)
        return text

    def name(self, name: str) -> str:
        alias = self._aliases.get(name)
        if alias is None:
            alias = self._aliases[name] = f"#n{len(self._aliases)}"
            self.names[alias] = name
        return alias

    def value(self, value: AttributeValue) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def _operand(self, term: ast.Expression) -> str:
        if isinstance(term, ast.Path):
            return self.path(term)
        if isinstance(term, ast.Call) and term.name == "size":
            return self._call(term)
        if isinstance(term, ast.Call):
            raise _unrecognized(term)
        if isinstance(term, ast.Arithmetic):
            return self.value({"N": self._folded(term)})
        if isinstance(term, ast.Condition):
            raise validation_error("A condition cannot be an operand of a comparison")
        return self.value(value_of(term, self._parameters))

    def _folded(self, term: ast.Term) -> str:
        """The value of arithmetic on constants."""
        if not isinstance(term, ast.Arithmetic):
            text = value_of(term, self._parameters).get("N")
            if text is None:
                raise validation_error("An operand of an arithmetic operator must be a number")
            return str(text)
        combine = numbers.add if term.operator == "+" else numbers.subtract
        return combine(self._folded(term.left), self._folded(term.right))

    # Conditions

    def conjunction(self, conditions: Iterable[ast.Expression | str]) -> str | None:
        """All of several conditions, or None for none of them. A `str` is expression text already."""
        texts = [
            condition if isinstance(condition, str) else self._inside(condition, ast.Or)
            for condition in conditions
        ]
        return " AND ".join(texts) or None

    def condition(self, condition: ast.Expression) -> str:
        match condition:
            case ast.Or():
                return " OR ".join(self.condition(operand) for operand in condition.operands)
            case ast.And():
                return " AND ".join(self._inside(operand, ast.Or) for operand in condition.operands)
            case ast.Not():
                return "NOT " + self._inside(condition.operand, ast.Or, ast.And)
            case ast.Comparison():
                return self._comparison(condition)
            case ast.Between():
                operands = (condition.operand, condition.lower, condition.upper)
                operand, lower, upper = map(self._operand, operands)
                return f"{operand} BETWEEN {lower} AND {upper}"
            case ast.In():
                return self._in(condition)
            case ast.IsType():
                return self._is(condition)
            case ast.Call() if condition.name in _PREDICATES:
                return self._call(condition)
            case ast.Call():
                raise _unrecognized(condition)
            case _:
                raise validation_error("The WHERE clause must be a condition")

    def _inside(self, condition: ast.Expression, *looser: type) -> str:
        """Text of a condition inside a tighter operator: parenthesised where it binds looser."""
        text = self.condition(condition)
        several = isinstance(condition, ast.In) and len(condition.candidates) > _EXPRESSION_CANDIDATES
        return f"({text})" if several or isinstance(condition, looser) else text

    def _comparison(self, comparison: ast.Comparison) -> str:
        for call, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
            if isinstance(call, ast.Call) and call.name in _PREDICATES:
                return self._compared_predicate(comparison.operator, call, other)
        left, right = self._operand(comparison.left), self._operand(comparison.right)
        return f"{left} {comparison.operator} {right}"

    def _compared_predicate(self, operator: str, call: ast.Call, other: ast.Expression) -> str:
        """`attribute_exists(a) = true` is the function; compared with false it is its negation."""
        wanted = value_of(other, self._parameters).get("BOOL") if is_constant(other) else None
        if wanted is None or operator not in ("=", "<>"):
            raise validation_error(f"Unsupported comparison of function {call.name} at {call.position}")
        text = self._call(call)
        return text if wanted == (operator == "=") else f"NOT {text}"

    def _in(self, condition: ast.In) -> str:
        candidates = condition.candidates
        if len(candidates) > _MAX_CANDIDATES:
            raise too_many_candidates(len(candidates))
        texts = []
        for start in range(0, len(candidates), _EXPRESSION_CANDIDATES):
            listed = ", ".join(map(self._operand, candidates[start : start + _EXPRESSION_CANDIDATES]))
            texts.append(f"{self._operand(condition.operand)} IN ({listed})")
        if not texts:
            raise validation_error("The IN operator requires a list of values")
        return " OR ".join(texts)

    def _is(self, condition: ast.IsType) -> str:
        if not isinstance(condition.operand, ast.Path):
            raise validation_error("The IS operator requires a document path")
        path = self.path(condition.operand)
        if condition.type == "missing":
            return f"{'attribute_exists' if condition.negated else 'attribute_not_exists'}({path})"
        datatypes = _DATATYPES.get(condition.type)
        if datatypes is None:
            raise validation_error(f"Unsupported data type: {condition.type}")
        tests = [f"attribute_type({path}, {self.value({'S': datatype})})" for datatype in datatypes]
        text = tests[0] if len(tests) == 1 else f"({' OR '.join(tests)})"
        return f"NOT {text}" if condition.negated else text

    def _call(self, call: ast.Call) -> str:
        if len(call.arguments) != _OPERANDS[call.name]:
            raise validation_error(
                "Incorrect number of operands for operator or function; "
                f"operator or function: {call.name}, number of operands: {len(call.arguments)}"
            )
        return f"{call.name}({', '.join(map(self._operand, call.arguments))})"

    # Changes

    def update(self, changes: Sequence[ast.Assignment | ast.Removal]) -> str:
        """The UpdateExpression of an UPDATE's SET and REMOVE clauses."""
        clauses: dict[str, list[str]] = {"SET": [], "REMOVE": [], "ADD": [], "DELETE": []}
        for change in changes:
            if isinstance(change, ast.Removal):
                clauses["REMOVE"].append(self.path(change.path))
            elif isinstance(change.value, ast.Call) and change.value.name in ("set_add", "set_delete"):
                verb = "ADD" if change.value.name == "set_add" else "DELETE"
                clauses[verb].append(self._set_change(change.path, change.value))
            else:
                clauses["SET"].append(f"{self.path(change.path)} = {self._assigned(change.value)}")
        return " ".join(f"{verb} {', '.join(texts)}" for verb, texts in clauses.items() if texts)

    def _set_change(self, path: ast.Path, call: ast.Call) -> str:
        function = call.name.upper()
        if len(call.arguments) != 2:
            raise validation_error(f"{function} must have exactly two arguments at {call.position}")
        changed, members = call.arguments
        if not isinstance(changed, ast.Path) or changed.parts != path.parts:
            raise validation_error(
                f"The first argument to {function} must equal the assignment value at {call.position}"
            )
        value = value_of(members, self._parameters) if is_constant(members) else {}
        if not value.keys() & {"SS", "NS", "BS"}:
            # The service points at the first argument here, not at the second.
            raise validation_error(
                f"The second argument to {function} must be a value with type SET at {changed.position}"
            )
        return f"{self.path(path)} {self.value(value)}"

    def _assigned(self, term: ast.Expression) -> str:
        if isinstance(term, ast.Arithmetic) and not _is_folded(term):
            return f"{self._summand(term.left)} {term.operator} {self._summand(term.right)}"
        return self._summand(term)

    def _summand(self, term: ast.Expression) -> str:
        if isinstance(term, ast.Call) and term.name == "list_append":
            if len(term.arguments) != 2:
                raise validation_error(f"LIST_APPEND must have exactly two arguments at {term.position}")
            return f"list_append({', '.join(map(self._summand, term.arguments))})"
        if isinstance(term, ast.Call):
            raise _unrecognized(term)
        if isinstance(term, ast.Arithmetic) and not _is_folded(term):
            raise validation_error(f"An arithmetic operator takes two operands at {term.position}")
        return self._operand(term)


def too_many_candidates(count: int) -> ServiceError:
    return validation_error(
        f"The IN operator is provided with too many operands; number of operands: {count + 1}"
    )


def _is_folded(term: ast.Term) -> bool:
    if isinstance(term, ast.Arithmetic):
        return _is_folded(term.left) and _is_folded(term.right)
    return is_constant(term)


def _unrecognized(call: ast.Call) -> ServiceError:
    return validation_error(f"Unrecognized function: {call.name} at {call.position}")
