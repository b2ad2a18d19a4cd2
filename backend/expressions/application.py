"""The actions of a checked update, applied to an item.

The rules of this file:

* Every right-hand side and every index sees the item as it was before the update. Actions cannot see each
  other, and since no two paths overlap, their order does not matter.
* SET beyond the end of a list appends; several such append in the order of their indexes. REMOVE takes
  elements out after everything else, so that indexes keep meaning what they meant.
* The parent of a path must exist and be a map or list that the path fits. Only an item that does not exist
  forgives a REMOVE or DELETE that leads nowhere: there is nothing to remove.
* An item is never mutated. The new one shares with the old what the update did not touch.

Source: "Update expressions" of the developer guide; the texts of the errors are the service's.
"""

from __future__ import annotations

from typing import Any

from backend.errors import ServiceError, validation_error
from backend.expressions import ast, paths
from backend.expressions.checks import constant_of
from backend.expressions.scope import Values
from backend.model import numbers
from backend.model.values import MAX_NESTING, in_order, nested_too_deeply, type_of
from backend.protocol import AttributeValue, Item

_GONE: AttributeValue = {}


class Change:
    """One update of one item. `before` is what right-hand sides see.

    `exists` tells an item from the bare key of one that is to be created; `legacy` picks the words of
    AttributeUpdates for its refusals.
    """

    def __init__(self, before: Item, values: Values, *, exists: bool, legacy: bool) -> None:
        self._before = before
        self._values = values
        self._exists = exists
        self._legacy = legacy

    def apply(self, actions: tuple[ast.Action, ...]) -> Item:
        """The item after the actions; ValidationException when it does not fit them."""
        item = dict(self._before)
        nested: dict[str, dict[Any, Any]] = {}
        for action in actions:
            name = paths.top_level_name(action.path)
            if len(action.path.elements) > 1:
                _plant(nested.setdefault(name, {}), action)
            else:
                self._place(item, name, action)
        for name, branches in nested.items():
            changed = self._below(self._before.get(name), branches)
            if changed is not None:
                item[name] = changed
        return item

    def _place(self, members: dict[str, AttributeValue], name: str, action: ast.Action) -> None:
        value = self._outcome(action, members.get(name))
        if value is _GONE:
            members.pop(name, None)
        else:
            members[name] = value

    def _below(self, value: AttributeValue | None, branches: dict[Any, Any]) -> AttributeValue | None:
        """A map or list with the actions below it done; None to leave things as they are."""
        if value is None and not self._exists and _only_removes(branches):
            return None
        by_index = isinstance(next(iter(branches)), int)
        if value is not None and not by_index and "M" in value:
            return {"M": self._in_map(value["M"], branches)}
        if value is not None and by_index and "L" in value:
            return {"L": self._in_list(value["L"], branches)}
        raise validation_error("The document path provided in the update expression is invalid for update")

    def _in_map(self, members: Item, branches: dict[Any, Any]) -> Item:
        changed = dict(members)
        for name, below in branches.items():
            if isinstance(below, dict):
                value = self._below(members.get(name), below)
                if value is not None:
                    changed[name] = value
            else:
                self._place(changed, name, below)
        return changed

    def _in_list(self, elements: list[AttributeValue], branches: dict[Any, Any]) -> list[AttributeValue]:
        changed = list(elements)
        gone = []
        for index in sorted(branches):
            below = branches[index]
            current = elements[index] if index < len(elements) else None
            value = self._below(current, below) if isinstance(below, dict) else self._outcome(below, current)
            if value is _GONE:
                gone.append(index)
            elif value is not None and index < len(elements):
                changed[index] = value
            elif value is not None:
                changed.append(value)
        for index in reversed(gone):
            # An element beyond the end is as absent as it was asked to be; appended ones are not meant.
            if index < len(elements):
                del changed[index]
        return changed

    def _outcome(self, action: ast.Action, current: AttributeValue | None) -> AttributeValue:
        """What an action leaves at its path, `_GONE` for nothing."""
        if isinstance(action, ast.Set):
            return _checked_depth(self._right_hand_side(action.value), action.path)
        if isinstance(action, ast.Remove):
            return _GONE
        operand = constant_of(action.value, self._values)
        if operand is None:
            raise self._wrong_type()
        if isinstance(action, ast.Add):
            return operand if current is None else self._sum(current, operand)
        return _GONE if current is None else self._difference(current, operand)

    def _sum(self, current: AttributeValue, operand: AttributeValue) -> AttributeValue:
        datatype = type_of(operand)
        if datatype not in current:
            raise self._wrong_type()
        old, new = current[datatype], operand[datatype]
        if datatype == "N":
            return {"N": numbers.add(old, new)}
        if datatype == "L":
            return {"L": [*old, *new]}
        return {datatype: in_order(datatype, {*old, *new})}

    def _difference(self, current: AttributeValue, operand: AttributeValue) -> AttributeValue:
        datatype = type_of(operand)
        if datatype not in current:
            raise self._wrong_type()
        taken = set(operand[datatype])
        rest = [member for member in current[datatype] if member not in taken]
        if not rest:
            return _GONE
        return {datatype: rest}

    def _right_hand_side(self, value: ast.Operand | ast.Arithmetic) -> AttributeValue:
        if isinstance(value, ast.Arithmetic):
            left, right = self._operand(value.left), self._operand(value.right)
            if "N" not in left or "N" not in right:
                raise self._wrong_type()
            compute = numbers.add if value.operator == "+" else numbers.subtract
            return {"N": compute(left["N"], right["N"])}
        return self._operand(value)

    def _operand(self, operand: ast.Operand) -> AttributeValue:
        if isinstance(operand, ast.Path):
            found = paths.getter(operand)(self._before, self._values)
            if found is None:
                raise validation_error(
                    "The provided expression refers to an attribute that does not exist in the item"
                )
            return found
        if isinstance(operand, ast.Function):
            return self._function(operand)
        value = constant_of(operand, self._values)
        assert value is not None, "a checked update has no undefined value"
        return value

    def _function(self, function: ast.Function) -> AttributeValue:
        first, second = function.arguments
        if function.name == "if_not_exists" and isinstance(first, ast.Path):
            found = paths.getter(first)(self._before, self._values)
            return self._operand(second) if found is None else found
        left, right = self._operand(first), self._operand(second)
        if "L" not in left or "L" not in right:
            raise self._wrong_type()
        return {"L": [*left["L"], *right["L"]]}

    def _wrong_type(self) -> ServiceError:
        return validation_error(
            "Type mismatch for attribute to update"
            if self._legacy
            else "An operand in the update expression has an incorrect data type"
        )


def _plant(branches: dict[Any, Any], action: ast.Action) -> None:
    *parents, last = action.path.elements[1:]
    for element in parents:
        branches = branches.setdefault(element, {})
    branches[last] = action


def _only_removes(branches: dict[Any, Any]) -> bool:
    return all(
        _only_removes(below) if isinstance(below, dict) else isinstance(below, ast.Remove | ast.Delete)
        for below in branches.values()
    )


def _checked_depth(value: AttributeValue, path: ast.Path) -> AttributeValue:
    """The value, unless it would make the item nest deeper than values may."""
    above = len(path.elements) - 1
    if above and ("M" in value or "L" in value) and above + _levels(value) > MAX_NESTING:
        raise nested_too_deeply()
    return value


def _levels(value: AttributeValue) -> int:
    if "M" in value:
        return 1 + max(map(_levels, value["M"].values()), default=0)
    if "L" in value:
        return 1 + max(map(_levels, value["L"]), default=0)
    return 1
