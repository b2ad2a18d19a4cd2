"""What a condition may say beyond its syntax, checked in the service's order.

First over the whole tree, knowing the text alone: unknown functions, functions out of place, reserved words.
Then predicate by predicate, knowing names and values: undefined placeholders, number of operands, operands
that must differ, types of operands. The first predicate with a fault is the one reported.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator

from backend.expressions.ast import (
    And,
    Between,
    Comparison,
    Condition,
    Constant,
    Function,
    In,
    Not,
    Operand,
    Or,
    Path,
    Placeholder,
    Predicate,
)
from backend.expressions.lexer import invalid
from backend.expressions.paths import check_defined, check_reserved, resolve, shown
from backend.expressions.scope import Names, Values
from backend.model.values import DATATYPES, compare, type_of
from backend.protocol import AttributeValue

# Number of operands of each function that a condition and an update know.
FUNCTIONS = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
    "size": 1,
}
UPDATE_FUNCTIONS = {"if_not_exists": 2, "list_append": 2}
_ABOUT_PATHS = frozenset(("attribute_exists", "attribute_not_exists", "attribute_type", "size"))
MAX_IN_OPERANDS = 100
_ORDERED = frozenset(("S", "N", "B"))
_UNSIZED = frozenset(("N", "BOOL", "NULL"))
_ORDERINGS = frozenset(("<", "<=", ">", ">="))


def predicates(tree: Condition) -> Iterator[Predicate]:
    """The comparisons and functions of a condition, from left to right."""
    pending: list[Condition] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, And | Or):
            pending.extend(reversed(node.conditions))
        elif isinstance(node, Not):
            pending.append(node.condition)
        else:
            yield node


def operands_of(predicate: Predicate) -> tuple[Operand, ...]:
    """The direct operands of a predicate, from left to right."""
    if isinstance(predicate, Comparison):
        return (predicate.left, predicate.right)
    if isinstance(predicate, Between):
        return (predicate.operand, predicate.lower, predicate.upper)
    if isinstance(predicate, In):
        return (predicate.operand, *predicate.candidates)
    return predicate.arguments


def leaves(operands: tuple[Operand, ...]) -> Iterator[Path | Placeholder | Constant]:
    """The paths and values in operands, functions' arguments included, from left to right."""
    for operand in operands:
        if isinstance(operand, Function):
            yield from leaves(operand.arguments)
        else:
            yield operand


def check_text(tree: Condition, kind: str) -> None:
    """The checks that need nothing but the tree from the text."""
    found = list(predicates(tree))
    for predicate in found:
        for function in _functions(predicate):
            if function.name not in FUNCTIONS:
                raise unknown_function(function.name, kind)
    for predicate in found:
        _check_places(predicate, kind)
    for predicate in found:
        for leaf in leaves(operands_of(predicate)):
            if isinstance(leaf, Path):
                check_reserved(leaf, kind)


def unknown_function(name: str, kind: str) -> Exception:
    """The refusal of a function that this kind of expression does not know, though another kind may."""
    if name in FUNCTIONS:
        problem = "The function is not allowed in an update expression"
    elif name in UPDATE_FUNCTIONS:
        problem = "The function is not allowed in a condition expression"
    else:
        problem = "Invalid function name"
    return invalid(kind, f"{problem}; function: {name}")


def _functions(node: Predicate | Operand) -> Iterator[Function]:
    """The function calls in a predicate or operand, the inner before the outer."""
    if isinstance(node, Path | Placeholder | Constant):
        return
    for operand in operands_of(node):
        yield from _functions(operand)
    if isinstance(node, Function):
        yield node


def _check_places(predicate: Predicate, kind: str) -> None:
    """`size` is the only function that is an operand, and the only one that is no condition."""
    misplaced = (predicate if isinstance(predicate, Function) and predicate.name == "size" else None) or next(
        (
            function
            for operand in operands_of(predicate)
            for function in _functions(operand)
            if function.name != "size"
        ),
        None,
    )
    if misplaced is not None:
        raise invalid(
            kind,
            f"The function is not allowed to be used this way in an expression; function: {misplaced.name}",
        )


def check_condition(tree: Condition, kind: str, names: Names, values: Values) -> None:
    """The checks that need the request's placeholders, on a tree from the text."""
    for predicate in predicates(tree):
        for leaf in leaves(operands_of(predicate)):
            if isinstance(leaf, Path):
                check_defined(leaf, kind, names)
            elif isinstance(leaf, Placeholder):
                check_value_defined(leaf, kind, values)
        _check_counts(predicate, kind)
        _check_distinct(predicate, kind, names)
        for function in _functions(predicate):
            _check_function_types(function, kind, values)
        _check_paths(predicate, kind)
        _check_types(predicate, kind, values)


def check_value_defined(placeholder: Placeholder, kind: str, values: Values) -> None:
    """Refuse a placeholder that ExpressionAttributeValues lacks."""
    if placeholder.name not in values:
        raise invalid(
            kind,
            "An expression attribute value used in expression is not defined; "
            f"attribute value: {placeholder.name}",
        )


