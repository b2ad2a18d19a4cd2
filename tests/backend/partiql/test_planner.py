"""What a WHERE clause comes to: partitions, a range of sort keys, a filter."""

from __future__ import annotations

import pytest

from backend.model.keys import KeyAttribute, KeySchema
from backend.partiql import ast
from backend.partiql.parser import parse
from backend.partiql.planner import attributes, conjuncts, primary_key, read_plan

SCHEMA = KeySchema(KeyAttribute("pk", "S"), KeyAttribute("sk", "N"))


def where_of(condition: str) -> ast.Select:
    statement = parse(f"SELECT * FROM t WHERE {condition}").statement
    assert isinstance(statement, ast.Select)
    return statement


@pytest.mark.parametrize(
    ("condition", "partitions", "sort"),
    [
        ("pk = 'a'", ["a"], None),
        ("'a' = pk AND 5 < sk", ["a"], ">"),
        ("sk BETWEEN 1 AND 2 AND pk IN ['a', 'b', 'a']", ["a", "b"], "BETWEEN"),
        ("pk = 'a' AND (x = 1 AND sk = 3)", ["a"], "="),
        ("pk = 'a' AND sk <> 3", ["a"], None),
        ("pk = 'a' AND sk > '3'", ["a"], None),  # a string is no number: nothing to bound, nothing matches
        ("pk = 'a' AND begins_with(sk, '3')", ["a"], None),
        ("pk = 'a' OR pk = 'b' AND sk = 1", ["a", "b"], None),
        ("pk = 'a' OR x = 1", None, None),
        ("pk > 'a'", None, None),
        ("pk.x = 'a'", None, None),
        ("pk = x", None, None),
        ("NOT pk = 'a'", None, None),
    ],
)
def test_partitions_and_ranges(condition, partitions, sort):
    plan = read_plan(where_of(condition), SCHEMA, ())
    found = None if plan.partitions is None else [one["S"] for one in plan.partitions]
    assert (found, plan.sort and plan.sort.operator) == (partitions, sort)


def test_only_partitions_outside_of_an_or_key_a_read():
    assert read_plan(where_of("pk IN ['a'] AND x = 1"), SCHEMA, ()).keyed
    assert not read_plan(where_of("pk = 'a' OR pk = 'b'"), SCHEMA, ()).keyed
    assert not read_plan(where_of("x = 1"), SCHEMA, ()).keyed


def test_primary_key_and_the_rest():
    where = where_of("pk = 'a' AND sk = ? AND x = 1 AND pk = 'b'").where
    found = primary_key(where, SCHEMA, ({"N": "1"},))
    assert found is not None
    key, rest = found
    assert key == {"pk": {"S": "a"}, "sk": {"N": "1"}}
    assert [list(attributes(one)) for one in rest] == [["x"], ["pk"]]
    assert primary_key(where_of("pk = 'a'").where, SCHEMA, ()) is None
    assert primary_key(None, SCHEMA, ()) is None


def test_attributes_are_named_in_order():
    where = where_of("a.b = c[0] AND NOT d IN [e, 1] OR size(f) BETWEEN g AND 1 OR h IS MISSING").where
    assert where is not None
    assert list(attributes(where)) == list("acdefgh")
    assert len(list(conjuncts(where))) == 1
