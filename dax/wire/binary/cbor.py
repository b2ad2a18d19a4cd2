"""The CBOR dialect of the DAX protocol (RFC 8949, with the tags of `docs/dax-protocol.md`).

Rules of this file:

* Decoding is liberal: definite and indefinite forms, every float width, bignums, and maps with a repeated
  key, of which the last value wins (the Python client repeats one key in every conditional write).
* Decoding never guesses: bytes that end early are `Incomplete`, bytes that can never become an item
  `Malformed`.
* What a peer declares costs nothing before it has sent it: no allocation by a declared length, and a nesting
  deeper than `depth` levels is `Malformed`.
* Encoding is conservative: shortest heads, definite lengths, 64-bit floats only.

`decode` wants the whole item and is the fast path. `Scanner` finds the end of items that arrive in pieces; it
remembers where it stopped, so that a frame sent byte by byte costs time linear in its size.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

MAX_DEPTH = 64
"""Nesting of one data item: 32 levels of an item's documents, their containers, and room to spare."""

STRING_SET, NUMBER_SET, BINARY_SET, LIST_INDEX = 3321, 3322, 3323, 3324


class Incomplete(Exception):
    """The bytes end before the item does."""


class Malformed(Exception):
    """These bytes are not an item of the dialect, whatever follows them."""


class TooLarge(Malformed):
    """A message exceeds a limit, which says nothing about its form."""


class Tagged(NamedTuple):
    """An item under one of DAX's own tags: a set, or a list index inside a document path."""

    tag: int
    value: Any


class DecimalFraction(NamedTuple):
    """Tag 4: mantissa × 10^exponent, as sent. Not normalised."""

    exponent: int
    mantissa: int


# --- decoding -----------------------------------------------------------------------------------------------

_Decoder = Callable[[bytes, int, int], tuple[Any, int]]
_BREAK = 0xFF


def decode(data: bytes, position: int = 0, depth: int = MAX_DEPTH) -> tuple[Any, int]:
    """The item that starts at `position`, and the position behind it.

    Integers and bignums are int, strings str or bytes, arrays list, maps dict, floats float, tag 4 a
    `DecimalFraction`, tags 3321 to 3324 `Tagged`. Raises `Incomplete` or `Malformed`.
    """
    try:
        return _DECODERS[data[position]](data, position + 1, depth)
    except IndexError:
        raise Incomplete from None


def decode_whole(data: bytes, depth: int = MAX_DEPTH) -> Any:
    """The one item that `data` consists of. Raises `Malformed` when it is cut short or something follows
    it."""
    try:
        value, end = decode(data, 0, depth)
    except Incomplete:
        raise Malformed("a data item is cut short") from None
    if end != len(data):
        raise Malformed(f"{len(data) - end} bytes follow a data item")
    return value


def decode_run(data: bytes, depth: int = MAX_DEPTH) -> list[Any]:
    """The items that `data` is a run of, as in a blob. Raises `Malformed`."""
    items, position, end = [], 0, len(data)
    try:
        while position < end:
            value, position = decode(data, position, depth)
            items.append(value)
    except Incomplete:
        raise Malformed("a data item is cut short") from None
    return items


def _length(data: bytes, position: int, info: int) -> tuple[int, int]:
    """The argument of a head whose additional information is 24 to 27."""
    size = 1 << (info - 24)
    end = position + size
    if end > len(data):
        raise Incomplete
    return int.from_bytes(data[position:end], "big"), end


def _small_int(value: int) -> _Decoder:
    return lambda data, position, depth: (value, position)


def _long_int(info: int, negative: bool) -> _Decoder:
    def decode_int(data: bytes, position: int, depth: int) -> tuple[int, int]:
        value, position = _length(data, position, info)
        return (-1 - value if negative else value), position

    return decode_int


def _byte_string(info: int) -> _Decoder:
    def decode_bytes(data: bytes, position: int, depth: int) -> tuple[bytes, int]:
        size = info
        if info >= 24:
            size, position = _length(data, position, info)
        end = position + size
        if end > len(data):
            raise Incomplete
        return data[position:end], end

    return decode_bytes


