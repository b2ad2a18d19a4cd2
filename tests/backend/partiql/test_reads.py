"""However a SELECT reaches its items, it finds those that satisfy its WHERE, each once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from backend.errors import ServiceError
from backend.partiql import ast, translate
from backend.partiql.parser import parse

_ITEMS = [
    {"pk": {"S": partition}, "sk": {"N": str(sort)}, **({"x": {"N": str(sort % 2)}} if sort != 3 else {})}
    for partition in "abc"
    for sort in range(5)
]

_STRINGS = st.sampled_from(["'a'", "'b'", "'c'", "'z'"])
_NUMBERS = st.sampled_from(["0", "1", "2", "3", "4", "9"])
_OPERATORS = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])


def _condition() -> st.SearchStrategy[str]:
    leaves = st.one_of(
        st.builds("pk {} {}".format, st.just("="), _STRINGS),
        st.builds("{} = pk".format, _STRINGS),
        st.builds("pk {} {}".format, _OPERATORS, _STRINGS),
        st.builds("pk IN [{}, {}]".format, _STRINGS, _STRINGS),
        st.builds("sk {} {}".format, _OPERATORS, _NUMBERS),
        st.builds("{1} {0} sk".format, _OPERATORS, _NUMBERS),
        st.builds("sk BETWEEN 1 AND {}".format, st.sampled_from(["1", "3", "9"])),
        st.builds("sk IN [{}, {}]".format, _NUMBERS, _NUMBERS),
        st.builds("x {} {}".format, _OPERATORS, _NUMBERS),
        st.sampled_from(["x IS MISSING", "x IS NOT MISSING", "sk = x", "begins_with(pk, 'b')"]),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds("{} AND {}".format, inner, inner),
            st.builds("({}) OR ({})".format, inner, inner),
            st.builds("({} OR {})".format, inner, inner),
            st.builds("NOT ({})".format, inner),
        ),
        max_leaves=5,
    )


@pytest.fixture
def filled(store):
    store.create("pairs", "pk:S", "sk:N")
    for item in _ITEMS:
        store("PutItem", TableName="pairs", Item=item)
    return store


def _found(store: Any, statement: str, limit: int | None) -> list[tuple[str, str]]:
    request: dict[str, Any] = {"Statement": statement}
    if limit is not None:
        request["Limit"] = limit
    found: list[tuple[str, str]] = []
    while True:
        page = store("ExecuteStatement", **request)
        found += [(item["pk"]["S"], item["sk"]["N"]) for item in page["Items"]]
        if "NextToken" not in page:
            return found
        request["NextToken"] = page["NextToken"]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(condition=_condition(), limit=st.one_of(st.none(), st.integers(1, 4)))
def test_a_select_finds_what_its_where_says(filled, condition, limit):
    statement = f"SELECT pk, sk FROM pairs WHERE {condition}"
    parsed = parse(statement).statement
    assert isinstance(parsed, ast.Select)
    assert parsed.where is not None
    matching = translate.compiled((parsed.where,), ())
    assert matching is not None
    expected = sorted((item["pk"]["S"], item["sk"]["N"]) for item in _ITEMS if matching.matches(item))
    try:
        found = _found(filled, statement, limit)
    except ServiceError as refusal:
        assume("Overlapping conditions" not in str(refusal))
        raise
    assert sorted(found) == expected


@pytest.mark.parametrize("descending", [False, True])
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    partitions=st.lists(st.sampled_from("abcz"), min_size=1, max_size=4),
    condition=_condition(),
    limit=st.one_of(st.none(), st.integers(1, 4)),
)
def test_order_by_orders(filled, descending, partitions, condition, limit):
    direction = "DESC" if descending else "ASC"
    named = ", ".join(f"'{partition}'" for partition in partitions)
    statement = (
        f"SELECT pk, sk FROM pairs WHERE pk IN [{named}] AND ({condition}) "
        f"ORDER BY pk {direction}, sk {direction}"
    )
    found = _found(filled, statement, limit)
    assert found == sorted(found, reverse=descending)
    assert {partition for partition, _ in found} <= set(partitions)
