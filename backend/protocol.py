"""What everything above the store sees of it, and what the store sees of the world.

A request and a response are mappings in the shape of botocore's DynamoDB model, with two rules:

* items travel in the typed form, `{"pk": {"S": "x"}}`; binary (`B`, `BS`) is `bytes`, never base64;
* numbers are strings, and in their canonical form once the engine has accepted them.

Items and attribute values are immutable by convention: whoever wants another value builds another mapping.
So the engine, a cache and an answer may share one object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

AttributeValue = Mapping[str, Any]
Item = Mapping[str, AttributeValue]
Request = Mapping[str, Any]
Response = Mapping[str, Any]

Now = Callable[[], float]
"""Seconds since the epoch, from the clock of whoever runs us."""

Entropy = Callable[[int], bytes]
"""`entropy(n)` gives n bytes: of the operating system when live, of a seed when simulated."""


class Backend(Protocol):
    """A table store: the embedded engine, or any DynamoDB-compatible endpoint."""

    async def execute(self, operation: str, request: Request) -> Response:
        """Run one DynamoDB operation (`"GetItem"`). Raises `backend.errors.ServiceError`, nothing else."""
        ...

    async def close(self) -> None:
        """Release connections and files. Closing twice is harmless."""
        ...