def _text_string(info: int) -> _Decoder:
    def decode_text(data: bytes, position: int, depth: int) -> tuple[str, int]:
        size = info
        if info >= 24:
            size, position = _length(data, position, info)
        end = position + size
        if end > len(data):
            raise Incomplete
        try:
            return data[position:end].decode(), end
        except UnicodeDecodeError:
            raise Malformed("a text string is not UTF-8") from None

    return decode_text


def _array(info: int) -> _Decoder:
    def decode_array(data: bytes, position: int, depth: int) -> tuple[list[Any], int]:
        count = info
        if info >= 24:
            count, position = _length(data, position, info)
        if depth <= 0:
            raise Malformed("data items are nested too deeply")
        if count > len(data) - position:
            raise Incomplete
        items, decoders, depth = [], _DECODERS, depth - 1
        for _ in range(count):
            value, position = decoders[data[position]](data, position + 1, depth)
            items.append(value)
        return items, position

    return decode_array


def _map(info: int) -> _Decoder:
    def decode_map(data: bytes, position: int, depth: int) -> tuple[dict[Any, Any], int]:
        count = info
        if info >= 24:
            count, position = _length(data, position, info)
        if depth <= 0:
            raise Malformed("data items are nested too deeply")
        if count * 2 > len(data) - position:
            raise Incomplete
        pairs: dict[Any, Any] = {}
        decoders, depth = _DECODERS, depth - 1
        for _ in range(count):
            key, position = decoders[data[position]](data, position + 1, depth)
            value, position = decoders[data[position]](data, position + 1, depth)
            try:
                pairs[key] = value
            except TypeError:
                raise Malformed("a map has a container as a key") from None
        return pairs, position

    return decode_map


def _indefinite_array(data: bytes, position: int, depth: int) -> tuple[list[Any], int]:
    if depth <= 0:
        raise Malformed("data items are nested too deeply")
    items = []
    while data[position] != _BREAK:
        value, position = _DECODERS[data[position]](data, position + 1, depth - 1)
        items.append(value)
    return items, position + 1


def _indefinite_map(data: bytes, position: int, depth: int) -> tuple[dict[Any, Any], int]:
    if depth <= 0:
        raise Malformed("data items are nested too deeply")
    pairs: dict[Any, Any] = {}
    while data[position] != _BREAK:
        key, position = _DECODERS[data[position]](data, position + 1, depth - 1)
        value, position = _DECODERS[data[position]](data, position + 1, depth - 1)
        try:
            pairs[key] = value
        except TypeError:
            raise Malformed("a map has a container as a key") from None
    return pairs, position + 1


def _indefinite_string(kind: type[bytes] | type[str]) -> _Decoder:
    major = 2 if kind is bytes else 3

    def decode_chunks(data: bytes, position: int, depth: int) -> tuple[Any, int]:
        chunks = []
        while data[position] != _BREAK:
            if data[position] >> 5 != major or data[position] & 0x1F == 0x1F:
                raise Malformed("a string has a chunk of another kind")
            chunk, position = _DECODERS[data[position]](data, position + 1, depth)
            chunks.append(chunk)
        return kind().join(chunks), position + 1

    return decode_chunks


def _float(layout: str) -> _Decoder:
    size = struct.calcsize(layout)
    unpack = struct.Struct(layout).unpack_from

    def decode_float(data: bytes, position: int, depth: int) -> tuple[float, int]:
        end = position + size
        if end > len(data):
            raise Incomplete
        return unpack(data, position)[0], end

    return decode_float


def _constant(value: Any) -> _Decoder:
    return lambda data, position, depth: (value, position)


def _tag(info: int) -> _Decoder:
    def decode_tag(data: bytes, position: int, depth: int) -> tuple[Any, int]:
        tag = info
        if info >= 24:
            tag, position = _length(data, position, info)
        if depth <= 0:
            raise Malformed("data items are nested too deeply")
        value, position = _DECODERS[data[position]](data, position + 1, depth - 1)
        return _untag(tag, value), position

    return decode_tag


