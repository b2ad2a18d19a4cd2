"""The certificate of a cluster's TLS port: made here, or given.

One certificate serves every node. A DAX client checks each node's against the host that it was given for
discovery, also when it connects to the address of a node; so that host has to be among the names, as a DNS
name or an address.

A made certificate is its own authority: a client trusts the cluster by trusting this one file
(`SSL_CERT_FILE` for Python, `NODE_EXTRA_CA_CERTS` for Node.js). It is valid for 825 days, the most that some
platforms accept.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
CERTIFICATE_FILE, KEY_FILE = "daxsim-cert.pem", "daxsim-key.pem"

_VALID_FOR = timedelta(days=825)
_RENEW_BEFORE = timedelta(days=30)


def make_certificate(names: Iterable[str], now: float) -> tuple[bytes, bytes]:
    """A certificate for `names` (host names and addresses) and its key, both as PEM. `now`: epoch seconds."""
    wanted = [*dict.fromkeys(names)]
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "daxsim local cluster")])
    start = datetime.fromtimestamp(now, UTC) - timedelta(days=1)
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + _VALID_FOR)
        .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in wanted]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    return (
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def ensure_certificate(directory: Path, names: Iterable[str], now: float) -> tuple[Path, Path]:
    """The certificate and key files in `directory`, made anew when absent, about to expire or short of a
    name."""
    certificate_file, key_file = directory / CERTIFICATE_FILE, directory / KEY_FILE
    wanted = [*dict.fromkeys((*LOCAL_NAMES, *names))]
    if certificate_file.exists() and key_file.exists():
        certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
        if _serves(certificate, wanted, datetime.fromtimestamp(now, UTC)):
            return certificate_file, key_file
    directory.mkdir(parents=True, exist_ok=True)
    certificate_pem, key_pem = make_certificate(wanted, now)
    descriptor = os.open(key_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(key_pem)
    certificate_file.write_bytes(certificate_pem)
    return certificate_file, key_file


def _serves(certificate: x509.Certificate, names: Iterable[str], now: datetime) -> bool:
    alternatives = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    present = set(alternatives)
    return certificate.not_valid_after_utc - now > _RENEW_BEFORE and all(
        _general_name(name) in present for name in names
    )


def server_context(certificate_file: Path, key_file: Path) -> ssl.SSLContext:
    """TLS for a server with that certificate. Raises `OSError` or `ssl.SSLError` for files that cannot be
    used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate_file, key_file)
    return context
