"""Attribute values: validation, canonical form, equality, order.

The rules of this file:

* An attribute value is a mapping with one member, its datatype. `B` and `BS` hold `bytes`, `N` and `NS`
  strings.
* `normalise` accepts what a client sent or refuses it with the service's error. Its result is canonical:
  numbers in canonical text, sets in the service's order, everything else as sent. Where nothing has to
  change, the result is the argument itself.
* `equal`, `compare` and `contains` work on canonical values only.
* Values are never mutated.

Sources: "Naming rules and data types" of the DynamoDB developer guide, API reference of AttributeValue.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from backend.errors import ServiceError, validation_error
from backend.model import numbers
from backend.model.numbers import canonical
from backend.model.sizes import COLLECTION_BYTES, ELEMENT_BYTES, texts_size, value_size
from backend.protocol import AttributeValue, Item

T = TypeVar("T")

MAX_NESTING = 32
MAX_NAME_BYTES = 65535
DATATYPES = ("S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL")

Measured = tuple[T, int]
"""Something canonical, and its size in bytes."""
_INVALID = "One or more parameter values were invalid: "


def normalise(value: AttributeValue) -> AttributeValue:
    """The canonical form of one attribute value.

    Raises ValidationException for no or several datatypes, malformed numbers, empty sets, duplicates in sets,
    a NULL that is not true, and nesting beyond 32 levels.
    """
    return _normalise(value, 0)[0]


def normalise_item(item: Item) -> Item:
    """The canonical form of every attribute of an item or a key; errors as of `normalise`."""
    return normalise_and_measure(item)[0]


def normalise_and_measure(item: Item) -> Measured[Item]:
    """The canonical form of an item, and its size in bytes, in one walk; errors as of `normalise`."""
    return _normalise_members(item, 0)


def _normalise_members(members: Item, depth: int) -> Measured[Item]:
    """Canonical members of an item or map, and their size; `depth` is that of their values."""
    if "" in members:
        check_name("")
    changed: dict[str, AttributeValue] | None = None
    size = 0
    for name, value in members.items():
        if len(name) > _SHORT_NAME:
            check_name(name)
        size += len(name) if name.isascii() else len(name.encode())
        # Strings and canonical numbers are most of what anyone stores: they pass without further calls.
        if value.__class__ is dict and len(value) == 1:
            [(datatype, content)] = value.items()
            if content.__class__ is str:
                if datatype == "S":
                    size += len(content) if content.isascii() else len(content.encode())
                    continue
                if datatype == "N" and canonical(content) == content:
                    size += numbers.size(content)
                    continue
        clean, value_bytes = _normalise(value, depth)
        size += value_bytes
        if clean is not value:
            if changed is None:
                changed = dict(members)
            changed[name] = clean
    return (members if changed is None else changed), size


# No name of this many characters can exceed the limit in bytes: a character takes at most 4 of them.
_SHORT_NAME = MAX_NAME_BYTES // 4


def check_name(name: str) -> None:
    """Refuse an attribute name that is empty or longer than 65535 bytes."""
    if not name:
        raise validation_error("Empty attribute name")
    if len(name) > _SHORT_NAME and len(name.encode()) > MAX_NAME_BYTES:
        raise validation_error("Attribute name is too large, must be less than 65536 bytes")


def _normalise(value: AttributeValue, depth: int) -> Measured[AttributeValue]:
    if value.__class__ is not dict and not isinstance(value, Mapping):
        raise _empty()
    if len(value) != 1:
        return _of_many(value, depth)
    [(datatype, content)] = value.items()
    if content is not None:
        if datatype == "L":
            return _list(content, value, depth)
        if datatype == "M":
            return _map(content, value, depth)
        handler = _HANDLERS.get(datatype)
        if handler is not None:
            clean = handler(content, value)
            return clean, value_size(clean)
    raise _empty()


def _of_many(value: AttributeValue, depth: int) -> Measured[AttributeValue]:
    """A value with no or several members: the service checks each member before it counts them."""
    present = [{name: value[name]} for name in DATATYPES if value.get(name) is not None]
    checked = [_normalise(one, depth) for one in present]
    if not checked:
        raise _empty()
    if len(checked) > 1:
        raise validation_error(
            "Supplied AttributeValue has more than one datatypes set, "
            "must contain exactly one of the supported datatypes"
        )
    return checked[0]


def _empty() -> ServiceError:
    return validation_error(
        "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
    )


def _string(content: Any, value: AttributeValue) -> AttributeValue:
    if not isinstance(content, str):
        raise _empty()
    return value


def _number(content: Any, value: AttributeValue) -> AttributeValue:
    text = canonical(content)
    return value if text == content else {"N": text}


def _binary(content: Any, value: AttributeValue) -> AttributeValue:
    if content.__class__ is bytes:
        return value
    if not isinstance(content, bytearray | memoryview):
        raise _empty()
    return {"B": bytes(content)}


def _bool(content: Any, value: AttributeValue) -> AttributeValue:
    if content is not True and content is not False:
        raise _empty()
    return value


def _null(content: Any, value: AttributeValue) -> AttributeValue:
    if content is not True:
        raise validation_error(f"{_INVALID}Null attribute value types must have the value of true")
    return value


def _string_set(content: Any, value: AttributeValue) -> AttributeValue:
    if not content:
        raise validation_error(f"{_INVALID}An string set  may not be empty")
    members = _members(content, str)
    if len(set(members)) != len(members):
        raise validation_error(f"{_INVALID}Input collection [{', '.join(members)}] contains duplicates.")
    return _ordered_set("SS", members, value)


def _number_set(content: Any, value: AttributeValue) -> AttributeValue:
    if not content:
        raise validation_error(f"{_INVALID}An number set  may not be empty")
    members = [canonical(member) for member in _members(content, str)]
    if len(set(members)) != len(members):
        raise validation_error("Input collection contains duplicates")
    return _ordered_set("NS", members, value)


def _binary_set(content: Any, value: AttributeValue) -> AttributeValue:
    if not content:
        raise validation_error(f"{_INVALID}Binary sets should not be empty")
    members = _members(content, bytes)
    if len(set(members)) != len(members):
        texts = ", ".join(b64encode(member).decode() for member in members)
        raise validation_error(f"{_INVALID}Input collection [{texts}]of type BS contains duplicates.")
    return _ordered_set("BS", members, value)


def in_order(datatype: str, members: Iterable[Any]) -> list[Any]:
    """The members of a set as the service keeps them: numbers by value, strings and binaries by bytes."""
    return sorted(members, key=numbers.sortable if datatype == "NS" else None)


def _ordered_set(datatype: str, members: Sequence[Any], value: AttributeValue) -> AttributeValue:
    ordered = in_order(datatype, members)
    return value if ordered == value[datatype] else {datatype: ordered}


def _members(content: Any, kind: type) -> Sequence[Any]:
    if isinstance(content, _SEQUENCES):
        for member in content:
            if not isinstance(member, kind):
                break
        else:
            return content
    raise _empty()


_SEQUENCES = (list, tuple)


def _list(content: Any, value: AttributeValue, depth: int) -> Measured[AttributeValue]:
    if not isinstance(content, _SEQUENCES):
        raise _empty()
    if content and depth + 1 >= MAX_NESTING:
        raise nested_too_deeply()
    texts = texts_of(content)
    if texts is not None:
        return _flat_list(type_of(content[0]), texts, value)
    elements = [_normalise(element, depth + 1) for element in content]
    size = COLLECTION_BYTES + sum(ELEMENT_BYTES + element_size for _, element_size in elements)
    if all(clean is element for (clean, _), element in zip(elements, content, strict=True)):
        return value, size
    return {"L": [clean for clean, _ in elements]}, size


def _flat_list(datatype: str, texts: list[str], value: AttributeValue) -> Measured[AttributeValue]:
    """A list of nothing but strings or nothing but numbers; a number that it repeats is judged once."""
    if datatype == "N":
        clean = {text: canonical(text) for text in dict.fromkeys(texts)}
        if any(text != number for text, number in clean.items()):
            texts = [clean[text] for text in texts]
            value = {"L": [{"N": text} for text in texts]}
    return value, COLLECTION_BYTES + ELEMENT_BYTES * len(texts) + texts_size(datatype, texts)


def _map(content: Any, value: AttributeValue, depth: int) -> Measured[AttributeValue]:
    if content.__class__ is not dict and not isinstance(content, Mapping):
        raise _empty()
    if content and depth + 1 >= MAX_NESTING:
        raise nested_too_deeply()
    inside, inside_size = _normalise_members(content, depth + 1)
    size = COLLECTION_BYTES + ELEMENT_BYTES * len(content) + inside_size
    return (value if inside is content else {"M": inside}), size


def nested_too_deeply() -> ServiceError:
    """The refusal of a value of more than 32 levels, its scalars being one of them."""
    return validation_error(
        "Nesting Levels have exceeded supported limits: "
        "Attributes in the item have nested levels beyond supported limit"
    )


_HANDLERS: dict[str, Callable[[Any, AttributeValue], AttributeValue]] = {
    "S": _string,
    "N": _number,
    "B": _binary,
    "SS": _string_set,
    "NS": _number_set,
    "BS": _binary_set,
    "NULL": _null,
    "BOOL": _bool,
}


def texts_of(elements: Sequence[Any]) -> list[str] | None:
    """The contents of elements that are all strings or all numbers, as those of long lists mostly are."""
    if set(map(type, elements)) != {dict} or set(map(len, elements)) != {1}:
        return None
    [datatype] = elements[0]
    if datatype != "S" and datatype != "N":
        return None
    texts = [element.get(datatype) for element in elements]
    return texts if set(map(type, texts)) == {str} else None


def type_of(value: AttributeValue) -> str:
    """The datatype of an attribute value: `S`, `N`, `B`, `SS`, `NS`, `BS`, `M`, `L`, `NULL` or `BOOL`."""
    for datatype in value:
        return datatype
    raise _empty()


def equal(left: AttributeValue, right: AttributeValue) -> bool:
    """Whether two canonical values are the same: sets and maps regardless of order, at every depth."""
    if left == right:
        return True
    datatype = type_of(left)
    if datatype not in right or datatype not in _COLLECTIONS:
        return False
    a, b = left[datatype], right[datatype]
    if len(a) != len(b):
        return False
    if datatype == "L":
        return all(map(equal, a, b))
    if datatype == "M":
        return all(name in b and equal(member, b[name]) for name, member in a.items())
    return set(a) == set(b)


_COLLECTIONS = frozenset(("SS", "NS", "BS", "L", "M"))


def compare(left: AttributeValue, right: AttributeValue) -> int | None:
    """-1, 0 or 1 for two strings, numbers or binaries; None for everything that has no order.

    Strings compare by their UTF-8 bytes, which is the order of code points; binaries as unsigned bytes.
    """
    for datatype, a in left.items():
        b = right.get(datatype)
        if b is None:
            return None
        if datatype == "N":
            return numbers.compare(a, b)
        if datatype == "S" or datatype == "B":
            return 0 if a == b else -1 if a < b else 1
    return None


def contains(container: AttributeValue, operand: AttributeValue) -> bool:
    """Substring of a string or binary, member of a set, element of a list; False for other types."""
    datatype, content = next(iter(container.items()))
    if datatype == "L":
        return any(equal(element, operand) for element in content)
    wanted = operand.get(_MEMBER_TYPE.get(datatype, ""))
    return wanted is not None and wanted in content


_MEMBER_TYPE = {"S": "S", "B": "B", "SS": "S", "NS": "N", "BS": "B"}