_MAX_BIGNUM_BYTES = 1024
"""Beyond any number that can be stored. Python takes its time for longer ones, and refuses to print them."""


def _untag(tag: int, value: Any) -> Any:
    kind = type(value)
    if tag in (2, 3) and kind is bytes:
        if len(value) > _MAX_BIGNUM_BYTES:
            raise Malformed("a number has more digits than any that DynamoDB takes")
        number = int.from_bytes(value, "big")
        return number if tag == 2 else -1 - number
    if tag == 4 and kind is list and len(value) == 2 and type(value[0]) is int and type(value[1]) is int:
        return DecimalFraction(value[0], value[1])
    if STRING_SET <= tag <= BINARY_SET and kind is list:
        return Tagged(tag, value)
    if tag == LIST_INDEX and kind is int:
        return Tagged(tag, value)
    raise Malformed(f"tag {tag} is not used here, or not on this kind of item")


def _refused(initial: int) -> _Decoder:
    def refuse(data: bytes, position: int, depth: int) -> tuple[Any, int]:
        raise Malformed(f"no data item starts with the byte {initial:#04x}")

    return refuse


def _decoder_of(initial: int) -> _Decoder:
    """The decoder of the items whose first byte is `initial`."""
    major, info = initial >> 5, initial & 0x1F
    if major < 2 and info < 24:
        return _small_int(info if major == 0 else -1 - info)
    if info < 28 and major < 7:
        if major < 2:
            return _long_int(info, negative=major == 1)
        return (_byte_string, _text_string, _array, _map, _tag)[major - 2](info)
    special: dict[int, _Decoder] = {
        0x5F: _indefinite_string(bytes),
        0x7F: _indefinite_string(str),
        0x9F: _indefinite_array,
        0xBF: _indefinite_map,
        0xF4: _constant(False),
        0xF5: _constant(True),
        0xF6: _constant(None),
        0xF9: _float(">e"),
        0xFA: _float(">f"),
        0xFB: _float(">d"),
    }
    return special.get(initial) or _refused(initial)


_DECODERS: tuple[_Decoder, ...] = tuple(_decoder_of(initial) for initial in range(256))


# --- finding the end ----------------------------------------------------------------------------------------

_OPEN = -1  # an indefinite container or string, on a scanner's stack


class Scanner:
    """Finds where `items` data items that start at `position` end, in a buffer that grows.

    `scan(buffer)` reads on from where it stopped and says whether all are complete; `position` is then the
    end. Bounds: at most `max_elements` items of any kind, `max_depth` nested, ending within `max_bytes` of
    the start. Raises `Malformed` as soon as one is exceeded, also by a length that is only declared.
    """

    def __init__(
        self, items: int, position: int, *, max_bytes: int, max_elements: int, max_depth: int = MAX_DEPTH
    ) -> None:
        self.position = position
        self._limit = position + max_bytes
        self._elements = max_elements
        self._max_depth = max_depth
        self._open = [items]

    def scan(self, buffer: bytes | bytearray) -> bool:
        stack, size = self._open, len(buffer)
        while stack:
            if stack[-1] == 0:
                stack.pop()
                continue
            if self.position >= size:
                return False
            initial = buffer[self.position]
            if initial == _BREAK:
                if stack[-1] != _OPEN:
                    raise Malformed("a break outside an indefinite item")
                stack.pop()
                self.position += 1
                continue
            if not self._step(buffer, initial, size):
                return False
        return True

    def _step(self, buffer: bytes | bytearray, initial: int, size: int) -> bool:
        """Take one head, with the content of a string. False, and nothing taken, when more bytes are
        needed."""
        major, info = initial >> 5, initial & 0x1F
        argument, body = info, self.position + 1
        if 24 <= info < 28:
            width = 1 << (info - 24)
            if body + width > size:
                return False
            argument = int.from_bytes(buffer[body : body + width], "big")
            body += width
        elif info >= 28 and initial not in (0x5F, 0x7F, 0x9F, 0xBF):
            raise Malformed(f"no data item starts with the byte {initial:#04x}")
        self._elements -= 1
        if self._elements < 0:
            raise TooLarge("a message has too many data items")
        children = 0
        if info == 31:
            children = _OPEN
        elif major in (2, 3):
            if body + argument > self._limit:
                raise TooLarge("a message is larger than the limit")
            if body + argument > size:
                return False
            body += argument
        elif major in (4, 5):
            children = argument * (major - 3)
            if body + children > self._limit:
                raise TooLarge("a message is larger than the limit")
        elif major == 6:
            children = 1
        if body > self._limit:
            raise TooLarge("a message is larger than the limit")
        if self._open[-1] != _OPEN:
            self._open[-1] -= 1
        if children:
            if len(self._open) > self._max_depth:
                raise Malformed("data items are nested too deeply")
            self._open.append(children)
        self.position = body
        return True


