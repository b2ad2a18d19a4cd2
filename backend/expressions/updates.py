"""UpdateExpression: checked, bound, and what it may touch.

Parsed and checked once per text and names, bound to the values of one request. What the actions do to an
item is in `application`; here is what can be said without one, and what of a result may be returned.

Sources: "Update expressions" and API reference of UpdateItem; the texts of the errors are the service's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from backend.errors import ServiceError, validation_error
from backend.expressions import ast, paths
from backend.expressions.application import Change
from backend.expressions.charges import Charge, charge
from backend.expressions.checks import (
    UPDATE_FUNCTIONS,
    check_count,
    check_value_defined,
    constant_of,
    incorrect_operand,
    leaves,
    requires_path,
    unknown_function,
)
from backend.expressions.conditions import remember, resolve_operand, types_of
from backend.expressions.lexer import invalid
from backend.expressions.parser import parse_update
from backend.expressions.projections import Projection
from backend.expressions.scope import Names, Scope, Values
from backend.model.keys import KeySchema, check_index_attributes
from backend.model.values import type_of
from backend.protocol import Item

_KIND = "UpdateExpression"
_COMPILED_FORMS = 2048
_INVALID = "One or more parameter values were invalid: "
# What types are called in the errors of ADD and DELETE.
_TYPE_NAMES = {
    "S": "STRING",
    "N": "NUMBER",
    "B": "BINARY",
    "BOOL": "BOOLEAN",
    "NULL": "NULL",
    "M": "MAP",
    "L": "LIST",
}
_SETS = frozenset(("SS", "NS", "BS"))
_NO_VALUES: Values = {}
_NO_CHARGE = Charge()


class Update:
    """The actions of one request, bound to its values."""

    __slots__ = ("_charge", "_legacy", "_nested", "_projection", "_values", "top_level_names", "tree")

    def __init__(
        self,
        tree: ast.Update,
        values: Values,
        projection: Projection,
        nested: tuple[ast.Path, ...] = (),
        charge: Charge = _NO_CHARGE,
        *,
        legacy: bool,
    ) -> None:
        """`nested` are the paths in the tree that lead into attributes."""
        self.tree = tree
        self._charge = charge
        self._nested = nested
        self.top_level_names = projection.top_level_names
        self._values = values
        self._projection = projection
        self._legacy = legacy

    @property
    def charge(self) -> int:
        """The bytes that UpdateItem charges its actions: those of an UpdateExpression alone."""
        return self._charge.of(self._values)

    def check_attributes(self, schema: KeySchema, indexes: Mapping[str, KeySchema]) -> None:
        """Refuse to update a key, or an index key in a way that no item could make right.

        `indexes` maps index names to their keys. Needs no item: it comes before the condition is evaluated.
        """
        for name in self.top_level_names:
            if name in schema.names:
                raise validation_error(
                    f"{_INVALID}Cannot update attribute {name}. This attribute is part of the key"
                )
        for index_name, index in indexes.items():
            self._check_index_types(index_name, index)
        if self._nested:
            paths.check_scalars(self._nested, schema.names, "Key")
            for index in indexes.values():
                paths.check_scalars(self._nested, index.names, "IndexKey")

    def _check_index_types(self, index_name: str, index: KeySchema) -> None:
        for action in self.tree.actions:
            if isinstance(action, ast.Remove | ast.Delete) or len(action.path.elements) > 1:
                continue
            datatype = self._known_type(action.value)
            for attribute in index.attributes:
                if attribute.name == action.path.elements[0] and datatype not in (None, attribute.type):
                    raise validation_error(
                        f"{_INVALID}Type mismatch for Index Key {attribute.name} "
                        f"Expected: {attribute.type} Actual: {datatype} IndexName: {index_name}"
                    )

    def _known_type(self, value: ast.Operand | ast.Arithmetic) -> str | None:
        if isinstance(value, ast.Arithmetic):
            return "N"
        if isinstance(value, ast.Function):
            return "L" if value.name == "list_append" else None
        constant = constant_of(value, self._values)
        return None if constant is None else type_of(constant)

    def check_result(self, item: Item, indexes: Mapping[str, KeySchema]) -> None:
        """Refuse a result whose updated attributes an index could not have as keys."""
        touched = {name: item[name] for name in self.top_level_names if name in item}
        if touched:
            for index_name, index in indexes.items():
                check_index_attributes(index, index_name, touched, update=not self._legacy)

    def apply(self, item: Item | None, key: Item, schema: KeySchema) -> Item | None:
        """The item after the update; `key` and what the actions make, if there was no item.

        None when there was no item and nothing makes one: an update of nothing but REMOVE and DELETE.
        Raises ValidationException when the item does not fit the actions; then nothing has happened.
        """
        if not set(self.top_level_names).isdisjoint(schema.names):
            self.check_attributes(schema, {})
        actions = self.tree.actions
        if item is None and actions and all(isinstance(act, ast.Remove | ast.Delete) for act in actions):
            return None
        before = key if item is None else item
        change = Change(before, self._values, exists=item is not None, legacy=self._legacy)
        return change.apply(actions)

    def updated_old(self, old: Item | None, new: Item | None) -> Item:
        """What ReturnValues=UPDATED_OLD returns: the touched paths as they were. Empty for nothing."""
        return {} if old is None else self._projection.apply(old)

    def updated_new(self, old: Item | None, new: Item | None) -> Item:
        """What ReturnValues=UPDATED_NEW returns: what is now at the touched paths. Empty for nothing."""
        return {} if new is None else self._projection.apply(new)


def update(text: str, scope: Scope) -> Update:
    """A request's UpdateExpression, checked.

    Raises ValidationException in the service's words. The placeholders count as used in `scope`.
    """
    compiled = _compiled(text, scope.names_key)
    types = None if compiled is None else types_of(compiled.placeholders, scope.values)
    if compiled is None or types not in compiled.passed:
        _check(parse_update(text), scope.names, scope.values)
        assert compiled is not None, "an undefined name is an error"
        assert types is not None, "an undefined value is an error"
        remember(compiled.passed, types)
    scope.use(compiled.aliases, compiled.placeholders)
    return Update(
        compiled.tree, scope.values, compiled.projection, compiled.nested, compiled.charge, legacy=False
    )


def from_actions(actions: tuple[ast.Action, ...]) -> Update:
    """An update as the legacy AttributeUpdates mean it, values standing in the tree as constants."""
    projection = Projection(action.path for action in actions)
    return Update(ast.Update(actions), _NO_VALUES, projection, legacy=True)


def from_tree(tree: ast.Update) -> Update:
    """An update whose values stand in its tree as constants, such as a PartiQL statement gives.

    Raises ValidationException for paths that exclude each other and for operands of a wrong type.
    """
    paths.check_disjoint([action.path for action in tree.actions], _KIND)
    _check_types(tree, _NO_VALUES)
    projection = Projection(action.path for action in tree.actions)
    return Update(tree, _NO_VALUES, projection, _nested(tree), legacy=False)


@dataclass(frozen=True, slots=True)
class _Compiled:
    """What a text and its names come to. `passed` holds the types of values that have passed the checks."""

    tree: ast.Update
    projection: Projection
    nested: tuple[ast.Path, ...]
    charge: Charge
    aliases: frozenset[str]
    placeholders: tuple[str, ...]
    passed: set[tuple[str, ...]]


@lru_cache(_COMPILED_FORMS)
def _compiled(text: str, names_key: tuple[tuple[str, str], ...]) -> _Compiled | None:
    """None when a name is undefined or paths exclude each other: the error depends on what else is wrong."""
    tree = parse_update(text)
    try:
        resolved = resolve(tree, dict(names_key))
        paths.check_disjoint([action.path for action in resolved.actions], _KIND)
    except (KeyError, ServiceError):
        return None
    found = [leaf for action in tree.actions for leaf in _leaves(action)]
    return _Compiled(
        tree=resolved,
        projection=Projection(action.path for action in resolved.actions),
        nested=_nested(resolved),
        charge=charge(resolved),
        aliases=frozenset(
            alias for leaf in found if isinstance(leaf, ast.Path) for alias in paths.aliases(leaf)
        ),
        placeholders=tuple({leaf.name: None for leaf in found if isinstance(leaf, ast.Placeholder)}),
        passed=set(),
    )


def resolve(tree: ast.Update, names: Names) -> ast.Update:
    """The tree with name placeholders replaced; KeyError for an undefined one."""
    actions: list[ast.Action] = []
    for action in tree.actions:
        path = paths.resolve(action.path, names)
        if isinstance(action, ast.Set):
            value = action.value
            if isinstance(value, ast.Arithmetic):
                left, right = resolve_operand(value.left, names), resolve_operand(value.right, names)
                actions.append(ast.Set(path, ast.Arithmetic(value.operator, left, right)))
            else:
                actions.append(ast.Set(path, resolve_operand(value, names)))
        elif isinstance(action, ast.Remove):
            actions.append(ast.Remove(path))
        else:
            actions.append(type(action)(path, action.value))
    return ast.Update(tuple(actions))


# Checks, in the service's order.


def _operands(action: ast.Action) -> tuple[ast.Operand, ...]:
    if isinstance(action, ast.Remove):
        return ()
    if isinstance(action.value, ast.Arithmetic):
        return (action.value.left, action.value.right)
    return (action.value,)


def _leaves(action: ast.Action) -> Iterator[ast.Path | ast.Placeholder | ast.Constant]:
    yield action.path
    yield from leaves(_operands(action))


def _paths_read_or_written(tree: ast.Update) -> Iterator[ast.Path]:
    for action in tree.actions:
        for leaf in _leaves(action):
            if isinstance(leaf, ast.Path):
                yield leaf


def _nested(tree: ast.Update) -> tuple[ast.Path, ...]:
    return tuple(path for path in _paths_read_or_written(tree) if len(path.elements) > 1)


def _check(tree: ast.Update, names: Names, values: Values) -> None:
    for path in _paths_read_or_written(tree):
        paths.check_reserved(path, _KIND)
    functions = [
        function
        for action in tree.actions
        for operand in _operands(action)
        for function in _functions(operand)
    ]
    for function in functions:
        if function.name not in UPDATE_FUNCTIONS:
            raise unknown_function(function.name, _KIND)
    if tree.repeated_section is not None:
        raise invalid(
            _KIND,
            f'The "{tree.repeated_section}" section can only be used once in an update expression;',
        )
    for path in _paths_read_or_written(tree):
        paths.check_defined(path, _KIND, names)
    for action in tree.actions:
        for leaf in _leaves(action):
            if isinstance(leaf, ast.Placeholder):
                check_value_defined(leaf, _KIND, values)
    paths.check_disjoint([paths.resolve(action.path, names) for action in tree.actions], _KIND)
    _check_types(tree, values)


def _check_types(tree: ast.Update, values: Values) -> None:
    for action in tree.actions:
        _check_operator(action, values)
    for action in tree.actions:
        for operand in _operands(action):
            for function in _functions(operand):
                _check_function(function, values)
    for action in tree.actions:
        if isinstance(action, ast.Set) and isinstance(action.value, ast.Arithmetic):
            _check_arithmetic(action.value, values)


def _functions(operand: ast.Operand) -> Iterator[ast.Function]:
    if isinstance(operand, ast.Function):
        for argument in operand.arguments:
            yield from _functions(argument)
        yield operand


def _check_operator(action: ast.Action, values: Values) -> None:
    if not isinstance(action, ast.Add | ast.Delete):
        return
    value = constant_of(action.value, values)
    datatype = "" if value is None else type_of(value)
    adds = isinstance(action, ast.Add)
    if datatype not in _SETS and not (adds and datatype == "N"):
        raise invalid(
            _KIND,
            "Incorrect operand type for operator or function; "
            f"operator: {'ADD' if adds else 'DELETE'}, operand type: {_TYPE_NAMES[datatype]}",
        )


def _check_function(function: ast.Function, values: Values) -> None:
    check_count(function, UPDATE_FUNCTIONS[function.name], _KIND)
    if function.name == "if_not_exists":
        if not isinstance(function.arguments[0], ast.Path):
            raise requires_path(function.name, _KIND)
        return
    for argument in function.arguments:
        value = constant_of(argument, values)
        if value is not None and "L" not in value:
            raise incorrect_operand(_KIND, function.name, type_of(value))


def _check_arithmetic(value: ast.Arithmetic, values: Values) -> None:
    for operand in (value.left, value.right):
        if isinstance(operand, ast.Function) and operand.name == "list_append":
            raise incorrect_operand(_KIND, value.operator, "L")
        constant = constant_of(operand, values)
        if constant is not None and "N" not in constant:
            raise incorrect_operand(_KIND, value.operator, type_of(constant))
