"""Reading and writing single items."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    "key", [{}, {"x": {"S": "a"}}, {"pk": {"N": "1"}}, {"pk": {"S": "a"}, "x": {"S": "b"}}]
)
@pytest.mark.parametrize("operation", ["GetItem", "DeleteItem", "UpdateItem"])
def test_a_key_must_be_that_of_the_schema(
    dynamodb: Any, table: str, operation: str, key: dict[str, Any]
) -> None:
    refused = dynamodb.refusal(operation, TableName=table, Key=key)
    assert refused == ("ValidationException", "The provided key element does not match the schema")


def test_a_put_names_the_key_attribute_that_is_wrong(dynamodb: Any, table: str) -> None:
    missing = dynamodb.refusal("PutItem", TableName=table, Item={"x": {"S": "a"}})
    assert missing == (
        "ValidationException",
        "One or more parameter values were invalid: Missing the key pk in the item",
    )
    mistyped = dynamodb.refusal("PutItem", TableName=table, Item={"pk": {"N": "1"}})
    assert mistyped == (
        "ValidationException",
        "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N",
    )


def test_nothing_found_is_an_answer_without_an_item(dynamodb: Any, table: str) -> None:
    answer = dynamodb.answer("GetItem", TableName=table, Key={"pk": {"S": "nobody"}})
    assert (answer.status, answer.json) == (200, {})
