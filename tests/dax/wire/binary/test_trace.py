"""Requests as a line for a person."""

from __future__ import annotations

import pytest

from dax.wire.binary.trace import describe, value_text

KEY = {"artist": {"S": "Abba"}, "year": {"N": "1976"}}


@pytest.mark.parametrize(
    ("operation", "request_", "line"),
    [
        ("GetItem", {"TableName": "music", "Key": KEY}, 'GetItem music {artist="Abba", year=1976}'),
        (
            "GetItem",
            {
                "TableName": "music",
                "Key": KEY,
                "ConsistentRead": True,
                "ProjectionExpression": "#n0, #n1[0]",
                "ExpressionAttributeNames": {"#n0": "title", "#n1": "tracks"},
            },
            'GetItem music {artist="Abba", year=1976} consistent only title, tracks[0]',
        ),
        (
            "Query",
            {
                "TableName": "music",
                "IndexName": "by_year",
                "KeyConditionExpression": "#n0 = :v0",
                "FilterExpression": "#n1 > :v1",
                "ExpressionAttributeNames": {"#n0": "artist", "#n1": "year"},
                "ExpressionAttributeValues": {":v0": {"S": "Abba"}, ":v1": {"N": "1975"}},
                "Limit": 5,
                "ExclusiveStartKey": KEY,
            },
            'Query music index by_year where artist = "Abba" filter year > 1975 limit 5 '
            'after {artist="Abba", year=1976}',
        ),
        (
            "BatchGetItem",
            {"RequestItems": {"music": {"Keys": [KEY, KEY]}, "albums": {"Keys": [KEY]}}},
            "BatchGetItem music×2 albums×1",
        ),
        ("BatchWriteItem", {"RequestItems": {"music": [{}, {}]}}, "BatchWriteItem music×2"),
        (
            "TransactWriteItems",
            {
                "TransactItems": [
                    {"Delete": {"TableName": "music", "Key": KEY}},
                    {"Put": {"TableName": "music", "Item": {"artist": {"S": "A"}}}},
                ]
            },
            'TransactWriteItems [Delete music {artist="Abba", year=1976}; Put music {artist="A"}]',
        ),
    ],
)
def test_lines(operation, request_, line):
    assert describe(operation, request_) == line


def test_values():
    assert (
        value_text({"M": {"a": {"L": [{"NULL": True}, {"BOOL": False}, {"B": b"x"}]}}})
        == "{a=[null, False, b'x']}"
    )
    assert value_text({"S": "x" * 100}) == '"' + "x" * 58 + "…"
