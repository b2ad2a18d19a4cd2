"""Expression trees of the wire as expression text with placeholders.

A client parses the text of its caller and sends a tree: an array whose first element is an operator code.
There is one evaluator, behind the operation model, and that takes text. So each tree is printed, with `#n0`,
`#n1`, ... for its names and `:v0`, `:v1`, ... for its values, and the same tree always gives the same text:
the parser behind keeps what it has parsed, and equal queries of different clients share a query-cache entry.

Only the form of a tree is judged here (`Malformed`). What an expression means, and may mean, is the
evaluator's.

An expression is a blob with one array: `[1, tree, values]` for conditions, `[1, actions, values]` for
updates, `[1, paths]` for projections.
"""

from __future__ import annotations

from typing import Any

from backend.errors import validation_error
from backend.protocol import AttributeValue
from dax.wire.binary import cbor, values
from dax.wire.binary.cbor import Malformed

Path = tuple[str | int, ...]
"""A document path: attribute name first, then map keys and list indexes."""

COMPARATORS = {0: "=", 1: "<>", 2: "<", 3: ">=", 4: ">", 5: "<="}
AND, OR, NOT, BETWEEN, IN = 6, 7, 8, 9, 10
EXISTS, NOT_EXISTS, TYPE, BEGINS_WITH, CONTAINS, SIZE = 11, 12, 13, 14, 15, 16
VALUE, PATH = 17, 18
SET, ADD, DELETE, REMOVE = 19, 20, 21, 22
IF_NOT_EXISTS, LIST_APPEND, PLUS, MINUS = 23, 24, 25, 26

_FUNCTIONS = {
    EXISTS: ("attribute_exists", 1),
    NOT_EXISTS: ("attribute_not_exists", 1),
    TYPE: ("attribute_type", 2),
    BEGINS_WITH: ("begins_with", 2),
    CONTAINS: ("contains", 2),
}
_OPERAND_FUNCTIONS = {SIZE: ("size", 1), IF_NOT_EXISTS: ("if_not_exists", 2), LIST_APPEND: ("list_append", 2)}
_CLAUSES = {SET: "SET", REMOVE: "REMOVE", ADD: "ADD", DELETE: "DELETE"}

FORMAT = 1
# A client turns `a AND b AND c ...` into one level for each operator, of which an expression has at most 300.
_TREE_DEPTH = 320
# What is left when chains of AND and OR are printed flat. Deeper text would only overflow a parser.
_NESTING = 64


