"""What UpdateItem charges the actions of an UpdateExpression, in bytes.

Besides the item that it makes, UpdateItem limits what its request writes. The charge is a matter of the
request alone, whatever the item holds:

* an update costs 3; a SET or an ADD 19, its target and what it sets or adds; a REMOVE or a DELETE 1 and its
  target;
* a target costs its first name, and 4 and the element for each element below it;
* a value costs its size each time it is used; a path that is read 1, and 14 and the element for each of its
  elements, whatever it finds;
* a sum costs 34, a difference or `list_append` 37, `if_not_exists` 39, and their operands.

An element is as long as its name, or as its index in digits.

Source: none of Amazon's; every cost was measured on the service, to the byte.
"""

from __future__ import annotations

from dataclasses import dataclass

from backend.expressions import ast
from backend.expressions.scope import Values
from backend.model.sizes import text_size, value_size

_UPDATE, _WRITE, _REMOVAL = 3, 19, 1
_TARGET_STEP = 4
_PATH, _PATH_STEP = 1, 14
_OPERATION = {"+": 34, "-": 37, "list_append": 37, "if_not_exists": 39}


@dataclass(frozen=True, slots=True)
class Charge:
    """What an update costs: bytes that its text fixes, and its values, each as often as it is used."""

    fixed: int = 0
    used: tuple[str, ...] = ()

    def of(self, values: Values) -> int:
        """The bytes with these values."""
        return self.fixed + sum(value_size(values[name]) for name in self.used)


def charge(tree: ast.Update) -> Charge:
    """The charge of a tree in which names are resolved and values are placeholders."""
    used: list[str] = []
    fixed = _UPDATE + sum(_action(action, used) for action in tree.actions)
    return Charge(fixed, tuple(used))


def _action(action: ast.Action, used: list[str]) -> int:
    first, *below = action.path.elements
    target = _element(first) + sum(_TARGET_STEP + _element(element) for element in below)
    if isinstance(action, ast.Remove | ast.Delete):
        return _REMOVAL + target
    return _WRITE + target + _operand(action.value, used)


def _operand(operand: ast.Operand | ast.Arithmetic, used: list[str]) -> int:
    if isinstance(operand, ast.Path):
        return _PATH + sum(_PATH_STEP + _element(element) for element in operand.elements)
    if isinstance(operand, ast.Arithmetic):
        return _OPERATION[operand.operator] + _operand(operand.left, used) + _operand(operand.right, used)
    if isinstance(operand, ast.Function):
        # Whatever else is called like a function is refused before it is charged.
        called = _OPERATION.get(operand.name, 0)
        return called + sum(_operand(one, used) for one in operand.arguments)
    if isinstance(operand, ast.Placeholder):
        used.append(operand.name)
    return 0


def _element(element: str | int) -> int:
    return text_size(str(element))
