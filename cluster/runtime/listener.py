"""Listening sockets: one port for both wires, and every connection accounted for.

Rules of this file:

* the first byte of a connection tells its wire. The DAX binary protocol begins with `g` (0x67, the CBOR head
  of its seven-letter greeting), an HTTP request with an upper-case letter, a TLS handshake with 0x16;
* once told, the transport is handed over whole: nothing of ours stands in the way of its bytes;
* a connection belongs to the node that answers it, also when it came in by the cluster endpoint: the node's
  death breaks it.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from cluster.runtime.tls import TlsProtocol

log = logging.getLogger("daxsim.listener")

ProtocolFactory = Callable[[], asyncio.Protocol]

_DAX = 0x67
_TLS = 0x16
_NO_TLS_HERE = bytes((0x15, 3, 1, 0, 2, 2, 40))
"""A TLS record: fatal alert, handshake_failure. The client then says so, rather than hang."""


class CannotListen(Exception):
    """The port cannot be opened; the text is one line for a person."""

    def __init__(self, host: str, port: int, text: str) -> None:
        super().__init__(text)
        self.host = host
        self.port = port


class PortInUse(CannotListen):
    """Another program listens on that port."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(host, port, f"port {port} on {host} is in use by another program")


class Connections:
    """The open transports of one owner."""

    def __init__(self) -> None:
        self._transports: dict[asyncio.Transport, None] = {}
        self._prune_at = 64

    def add(self, transport: asyncio.Transport) -> None:
        if len(self._transports) >= self._prune_at:
            self._prune()
            self._prune_at = max(64, 2 * len(self._transports))
        self._transports[transport] = None

    def discard(self, transport: asyncio.Transport) -> None:
        self._transports.pop(transport, None)

    def _prune(self) -> None:
        self._transports = {t: None for t in self._transports if not t.is_closing()}

    def __len__(self) -> int:
        self._prune()
        return len(self._transports)

    def abort(self) -> None:
        """Break every connection now; unsent bytes are lost."""
        for transport in self._transports:
            transport.abort()
        self._transports.clear()


@dataclass(slots=True)
class Fronts:
    """What answers on a connection: a protocol factory for each wire, and the owner's connections."""

    http: ProtocolFactory
    binary: ProtocolFactory | None = None
    connections: Connections = field(default_factory=Connections)


ChooseFronts = Callable[[], Fronts | None]
"""Who answers the next connection; None: nobody, it is broken."""

ClaimFronts = Callable[[bytes], Fronts | None]
"""Who claims a connection by its first bytes, before anybody else is chosen; None: nobody claims it."""


class _Sniffer(asyncio.Protocol):
    """A connection before its first byte."""

    def __init__(
        self,
        choose: ChooseFronts,
        claim: ClaimFronts,
        undecided: Connections,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._choose = choose
        self._claim = claim
        self._undecided = undecided
        self._tls = tls
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are of no class of asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        self._undecided.add(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._undecided.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        transport = self._transport
        assert transport is not None
        self._undecided.discard(transport)
        if data[0] == _TLS:
            self._begin_tls(transport, data)
            return
        fronts = self._claim(data) or self._choose()
        if fronts is None:
            transport.abort()
            return
        factory = fronts.binary if data[0] == _DAX else fronts.http
        if factory is None:
            log.warning(
                "%s spoke the DAX binary protocol on a port that has none: use the cluster's port",
                peer_of(transport),
            )
            transport.abort()
            return
        protocol = factory()
        fronts.connections.add(transport)
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        protocol.data_received(data)

    def _begin_tls(self, transport: asyncio.Transport, data: bytes) -> None:
        """Speak TLS from here on, and look at the first byte of what is inside."""
        if self._tls is None:
            log.warning(
                "%s began a TLS handshake, and this cluster has no certificate: use dax:// and http://, "
                "or start it with TLS",
                peer_of(transport),
            )
            transport.write(_NO_TLS_HERE)
            transport.close()
            return
        protocol = TlsProtocol(self._tls, lambda: _Sniffer(self._choose, self._claim, self._undecided))
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        protocol.data_received(data)


def peer_of(transport: asyncio.BaseTransport) -> str:
    """Who is at the other end, `host:port`."""
    peer = transport.get_extra_info("peername")
    return f"{peer[0]}:{peer[1]}" if isinstance(peer, tuple) else str(peer or "a client")


class Listener:
    """One listening socket. May be opened again after it was closed, on the same port."""

    def __init__(
        self,
        host: str,
        port: int,
        choose: ChooseFronts,
        claim: ClaimFronts = lambda _first_bytes: None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.host = host
        self.port = port
        self._choose = choose
        self._claim = claim
        self._tls = tls
        self._undecided = Connections()
        self._server: asyncio.AbstractServer | None = None

    async def open(self) -> None:
        """Listen. With port 0 the system chooses one, which `port` then tells. Raises CannotListen."""
        loop = asyncio.get_running_loop()
        try:
            server = await loop.create_server(
                lambda: _Sniffer(self._choose, self._claim, self._undecided, self._tls),
                self.host,
                self.port,
                backlog=1024,
            )
        except OSError as failure:
            if failure.errno == errno.EADDRINUSE:
                raise PortInUse(self.host, self.port) from None
            # Of a failed look-up `errno` is a code of its own, with a text of its own.
            reason = os.strerror(failure.errno) if failure.errno and failure.errno > 0 else failure.strerror
            text = f"cannot listen on port {self.port} of {self.host}: {reason}"
            raise CannotListen(self.host, self.port, text) from None
        self._server = server
        self.port = server.sockets[0].getsockname()[1]

    def close(self) -> None:
        """Accept nothing more, and break the connections that have not said anything yet."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self._undecided.abort()
