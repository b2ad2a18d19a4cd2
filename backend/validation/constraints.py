"""Constraints of single members: required, length, range, pattern, enumeration.

The service collects all violations of a request, ten at most, and tells them in one message:

    2 validation errors detected: Value null at 'key' failed to satisfy constraint: Member must not ...

A checker gets a decoded value, its path and the list to which it adds what is wrong. A path is a linked list
(parent, segment), which costs nothing until it is printed. Parts of a request without constraints, above all
items, have no checker and are never walked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from backend.errors import ServiceError, validation_error
from backend.validation.model import (
    MEMBER_CONSTRAINTS,
    UNCONSTRAINED,
    Model,
    Shape,
    enum_of,
    members_of,
    required_of,
)
from backend.validation.names import MAX_NAME, MIN_NAME, NAME_PATTERN, is_table_reference, name_violations
from backend.validation.rendering import lower_first, render

Path = tuple[Any, str] | None
Violations = list[str]
Checker = Callable[[Any, Path, Violations], None]

MAX_VIOLATIONS = 10

_NOT_NULL = "Member must not be null"
_NAME_KEYS = (
    f"Map keys must satisfy constraint: [Member must have length less than or equal to {MAX_NAME}, "
    f"Member must have length greater than or equal to {MIN_NAME}, "
    f"Member must satisfy regular expression pattern: {NAME_PATTERN}]"
)


def collected(violations: Violations) -> ServiceError:
    told = violations[:MAX_VIOLATIONS]
    plural = "s" if len(told) > 1 else ""
    return validation_error(f"{len(told)} validation error{plural} detected: {'; '.join(told)}")


def violation(rendered: str, path: Path, constraint: str) -> str:
    """One violation; `rendered` is the refused value as printed. `null` stands bare, all else in quotes."""
    value = rendered if rendered == "null" else f"'{rendered}'"
    return f"Value {value} at '{print_path(path)}' failed to satisfy constraint: {constraint}"


def print_path(path: Path) -> str:
    segments = []
    while path is not None:
        path, segment = path
        segments.append(segment)
    return ".".join(reversed(segments))


class ConstraintCompiler:
    """Builds the checker of a request from a service model; None where there is nothing to check."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._structures: dict[str, Checker | None] = {}

    def structure(self, name: str) -> Checker | None:
        """The checker of a structure, or None. Only attribute values recurse; those have no constraints."""
        if name == "" or name == "AttributeValue":
            return None
        if name not in self._structures:
            self._structures[name] = self._structure(name)
        return self._structures[name]

    def _structure(self, name: str) -> Checker | None:
        shape = self._model.shape(name)
        required = required_of(name, shape)
        members: list[tuple[str, str, tuple[str, ...] | None, Checker | None]] = []
        for member, member_shape in members_of(name, shape):
            checker = self._checker(member_shape, MEMBER_CONSTRAINTS.get((name, member), {}))
            if checker is not None or member in required:
                members.append((member, lower_first(member), required.get(member), checker))
        if not members:
            return None

        def check(value: Any, path: Path, violations: Violations) -> None:
            for member, segment, alternatives, checker in members:
                content = value.get(member)
                if content is None:
                    if alternatives is not None and all(value.get(other) is None for other in alternatives):
                        violations.append(violation("null", (path, segment), _NOT_NULL))
                elif checker is not None:
                    checker(content, (path, segment), violations)

        return check

    def _checker(self, name: str, overrides: Mapping[str, int]) -> Checker | None:
        shape = self._model.shape(name)
        if name in UNCONSTRAINED:
            return None
        if name == "TableArn":
            return check_table_reference
        match shape["type"]:
            case "structure":
                return self.structure(name)
            case "list":
                return self._list(name, {**shape, **overrides})
            case "map":
                return self._map(name, shape)
            case "string":
                return string_checker(name, {**shape, **overrides})
            case "integer" | "long":
                return number_checker(shape)
            case _:
                return None

    def _list(self, name: str, shape: Shape) -> Checker:
        element = self._checker(shape["member"]["shape"], {})
        lengths = length_rules(shape)
        model = self._model

        def check(value: Any, path: Path, violations: Violations) -> None:
            for allows, constraint in lengths:
                if not allows(len(value)):
                    violations.append(violation(render(model, name, value), path, constraint))
            for number, one in enumerate(value, 1):
                if one is None:
                    violations.append(violation("null", ((path, str(number)), "member"), _NOT_NULL))
                elif element is not None:
                    element(one, ((path, str(number)), "member"), violations)

        return check

    def _map(self, name: str, shape: Shape) -> Checker | None:
        value_name = shape["value"]["shape"]
        if value_name == "AttributeValue":
            return None
        element = self._checker(value_name, {})
        lengths = length_rules(shape)
        values = self._model.shape(value_name)
        value_lengths = length_rules(values) if values["type"] == "list" else []
        value_constraint = ", ".join(constraint for _, constraint in reversed(value_lengths))
        names_tables = shape["key"]["shape"] == "TableArn"
        elements_only = value_lengths and self._element_only(value_name)
        model = self._model

        def check(value: Any, path: Path, violations: Violations) -> None:
            for allows, constraint in lengths:
                if not allows(len(value)):
                    violations.append(violation(render(model, name, value), path, constraint))
            if names_tables and not all(map(is_table_reference, value)):
                violations.append(violation(render(model, name, value), path, _NAME_KEYS))
            for one in value.values():
                if one is not None and not all(allows(len(one)) for allows, _ in value_lengths):
                    constraint = f"Map value must satisfy constraint: [{value_constraint}]"
                    violations.append(violation(render(model, name, value), path, constraint))
            for key, one in value.items():
                if one is None:
                    violations.append(violation("null", ((path, key), "member"), _NOT_NULL))
                elif elements_only:
                    elements_only(one, ((path, key), "member"), violations)
                elif element is not None:
                    element(one, ((path, key), "member"), violations)

        return check

    def _element_only(self, list_name: str) -> Checker:
        """The checker of a list in a map, whose length the map's own message has told."""
        shape = {key: rule for key, rule in self._model.shape(list_name).items() if key not in ("min", "max")}
        return self._list(list_name, shape)


