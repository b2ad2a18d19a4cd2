"""The optional parameters of an operation: the map with int keys that is the last argument of each.

A repeated key counts with its last value. The Python client sends the raw text of a condition and then its
tree under one key, and repeats the caller's placeholders (1 and 5), which the trees have replaced already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any

from dax.wire.binary.cbor import Malformed


class Parameter(IntEnum):
    """The keys of the map."""

    PROJECTION = 0
    NAMES = 1
    CONSISTENT_READ = 2
    RETURN_CAPACITY = 3
    CONDITION = 4
    VALUES = 5
    RETURN_METRICS = 6
    RETURN_VALUES = 7
    UPDATE = 8
    START_KEY = 9
    FILTER = 10
    INDEX = 11
    LIMIT = 13
    SCAN_FORWARD = 14
    SELECT = 15
    SEGMENT = 16
    TOTAL_SEGMENTS = 17
    CLIENT_TOKEN = 19


P = Parameter
_READ = frozenset({P.PROJECTION, P.CONSISTENT_READ, P.RETURN_CAPACITY})
_WRITE = frozenset({P.RETURN_CAPACITY, P.RETURN_METRICS, P.CONDITION, P.RETURN_VALUES})
_PAGE = _READ | {P.START_KEY, P.FILTER, P.INDEX, P.LIMIT, P.SELECT}

ACCEPTED: Mapping[str, frozenset[Parameter]] = {
    "GetItem": _READ,
    "PutItem": _WRITE,
    "DeleteItem": _WRITE,
    "UpdateItem": _WRITE | {P.UPDATE},
    "Query": _PAGE | {P.SCAN_FORWARD},
    "Scan": _PAGE | {P.SEGMENT, P.TOTAL_SEGMENTS},
    "BatchGetItem": frozenset({P.RETURN_CAPACITY}),
    "BatchWriteItem": frozenset({P.RETURN_CAPACITY, P.RETURN_METRICS}),
    "TransactGetItems": frozenset({P.RETURN_CAPACITY}),
    "TransactWriteItems": frozenset({P.RETURN_CAPACITY, P.RETURN_METRICS, P.CLIENT_TOKEN}),
}
_SUPERSEDED = frozenset({P.NAMES, P.VALUES})

RETURN_CAPACITY = ("NONE", "TOTAL", "INDEXES")
RETURN_METRICS = ("NONE", "SIZE")
RETURN_VALUES = (None, "NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW")
ALL_ATTRIBUTES = 1
SELECT = (None, "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "COUNT", "SPECIFIC_ATTRIBUTES")


def parameters(operation: str, kwargs: Any) -> dict[int, Any]:
    """The parameters sent, by key, without those that the trees supersede.

    Raises `Malformed` for what is no such map and for a parameter that the operation does not take.
    """
    if kwargs is None:
        return {}
    if type(kwargs) is not dict:
        raise Malformed("the optional parameters are neither null nor a map")
    accepted = ACCEPTED[operation]
    given = {}
    for key, value in kwargs.items():
        if key in accepted:
            given[key] = value
        elif key not in _SUPERSEDED:
            raise Malformed(f"{operation} has no optional parameter {key!r}")
    return given


def simple(given: Mapping[int, Any]) -> dict[str, Any]:
    """The members of a request for the parameters that need nothing but themselves to be understood."""
    request: dict[str, Any] = {}
    for key, value in given.items():
        simple_parameter = _SIMPLE.get(key)
        if simple_parameter is not None:
            member, convert = simple_parameter
            request[member] = convert(value)
    return request


def _choice(names: tuple[str | None, ...]) -> Callable[[Any], str]:
    def choose(value: Any) -> str:
        if type(value) is int and 0 <= value < len(names):
            name = names[value]
            if name is not None:
                return name
        raise Malformed(f"an enumeration has no member {value!r}")

    return choose


def flag(value: Any) -> bool:
    """A boolean, which some parameters send as 0 or 1."""
    if value is True or value is False or (type(value) is int and value in (0, 1)):
        return bool(value)
    raise Malformed(f"a flag is neither true nor false: {value!r}")


def _int(value: Any) -> int:
    if type(value) is not int:
        raise Malformed(f"a whole number is expected: {value!r}")
    return value


def utf8(value: Any) -> str:
    """A name that travels as bytes (tables, indexes) or text."""
    if type(value) is str:
        return value
    if type(value) is not bytes:
        raise Malformed("a name is neither bytes nor text")
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Malformed("a name is not UTF-8") from None


_SIMPLE: Mapping[int, tuple[str, Callable[[Any], Any]]] = {
    P.CONSISTENT_READ: ("ConsistentRead", flag),
    P.RETURN_CAPACITY: ("ReturnConsumedCapacity", _choice(RETURN_CAPACITY)),
    P.RETURN_METRICS: ("ReturnItemCollectionMetrics", _choice(RETURN_METRICS)),
    P.RETURN_VALUES: ("ReturnValues", _choice(RETURN_VALUES)),
    P.INDEX: ("IndexName", utf8),
    P.LIMIT: ("Limit", _int),
    P.SCAN_FORWARD: ("ScanIndexForward", flag),
    P.SELECT: ("Select", _choice(SELECT)),
    P.SEGMENT: ("Segment", _int),
    P.TOTAL_SEGMENTS: ("TotalSegments", _int),
    P.CLIENT_TOKEN: ("ClientRequestToken", utf8),
}
