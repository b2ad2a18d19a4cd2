"""Type checks: from parsed JSON to a request, or a SerializationException in the service's words.

Rules:

* Every decoder returns its argument when nothing had to change; it never changes its argument.
* Unknown members and members that are null are dropped. A null inside a list or a map stays, for the
  constraint checks to name; a null attribute value becomes `{}`, which the attribute value rules refuse.
* Blobs arrive as base64 text and become bytes.

The whole request is type-checked before anything else is said about it.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Mapping
from math import floor, isfinite
from typing import Any

from backend.errors import ServiceError, serialization_error, validation_error
from backend.model.values import texts_of
from backend.validation.model import Model

Decoder = Callable[[Any], Any]

_NAMESPACE = "com.amazonaws.dynamodb.v20120810."
_UNEXPECTED_FIELD = "Unexpected field type"
_UNEXPECTED_ELEMENT = "Unexpected value type in payload"
_UNEXPECTED_OBJECT = "Start of structure or map found where not expected"
# A list or map as the value of a map or as the element of a list trips over Java's generics instead.
_UNEXPECTED_GENERIC = (
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class "
    "java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are "
    "in module java.base of loader 'bootstrap')"
)
_TRUE, _FALSE = frozenset({"TRUE", "1", "YES"}), frozenset({"FALSE", "0", "NO"})
_INTEGER_BITS = {"integer": ("Integer", 31), "long": ("Long", 63)}

# Values nest at most 32 levels, which the attribute value rules say in their turn. This bound only keeps
# recursion finite: what is deeper is read as a value without a datatype.
_MAX_DEPTH = 64


def _token_of(value: Any) -> str:
    """A scalar as the service's JSON parser names it."""
    if value is True:
        return "TRUE_VALUE"
    if value is False:
        return "FALSE_VALUE"
    if type(value) is float:
        return "DECIMAL_VALUE"
    return "NUMBER_VALUE" if type(value) is int else "STRING_VALUE"


def _refuse_scalar(value: Any, java: str) -> ServiceError:
    """The error for a value that is not what a scalar of Java class `java` is read from."""
    if isinstance(value, (list, tuple)):
        return serialization_error(f"Unrecognized collection type class java.lang.{java}")
    if isinstance(value, Mapping):
        return serialization_error(_UNEXPECTED_OBJECT)
    return serialization_error(f"{_token_of(value)} cannot be converted to {java}")


def decode_string(value: Any) -> Any:
    if type(value) is str:
        return value
    raise _refuse_scalar(value, "String")


def decode_boolean(value: Any) -> Any:
    if value is True or value is False:
        return value
    if type(value) is str:
        word = value.upper()
        if word in _TRUE or word in _FALSE:
            return word in _TRUE
        raise serialization_error("Unexpected token received from parser")
    raise _refuse_scalar(value, "Boolean")


def integer_decoder(kind: str) -> Decoder:
    """`integer` (32 bits) or `long` (64 bits). A fraction is cut off, as the service does."""
    java, bits = _INTEGER_BITS[kind]
    low, high = -(1 << bits), (1 << bits) - 1

    def decode(value: Any) -> Any:
        if type(value) is float and isfinite(value):
            value = floor(value)
        if type(value) is int:
            if low <= value <= high:
                return value
            raise serialization_error(f"NUMBER_VALUE cannot be converted to {java}")
        raise _refuse_scalar(value, java)

    return decode


def decode_double(value: Any) -> Any:
    if type(value) in (int, float):
        return value
    raise _refuse_scalar(value, "Double")


def _refuse_blob(value: Any) -> ServiceError:
    if isinstance(value, (list, tuple)):
        return serialization_error("Unrecognized collection type class java.nio.ByteBuffer")
    if isinstance(value, Mapping):
        return serialization_error(_UNEXPECTED_OBJECT)
    return serialization_error("only base-64-encoded strings are convertible to bytes")


