"""The text of expressions: sizes, parentheses, words and syntax, in every place that takes an expression."""

from __future__ import annotations

from itertools import product
from string import ascii_letters, digits
from typing import Any

import pytest

KEY = {"pk": {"S": "k"}}
PROJECTIONS = [
    f"{operation}.ProjectionExpression"
    for operation in ("GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan")
]
CONDITIONS = [
    "Query.FilterExpression",
    "Scan.FilterExpression",
    *(
        f"{operation}.ConditionExpression"
        for operation in ("PutItem", "UpdateItem", "DeleteItem", "Put", "Update", "Delete", "ConditionCheck")
    ),
]
KEY_CONDITIONS = ["Query.KeyConditionExpression"]
UPDATES = ["UpdateItem.UpdateExpression", "Update.UpdateExpression"]
IN_TRANSACTIONS = ("Put", "Update", "Delete", "ConditionCheck")
VALUE = {":v": {"S": "k"}}
GOOD = {
    "ProjectionExpression": "x",
    "FilterExpression": "attribute_not_exists(x)",
    "ConditionExpression": "attribute_not_exists(x)",
    "KeyConditionExpression": "pk = :pk",
    "UpdateExpression": "REMOVE x",
}
CONDITION_TEXTS = ["NAME = :v", "x.NAME = :v", "attribute_exists(x[0].NAME)", "x IN (y, NAME)"]
WITH_NAME = {
    "ProjectionExpression": ["NAME", "x, NAME", "x.NAME", "x[0].NAME"],
    "FilterExpression": CONDITION_TEXTS,
    "ConditionExpression": CONDITION_TEXTS,
    "KeyConditionExpression": ["NAME = :v"],
    "UpdateExpression": [
        "SET NAME = :v",
        "SET x.NAME = :v",
        "SET x = NAME",
        "SET x = if_not_exists(y[0].NAME, :v)",
        "REMOVE x, NAME",
        "ADD NAME :v",
        "DELETE NAME :v",
    ],
}
CONDITION_PARENTHESES = [
    ("((x <> :v))", "(x <> :v)"),
    ("x <> :v AND ((x <> :v AND x <> :v))", "x <> :v AND (x <> :v AND x <> :v)"),
    ("((x)) <> :v", "(x) <> :v"),
    ("(x <> ((:v)))", "((x) <> (:v))"),
    ("NOT ((x = :v))", "(NOT (x = :v))"),
    ("attribute_not_exists(((x))) OR y = :v", "(attribute_not_exists((x)) OR (y = :v))"),
]
UPDATE_PARENTHESES = [
    ("SET x = ((:v))", "SET x = (:v)"),
    ("SET x = ((:v + :v))", "SET x = ((:v) + (:v))"),
]
everywhere = pytest.mark.parametrize("place", PROJECTIONS + CONDITIONS + KEY_CONDITIONS + UPDATES)


def request(
    place: str, table: str, text: str, names: Any = None, values: Any = None
) -> tuple[str, dict[str, Any]]:
    """The operation, and the request that holds the expression in that place: `Operation.Parameter`."""
    operation, _, parameter = place.partition(".")
    clauses: dict[str, Any] = {parameter: text}
    if operation == "Query" and parameter != "KeyConditionExpression":
        clauses["KeyConditionExpression"] = "pk = :pk"
        values = {**(values or {}), ":pk": KEY["pk"]}
    if operation == "Update" and parameter != "UpdateExpression":
        clauses["UpdateExpression"] = "REMOVE untouched"
    if names:
        clauses["ExpressionAttributeNames"] = names
    if values:
        clauses["ExpressionAttributeValues"] = values
    if operation == "BatchGetItem":
        return operation, {"RequestItems": {table: {"Keys": [KEY], **clauses}}}
    clauses["TableName"] = table
    if operation in ("PutItem", "Put"):
        clauses["Item"] = KEY
    elif operation not in ("Query", "Scan"):
        clauses["Key"] = KEY
    if operation == "TransactGetItems":
        return operation, {"TransactItems": [{"Get": clauses}]}
    if operation in IN_TRANSACTIONS:
        return "TransactWriteItems", {"TransactItems": [{operation: clauses}]}
    return operation, clauses


def refusal(dynamodb: Any, place: str, table: str, text: str, **placeholders: Any) -> str:
    """The message, which is to come with a ValidationException and name the parameter, without that name."""
    operation, asked = request(place, table, text, **placeholders)
    code, message = dynamodb.refusal(operation, **asked)
    assert code == "ValidationException"
    invalid, _, problem = message.partition(": ")
    assert invalid == f"Invalid {place.partition('.')[2]}", message
    return str(problem)


