"""Where a trace's key lives in DynamoDB: its table and primary key.

The web shop's traces (cache2k) pack three numbers into one: bits 27-31 are the object's type, 10-26 its id,
0-9 an index within it. That is a table, a partition key and a sort key. Any other key is a partition key of
one table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from backend.protocol import Item


class Address(NamedTuple):
    """A table and the primary key of an item in it, typed."""

    table: str
    key: Item


def cache2k_address(key: int | str) -> Address:
    """A key of the orm and web traces: table `trace-type-<type>`, numbers `pk` (id) and `sk` (index)."""
    bits = int(key) & 0xFFFF_FFFF
    kind, identity, index = bits >> 27, (bits >> 10) & 0x1FFFF, bits & 0x3FF
    return Address(f"trace-type-{kind:02}", {"pk": {"N": str(identity)}, "sk": {"N": str(index)}})


def key_address(key: int | str) -> Address:
    """The address of any other key: table `trace`, `pk` = the key as a string."""
    return Address("trace", {"pk": {"S": str(key)}})


def table_request(address: Address) -> dict[str, Any]:
    """The CreateTable request for the table of an address."""
    names = list(address.key)
    return {
        "TableName": address.table,
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": next(iter(value))} for name, value in address.key.items()
        ],
        "KeySchema": [
            {"AttributeName": name, "KeyType": kind}
            for name, kind in zip(names, ("HASH", "RANGE"), strict=False)
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }
