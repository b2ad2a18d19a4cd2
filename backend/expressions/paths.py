"""Document paths: from placeholders to names, how errors show them, which pairs exclude each other, reading.

Two paths of one update or projection must not overlap (one begins with the other) nor conflict (one goes on
with a name where the other goes on with an index).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from backend.errors import validation_error
from backend.expressions.ast import Path, PathElements
from backend.expressions.lexer import invalid
from backend.expressions.reserved import is_reserved
from backend.expressions.scope import Names, Values
from backend.model.values import MAX_NESTING
from backend.protocol import AttributeValue, Item

Getter = Callable[[Item, Values], AttributeValue | None]


def check_reserved(path: Path, kind: str) -> None:
    """Refuse a path from the text that names an attribute by a reserved word."""
    for element in path.elements:
        if isinstance(element, str) and element[0] != "#" and is_reserved(element):
            raise invalid(kind, f"Attribute name is a reserved keyword; reserved keyword: {element}")


def check_defined(path: Path, kind: str, names: Names) -> None:
    """Refuse a path from the text with an undefined placeholder, or with more than 32 elements."""
    for element in path.elements:
        if isinstance(element, str) and element[0] == "#" and element not in names:
            raise invalid(
                kind,
                "An expression attribute name used in the document path is not defined; "
                f"attribute name: {element}",
            )
    if len(path.elements) > MAX_NESTING:
        raise invalid(
            kind,
            f"The document path has too many nesting levels; nesting levels: {len(path.elements)}",
        )


def resolve(path: Path, names: Names) -> Path:
    """The path with its placeholders replaced. KeyError for an undefined one: `check_defined` words that."""
    return Path(
        tuple(
            names[element] if isinstance(element, str) and element[0] == "#" else element
            for element in path.elements
        )
    )


def aliases(path: Path) -> list[str]:
    """The placeholders in a path from the text."""
    return [element for element in path.elements if isinstance(element, str) and element[0] == "#"]


def top_level_name(path: Path) -> str:
    """The attribute that a path leads into."""
    return str(path.elements[0])


def shown(elements: PathElements) -> str:
    """A path as errors show it: `[a, [1], b]`."""
    texts = (f"[{element}]" if isinstance(element, int) else element for element in elements)
    return f"[{', '.join(texts)}]"


def check_disjoint(paths: Sequence[Path], kind: str) -> None:
    """Refuse resolved paths of which two overlap or, if none do, conflict."""
    if len(paths) < 2 or (all(len(p.elements) == 1 for p in paths) and len(set(paths)) == len(paths)):
        return
    for relation, verb in ((_overlap, "overlap"), (_conflict, "conflict")):
        for index, later in enumerate(paths):
            for earlier in paths[:index]:
                if relation(earlier.elements, later.elements):
                    raise invalid(
                        kind,
                        f"Two document paths {verb} with each other; "
                        "must remove or rewrite one of these paths; "
                        f"path one: {shown(earlier.elements)}, path two: {shown(later.elements)}",
                    )


def check_scalars(found: Iterable[Path], names: Collection[str], kind: str) -> None:
    """Refuse resolved paths that lead below a key attribute, which is a scalar.

    `names` are key attributes, of a table or of its indexes as `kind` says: `Key` or `IndexKey`.
    """
    for path in found:
        if len(path.elements) > 1 and path.elements[0] in names:
            raise validation_error(
                "Key attributes must be scalars; list random access '[]' and map lookup '.' "
                f"are not allowed: {kind}: {path.elements[0]}"
            )


def _overlap(one: PathElements, two: PathElements) -> bool:
    shared = min(len(one), len(two))
    return one[:shared] == two[:shared]


def _conflict(one: PathElements, two: PathElements) -> bool:
    for a, b in zip(one, two, strict=False):
        if a != b:
            return isinstance(a, str) != isinstance(b, str)
    return False


def getter(path: Path) -> Getter:
    """A function that reads the path in an item: None where it leads nowhere."""
    if len(path.elements) == 1:
        name = top_level_name(path)

        def read_attribute(item: Item, values: Values) -> AttributeValue | None:
            return item.get(name)

        return read_attribute
    first, rest = top_level_name(path), path.elements[1:]

    def read_path(item: Item, values: Values) -> AttributeValue | None:
        value = item.get(first)
        for element in rest:
            if value is None:
                return None
            if element.__class__ is int:
                elements = value.get("L")
                value = elements[element] if elements is not None and element < len(elements) else None
            else:
                members = value.get("M")
                value = members.get(element) if members is not None else None
        return value

    return read_path
