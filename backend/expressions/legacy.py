"""The parameters that expressions replaced, read into the same trees.

Expected, QueryFilter, ScanFilter and KeyConditions are conditions on top-level attributes; AttributeUpdates
are actions on them; AttributesToGet is a projection. Names are whole names here: a dot in one is a dot.

Where the old parameters mean something else than the operator of the same name, the tree says so:
NOT_CONTAINS wants the attribute to be there. `NE` and `<>` agree that a missing attribute differs from
everything.

Source: "Legacy conditional parameters" of the developer guide; the texts of the errors are the service's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.errors import ServiceError, validation_error
from backend.expressions import ast, updates
from backend.expressions.conditions import Condition, from_tree
from backend.expressions.key_conditions import KeyConditions, KeyTest, from_tests
from backend.expressions.projections import Projection
from backend.model.values import check_name, compare, normalise, type_of
from backend.protocol import AttributeValue

_INVALID = "One or more parameter values were invalid: "
_SCALARS = frozenset(("S", "N", "B"))

# Number of arguments of each operator, None for one or more, and the types it takes, None for all.
_OPERATORS: dict[str, tuple[int | None, frozenset[str] | None]] = {
    "EQ": (1, None),
    "NE": (1, None),
    "LE": (1, _SCALARS),
    "LT": (1, _SCALARS),
    "GE": (1, _SCALARS),
    "GT": (1, _SCALARS),
    "CONTAINS": (1, frozenset(("S", "N", "B", "BOOL", "NULL"))),
    "NOT_CONTAINS": (1, frozenset(("S", "N", "B", "BOOL", "NULL"))),
    "BEGINS_WITH": (1, frozenset(("S", "B"))),
    "IN": (None, _SCALARS),
    "BETWEEN": (2, _SCALARS),
    "NULL": (0, None),
    "NOT_NULL": (0, None),
}
_COMPARATORS = {"EQ": "=", "NE": "<>", "LE": "<=", "LT": "<", "GE": ">=", "GT": ">"}
_KEY_OPERATORS = {
    "EQ": "=",
    "LE": "<=",
    "LT": "<",
    "GE": ">=",
    "GT": ">",
    "BETWEEN": "BETWEEN",
    "BEGINS_WITH": "begins_with",
}
_SETS = frozenset(("SS", "NS", "BS"))
_ADDABLE = _SETS | {"N", "L"}


def filter_condition(
    conditions: Mapping[str, Mapping[str, Any]], conditional_operator: str | None = None
) -> Condition | None:
    """A QueryFilter or ScanFilter; None for an empty one.

    `conditional_operator` is `AND`, `OR` or None, which means AND. Raises ValidationException.
    """
    parts = []
    for name, condition in conditions.items():
        arguments = _arguments(condition)
        operator = condition["ComparisonOperator"]
        _check_arguments(operator, arguments)
        parts.append(_test(name, operator, arguments))
    return _joined(parts, conditional_operator)


def expected_condition(
    expected: Mapping[str, Mapping[str, Any]], conditional_operator: str | None = None
) -> Condition | None:
    """An Expected; None for an empty one. Raises ValidationException."""
    parts = []
    for name, condition in expected.items():
        operator, arguments = _expectation(name, condition)
        parts.append(_test(name, operator, arguments))
    return _joined(parts, conditional_operator)


def key_conditions(conditions: Mapping[str, Mapping[str, Any]]) -> KeyConditions:
    """A KeyConditions parameter. Raises ValidationException here or when it is bound to a schema."""
    tests = {}
    for name, condition in conditions.items():
        operator, arguments = condition["ComparisonOperator"], _arguments(condition)
        _check_arguments(operator, arguments)
        tests[name] = KeyTest(_KEY_OPERATORS.get(operator, operator), tuple(arguments))
    return from_tests(tests)


def attribute_updates(attribute_updates: Mapping[str, Mapping[str, Any]]) -> updates.Update:
    """An AttributeUpdates parameter. Raises ValidationException."""
    actions: list[ast.Action] = []
    for name, change in attribute_updates.items():
        given = change.get("Value")
        value = None if given is None else normalise(given)
        actions.append(_action(name, change.get("Action") or "PUT", value))
    return updates.from_actions(tuple(actions))


def attributes_to_get(names: Sequence[str]) -> Projection:
    """An AttributesToGet parameter. Raises ValidationException for a name that comes twice."""
    seen = set()
    for name in names:
        if name in seen:
            raise validation_error(f"{_INVALID}Duplicate value in attribute name: {name}")
        seen.add(name)
    return Projection(ast.Path((name,)) for name in names)


def _action(name: str, action: str, value: AttributeValue | None) -> ast.Action:
    check_name(name)
    path = ast.Path((name,))
    if value is None:
        if action != "DELETE":
            raise validation_error(
                f"{_INVALID}Only DELETE action is allowed when no attribute value is specified"
            )
        return ast.Remove(path)
    datatype, constant = type_of(value), ast.Constant(value)
    if action == "DELETE":
        if datatype not in _SETS:
            raise validation_error(
                f"{_INVALID}DELETE action with value is not supported for the type {datatype}"
            )
        return ast.Delete(path, constant)
    if action == "ADD":
        if datatype not in _ADDABLE:
            raise validation_error(f"{_INVALID}ADD action is not supported for the type {datatype}")
        return ast.Add(path, constant)
    return ast.Set(path, constant)


def _expectation(name: str, condition: Mapping[str, Any]) -> tuple[str, list[AttributeValue]]:
    """Operator and arguments of one member of Expected, in either of its two forms."""
    operator = condition.get("ComparisonOperator")
    value, exists = condition.get("Value"), condition.get("Exists")
    if value is not None and condition.get("AttributeValueList") is not None:
        raise _invalid(f"Value and AttributeValueList cannot be used together for Attribute: {name}")
    if operator is not None:
        return operator, _compared(name, operator, condition)
    if condition.get("AttributeValueList") is not None:
        raise _invalid(f"AttributeValueList can only be used with a ComparisonOperator for Attribute: {name}")
    if exists is False:
        if value is not None:
            raise _invalid(f"Value cannot be used when Exists is false for Attribute: {name}")
        return "NULL", []
    if value is None:
        raise _invalid(
            f"Value must be provided when Exists is {'null' if exists is None else 'true'} "
            f"for Attribute: {name}"
        )
    return "EQ", [normalise(value)]


def _compared(name: str, operator: str, condition: Mapping[str, Any]) -> list[AttributeValue]:
    value = condition.get("Value")
    if condition.get("Exists") is not None:
        raise _invalid(f"Exists and ComparisonOperator cannot be used together for Attribute: {name}")
    arguments = [normalise(value)] if value is not None else _arguments(condition)
    if not arguments and condition.get("AttributeValueList") is None and operator not in ("NULL", "NOT_NULL"):
        raise _invalid(
            "Value or AttributeValueList must be used with ComparisonOperator: "
            f"{operator} for Attribute: {name}"
        )
    _check_arguments(operator, arguments)
    return arguments


def _arguments(condition: Mapping[str, Any]) -> list[AttributeValue]:
    return [normalise(value) for value in condition.get("AttributeValueList") or ()]


def _check_arguments(operator: str, arguments: list[AttributeValue]) -> None:
    count, datatypes = _OPERATORS[operator]
    if len(arguments) != count if count is not None else not arguments:
        raise _invalid(f"Invalid number of argument(s) for the {operator} ComparisonOperator")
    if len({type_of(argument) for argument in arguments}) > 1:
        raise _invalid("AttributeValues inside AttributeValueList must be of same type")
    for argument in arguments:
        if datatypes is not None and type_of(argument) not in datatypes:
            raise _invalid(
                f"ComparisonOperator {operator} is not valid for {type_of(argument)} AttributeValue type"
            )
    if operator == "BETWEEN" and compare(arguments[0], arguments[1]) == 1:
        raise validation_error(
            "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
        )


def _test(name: str, operator: str, arguments: list[AttributeValue]) -> ast.Condition:
    path = ast.Path((name,))
    constants = [ast.Constant(argument) for argument in arguments]
    if operator in _COMPARATORS:
        return ast.Comparison(_COMPARATORS[operator], path, constants[0])
    if operator == "NULL":
        return ast.Function("attribute_not_exists", (path,))
    if operator == "NOT_NULL":
        return ast.Function("attribute_exists", (path,))
    if operator == "IN":
        return ast.In(path, tuple(constants))
    if operator == "BETWEEN":
        return ast.Between(path, *constants)
    if operator == "BEGINS_WITH":
        return ast.Function("begins_with", (path, constants[0]))
    contains = ast.Function("contains", (path, constants[0]))
    if operator == "CONTAINS":
        return contains
    return ast.And((ast.Function("attribute_exists", (path,)), ast.Not(contains)))


def _joined(parts: list[ast.Condition], conditional_operator: str | None) -> Condition | None:
    if not parts:
        if conditional_operator is not None:
            raise validation_error("ConditionalOperator cannot be used without Filter or Expected")
        return None
    if len(parts) == 1:
        return from_tree(parts[0])
    return from_tree(ast.Or(tuple(parts)) if conditional_operator == "OR" else ast.And(tuple(parts)))


def _invalid(problem: str) -> ServiceError:
    return validation_error(_INVALID + problem)
