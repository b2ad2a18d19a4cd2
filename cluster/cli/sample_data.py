"""The tables that `daxsim up --sample-data` creates: those of the examples in AWS's own DAX documentation,
and one for settings, the hot key that every application has.

An existing table is left as it is, with whatever is in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from backend.errors import ServiceError
from backend.protocol import Backend, Item

_BATCH = 25


@dataclass(frozen=True)
class SampleTable:
    """A table to create and its items."""

    create: dict[str, Any]
    items: tuple[Item, ...]

    @property
    def name(self) -> str:
        return str(self.create["TableName"])


def _table(name: str, partition: tuple[str, str], sort: tuple[str, str] | None = None) -> dict[str, Any]:
    keys = [key for key in (partition, sort) if key]
    return {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": key, "AttributeType": kind} for key, kind in keys],
        "KeySchema": [
            {"AttributeName": key, "KeyType": role}
            for (key, _), role in zip(keys, ("HASH", "RANGE"), strict=False)
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }


def _product(number: int, title: str, price: int, quantity: int, category: str) -> Item:
    return {
        "Id": {"N": str(number)},
        "Title": {"S": title},
        "Price": {"N": str(price)},
        "QuantityOnHand": {"N": str(quantity)},
        "ProductCategory": {"S": category},
    }


def _revision(document: int, number: int, text: str) -> Item:
    return {"DocId": {"N": str(document)}, "RevisionNumber": {"N": str(number)}, "Text": {"S": text}}


def _score(user: str, game: str, score: int, wins: int) -> Item:
    return {
        "UserId": {"S": user},
        "GameTitle": {"S": game},
        "TopScore": {"N": str(score)},
        "Wins": {"N": str(wins)},
    }


def _game_scores() -> dict[str, Any]:
    table = _table("GameScores", ("UserId", "S"), ("GameTitle", "S"))
    table["AttributeDefinitions"].append({"AttributeName": "TopScore", "AttributeType": "N"})
    table["GlobalSecondaryIndexes"] = [
        {
            "IndexName": "GameTitleIndex",
            "KeySchema": [
                {"AttributeName": "GameTitle", "KeyType": "HASH"},
                {"AttributeName": "TopScore", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ]
    return table


TABLES = (
    SampleTable(
        _table("ProductCatalog", ("Id", "N")),
        (
            _product(101, "Mountain bicycle", 480, 42, "Bicycle"),
            _product(102, "City bicycle", 350, 17, "Bicycle"),
            _product(103, "Helmet", 45, 230, "Accessory"),
            _product(201, "Field guide to birds", 24, 61, "Book"),
            _product(202, "The cook's almanac", 31, 0, "Book"),
        ),
    ),
    SampleTable(
        _table("DocumentRevisions", ("DocId", "N"), ("RevisionNumber", "N")),
        tuple(_revision(101, number, f"Document 101 as of revision {number}") for number in range(1, 11)),
    ),
    SampleTable(
        _game_scores(),
        (
            _score("Alice", "Galaxy Invaders", 4150, 21),
            _score("Alice", "Meteor Blasters", 980, 4),
            _score("Bob", "Meteor Blasters", 1230, 9),
            _score("Charlie", "Galaxy Invaders", 2300, 12),
            _score("Charlie", "Meteor Blasters", 640, 2),
            _score("Charlie", "Starship X", 24, 0),
        ),
    ),
    SampleTable(
        _table("Settings", ("SettingId", "S")),
        (
            {
                "SettingId": {"S": "global"},
                "Version": {"N": "1"},
                "Flags": {"M": {"new-checkout": {"BOOL": False}, "dark-mode": {"BOOL": True}}},
            },
        ),
    ),
)


async def load(backend: Backend, tables: Iterable[SampleTable] = TABLES) -> list[str]:
    """Create the tables in the store and fill them; the names of those that were not there before.

    Raises `ServiceError` for any refusal but that a table exists.
    """
    created = []
    for table in tables:
        try:
            await backend.execute("CreateTable", table.create)
        except ServiceError as error:
            if error.code != "ResourceInUseException":
                raise
            continue
        for start in range(0, len(table.items), _BATCH):
            writes = [{"PutRequest": {"Item": item}} for item in table.items[start : start + _BATCH]]
            await backend.execute("BatchWriteItem", {"RequestItems": {table.name: writes}})
        created.append(table.name)
    return created
