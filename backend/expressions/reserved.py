"""The words that cannot stand bare in an expression.

The list is data: `reserved_words.txt`, one word a line, as the developer guide's page "Reserved words in
DynamoDB" gives them (the service's own spellings, `FLATTERN` and `INNTER`, included). Case does not matter.
"""

from __future__ import annotations

from importlib.resources import files

RESERVED_WORDS = frozenset(
    files("backend.expressions").joinpath("reserved_words.txt").read_text("ascii").split()
)


def is_reserved(name: str) -> bool:
    """Whether an attribute of this name needs an ExpressionAttributeNames placeholder."""
    return name.upper() in RESERVED_WORDS
