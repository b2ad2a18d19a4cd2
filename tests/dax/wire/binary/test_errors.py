"""Failures, as captured, and with the code paths that clients know."""

from __future__ import annotations

import pytest

from backend.errors import ServiceError
from dax.wire.binary import errors
from dax.wire.binary.requests import Target


def test_as_captured(captures):
    error = ServiceError("ThrottlingException", "ThrottlingException message")
    assert errors.failure(error, "REQ-0001").encode() == captures[21].server


def test_a_cancelled_transaction_as_captured(captures, schemas, lists):
    error = ServiceError(
        "TransactionCanceledException",
        "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[ConditionalCheckFailed, None]",
        fields={
            "CancellationReasons": [
                {
                    "Code": "ConditionalCheckFailed",
                    "Message": "The conditional request failed",
                    "Item": {"pk": {"S": "t1"}, "v": {"N": "1"}},
                },
                {"Code": "None"},
            ]
        },
    )
    targets = [Target("tS", schemas["tS"]), Target("tS", schemas["tS"])]
    assert errors.failure(error, "REQ-0001", targets, lists).encode() == captures[22].server


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ("ProvisionedThroughputExceededException", (4, 37, 38, 39, 40)),
        ("ResourceNotFoundException", (4, 37, 38, 39, 41)),
        ("AccessDeniedException", (4, 37, 38, 42)),
        ("ConditionalCheckFailedException", (4, 37, 38, 39, 43)),
        ("ValidationException", (4, 37, 38, 39, 46)),
        ("TransactionConflictException", (4, 37, 38, 39, 57)),
        ("MissingAuthenticationTokenException", (4, 23, 31, 33)),
    ],
)
def test_known_code_paths(code, path):
    failure = errors.failure(ServiceError(code, "m"), "id")
    assert (failure.codes, failure.name, failure.message) == (path, code, "m")


def test_other_errors_go_by_their_name():
    failure = errors.failure(ServiceError("DuplicateItemException"), "id")
    assert failure.codes == errors.UNLISTED_ERROR
    assert (failure.name, failure.message, failure.status) == ("DuplicateItemException",) * 2 + (400,)
    fault = errors.failure(ServiceError("ServiceUnavailable", "busy", status=503), "id")
    assert (fault.codes, fault.status) == (errors.FAULT, 503)


def test_no_code_path_is_of_the_class_that_stalls_clients():
    assert 2 not in {path[0] for path in errors.CODES.values()}
