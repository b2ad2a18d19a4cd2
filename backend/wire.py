"""The DynamoDB JSON codec: bytes of an HTTP body to requests and responses, and back.

Blobs are base64 on the wire and bytes inside; everything else is the same on both sides, so that encoding is
one call of orjson. Decoding checks types against the service model (`backend.validation.shapes`).
"""

from __future__ import annotations

from binascii import b2a_base64
from typing import Any

import orjson

from backend.errors import ServiceError, serialization_error
from backend.protocol import Request, Response
from backend.validation import shapes
from backend.validation.model import TARGETS, model

_operations: dict[str, str] = {}
"""Targets that have been found -> their operations."""
_UPPER_CASE_MESSAGE = frozenset({"SerializationException", "AccessDeniedException"})


def operation_of(target: str | None) -> str:
    """The operation that an X-Amz-Target header names, such as `DynamoDB_20120810.GetItem`.

    Raises UnknownOperationException for anything that neither DynamoDB nor DynamoDB Streams has.
    """
    known = _operations.get(target or "")
    if known is not None:
        return known
    service, _, operation = (target or "").partition(".")
    if service not in TARGETS or operation not in model(TARGETS[service]):
        raise shapes.unknown_operation()
    _operations[f"{service}.{operation}"] = operation
    return operation


def target_of(operation: str) -> str:
    """The X-Amz-Target header of an operation."""
    for prefix, service in TARGETS.items():
        if operation in model(service):
            return f"{prefix}.{operation}"
    raise shapes.unknown_operation()


def parse(body: bytes) -> Any:
    """The JSON in a body, None when there is none. Raises SerializationException, without text.

    The service answers for an unknown target or a missing signature before it misses the body.
    """
    if not body:
        return None
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise serialization_error() from None


def decode_request(operation: str, body: bytes) -> Request:
    """The request of an operation in a body. Raises SerializationException."""
    return shapes.decode(operation, parse(body))


def decode_response(operation: str, body: bytes) -> Response:
    """The response of an operation in a body. Raises SerializationException when it is not one."""
    return shapes.decode_response(operation, parse(body))


def encode_request(request: Request) -> bytes:
    return orjson.dumps(request, default=_base64)


def encode_response(response: Response) -> bytes:
    return orjson.dumps(response, default=_base64)


def error_body(error: ServiceError) -> bytes:
    """The body of an error answer: `__type`, the message under the name the service uses, and the fields."""
    body: dict[str, Any] = {"__type": error.type}
    if error.message is not None:
        body["Message" if error.code in _UPPER_CASE_MESSAGE else "message"] = error.message
    body.update(error.fields)
    return orjson.dumps(body, default=_base64)


def decode_error(status: int, body: bytes) -> ServiceError:
    """The error in an answer of a DynamoDB-compatible endpoint, with its fields (blobs as bytes).

    A body that is no DynamoDB error becomes an InternalServerError that quotes the HTTP status.
    """
    try:
        parsed = orjson.loads(body)
        if not isinstance(parsed, dict) or not isinstance(parsed.get("__type"), str):
            raise serialization_error()
        code = parsed.pop("__type").rpartition("#")[2]
        lower, upper = parsed.pop("message", None), parsed.pop("Message", None)
        message = lower if lower is not None else upper
        return ServiceError(code, message, status=status, fields=shapes.decode_error_fields(parsed))
    except (orjson.JSONDecodeError, ServiceError):
        text = f"The endpoint answered with HTTP status {status} and no DynamoDB error"
        return ServiceError("InternalServerError", text, status=max(status, 500))


def _base64(value: Any) -> str:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return b2a_base64(value, newline=False).decode()
    raise TypeError(f"{type(value).__name__} has no place in a DynamoDB request or response")