def used_by(text: str) -> dict[str, Any]:
    """The values that an expression uses."""
    return {"values": VALUE} if ":v" in text else {}


def accepts(dynamodb: Any, place: str, table: str, text: str, **placeholders: Any) -> None:
    operation, asked = request(place, table, text, **placeholders)
    dynamodb(operation, **asked)


@pytest.mark.store_only
@everywhere
def test_a_text_has_4096_bytes_at_most(dynamodb: Any, table: str, place: str) -> None:
    for text, size in (("!" * 4097, 4097), ("é" * 2049, 4098), (" " * 4097, 4097)):
        told = "" if place.endswith("UpdateExpression") else f" expression size: {size}"
        assert refusal(dynamodb, place, table, text) == (
            f"Expression size has exceeded the maximum allowed size;{told}"
        )
    assert refusal(dynamodb, place, table, "!" * 4096).startswith("Syntax error;")
    text = GOOD[place.partition(".")[2]]
    accepts(dynamodb, place, table, text.ljust(4096), values={":pk": KEY["pk"]} if ":pk" in text else None)


def too_many(count: int) -> str:
    return f"The expression contains too many operators; operator count: {count}"


@pytest.mark.store_only
@pytest.mark.parametrize("place", CONDITIONS)
def test_a_condition_has_300_operators_at_most(dynamodb: Any, table: str, place: str) -> None:
    """Comparisons and what joins them count; parentheses and functions do not."""
    values = {":v": {"N": "1"}}
    of_299 = " OR ".join(["x <> :v"] * 150)
    bracketed = " OR ".join(["(x <> :v)"] * 150)
    functions = " OR ".join(["attribute_not_exists(x)"] * 151)
    for more in (" OR x <> :v", " AND NOT x = :v", " OR x BETWEEN :v AND :v", " OR x IN (:v, :v)"):
        count = 302 if "NOT" in more else 301
        for text in (of_299, bracketed):
            assert refusal(dynamodb, place, table, text + more, values=values) == too_many(count)
    for text in (f"NOT {of_299}", f"NOT {bracketed}"):
        accepts(dynamodb, place, table, text, values=values)
    accepts(dynamodb, place, table, functions)


@pytest.mark.store_only
@pytest.mark.parametrize("place", UPDATES)
def test_an_update_has_300_operators_at_most(dynamodb: Any, table: str, place: str) -> None:
    """Sums, differences and functions count."""
    values = {":v": {"N": "1"}}
    names = ["".join(pair) for pair in product(ascii_letters, digits)]
    sums = [f"{name}=:v+:v" for name in names[:301]]
    both = [f"{name}=if_not_exists(x,:v)-:v" for name in names[:150]]
    for actions, count in ((sums, 301), ([*both, "z=:v+:v"], 301), ([*both, "z=if_not_exists(x,:v)"], 301)):
        text = f"SET {','.join(actions)}"
        assert refusal(dynamodb, place, table, text, values=values) == too_many(count)
        accepts(dynamodb, place, table, f"SET {','.join(actions[:-1])}", values=values)


@pytest.mark.store_only
@pytest.mark.parametrize(
    ("place", "redundant", "fine"),
    [
        *((place, text, fine) for place in CONDITIONS for text, fine in CONDITION_PARENTHESES),
        *((place, "((pk = :v))", "(pk = :v)") for place in KEY_CONDITIONS),
        *((place, text, fine) for place in UPDATES for text, fine in UPDATE_PARENTHESES),
    ],
)
def test_doubled_parentheses_are_redundant(
    dynamodb: Any, table: str, place: str, redundant: str, fine: str
) -> None:
    values = {":v": {"S": "k"}} if place in KEY_CONDITIONS else {":v": {"N": "1"}}
    problem = refusal(dynamodb, place, table, redundant, values=values)
    assert problem == "The expression has redundant parentheses;"
    assert dynamodb.get(table, **KEY) is None
    accepts(dynamodb, place, table, fine, values=values)


@everywhere
def test_a_reserved_word_needs_a_placeholder(dynamodb: Any, table: str, place: str) -> None:
    """Whatever its case, and wherever in a path; the message has it as it was typed."""
    templates = WITH_NAME[place.partition(".")[2]]
    for word, template in [("Data", templates[0]), ("NAME", templates[0]), *product(["status"], templates)]:
        text = template.replace("NAME", word)
        assert refusal(dynamodb, place, table, text, **used_by(text)) == (
            f"Attribute name is a reserved keyword; reserved keyword: {word}"
        ), text
    assert dynamodb.get(table, **KEY) is None


