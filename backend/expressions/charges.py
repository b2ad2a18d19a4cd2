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

from backend.expressions import ast
from backend.expressions.checks import constant_of
from backend.expressions.scope import Values
from backend.model.sizes import text_size, value_size

_UPDATE, _WRITE, _REMOVAL = 3, 19, 1
_TARGET_STEP = 4
_PATH, _PATH_STEP = 1, 14
_OPERATION = {"+": 34, "-": 37, "list_append": 37, "if_not_exists": 39}


def charge(tree: ast.Update, values: Values) -> int:
    """The bytes that an update with these values costs. Runtime: linear in the request."""
    return _UPDATE + sum(_action(action, values) for action in tree.actions)


def _action(action: ast.Action, values: Values) -> int:
    first, *below = action.path.elements
    target = _element(first) + sum(_TARGET_STEP + _element(element) for element in below)
    if isinstance(action, ast.Remove | ast.Delete):
        return _REMOVAL + target
    return _WRITE + target + _operand(action.value, values)


def _operand(operand: ast.Operand | ast.Arithmetic, values: Values) -> int:
    if isinstance(operand, ast.Path):
        return _PATH + sum(_PATH_STEP + _element(element) for element in operand.elements)
    if isinstance(operand, ast.Arithmetic):
        sides = (operand.left, operand.right)
        return _OPERATION[operand.operator] + sum(_operand(side, values) for side in sides)
    if isinstance(operand, ast.Function):
        return _OPERATION[operand.name] + sum(_operand(one, values) for one in operand.arguments)
    value = constant_of(operand, values)
    return 0 if value is None else value_size(value)


def _element(element: str | int) -> int:
    return text_size(str(element))
