"""ExecuteStatement: what statements do, answer and refuse.

Answers and messages are those that the public Parity Suite recorded on the live service, where it has them.
"""

from __future__ import annotations

from typing import Any

import pytest

from backend.errors import ServiceError


def s(text: str) -> dict[str, str]:
    return {"S": text}


def n(text: str | int) -> dict[str, str]:
    return {"N": str(text)}


@pytest.fixture
def run(store):
    """`run(statement, *parameters, Limit=...)` gives the response."""
    store.create("hash", "pk:S")
    store.create("numbers", "pk:N")
    store.create("pairs", "pk:S", "sk:S")

    def execute(statement: str, *parameters: Any, **options: Any) -> Any:
        if parameters:
            options["Parameters"] = list(parameters)
        return store("ExecuteStatement", Statement=statement, **options)

    return execute


@pytest.fixture
def items(run):
    """`items(statement)` gives the items of all pages."""

    def collect(statement: str, *parameters: Any, **options: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        token: dict[str, Any] = {}
        while True:
            page = run(statement, *parameters, **options, **token)
            found += page["Items"]
            if "NextToken" not in page:
                return found
            token = {"NextToken": page["NextToken"]}

    return collect


@pytest.fixture
def stored(store):
    def get(key: str, table: str = "hash") -> Any:
        return store("GetItem", TableName=table, Key={"pk": s(key)}, ConsistentRead=True).get("Item")

    return get


@pytest.fixture
def refusal(run):
    def refused(statement: str, *parameters: Any, **options: Any) -> tuple[str, str | None]:
        with pytest.raises(ServiceError) as error:
            run(statement, *parameters, **options)
        return error.value.code, error.value.message

    return refused


@pytest.fixture
def item(run, store):
    """One item with a value of most types."""
    content = {
        "pk": s("a"),
        "ss": {"SS": ["a", "b", "c"]},
        "ns": {"NS": ["1", "2", "3"]},
        "s": s("str"),
        "n": n(5),
        "m": {"M": {"sub": s("x"), "deep": {"L": [n(1), n(2)]}}},
        "nul": {"NULL": True},
        "flag": {"BOOL": True},
    }
    store("PutItem", TableName="hash", Item=content)
    return content


@pytest.fixture
def pairs(run, store):
    for key in ("a", "b"):
        for sort in "1234":
            item = {"pk": s(key), "sk": s(sort), "x": n(int(sort) % 2)}
            store("PutItem", TableName="pairs", Item=item)


def keys(found: list[dict[str, Any]]) -> list[str]:
    return [one["pk"]["S"] + one["sk"]["S"] for one in found]


# INSERT


def test_insert_puts_an_item_of_literals_and_parameters(run, stored):
    assert run("INSERT INTO hash VALUE {'pk': 'a', 'n': 1e2, 'l': [true, ?], 's': <<1, 2>>}", s("x")) == {
        "Items": []
    }
    assert stored("a") == {
        "pk": s("a"),
        "n": n(100),
        "l": {"L": [{"BOOL": True}, s("x")]},
        "s": {"NS": ["1", "2"]},
    }


def test_insert_never_replaces(run, refusal, stored):
    run("INSERT INTO hash VALUE {'pk': 'a', 'v': 1}")
    expected = ("DuplicateItemException", "Duplicate primary key exists in table")
    assert refusal("INSERT INTO hash VALUE {'pk': 'a', 'v': 2}") == expected
    assert stored("a")["v"] == n(1)


def test_a_refused_insert_shows_the_item_when_asked(run, store):
    run("INSERT INTO hash VALUE {'pk': 'a', 'v': 1}")
    with pytest.raises(ServiceError) as error:
        run("INSERT INTO hash VALUE {'pk': 'a'}", ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert error.value.fields["Item"] == {"pk": s("a"), "v": n(1)}


def test_insert_without_the_key_is_refused(refusal):
    assert refusal("INSERT INTO hash VALUE {'a': 1}") == (
        "ValidationException",
        "One or more parameter values were invalid: Missing the key pk in the item",
    )


# UPDATE


def test_update_changes_sets_removes_and_appends(run, item, stored):
    statement = (
        "UPDATE hash SET n = n + 1 SET m.deep = list_append(m.deep, [3]) SET ss = set_add(ss, <<'z'>>) "
        "SET ns = SET_DELETE(ns, <<2>>) SET new = 'x' REMOVE flag WHERE pk = 'a' AND s = 'str'"
    )
    assert run(statement) == {"Items": []}
    found = stored("a")
    assert found["n"] == n(6)
    assert found["m"]["M"]["deep"] == {"L": [n(1), n(2), n(3)]}
    assert sorted(found["ss"]["SS"]) == ["a", "b", "c", "z"]
    assert sorted(found["ns"]["NS"]) == ["1", "3"]
    assert found["new"] == s("x")
    assert "flag" not in found


def test_the_from_first_form_updates_too(run, item, stored):
    run("FROM hash WHERE pk = ? SET c = ?", s("a"), n(7))
    assert stored("a")["c"] == n(7)


@pytest.mark.parametrize("condition", ["n = 6", "attribute_exists(nope)", "s IS MISSING", "NOT flag = true"])
def test_the_rest_of_where_is_a_condition(refusal, item, stored, condition):
    expected = ("ConditionalCheckFailedException", "The conditional request failed")
    assert refusal(f"UPDATE hash SET z = 1 WHERE pk = 'a' AND {condition}") == expected
    assert refusal(f"DELETE FROM hash WHERE pk = 'a' AND {condition}") == expected
    assert stored("a") == item


def test_update_never_creates(refusal, stored):
    code, _ = refusal("UPDATE hash SET z = 1 WHERE pk = 'absent'")
    assert code == "ConditionalCheckFailedException"
    code, _ = refusal("UPDATE hash SET z = 1 WHERE pk = 'absent' AND attribute_not_exists(pk)")
    assert code == "ConditionalCheckFailedException"
    assert stored("absent") is None


@pytest.mark.parametrize(
    ("returning", "expected"),
    [
        ("ALL OLD", [{"pk": s("u"), "a": n(1), "m": {"M": {"x": n(1), "y": n(2)}}}]),
        ("ALL NEW", [{"pk": s("u"), "a": n(1), "m": {"M": {"x": n(9), "y": n(2)}}}]),
        ("MODIFIED OLD", [{"m": {"M": {"x": n(1)}}}]),
        ("MODIFIED NEW", [{"m": {"M": {"x": n(9)}}}]),
    ],
)
def test_update_returning(run, returning, expected):
    run("INSERT INTO hash VALUE {'pk': 'u', 'a': 1, 'm': {'x': 1, 'y': 2}}")
    assert run(f"UPDATE hash SET m.x = 9 WHERE pk = 'u' RETURNING {returning} *") == {"Items": expected}


def test_update_returning_nothing_is_an_empty_list(run, item):
    assert run("UPDATE hash REMOVE flag WHERE pk = 'a' RETURNING MODIFIED NEW *") == {"Items": []}
    assert run("UPDATE hash SET fresh = 1 WHERE pk = 'a' RETURNING MODIFIED OLD *") == {"Items": []}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE hash SET c = 1",
        "FROM hash SET c = 1",
        "FROM hash WHERE a = 1 SET c = 1",
        "UPDATE hash SET c = 1 WHERE pk IN ['a']",
        "UPDATE hash SET c = 1 WHERE pk = 'a' OR pk = 'b'",
        "UPDATE pairs SET c = 1 WHERE pk = 'a'",
        "DELETE FROM pairs WHERE pk = 'a' AND sk > '1'",
    ],
)
def test_a_write_names_its_whole_key(refusal, statement):
    assert refusal(statement) == (
        "ValidationException",
        "Where clause does not contain a mandatory equality on all key attributes",
    )


