"""What a person sees of log records: each cause once, and then a count."""

from __future__ import annotations

import io
import logging

import pytest

from cluster.cli.log_lines import LineFormatter, Once


@pytest.fixture
def shown():
    """`say(...)` logs a warning at `clock["now"]`; `lines()` is what was shown."""
    clock, out = {"now": 0.0}, io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(LineFormatter())
    handler.addFilter(Once(lambda: clock["now"]))
    logger = logging.Logger("test")
    logger.addHandler(handler)
    return logger.warning, clock, lambda: out.getvalue().splitlines()


def test_the_same_cause_from_other_ports_is_counted(shown):
    say, clock, lines = shown
    for port in range(40_000, 40_100):
        say("%s: refused %s: it is full", "node-1", f"127.0.0.1:{port}")
        say("%s spoke HTTP", ("127.0.0.1", port))
    assert lines() == [
        "daxsim: node-1: refused 127.0.0.1:40000: it is full",
        "daxsim: ('127.0.0.1', 40000) spoke HTTP",
    ]
    clock["now"] = 31.0
    say("%s: refused %s: it is full", "node-1", "127.0.0.1:50000")
    assert lines()[2:] == [
        "daxsim: node-1: refused 127.0.0.1:50000: it is full (and 99 times more like this)"
    ]


def test_other_causes_and_other_hosts_are_shown(shown):
    say, _, lines = shown
    for host in ("10.0.0.1", "10.0.0.2"):
        say("closed the connection of %s:%d: a TLS handshake", host, 40_000)
        say("closed the connection of %s:%d: a slow greeting", host, 40_000)
    assert len(lines()) == 4


def test_a_failure_tells_its_error_and_no_traceback(shown, monkeypatch):
    monkeypatch.delenv("DAXSIM_DEBUG", raising=False)
    say, _, lines = shown
    try:
        raise ValueError("broken")
    except ValueError as failure:
        say("it failed", exc_info=failure)
    assert lines() == ["daxsim: it failed (ValueError: broken)"]
