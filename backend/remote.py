"""A table store behind an endpoint: DynamoDB itself, DynamoDB Local, Alternator, or another `StoreFront`.

Rules:

* requests are signed with botocore's SigV4 from botocore's chain of credentials; for an endpoint outside AWS
  made-up ones will do when the chain has none, as such endpoints do not look at them;
* throttling, 5xx answers, damaged answers and broken connections are tried again as the SDKs do, after a
  delay of full jitter that doubles with each attempt. A write whose answer was lost may so be made twice, as
  with any SDK, and a refusal of the second attempt does not mean that the first did nothing: the error says
  so (`after_unknown_outcome`);
* an error of the endpoint is raised as it came, code, message, status and fields. What is no answer at all
  becomes an InternalServerError that says what happened.

Public sources: "Error handling with DynamoDB" (developer guide), "Retry behavior" (AWS SDKs and tools guide).
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import aiohttp
import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from yarl import URL

from backend.errors import ServiceError
from backend.protocol import Entropy, Request, Response
from backend.protocol_checks import JSON_1_0
from backend.wire import decode_error, decode_response, encode_request, target_of

log = logging.getLogger(__name__)

Sleep = Callable[[float], Awaitable[None]]
"""Waits for seconds on the clock of whoever runs us."""

_RETRIED_CODES = frozenset(
    {
        "InternalServerError",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ServiceUnavailable",
        "ThrottlingException",
        "TransactionInProgressException",
    }
)
_JITTER_BYTES = 4


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """Times are seconds. The defaults are those of the SDKs for DynamoDB, but for the larger pool."""

    connections: int = 100
    """Requests under way at once; more wait for a connection."""
    connect_timeout: float = 5.0
    read_timeout: float = 60.0
    attempts: int = 10
    base_delay: float = 0.05
    """The most that the first retry waits."""
    max_delay: float = 20.0


class RemoteBackend:
    """`Backend` over HTTP. Connections open on first use and are kept."""

    def __init__(
        self,
        endpoint_url: str,
        *,
        sleep: Sleep,
        entropy: Entropy,
        region: str = "us-east-1",
        credentials: Credentials | None = None,
        settings: RemoteSettings | None = None,
    ) -> None:
        """`credentials` are botocore's; without them its chain is asked.

        Raises ValueError for what is no URL of an endpoint, and for an endpoint of AWS without credentials.
        """
        self._url = URL(endpoint_url)
        if self._url.scheme not in ("http", "https") or self._url.host is None:
            raise ValueError(f"{endpoint_url!r} is no endpoint: give http://host:port or https://host")
        self._settings = settings or RemoteSettings()
        self._sleep = sleep
        self._entropy = entropy
        self._signer = SigV4Auth(credentials or find_credentials(self._url.host), "dynamodb", region)
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    async def execute(self, operation: str, request: Request) -> Response:
        """Run an operation at the endpoint. Raises ServiceError, of the endpoint or of getting there."""
        target, body = target_of(operation), encode_request(request)
        unknown_outcome = False
        for attempt in range(1, self._settings.attempts + 1):
            try:
                return await self._send(operation, target, body)
            except ServiceError as error:
                error.after_unknown_outcome = unknown_outcome
                unknown_outcome = unknown_outcome or error.status >= 500
                if attempt == self._settings.attempts or not is_retried(error):
                    raise
                log.debug("attempt %d of %s failed: %r", attempt, operation, error)
            await self._sleep(self._delay(attempt))
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def close(self) -> None:
        self._closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _delay(self, attempt: int) -> float:
        """Full jitter: anything up to the base, doubled with each attempt, within the maximum."""
        most: float = min(self._settings.base_delay * 2 ** (attempt - 1), self._settings.max_delay)
        return most * int.from_bytes(self._entropy(_JITTER_BYTES), "big") / (1 << 8 * _JITTER_BYTES)

    async def _send(self, operation: str, target: str, body: bytes) -> Response:
        headers = self._signed(target, body)
        try:
            async with self._open_session().post(self._url, data=body, headers=headers) as answer:
                status, content = answer.status, await answer.read()
                checksum = answer.headers.get("x-amz-crc32")
        except TimeoutError:
            raise self._unreachable("did not answer in time") from None
        except (aiohttp.ClientError, OSError) as error:
            raise self._unreachable(f"cannot be reached ({error})") from error
        if checksum is not None and checksum != str(zlib.crc32(content)):
            raise self._unreachable("sent an answer that does not match its checksum")
        if status != 200:
            raise decode_error(status, content)
        try:
            return decode_response(operation, content)
        except ServiceError as error:
            raise self._unreachable(f"sent an answer that is none of {operation} ({error})") from error

    def _signed(self, target: str, body: bytes) -> Mapping[str, str]:
        headers = {"Content-Type": JSON_1_0, "X-Amz-Target": target, "Accept-Encoding": "identity"}
        request = AWSRequest(method="POST", url=str(self._url), data=body, headers=headers)
        self._signer.add_auth(request)
        return dict(request.headers.items())

    def _open_session(self) -> aiohttp.ClientSession:
        if self._closed:
            raise self._unreachable("is no longer used: the backend was closed")
        if self._session is None:
            settings = self._settings
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=settings.connections),
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=settings.connect_timeout, sock_read=settings.read_timeout
                ),
            )
        return self._session

    def _unreachable(self, what: str) -> ServiceError:
        return ServiceError("InternalServerError", f"The table store at {self._url} {what}", status=500)


def is_retried(error: ServiceError) -> bool:
    """Whether the SDKs would send a request again after this error."""
    return error.status >= 500 or error.code in _RETRIED_CODES


def find_credentials(host: str) -> Credentials:
    """What botocore's chain finds: environment, profiles and, for an endpoint of AWS, the machine's role."""
    is_aws = host.endswith((".amazonaws.com", ".amazonaws.com.cn", ".api.aws"))
    session = botocore.session.get_session()
    if not is_aws:
        # The role of a machine is asked for over the network, which takes seconds off AWS.
        session.get_component("credential_provider").remove("iam-role")
    found = session.get_credentials()
    if found is not None:
        return found
    if is_aws:
        raise ValueError(
            f"No AWS credentials found for {host}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )
    return Credentials("local", "local")
