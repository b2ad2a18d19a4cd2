"""Update expressions: what their actions do to an item, alone and in a transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

KEY = {"pk": {"S": "k"}}
NO_PATH = "The document path provided in the update expression is invalid for update"
NO_ATTRIBUTE = "The provided expression refers to an attribute that does not exist in the item"
WRONG_TYPE = "An operand in the update expression has an incorrect data type"
IS_KEY = (
    "One or more parameter values were invalid: Cannot update attribute {}. This attribute is part of the key"
)
SCALARS = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: "
Attributes = Mapping[str, Any]
a_few = settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])


def number(value: object) -> dict[str, str]:
    return {"N": str(value)}


def text_of(value: str) -> dict[str, str]:
    return {"S": value}


def elements(*values: object) -> dict[str, Any]:
    """A list of texts, and of whatever is given as a value."""
    return {"L": [value if isinstance(value, dict) else text_of(str(value)) for value in values]}


def clauses(expression: str, values: Attributes) -> dict[str, Any]:
    used = {f":{name}": value for name, value in values.items()}
    return {"UpdateExpression": expression, **({"ExpressionAttributeValues": used} if used else {})}


def prepare(dynamodb: Any, table: str, attributes: Attributes | None) -> Any:
    """The item with these attributes, or no item."""
    if attributes is None:
        dynamodb("DeleteItem", TableName=table, Key=KEY)
        return None
    item = {**KEY, **attributes}
    dynamodb.put(table, item)
    return item


@pytest.fixture
def updated(dynamodb: Any, table: str) -> Callable[..., Any]:
    """What an update leaves, its key aside: `updated({"a": ...}, "SET a = :v", v=...)`. None: no item."""

    def ask(attributes: Attributes | None, expression: str, **values: Any) -> Any:
        request = {"TableName": table, "Key": KEY, **clauses(expression, values)}
        prepare(dynamodb, table, attributes)
        dynamodb("UpdateItem", **request)
        item = dynamodb.get(table, **KEY)
        prepare(dynamodb, table, attributes)
        dynamodb("TransactWriteItems", TransactItems=[{"Update": request}])
        assert dynamodb.get(table, **KEY) == item
        return None if item is None else {name: item[name] for name in item if name != "pk"}

    return ask


@pytest.fixture
def refused(dynamodb: Any, table: str) -> Callable[..., str]:
    """Why an update is refused, which changes nothing; a transaction tells it as a reason or at once."""

    def ask(attributes: Attributes | None, expression: str, **values: Any) -> str:
        request = {"TableName": table, "Key": KEY, **clauses(expression, values)}
        before = prepare(dynamodb, table, attributes)
        code, message = dynamodb.refusal("UpdateItem", **request)
        assert code == "ValidationException"
        answer = dynamodb.answer("TransactWriteItems", TransactItems=[{"Update": request}])
        told = answer.json.get("CancellationReasons", [{"Code": "ValidationError", **answer.json}])[0]
        assert (answer.status, told["Code"], told.get("Message", told.get("message"))) == (
            400,
            "ValidationError",
            message,
        )
        assert dynamodb.get(table, **KEY) == before
        return str(message).removeprefix("Invalid UpdateExpression: ")

    return ask


# Items that are not there


@pytest.mark.parametrize(
    "clause", [{}, {"AttributeUpdates": {}}, {"ConditionExpression": "attribute_not_exists(pk)"}]
)
def test_an_update_without_actions_makes_an_item_of_the_key(
    dynamodb: Any, table: str, clause: Attributes
) -> None:
    for _ in range(1 if "ConditionExpression" in clause else 2):
        assert dynamodb("UpdateItem", TableName=table, Key=KEY, **clause) == {}
        assert dynamodb.get(table, **KEY) == KEY


def test_an_update_without_actions_changes_no_item(dynamodb: Any, table: str) -> None:
    dynamodb.put(table, {**KEY, "a": number(1)})
    dynamodb("UpdateItem", TableName=table, Key=KEY)
    assert dynamodb.get(table, **KEY) == {**KEY, "a": number(1)}


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("REMOVE a", {}),
        ("REMOVE a.b, c[1]", {}),
        ("DELETE a :s", {"s": {"SS": ["x"]}}),
        ("DELETE a.b :s REMOVE c", {"s": {"NS": ["1"]}}),
    ],
)
def test_removing_from_no_item_makes_none(updated: Any, expression: str, values: Attributes) -> None:
    assert updated(None, expression, **values) is None
    assert updated(None, f"{expression} SET z = :z", **values, z=number(1)) == {"z": number(1)}


@pytest.mark.parametrize("change", [{"Action": "DELETE"}, {"Action": "DELETE", "Value": {"SS": ["x"]}}])
def test_a_legacy_delete_from_no_item_makes_none(dynamodb: Any, table: str, change: Attributes) -> None:
    request = {"TableName": table, "Key": KEY, "ReturnValues": "ALL_NEW"}
    assert dynamodb("UpdateItem", **request, AttributeUpdates={"a": change}) == {}
    assert dynamodb.get(table, **KEY) is None
    both = {"a": change, "b": {"Value": number(1)}}
    assert dynamodb("UpdateItem", **request, AttributeUpdates=both) == {"Attributes": {**KEY, "b": number(1)}}


# Keys


@pytest.mark.store_only
@pytest.mark.parametrize(
    "clause",
    [
        clauses("SET {} = :v", {"v": text_of("k")}),
        clauses("SET a = :v, {} = :v", {"v": text_of("k")}),
        clauses("REMOVE {}", {}),
        clauses("ADD {} :v", {"v": number(1)}),
        clauses("DELETE {} :v", {"v": {"SS": ["x"]}}),
        {"AttributeUpdates": {"{}": {"Value": text_of("k")}}},
        {"AttributeUpdates": {"{}": {"Action": "DELETE"}}},
        {"AttributeUpdates": {"{}": {"Action": "ADD", "Value": number(1)}, "a": {"Value": number(1)}}},
    ],
)
@pytest.mark.parametrize("name", ["pk", "sk"])
def test_a_key_attribute_is_not_updated(dynamodb: Any, name: str, clause: dict[str, Any]) -> None:
    """Not even to the value that it has."""
    table = dynamodb.create("pk:S", "sk:S")
    item = {"pk": text_of("k"), "sk": text_of("k")}
    dynamodb.put(table, item)
    if "UpdateExpression" in clause:
        clause = {**clause, "UpdateExpression": clause["UpdateExpression"].format(name)}
    else:
        clause = {
            "AttributeUpdates": {key.format(name): how for key, how in clause["AttributeUpdates"].items()}
        }
    assert dynamodb.invalid("UpdateItem", TableName=table, Key=item, **clause) == IS_KEY.format(name)
    assert dynamodb.items(table) == [item]


def test_a_transaction_updates_no_key_attribute(refused: Any) -> None:
    assert refused({"a": number(1)}, "SET pk = :v", v=text_of("k")) == IS_KEY.format("pk")
    assert refused(None, "REMOVE pk") == IS_KEY.format("pk")


def test_no_action_reads_below_a_key_attribute(refused: Any) -> None:
    for expression in ("SET a = pk.x", "SET a = if_not_exists(pk[0], :v)", "SET a = pk[1] + :v"):
        used = {"v": number(1)} if ":v" in expression else {}
        assert refused({}, expression, **used) == f"{SCALARS}Key: pk"


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("SET x.y = :v", {"v": number(1)}),
        ("SET x[0] = :v", {"v": number(1)}),
        ("REMOVE x.y", {}),
        ("ADD x.y :v", {"v": number(1)}),
        ("DELETE x[1] :v", {"v": {"SS": ["a"]}}),
        ("SET a = x[0]", {}),
        ("SET a = list_append(b, x.y)", {}),
    ],
)
def test_no_action_leads_below_an_index_key_attribute(
    dynamodb: Any, expression: str, values: Attributes
) -> None:
    table = dynamodb.create("pk:S", attributes=["x:S"], GlobalSecondaryIndexes=[dynamodb.index("by-x", "x")])
    item = {**KEY, "x": text_of("x"), "b": elements("a")}
    for before in (None, item):
        prepare(dynamodb, table, before)
        refusal = dynamodb.invalid("UpdateItem", TableName=table, Key=KEY, **clauses(expression, values))
        assert refusal == f"{SCALARS}IndexKey: x"
        assert dynamodb.get(table, **KEY) == before


# REMOVE


@pytest.mark.parametrize(
    ("expression", "after"),
    [
        ("REMOVE x", None),
        ("REMOVE m.x", None),
        ("REMOVE m.n.x", None),
        ("REMOVE l[9]", None),
        ("REMOVE l[1].x", None),
        ("REMOVE m.a", {"m": {"M": {"n": {"M": {}}}}}),
        ("REMOVE l[0]", {"l": elements({"M": {"a": number(1)}})}),
        ("REMOVE l[1].a", {"l": elements("a", {"M": {}})}),
    ],
)
def test_remove(updated: Any, expression: str, after: Attributes | None) -> None:
    """What is not there is removed by doing nothing, as long as there is what it would be in."""
    item = {"m": {"M": {"a": number(1), "n": {"M": {}}}}, "l": elements("a", {"M": {"a": number(1)}})}
    assert updated(item, expression) == {**item, **(after or {})}


@pytest.mark.store_only
@pytest.mark.parametrize(
    "path", ["x.y", "x[0]", "x.y.z", "m.x.y", "s.y", "s[0]", "m[0]", "l.y", "l[5].y", "m.s.y"]
)
def test_below_what_is_not_there_nothing_is_changed(refused: Any, path: str) -> None:
    item = {"m": {"M": {"s": number(1)}}, "l": elements("a"), "s": text_of("text")}
    assert refused(item, f"SET {path} = :v", v=number(1)) == NO_PATH
    assert refused(item, f"REMOVE {path}") == NO_PATH
    assert refused(item, f"ADD {path} :v", v=number(1)) == NO_PATH
    assert refused(item, f"DELETE {path} :v", v={"SS": ["a"]}) == NO_PATH
    assert refused(None, f"SET {path} = :v", v=number(1)) == NO_PATH
    assert refused(item, f"SET ok = :v REMOVE {path}", v=number(1)) == NO_PATH


# Lists


@pytest.mark.parametrize(
    ("expression", "after"),
    [
        ("SET l[1] = :x", ["a", "x", "c"]),
        ("SET l[3] = :x", ["a", "b", "c", "x"]),
        ("SET l[99] = :x", ["a", "b", "c", "x"]),
        ("SET l[99] = :x, l[50] = :y, l[0] = :x", ["x", "b", "c", "y", "x"]),
        ("REMOVE l[0]", ["b", "c"]),
        ("REMOVE l[0], l[2]", ["b"]),
        ("REMOVE l[2], l[1], l[0]", []),
        ("REMOVE l[3], l[99]", ["a", "b", "c"]),
        ("REMOVE l[0] SET l[1] = :x, l[2] = :y", ["x", "y"]),
        ("REMOVE l[0] SET l[3] = :x", ["b", "c", "x"]),
        ("REMOVE l[9] SET l[3] = :x", ["a", "b", "c", "x"]),
        ("SET l[0] = l[2], l[2] = l[0]", ["c", "b", "a"]),
        ("SET l = list_append(l, :l)", ["a", "b", "c", "x", "y"]),
        ("SET l = list_append(:l, l)", ["x", "y", "a", "b", "c"]),
        ("SET l = list_append(l, l)", ["a", "b", "c", "a", "b", "c"]),
    ],
)
def test_lists(updated: Any, expression: str, after: list[str]) -> None:
    values = {"x": text_of("x"), "y": text_of("y"), "l": elements("x", "y")}
    used = {name: values[name] for name in values if f":{name}" in expression}
    assert updated({"l": elements("a", "b", "c")}, expression, **used) == {"l": elements(*after)}


@pytest.mark.store_only
@a_few
@given(st.integers(0, 5), st.dictionaries(st.integers(0, 9), st.sampled_from(["SET", "REMOVE"]), min_size=1))
def test_every_index_means_the_list_as_it_was(updated: Any, size: int, actions: dict[int, str]) -> None:
    """What is set beyond the end is appended in the order of the indexes; what is removed goes at the end."""
    before = [f"old {index}" for index in range(size)]
    sets = [index for index, action in actions.items() if action == "SET"]
    removes = [index for index, action in actions.items() if action == "REMOVE"]
    kept = [f"new {i}" if i in sets else text for i, text in enumerate(before) if i not in removes]
    appended = [f"new {index}" for index in sorted(sets) if index >= size]
    sections = []
    if sets:
        sections.append("SET " + ", ".join(f"l[{index}] = :v{index}" for index in sets))
    if removes:
        sections.append("REMOVE " + ", ".join(f"l[{index}]" for index in removes))
    values = {f"v{index}": text_of(f"new {index}") for index in sets}
    after = updated({"l": elements(*before)}, " ".join(sections), **values)
    assert after == {"l": elements(*kept, *appended)}


def test_only_the_legacy_add_appends_to_a_list(dynamodb: Any, table: str, refused: Any) -> None:
    for current, after in ((elements("a"), elements("a", "b")), (None, elements("b"))):
        prepare(dynamodb, table, {} if current is None else {"a": current})
        add = {"a": {"Action": "ADD", "Value": elements("b")}}
        dynamodb("UpdateItem", TableName=table, Key=KEY, AttributeUpdates=add)
        assert dynamodb.get(table, **KEY) == {**KEY, "a": after}
        assert refused({"a": current or {"L": []}}, "ADD a :v", v=elements("b")) == (
            "Incorrect operand type for operator or function; operator: ADD, operand type: LIST"
        )


# ADD and DELETE


@pytest.mark.parametrize(
    ("before", "expression", "operand", "after"),
    [
        (None, "ADD a :v", number(5), number(5)),
        ({}, "ADD a :v", number(-5), number(-5)),
        ({"a": number(1)}, "ADD a :v", number("1.5"), number("2.5")),
        ({"a": number(1)}, "ADD a :v", number(-1), number(0)),
        ({}, "ADD a :v", {"SS": ["x"]}, {"SS": ["x"]}),
        (None, "ADD a :v", {"BS": ["AQ=="]}, {"BS": ["AQ=="]}),
        ({"a": {"SS": ["x", "y"]}}, "ADD a :v", {"SS": ["z", "y"]}, {"SS": ["x", "y", "z"]}),
        ({"a": {"NS": ["1"]}}, "ADD a :v", {"NS": ["2", "1.0"]}, {"NS": ["1", "2"]}),
        ({"a": {"BS": ["AQ=="]}}, "ADD a :v", {"BS": ["Ag=="]}, {"BS": ["AQ==", "Ag=="]}),
        ({"a": {"SS": ["x", "y"]}}, "DELETE a :v", {"SS": ["z", "y"]}, {"SS": ["x"]}),
        ({"a": {"NS": ["1", "2"]}}, "DELETE a :v", {"NS": ["2e0"]}, {"NS": ["1"]}),
        ({"a": {"BS": ["AQ==", "Ag=="]}}, "DELETE a :v", {"BS": ["Ag=="]}, {"BS": ["AQ=="]}),
        ({"a": {"SS": ["x"]}}, "DELETE a :v", {"SS": ["y", "x"]}, None),
        ({}, "DELETE a :v", {"SS": ["x"]}, None),
    ],
)
def test_add_and_delete(
    updated: Any, before: Attributes | None, expression: str, operand: Any, after: Any
) -> None:
    found = updated(before, expression, v=operand)
    assert {name: sorted_set(value) for name, value in found.items()} == (
        {} if after is None else {"a": after}
    )


def sorted_set(value: dict[str, Any]) -> dict[str, Any]:
    [(datatype, content)] = value.items()
    return {datatype: sorted(content)} if datatype in ("SS", "NS", "BS") else value


OF_EACH_TYPE: dict[str, Any] = {
    "S": text_of("x"),
    "N": number(1),
    "B": {"B": "AQ=="},
    "BOOL": {"BOOL": True},
    "NULL": {"NULL": True},
    "SS": {"SS": ["x"]},
    "NS": {"NS": ["1"]},
    "BS": {"BS": ["AQ=="]},
    "L": elements("x"),
    "M": {"M": {"x": number(1)}},
}


NAMES = {
    "S": "STRING",
    "N": "NUMBER",
    "B": "BINARY",
    "BOOL": "BOOLEAN",
    "NULL": "NULL",
    "M": "MAP",
    "L": "LIST",
}


@pytest.mark.store_only
@pytest.mark.parametrize("datatype", OF_EACH_TYPE)
def test_add_and_delete_want_an_attribute_of_their_operand_s_type(refused: Any, datatype: str) -> None:
    current = {"a": OF_EACH_TYPE[datatype], "m": {"M": {"a": OF_EACH_TYPE[datatype]}}}
    for other in ("N", "SS", "NS", "BS"):
        if other != datatype:
            assert refused(current, "ADD a :v", v=OF_EACH_TYPE[other]) == WRONG_TYPE
            if other != "N":
                assert refused(current, "DELETE m.a :v", v=OF_EACH_TYPE[other]) == WRONG_TYPE


@pytest.mark.store_only
@pytest.mark.parametrize(
    ("action", "datatype", "shown"),
    [
        *(("ADD", datatype, name) for datatype, name in NAMES.items() if datatype != "N"),
        *(("DELETE", datatype, name) for datatype, name in NAMES.items()),
    ],
)
def test_add_and_delete_take_certain_types(refused: Any, action: str, datatype: str, shown: str) -> None:
    assert refused({}, f"{action} a :v", v=OF_EACH_TYPE[datatype]) == (
        f"Incorrect operand type for operator or function; operator: {action}, operand type: {shown}"
    )


# SET


@pytest.mark.parametrize(
    ("expression", "after"),
    [
        ("SET a = b, b = a", {"a": number(2), "b": number(1)}),
        ("SET a = b REMOVE b", {"a": number(2)}),
        ("SET a = a + :v, b = a + b", {"a": number(2), "b": number(3)}),
        ("ADD a :v SET b = a", {"a": number(2), "b": number(1)}),
        ("SET c = if_not_exists(c, a), a = :v", {"a": number(1), "b": number(2), "c": number(1)}),
        ("SET c = if_not_exists(c, :v), d = if_not_exists(c, b)", {"c": number(1), "d": number(2)}),
    ],
)
def test_all_actions_see_the_item_as_it_was(updated: Any, expression: str, after: Attributes) -> None:
    before = {"a": number(1), "b": number(2)}
    used = {"v": number(1)} if ":v" in expression else {}
    after = after if "REMOVE" in expression else {**before, **after}
    assert updated(before, expression, **used) == after


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("set a = n", number(2)),
        ("Set a = n + :one", number(3)),
        ("SET a = n - :one", number(1)),
        ("SET a = :one - n", number(-1)),
        ("SET a = n + n", number(4)),
        ("SET a = (n + :one)", number(3)),
        ("SET a = (n) + (:one)", number(3)),
        ("SET a = if_not_exists(a, n)", number(2)),
        ("SET a = if_not_exists(n, x)", number(2)),
        ("SET a = if_not_exists(x, if_not_exists(y.z, n))", number(2)),
        ("SET a = if_not_exists(x, :one) + n", number(3)),
        ("SET a = n - if_not_exists(n, :one)", number(0)),
        ("SET a = list_append(if_not_exists(x, l), l)", elements("a", "a")),
        ("SET a = list_append(list_append(l, l), l)", elements("a", "a", "a")),
        ("SET a = m.x", number(7)),
        ("SET a = l[0]", text_of("a")),
        ("SET a = m", {"M": {"x": number(7)}}),
        ("SET a = pk", text_of("k")),
    ],
)
def test_right_hand_sides(updated: Any, expression: str, value: Any) -> None:
    before = {"n": number(2), "l": elements("a"), "m": {"M": {"x": number(7)}}}
    used = {"one": number(1)} if ":one" in expression else {}
    assert updated(before, expression, **used) == {**before, "a": value}


@pytest.mark.store_only
@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("SET a = b + c + d", 'Syntax error; token: "+", near: "c + d"'),
        ("SET a = b + c - d", 'Syntax error; token: "-", near: "c - d"'),
        ("SET a = b * c", 'Syntax error; token: "*", near: "b * c"'),
        ("SET a = -b", 'Syntax error; token: "-", near: "= -b"'),
        ("SET a + b = c", 'Syntax error; token: "+", near: "a + b"'),
        ("SET if_not_exists(a, b) = c", 'Syntax error; token: "(", near: "if_not_exists(a"'),
        ("SET a = if_not_exists(b + c, d)", 'Syntax error; token: "+", near: "b + c"'),
        (
            "SET a = if_not_exists(if_not_exists(a, b), c)",
            "Operator or function requires a document path; operator or function: if_not_exists",
        ),
        (
            "SET a = if_not_exists(b)",
            "Incorrect number of operands for operator or function; "
            "operator or function: if_not_exists, number of operands: 1",
        ),
        (
            "SET a = list_append(b, c, d)",
            "Incorrect number of operands for operator or function; "
            "operator or function: list_append, number of operands: 3",
        ),
        ("SET a = IF_NOT_EXISTS(b, c)", "Invalid function name; function: IF_NOT_EXISTS"),
        ("SET a = List_Append(b, c)", "Invalid function name; function: List_Append"),
        ("SET a = nonsense(b)", "Invalid function name; function: nonsense"),
        ("SET a = size(b)", "The function is not allowed in an update expression; function: size"),
        (
            "SET a = list_append(b, list_append(c, d)) + e",
            "Incorrect operand type for operator or function; operator or function: +, operand type: L",
        ),
        *(
            (
                f"{word} a{end} {word.lower()} c{end}",
                f'The "{word}" section can only be used once in an update expression;',
            )
            for word, end in (("SET", " = x"), ("REMOVE", ""), ("ADD", " :v"), ("DELETE", " :v"))
        ),
    ],
)
def test_what_an_update_may_say(refused: Any, expression: str, problem: str) -> None:
    used = {"v": {"SS": ["x"]}} if ":v" in expression else {}
    assert refused({"b": number(1)}, expression, **used) == problem


@pytest.mark.store_only
@pytest.mark.parametrize("operator", ["+", "-", "list_append"])
@pytest.mark.parametrize("datatype", OF_EACH_TYPE)
def test_operands_have_the_type_of_their_operator(refused: Any, operator: str, datatype: str) -> None:
    """A constant is refused at once, an attribute when it is there and of another type."""
    if datatype == ("L" if operator == "list_append" else "N"):
        return
    value = OF_EACH_TYPE[datatype]
    right = OF_EACH_TYPE["L" if operator == "list_append" else "N"]
    incorrect = (
        "Incorrect operand type for operator or function; "
        f"operator or function: {operator}, operand type: {datatype}"
    )
    texts = [
        f"list_append({one}, {two})" if operator == "list_append" else f"{one} {operator} {two}"
        for one, two in ((":v", "b"), ("b", ":v"))
    ]
    for text in texts:
        assert refused({"b": right}, f"SET a = {text}", v=value) == incorrect
    assert refused({"b": value}, f"SET a = {texts[0]}", v=right) == WRONG_TYPE


@pytest.mark.store_only
@pytest.mark.parametrize("before", [None, {}, {"m": {"M": {}}, "l": {"L": []}}])
@pytest.mark.parametrize(
    "value",
    ["x", "x.y", "m.x", "l[0]", "x + :v", ":v - m.x", "list_append(x, :l)", "if_not_exists(x, y)"],
)
def test_what_a_right_hand_side_reads_must_be_there(refused: Any, value: str, before: Any) -> None:
    values = {"v": number(1), "l": {"L": []}}
    used = {name: values[name] for name in values if f":{name}" in value}
    assert refused(before, f"SET a = {value}", **used) == NO_ATTRIBUTE
    assert refused(before, f"SET ok = :ok, a = {value}", **used, ok=number(1)) == NO_ATTRIBUTE


@pytest.mark.parametrize(
    ("expression", "relation", "one", "two"),
    [
        ("SET a = :v, a = :v", "overlap", "[a]", "[a]"),
        ("SET a = :v REMOVE a", "overlap", "[a]", "[a]"),
        ("SET a = :v REMOVE a.b", "overlap", "[a]", "[a, b]"),
        ("REMOVE a.b.c SET a.b = :v", "overlap", "[a, b, c]", "[a, b]"),
        ("ADD a[1] :v DELETE a[1].b :v", "overlap", "[a, [1]]", "[a, [1], b]"),
        ("REMOVE b, a, c, a", "overlap", "[a]", "[a]"),
        ("SET a.b = :v, a[1] = :v", "conflict", "[a, b]", "[a, [1]]"),
        ("REMOVE a[0].b SET a.c = :v", "conflict", "[a, [0], b]", "[a, c]"),
    ],
)
def test_paths_exclude_each_other(refused: Any, expression: str, relation: str, one: str, two: str) -> None:
    used = {"v": {"SS": ["x"]}} if ":v" in expression else {}
    assert refused({"a": {"M": {}}}, expression, **used) == (
        f"Two document paths {relation} with each other; must remove or rewrite one of these paths; "
        f"path one: {one}, path two: {two}"
    )


def test_paths_side_by_side_do_not(updated: Any) -> None:
    before = {"m": {"M": {"a": number(1), "b": number(2)}}, "l": elements("a", "b")}
    expression = "SET m.a = m.b, m.c = l[1], l[0] = m.a REMOVE m.b ADD m.d :v"
    after = {"m": {"M": {"a": number(2), "c": text_of("b"), "d": number(1)}}, "l": elements(number(1), "b")}
    assert updated(before, expression, v=number(1)) == after
