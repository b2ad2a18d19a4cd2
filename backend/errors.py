"""The one error type that crosses every room: a service error with its code, message and HTTP status.

A code is DynamoDB's short name (`ValidationException`). On the JSON wire it travels as `__type` with a prefix
that tells which layer of the service refused the request; clients of both wires see the short name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_VALIDATION = "com.amazon.coral.validate#"
_SERVICE = "com.amazon.coral.service#"
_DYNAMODB = "com.amazonaws.dynamodb.v20120810#"

# Everything not named here is an error of DynamoDB itself.
_PREFIXES: Mapping[str, str] = {
    "ValidationException": _VALIDATION,
    "SerializationException": _SERVICE,
    "UnknownOperationException": _SERVICE,
    "MissingAuthenticationTokenException": _SERVICE,
    "IncompleteSignatureException": _SERVICE,
    "InvalidSignatureException": _SERVICE,
    "UnrecognizedClientException": _SERVICE,
    "AccessDeniedException": _SERVICE,
    "ThrottlingException": _SERVICE,
    "InternalFailure": _SERVICE,
}


class ServiceError(Exception):
    """A refusal that reaches the caller as the service would word it.

    `fields` are the members that stand beside code and message in the error body, in operation-model form:
    `Item` of a failed condition, `CancellationReasons` of a cancelled transaction.
    `message` is None for the errors that the service sends without one (unknown operation, malformed JSON).
    `after_unknown_outcome`: an earlier attempt at the same request may have been carried out all the same.
    """

    def __init__(
        self,
        code: str,
        message: str | None = None,
        *,
        status: int = 400,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message or code)
        self.code = code
        self.message = message
        self.status = status
        self.fields: Mapping[str, Any] = fields or {}
        self.after_unknown_outcome = False

    @property
    def type(self) -> str:
        """The `__type` of the JSON wire, such as `com.amazon.coral.validate#ValidationException`."""
        return _PREFIXES.get(self.code, _DYNAMODB) + self.code

    def __repr__(self) -> str:
        return f"ServiceError({self.code!r}, {self.message!r})"


def validation_error(message: str) -> ServiceError:
    """A `ValidationException`: the request is well-formed and wrong."""
    return ServiceError("ValidationException", message)


def serialization_error(message: str | None = None) -> ServiceError:
    """A `SerializationException`: a JSON value of a type that the operation's model does not have there."""
    return ServiceError("SerializationException", message)


def resource_not_found(message: str = "Requested resource not found") -> ServiceError:
    """A `ResourceNotFoundException`: no such table, index, stream or tagged resource."""
    return ServiceError("ResourceNotFoundException", message)