def decode_base64(value: Any) -> bytes:
    """Strict base64: padded, of the standard alphabet, no stray bits behind the last byte."""
    if type(value) is not str:
        raise _refuse_blob(value)
    if len(value) % 4:
        raise serialization_error(
            f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(value)}"
        )
    try:
        content = binascii.a2b_base64(value, strict_mode=True)
    except ValueError:
        content = None
    # a2b_base64 accepts non-zero bits after the last byte, so compare with what would have been written.
    if content is None or binascii.b2a_base64(content, newline=False).decode() != value:
        raise serialization_error("Invalid last non-pad Base64 character dectected")
    return content


def list_decoder(element: Decoder, *, nested: bool = False) -> Decoder:
    unexpected = _UNEXPECTED_GENERIC if nested else _UNEXPECTED_FIELD

    def decode(value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            raise serialization_error(_UNEXPECTED_OBJECT if isinstance(value, Mapping) else unexpected)
        return [None if one is None else element(one) for one in value]

    return decode


def map_decoder(element: Decoder, java: str, *, nested: bool = False) -> Decoder:
    """`java` names the class of the map's values in the message for an array."""
    unexpected = _UNEXPECTED_GENERIC if nested else _UNEXPECTED_FIELD

    def decode(value: Any) -> Any:
        if type(value) is not dict:
            raise _refuse_map(value, java, unexpected)
        return {key: None if one is None else element(one) for key, one in value.items()}

    return decode


def _refuse_map(value: Any, java: str, unexpected: str) -> ServiceError:
    if isinstance(value, (list, tuple)):
        return serialization_error(f"Unrecognized collection type java.util.Map<java.lang.String, {java}>")
    return serialization_error(unexpected)


def structure_decoder(name: str, members: Mapping[str, Decoder], *, nested: bool = False) -> Decoder:
    unexpected = _UNEXPECTED_ELEMENT if nested else _UNEXPECTED_FIELD

    def decode(value: Any) -> Any:
        if type(value) is not dict:
            raise _refuse_structure(value, name, unexpected)
        decoded = {}
        for member, content in value.items():
            decoder = members.get(member)
            if decoder is not None and content is not None:
                decoded[member] = decoder(content)
        return decoded

    return decode


def _refuse_structure(value: Any, name: str, unexpected: str) -> ServiceError:
    if isinstance(value, (list, tuple)):
        return serialization_error(f"Unrecognized collection type class {_NAMESPACE}{name}")
    return serialization_error(unexpected)


class AttributeValues:
    """Decoders of attribute values, by hand rather than from the model: they are most of every request."""

    def __init__(self) -> None:
        self._decoders: Mapping[str, Callable[[Any, int], Any]] = {
            "S": lambda content, depth: decode_string(content),
            "N": lambda content, depth: decode_string(content),
            "B": lambda content, depth: decode_base64(content),
            "BOOL": lambda content, depth: decode_boolean(content),
            "NULL": lambda content, depth: decode_boolean(content),
            "SS": self._set_decoder(decode_string, "string"),
            "NS": self._set_decoder(decode_string, "number"),
            "BS": self._set_decoder(decode_base64, "binary"),
            "L": self._list,
            "M": self._map,
        }

    def field(self, value: Any) -> Any:
        """An attribute value as a member of a structure."""
        return self._value(value, 1, _UNEXPECTED_FIELD)

    def element(self, value: Any) -> Any:
        """An attribute value in a list or a map."""
        return self._value(value, 1, _UNEXPECTED_ELEMENT)

    def items(self, value: Any) -> Any:
        """A map from attribute name to attribute value, as a member of a structure."""
        return self._map(value, 0)

    def nested_items(self, value: Any) -> Any:
        """Such a map as the element of a list."""
        if not isinstance(value, (dict, list, tuple)):
            raise serialization_error(_UNEXPECTED_GENERIC)
        return self._map(value, 0)

    def _value(self, value: Any, depth: int, unexpected: str) -> Any:
        if type(value) is not dict:
            if value is None:
                return {}
            raise _refuse_structure(value, "AttributeValue", unexpected)
        if depth > _MAX_DEPTH:
            return {}
        decoded = None
        for kind, content in value.items():
            decoder = self._decoders.get(kind)
            new = None if decoder is None or content is None else decoder(content, depth)
            if new is not content:
                decoded = dict(value) if decoded is None else decoded
                decoded[kind] = new
        if decoded is None:
            return value
        return {kind: content for kind, content in decoded.items() if content is not None}

    def _map(self, value: Any, depth: int) -> Any:
        if type(value) is not dict:
            raise _refuse_map(value, f"{_NAMESPACE}AttributeValue", _UNEXPECTED_FIELD)
        decoded = None
        for name, one in value.items():
            if type(one) is dict and len(one) == 1 and type(one.get("S")) is str:
                continue
            new = self._value(one, depth + 1, _UNEXPECTED_ELEMENT)
            if new is not one:
                decoded = dict(value) if decoded is None else decoded
                decoded[name] = new
        return value if decoded is None else decoded

    def _list(self, value: Any, depth: int) -> Any:
        if not isinstance(value, (list, tuple)):
            raise serialization_error(_UNEXPECTED_OBJECT if isinstance(value, Mapping) else _UNEXPECTED_FIELD)
        if texts_of(value) is not None:
            return value
        decoded = [self._value(one, depth + 1, _UNEXPECTED_ELEMENT) for one in value]
        return decoded if any(new is not old for new, old in zip(decoded, value, strict=True)) else value

    @staticmethod
    def _set_decoder(element: Decoder, word: str) -> Callable[[Any, int], Any]:
        members = list_decoder(element)
        is_text = element is decode_string

        def decode(value: Any, _depth: int) -> Any:
            if is_text and type(value) is list and all(type(one) is str for one in value):
                return value
            decoded = members(value)
            if None in decoded:
                raise validation_error(
                    f"One or more parameter values were invalid: An {word} set may not have "
                    f"a null {word} as a member"
                )
            return decoded

        return decode


class DecoderCompiler:
    """Builds the decoder of any shape of a model; each structure is built once, recursive ones included."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._values = AttributeValues()
        self._structures: dict[tuple[str, bool], Decoder] = {}

    def structure(self, name: str) -> Decoder:
        """The decoder of a request or response; the empty name takes any object and gives `{}`."""
        return self._compile(name, nested=False) if name else structure_decoder("", {})

    def member(self, name: str) -> Decoder:
        """The decoder of a shape as a member of a structure."""
        return self._compile(name, nested=False)

    def _compile(self, name: str, *, nested: bool) -> Decoder:
        shape = self._model.shape(name)
        kind = shape["type"]
        if name == "AttributeValue":
            return self._values.element if nested else self._values.field
        if kind == "structure":
            return self._structure(name, nested=nested)
        if kind == "list":
            return list_decoder(self._compile(shape["member"]["shape"], nested=True), nested=nested)
        if kind == "map":
            return self._map(shape["value"]["shape"], nested=nested)
        if kind in _INTEGER_BITS:
            return integer_decoder(kind)
        scalars: Mapping[str, Decoder] = {
            "string": decode_string,
            "boolean": decode_boolean,
            "blob": decode_base64,
            "double": decode_double,
            "float": decode_double,
            "timestamp": decode_double,
        }
        return scalars[kind]

    def _structure(self, name: str, *, nested: bool) -> Decoder:
        known = self._structures.get((name, nested))
        if known is None:
            members: dict[str, Decoder] = {}
            known = self._structures[name, nested] = structure_decoder(name, members, nested=nested)
            for member, reference in self._model.shape(name)["members"].items():
                members[member] = self._compile(reference["shape"], nested=False)
        return known

    def _map(self, value_shape: str, *, nested: bool) -> Decoder:
        if value_shape == "AttributeValue":
            return self._values.nested_items if nested else self._values.items
        return map_decoder(self._compile(value_shape, nested=True), self._java_of(value_shape), nested=nested)

    def _java_of(self, name: str) -> str:
        shape = self._model.shape(name)
        if shape["type"] == "string":
            return "java.lang.String"
        if shape["type"] == "list":
            return f"java.util.List<{self._java_of(shape['member']['shape'])}>"
        if shape["type"] == "map":
            return f"java.util.Map<java.lang.String, {self._java_of(shape['value']['shape'])}>"
        return _NAMESPACE + name