# --- encoding -----------------------------------------------------------------------------------------------

NULL, FALSE, TRUE = b"\xf6", b"\xf4", b"\xf5"
EMPTY_ARRAY, EMPTY_MAP = b"\x80", b"\xa0"
OPEN_ARRAY, OPEN_MAP, BREAK = b"\x9f", b"\xbf", b"\xff"

_pack_double = struct.Struct(">Bd").pack


def head(major: int, argument: int) -> bytes:
    """The shortest head of an item: its major type and its value, length or count."""
    first = major << 5
    if argument < 24:
        return bytes((first | argument,))
    if argument < 0x100:
        return bytes((first | 24, argument))
    if argument < 0x10000:
        return bytes((first | 25,)) + argument.to_bytes(2, "big")
    if argument < 0x1_0000_0000:
        return bytes((first | 26,)) + argument.to_bytes(4, "big")
    return bytes((first | 27,)) + argument.to_bytes(8, "big")


def integer(value: int) -> bytes:
    """An int where 64 bits are enough, else a bignum."""
    if value >= 0:
        if value >> 64:
            return b"\xc2" + blob(value.to_bytes((value.bit_length() + 7) // 8, "big"))
        return head(0, value)
    value = -1 - value
    if value >> 64:
        return b"\xc3" + blob(value.to_bytes((value.bit_length() + 7) // 8, "big"))
    return head(1, value)


def blob(content: bytes) -> bytes:
    """A byte string."""
    return head(2, len(content)) + content


def text(value: str) -> bytes:
    encoded = value.encode()
    return head(3, len(encoded)) + encoded


def boolean(value: bool) -> bytes:
    return TRUE if value else FALSE


def double(value: float) -> bytes:
    return _pack_double(0xFB, value)


def decimal_fraction(exponent: int, mantissa: int) -> bytes:
    """mantissa × 10^exponent under tag 4."""
    return b"\xc4\x82" + integer(exponent) + integer(mantissa)


def tagged(tag: int, content: bytes) -> bytes:
    return head(6, tag) + content


def array(items: Iterable[bytes]) -> bytes:
    """An array of items that are already encoded."""
    encoded = list(items)
    return head(4, len(encoded)) + b"".join(encoded)


def mapping(pairs: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A map of keys and values that are already encoded."""
    encoded = [key + value for key, value in pairs]
    return head(5, len(encoded)) + b"".join(encoded)


def open_mapping(pairs: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A map of the indefinite form, which clients expect in a few places."""
    return OPEN_MAP + b"".join([key + value for key, value in pairs]) + BREAK


def encode(value: Any) -> bytes:
    """Any value that `decode` can give, in the form this file sends. Raises `TypeError` for other objects."""
    if value is None:
        return NULL
    kind = type(value)
    if kind is bool:
        return boolean(value)
    if kind is int:
        return integer(value)
    if kind is str:
        return text(value)
    if kind is bytes:
        return blob(value)
    if kind is float:
        return double(value)
    if kind is list or kind is tuple:
        return array([encode(item) for item in value])
    if kind is dict:
        return mapping([(encode(key), encode(item)) for key, item in value.items()])
    if kind is Tagged:
        return tagged(value.tag, encode(value.value))
    if kind is DecimalFraction:
        return decimal_fraction(value.exponent, value.mantissa)
    raise TypeError(f"no encoding for {kind.__name__}")
