"""From the accesses of a trace to the DynamoDB requests that a replay sends.

Rules of this file:

* the same trace and options give the same requests, byte for byte: which read becomes a write is decided by a
  hash of the seed and the read's place, not by a generator's state;
* every key that the trace touches has an item in the store before the replay begins, so that a first read is
  a miss and not a negative entry;
* an item is as large as the trace says, or as the options say where it says nothing, by DynamoDB's rules.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from backend.model.sizes import MAX_ITEM_BYTES, item_size
from cluster.lab.workloads.addresses import Address, table_request
from cluster.lab.workloads.traces import Access, Key, Trace

_PAYLOAD = "data"


@dataclass(frozen=True)
class Shape:
    """How a trace is turned into requests.

    limit: stop after so many accesses; None for all.
    write_fraction, seed: that share of the reads, chosen by the seed, are sent as writes instead.
    reads_only: every access is sent as a read, as published miss ratios count them.
    item_size: bytes of an item whose size the trace does not tell.
    """

    limit: int | None = None
    write_fraction: float = 0.0
    seed: int = 0
    reads_only: bool = False
    item_size: int = 256

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise ValueError(f"limit must be 1 or more, not {self.limit}")
        if not 0 <= self.write_fraction <= 1:
            raise ValueError(f"write_fraction must be between 0 and 1, not {self.write_fraction}")
        if self.reads_only and self.write_fraction:
            raise ValueError("reads_only and write_fraction exclude each other")
        if not 1 <= self.item_size <= MAX_ITEM_BYTES:
            raise ValueError(f"item_size must be between 1 and {MAX_ITEM_BYTES} bytes, not {self.item_size}")


class TraceRequest(NamedTuple):
    """One DynamoDB request of a replay, and the trace's time of it where it has one."""

    operation: str
    request: dict[str, Any]
    time: float | None

    @property
    def is_read(self) -> bool:
        return self.operation == "GetItem"


@dataclass
class Survey:
    """What one pass over a trace found: how much there is to send, and which items must exist for it."""

    requests: int = 0
    sizes: dict[Key, int] = field(default_factory=dict)

    @property
    def keys(self) -> int:
        return len(self.sizes)


def survey(trace: Trace, shape: Shape) -> Survey:
    """Read the trace once. A key's item is as large as the first access that tells a size."""
    found = Survey()
    sizes = found.sizes
    for access in accesses(trace, shape):
        found.requests += 1
        if not sizes.get(access.key):
            sizes[access.key] = access.size or 0
    return found


def tables(trace: Trace, keys: Iterable[Key]) -> list[dict[str, Any]]:
    """The CreateTable requests for every table that the keys live in, by table name."""
    addresses: dict[str, Address] = {}
    for key in keys:
        address = trace.format.address(key)
        addresses.setdefault(address.table, address)
    return [table_request(addresses[name]) for name in sorted(addresses)]


def puts(trace: Trace, found: Survey, shape: Shape) -> Iterator[dict[str, Any]]:
    """The PutItem request of every key's item."""
    for key, size in found.sizes.items():
        yield _put(trace.format.address(key), size or shape.item_size)


def requests(trace: Trace, shape: Shape) -> Iterator[TraceRequest]:
    """The requests of a replay, in the order of the trace."""
    address_of = trace.format.address
    for access in accesses(trace, shape):
        address = address_of(access.key)
        if access.op == "get":
            body = {"TableName": address.table, "Key": address.key}
            yield TraceRequest("GetItem", body, access.time)
        elif access.op == "put":
            yield TraceRequest("PutItem", _put(address, access.size or shape.item_size), access.time)
        else:
            body = {"TableName": address.table, "Key": address.key}
            yield TraceRequest("DeleteItem", body, access.time)


def accesses(trace: Trace, shape: Shape) -> Iterator[Access]:
    """The accesses that a replay sends: those of the trace, cut and changed as the shape says."""
    taken = islice(trace, shape.limit)
    if shape.reads_only:
        return (access if access.op == "get" else access._replace(op="get") for access in taken)
    if shape.write_fraction:
        return _with_writes(taken, shape)
    return taken


def _with_writes(taken: Iterable[Access], shape: Shape) -> Iterator[Access]:
    threshold = round(shape.write_fraction * 2**64)
    for place, access in enumerate(taken):
        if access.op == "get":
            digest = hashlib.blake2b(b"%d/%d" % (shape.seed, place), digest_size=8).digest()
            if int.from_bytes(digest) < threshold:
                yield access._replace(op="put")
                continue
        yield access


def _put(address: Address, size: int) -> dict[str, Any]:
    bare = {**address.key, _PAYLOAD: {"S": ""}}
    padding = max(0, min(size, MAX_ITEM_BYTES) - item_size(bare))
    return {"TableName": address.table, "Item": {**address.key, _PAYLOAD: {"S": "x" * padding}}}
