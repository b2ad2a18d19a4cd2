"""Client request tokens: a repeated transaction is recognised for ten minutes, and not made twice.

Rules: a token is stored in the storage transaction of the writes it stands for, so it exists exactly when
they do; it remembers a digest of the parameters; it is forgotten once its window has passed on the engine's
clock. Public source: DynamoDB API Reference, "TransactWriteItems", ClientRequestToken.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Any

import orjson

from backend.errors import ServiceError
from backend.storage.base import Storage

_TICKS = 1_000_000


class TokenLog:
    """The tokens of one engine. `window` is in seconds."""

    def __init__(self, storage: Storage, window: float) -> None:
        self._window = window
        self._tokens = storage.open("request-tokens")
        self._expiries = storage.open("request-token-expiries")

    def is_replay(self, token: str, parameters: object, now: float) -> bool:
        """Whether this very request was carried out within the window.

        Raises IdempotentParameterMismatchException when the token came with other parameters.
        """
        found = self._tokens.get(token.encode())
        if found is None or float(found[0]["Expires"]["N"]) <= now:
            return False
        if found[0]["Digest"]["B"] != _digest(parameters):
            raise ServiceError(
                "IdempotentParameterMismatchException",
                "The request uses the same client token as a previous, but non-identical request. "
                "Do not reuse a client token with different requests, unless the requests are identical",
            )
        return True

    def remember(self, token: str, parameters: object, now: float) -> None:
        """Note a request in the open storage transaction of its writes, and forget what has expired."""
        expires = now + self._window
        key = token.encode()
        self._forget_expired(now)
        self._tokens.put(key, ({"Expires": {"N": repr(expires)}, "Digest": {"B": _digest(parameters)}}, 0))
        self._expiries.put(_stamp(expires) + key, ({}, 0))

    def _forget_expired(self, now: float) -> None:
        for expiry, _ in list(self._expiries.range(None, _stamp(now))):
            token = expiry[8:]
            found = self._tokens.get(token)
            # The token may have been used anew since: then a later expiry stands for it.
            if found is not None and float(found[0]["Expires"]["N"]) <= now:
                self._tokens.delete(token)
            self._expiries.delete(expiry)


def _stamp(time: float) -> bytes:
    return int(time * _TICKS).to_bytes(8, "big")


def _digest(parameters: object) -> bytes:
    return sha256(orjson.dumps(parameters, default=_binary, option=orjson.OPT_SORT_KEYS)).digest()


def _binary(value: Any) -> str:
    return b64encode(bytes(value)).decode()
