"""The answer of `endpoints`: the live nodes with their roles, at addresses that the asking client can reach.

Clients connect to what is listed here and never go on using the address by which they asked. So:

* A node that is configured with an address to advertise is listed with it.
* Otherwise with the address it listens on; and where that is no address to connect to (`0.0.0.0`, a name) or
  of another family than the asking connection, with the address of our end of that connection: Python clients
  drop every endpoint of another family than they asked on.
* Every listed node has all seven fields, and one of them is the leader (Python clients need one to start).
"""

from __future__ import annotations

import ipaddress
import zlib
from collections.abc import Sequence
from typing import Protocol

from dax.wire.binary import cbor

LEADER, REPLICA = 1, 2

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Member(Protocol):
    """A live node, as the directory lists it. `role` is "primary" or "replica"."""

    @property
    def node_id(self) -> str: ...
    @property
    def role(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...


class Directory(Protocol):
    """Who is alive, from the cluster."""

    def members(self) -> Sequence[Member]: ...


def endpoints(
    members: Sequence[Member], local: Address, advertise: Sequence[Address] = (), zone: str = "us-east-1a"
) -> bytes:
    """The result item. `local` is our end of the asking connection, `advertise` at most one address a
    family."""
    configured = next((address for address in advertise if address.version == local.version), None)
    leader = next((member.node_id for member in members if member.role == "primary"), "")
    session = zlib.crc32(leader.encode())
    return cbor.array(
        [
            _endpoint(position, member, configured or reachable(member.host, local), session, zone)
            for position, member in enumerate(members)
        ]
    )


def _endpoint(position: int, member: Member, address: Address, session: int, zone: str) -> bytes:
    digits = "".join(filter(str.isdigit, member.node_id))
    fields = (
        cbor.integer(int(digits) if digits else position + 1),
        cbor.text(member.node_id),
        cbor.blob(address.packed),
        cbor.integer(member.port),
        cbor.integer(LEADER if member.role == "primary" else REPLICA),
        cbor.text(zone),
        cbor.integer(session),
    )
    return cbor.mapping([(cbor.integer(key), field) for key, field in enumerate(fields)])


def reachable(host: str, local: Address) -> Address:
    """The address of a node that listens on `host`, for a client whose connection ends at `local`."""
    address = parse_address(host)
    if address is None or address.is_unspecified or address.version != local.version:
        return local
    return address


def parse_address(host: str) -> Address | None:
    """An address literal; None for a name. An IPv4 address mapped into IPv6 is the IPv4 address."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address
