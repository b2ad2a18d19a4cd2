"""ProjectionExpression, and everything else that cuts an item down to paths.

What is missing vanishes, parents included: a map or list appears only if something in it was found. List
elements picked by index move together, in the order of their indexes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from backend.expressions import ast, paths
from backend.expressions.parser import parse_projection
from backend.expressions.scope import Names, Scope
from backend.protocol import AttributeValue, Item

_KIND = "ProjectionExpression"
_COMPILED_FORMS = 2048

# Below a path's element: None where the path ends, else what goes on from there.
_Branches = dict[Any, Any]


class Projection:
    """Paths into items, compiled. The paths neither overlap nor conflict."""

    __slots__ = ("_branches", "_flat", "paths", "top_level_names")

    def __init__(self, projected: Iterable[ast.Path]) -> None:
        self.paths = tuple(projected)
        self.top_level_names = tuple(dict.fromkeys(map(paths.top_level_name, self.paths)))
        self._flat = all(len(path.elements) == 1 for path in self.paths)
        self._branches: _Branches = {}
        for path in self.paths:
            branches = self._branches
            for element in path.elements[:-1]:
                branches = branches.setdefault(element, {})
            branches[path.elements[-1]] = None

    def apply(self, item: Item) -> Item:
        """What the paths find in an item: a new item, sharing values with the old one."""
        if self._flat:
            return {name: item[name] for name in self.top_level_names if name in item}
        return _of_map(item, self._branches)


def _of_map(members: Item, branches: _Branches) -> Item:
    found: dict[str, AttributeValue] = {}
    for name, below in branches.items():
        value = members.get(name)
        if value is not None and below is not None:
            value = _of_value(value, below)
        if value is not None:
            found[name] = value
    return found


def _of_value(value: AttributeValue, branches: _Branches) -> AttributeValue | None:
    by_index = isinstance(next(iter(branches)), int)
    if not by_index and "M" in value:
        members = _of_map(value["M"], branches)
        return {"M": members} if members else None
    if by_index and "L" in value:
        elements = value["L"]
        picked = [
            element if branches[index] is None else _of_value(element, branches[index])
            for index in sorted(branches)
            for element in elements[index : index + 1]
        ]
        found = [element for element in picked if element is not None]
        return {"L": found} if found else None
    return None


def projection(text: str, scope: Scope) -> Projection:
    """A request's ProjectionExpression, checked and compiled.

    Raises ValidationException in the service's words. The placeholders count as used in `scope`.
    """
    used, compiled = _compiled(text, scope.names_key)
    scope.use(used, ())
    return compiled


@lru_cache(_COMPILED_FORMS)
def _compiled(text: str, names_key: tuple[tuple[str, str], ...]) -> tuple[frozenset[str], Projection]:
    tree = parse_projection(text)
    names: Names = dict(names_key)
    for path in tree.paths:
        paths.check_reserved(path, _KIND)
    for path in tree.paths:
        paths.check_defined(path, _KIND, names)
    resolved = [paths.resolve(path, names) for path in tree.paths]
    paths.check_disjoint(resolved, _KIND)
    used = frozenset(alias for path in tree.paths for alias in paths.aliases(path))
    return used, Projection(resolved)
