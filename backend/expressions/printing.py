"""Syntax tree back to expression text, with placeholders for all names and values.

A printer prints the trees of one request (its names and values are shared by all expressions of the
request) into text that parses to the same tree. Names are always printed as placeholders, since any name
may be a reserved word or hold any character; equal names share one.
"""

from __future__ import annotations

from collections.abc import Iterable

from backend.expressions import ast
from backend.expressions.checks import operands_of
from backend.protocol import AttributeValue


class Printer:
    """Prints the trees of one request and gathers its ExpressionAttributeNames and ExpressionAttributeValues.

    The trees are resolved ones: a name is a name, whatever it begins with. A `Constant` gets the next free
    placeholder, `:v0`, `:v1`, ... A `Placeholder` keeps its name, and its value is the caller's business; a
    caller that prints both kinds passes the names to leave alone as `taken`.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, AttributeValue] = {}
        self._aliases: dict[str, str] = {}
        self._taken = frozenset(taken)
        self._next_value = 0

    def condition(self, tree: ast.Condition) -> str:
        """Text for a condition, filter or key condition."""
        if isinstance(tree, ast.And):
            return " AND ".join(self._nested(part, ast.Or, ast.And) for part in tree.conditions)
        if isinstance(tree, ast.Or):
            return " OR ".join(self._nested(part, ast.Or) for part in tree.conditions)
        if isinstance(tree, ast.Not):
            return f"NOT {self._nested(tree.condition, ast.And, ast.Or)}"
        return self._predicate(tree)

    def update(self, tree: ast.Update) -> str:
        """Text for an update. The actions are gathered into sections, which does not change their meaning."""
        sections: dict[str, list[str]] = {}
        for action in tree.actions:
            path = self.path(action.path)
            if isinstance(action, ast.Set):
                text = f"{path} = {self._assigned(action.value)}"
            elif isinstance(action, ast.Remove):
                text = path
            else:
                text = f"{path} {self.operand(action.value)}"
            sections.setdefault(type(action).__name__.upper(), []).append(text)
        return " ".join(f"{section} {', '.join(texts)}" for section, texts in sections.items())

    def projection(self, tree: ast.Projection) -> str:
        """Text for a projection."""
        return ", ".join(map(self.path, tree.paths))

    def path(self, path: ast.Path) -> str:
        """Text for a document path."""
        texts = []
        for element in path.elements:
            if isinstance(element, int):
                texts.append(f"[{element}]")
            else:
                texts.append(f"{'.' if texts else ''}{self._alias(element)}")
        return "".join(texts)

    def operand(self, operand: ast.Operand) -> str:
        """Text for a path, a value or a function call."""
        if isinstance(operand, ast.Path):
            return self.path(operand)
        if isinstance(operand, ast.Placeholder):
            return operand.name
        if isinstance(operand, ast.Constant):
            return self._placeholder(operand.value)
        return f"{operand.name}({self._list(operand.arguments)})"

    def _nested(self, tree: ast.Condition, *kinds: type) -> str:
        text = self.condition(tree)
        return f"({text})" if isinstance(tree, kinds) else text

    def _predicate(self, tree: ast.Predicate) -> str:
        if isinstance(tree, ast.Comparison):
            return f"{self.operand(tree.left)} {tree.operator} {self.operand(tree.right)}"
        if isinstance(tree, ast.Between):
            operand, lower, upper = map(self.operand, operands_of(tree))
            return f"{operand} BETWEEN {lower} AND {upper}"
        if isinstance(tree, ast.In):
            return f"{self.operand(tree.operand)} IN ({self._list(tree.candidates)})"
        return self.operand(tree)

    def _assigned(self, value: ast.Operand | ast.Arithmetic) -> str:
        if isinstance(value, ast.Arithmetic):
            return f"{self.operand(value.left)} {value.operator} {self.operand(value.right)}"
        return self.operand(value)

    def _list(self, operands: tuple[ast.Operand, ...]) -> str:
        return ", ".join(map(self.operand, operands))

    def _alias(self, name: str) -> str:
        alias = self._aliases.get(name)
        if alias is None:
            alias = self._aliases[name] = f"#n{len(self._aliases)}"
            self.names[alias] = name
        return alias

    def _placeholder(self, value: AttributeValue) -> str:
        while f":v{self._next_value}" in self._taken:
            self._next_value += 1
        placeholder = f":v{self._next_value}"
        self._next_value += 1
        self.values[placeholder] = value
        return placeholder