def check_table_reference(value: Any, path: Path, violations: Violations) -> None:
    """A table name or ARN."""
    if is_table_reference(value):
        return
    if value == "":
        violations.append(violation("", path, "Member must have length greater than or equal to 1"))
        return
    violations.extend(violation(value, path, constraint) for constraint in name_violations(value))


def string_checker(name: str, shape: Shape) -> Checker | None:
    """The checker of pattern, length and enumeration, in the service's order."""
    enum = enum_of(name, shape)
    if enum:
        allowed = frozenset(enum)
        enum_constraint = f"Member must satisfy enum value set: [{', '.join(enum)}]"

        def check_enum(value: Any, path: Path, violations: Violations) -> None:
            if value not in allowed:
                violations.append(violation(value, path, enum_constraint))

        return check_enum
    pattern = re.compile(shape["pattern"]) if "pattern" in shape else None
    lengths = length_rules(shape)
    if pattern is None and not lengths:
        return None
    pattern_constraint = f"Member must satisfy regular expression pattern: {shape.get('pattern')}"

    def check(value: Any, path: Path, violations: Violations) -> None:
        if pattern is not None and pattern.fullmatch(value) is None:
            violations.append(violation(value, path, pattern_constraint))
        for allows, constraint in lengths:
            if not allows(len(value)):
                violations.append(violation(value, path, constraint))

    return check


def number_checker(shape: Shape) -> Checker | None:
    low, high = shape.get("min"), shape.get("max")
    if low is None and high is None:
        return None

    def check(value: Any, path: Path, violations: Violations) -> None:
        if low is not None and value < low:
            constraint = f"Member must have value greater than or equal to {low}"
            violations.append(violation(str(value), path, constraint))
        if high is not None and value > high:
            constraint = f"Member must have value less than or equal to {high}"
            violations.append(violation(str(value), path, constraint))

    return check


def length_rules(shape: Shape) -> list[tuple[Callable[[int], bool], str]]:
    """(predicate on the length, text when it fails): minimum first. A minimum of 0 is none."""
    rules: list[tuple[Callable[[int], bool], str]] = []
    low, high = shape.get("min", 0), shape.get("max")
    if low:
        rules.append(
            (lambda length: length >= low, f"Member must have length greater than or equal to {low}")
        )
    if high is not None:
        rules.append((lambda length: length <= high, f"Member must have length less than or equal to {high}"))
    return rules