# DELETE


def test_delete(run, item, stored):
    assert run("DELETE FROM hash WHERE 'a' = pk AND attribute_not_exists(nope)") == {"Items": []}
    assert stored("a") is None
    assert run("DELETE FROM hash WHERE pk = 'a'") == {"Items": []}


def test_delete_returning_all_old(run, item):
    assert run("DELETE FROM hash WHERE pk = 'a' RETURNING ALL OLD *") == {"Items": [item]}
    assert run("DELETE FROM hash WHERE pk = 'a' RETURNING ALL OLD *") == {"Items": []}


@pytest.mark.parametrize("returning", ["MODIFIED OLD", "ALL NEW", "MODIFIED NEW"])
def test_delete_returns_nothing_else(refusal, returning):
    assert refusal(f"DELETE FROM hash WHERE pk = 'x' RETURNING {returning} *") == (
        "ValidationException",
        f"Invalid returning clause: RETURNING {returning} *. "
        "Only RETURNING ALL OLD * is allowed in DELETE statements.",
    )


# SELECT


@pytest.mark.parametrize(
    "condition",
    [
        "attribute_exists(ss)",
        "ATTRIBUTE_EXISTS(ss)",
        "NOT attribute_exists(nope)",
        "(attribute_exists(nope) OR attribute_exists(ss))",
        "attribute_exists(ss) = true",
        "attribute_exists(nope) = false",
        'attribute_exists("ss")',
        "attribute_exists(m.sub)",
        "size(s) = 3",
        "attribute_type(ss, 'SS')",
        "nul IS NULL",
        "s IS NOT NULL",
        "flag IS BOOL",
        "s IS STRING",
        "n IS INT",
        "ss IS BAG",
        "nope IS MISSING",
        "s IS NOT MISSING",
        "begins_with(s, 'st')",
        "contains(ss, 'b')",
        "n BETWEEN 4 AND 6",
        "n NOT BETWEEN 6 AND 7",
        "n IN [4, 5]",
        "n IN (4, 5)",
        "NOT n IN [1, 2]",
        "n <> 4",
        "n != 4",
        "5 >= n",
        "n = 2 + 3",
        "m.deep[1] = 2",
        "ss = <<'c', 'a', 'b'>>",
        "m = {'deep': [1, 2], 'sub': 'x'}",
        "pk > 'Z'",
    ],
)
def test_conditions_that_hold_filter_nothing_out(items, item, condition):
    assert items(f"SELECT * FROM hash WHERE pk = 'a' AND {condition}") == [item]
    assert items(f"SELECT * FROM hash WHERE pk = 'a' AND NOT ({condition})") == []
    assert items(f"SELECT * FROM hash WHERE {condition}") == [item]


