"""Conditions and changes of a statement as expression trees, so that one evaluator serves both languages.

Rules:

* A constant becomes a `Constant`, a path a `Path`: no placeholders are needed.
* Function names are case-insensitive in PartiQL. The shapes that expressions do not have (`IS`, `set_add`, a
  function compared with true) are translated here; types and numbers of operands are the expression's own
  business, whose refusals lose the words "Invalid ...Expression: ".
* No word is reserved: PartiQL has its own keywords, which the lexer knows.

Sources: the PartiQL operators and functions of the DynamoDB developer guide; the exact messages recorded on
the live service by the public Parity Suite (tier 3, partiqlFunctions).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from backend.errors import ServiceError, validation_error
from backend.expressions import ast as tree
from backend.expressions.checks import check_condition
from backend.expressions.conditions import Condition, from_tree
from backend.expressions.updates import Update
from backend.expressions.updates import from_tree as update_from_tree
from backend.model import numbers
from backend.partiql import ast
from backend.partiql.values import is_constant, value_of
from backend.protocol import AttributeValue

_PREDICATES = frozenset(
    ("attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains")
)
_MAX_CANDIDATES = 100
_EXPRESSION_CANDIDATES = 99
"""An IN of an expression takes 99 candidates; PartiQL's takes 100."""

_NUMBER_TYPES = "smallint integer int int2 int4 int8 float real decimal numeric number"
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

Parameters = Sequence[AttributeValue]

_KIND = "ConditionExpression"
_KINDS = re.compile("^Invalid (ConditionExpression|UpdateExpression|KeyConditionExpression): ")


def path(path: ast.Path) -> tree.Path:
    return tree.Path(path.parts)


# Conditions


def compiled(conditions: Iterable[ast.Expression], parameters: Parameters) -> Condition | None:
    """All of several conditions, checked and ready to evaluate; None for none of them.

    Raises `ValidationException`.
    """
    trees = tuple(condition(one, parameters) for one in conditions)
    if not trees:
        return None
    found = trees[0] if len(trees) == 1 else tree.And(trees)
    with own_words():
        check_condition(found, _KIND, _HashNames(), {})
    return from_tree(found)


@contextmanager
def own_words() -> Iterator[None]:
    """Let refusals of expressions pass without naming an expression that the statement does not have."""
    try:
        yield
    except ServiceError as refusal:
        message = _KINDS.sub("", refusal.message or "")
        raise ServiceError(refusal.code, message, status=refusal.status, fields=refusal.fields) from None


