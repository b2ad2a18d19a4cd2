"""TLS between two protocols: against the standard library's own client side, in pieces, and without any
socket."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl

import pytest
from cryptography import x509

from cluster.runtime.certificates import (
    LOCAL_NAMES,
    ensure_certificate,
    make_certificate,
    server_context,
)
from cluster.runtime.tls import TlsProtocol

NOW = 1_800_000_000.0
DAY = 86_400.0


class Echo(asyncio.Protocol):
    """Answers each piece in capitals; `close` ends the connection."""

    def __init__(self):
        self.received, self.lost, self.ended = b"", False, False

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.received += data
        self.transport.write(data.upper())
        if data == b"close":
            self.transport.close()

    def eof_received(self):
        self.ended = True
        return False

    def connection_lost(self, exc):
        self.lost = True


class Transport(asyncio.Transport):
    def __init__(self):
        super().__init__()
        self.written, self.closed = b"", False

    def write(self, data):
        self.written += data

    def close(self):
        self.closed = True

    def is_closing(self):
        return self.closed

    def get_extra_info(self, name, default=None):
        return ("127.0.0.1", 1)


class Pair:
    """A server of ours and a client of the standard library, bytes carried by hand."""

    def __init__(self, files, name="localhost", piece=None):
        self.echo = Echo()
        self.protocol = TlsProtocol(server_context(*files), lambda: self.echo)
        self.transport = Transport()
        self.protocol.connection_made(self.transport)
        context = ssl.create_default_context(cafile=str(files[0]))
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.client = context.wrap_bio(self.incoming, self.outgoing, server_hostname=name)
        self.piece = piece

    def carry(self):
        data = self.outgoing.read()
        step = self.piece or len(data)
        for start in range(0, len(data), step or 1):
            self.protocol.data_received(data[start : start + step])
        written, self.transport.written = self.transport.written, b""
        self.incoming.write(written)
        return bool(data or written)

    def shake_hands(self):
        while True:
            try:
                self.client.do_handshake()
                break
            except ssl.SSLWantReadError:
                assert self.carry(), "the handshake does not go on"
        self.carry()

    def ask(self, data):
        self.client.write(data)
        self.carry()
        return self.client.read(1_000_000)


@pytest.fixture
def files(tmp_path):
    import time

    return ensure_certificate(tmp_path, ["cache.example"], time.time())


@pytest.mark.parametrize("piece", [None, 1, 7])
def test_what_goes_in_comes_out(files, piece):
    pair = Pair(files, piece=piece)
    pair.shake_hands()
    assert pair.ask(b"hello") == b"HELLO"
    assert pair.ask(b"again") == b"AGAIN"
    assert pair.echo.received == b"helloagain"


@pytest.mark.parametrize("name", [*LOCAL_NAMES, "cache.example"])
def test_the_names_of_a_made_certificate(files, name):
    Pair(files, name).shake_hands()


def test_another_name_is_refused_by_the_client_and_the_log_says_why(files, caplog):
    pair = Pair(files, "elsewhere.example")
    with pytest.raises(ssl.SSLCertVerificationError):
        pair.shake_hands()
    pair.carry()
    assert pair.transport.closed
    assert "refused the certificate" in caplog.text or "does not trust" in caplog.text


def test_what_is_no_tls(files, caplog):
    pair = Pair(files)
    pair.protocol.data_received(b"\x16\x03\x01garbage that is no handshake")
    assert pair.transport.closed
    assert "failed" in caplog.text


def test_both_ends_can_close(files):
    pair = Pair(files)
    pair.shake_hands()
    assert pair.ask(b"close") == b"CLOSE"
    assert pair.transport.closed
    other = Pair(files)
    other.shake_hands()
    with pytest.raises(ssl.SSLWantReadError):
        other.client.unwrap()
    other.carry()
    assert other.echo.ended
    assert other.transport.closed


def test_the_inner_protocol_hears_of_the_loss(files):
    pair = Pair(files)
    pair.shake_hands()
    pair.protocol.connection_lost(None)
    assert pair.echo.lost


def test_a_certificate_is_kept_until_it_does_not_serve_any_more(tmp_path):
    first = ensure_certificate(tmp_path, ["a.example"], NOW)
    content = first[0].read_bytes()
    assert ensure_certificate(tmp_path, [], NOW + DAY) == first
    assert first[0].read_bytes() == content
    assert first[1].stat().st_mode & 0o077 == 0
    ensure_certificate(tmp_path, ["b.example"], NOW + DAY)
    renamed = first[0].read_bytes()
    assert renamed != content
    ensure_certificate(tmp_path, ["b.example"], NOW + 820 * DAY)
    assert first[0].read_bytes() != renamed


def test_what_a_certificate_says():
    certificate = x509.load_pem_x509_certificate(make_certificate(["::1", "x.example", "x.example"], NOW)[0])
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.IPAddress) == [ipaddress.ip_address("::1")]
    assert names.get_values_for_type(x509.DNSName) == ["x.example"]
    assert certificate.not_valid_before_utc.timestamp() < NOW < certificate.not_valid_after_utc.timestamp()