def test_projections_name_the_last_part_of_a_path(run, item):
    page = run("SELECT pk, m.sub, m.deep[1], nope FROM hash WHERE pk = 'a'")
    assert page["Items"] == [{"pk": s("a"), "sub": s("x"), "deep[1]": n(2)}]


def test_an_exponent_denotes_its_number(run, items):
    run("INSERT INTO numbers VALUE {'pk': 7.31e6}")
    run("INSERT INTO numbers VALUE {'pk': -.73e1}")
    for literal in ("7.31E6", "7.31e+6", "731e4", "73100000e-1", "7310000"):
        assert items(f"SELECT * FROM numbers WHERE pk = {literal}") == [{"pk": n(7310000)}]
    assert items("SELECT * FROM numbers WHERE pk = -7.3") == [{"pk": n("-7.3")}]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("pk = 'a'", ["a1", "a2", "a3", "a4"]),
        ("pk = 'a' AND sk = '2'", ["a2"]),
        ("pk = 'a' AND sk > '2'", ["a3", "a4"]),
        ("pk = 'a' AND '2' > sk", ["a1"]),
        ("pk = 'a' AND sk <= '2'", ["a1", "a2"]),
        ("pk = 'a' AND sk BETWEEN '2' AND '3'", ["a2", "a3"]),
        ("pk = 'a' AND begins_with(sk, '3')", ["a3"]),
        ("pk = 'a' AND sk <> '1' AND x = 1", ["a3"]),
        ("pk = 'a' AND sk >= '2' AND sk < '4'", ["a2", "a3"]),
        ("pk = 'a' AND sk IN ['1', '4']", ["a1", "a4"]),
        ("pk IN ['b', 'a'] AND sk = '1'", ["b1", "a1"]),
        ("pk = 'a' AND sk = '1' OR pk = 'b' AND sk = '2'", ["a1", "b2"]),
        ("pk = 'a' AND sk = '1' OR pk = 'a' AND sk = '3'", ["a1", "a3"]),
        ("pk = 'a' AND NOT sk = '1' OR pk = 'a' AND sk = '2'", ["a2", "a3", "a4"]),
        ("pk = 'a' OR pk = 'a' AND NOT sk = '1'", ["a1", "a2", "a3", "a4"]),
        ("pk = 'absent'", []),
    ],
)
def test_keys_find_their_items(items, pairs, where, expected):
    assert keys(items(f"SELECT * FROM pairs WHERE {where}")) == expected


