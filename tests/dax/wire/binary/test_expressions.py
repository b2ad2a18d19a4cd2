"""Expression trees as text, and the text as something that the engine's own parser takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import ServiceError
from backend.expressions.conditions import condition as compile_condition
from backend.expressions.scope import Scope
from backend.expressions.updates import update as compile_update
from dax.wire.binary import cbor, expressions
from dax.wire.binary.cbor import Malformed, Tagged
from dax.wire.binary.expressions import Placeholders


def path(*elements):
    return [18, *(Tagged(cbor.LIST_INDEX, e) if isinstance(e, int) else e for e in elements)]


def value(index):
    return [17, index]


def equals(name, index=0):
    return [0, path(name), value(index)]


def text_of(tree, arguments=(1, "S", 3), printer=expressions.condition):
    placeholders = Placeholders()
    return printer(cbor.encode([1, tree, [*arguments]]), placeholders), placeholders


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        ([0, path("a"), value(0)], "#n0 = :v0"),
        ([1, path("a"), value(0)], "#n0 <> :v0"),
        ([2, path("a"), value(0)], "#n0 < :v0"),
        ([3, path("a"), value(0)], "#n0 >= :v0"),
        ([4, path("a"), value(0)], "#n0 > :v0"),
        ([5, path("a"), value(0)], "#n0 <= :v0"),
        ([6, equals("a"), equals("b")], "#n0 = :v0 AND #n1 = :v0"),
        ([6, [6, equals("a"), equals("b")], equals("c")], "#n0 = :v0 AND #n1 = :v0 AND #n2 = :v0"),
        ([6, equals("a"), [6, equals("b"), equals("c")]], "#n0 = :v0 AND #n1 = :v0 AND #n2 = :v0"),
        ([7, [6, equals("a"), equals("b")], equals("c")], "(#n0 = :v0 AND #n1 = :v0) OR #n2 = :v0"),
        ([6, [7, equals("a"), equals("b")], equals("c")], "(#n0 = :v0 OR #n1 = :v0) AND #n2 = :v0"),
        ([8, equals("a")], "NOT (#n0 = :v0)"),
        ([8, [6, equals("a"), equals("b")]], "NOT (#n0 = :v0 AND #n1 = :v0)"),
        ([9, path("a"), value(0), value(2)], "#n0 BETWEEN :v0 AND :v1"),
        ([10, path("a"), [value(0), value(1)]], "#n0 IN (:v0, :v1)"),
        ([11, path("a", "b", 2, "c")], "attribute_exists(#n0.#n1[2].#n2)"),
        ([12, path("d.e")], "attribute_not_exists(#n0)"),
        ([13, path("a"), value(1)], "attribute_type(#n0, :v0)"),
        ([14, path("a"), value(1)], "begins_with(#n0, :v0)"),
        ([15, path("a", 0, 1), value(1)], "contains(#n0[0][1], :v0)"),
        ([4, [16, path("a")], value(0)], "size(#n0) > :v0"),
    ],
)
def test_conditions(tree, text):
    printed, placeholders = text_of(tree)
    assert printed == text
    assert compile_condition(
        text, "ConditionExpression", Scope(placeholders.names, placeholders.values or None)
    )


@pytest.mark.parametrize(
    ("actions", "text"),
    [
        ([[19, path("a"), value(0)]], "SET #n0 = :v0"),
        ([[19, path("a"), [25, path("a"), value(0)]]], "SET #n0 = #n0 + :v0"),
        ([[19, path("a"), [26, value(0), value(2)]]], "SET #n0 = :v0 - :v1"),
        ([[19, path("a"), [23, path("b"), value(0)]]], "SET #n0 = if_not_exists(#n1, :v0)"),
        ([[19, path("a"), [24, path("a"), path("b")]]], "SET #n0 = list_append(#n0, #n1)"),
        ([[22, path("a", 1)], [22, path("b")]], "REMOVE #n0[1], #n1"),
        ([[20, path("a"), value(0)]], "ADD #n0 :v0"),
        (
            [[19, path("a"), value(0)], [22, path("b")], [19, path("c"), path("b")]],
            "SET #n0 = :v0, #n2 = #n1 REMOVE #n1",
        ),
    ],
)
def test_updates(actions, text):
    printed, placeholders = text_of(actions, printer=expressions.update)
    assert printed == text
    assert compile_update(printed, Scope(placeholders.names, placeholders.values or None))


def test_a_value_is_one_placeholder_however_often_it_is_used():
    _, placeholders = text_of([6, equals("a"), equals("a")])
    assert placeholders.names == {"#n0": "a"}
    assert placeholders.values == {":v0": {"N": "1"}}


def test_expressions_of_one_request_share_names_and_not_values():
    placeholders = Placeholders()
    blob = cbor.encode([1, equals("a"), [5]])
    assert expressions.condition(blob, placeholders) == "#n0 = :v0"
    assert expressions.condition(blob, placeholders) == "#n0 = :v1"


def test_a_long_chain_is_printed_flat():
    tree = equals("a")
    for _ in range(299):
        tree = [6, tree, equals("a")]
    printed, _ = text_of(tree)
    assert printed.count("AND") == 299
    assert "(" not in printed


def test_deep_nesting_is_refused():
    tree = equals("a")
    for _ in range(100):
        tree = [8, tree]
    with pytest.raises(ServiceError, match="too deeply"):
        text_of(tree)


conditions = st.recursive(
    st.builds(lambda code, name: [code, path(name), value(0)], st.integers(0, 5), st.sampled_from("abc")),
    lambda inner: (
        st.builds(lambda code, a, b: [code, a, b], st.sampled_from([6, 7]), inner, inner)
        | st.builds(lambda a: [8, a], inner)
    ),
    max_leaves=12,
)


def holds(tree, item):
    """The tree, evaluated here."""
    code = tree[0]
    if code == 8:
        return not holds(tree[1], item)
    if code in (6, 7):
        return (all if code == 6 else any)(holds(part, item) for part in tree[1:])
    left, right = item[tree[1][1]], 5
    return [left == right, left != right, left < right, left >= right, left > right, left <= right][code]


@given(conditions, st.fixed_dictionaries({name: st.integers(4, 6) for name in "abc"}))
def test_the_text_means_what_the_tree_means(tree, item):
    printed, placeholders = text_of(tree, [5])
    compiled = compile_condition(
        printed, "ConditionExpression", Scope(placeholders.names, placeholders.values)
    )
    typed = {name: {"N": str(number)} for name, number in item.items()}
    assert compiled.matches(typed) is holds(tree, item)


@pytest.mark.parametrize(
    "blob",
    [
        None,
        b"",
        b"\x01",
        b"\x83",
        cbor.encode([2, equals("a"), []]),
        cbor.encode([1, equals("a")]),
        cbor.encode([1, equals("a"), []]),
        cbor.encode([1, equals("a", -1), [1]]),
        cbor.encode([1, equals("a"), [1]]) + b"\x00",
        cbor.encode([1, equals("a"), {}]),
        cbor.encode([1, [], [1]]),
        cbor.encode([1, ["x"], [1]]),
        cbor.encode([1, [27, path("a")], [1]]),
        cbor.encode([1, [0, path("a")], [1]]),
        cbor.encode([1, [6, equals("a")], [1]]),
        cbor.encode([1, [10, path("a"), value(0)], [1]]),
        cbor.encode([1, [0, path(), value(0)], [1]]),
        cbor.encode([1, [0, [18, 1], value(0)], [1]]),
        cbor.encode([1, [0, [18, "a", 1], value(0)], [1]]),
        cbor.encode([1, [16, path("a"), path("b")], [1]]),
    ],
)
def test_what_is_no_condition(blob):
    with pytest.raises(Malformed):
        expressions.condition(blob, Placeholders())


@pytest.mark.parametrize("actions", [[], 5, [[19, path("a")]], [[0, path("a"), value(0)]], [[22, value(0)]]])
def test_what_is_no_update(actions):
    with pytest.raises(Malformed):
        text_of(actions, printer=expressions.update)


def test_projections():
    blob = cbor.encode([1, [path("a", 0, "b"), path("c.d")]])
    assert expressions.projection(blob) == [("a", 0, "b"), ("c.d",)]
    for wrong in ([1, []], [1, [value(0)]], [1, 5]):
        with pytest.raises(Malformed):
            expressions.projection(cbor.encode(wrong))