def _check_counts(predicate: Predicate, kind: str) -> None:
    for function in _functions(predicate):
        check_count(function, FUNCTIONS[function.name], kind)
    if isinstance(predicate, In) and len(predicate.candidates) + 1 > MAX_IN_OPERANDS:
        raise invalid(
            kind,
            "The IN operator is provided with too many operands; "
            f"number of operands: {len(predicate.candidates) + 1}",
        )


def has_operands(tree: Condition) -> bool:
    """Whether every function of a condition has its number of operands."""
    return all(
        len(function.arguments) == FUNCTIONS[function.name]
        for predicate in predicates(tree)
        for function in _functions(predicate)
    )


def check_count(function: Function, expected: int, kind: str) -> None:
    """Refuse a function with a number of operands that is not its own."""
    if len(function.arguments) != expected:
        raise invalid(
            kind,
            "Incorrect number of operands for operator or function; "
            f"operator or function: {function.name}, number of operands: {len(function.arguments)}",
        )


def _check_distinct(predicate: Predicate, kind: str, names: Names) -> None:
    if isinstance(predicate, Comparison):
        operator = predicate.operator
    elif isinstance(predicate, Function) and len(predicate.arguments) == 2:
        operator = predicate.name
    else:
        return
    left, right = operands_of(predicate)
    if isinstance(left, Path) and isinstance(right, Path):
        first = resolve(left, names)
        if first == resolve(right, names):
            raise invalid(
                kind,
                "The first operand must be distinct from the remaining operands "
                "for this operator or function; "
                f"operator: {operator}, first operand: {shown(first.elements)}",
            )


def constant_of(operand: Operand, values: Values) -> AttributeValue | None:
    """The value that an operand has whatever the item is; None for what only the item knows."""
    if isinstance(operand, Placeholder):
        return values[operand.name]
    return operand.value if isinstance(operand, Constant) else None


def _known_type(operand: Operand, values: Values) -> str | None:
    if isinstance(operand, Function):
        return "N"
    value = constant_of(operand, values)
    return None if value is None else type_of(value)


def _check_function_types(function: Function, kind: str, values: Values) -> None:
    name, arguments = function.name, function.arguments
    if name == "begins_with":
        for argument in arguments:
            datatype = _known_type(argument, values)
            if datatype is not None and datatype not in ("S", "B"):
                raise incorrect_operand(kind, name, datatype)
    elif name == "size":
        datatype = _known_type(arguments[0], values)
        if datatype in _UNSIZED:
            raise incorrect_operand(kind, name, datatype or "")
    elif name == "attribute_type":
        _check_attribute_type(arguments[1], kind, values)


def _check_paths(predicate: Predicate, kind: str) -> None:
    """Most functions are about a path; the outer function is told before the inner."""
    for function in reversed(list(_functions(predicate))):
        if function.name in _ABOUT_PATHS and not isinstance(function.arguments[0], Path):
            raise requires_path(function.name, kind)


def requires_path(name: str, kind: str) -> Exception:
    """The refusal of a function whose first operand is no path."""
    return invalid(kind, f"Operator or function requires a document path; operator or function: {name}")


def _check_attribute_type(operand: Operand, kind: str, values: Values) -> None:
    datatype = _known_type(operand, values)
    if datatype != "S":
        raise incorrect_operand(kind, "attribute_type", datatype or "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}")
    value = constant_of(operand, values)
    wanted = value["S"] if value is not None else ""
    if wanted not in DATATYPES:
        raise invalid(
            kind,
            f"Invalid attribute type name found; type: {wanted}, "
            "valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
        )


def incorrect_operand(kind: str, name: str, datatype: str) -> Exception:
    """The refusal of an operand whose type is known without looking at an item."""
    return invalid(
        kind,
        "Incorrect operand type for operator or function; "
        f"operator or function: {name}, operand type: {datatype}",
    )


def _check_types(predicate: Predicate, kind: str, values: Values) -> None:
    if isinstance(predicate, Comparison) and predicate.operator in _ORDERINGS:
        _check_ordered(predicate.operator, (predicate.left, predicate.right), kind, values)
    elif isinstance(predicate, Between):
        _check_ordered("BETWEEN", operands_of(predicate), kind, values)
        lower, upper = constant_of(predicate.lower, values), constant_of(predicate.upper, values)
        if lower is not None and upper is not None:
            _check_bounds(lower, upper, kind)


def _check_ordered(operator: str, operands: tuple[Operand, ...], kind: str, values: Values) -> None:
    for operand in operands:
        value = constant_of(operand, values)
        if value is not None and type_of(value) not in _ORDERED:
            raise incorrect_operand(kind, operator, type_of(value))


def _check_bounds(lower: AttributeValue, upper: AttributeValue, kind: str) -> None:
    order = compare(lower, upper)
    if order is None:
        requirement = "same data type for lower and upper bounds"
    elif order > 0:
        requirement = "upper bound to be greater than or equal to lower bound"
    else:
        return
    raise invalid(
        kind,
        f"The BETWEEN operator requires {requirement}; lower bound operand: AttributeValue: {_shown(lower)}, "
        f"upper bound operand: AttributeValue: {_shown(upper)}",
    )


def _shown(value: AttributeValue) -> str:
    datatype = type_of(value)
    content = value[datatype]
    return f"{{{datatype}:{b64encode(content).decode() if datatype == 'B' else content}}}"