@pytest.mark.parametrize(
    "where",
    [
        "pk = 'a' AND x = 1 OR pk = 'a' AND sk = '2'",
        "pk = 'a' AND x <> 1 OR pk = 'a' AND sk = '2'",
        "pk = 'a' AND sk > '1' OR pk = 'a' AND sk = '2'",
    ],
)
def test_or_branches_that_overlap_on_the_sort_key(refusal, pairs, where):
    assert refusal(f"SELECT * FROM pairs WHERE {where}") == (
        "ValidationException",
        "Overlapping conditions with range keys are not supported in where clause",
    )


def test_a_keyed_read_evaluates_only_its_range(run, pairs):
    page = run("SELECT * FROM pairs WHERE pk = 'a' AND sk > '2'", Limit=2)
    assert keys(page["Items"]) == ["a3", "a4"]
    assert "NextToken" in page  # Limit stopped it, even though nothing is left behind
    last = run("SELECT * FROM pairs WHERE pk = 'a' AND sk > '2'", Limit=2, NextToken=page["NextToken"])
    assert last == {"Items": []}


@pytest.mark.parametrize("where", ["", "WHERE x = 1", "WHERE pk = 'a'", "WHERE pk IN ['a', 'b']"])
def test_pages_by_limit_see_everything_once(items, pairs, where):
    statement = f"SELECT * FROM pairs {where}"
    assert items(statement, Limit=1) == items(statement)


def test_ten_values_of_a_partition_key_make_a_page(run, items):
    names = [f"k{number:02d}" for number in range(25)]
    for name in names:
        run("INSERT INTO hash VALUE {'pk': ?}", s(name))
    statement = f"SELECT * FROM hash WHERE pk IN [{', '.join(repr(name) for name in names)}]"
    assert len(run(statement)["Items"]) == 10
    assert [one["pk"]["S"] for one in items(statement)] == names


def test_a_token_is_good_for_its_statement_only(run, refusal, pairs):
    page = run("SELECT * FROM pairs WHERE pk = ?", s("a"), Limit=1)
    foreign = ("ValidationException", "NextToken does not match request")
    token = page["NextToken"]
    assert refusal("SELECT * FROM pairs WHERE pk = ?", s("b"), Limit=1, NextToken=token) == foreign
    assert refusal("SELECT * FROM pairs WHERE pk = 'a'", NextToken=token) == foreign
    assert refusal("INSERT INTO hash VALUE {'pk': 'a'}", NextToken=token) == foreign
    code, message = refusal("SELECT * FROM pairs", NextToken="nonsense")
    assert (code, message) == ("ValidationException", "Invalid NextToken")


# ORDER BY


def test_order_by_the_sort_key(items, pairs):
    assert keys(items("SELECT * FROM pairs WHERE pk = 'a' ORDER BY sk DESC")) == ["a4", "a3", "a2", "a1"]
    assert keys(items("SELECT * FROM pairs WHERE pk = 'a' ORDER BY sk ASC", Limit=1)) == [
        "a1",
        "a2",
        "a3",
        "a4",
    ]
    statement = "SELECT * FROM pairs WHERE pk IN ['a', 'b'] AND sk > '2' ORDER BY pk DESC, sk DESC"
    assert keys(items(statement, Limit=1)) == ["b4", "b3", "a4", "a3"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "SELECT * FROM pairs ORDER BY sk",
            "Must have WHERE clause in the statement when using ORDER BY clause.",
        ),
        (
            "SELECT * FROM pairs WHERE x = 1 ORDER BY sk",
            "Must have at least one non-optional hash key condition in WHERE clause "
            "when using ORDER BY clause.",
        ),
        (
            "SELECT * FROM pairs WHERE pk = 'a' ORDER BY x",
            "Variable reference x in ORDER BY clause must be part of the primary key",
        ),
        (
            "SELECT * FROM pairs WHERE pk IN ['a', 'b'] ORDER BY sk",
            "Must have hash key in ORDER BY clause when more than one hash key condition "
            "specified in WHERE clause.",
        ),
    ],
)
def test_orders_there_are_none_of(refusal, statement, message):
    assert refusal(statement) == ("ValidationException", message)


