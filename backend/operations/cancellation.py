"""What cancels a transaction: reasons aligned with the actions, and the limits on the transaction as a whole.

Rules: every action is judged, so that each has its reason, `None` for the innocent; an item whose key values
are empty is refused by itself, as a ValidationException, before any reason is given.
Public source: DynamoDB API Reference, "TransactionCanceledException".
"""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Any

from backend.errors import ServiceError, validation_error
from backend.tables.table import Table

MAX_TRANSACTION_BYTES = 4 * 1024 * 1024

_REASONS = {
    "ConditionalCheckFailedException": "ConditionalCheckFailed",
    "DuplicateItemException": "DuplicateItem",
    "ItemCollectionSizeLimitExceededException": "ItemCollectionSizeLimitExceeded",
    "ValidationException": "ValidationError",
    "ProvisionedThroughputExceededException": "ProvisionedThroughputExceeded",
    "ThrottlingException": "ThrottlingError",
}
_EMPTY_KEY = "One or more parameter values are not valid."


class Reasons:
    """The CancellationReasons of a transaction in the making."""

    def __init__(self) -> None:
        self._reasons: list[dict[str, Any]] = []
        self._failed = False

    def of_next(self) -> Reasons:
        """Use as a context manager around the judgement of the next action: a refusal becomes its reason."""
        return self

    def __enter__(self) -> None:
        self._reasons.append({"Code": "None"})

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, ServiceError):
            return False
        code = _REASONS.get(error.code)
        if code is None or (error.message or "").startswith(_EMPTY_KEY):
            return False
        self._failed = True
        item = {"Item": error.fields["Item"]} if "Item" in error.fields else {}
        self._reasons[-1] = {"Code": code, "Message": error.message, **item}
        return True

    def raise_if_any(self) -> None:
        """Raise TransactionCanceledException if an action was refused."""
        if self._failed:
            codes = ", ".join(reason["Code"] for reason in self._reasons)
            raise ServiceError(
                "TransactionCanceledException",
                f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]",
                fields={"CancellationReasons": self._reasons},
            )


def check_distinct(keys: Iterable[tuple[Table, bytes]]) -> None:
    """Refuse a transaction that names one item twice."""
    seen: set[tuple[str, bytes]] = set()
    for table, key in keys:
        if (table.id, key) in seen:
            raise validation_error("Transaction request cannot include multiple operations on one item")
        seen.add((table.id, key))


def check_total_size(sizes: Iterable[int]) -> None:
    """Refuse a transaction over more than 4 MB of items."""
    if sum(sizes) > MAX_TRANSACTION_BYTES:
        raise validation_error(
            "Collection size of all items in a transaction exceeded the limit of 4194304 bytes"
        )
