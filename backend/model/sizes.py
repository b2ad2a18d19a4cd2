"""How many bytes an item occupies, by DynamoDB's rules.

An item is the sum of its attribute names (UTF-8) and values. Strings count their UTF-8 bytes, binaries
their raw bytes, numbers about one byte for two digits and one more, booleans and nulls one byte; a list or
map has three bytes of its own and one for each element. Capacity, the page limit, the item limit and cache
sizes all rest on this.

Source: "DynamoDB item sizes and formats" of the developer guide.
"""

from __future__ import annotations

from itertools import chain

from backend.errors import validation_error
from backend.model import numbers
from backend.protocol import AttributeValue, Item

MAX_ITEM_BYTES = 400 * 1024
COLLECTION_BYTES = 3
ELEMENT_BYTES = 1

_SHORT_LIST = 16
"""Elements that are sooner measured one by one than looked at as a whole."""


def value_size(value: AttributeValue) -> int:
    """Bytes of one canonical attribute value, without its name. Runtime: linear in the value."""
    for datatype, content in value.items():
        if datatype == "S":
            return text_size(content)
        if datatype == "N":
            return numbers.size(content)
        if datatype == "B":
            return len(content)
        if datatype == "L":
            return COLLECTION_BYTES + ELEMENT_BYTES * len(content) + _elements_size(content)
        if datatype == "M":
            return COLLECTION_BYTES + ELEMENT_BYTES * len(content) + item_size(content)
        if datatype == "SS":
            return text_size("".join(content))
        if datatype == "NS":
            return sum(map(numbers.size, content))
        if datatype == "BS":
            return sum(map(len, content))
        return 1
    return 0


def _elements_size(elements: list[AttributeValue]) -> int:
    datatypes = set(chain.from_iterable(elements)) if len(elements) > _SHORT_LIST else ()
    if datatypes == {"S"} or datatypes == {"N"}:
        [datatype] = datatypes
        return texts_size(datatype, [element[datatype] for element in elements])
    return sum(map(value_size, elements))


def texts_size(datatype: str, texts: list[str]) -> int:
    """Bytes of many strings or many canonical numbers; a number that they repeat is measured once."""
    if datatype == "S":
        return text_size("".join(texts))
    size_of = {text: numbers.size(text) for text in set(texts)}
    return sum(map(size_of.__getitem__, texts))


def text_size(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def item_size(item: Item) -> int:
    """Bytes of a canonical item: its names and its values. Runtime: linear in the item."""
    size = 0
    for name, value in item.items():
        size += len(name) if name.isascii() else len(name.encode())
        # Most values are strings, which need no call.
        text = value.get("S")
        if text is None:
            size += value_size(value)
        else:
            size += len(text) if text.isascii() else len(text.encode())
    return size


def check_item_size(size: int, *, update: bool = False) -> None:
    """Refuse an item of more than 400 KB. An update words the ValidationException differently from a put."""
    if size > MAX_ITEM_BYTES:
        subject = "Item size to update" if update else "Item size"
        raise validation_error(f"{subject} has exceeded the maximum allowed size")
