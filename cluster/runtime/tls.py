"""TLS on a connection whose first bytes have been read already.

A port that serves clear and encrypted connections has to look at the first byte before it knows, and an event
loop's own TLS wants to read that byte itself. So TLS runs here between two protocols: the outer one gets what
the socket gives, the inner one what was meant, through a transport that encrypts.

Rules of this file:

* No socket, no loop: bytes in, bytes out, in the calls of `asyncio.Protocol`.
* A handshake that fails is closed with the alert that tells the client why, and a line in the log that tells
  a person.
* Whoever closes gets the rest of their bytes encrypted and sent first.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Callable
from typing import Any, cast

log = logging.getLogger("daxsim.tls")

_CHUNK = 64 * 1024

_HINTS = {
    "ALERT_UNKNOWN_CA": "the client does not trust this certificate: give it the one that the cluster uses",
    "ALERT_BAD_CERTIFICATE": "the client refused the certificate, perhaps for the name that it connected to",
    "ALERT_CERTIFICATE_UNKNOWN": "the client does not trust this certificate, or not for that name",
    "CERTIFICATE_UNKNOWN": "the client does not trust this certificate, or not for that name",
    "HTTP_REQUEST": "an HTTP request where TLS is spoken",
    "WRONG_VERSION_NUMBER": "what came is not TLS",
}


class TlsProtocol(asyncio.Protocol):
    """The server's side of one TLS connection around a protocol that `factory` makes after the handshake."""

    def __init__(self, context: ssl.SSLContext, factory: Callable[[], asyncio.Protocol]) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._factory = factory
        self._transport: asyncio.Transport | None = None
        self.inner: asyncio.Protocol | None = None

    # --- asyncio.Protocol ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self.inner is not None:
            self.inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._incoming.write(data)
        try:
            if self.inner is None and not self._shake_hands():
                return
            self._read()
        except ssl.SSLError as failure:
            self._fail(failure)
        self._flush()

    def eof_received(self) -> bool:
        if self.inner is not None:
            return bool(self.inner.eof_received())
        return False

    def pause_writing(self) -> None:
        if self.inner is not None:
            self.inner.pause_writing()

    def resume_writing(self) -> None:
        if self.inner is not None:
            self.inner.resume_writing()

    # --- TLS ---

    def _shake_hands(self) -> bool:
        """Go on with the handshake. True once it is done, and the inner protocol connected."""
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            self._flush()
            return False
        assert self._transport is not None
        inner_transport = _TlsTransport(self, self._transport)
        self.inner = self._factory()
        self.inner.connection_made(inner_transport)
        return True

    def _read(self) -> None:
        while self.inner is not None and self._transport is not None:
            try:
                data = self._tls.read(_CHUNK)
            except ssl.SSLWantReadError:
                return
            except ssl.SSLZeroReturnError:
                data = b""
            if not data:
                if not self.inner.eof_received():
                    self.close()
                return
            self.inner.data_received(data)

    def _fail(self, failure: ssl.SSLError) -> None:
        peer = self._transport.get_extra_info("peername") if self._transport is not None else None
        reason = failure.reason or str(failure)
        hint = next((hint for part, hint in _HINTS.items() if part in reason), "")
        log.warning("TLS with %s failed: %s%s", peer, reason, f" ({hint})" if hint else "")
        self._flush()
        if self._transport is not None:
            self._transport.close()

    def write(self, data: bytes) -> None:
        """Encrypt and send."""
        if data and self._transport is not None:
            self._tls.write(data)
            self._flush()

    def close(self) -> None:
        """Send what is left and the end of the stream, then close."""
        if self._transport is None or self._transport.is_closing():
            return
        with contextlib.suppress(ssl.SSLError):
            # Says that this was the end; the peer's own end of the stream is not waited for.
            self._tls.unwrap()
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        data = self._outgoing.read()
        if data and self._transport is not None:
            self._transport.write(data)


class _TlsTransport(asyncio.Transport):
    """What the inner protocol writes to."""

    def __init__(self, outer: TlsProtocol, transport: asyncio.Transport) -> None:
        super().__init__()
        self._outer = outer
        self._transport = transport

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._outer.write(bytes(data))

    def close(self) -> None:
        self._outer.close()

    def abort(self) -> None:
        self._transport.abort()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._outer.inner = cast(asyncio.Protocol, protocol)

    def get_protocol(self) -> asyncio.BaseProtocol:
        assert self._outer.inner is not None
        return self._outer.inner

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._transport.resume_reading()

    def is_reading(self) -> bool:
        return self._transport.is_reading()

    def can_write_eof(self) -> bool:
        return False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._transport.set_write_buffer_limits(high, low)

    def get_write_buffer_size(self) -> int:
        return self._transport.get_write_buffer_size()