# Indexes


@pytest.fixture
def indexed(run, store, index_of):
    store.create(
        "indexed",
        "pk:S",
        "sk:S",
        attributes=("g:S", "l:S"),
        GlobalSecondaryIndexes=[
            index_of("all", "g"),
            index_of("some", "g", None, "INCLUDE", ("p",)),
        ],
        LocalSecondaryIndexes=[index_of("local", "pk", "l", "KEYS_ONLY")],
    )
    for sort, more in (
        ("1", {"g": s("x"), "l": s("l1"), "p": s("p1"), "q": s("q1")}),
        ("2", {"g": s("z"), "l": s("l2"), "p": s("p2"), "q": s("q2")}),
        ("3", {"q": s("q3")}),
        ("4", {"g": s("x"), "l": s("l4"), "p": s("p4"), "q": s("q4")}),
    ):
        store("PutItem", TableName="indexed", Item={"pk": s("a"), "sk": s(sort), **more})


def test_an_index_answers_with_what_it_holds(items, indexed):
    assert sorted(keys(items('SELECT * FROM "indexed"."all" WHERE g = \'x\''))) == ["a1", "a4"]
    assert sorted(keys(items('SELECT * FROM "indexed"."all"'))) == ["a1", "a2", "a4"]
    found = items('SELECT * FROM "indexed"."some" WHERE g = \'z\'')
    assert found == [{"pk": s("a"), "sk": s("2"), "g": s("z"), "p": s("p2")}]
    assert all(
        set(one) == {"pk", "sk", "l"} for one in items('SELECT * FROM "indexed"."local" WHERE pk = \'a\'')
    )
    assert items("SELECT q FROM \"indexed\".\"local\" WHERE pk = 'a' AND l > 'l1'") == [
        {"q": s("q2")},
        {"q": s("q4")},
    ]


def test_capacity_of_an_index_read_lands_on_its_index(run, indexed):
    read = run('SELECT q FROM "indexed"."local" WHERE pk = \'a\'', ReturnConsumedCapacity="INDEXES")
    capacity = read["ConsumedCapacity"]
    assert capacity["LocalSecondaryIndexes"]["local"]["CapacityUnits"] == 0.5
    assert capacity["Table"]["CapacityUnits"] == 1.5
    assert capacity["CapacityUnits"] == 2.0


_FILTER = (
    "One or more parameter values were invalid: "
    "Secondary index {} does not project one or more filter attributes: [q]"
)
_OPERAND = "Incorrect operand type for operator or function; operator or function: {}, operand type: BOOL"
_MAGNITUDE = "Attempting to store a number with magnitude {} than supported range under root"


@pytest.mark.parametrize(
    ("source", "where", "message"),
    [
        ('"indexed"."nope"', "WHERE pk = 'a'", "The table does not have the specified index"),
        ('"indexed"."some"', "WHERE g = 'x' AND q = 'q1'", _FILTER.format("some")),
        ('"indexed"."some"', "WHERE g IN ['x', 'z'] AND q = 'q1'", _FILTER.format("some")),
        ('"indexed"."some"', "WHERE g = 'x' AND q IS MISSING", _FILTER.format("some")),
        ('"indexed"."some"', "WHERE g = 'x' AND NOT q = 'q1'", _FILTER.format("some")),
        (
            '"indexed"."local"',
            "WHERE pk = 'a' AND l BETWEEN 'l1' AND 'l4' AND q = 'q1'",
            _FILTER.format("local"),
        ),
    ],
)
def test_what_an_index_refuses(refusal, indexed, source, where, message):
    assert refusal(f"SELECT pk FROM {source} {where}") == ("ValidationException", message)


