"""Service errors as the protocol's failures: a code path, a message, and what a client may ask besides.

Clients name an error by its code path where they know the path, else by the name that stands beside it. So a
path is sent only for the error that every client knows by it; any other gets a path that no client knows, and
its name.

The first code is the class: 1 retryable fault, 3 fault, 4 what the caller can cause, throttling included.
Class 2 is never sent: JavaScript clients wait seven seconds on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.errors import ServiceError, validation_error
from dax.wire.binary import cbor, responses
from dax.wire.binary.attribute_lists import AttributeLists
from dax.wire.binary.events import Failure, Reason
from dax.wire.binary.requests import Target

CODES: Mapping[str, tuple[int, ...]] = {
    "ProvisionedThroughputExceededException": (4, 37, 38, 39, 40),
    "ResourceNotFoundException": (4, 37, 38, 39, 41),
    "AccessDeniedException": (4, 37, 38, 42),
    "ConditionalCheckFailedException": (4, 37, 38, 39, 43),
    "ResourceInUseException": (4, 37, 38, 39, 45),
    "ValidationException": (4, 37, 38, 39, 46),
    "InternalServerError": (4, 37, 38, 39, 47),
    "ItemCollectionSizeLimitExceededException": (4, 37, 38, 39, 48),
    "LimitExceededException": (4, 37, 38, 39, 49),
    "ThrottlingException": (4, 37, 38, 39, 50),
    "TransactionConflictException": (4, 37, 38, 39, 57),
    "TransactionCanceledException": (4, 37, 38, 39, 58),
    "TransactionInProgressException": (4, 37, 38, 39, 59),
    "IdempotentParameterMismatchException": (4, 37, 38, 39, 60),
    "RequestLimitExceeded": (4, 37, 38, 39, 61),
    "UnrecognizedClientException": (4, 23, 31, 32),
    "MissingAuthenticationTokenException": (4, 23, 31, 33),
    "InvalidSignatureException": (4, 23, 31, 34),
}
FAULT = (3, 37, 54)
_LONGEST_REASON = 300
UNLISTED_ERROR = (4, 37, 38, 39, 0)
"""A caller's error that clients know by its name only: the path leads nowhere in their tables."""


def failure(
    error: ServiceError, request_id: str, targets: Sequence[Target] = (), lists: AttributeLists | None = None
) -> Failure:
    """What a service error looks like to a DAX client. `targets` are those of a transaction that failed."""
    codes = CODES.get(error.code) or (FAULT if error.status >= 500 else UNLISTED_ERROR)
    reasons = None
    if "CancellationReasons" in error.fields and lists is not None:
        reasons = _reasons(error.fields["CancellationReasons"], targets, lists)
    return Failure(codes, error.message or error.code, request_id, error.code, error.status, reasons)


def _reasons(
    reasons: Sequence[Mapping[str, Any]], targets: Sequence[Target], lists: AttributeLists
) -> tuple[Reason, ...]:
    encoded = []
    for reason, target in zip(reasons, targets, strict=True):
        item = reason.get("Item")
        blob = None
        if item:
            blob = cbor.decode_whole(responses.values_blob(item, target.schema, lists))
        encoded.append((reason.get("Code", "None"), reason.get("Message"), blob))
    return tuple(encoded)


def malformed(reason: object) -> ServiceError:
    """The error of a request whose frame is whole and whose content is not of the method's form."""
    text = str(reason)
    if len(text) > _LONGEST_REASON:  # it may repeat what the client sent
        text = text[:_LONGEST_REASON] + "..."
    return validation_error(f"Malformed request: {text}")


def not_authorized(message: str = "The connection has not been authorized") -> ServiceError:
    """The error of a request on a connection that never sent its credentials."""
    return ServiceError("MissingAuthenticationTokenException", message)
