"""KeyConditionExpression and legacy KeyConditions: one partition, and perhaps a range of its sort keys.

Three steps, because the service takes them at different times. `key_condition` checks the expression as any
other. `KeyConditions.check` refuses what no key could satisfy (OR, nested paths, two conditions on one
attribute). `KeyConditions.bind` needs the key schema and gives the range of storage keys to read.

Sources: "Key condition expressions for the Query operation"; the texts of the errors are the service's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from backend.errors import ServiceError, validation_error
from backend.expressions import ast
from backend.expressions.checks import operands_of
from backend.expressions.conditions import condition, resolve
from backend.expressions.lexer import invalid
from backend.expressions.parser import parse_condition
from backend.expressions.paths import top_level_name
from backend.expressions.scope import Scope
from backend.model.keys import (
    MAX_PARTITION_BYTES,
    MAX_SORT_BYTES,
    KeyAttribute,
    KeySchema,
    escaped,
    partition_prefix,
    scalar_bytes,
    successor,
    terminated,
)
from backend.protocol import AttributeValue, Item

_KIND = "KeyConditionExpression"
_INVALID = "One or more parameter values were invalid: "
_INDEXABLE = frozenset(("=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"))
_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_COMPILED_FORMS = 2048


@dataclass(slots=True)
class KeyTest:
    """What one key attribute must be.

    `operator` is `=`, `<`, `<=`, `>`, `>=`, `BETWEEN` or `begins_with`.
    """

    operator: str
    operands: tuple[AttributeValue, ...]


@dataclass(slots=True)
class KeyCondition:
    """A bound key condition.

    `partition` holds the partition attributes, `sort` the tests on sort attributes in schema order. `start`
    and `stop` bound the storage keys: start <= key < stop, where None means no end.
    """

    partition: Item
    sort: tuple[KeyTest, ...]
    prefix: bytes
    start: bytes
    stop: bytes | None

    def contains(self, storage_key: bytes) -> bool:
        """Whether a storage key, with whatever follows its sort bytes, is inside the condition's range."""
        return self.start <= storage_key and (self.stop is None or storage_key < self.stop)


class KeyConditions:
    """A key condition before it meets a schema."""

    __slots__ = ("_find_tests", "_tests")

    def __init__(self, find_tests: Callable[[], Mapping[str, KeyTest]]) -> None:
        self._find_tests = find_tests
        self._tests: Mapping[str, KeyTest] | None = None

    def check(self) -> Mapping[str, KeyTest]:
        """The test of each attribute; ValidationException for what cannot be a condition on keys."""
        if self._tests is None:
            self._tests = self._find_tests()
        if not self._tests:
            raise validation_error("Conditions can be of length 1 or 2 only")
        return self._tests

    def bind(self, schema: KeySchema) -> KeyCondition:
        """The condition on the keys of a table or index.

        Raises ValidationException when it does not fit the schema: too many attributes, a missing partition
        key, an attribute that is no key, a type that is not the key's, an operator that a partition key does
        not take, a sort attribute after one that is left out or has a range.
        """
        tests = dict(self.check())
        if len(tests) > len(schema.names):
            raise validation_error(
                f"The number of query conditions ({len(tests)}) exceeds "
                f"the number of key attributes defined in the schema ({len(schema.names)})"
            )
        partition = _partition(schema, tests)
        sort = _sort(schema, tests)
        prefix = partition_prefix(schema, partition)
        start, stop = _range(schema, sort, prefix)
        return KeyCondition(partition, sort, prefix, start, stop)


def key_condition(text: str, scope: Scope) -> KeyConditions:
    """A request's KeyConditionExpression, checked as an expression; see `KeyConditions` for the rest."""
    condition(text, _KIND, scope)
    values, names_key = scope.values, scope.names_key
    return KeyConditions(
        lambda: {
            name: KeyTest(operator, tuple([values[placeholder] for placeholder in placeholders]))
            for name, operator, placeholders in _shapes(text, names_key)
        }
    )


def from_tests(tests: Mapping[str, KeyTest]) -> KeyConditions:
    """Key conditions as the legacy KeyConditions parameter gives them."""
    return KeyConditions(lambda: tests)


# What an expression says about each attribute: the attribute, the operator, the values' placeholders.

_Shape = tuple[str, str, tuple[str, ...]]


@lru_cache(_COMPILED_FORMS)
def _shapes(text: str, names_key: tuple[tuple[str, str], ...]) -> tuple[_Shape, ...]:
    tree = resolve(parse_condition(text, _KIND), dict(names_key))
    shapes = tuple(map(_shape, _conjuncts(tree)))
    if len({name for name, _, _ in shapes}) < len(shapes):
        raise invalid(_KIND, "KeyConditionExpressions must only contain one condition per key")
    return shapes


def _conjuncts(tree: ast.Condition) -> list[ast.Condition]:
    """The conditions that AND joins; an operator that a key condition never has is refused at once."""
    if isinstance(tree, ast.And):
        return [part for condition in tree.conditions for part in _conjuncts(condition)]
    operator = None
    if isinstance(tree, ast.Or):
        operator = "OR"
    elif isinstance(tree, ast.Not):
        operator = "NOT"
    elif isinstance(tree, ast.In):
        operator = "IN"
    elif isinstance(tree, ast.Comparison) and tree.operator == "<>":
        operator = "<>"
    elif isinstance(tree, ast.Function) and tree.name != "begins_with":
        operator = tree.name
    if operator is not None:
        raise validation_error(f"Invalid operator used in {_KIND}: {operator}")
    return [tree]


