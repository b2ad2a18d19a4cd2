"""Literals and parameters of a statement as attribute values.

Rules:

* A literal breaks number rules "under" its place in the value: `root`, `root.x`, `root[1]`.
* A parameter's number is read as Java reads a BigDecimal: an exponent outside 32 bits is no number at all,
  and the magnitude is computed in 32 bits, where it wraps into an underflow.
* The first problem in document order is the one reported.
* A bag is a number set or a string set; it is never empty.

Sources: the exact messages recorded on the live service by the public Parity Suite (tier 3, partiqlGrammar,
partiqlFunctions, partiqlParameterNumbers); "PartiQL data types for DynamoDB" of the developer guide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from backend.errors import ServiceError, validation_error
from backend.model import numbers, values
from backend.partiql import ast
from backend.protocol import AttributeValue

_INT32_MAX = 2**31 - 1
_DECIMAL = re.compile(r"[+-]?(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?")


def bind(parsed: ast.Parsed, parameters: Sequence[AttributeValue] | None) -> tuple[AttributeValue, ...]:
    """The canonical values of a statement's parameters, one for each `?`.

    Raises `ValidationException` for a count that differs and for a value that is none.
    """
    bound = tuple(_canonical(value) for value in parameters or ())
    if len(bound) != parsed.parameters:
        raise validation_error("Number of parameters in request and statement don't match.")
    return bound


def is_constant(term: ast.Expression) -> bool:
    """Whether a term names no attribute."""
    match term:
        case ast.Scalar() | ast.Parameter():
            return True
        case ast.ListLiteral() | ast.BagLiteral():
            return all(map(is_constant, term.elements))
        case ast.MapLiteral():
            return all(is_constant(value) for _, value in term.entries)
        case _:
            return False


def value_of(
    term: ast.Expression, parameters: Sequence[AttributeValue], place: str = "root"
) -> AttributeValue:
    """The canonical attribute value of a constant term.

    Raises `ValidationException` for what is no constant, breaks number rules, or makes no valid set.
    """
    match term:
        case ast.Parameter():
            return parameters[term.index]
        case ast.Scalar():
            return _number(str(term.content), place) if term.type == "N" else {term.type: term.content}
        case ast.ListLiteral():
            elements = enumerate(term.elements)
            return {"L": [value_of(element, parameters, f"{place}[{index}]") for index, element in elements]}
        case ast.MapLiteral():
            entries = term.entries
            return {"M": {name: value_of(value, parameters, f"{place}.{name}") for name, value in entries}}
        case ast.BagLiteral():
            return _set(term, parameters, place)
        case _:
            raise _no_constant(term, place)


def item_of(term: ast.Term, parameters: Sequence[AttributeValue]) -> dict[str, AttributeValue]:
    """The item that an INSERT's VALUE denotes. Raises `ValidationException` when it is no map."""
    if isinstance(term, ast.MapLiteral):
        return {name: value_of(value, parameters) for name, value in term.entries}
    content = value_of(term, parameters).get("M")
    if content is None:
        raise validation_error("The VALUE of an INSERT statement must be a map")
    return dict(content)


def _number(text: str, place: str) -> AttributeValue:
    try:
        return {"N": numbers.canonical(text)}
    except ServiceError as refusal:
        raise validation_error(f"{refusal.message} under {place}") from None


def _set(term: ast.BagLiteral, parameters: Sequence[AttributeValue], place: str) -> AttributeValue:
    if not term.elements:
        raise validation_error("Empty bags are not supported")
    members = [value_of(element, parameters, place) for element in term.elements]
    datatypes = {values.type_of(member) for member in members}
    if len(datatypes) > 1 or not datatypes <= {"S", "N", "B"}:
        raise validation_error("The elements of a set must all be strings, all be numbers or all be binaries")
    datatype = datatypes.pop()
    return values.normalise({datatype + "S": [member[datatype] for member in members]})


def _no_constant(term: ast.Expression, place: str) -> ServiceError:
    name = term.name if isinstance(term, ast.Call) else "path" if isinstance(term, ast.Path) else "expression"
    position = f" at {term.position}" if isinstance(term, ast.Call | ast.Path | ast.Arithmetic) else ""
    return validation_error(f"Unsupported data type: {name} under key {place}{position}")


def _canonical(parameter: AttributeValue) -> AttributeValue:
    _check_exponents(parameter, 0)
    return values.normalise(parameter)


def _check_exponents(value: Any, depth: int) -> bool:
    """Refuse numbers that BigDecimal would not read; False once the value is too deep to go on."""
    if depth > values.MAX_NESTING:
        return False
    if not isinstance(value, Mapping):
        return True
    for datatype, content in value.items():
        if datatype == "N" and isinstance(content, str):
            _check_exponent(content)
        elif datatype == "NS" and isinstance(content, list | tuple):
            for member in content:
                if isinstance(member, str):
                    _check_exponent(member)
        elif datatype == "L" and isinstance(content, list | tuple):
            if not all(_check_exponents(element, depth + 1) for element in content):
                return False
        elif (
            datatype == "M"
            and isinstance(content, Mapping)
            and not all(_check_exponents(member, depth + 1) for member in content.values())
        ):
            return False
    return True


def _check_exponent(text: str) -> None:
    if not text:
        raise validation_error("The parameter cannot be converted to a numeric value")
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise validation_error(f"The parameter cannot be converted to a numeric value: {text}")
    whole, fraction, exponent_text = match.groups()
    exponent = int(exponent_text or "0")
    if abs(exponent) > _INT32_MAX:
        raise validation_error(f"The parameter cannot be converted to a numeric value: {text}")
    precision = len((whole + (fraction or "")).lstrip("0")) or 1
    if precision - len(fraction or "") + exponent > _INT32_MAX:
        raise validation_error(
            "Number underflow. Attempting to store a number with magnitude smaller than supported range"
        )