class _HashNames(dict[str, str]):
    """Every name beginning with `#` stands for itself: in a statement it is no placeholder."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return name


def condition(expression: ast.Expression, parameters: Parameters) -> tree.Condition:
    """The expression tree of a WHERE clause or a part of one. Raises `ValidationException`."""
    match expression:
        case ast.Or():
            return tree.Or(tuple(condition(operand, parameters) for operand in expression.operands))
        case ast.And():
            return tree.And(tuple(condition(operand, parameters) for operand in expression.operands))
        case ast.Not():
            return tree.Not(condition(expression.operand, parameters))
        case ast.Comparison():
            return _comparison(expression, parameters)
        case ast.Between():
            return tree.Between(
                _operand(expression.operand, parameters),
                _operand(expression.lower, parameters),
                _operand(expression.upper, parameters),
            )
        case ast.In():
            return _in(expression, parameters)
        case ast.IsType():
            return _is(expression)
        case ast.Call() if expression.name in _PREDICATES:
            return _call(expression, parameters)
        case ast.Call():
            raise _unrecognized(expression)
        case _:
            raise validation_error("The WHERE clause must be a condition")


def _operand(term: ast.Expression, parameters: Parameters) -> tree.Operand:
    if isinstance(term, ast.Path):
        return path(term)
    if isinstance(term, ast.Call):
        if term.name != "size":
            raise _unrecognized(term)
        return _call(term, parameters)
    if isinstance(term, ast.Arithmetic):
        return tree.Constant({"N": _folded(term, parameters)})
    if isinstance(term, ast.Condition):
        raise validation_error("A condition cannot be an operand of a comparison")
    return tree.Constant(value_of(term, parameters))


def _folded(term: ast.Term, parameters: Parameters) -> str:
    """The value of arithmetic on constants."""
    if not isinstance(term, ast.Arithmetic):
        text = value_of(term, parameters).get("N")
        if text is None:
            raise validation_error("An operand of an arithmetic operator must be a number")
        return str(text)
    combine = numbers.add if term.operator == "+" else numbers.subtract
    return combine(_folded(term.left, parameters), _folded(term.right, parameters))


def _comparison(comparison: ast.Comparison, parameters: Parameters) -> tree.Condition:
    for call, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
        if isinstance(call, ast.Call) and call.name in _PREDICATES:
            return _compared_predicate(comparison.operator, call, other, parameters)
    left, right = _operand(comparison.left, parameters), _operand(comparison.right, parameters)
    return tree.Comparison(comparison.operator, left, right)


def _compared_predicate(
    operator: str, call: ast.Call, other: ast.Expression, parameters: Parameters
) -> tree.Condition:
    """`attribute_exists(a) = true` is the function; compared with false it is its negation."""
    wanted = value_of(other, parameters).get("BOOL") if is_constant(other) else None
    if wanted is None or operator not in ("=", "<>"):
        raise validation_error(f"Unsupported comparison of function {call.name} at {call.position}")
    predicate = _call(call, parameters)
    return predicate if wanted == (operator == "=") else tree.Not(predicate)


def _in(expression: ast.In, parameters: Parameters) -> tree.Condition:
    candidates = expression.candidates
    if not candidates:
        raise validation_error("The IN operator requires a list of values")
    if len(candidates) > _MAX_CANDIDATES:
        raise too_many_candidates(len(candidates))
    operand = _operand(expression.operand, parameters)
    found = tuple(_operand(candidate, parameters) for candidate in candidates)
    if len(found) <= _EXPRESSION_CANDIDATES:
        return tree.In(operand, found)
    return tree.Or(
        (tree.In(operand, found[:_EXPRESSION_CANDIDATES]), tree.In(operand, found[_EXPRESSION_CANDIDATES:]))
    )


def too_many_candidates(count: int) -> ServiceError:
    return validation_error(
        f"The IN operator is provided with too many operands; number of operands: {count + 1}"
    )


def _is(expression: ast.IsType) -> tree.Condition:
    if not isinstance(expression.operand, ast.Path):
        raise validation_error("The IS operator requires a document path")
    operand = path(expression.operand)
    if expression.type == "missing":
        return tree.Function("attribute_exists" if expression.negated else "attribute_not_exists", (operand,))
    datatypes = _DATATYPES.get(expression.type)
    if datatypes is None:
        raise validation_error(f"Unsupported data type: {expression.type}")
    tests = tuple(tree.Function("attribute_type", (operand, tree.Constant({"S": one}))) for one in datatypes)
    found = tests[0] if len(tests) == 1 else tree.Or(tests)
    return tree.Not(found) if expression.negated else found


def _call(call: ast.Call, parameters: Parameters) -> tree.Function:
    return tree.Function(call.name, tuple(_operand(argument, parameters) for argument in call.arguments))


def _unrecognized(call: ast.Call) -> ServiceError:
    return validation_error(f"Unrecognized function: {call.name} at {call.position}")


# Changes


def compiled_update(changes: Sequence[ast.Assignment | ast.Removal], parameters: Parameters) -> Update:
    """An UPDATE's SET and REMOVE clauses, checked and ready to apply. Raises `ValidationException`."""
    actions = tuple(_action(change, parameters) for change in changes)
    with own_words():
        return update_from_tree(tree.Update(actions))


def _action(change: ast.Assignment | ast.Removal, parameters: Parameters) -> tree.Action:
    if isinstance(change, ast.Removal):
        return tree.Remove(path(change.path))
    if isinstance(change.value, ast.Call) and change.value.name in ("set_add", "set_delete"):
        members = _members(change.path, change.value, parameters)
        action = tree.Add if change.value.name == "set_add" else tree.Delete
        return action(path(change.path), tree.Constant(members))
    return tree.Set(path(change.path), _assigned(change.value, parameters))


def _members(changed: ast.Path, call: ast.Call, parameters: Parameters) -> AttributeValue:
    """The set that `set_add` or `set_delete` names, assigned to the very attribute it changes."""
    function = call.name.upper()
    if len(call.arguments) != 2:
        raise validation_error(f"{function} must have exactly two arguments at {call.position}")
    first, second = call.arguments
    if not isinstance(first, ast.Path) or first.parts != changed.parts:
        raise validation_error(
            f"The first argument to {function} must equal the assignment value at {call.position}"
        )
    members = value_of(second, parameters) if is_constant(second) else {}
    if not members.keys() & {"SS", "NS", "BS"}:
        # The service points at the first argument here, not at the second.
        raise validation_error(
            f"The second argument to {function} must be a value with type SET at {first.position}"
        )
    return members


def _assigned(term: ast.Term, parameters: Parameters) -> tree.Operand | tree.Arithmetic:
    if isinstance(term, ast.Arithmetic) and not _folds(term):
        return tree.Arithmetic(
            term.operator, _summand(term.left, parameters), _summand(term.right, parameters)
        )
    return _summand(term, parameters)


def _summand(term: ast.Expression, parameters: Parameters) -> tree.Operand:
    if isinstance(term, ast.Call) and term.name == "list_append":
        if len(term.arguments) != 2:
            raise validation_error(f"LIST_APPEND must have exactly two arguments at {term.position}")
        return tree.Function("list_append", tuple(_summand(one, parameters) for one in term.arguments))
    if isinstance(term, ast.Call):
        raise _unrecognized(term)
    if isinstance(term, ast.Arithmetic) and not _folds(term):
        raise validation_error(f"An arithmetic operator takes two operands at {term.position}")
    return _operand(term, parameters)


def _folds(term: ast.Term) -> bool:
    if isinstance(term, ast.Arithmetic):
        return _folds(term.left) and _folds(term.right)
    return is_constant(term)
