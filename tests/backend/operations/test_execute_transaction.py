"""ExecuteTransaction: all statements or none, and which one is at fault."""

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
    """`run("...", ("...", [parameters]))` gives the response."""
    store.create("txn", "pk:S")

    def execute(*statements: Any, **options: Any) -> Any:
        members = [
            {"Statement": one} if isinstance(one, str) else {"Statement": one[0], "Parameters": one[1]}
            for one in statements
        ]
        return store("ExecuteTransaction", TransactStatements=members, **options)

    return execute


@pytest.fixture
def refusal(run):
    def refused(*statements: Any, **options: Any) -> ServiceError:
        with pytest.raises(ServiceError) as error:
            run(*statements, **options)
        return error.value

    return refused


@pytest.fixture
def scan(store):
    def found() -> dict[str, Any]:
        return {one["pk"]["S"]: one for one in store("Scan", TableName="txn")["Items"]}

    return found


def test_writes_answer_with_no_members(run, scan, store):
    store("PutItem", TableName="txn", Item={"pk": s("u"), "a": n(1)})
    store("PutItem", TableName="txn", Item={"pk": s("d")})
    answer = run(
        "INSERT INTO txn VALUE {'pk': 'i'}",
        ("UPDATE txn SET a = a + ? WHERE pk = 'u'", [n(1)]),
        "DELETE FROM txn WHERE pk = 'd'",
        "EXISTS(SELECT * FROM txn WHERE pk = 'absent' AND attribute_not_exists(pk))",
        ReturnConsumedCapacity="TOTAL",
    )
    assert answer["Responses"] == []
    assert answer["ConsumedCapacity"] == [
        {"TableName": "txn", "CapacityUnits": 8.0, "WriteCapacityUnits": 8.0}
    ]
    assert scan() == {"i": {"pk": s("i")}, "u": {"pk": s("u"), "a": n(2)}}


def test_reads_answer_in_order(run, store):
    store("PutItem", TableName="txn", Item={"pk": s("a"), "x": n(1)})
    answer = run("SELECT * FROM txn WHERE pk = 'absent'", "SELECT x FROM txn WHERE pk = 'a' AND pk = 'a'")
    assert answer == {"Responses": [{}, {"Item": {"x": n(1)}}]}


def test_one_refusal_cancels_everything(refusal, scan, store):
    store("PutItem", TableName="txn", Item={"pk": s("a")})
    error = refusal(
        "INSERT INTO txn VALUE {'pk': 'b'}",
        "INSERT INTO txn VALUE {'pk': 'a', 'x': 1}",
        "UPDATE txn SET x = 1 WHERE pk = 'absent'",
        "EXISTS(SELECT * FROM txn WHERE pk = 'z' AND x = 1)",
    )
    assert error.code == "TransactionCanceledException"
    assert error.message == (
        "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[None, DuplicateItem, ConditionalCheckFailed, ConditionalCheckFailed]"
    )
    assert error.fields["CancellationReasons"][1] == {
        "Code": "DuplicateItem",
        "Message": "Duplicate primary key exists in table",
    }
    assert scan() == {"a": {"pk": s("a")}}


def test_a_token_makes_a_transaction_once(run, refusal, scan, clock):
    statement = "INSERT INTO txn VALUE {'pk': 'a'}"
    run(statement, ClientRequestToken="token")
    assert run(statement, ClientRequestToken="token") == {"Responses": []}
    assert (
        refusal("INSERT INTO txn VALUE {'pk': 'b'}", ClientRequestToken="token").code
        == "IdempotentParameterMismatchException"
    )
    assert set(scan()) == {"a"}
    clock.advance(601)
    assert refusal(statement, ClientRequestToken="token").code == "TransactionCanceledException"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("SELECT * FROM txn WHERE", "Statement wasn't well formed, can't be processed: Unexpected term"),
        (
            "UPDATE txn SET a = 'v' WHERE pk = 'x' RETURNING ALL NEW *",
            "RETURNING clause is not supported in ExecuteTransaction.",
        ),
        (
            'SELECT * FROM "txn"."i" WHERE g = \'x\'',
            "Reads on indices are not supported within transactions.",
        ),
        (
            "SELECT * FROM txn WHERE pk = 'a' AND attribute_exists(x)",
            "Select statements within ExecuteTransaction must specify the primary key in the where clause.",
        ),
        (
            "EXISTS(SELECT * FROM txn WHERE pk = 'a')",
            "EXISTS() must contain a single item read with additional condition",
        ),
        (
            "UPDATE txn SET a = 1 WHERE a = 2",
            "Where clause does not contain a mandatory equality on all key attributes",
        ),
    ],
)
def test_a_wrong_statement_is_told_with_its_number(refusal, statement, message):
    error = refusal(statement)
    assert error.code == "ValidationException"
    assert error.message == f"Validation failed in TransactStatements[0]: {message}"


def test_a_number_that_is_none_is_told_without(refusal):
    error = refusal(("UPDATE txn SET a = ? WHERE pk = 'a'", [n("1e99999999999")]))
    assert error.message == "The parameter cannot be converted to a numeric value: 1e99999999999"


def test_one_item_once(refusal):
    error = refusal("INSERT INTO txn VALUE {'pk': 'a'}", "DELETE FROM txn WHERE pk = 'a'")
    assert error.message == "Transaction request cannot include multiple operations on one item"


def test_reads_and_writes_do_not_mix(refusal):
    assert (
        refusal("SELECT * FROM txn WHERE pk = 'a'", "DELETE FROM txn WHERE pk = 'b'").code
        == "ValidationException"
    )
