"""Updates: what they do to items, and their refusals."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.expressions import ast
from backend.expressions.scope import Scope
from backend.expressions.updates import Update, from_actions, update
from backend.model.keys import KeyAttribute, KeySchema

Refusal = Callable[[Callable[[], object]], str | None]
INVALID = "Invalid UpdateExpression: "
SCHEMA = KeySchema(KeyAttribute("pk", "S"))
KEY: Any = {"pk": {"S": "x"}}
BAD_PATH = "The document path provided in the update expression is invalid for update"
BAD_TYPE = "An operand in the update expression has an incorrect data type"
MISSING = "The provided expression refers to an attribute that does not exist in the item"
VALUES: Any = {
    ":n": {"N": "1"},
    ":s": {"S": "s"},
    ":l": {"L": [{"S": "new"}]},
    ":ss": {"SS": ["b", "c"]},
    ":ns": {"NS": ["1", "5.0"]},
    ":m": {"M": {}},
}


def bound(text: str, names: Any = None, values: Any = None) -> Update:
    if values is None:
        values = {key: VALUES[key] for key in re.findall(r":[a-z]+", text)}
    return update(text, Scope(names, values or None))


def applied(text: str, item: Any, names: Any = None, values: Any = None) -> Any:
    """The attributes after an update of an item with these attributes; None for the item: there is none."""
    result = bound(text, names, values).apply(None if item is None else {**KEY, **item}, KEY, SCHEMA)
    if result is None:
        return None
    assert result["pk"] == KEY["pk"]
    return {name: value for name, value in result.items() if name != "pk"}


def numbers(*texts: str) -> Any:
    return {"L": [{"N": text} for text in texts]}


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("SET a = :n", {}, {"a": {"N": "1"}}),
        ("SET a = b, b = a", {"a": {"N": "1"}, "b": {"N": "2"}}, {"a": {"N": "2"}, "b": {"N": "1"}}),
        ("SET a = a + :n", {"a": {"N": "1.5"}}, {"a": {"N": "2.5"}}),
        ("SET a = :n - a", {"a": {"N": "3"}}, {"a": {"N": "-2"}}),
        ("SET a = if_not_exists(a, :n)", {}, {"a": {"N": "1"}}),
        ("SET a = if_not_exists(a, :n)", {"a": {"S": "old"}}, {"a": {"S": "old"}}),
        (
            "SET a = if_not_exists(b, if_not_exists(c, :n))",
            {"c": {"N": "7"}},
            {"a": {"N": "7"}, "c": {"N": "7"}},
        ),
        ("SET a = if_not_exists(a, :n) + :n", {}, {"a": {"N": "2"}}),
        ("SET a = list_append(a, :l)", {"a": numbers("1")}, {"a": {"L": [{"N": "1"}, {"S": "new"}]}}),
        ("SET a = list_append(:l, a)", {"a": numbers("1")}, {"a": {"L": [{"S": "new"}, {"N": "1"}]}}),
        ("SET a = pk", {}, {"a": {"S": "x"}}),
        ("SET m.a = :n", {"m": {"M": {"b": {"N": "2"}}}}, {"m": {"M": {"b": {"N": "2"}, "a": {"N": "1"}}}}),
        (
            "SET m.a.b = m.c",
            {"m": {"M": {"a": {"M": {}}, "c": {"N": "2"}}}},
            {"m": {"M": {"a": {"M": {"b": {"N": "2"}}}, "c": {"N": "2"}}}},
        ),
        ("SET l[1] = :n", {"l": numbers("7", "8", "9")}, {"l": numbers("7", "1", "9")}),
        ("SET l[99] = :n", {"l": numbers("7")}, {"l": numbers("7", "1")}),
        ("SET l[9] = l[0], l[5] = :n", {"l": numbers("7")}, {"l": numbers("7", "1", "7")}),
        ("REMOVE l[0], l[2]", {"l": numbers("7", "8", "9")}, {"l": numbers("8")}),
        ("REMOVE l[7]", {"l": numbers("7")}, {"l": numbers("7")}),
        ("REMOVE l[0] SET l[1] = :n, l[5] = :n", {"l": numbers("7", "8")}, {"l": numbers("1", "1")}),
        ("REMOVE l[1] SET l[8] = :n", {"l": numbers("7")}, {"l": numbers("7", "1")}),
        ("REMOVE l[0]", {"l": numbers("7")}, {"l": {"L": []}}),
        ("REMOVE m.a", {"m": {"M": {"a": {"N": "1"}}}}, {"m": {"M": {}}}),
        ("REMOVE m.z", {"m": {"M": {"a": {"N": "1"}}}}, {"m": {"M": {"a": {"N": "1"}}}}),
        ("REMOVE a, z", {"a": {"N": "1"}, "b": {"N": "2"}}, {"b": {"N": "2"}}),
        ("ADD a :n", {}, {"a": {"N": "1"}}),
        ("ADD a :n", {"a": {"N": "-1"}}, {"a": {"N": "0"}}),
        ("ADD a :ss", {"a": {"SS": ["a", "b"]}}, {"a": {"SS": ["a", "b", "c"]}}),
        ("ADD a :ss", {}, {"a": {"SS": ["b", "c"]}}),
        ("ADD a :ns", {"a": {"NS": ["5"]}}, {"a": {"NS": ["1", "5"]}}),
        (
            "ADD m.a :n, l[0] :n",
            {"m": {"M": {}}, "l": numbers("7")},
            {"m": {"M": {"a": {"N": "1"}}}, "l": numbers("8")},
        ),
        ("DELETE a :ss", {"a": {"SS": ["a", "b"]}}, {"a": {"SS": ["a"]}}),
        ("DELETE a :ss", {"a": {"SS": ["c", "b"]}}, {}),
        ("DELETE a :ss", {}, {}),
        ("DELETE m.a :ss", {"m": {"M": {"a": {"SS": ["b"]}}}}, {"m": {"M": {}}}),
    ],
)
def test_apply(text: str, before: Any, after: Any) -> None:
    original = repr(before)
    assert applied(text, before) == after
    assert repr(before) == original, "the old item is left alone"


def test_names_with_dots_are_whole_names() -> None:
    assert applied("SET #a = :n, m.#a = :n", {"m": {"M": {}}}, {"#a": "b.c"}) == {
        "b.c": {"N": "1"},
        "m": {"M": {"b.c": {"N": "1"}}},
    }


def test_the_item_that_does_not_exist() -> None:
    assert applied("SET a = :n", None) == {"a": {"N": "1"}}
    assert applied("SET a = pk", None) == {"a": {"S": "x"}}
    assert applied("ADD a :n", None) == {"a": {"N": "1"}}
    for text in ("REMOVE a", "REMOVE a.b, c[0]", "DELETE a :ss", "DELETE a.b :ss REMOVE c"):
        assert applied(text, None) is None
    assert applied("REMOVE a.b SET c = :n", None) == {"c": {"N": "1"}}
    assert from_actions(()).apply(None, KEY, SCHEMA) == KEY


@pytest.mark.parametrize(
    "action",
    [
        *(
            "SET s.a = :ss",
            "SET s[1] = :ss",
            "SET y.a = :ss",
            "SET y[1] = :ss",
            "SET m[1] = :ss",
            "SET l.a = :ss",
        ),
        *(
            "REMOVE s.a",
            "REMOVE s[1]",
            "REMOVE y.a",
            "REMOVE y[1]",
            "REMOVE m[1]",
            "REMOVE l.a",
            "SET m.z.a = :ss",
        ),
        *(
            "DELETE s.a :ss",
            "DELETE y.a :ss",
            "DELETE m[1] :ss",
            "ADD s[1] :ss",
            "ADD y.a :ss",
            "ADD l.a :ss",
        ),
        *("SET l[5].a = :ss", "REMOVE m.z.a"),
    ],
)
def test_parents_must_be_there(refusal: Refusal, action: str) -> None:
    item = {"s": {"S": "x"}, "m": {"M": {}}, "l": {"L": [{"S": "a"}]}}
    assert refusal(lambda: applied(action, item)) == BAD_PATH


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SET c = zip", MISSING),
        ("SET c = m.zip", MISSING),
        ("SET c = s.zip", MISSING),
        ("SET c = n + zip", MISSING),
        ("SET c = list_append(zip, :l)", MISSING),
        ("SET c = if_not_exists(zip, zap)", MISSING),
        ("SET c = s + :n", BAD_TYPE),
        ("SET c = :n - s", BAD_TYPE),
        ("SET c = list_append(n, :l)", BAD_TYPE),
        ("SET c = list_append(ns, if_not_exists(f, :l))", BAD_TYPE),
        ("ADD s :n", BAD_TYPE),
        ("ADD ns :n", BAD_TYPE),
        ("ADD ns :ss", BAD_TYPE),
        ("ADD m :ns", BAD_TYPE),
        ("DELETE ns :ss", BAD_TYPE),
        ("DELETE n :ns", BAD_TYPE),
        ("DELETE m.ss :ns", BAD_TYPE),
    ],
)
def test_refusals_by_items(refusal: Refusal, text: str, message: str) -> None:
    item = {"s": {"S": "x"}, "n": {"N": "1"}, "ns": {"NS": ["1"]}, "m": {"M": {"ss": {"SS": ["b"]}}}}
    assert refusal(lambda: applied(text, item)) == message


def test_arithmetic_is_exact_or_refused(refusal: Refusal) -> None:
    assert applied("SET a = a + :n", {"a": {"N": "0." + "0" * 36 + "1"}}) == {
        "a": {"N": "1." + "0" * 36 + "1"}
    }
    for text in ("SET a = a + :n", "ADD a :n"):
        assert "Number overflow" in str(
            refusal(lambda text=text: applied(text, {"a": {"N": "1" + "0" * 50}}))
        )  # type: ignore[misc]


def test_nesting_is_limited_over_path_and_value(refusal: Refusal) -> None:
    def deep(levels: int) -> Any:
        value: Any = {"S": "x"}
        for _ in range(levels):
            value = {"L": [value]}
        return value

    values = {":v": deep(30)}
    applied("SET m.a = :v", {"m": {"M": {}}}, values=values)
    assert "Nesting Levels" in str(
        refusal(lambda: applied("SET m.a.b = :v", {"m": {"M": {"a": {"M": {}}}}}, values=values))
    )


# Refusals that need no item.


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (" set #c = :c set abOrt = true ", "Attribute name is a reserved keyword; reserved keyword: abOrt"),
        (" remove Absolute ", "Attribute name is a reserved keyword; reserved keyword: Absolute"),
        ("set #c = if_not_exist(:c) set c = d", "Invalid function name; function: if_not_exist"),
        ("set a = size(b)", "The function is not allowed in an update expression; function: size"),
        ("set a = #z set c = :d", 'The "SET" section can only be used once in an update expression;'),
        (
            "remove #d set a = b remove e",
            'The "REMOVE" section can only be used once in an update expression;',
        ),
        ("add #d :e set a = b add e :f", 'The "ADD" section can only be used once in an update expression;'),
        (
            "delete #d :e set a = b delete #e :f",
            'The "DELETE" section can only be used once in an update expression;',
        ),
        (
            "SET #c = if_not_exists(:c)",
            "An expression attribute name used in the document path is not defined; attribute name: #c",
        ),
        (
            "SET #a = if_not_exists(:c)",
            "An expression attribute value used in expression is not defined; attribute value: :c",
        ),
        (
            "set a[1] = b, a.b = b, c[1].a = b, #k = if_not_exists(b)",
            "Two document paths overlap with each other; must remove or rewrite one of these paths; "
            "path one: [c, [1], a], path two: [c]",
        ),
        (
            "set #k[3].#d = b, #k[3] = b",
            "Two document paths overlap with each other; must remove or rewrite one of these paths; "
            "path one: [c, [3], [3]], path two: [c, [3]]",
        ),
        (
            "set #k[3].#d = b, #k.#d[3] = if_not_exists(b)",
            "Two document paths conflict with each other; must remove or rewrite one of these paths; "
            "path one: [c, [3], [3]], path two: [c, [3], [3]]",
        ),
        (
            "remove b.#k set b[1] = #d",
            "Two document paths conflict with each other; must remove or rewrite one of these paths; "
            "path one: [b, c], path two: [b, [1]]",
        ),
        (
            "set b = list_append(:s, b), c = if_not_exists(b) add a.b :s",
            "Incorrect operand type for operator or function; operator: ADD, operand type: STRING",
        ),
        (
            "delete a.b :n",
            "Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER",
        ),
        (
            "delete a.b :m",
            "Incorrect operand type for operator or function; operator: DELETE, operand type: MAP",
        ),
        ("add a.b :l", "Incorrect operand type for operator or function; operator: ADD, operand type: LIST"),
        (
            "set a = if_not_exists(c)",
            "Incorrect number of operands for operator or function; "
            "operator or function: if_not_exists, number of operands: 1",
        ),
        (
            "set a = list_append(c)",
            "Incorrect number of operands for operator or function; "
            "operator or function: list_append, number of operands: 1",
        ),
        (
            "set a = if_not_exists(:n, c)",
            "Operator or function requires a document path; operator or function: if_not_exists",
        ),
        (
            "set a = if_not_exists(if_not_exists(a, b), c)",
            "Operator or function requires a document path; operator or function: if_not_exists",
        ),
        (
            "set a = list_append(b, :n)",
            "Incorrect operand type for operator or function; "
            "operator or function: list_append, operand type: N",
        ),
        (
            "set a = a + :s",
            "Incorrect operand type for operator or function; operator or function: +, operand type: S",
        ),
        (
            "set a = :ss - a",
            "Incorrect operand type for operator or function; operator or function: -, operand type: SS",
        ),
    ],
)
def test_refusals_by_text(refusal: Refusal, text: str, problem: str) -> None:
    names = {"#a": "a", "#d": "[3]", "#k": "c"}
    assert refusal(lambda: update(text, Scope(names, VALUES))) == INVALID + problem


def test_types_that_passed_do_not_let_others_through(refusal: Refusal) -> None:
    update("ADD zz :v", Scope(None, {":v": {"N": "1"}}))
    assert refusal(lambda: update("ADD zz :v", Scope(None, {":v": {"B": b"x"}}))) == (
        f"{INVALID}Incorrect operand type for operator or function; operator: ADD, operand type: BINARY"
    )


@pytest.mark.parametrize(
    "text",
    ["set pk = :s", "add pk.b :n", "delete pk :ns", "remove d set b = :n, pk = :n", "set pk = pk.b + pk[1]"],
)
def test_keys_cannot_be_updated(refusal: Refusal, text: str) -> None:
    message = (
        "One or more parameter values were invalid: "
        "Cannot update attribute pk. This attribute is part of the key"
    )
    assert refusal(lambda: bound(text).check_attributes(SCHEMA, {})) == message
    assert refusal(lambda: applied(text, {})) == message


def test_index_keys(refusal: Refusal) -> None:
    indexes = {"i": KeySchema(KeyAttribute("c", "S"), KeyAttribute("d", "S"))}
    scalars = (
        "Key attributes must be scalars; "
        "list random access '[]' and map lookup '.' are not allowed: IndexKey: d"
    )
    for text in ("add d.b :n", "set d[1] = :n", "set e = list_append(a, b), f = d[1]"):
        assert refusal(lambda text=text: bound(text).check_attributes(SCHEMA, indexes)) == scalars  # type: ignore[misc]
    for text in ("set d.a = a add c :n", "set e = c[1], c = a + :n", "set c = :n"):
        assert refusal(lambda text=text: bound(text).check_attributes(SCHEMA, indexes)) == (  # type: ignore[misc]
            "One or more parameter values were invalid: "
            "Type mismatch for Index Key c Expected: S Actual: N IndexName: i"
        )
    changed = bound("set c = e")
    changed.check_attributes(SCHEMA, indexes)
    assert refusal(lambda: changed.check_result({"c": {"N": "1"}}, indexes)) == (
        "The update expression attempted to update the secondary index key to unsupported type"
    )
    bound("set e = :s").check_result({"c": {"N": "1"}, "e": {"S": "s"}}, indexes)


# ReturnValues.


@pytest.mark.parametrize(
    ("text", "before", "old", "new"),
    [
        ("SET a = :n", {}, {}, {"a": {"N": "1"}}),
        ("SET a = :n", {"a": {"S": "o"}, "b": {"S": "o"}}, {"a": {"S": "o"}}, {"a": {"N": "1"}}),
        ("REMOVE a", {"a": {"S": "o"}}, {"a": {"S": "o"}}, {}),
        (
            "SET m.a = :n",
            {"m": {"M": {"a": {"S": "o"}, "b": {"S": "o"}}}},
            {"m": {"M": {"a": {"S": "o"}}}},
            {"m": {"M": {"a": {"N": "1"}}}},
        ),
        ("SET l[9] = :n", {"l": numbers("7")}, {}, {}),
        ("REMOVE l[1]", {"l": numbers("7", "8", "9")}, {"l": numbers("8")}, {"l": numbers("9")}),
    ],
)
def test_updated_old_and_new(text: str, before: Any, old: Any, new: Any) -> None:
    item = {**KEY, **before}
    change = bound(text)
    result = change.apply(item, KEY, SCHEMA)
    assert change.updated_old(item, result) == old
    assert change.updated_new(item, result) == new


def test_nothing_was_updated_where_nothing_was() -> None:
    change = bound("REMOVE a")
    assert change.updated_old(None, None) == {}
    assert change.updated_new(None, None) == {}


# Actions commute, because they all see the old item.

names = st.sampled_from("abcd")
values = st.integers(0, 9).map(lambda number: ast.Constant({"N": str(number)}))
sources = values | st.builds(
    ast.Function, st.just("if_not_exists"), st.tuples(names.map(lambda name: ast.Path((name,))), values)
)


@st.composite
def disjoint_actions(draw: st.DrawFn) -> list[ast.Action]:
    actions: list[ast.Action] = []
    for name in draw(st.lists(names, unique=True)):
        path = ast.Path((name,))
        kind = draw(st.sampled_from(("set", "sum", "remove", "add")))
        if kind == "remove":
            actions.append(ast.Remove(path))
        elif kind == "add":
            actions.append(ast.Add(path, draw(values)))
        elif kind == "sum":
            actions.append(ast.Set(path, ast.Arithmetic("-", draw(sources), draw(sources))))
        else:
            actions.append(ast.Set(path, draw(sources)))
    return actions


@given(disjoint_actions(), st.dictionaries(names, values.map(lambda constant: constant.value)), st.randoms())
def test_order_of_actions_does_not_matter(actions: list[ast.Action], attributes: Any, random: Any) -> None:
    item = {**KEY, **attributes}
    shuffled = list(actions)
    random.shuffle(shuffled)
    one, two = (from_actions(tuple(order)).apply(item, KEY, SCHEMA) for order in (actions, shuffled))
    assert one == two


@given(disjoint_actions(), st.dictionaries(names, values.map(lambda constant: constant.value)))
def test_right_hand_sides_see_the_item_as_it_was(actions: list[ast.Action], attributes: Any) -> None:
    def before(operand: Any) -> int:
        if isinstance(operand, ast.Constant):
            return int(operand.value["N"])
        path, default = operand.arguments
        return int(attributes.get(path.elements[0], default.value)["N"])

    expected = {name: int(value["N"]) for name, value in attributes.items()}
    for action in actions:
        name = str(action.path.elements[0])
        if isinstance(action, ast.Remove):
            expected.pop(name, None)
        elif isinstance(action, ast.Set) and isinstance(action.value, ast.Arithmetic):
            expected[name] = before(action.value.left) - before(action.value.right)
        elif isinstance(action, ast.Set):
            expected[name] = before(action.value)
        elif isinstance(action, ast.Add):
            expected[name] = int(attributes.get(name, {"N": "0"})["N"]) + before(action.value)
    result = from_actions(tuple(actions)).apply({**KEY, **attributes}, KEY, SCHEMA)
    assert result == {**KEY, **{name: {"N": str(number)} for name, number in expected.items()}}
