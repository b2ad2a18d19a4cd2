"""Primary and index keys: their schema, their checks, and their order-preserving byte encoding.

The rules of this file:

* The storage key of an item is `hash | length | partition | sort`: 8 bytes of hash of the partition bytes,
  their length in 2 bytes, the partition bytes, the sort bytes. One ordered map then scans a table in hash
  order, and every partition is one contiguous range in sort-key order.
* No storage key is a prefix of another. So the storage key of an index entry is the index key followed by the
  table's, in which the hash is that of the whole key: equal index keys are in the order of this hash.
* Partition and sort attributes may be several (global secondary indexes take up to four of each). One
  partition attribute is encoded raw; of several, each is terminated. Sort attributes always are.
* The hash is a function of the key alone: the same in every process, on every machine, in every run. It is
  the service's own, so that scans, segments and equal index keys come in its order.

Sources: "Primary key" and "Naming rules" of the DynamoDB developer guide; the hash from the scans that
dynalite's suite recorded on the service; the texts of the errors are the service's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import md5
from typing import Any

from backend.errors import ServiceError, validation_error
from backend.model.numbers import sortable
from backend.model.values import normalise, type_of
from backend.protocol import AttributeValue, Item

MAX_PARTITION_BYTES = 2048
MAX_SORT_BYTES = 1024
_SURELY_SHORT = MAX_SORT_BYTES // 4
"""So many characters or bytes fit any key: a character is at most four bytes."""
HASH_BYTES = 8
_LENGTH_BYTES = 2
_END = b"\x00\x00"
"""Behind each sort attribute, in which a zero byte is followed by a one."""
HASH_SPACE = 1 << (8 * HASH_BYTES)

_INVALID = "One or more parameter values were invalid: "
_NOT_VALID = "One or more parameter values are not valid. "
_LONG_PARTITION = (
    f"{_INVALID}Size of hashkey has exceeded the maximum size limit of{MAX_PARTITION_BYTES} bytes"
)
_LONG_SORT = (
    f"{_INVALID}Aggregated size of all range keys has exceeded the size limit of {MAX_SORT_BYTES} bytes"
)
_UPDATED = "The update expression attempted to update"


@dataclass(frozen=True, slots=True)
class KeyAttribute:
    """One attribute of a key: its name and its scalar type, `S`, `N` or `B`."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class KeySchema:
    """The key of a table or index: a partition attribute and perhaps a sort attribute, or more of each."""

    partition: KeyAttribute
    sort: KeyAttribute | None = None
    more_partition: tuple[KeyAttribute, ...] = ()
    more_sort: tuple[KeyAttribute, ...] = ()
    partition_attributes: tuple[KeyAttribute, ...] = field(init=False, repr=False, compare=False)
    sort_attributes: tuple[KeyAttribute, ...] = field(init=False, repr=False, compare=False)
    attributes: tuple[KeyAttribute, ...] = field(init=False, repr=False, compare=False)
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    is_multi_attribute: bool = field(init=False, repr=False, compare=False)
    """Whether it has more than one attribute of a kind, as only a global index may."""
    encode: Callable[[Item], bytes] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        partitions = (self.partition, *self.more_partition)
        sorts = (self.sort, *self.more_sort) if self.sort is not None else ()
        derive = object.__setattr__
        derive(self, "partition_attributes", partitions)
        derive(self, "sort_attributes", sorts)
        derive(self, "attributes", partitions + sorts)
        derive(self, "names", tuple(attribute.name for attribute in partitions + sorts))
        derive(self, "is_multi_attribute", len(partitions) > 1 or len(sorts) > 1)
        derive(self, "encode", _encoder(partitions, sorts))


def key_of(schema: KeySchema, item: Item) -> Item:
    """Only the key attributes of an item that has them all."""
    return {name: item[name] for name in schema.names}


def has_key(schema: KeySchema, item: Item) -> bool:
    """Whether an item has every attribute of an (index) key: of its type, not empty, not too long."""
    for attribute in schema.attributes:
        value = item.get(attribute.name)
        if value is None or not (content := value.get(attribute.type)):
            return False
        if len(content) > _SURELY_SHORT:
            limit = MAX_PARTITION_BYTES if attribute in schema.partition_attributes else MAX_SORT_BYTES
            if _too_long(attribute, value, limit):
                return False
    return True


