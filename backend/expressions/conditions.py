"""ConditionExpression and FilterExpression: compiled once per text, evaluated on items.

The rules of this file:

* A condition never fails on an item. A missing attribute, or one of another type, makes a predicate false;
  the exception is `<>`, which a missing attribute makes true.
* Values are looked up by placeholder when the condition is evaluated, so that one compiled form serves
  every request with the same text and names, whatever the values. Compiled forms are kept in a bounded LRU
  cache.

Source: "Comparison operator and function reference" of the developer guide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from backend.expressions import ast, paths
from backend.expressions.checks import (
    check_condition,
    check_text,
    has_operands,
    leaves,
    operands_of,
    predicates,
)
from backend.expressions.parser import parse_condition
from backend.expressions.paths import Getter
from backend.expressions.scope import Names, Scope, Values
from backend.model.values import compare, contains, equal, type_of
from backend.protocol import AttributeValue, Item

Evaluate = Callable[[Item, Values], bool]

_COMPILED_FORMS = 2048
_PASSED_COMBINATIONS = 64
_NO_ITEM: Item = {}
_NO_VALUES: Values = {}


class Condition:
    """A condition bound to the values of one request."""

    __slots__ = ("_evaluate", "_values", "top_level_names", "tree")

    def __init__(
        self, tree: ast.Condition, evaluate: Evaluate, names: tuple[str, ...], values: Values
    ) -> None:
        self.tree = tree
        self.top_level_names = names
        self._evaluate = evaluate
        self._values = values

    def matches(self, item: Item | None) -> bool:
        """Whether the condition holds for an item; None stands for the item that does not exist."""
        return self._evaluate(_NO_ITEM if item is None else item, self._values)


@dataclass(frozen=True, slots=True)
class _Compiled:
    """What a text and its names come to.

    `passed` holds the types of values, in the order of `placeholders`, that have passed the checks before:
    nothing else about values matters. None where their contents do (bounds of BETWEEN, names of types).
    """

    tree: ast.Condition
    evaluate: Evaluate
    top_level_names: tuple[str, ...]
    aliases: frozenset[str]
    placeholders: tuple[str, ...]
    passed: set[tuple[str, ...]] | None


def condition(text: str, kind: str, scope: Scope) -> Condition:
    """A `kind` (`ConditionExpression`, `FilterExpression`) of a request, checked and compiled.

    Raises ValidationException in the service's words. The placeholders count as used in `scope`.
    """
    compiled = _compiled(text, kind, scope.names_key)
    types = None if compiled is None else types_of(compiled.placeholders, scope.values)
    if compiled is None or compiled.passed is None or types not in compiled.passed:
        check_condition(parse_condition(text, kind), kind, scope.names, scope.values)
        assert compiled is not None, "what cannot be compiled is an error"
        if compiled.passed is not None and types is not None:
            remember(compiled.passed, types)
    scope.use(compiled.aliases, compiled.placeholders)
    return Condition(compiled.tree, compiled.evaluate, compiled.top_level_names, scope.values)


def from_tree(tree: ast.Condition) -> Condition:
    """A condition whose values stand in its tree as constants, such as legacy parameters give."""
    return Condition(tree, compile_condition(tree), _top_level_names(tree), _NO_VALUES)


@lru_cache(_COMPILED_FORMS)
def _compiled(text: str, kind: str, names_key: tuple[tuple[str, str], ...]) -> _Compiled | None:
    """None when a name is undefined or an operand is missing: something else may have to be said first."""
    tree = parse_condition(text, kind)
    check_text(tree, kind)
    try:
        resolved = resolve(tree, dict(names_key))
    except KeyError:
        return None
    if not has_operands(tree):
        return None
    found = [leaf for predicate in predicates(tree) for leaf in leaves(operands_of(predicate))]
    return _Compiled(
        tree=resolved,
        evaluate=compile_condition(resolved),
        top_level_names=_top_level_names(resolved),
        aliases=frozenset(
            alias for leaf in found if isinstance(leaf, ast.Path) for alias in paths.aliases(leaf)
        ),
        placeholders=tuple({leaf.name: None for leaf in found if isinstance(leaf, ast.Placeholder)}),
        passed=None if any(map(_depends_on_contents, predicates(resolved))) else set(),
    )


def _depends_on_contents(predicate: ast.Predicate) -> bool:
    """Whether `check_condition` looks into values."""
    return isinstance(predicate, ast.Between) or (
        isinstance(predicate, ast.Function) and predicate.name == "attribute_type"
    )


def types_of(placeholders: tuple[str, ...], values: Values) -> tuple[str, ...] | None:
    """The types of values; None when one is undefined."""
    try:
        return tuple([type_of(values[placeholder]) for placeholder in placeholders])
    except KeyError:
        return None


def remember(passed: set[tuple[str, ...]], types: tuple[str, ...]) -> None:
    """Add to what has passed, within bounds: a text meets few combinations of types, unless someone tries."""
    if len(passed) >= _PASSED_COMBINATIONS:
        passed.clear()
    passed.add(types)


def _top_level_names(tree: ast.Condition) -> tuple[str, ...]:
    names = {
        paths.top_level_name(leaf): None
        for predicate in predicates(tree)
        for leaf in leaves(operands_of(predicate))
        if isinstance(leaf, ast.Path)
    }
    return tuple(names)


# From the tree of a text to a tree of names.


def resolve(tree: ast.Condition, names: Names) -> ast.Condition:
    """The tree with name placeholders replaced; KeyError for an undefined one."""
    if isinstance(tree, ast.And):
        return ast.And(tuple(resolve(part, names) for part in tree.conditions))
    if isinstance(tree, ast.Or):
        return ast.Or(tuple(resolve(part, names) for part in tree.conditions))
    if isinstance(tree, ast.Not):
        return ast.Not(resolve(tree.condition, names))
    if isinstance(tree, ast.Comparison):
        return ast.Comparison(
            tree.operator, resolve_operand(tree.left, names), resolve_operand(tree.right, names)
        )
    if isinstance(tree, ast.Between):
        return ast.Between(*(resolve_operand(operand, names) for operand in operands_of(tree)))
    if isinstance(tree, ast.In):
        return ast.In(
            resolve_operand(tree.operand, names),
            tuple(resolve_operand(candidate, names) for candidate in tree.candidates),
        )
    return ast.Function(tree.name, tuple(resolve_operand(operand, names) for operand in tree.arguments))


def resolve_operand(operand: ast.Operand, names: Names) -> ast.Operand:
    """An operand with name placeholders replaced; KeyError for an undefined one."""
    if isinstance(operand, ast.Path):
        return paths.resolve(operand, names)
    if isinstance(operand, ast.Function):
        return ast.Function(
            operand.name, tuple(resolve_operand(argument, names) for argument in operand.arguments)
        )
    return operand


# From a tree of names to a function of item and values.


def compile_condition(tree: ast.Condition) -> Evaluate:
    """The function that a condition is. One Python frame for each level of AND, OR and NOT."""
    if isinstance(tree, ast.And):
        return _all([compile_condition(part) for part in tree.conditions])
    if isinstance(tree, ast.Or):
        return _any([compile_condition(part) for part in tree.conditions])
    if isinstance(tree, ast.Not):
        inner = compile_condition(tree.condition)
        return lambda item, values: not inner(item, values)
    if isinstance(tree, ast.Comparison):
        return _comparison(tree)
    if isinstance(tree, ast.Between):
        return _between(operand_getter(tree.operand), operand_getter(tree.lower), operand_getter(tree.upper))
    if isinstance(tree, ast.In):
        return _in(operand_getter(tree.operand), [operand_getter(part) for part in tree.candidates])
    return _FUNCTIONS[tree.name](*(operand_getter(argument) for argument in tree.arguments))


def operand_getter(operand: ast.Operand) -> Getter:
    """The function that reads an operand of a condition."""
    if isinstance(operand, ast.Path):
        return paths.getter(operand)
    if isinstance(operand, ast.Placeholder):
        name = operand.name
        return lambda item, values: values[name]
    if isinstance(operand, ast.Constant):
        value = operand.value
        return lambda item, values: value
    return _size(operand_getter(operand.arguments[0]))


def _all(parts: list[Evaluate]) -> Evaluate:
    if len(parts) == 2:
        first, second = parts
        return lambda item, values: first(item, values) and second(item, values)

    def every(item: Item, values: Values) -> bool:
        # A loop: all() over a generator would take a second frame for each level of nesting.
        for part in parts:  # noqa: SIM110
            if not part(item, values):
                return False
        return True

    return every


def _any(parts: list[Evaluate]) -> Evaluate:
    def some(item: Item, values: Values) -> bool:
        for part in parts:  # noqa: SIM110
            if part(item, values):
                return True
        return False

    return some


def _comparison(tree: ast.Comparison) -> Evaluate:
    left, right = operand_getter(tree.left), operand_getter(tree.right)
    if tree.operator == "=":

        def equals(item: Item, values: Values) -> bool:
            a = left(item, values)
            b = right(item, values)
            return a is not None and b is not None and equal(a, b)

        return equals
    if tree.operator == "<>":

        def differs(item: Item, values: Values) -> bool:
            a = left(item, values)
            b = right(item, values)
            return a is None or b is None or not equal(a, b)

        return differs
    accepted = _ORDERS[tree.operator]

    def ordered(item: Item, values: Values) -> bool:
        a = left(item, values)
        b = right(item, values)
        return a is not None and b is not None and compare(a, b) in accepted

    return ordered


_ORDERS = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (1, 0)}


def _between(operand: Getter, lower: Getter, upper: Getter) -> Evaluate:
    def between(item: Item, values: Values) -> bool:
        value, low, high = operand(item, values), lower(item, values), upper(item, values)
        if value is None or low is None or high is None:
            return False
        return compare(low, value) in (-1, 0) and compare(value, high) in (-1, 0)

    return between


def _in(operand: Getter, candidates: list[Getter]) -> Evaluate:
    def among(item: Item, values: Values) -> bool:
        value = operand(item, values)
        if value is None:
            return False
        for candidate in candidates:
            other = candidate(item, values)
            if other is not None and equal(value, other):
                return True
        return False

    return among


def _attribute_exists(path: Getter) -> Evaluate:
    return lambda item, values: path(item, values) is not None


def _attribute_not_exists(path: Getter) -> Evaluate:
    return lambda item, values: path(item, values) is None


def _attribute_type(path: Getter, datatype: Getter) -> Evaluate:
    def has_type(item: Item, values: Values) -> bool:
        value, wanted = path(item, values), datatype(item, values)
        return value is not None and wanted is not None and type_of(value) == wanted.get("S")

    return has_type


def _begins_with(operand: Getter, prefix: Getter) -> Evaluate:
    def begins(item: Item, values: Values) -> bool:
        value, start = operand(item, values), prefix(item, values)
        if value is None or start is None:
            return False
        for datatype in ("S", "B"):
            if datatype in value and datatype in start:
                return bool(value[datatype].startswith(start[datatype]))
        return False

    return begins


def _contains(operand: Getter, wanted: Getter) -> Evaluate:
    def holds(item: Item, values: Values) -> bool:
        value, member = operand(item, values), wanted(item, values)
        return value is not None and member is not None and contains(value, member)

    return holds


def _size(operand: Getter) -> Getter:
    def size(item: Item, values: Values) -> AttributeValue | None:
        value = operand(item, values)
        if value is None or type_of(value) in ("N", "BOOL", "NULL"):
            return None
        text = value.get("S")
        if text is not None and not text.isascii():
            # The service counts a string in UTF-16 code units.
            return {"N": str(len(text.encode("utf-16-le")) // 2)}
        return {"N": str(len(value[type_of(value)]))}

    return size


_FUNCTIONS: dict[str, Callable[..., Evaluate]] = {
    "attribute_exists": _attribute_exists,
    "attribute_not_exists": _attribute_not_exists,
    "attribute_type": _attribute_type,
    "begins_with": _begins_with,
    "contains": _contains,
}
