"""Signatures: one that a client made, those that we make, and every way to be refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from backend.errors import ServiceError
from dax.wire.binary import sigv4
from dax.wire.binary.connection import Connection
from dax.wire.binary.events import Greeting
from dax.wire.binary.state import Role

CREDENTIALS = {"AKIDEXAMPLE": "secret"}
NOW = datetime(2026, 11, 30, 23, 14, 30, tzinfo=UTC).timestamp()


@pytest.fixture
def captured(captures):
    connection = Connection(Role.SERVER)
    connection.receive_data(Connection(Role.CLIENT).send(Greeting()) + captures[3].client)
    connection.next_event()
    return connection.next_event()


def test_the_signature_of_a_javascript_client(captured):
    sigv4.verify(captured, CREDENTIALS, NOW)


def test_our_own():
    sigv4.verify(sigv4.authorize("AKIDEXAMPLE", "secret", NOW, region="eu-west-1"), CREDENTIALS, NOW)


@pytest.mark.parametrize(
    ("change", "credentials", "late", "code", "message"),
    [
        ({"access_key": "OTHER"}, CREDENTIALS, 0, "UnrecognizedClientException", "security token"),
        ({}, {"AKIDEXAMPLE": "wrong"}, 0, "InvalidSignatureException", "does not match"),
        ({"signature": "0" * 64}, CREDENTIALS, 0, "InvalidSignatureException", "does not match"),
        ({"signature": "ü"}, CREDENTIALS, 0, "InvalidSignatureException", "does not match"),
        ({}, CREDENTIALS, 950, "InvalidSignatureException", "not current"),
        ({}, CREDENTIALS, -950, "InvalidSignatureException", "not current"),
        ({"string_to_sign": b"x"}, CREDENTIALS, 0, "InvalidSignatureException", "not of Signature"),
        ({"string_to_sign": b"\xff"}, CREDENTIALS, 0, "InvalidSignatureException", "not of Signature"),
    ],
)
def test_refusals(captured, change, credentials, late, code, message):
    with pytest.raises(ServiceError, match=message) as refused:
        sigv4.verify(replace(captured, **change), credentials, NOW + late)
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"/dax/", b"/dynamodb/", "correct service"),
        (b"20261130/", b"20261129/", "Date in Credential scope"),
        (b"AWS4-HMAC-SHA256", b"AWS4-HMAC-SHA1", "not of Signature"),
        (b"aws4_request", b"aws3_request", "not of Signature"),
    ],
)
def test_other_scopes(captured, old, new, message):
    changed = replace(captured, string_to_sign=captured.string_to_sign.replace(old, new))
    with pytest.raises(ServiceError, match=message):
        sigv4.verify(changed, CREDENTIALS, NOW)
