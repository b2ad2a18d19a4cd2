"""The placeholders of one request: ExpressionAttributeNames and ExpressionAttributeValues.

A scope is made once per request and serves all its expressions, because a placeholder is unused only when
none of them uses it. Its values are validated and canonical.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from backend.errors import ServiceError, validation_error
from backend.model.values import check_name, normalise
from backend.protocol import AttributeValue

Names = Mapping[str, str]
Values = Mapping[str, AttributeValue]

_NAME_KEY = re.compile(r"#[A-Za-z0-9_]+")
_VALUE_KEY = re.compile(r":[A-Za-z0-9_]+")


class Scope:
    """The names and values that expressions may refer to. `None` means that the request has no such member.

    Raises ValidationException for an empty mapping, a malformed placeholder or an invalid value.
    """

    __slots__ = ("_used_names", "_used_values", "names", "names_key", "values")

    def __init__(
        self,
        names: Mapping[str, str] | None = None,
        values: Mapping[str, AttributeValue] | None = None,
    ) -> None:
        self.names: Names = _checked_names(names) if names is not None else {}
        self.values: Values = _checked_values(values) if values is not None else {}
        self.names_key: tuple[tuple[str, str], ...] = tuple(names.items()) if names else ()
        self._used_names: set[str] = set()
        self._used_values: set[str] = set()

    def use(self, names: Iterable[str], values: Iterable[str]) -> None:
        """Note placeholders that an expression refers to."""
        self._used_names.update(names)
        self._used_values.update(values)

    def check_all_used(self) -> None:
        """Refuse placeholders that no expression of the request has referred to."""
        _check_used("ExpressionAttributeNames", self.names, self._used_names)
        _check_used("ExpressionAttributeValues", self.values, self._used_values)


def _check_used(member: str, given: Mapping[str, object], used: set[str]) -> None:
    if len(used) < len(given):
        unused = ", ".join(key for key in given if key not in used)
        raise validation_error(f"Value provided in {member} unused in expressions: keys: {{{unused}}}")


def _checked_names(names: Mapping[str, str]) -> Names:
    if not names:
        raise validation_error("ExpressionAttributeNames must not be empty")
    for key, name in names.items():
        if _NAME_KEY.fullmatch(key) is None:
            raise _invalid_key("ExpressionAttributeNames", key)
        try:
            check_name(name)
        except ServiceError as error:
            raise _invalid_value("ExpressionAttributeNames", key, error) from error
    return names


def _checked_values(values: Mapping[str, AttributeValue]) -> Values:
    if not values:
        raise validation_error("ExpressionAttributeValues must not be empty")
    for key in values:
        if _VALUE_KEY.fullmatch(key) is None:
            raise _invalid_key("ExpressionAttributeValues", key)
    clean: dict[str, AttributeValue] = {}
    for key, value in values.items():
        try:
            clean[key] = normalise(value)
        except ServiceError as error:
            raise _invalid_value("ExpressionAttributeValues", key, error) from error
    return clean


def _invalid_key(member: str, key: str) -> ServiceError:
    return validation_error(f'{member} contains invalid key: Syntax error; key: "{key}"')


def _invalid_value(member: str, key: str, error: ServiceError) -> ServiceError:
    return validation_error(f"{member} contains invalid value: {error.message} for key {key}")