def test_a_global_index_projects_only_what_it_has(refusal, indexed):
    assert refusal('SELECT q, r FROM "indexed"."some"') == (
        "ValidationException",
        "One or more parameter values were invalid: Global secondary index some does not project [q, r]",
    )
    assert refusal('SELECT * FROM "indexed"."all" WHERE g = \'x\'', ConsistentRead=True) == (
        "ValidationException",
        "Strongly consistent read is not supported on Global Secondary Indexes",
    )


def test_an_unkeyed_index_read_may_filter_by_anything(items, indexed):
    assert items('SELECT pk FROM "indexed"."some" WHERE q = \'q1\'') == []
    assert len(items('SELECT pk, sk FROM "indexed"."some" WHERE NOT q = \'q1\'')) == 3
    either = items("SELECT sk FROM \"indexed\".\"some\" WHERE (g = 'x' AND q = 'q1') OR (g = 'z')")
    assert either == [{"sk": s("2")}]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE \"indexed\".\"all\" SET p = 'z' WHERE pk = 'a' AND sk = '1'",
        "DELETE FROM \"indexed\".\"all\" WHERE pk = 'a' AND sk = '1'",
    ],
)
def test_writes_go_to_tables(refusal, indexed, statement):
    assert refusal(statement) == ("ValidationException", "This operation is not supported on an index")