@pytest.mark.store_only
@everywhere
def test_a_bare_name_is_letters_then_letters_digits_and_underscores(
    dynamodb: Any, table: str, place: str
) -> None:
    template, *others = WITH_NAME[place.partition(".")[2]]
    names = ["1a", "ä", "a%b", "a b", '"a"', "$a", "a#", "a:"]
    for text in [template.replace("NAME", name) for name in names] + [
        other.replace("NAME", "_a") for other in (template, *others)
    ]:
        problem = refusal(dynamodb, place, table, text, **used_by(text))
        assert problem.startswith("Syntax error; token: "), text


@pytest.mark.store_only
@everywhere
def test_any_other_name_stands_behind_a_placeholder(dynamodb: Any, table: str, place: str) -> None:
    name = "pk" if place in KEY_CONDITIONS else "a-b.c 1\u00e4[0]#:"
    text = {
        "ProjectionExpression": "NAME, NAME_1.NAME, NAME_2[0]",
        "KeyConditionExpression": "NAME = :v",
        "UpdateExpression": "REMOVE NAME, NAME_1, NAME_2",
    }.get(place.partition(".")[2], "attribute_not_exists(NAME)")
    aliases = {"#9": name, "#9_1": "pk2", "#9_2": "status"}
    names = {alias: aliases[alias] for alias in aliases if alias.replace("#9", "NAME") in text}
    accepts(dynamodb, place, table, text.replace("NAME", "#9"), names=names, **used_by(text))


@pytest.mark.parametrize(
    ("places", "text", "token", "near"),
    [
        (PROJECTIONS, "a b", "b", "a b"),
        (PROJECTIONS, "!!! a !!!", "!", "!!"),
        (PROJECTIONS, "a,,b", ",", ",,b"),
        (PROJECTIONS, "a[b]", "b", "[b]"),
        (PROJECTIONS, "(a)", "(", "(a"),
        (PROJECTIONS, "a, :w", ":w", ", :w"),
        (CONDITIONS, "a  x b", "x", "a  x b"),
        (CONDITIONS, "a = b c", "c", "b c"),
        (CONDITIONS, "a > 4", "4", "> 4"),
        (CONDITIONS, "a IN ()", ")", "()"),
        (CONDITIONS, "a =", "<EOF>", "="),
        (CONDITIONS, "a", "<EOF>", "a"),
        (CONDITIONS, "a = b AND", "<EOF>", "AND"),
        (CONDITIONS, "(a = b", "<EOF>", "b"),
        (CONDITIONS, "a.:v = b", ":v", ".:v ="),
        (CONDITIONS, "a =\u00a0b", "\u00a0", "=\u00a0b"),
        (KEY_CONDITIONS, "pk == :v", "=", "== :v"),
        (KEY_CONDITIONS, "pk", "<EOF>", "pk"),
        (UPDATES, "a x b", "a", "a x"),
        (UPDATES, "SET\t\r\na b", "b", "a b"),
        (UPDATES, "SET a = b + c + d", "+", "c + d"),
        (UPDATES, "SET a = b,", "<EOF>", ","),
        (UPDATES, "REMOVE a = b", "=", "a = b"),
        (UPDATES, "ADD a b", "b", "a b"),
        (UPDATES, "DELETE a if_not_exists(b, :v)", "if_not_exists", "a if_not_exists("),
        (UPDATES, "SET :v = a", ":v", "SET :v ="),
    ],
)
def test_a_syntax_error_shows_the_token_between_its_neighbours(
    dynamodb: Any, table: str, places: list[str], text: str, token: str, near: str
) -> None:
    for place in places:
        problem = refusal(dynamodb, place, table, text, **used_by(text))
        assert problem == f'Syntax error; token: "{token}", near: "{near}"', place
    assert dynamodb.get(table, **KEY) is None


@everywhere
def test_an_expression_is_not_empty(dynamodb: Any, table: str, place: str) -> None:
    assert refusal(dynamodb, place, table, "") == "The expression can not be empty;"
    assert dynamodb.get(table, **KEY) is None


@pytest.mark.store_only
@everywhere
def test_an_index_of_a_list_has_its_limits(dynamodb: Any, table: str, place: str) -> None:
    for template in WITH_NAME[place.partition(".")[2]]:
        text = template.replace("NAME", "a[4294967295]")
        assert refusal(dynamodb, place, table, text, **used_by(text)) == (
            "List index is not within the allowable range; index: [4294967295]"
        )
