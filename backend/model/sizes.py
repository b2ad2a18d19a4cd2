"""How many bytes an item occupies, by DynamoDB's rules.

An item is the sum of its attribute names (UTF-8) and values. Strings count their UTF-8 bytes, binaries
their raw bytes, numbers about one byte for two digits and one more, booleans and nulls one byte; a list or
map has three bytes of its own and one for each element. Capacity, the page limit, the item limit and cache
sizes all rest on this.

Source: "DynamoDB item sizes and formats" of the developer guide.
"""

from __future__ import annotations

from backend.errors import validation_error
from backend.model import numbers
from backend.protocol import AttributeValue, Item

MAX_ITEM_BYTES = 400 * 1024
MAX_PAGE_BYTES = 1024 * 1024
COLLECTION_BYTES = 3
ELEMENT_BYTES = 1


def value_size(value: AttributeValue) -> int:
    """Bytes of one canonical attribute value, without its name. Runtime: linear in the value."""
    for datatype, content in value.items():
        if datatype == "S":
            return len(content) if content.isascii() else len(content.encode())
        if datatype == "N":
            return numbers.size(content)
        if datatype == "B":
            return len(content)
        if datatype == "L":
            return COLLECTION_BYTES + sum(ELEMENT_BYTES + value_size(element) for element in content)
        if datatype == "M":
            return COLLECTION_BYTES + ELEMENT_BYTES * len(content) + item_size(content)
        if datatype == "SS":
            return len("".join(content).encode())
        if datatype == "NS":
            return sum(map(numbers.size, content))
        if datatype == "BS":
            return sum(map(len, content))
        return 1
    return 0


def item_size(item: Item) -> int:
    """Bytes of a canonical item: its names and its values. Runtime: linear in the item."""
    total = 0
    for name, value in item.items():
        total += len(name) if name.isascii() else len(name.encode())
        text = value.get("S")
        if text is not None:
            total += len(text) if text.isascii() else len(text.encode())
        else:
            total += value_size(value)
    return total


def check_item_size(size: int, *, update: bool = False) -> None:
    """Refuse an item of more than 400 KB. An update words the ValidationException differently from a put."""
    if size > MAX_ITEM_BYTES:
        subject = "Item size to update" if update else "Item size"
        raise validation_error(f"{subject} has exceeded the maximum allowed size")