def test_an_index_of_several_key_attributes_is_refused_before_what_else_is_wrong(store, refusal, items):
    store.create(
        "multi",
        "id:S",
        attributes=("h1:S", "h2:S", "r1:S"),
        GlobalSecondaryIndexes=[
            {
                "IndexName": "gsi",
                "KeySchema": [
                    {"AttributeName": "h1", "KeyType": "HASH"},
                    {"AttributeName": "h2", "KeyType": "HASH"},
                    {"AttributeName": "r1", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    refused = (
        "ValidationException",
        "PartiQL statements cannot be executed on tables with multi-attribute HASH keys "
        "or multi-attribute RANGE keys.",
    )
    for where in ("", " WHERE h1 = 'a'", " WHERE h1 = 5", " WHERE id = 'a'"):
        assert refusal(f'SELECT * FROM "multi"."gsi"{where}') == refused
    assert refusal('SELECT COUNT(*) FROM "multi"."gsi"') == refused
    assert refusal('SELECT * FROM "multi"."gsi" WHERE h1 = ?', n("1e99999999999"))[1] != refused[1]
    assert items("SELECT * FROM multi WHERE id = 'a'") == []


# Refusals


def test_only_paths_are_projected(refusal):
    for term, position in [("COUNT(*)", "1:8:5"), ("attribute_exists(ss)", "1:8:16")]:
        assert refusal(f"SELECT {term} FROM hash WHERE pk = 'a'") == (
            "ValidationException",
            f"Unexpected path component at {position}",
        )


def test_in_takes_so_many(refusal, items, item):
    numbers = ", ".join(map(str, range(1, 101)))
    assert items(f"SELECT * FROM hash WHERE n IN [{numbers}]") == [item]
    too_many = "The IN operator is provided with too many operands; number of operands: {}"
    assert refusal(f"SELECT * FROM hash WHERE n IN [{numbers}, 0]") == (
        "ValidationException",
        too_many.format(102),
    )
    names = ", ".join(f"'{number}'" for number in range(51))
    assert refusal(f"SELECT * FROM hash WHERE pk IN [{names}]") == (
        "ValidationException",
        too_many.format(52),
    )


def test_a_key_of_the_wrong_type(refusal):
    assert refusal("SELECT * FROM hash WHERE pk = 5") == (
        "ValidationException",
        "One or more parameter values were invalid: Condition parameter type does not match schema type",
    )
    assert refusal("DELETE FROM hash WHERE pk = 5") == (
        "ValidationException",
        "The provided key element does not match the schema",
    )


def test_a_table_that_does_not_exist(refusal):
    expected = ("ResourceNotFoundException", "Requested resource not found")
    assert refusal("SELECT * FROM nowhere WHERE pk = 'x'") == expected
    assert refusal("FROM nowhere WHERE pk = 'x' SET c = 1") == expected


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM nowhere WHERE {0}",
        "UPDATE nowhere SET c = 1 WHERE {0}",
        "DELETE FROM nowhere WHERE {0}",
    ],
)
def test_a_wrong_condition_is_told_before_that_there_is_no_table(refusal, statement):
    code, message = refusal(statement.format("pk = ? AND c < ?"), s("x"), {"BOOL": True})
    assert code == "ValidationException"
    assert message == (
        "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL"
    )


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (
            "attribute_exists('ss')",
            "Operator or function requires a document path; operator or function: attribute_exists",
        ),
        (
            "attribute_exists()",
            "Incorrect number of operands for operator or function; "
            "operator or function: attribute_exists, number of operands: 0",
        ),
        (
            "attribute_exists(ss, ns)",
            "Incorrect number of operands for operator or function; "
            "operator or function: attribute_exists, number of operands: 2",
        ),
        ("EXISTS(ss)", "Unrecognized function: exists at 1:39:6"),
        ("set_add(ss, <<'x'>>) = ss", "Unrecognized function: set_add at 1:39:7"),
        (
            "s < true",
            _OPERAND.format("<"),
        ),
        (
            "s BETWEEN true AND false",
            _OPERAND.format("BETWEEN"),
        ),
        (
            "n = 1e126",
            "Number overflow. " + _MAGNITUDE.format("larger"),
        ),
        (
            "n = 1e-131",
            "Number underflow. " + _MAGNITUDE.format("smaller"),
        ),
    ],
)
def test_conditions_there_are_none_of(refusal, condition, message):
    assert refusal(f"SELECT * FROM hash WHERE pk = 'a' AND {condition}") == ("ValidationException", message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "t = set_add(ss, <<'x'>>)",
            "The first argument to SET_ADD must equal the assignment value at 1:21:7",
        ),
        ("ss = set_add(ss, 'x')", "The second argument to SET_ADD must be a value with type SET at 1:30:2"),
        ("ss = set_add(ss)", "SET_ADD must have exactly two arguments at 1:22:7"),
        (
            "ss = set_delete(ss, 'a')",
            "The second argument to SET_DELETE must be a value with type SET at 1:33:2",
        ),
        ("ss = set_add(ss, <<1>>)", "An operand in the update expression has an incorrect data type"),
        ("s = set_add(s, <<'x'>>)", "An operand in the update expression has an incorrect data type"),
        (
            "ss = set_add(ss, <<'x', 'x'>>)",
            "One or more parameter values were invalid: Input collection [x, x] contains duplicates.",
        ),
        ("ss = set_add(ss, <<>>)", "Empty bags are not supported"),
        (
            "pk = 'b'",
            "One or more parameter values were invalid: Cannot update attribute pk. "
            "This attribute is part of the key",
        ),
        ("nope.x = 1", "The document path provided in the update expression is invalid for update"),
        ("x = nope", "The provided expression refers to an attribute that does not exist in the item"),
    ],
)
def test_changes_there_are_none_of(refusal, item, stored, change, message):
    assert refusal(f"UPDATE hash SET {change} WHERE pk = 'a'") == ("ValidationException", message)
    assert stored("a") == item


def test_parameters_are_counted(refusal):
    expected = ("ValidationException", "Number of parameters in request and statement don't match.")
    assert refusal("SELECT * FROM hash WHERE pk = ?") == expected
    assert refusal("SELECT * FROM hash WHERE pk = ?", s("a"), s("b")) == expected


def test_exists_is_for_transactions(refusal):
    code, _ = refusal("EXISTS(SELECT * FROM hash WHERE pk = 'a' AND b = 1)")
    assert code == "ValidationException"


def test_writes_report_their_capacity(run):
    answer = run("INSERT INTO hash VALUE {'pk': 'a'}", ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == {"TableName": "hash", "CapacityUnits": 1.0}
