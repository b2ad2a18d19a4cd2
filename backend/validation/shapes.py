"""Request validation of every operation, compiled from the service models on first use.

    request = decode("PutItem", orjson.loads(body))   # types: SerializationException
    check("PutItem", request)                         # constraints and parameter rules: ValidationException

The order is the service's: types of the whole request, then the collected constraints, then the rules between
parameters; what this store does not honour is refused in front of those rules. Attribute values, expressions,
tables and keys are judged after that, by the operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from backend.errors import ServiceError, serialization_error
from backend.protocol import Request, Response
from backend.validation import rules
from backend.validation.constraints import Checker, ConstraintCompiler, Violations, collected
from backend.validation.decoding import Decoder, DecoderCompiler
from backend.validation.model import Model, model, model_of
from backend.validation.support import RefusalCompiler


class _Plan:
    """What is compiled for one operation."""

    __slots__ = ("checker", "decode", "early", "late", "refuse")

    def __init__(self, operation: str, service: Model) -> None:
        request = service.input_of(operation)
        self.decode = DecoderCompiler(service).structure(request)
        self.checker: Checker | None = ConstraintCompiler(service).structure(request)
        self.refuse = RefusalCompiler(service).structure(request)
        self.early = rules.EARLY.get(operation, ())
        self.late = rules.LATE.get(operation, ())


_plans: dict[str, _Plan] = {}


def _plan(operation: str) -> _Plan:
    plan = _plans.get(operation)
    if plan is None:
        plan = _plans[operation] = _Plan(operation, _model(operation))
    return plan


def _model(operation: str) -> Model:
    found = model_of(operation)
    if found is None:
        raise unknown_operation()
    return found


def unknown_operation() -> ServiceError:
    """The service's answer to an operation that it does not have."""
    return ServiceError("UnknownOperationException")


def is_known(operation: str) -> bool:
    """Whether DynamoDB or DynamoDB Streams has the operation, whatever this engine supports of it."""
    return model_of(operation) is not None


def decode(operation: str, parsed: Any) -> Request:
    """The request in parsed JSON: types checked, base64 turned into bytes, unknown and null members dropped.

    Raises SerializationException, worded as the service words it, and UnknownOperationException.
    """
    decoder = (_plans.get(operation) or _plan(operation)).decode
    if type(parsed) is not dict:
        raise serialization_error()
    request: Request = decoder(parsed)
    return request


def decode_response(operation: str, parsed: Any) -> Response:
    """The response in `parsed` JSON of a DynamoDB-compatible endpoint, base64 turned into bytes."""
    if type(parsed) is not dict:
        raise serialization_error()
    response: Response = _output_decoder(operation)(parsed)
    return response


def decode_error_fields(parsed: Mapping[str, Any]) -> dict[str, Any]:
    """The members beside code and message in an error of such an endpoint.

    Those that some error of the model declares (`Item`, `CancellationReasons`, ...) are decoded to its shape.
    """
    decoders = _error_field_decoders()
    return {name: decoders[name](field) if name in decoders else field for name, field in parsed.items()}


@cache
def _error_field_decoders() -> Mapping[str, Decoder]:
    dynamodb = model("dynamodb")
    compiler = DecoderCompiler(dynamodb)
    return {
        name: compiler.member(reference["shape"])
        for error in dynamodb.errors()
        for name, reference in dynamodb.shape(error)["members"].items()
        if name not in ("message", "Message")
    }


@cache
def _output_decoder(operation: str) -> Decoder:
    service = _model(operation)
    return DecoderCompiler(service).structure(service.output_of(operation))


def check(operation: str, request: Request) -> None:
    """Refuse a decoded request whose parameters are wrong by themselves. Raises ValidationException."""
    plan = _plans.get(operation) or _plan(operation)
    for rule in plan.early:
        rule(request)
    if plan.checker is not None:
        violations: Violations = []
        plan.checker(request, None, violations)
        if violations:
            raise collected(rules.reworded(operation, violations))
    if plan.refuse is not None:
        plan.refuse(request)
    for rule in plan.late:
        rule(request)
