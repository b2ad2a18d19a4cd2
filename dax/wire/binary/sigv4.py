"""Verification of `authorizeConnection`: AWS Signature Version 4 over the service `dax`.

A client signs four lines: the algorithm, the time, the scope `date/region/dax/aws4_request` and the hash of a
constant canonical request. What is verified is the signature of the lines as they came, their form, and that
their time is near ours. The hash itself is not recomputed: clients disagree on how to spell the host that
they sign.

Source: "Create a signed AWS API request" of the IAM user guide, for the key derivation.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime

from backend.errors import ServiceError
from dax.wire.binary.events import Authorization

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "dax"
CLOCK_SKEW = 15 * 60.0
"""How far a signature's time may be from ours, in seconds."""

Credentials = Mapping[str, str]
"""Secret keys by access key id."""


def verify(authorization: Authorization, credentials: Credentials, now: float) -> None:
    """Accept, or raise the `ServiceError` that answers the next request. `now`: seconds since the epoch."""
    secret = credentials.get(authorization.access_key)
    if secret is None:
        raise ServiceError(
            "UnrecognizedClientException", "The security token included in the request is invalid."
        )
    try:
        lines = authorization.string_to_sign.decode().split("\n")
        algorithm, timestamp, scope, request_hash = lines
        date, region, service, terminator = scope.split("/")
        signed_at = datetime.strptime(timestamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise _invalid("The string to sign is not of Signature Version 4") from None
    if algorithm != ALGORITHM or terminator != "aws4_request" or len(request_hash) != 64:
        raise _invalid("The string to sign is not of Signature Version 4")
    if service != SERVICE:
        raise _invalid(f"Credential should be scoped to correct service: '{SERVICE}'")
    if date != timestamp[:8]:
        raise _invalid("Date in Credential scope does not match the time of the signature")
    if abs(now - signed_at) > CLOCK_SKEW:
        raise _invalid(
            f"Signature not current: {timestamp} is more than 15 minutes from the time of this node"
        )
    expected = signature(secret, date, region, authorization.string_to_sign)
    if not hmac.compare_digest(expected, authorization.signature.encode()):
        raise _invalid(
            "The request signature we calculated does not match the signature you provided. "
            "Check your AWS Secret Access Key and signing method."
        )


def _invalid(message: str) -> ServiceError:
    return ServiceError("InvalidSignatureException", message)


def signature(secret: str, date: str, region: str, string_to_sign: bytes) -> bytes:
    """The signature in lower-case hex digits."""
    key = f"AWS4{secret}".encode()
    for part in (date, region, SERVICE, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, string_to_sign, "sha256").hex().encode()


def authorize(
    access_key: str,
    secret: str,
    now: float,
    *,
    region: str = "us-east-1",
    user_agent: str | None = None,
    session_token: str | None = None,
) -> Authorization:
    """What a client sends: signed for `now`, in seconds since the epoch."""
    timestamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    date = timestamp[:8]
    canonical = "\n".join(
        (
            "POST",
            "/",
            "",
            "host:dax.amazonaws.com",
            f"x-amz-date:{timestamp}",
            "",
            "host;x-amz-date",
            hashlib.sha256(b"").hexdigest(),
        )
    )
    scope = f"{date}/{region}/{SERVICE}/aws4_request"
    request_hash = hashlib.sha256(canonical.encode()).hexdigest()
    to_sign = "\n".join((ALGORITHM, timestamp, scope, request_hash)).encode()
    signed = signature(secret, date, region, to_sign).decode()
    return Authorization(access_key, signed, to_sign, session_token, user_agent)