def _shape(part: ast.Condition) -> _Shape:
    assert isinstance(part, ast.Comparison | ast.Between | ast.Function), "anything else was refused"
    operands = operands_of(part)
    operator = _operator(part)
    if operator in ("BETWEEN", "begins_with") and isinstance(operands[0], ast.Placeholder):
        raise validation_error(
            f"Invalid condition in {_KIND}: {operator} operator must have the key attribute "
            "as its first operand"
        )
    name: str | None = None
    placeholders: list[str] = []
    for operand in operands:
        if isinstance(operand, ast.Function):
            raise validation_error("KeyConditionExpressions cannot contain nested operations")
        if isinstance(operand, ast.Path):
            if name is not None:
                raise validation_error(
                    f"Invalid condition in {_KIND}: Multiple attribute names used in one condition"
                )
            if len(operand.elements) > 1:
                raise validation_error("KeyConditionExpressions cannot have conditions on nested attributes")
            name = top_level_name(operand)
        elif isinstance(operand, ast.Placeholder):
            placeholders.append(operand.name)
    if name is None:
        raise validation_error(f"Invalid condition in {_KIND}: No key attribute specified")
    if not isinstance(operands[0], ast.Path):
        operator = _MIRRORED[operator]
    return name, operator, tuple(placeholders)


def _operator(part: ast.Comparison | ast.Between | ast.Function) -> str:
    if isinstance(part, ast.Comparison):
        return part.operator
    return "BETWEEN" if isinstance(part, ast.Between) else part.name


# What the tests come to on a schema.


def _partition(schema: KeySchema, tests: dict[str, KeyTest]) -> Item:
    """The values of the partition attributes, taken out of `tests`: each must be equal to something."""
    partition: dict[str, AttributeValue] = {}
    unequal: list[str] = []
    for attribute in schema.partition_attributes:
        test = tests.pop(attribute.name, None)
        if test is None and not schema.is_multi_attribute:
            raise _missed(attribute)
        if test is not None:
            _check_operands(attribute, test, MAX_PARTITION_BYTES)
        if test is not None and test.operator == "=":
            partition[attribute.name] = test.operands[0]
        else:
            unequal.append(attribute.name)
    if unequal and not schema.is_multi_attribute:
        raise _unsupported()
    if unequal:
        raise validation_error(
            f"HASH key attributes {', '.join(unequal)} must have equality conditions specified in the query"
        )
    return partition


def _sort(schema: KeySchema, tests: dict[str, KeyTest]) -> tuple[KeyTest, ...]:
    """The tests on the sort attributes: equalities from the first on, the last one anything."""
    sort: list[KeyTest] = []
    unequal: list[str] = []
    for attribute in schema.sort_attributes:
        test = tests.pop(attribute.name, None)
        if test is None:
            unequal.append(attribute.name)
            continue
        _check_operands(attribute, test, MAX_SORT_BYTES)
        if unequal:
            raise validation_error(
                f"RANGE key attributes {', '.join(unequal)} must have equality conditions specified "
                f"in the query because a condition is present on key attribute {attribute.name}"
            )
        sort.append(test)
        if test.operator != "=":
            unequal.append(attribute.name)
    if tests:
        raise _missed(schema.sort_attributes[len(sort)])
    return tuple(sort)


def _missed(attribute: KeyAttribute) -> ServiceError:
    return validation_error(f"Query condition missed key schema element: {attribute.name}")


def _unsupported() -> ServiceError:
    return validation_error("Query key condition not supported")


def _check_operands(attribute: KeyAttribute, test: KeyTest, limit: int) -> None:
    if test.operator not in _INDEXABLE:
        raise validation_error("Attempted conditional constraint is not an indexable operation")
    for value in test.operands:
        if attribute.type not in value:
            raise validation_error(f"{_INVALID}Condition parameter type does not match schema type")
        content = value[attribute.type]
        if not content and test.operator != "begins_with":
            kind = "string" if attribute.type == "S" else "binary"
            raise validation_error(
                "One or more parameter values are not valid. The AttributeValue for a key attribute "
                f"cannot contain an empty {kind} value. Key: {attribute.name}"
            )
        if attribute.type != "N" and len(scalar_bytes(attribute, value)) > limit:
            raise validation_error(
                f"{_INVALID}Size of hashkey has exceeded the maximum size limit of{limit} bytes"
                if limit == MAX_PARTITION_BYTES
                else f"{_INVALID}Aggregated size of all range keys has exceeded "
                f"the size limit of {limit} bytes"
            )


def _range(schema: KeySchema, sort: tuple[KeyTest, ...], prefix: bytes) -> tuple[bytes, bytes | None]:
    """First storage key of a condition, and the one it ends before."""
    for attribute, test in zip(schema.sort_attributes, sort, strict=False):
        raw = [scalar_bytes(attribute, value) for value in test.operands]
        if test.operator == "begins_with":
            beginning = prefix + escaped(raw[0])
            return beginning, successor(beginning)
        first = prefix + terminated(raw[0])
        if test.operator == "=":
            prefix = first
        elif test.operator == "BETWEEN":
            return first, successor(prefix + terminated(raw[1]))
        elif test.operator in ("<", "<="):
            return prefix, first if test.operator == "<" else successor(first)
        else:
            # Storage keys of index entries go on behind the sort bytes: "after" means after all of those.
            after = successor(first) if test.operator == ">" else first
            assert after is not None, "sort bytes end in zeros"
            return after, successor(prefix)
    return prefix, successor(prefix)
