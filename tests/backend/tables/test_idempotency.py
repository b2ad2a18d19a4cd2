"""Request tokens: known within their window, stored with their writes, forgotten afterwards."""

import pytest

from backend.errors import ServiceError
from backend.storage.memory import MemoryStorage
from backend.tables.idempotency import TokenLog


@pytest.fixture
def storage():
    return MemoryStorage()


@pytest.fixture
def log(storage):
    return TokenLog(storage, window=600.0)


def remember(storage, log, token, parameters, now):
    with storage.transaction():
        log.remember(token, parameters, now)


def test_a_token_is_known_until_its_window_has_passed(storage, log):
    assert not log.is_replay("t", ["p"], 0.0)
    remember(storage, log, "t", ["p"], 0.0)
    assert log.is_replay("t", ["p"], 599.9)
    assert not log.is_replay("t", ["p"], 600.0)
    assert not log.is_replay("other", ["p"], 1.0)


def test_other_parameters_under_one_token_are_refused(storage, log):
    remember(storage, log, "t", [{"Item": {"v": {"B": b"\x00"}}}], 0.0)
    with pytest.raises(ServiceError) as refused:
        log.is_replay("t", [{"Item": {"v": {"B": b"\x01"}}}], 1.0)
    assert refused.value.code == "IdempotentParameterMismatchException"


def test_the_order_of_members_makes_no_difference(storage, log):
    remember(storage, log, "t", [{"a": 1, "b": 2}], 0.0)
    assert log.is_replay("t", [{"b": 2, "a": 1}], 1.0)


def test_an_undone_transaction_leaves_no_token(storage, log):
    def fail():
        with storage.transaction():
            log.remember("t", ["p"], 0.0)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not log.is_replay("t", ["p"], 1.0)


def test_expired_tokens_take_no_room(storage, log):
    for number in range(100):
        remember(storage, log, f"t{number}", ["p"], number * 60.0)
    assert len(storage.open("request-tokens")) <= 11
    assert len(storage.open("request-token-expiries")) <= 11


def test_a_token_used_again_lives_a_whole_window(storage, log):
    remember(storage, log, "t", ["p"], 0.0)
    remember(storage, log, "t", ["p"], 600.0)
    remember(storage, log, "u", ["p"], 700.0)
    assert log.is_replay("t", ["p"], 1199.0)
