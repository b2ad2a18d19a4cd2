"""The roster: what every client needs in it, and addresses that can be reached."""

from __future__ import annotations

from ipaddress import ip_address
from typing import NamedTuple

import pytest

from dax.wire.binary import cbor
from dax.wire.binary.endpoints import endpoints, parse_address, reachable


class Member(NamedTuple):
    node_id: str
    role: str
    host: str
    port: int


MEMBERS = [Member("node-1", "replica", "127.0.0.1", 8112), Member("node-2", "primary", "127.0.0.1", 8113)]
LOCAL = ip_address("127.0.0.1")


def test_every_node_has_all_seven_fields_and_no_other():
    roster = cbor.decode_whole(endpoints(MEMBERS, LOCAL))
    session = roster[0][6]
    assert roster == [
        {0: 1, 1: "node-1", 2: b"\x7f\x00\x00\x01", 3: 8112, 4: 2, 5: "us-east-1a", 6: session},
        {0: 2, 1: "node-2", 2: b"\x7f\x00\x00\x01", 3: 8113, 4: 1, 5: "us-east-1a", 6: session},
    ]


def test_the_session_changes_with_the_leader():
    other = [MEMBERS[0]._replace(role="primary"), MEMBERS[1]._replace(role="replica")]
    before, after = (cbor.decode_whole(endpoints(members, LOCAL))[0][6] for members in (MEMBERS, other))
    assert before != after


@pytest.mark.parametrize(
    ("host", "local", "expected"),
    [
        ("10.0.0.5", "10.0.0.1", "10.0.0.5"),
        ("0.0.0.0", "10.0.0.1", "10.0.0.1"),
        ("::", "::1", "::1"),
        ("localhost", "127.0.0.1", "127.0.0.1"),
        ("127.0.0.1", "::1", "::1"),
        ("::1", "::1", "::1"),
        ("::ffff:10.0.0.5", "10.0.0.1", "10.0.0.5"),
    ],
)
def test_an_address_of_the_family_of_the_asking_connection(host, local, expected):
    assert reachable(host, ip_address(local)) == ip_address(expected)


def test_a_configured_address_of_that_family_goes_first():
    advertise = (ip_address("192.0.2.9"), ip_address("2001:db8::9"))
    for local in ("127.0.0.1", "::1"):
        address = ip_address(local)
        roster = cbor.decode_whole(endpoints(MEMBERS, address, advertise))
        expected = next(each for each in advertise if each.version == address.version)
        assert {node[2] for node in roster} == {expected.packed}


def test_addresses():
    assert parse_address("localhost") is None
    assert parse_address("fe80::1%eth0") == ip_address("fe80::1")