def encode(schema: KeySchema, key: Item) -> bytes:
    """The storage key of a checked, canonical key, or of any item that holds it."""
    return schema.encode(key)


def partition_prefix(schema: KeySchema, key: Item) -> bytes:
    """What the storage keys of one partition, and of no other, begin with."""
    return _prefix(_partition_bytes(schema.partition_attributes, key))


def collection_of(storage_key: bytes) -> bytes:
    """The prefix of a storage key that its item collection shares: all items of its partition key."""
    length = int.from_bytes(storage_key[HASH_BYTES : HASH_BYTES + _LENGTH_BYTES], "big")
    return storage_key[: HASH_BYTES + _LENGTH_BYTES + length]


def index_tail(table_key: bytes) -> bytes:
    """What follows the index key in the storage key of an index entry, from the storage key of its item."""
    collection = collection_of(table_key)
    if len(collection) == len(table_key):
        return table_key
    sort = table_key[len(collection) : -len(_END)].replace(b"\x00\x01", b"\x00")
    return _hash(collection[HASH_BYTES + _LENGTH_BYTES :] + sort) + table_key[HASH_BYTES:]


def segment_bounds(segment: int, total: int) -> tuple[bytes, bytes | None]:
    """First storage key of a parallel scan's segment, and the one it ends before; None: no end."""
    start = -(-HASH_SPACE * segment // total)
    stop = -(-HASH_SPACE * (segment + 1) // total)
    return start.to_bytes(HASH_BYTES, "big"), None if stop >= HASH_SPACE else stop.to_bytes(HASH_BYTES, "big")


def scalar_bytes(attribute: KeyAttribute, value: AttributeValue) -> bytes:
    """The order-preserving bytes of one canonical key value."""
    return _TO_BYTES[attribute.type](value[attribute.type])


_TO_BYTES: dict[str, Callable[[Any], bytes]] = {"S": str.encode, "N": sortable, "B": bytes}


def escaped(raw: bytes) -> bytes:
    """Sort bytes without their end: what all sort keys that begin with `raw` begin with."""
    return raw.replace(b"\x00", b"\x00\x01") if b"\x00" in raw else raw


def terminated(raw: bytes) -> bytes:
    """Sort bytes of one attribute: ordered as `raw` is, and no prefix of another's."""
    return escaped(raw) + _END


def successor(prefix: bytes) -> bytes | None:
    """The first byte string behind all that begin with `prefix`; None when there is none."""
    stripped = prefix.rstrip(b"\xff")
    if not stripped:
        return None
    return stripped[:-1] + bytes((stripped[-1] + 1,))


def _prefix(partition: bytes) -> bytes:
    length = len(partition).to_bytes(_LENGTH_BYTES, "big")
    return _hash(partition) + length + partition


_SALTED = md5(b"Outliers", usedforsecurity=False)


def _hash(key: bytes) -> bytes:
    hasher = _SALTED.copy()
    hasher.update(key)
    return hasher.digest()[:HASH_BYTES]


def _partition_bytes(attributes: tuple[KeyAttribute, ...], key: Item) -> bytes:
    if len(attributes) == 1:
        return scalar_bytes(attributes[0], key[attributes[0].name])
    return b"".join(terminated(scalar_bytes(attribute, key[attribute.name])) for attribute in attributes)


def _encoder(
    partitions: tuple[KeyAttribute, ...], sorts: tuple[KeyAttribute, ...]
) -> Callable[[Item], bytes]:
    """The encoding of one schema, specialised for the table that is keyed by strings."""
    if len(partitions) == 1 and partitions[0].type == "S" and len(sorts) <= 1:
        partition_name = partitions[0].name
        if not sorts:

            def encode_partition(key: Item) -> bytes:
                return _prefix(key[partition_name]["S"].encode())

            return encode_partition
        sort_name, sort_type = sorts[0].name, sorts[0].type
        to_bytes = _TO_BYTES[sort_type]

        def encode_pair(key: Item) -> bytes:
            sort = to_bytes(key[sort_name][sort_type])
            if b"\x00" in sort:
                sort = escaped(sort)
            return _prefix(key[partition_name]["S"].encode()) + sort + _END

        return encode_pair

    def encode_any(key: Item) -> bytes:
        sort_bytes = b"".join(terminated(scalar_bytes(sort, key[sort.name])) for sort in sorts)
        return _prefix(_partition_bytes(partitions, key)) + sort_bytes

    return encode_any


def check_key(schema: KeySchema, key: Item) -> Item:
    """A key as a request gave it, canonical.

    Raises ValidationException when its members are not exactly the schema's, of their types, non-empty and
    short enough (2048 bytes for a partition key, 1024 for a sort key).
    """
    names = schema.names
    if len(key) != len(names):
        raise key_mismatch()
    clean: dict[str, AttributeValue] = {}
    for attribute in schema.attributes:
        value = key.get(attribute.name)
        if value is None:
            raise key_mismatch()
        # The common string needs no look at its other possible datatypes.
        if value.__class__ is not dict or len(value) != 1 or value.get("S").__class__ is not str:
            value = normalise(value)
        if attribute.type not in value:
            raise key_mismatch()
        clean[attribute.name] = value
    _check_contents(schema, clean)
    return clean


def key_mismatch() -> ServiceError:
    """The refusal of a key whose members are not the schema's."""
    return validation_error("The provided key element does not match the schema")


def check_item(schema: KeySchema, item: Item) -> None:
    """Refuse a canonical item with a key attribute that is absent, of a wrong type, empty or too long."""
    for attribute in schema.attributes:
        value = item.get(attribute.name)
        if value is None:
            raise validation_error(f"{_INVALID}Missing the key {attribute.name} in the item")
        if attribute.type not in value:
            raise validation_error(
                f"{_INVALID}Type mismatch for key {attribute.name} "
                f"expected: {attribute.type} actual: {type_of(value)}"
            )
    _check_contents(schema, item)


def _check_contents(schema: KeySchema, key: Item) -> None:
    for attribute in schema.attributes:
        if not key[attribute.name][attribute.type]:
            kind = "string" if attribute.type == "S" else "binary"
            raise validation_error(
                f"{_NOT_VALID}The AttributeValue for a key attribute cannot contain an empty {kind} value. "
                f"Key: {attribute.name}"
            )
    for attribute in schema.partition_attributes:
        if _too_long(attribute, key[attribute.name], MAX_PARTITION_BYTES):
            raise validation_error(_LONG_PARTITION)
    for attribute in schema.sort_attributes:
        if _too_long(attribute, key[attribute.name], MAX_SORT_BYTES):
            raise validation_error(_LONG_SORT)


def _too_long(attribute: KeyAttribute, value: AttributeValue, limit: int) -> bool:
    content = value[attribute.type]
    if attribute.type == "S":
        # A character is at most four bytes: short strings need no encoding to be known short.
        return len(content) * 4 > limit and len(content.encode()) > limit
    return attribute.type == "B" and len(content) > limit


def check_index_attributes(schema: KeySchema, index_name: str, item: Item, *, update: bool = False) -> None:
    """Refuse a canonical item with an index key attribute that is of a wrong type, empty or too long.

    An absent attribute is fine: the item is then not in the index. An update words its refusals
    differently.
    """
    for attribute in schema.attributes:
        value = item.get(attribute.name)
        if value is None:
            continue
        if attribute.type not in value:
            if update:
                raise validation_error(f"{_UPDATED} the secondary index key to unsupported type")
            raise validation_error(
                f"{_INVALID}Type mismatch for Index Key {attribute.name} Expected: {attribute.type} "
                f"Actual: {type_of(value)} IndexName: {index_name}"
            )
        if not value[attribute.type]:
            raise _empty_index_key(attribute, index_name, update)
        limit, text = (
            (MAX_SORT_BYTES, _LONG_SORT)
            if attribute in schema.sort_attributes
            else (MAX_PARTITION_BYTES, _LONG_PARTITION)
        )
        if _too_long(attribute, value, limit):
            long_update = f"{_UPDATED} the secondary index key beyond allowed size limits"
            raise validation_error(long_update if update else text)


def _empty_index_key(attribute: KeyAttribute, index_name: str, update: bool) -> ServiceError:
    kind = "string" if attribute.type == "S" else "binary"
    empty = f"The AttributeValue for a key attribute cannot contain an empty {kind} value."
    if update:
        return validation_error(
            f"{_NOT_VALID}{_UPDATED} a secondary index key to a value that is not supported. {empty}"
        )
    return validation_error(
        f"{_NOT_VALID}A value specified for a secondary index key is not supported. {empty} "
        f"IndexName: {index_name}, IndexKey: {attribute.name}"
    )
