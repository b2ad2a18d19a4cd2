"""The DynamoDB-JSON protocol over HTTP, without a socket: what every front does around an operation.

A front reads a request's method, target headers and body, and answers in this order, which is the service's:

1. a body over 16 MiB: 413, empty;
2. a CORS preflight, a health check, a method or content type not of the protocol: `answer_without_target`;
3. JSON that does not parse, then an unknown target, then missing authentication: `read_operation` raises.

Whatever it answers carries `x-amzn-RequestId`, and every body `x-amz-crc32`. Signatures are asked for in form
and never verified: anyone who reaches the port may use it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from backend.errors import ServiceError
from backend.protocol import Entropy
from backend.wire import operation_of, parse

MAX_BODY = 16 * 1024 * 1024
JSON_1_0 = "application/x-amz-json-1.0"
JSON = "application/json"
MIN_GZIP = 1024
"""Answers from this many bytes on are compressed for clients that ask for it."""

Headers = Mapping[str, str]
"""Looked up by names in lower case."""

_NOT_THE_PROTOCOL = b"<UnknownOperationException/>\n"
_QUERY_PARAMETERS = (
    "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date",
)  # fmt: skip
_HEADER_PARAMETERS = ("Credential", "Signature", "SignedHeaders")
_USUAL = re.compile(r"AWS4-HMAC-SHA256 Credential=[^ ,]+, ?SignedHeaders=[^ ,]+, ?Signature=[^ ,]+")
"""What clients send. It needs no second look; other forms get one."""
_SEPARATORS = re.compile(r"[, ]+")


class EarlyAnswer(NamedTuple):
    """What a request that is no operation gets."""

    status: int
    headers: dict[str, str]
    body: bytes


class RequestIds:
    """Request ids of 52 characters out of 0-9 and A-F: a random prefix and a scrambled counter."""

    __slots__ = ("_counter", "_prefix")

    _STEP = 0x9E3779B97F4A7C15  # odd, so that all 2**64 values come before one returns

    def __init__(self, entropy: Entropy) -> None:
        self._prefix = entropy(18).hex().upper()
        self._counter = int.from_bytes(entropy(8), "big")

    def next(self) -> str:
        self._counter = (self._counter + self._STEP) & 0xFFFFFFFFFFFFFFFF
        return f"{self._prefix}{self._counter:016X}"


def content_type_of(headers: Headers) -> str:
    """The content type of the answer: that of the request when it is the protocol's own, else plain JSON."""
    return JSON_1_0 if _media_type(headers) == JSON_1_0 else JSON


def _media_type(headers: Headers) -> str:
    content_type = headers.get("content-type")
    if content_type is None or content_type == JSON_1_0:
        return content_type or ""
    return content_type.partition(";")[0].strip()


def answer_without_target(method: str, headers: Headers, body: bytes, region: str) -> EarlyAnswer | None:
    """The answer to a request that is not an operation; None when it may be one."""
    if method == "POST" and (not body or _media_type(headers) in (JSON_1_0, JSON)):
        return None
    if method == "OPTIONS" and "origin" in headers:
        return EarlyAnswer(200, _preflight(headers), b"")
    if method == "GET":
        return EarlyAnswer(200, {}, f"healthy: dynamodb.{region}.amazonaws.com ".encode())
    return EarlyAnswer(404, {}, _NOT_THE_PROTOCOL)


def _preflight(headers: Headers) -> dict[str, str]:
    answer = {"Access-Control-Max-Age": "172800"}
    for asked, allowed in (
        ("access-control-request-headers", "Access-Control-Allow-Headers"),
        ("access-control-request-method", "Access-Control-Allow-Methods"),
    ):
        if headers.get(asked):
            answer[allowed] = headers[asked]
    return answer


def read_operation(headers: Headers, query_string: str, body: bytes) -> tuple[str, Any]:
    """(operation, parsed JSON of its request). `shapes.decode` makes the request of it.

    Raises SerializationException, UnknownOperationException, or what `authenticate` raises.
    """
    parsed = parse(body)
    operation = operation_of(headers.get("x-amz-target"))
    authenticate(headers, query_string)
    return operation, parsed


def authenticate(headers: Headers, query_string: str) -> None:
    """Ask for a complete signature, in the Authorization header or in the query string.

    Raises MissingAuthenticationTokenException, IncompleteSignatureException or InvalidSignatureException.
    """
    header = headers.get("authorization")
    if header is not None and not query_string and _USUAL.fullmatch(header) and headers.get("x-amz-date"):
        return
    query = parse_qs(query_string, keep_blank_values=True) if query_string else {}
    in_query = "X-Amz-Algorithm" in query
    if header and in_query:
        raise ServiceError(
            "InvalidSignatureException",
            "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
        )
    if header:
        _check_header(header, headers)
    elif in_query:
        missing = [name for name in _QUERY_PARAMETERS if not query.get(name, [""])[0]]
        if missing:
            told = " ".join(f"AWS query-string parameters must include '{name}'." for name in missing)
            raise ServiceError(
                "IncompleteSignatureException", f"{told} Re-examine the query-string parameters."
            )
    else:
        raise _missing_token()


def _check_header(header: str, headers: Headers) -> None:
    if not header.lstrip().startswith("AWS4-"):
        raise _missing_token()
    given = dict(part.partition("=")[::2] for part in _SEPARATORS.split(header)[1:])
    told = [
        f"Authorization header requires '{name}' parameter."
        for name in _HEADER_PARAMETERS
        if not given.get(name)
    ]
    if not headers.get("x-amz-date") and not headers.get("date"):
        told.append("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.")
    if told:
        raise ServiceError("IncompleteSignatureException", f"{' '.join(told)} Authorization={header}")


def _missing_token() -> ServiceError:
    return ServiceError("MissingAuthenticationTokenException", "Request is missing Authentication Token")


def answer_headers(headers: Headers, body: bytes, request_id: str) -> dict[str, str]:
    """The headers of the answer to a request with `headers`; `body` is as it goes out, compressed or not."""
    answer = {
        "x-amzn-RequestId": request_id,
        "x-amz-crc32": str(zlib.crc32(body)),
        "Content-Type": content_type_of(headers),
    }
    if "origin" in headers:
        answer["Access-Control-Allow-Origin"] = "*"
    return answer


def wants_gzip(headers: Headers, body: bytes) -> bool:
    """Whether the answer goes out compressed. Its CRC32 is then that of the compressed bytes."""
    return len(body) >= MIN_GZIP and "gzip" in headers.get("accept-encoding", "")


def compress(body: bytes) -> bytes:
    """gzip, without a time stamp: equal answers are equal bytes."""
    compressor = zlib.compressobj(wbits=31)
    return compressor.compress(body) + compressor.flush()


def internal_server_error() -> ServiceError:
    """The answer to a defect of ours: the service's words, nothing of the exception."""
    return ServiceError(
        "InternalServerError",
        "The request processing has failed because of an unknown error, exception or failure.",
        status=500,
    )