class Placeholders:
    """The names and values that the expressions of one request share."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, AttributeValue] = {}
        self._by_name: dict[str, str] = {}

    def name(self, name: str) -> str:
        """The placeholder of an attribute name."""
        placeholder = self._by_name.get(name)
        if placeholder is None:
            placeholder = self._by_name[name] = f"#n{len(self.names)}"
            self.names[placeholder] = name
        return placeholder

    def value(self, value: AttributeValue) -> str:
        """A new placeholder for a value."""
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def path(self, path: Path) -> str:
        """The text of a document path."""
        text = ""
        for element in path:
            if type(element) is int:
                text += f"[{element}]"
            else:
                text += ("." if text else "") + self.name(str(element))
        return text

    def add_to(self, request: dict[str, Any]) -> None:
        """Put the placeholders into a request, where there are any."""
        if self.names:
            request["ExpressionAttributeNames"] = self.names
        if self.values:
            request["ExpressionAttributeValues"] = self.values


def condition(blob: Any, placeholders: Placeholders) -> str:
    """The text of a condition, filter or key condition."""
    tree, arguments = _parts(blob, 3)
    return _Printer(placeholders, arguments).condition(tree, _NESTING)


def update(blob: Any, placeholders: Placeholders) -> str:
    """The text of an update expression: its actions by clause, in the order sent within each."""
    actions, arguments = _parts(blob, 3)
    if type(actions) is not list or not actions:
        raise Malformed("an update expression has no actions")
    printer = _Printer(placeholders, arguments)
    clauses: dict[str, list[str]] = {}
    for action in actions:
        code, *operands = _node(action)
        clause = _CLAUSES.get(code)
        if clause is None or len(operands) != (1 if code == REMOVE else 2):
            raise Malformed("an update expression has an action of an unknown form")
        text = printer.path(operands[0])
        if code == SET:
            text += " = " + printer.operand(operands[1], _NESTING)
        elif code != REMOVE:
            text += " " + printer.operand(operands[1], _NESTING)
        clauses.setdefault(clause, []).append(text)
    return " ".join(f"{clause} {', '.join(texts)}" for clause, texts in clauses.items())


def projection(blob: Any) -> list[Path]:
    """The paths of a projection, in the order sent: answers refer to them by position."""
    paths, _ = _parts(blob, 2)
    if type(paths) is not list or not paths:
        raise Malformed("a projection has no paths")
    return [_path(node) for node in paths]


def _parts(blob: Any, count: int) -> tuple[Any, list[Any]]:
    """The tree and the values of an expression. The two have different bounds on their nesting."""
    if type(blob) is not bytes or not blob or blob[0] != 0x80 | count:
        raise Malformed("an expression is not an array of the expected length")
    try:
        version, position = cbor.decode(blob, 1)
        tree, position = cbor.decode(blob, position, _TREE_DEPTH)
        arguments: Any = []
        if count == 3:
            arguments, position = cbor.decode(blob, position)
    except cbor.Incomplete:
        raise Malformed("an expression is cut short") from None
    if version != FORMAT or position != len(blob) or type(arguments) is not list:
        raise Malformed("an expression is not of format 1")
    return tree, arguments


def _node(node: Any) -> list[Any]:
    if type(node) is not list or not node or type(node[0]) is not int:
        raise Malformed("an expression has a node without an operator code")
    return node


def _path(node: Any) -> Path:
    code, *elements = _node(node)
    if code != PATH or not elements or type(elements[0]) is not str:
        raise Malformed("an expression has something else where a document path belongs")
    path: list[str | int] = []
    for element in elements:
        if type(element) is str:
            path.append(element)
        elif type(element) is cbor.Tagged and element.tag == cbor.LIST_INDEX:
            path.append(element.value)
        else:
            raise Malformed("a document path has an element that is neither a name nor a list index")
    return tuple(path)


class _Printer:
    """Prints the trees of one expression, whose values array is its own."""

    def __init__(self, placeholders: Placeholders, arguments: list[Any]) -> None:
        self._placeholders = placeholders
        self._arguments = arguments
        self._printed: dict[int, str] = {}

    def condition(self, node: Any, depth: int) -> str:
        code, *operands = _node(node)
        if depth == 0:
            raise validation_error("Invalid expression: The expression is nested too deeply")
        if code in (AND, OR):
            return self._chain(code, node, depth)
        if code in COMPARATORS and len(operands) == 2:
            left, right = (self.operand(operand, depth - 1) for operand in operands)
            return f"{left} {COMPARATORS[code]} {right}"
        if code == NOT and len(operands) == 1:
            return f"NOT ({self.condition(operands[0], depth - 1)})"
        if code == BETWEEN and len(operands) == 3:
            value, low, high = (self.operand(operand, depth - 1) for operand in operands)
            return f"{value} BETWEEN {low} AND {high}"
        if code == IN and len(operands) == 2 and type(operands[1]) is list:
            members = ", ".join([self.operand(member, depth - 1) for member in operands[1]])
            return f"{self.operand(operands[0], depth - 1)} IN ({members})"
        if code in _FUNCTIONS:
            return self._call(_FUNCTIONS[code], operands, depth)
        raise Malformed(f"a condition has an operator of an unknown form: {code}")

    def _chain(self, code: int, node: Any, depth: int) -> str:
        """`a AND b AND c`, of whatever shape its tree is; operands of the other kind in parentheses."""
        texts: list[str] = []
        pending = [node]
        while pending:
            current = _node(pending.pop())
            if current[0] == code:
                if len(current) != 3:
                    raise Malformed("AND and OR take two conditions")
                pending += (current[2], current[1])
            else:
                text = self.condition(current, depth - 1)
                texts.append(f"({text})" if current[0] in (AND, OR) else text)
        return (" AND " if code == AND else " OR ").join(texts)

    def operand(self, node: Any, depth: int) -> str:
        code, *operands = _node(node)
        if depth == 0:
            raise validation_error("Invalid expression: The expression is nested too deeply")
        if code == PATH:
            return self.path(node)
        if code == VALUE and len(operands) == 1:
            return self._value(operands[0])
        if code in (PLUS, MINUS) and len(operands) == 2:
            left, right = (self.operand(operand, depth - 1) for operand in operands)
            return f"{left} {'+' if code == PLUS else '-'} {right}"
        if code in _OPERAND_FUNCTIONS:
            return self._call(_OPERAND_FUNCTIONS[code], operands, depth)
        raise Malformed(f"an expression has an operand of an unknown form: {code}")

    def path(self, node: Any) -> str:
        return self._placeholders.path(_path(node))

    def _call(self, function: tuple[str, int], operands: list[Any], depth: int) -> str:
        name, count = function
        if len(operands) != count:
            raise Malformed(f"{name} takes {count} operands")
        return f"{name}({', '.join([self.operand(operand, depth - 1) for operand in operands])})"

    def _value(self, index: Any) -> str:
        """The placeholder of a value: one for each element that is used, however often."""
        if type(index) is not int or not 0 <= index < len(self._arguments):
            raise Malformed("an expression refers to a value that it does not have")
        placeholder = self._printed.get(index)
        if placeholder is None:
            value = values.from_cbor(self._arguments[index])
            placeholder = self._printed[index] = self._placeholders.value(value)
        return placeholder
