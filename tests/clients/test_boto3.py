"""boto3 as anybody writes it: one script that knows nothing of this project, against a node and the store.

The script uses client and resource, condition builders, paginators, waiters, batch_writer and the exceptions
of boto3, and records what it saw. The record is the same wherever items are read and written; tables are made
on the store's endpoint, as DAX has it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import boto3
import pytest
from boto3.dynamodb.conditions import Attr, Key
from botocore.config import Config

pytestmark = [pytest.mark.live, pytest.mark.clients]

OPTIONS: dict[str, Any] = {
    "region_name": "us-east-1",
    "aws_access_key_id": "AKIDEXAMPLE",
    "aws_secret_access_key": "secret",
    "config": Config(retries={"total_max_attempts": 1}),
}


class Script:
    """What a program does with boto3; `seen` is what it saw."""

    def __init__(self, items_url: str, tables_url: str) -> None:
        self.client = boto3.client("dynamodb", endpoint_url=items_url, **OPTIONS)
        self.resource = boto3.resource("dynamodb", endpoint_url=items_url, **OPTIONS)
        self.tables = boto3.client("dynamodb", endpoint_url=tables_url, **OPTIONS)
        self.seen: list[Any] = []

    def run(self, name: str) -> list[Any]:
        self.create(name)
        table = self.resource.Table(name)
        self.write(table)
        self.read(table)
        self.conditions(table)
        self.pages(name)
        self.batches(name)
        self.transactions(name)
        self.mistakes(name)
        return self.seen

    def note(self, **what: Any) -> None:
        self.seen.append(what)

    def create(self, name: str) -> None:
        self.tables.create_table(
            TableName=name,
            AttributeDefinitions=[
                {"AttributeName": attribute, "AttributeType": kind}
                for attribute, kind in (("artist", "S"), ("song", "S"), ("genre", "S"), ("plays", "N"))
            ],
            KeySchema=[
                {"AttributeName": "artist", "KeyType": "HASH"},
                {"AttributeName": "song", "KeyType": "RANGE"},
            ],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "by-genre",
                    "KeySchema": [
                        {"AttributeName": "genre", "KeyType": "HASH"},
                        {"AttributeName": "plays", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        self.tables.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})

    def write(self, table: Any) -> None:
        with table.batch_writer(overwrite_by_pkeys=["artist", "song"]) as batch:
            for number in range(60):
                batch.put_item(Item=song(number))
            batch.put_item(Item=song(7) | {"plays": Decimal("7.5")})
            batch.delete_item(Key={"artist": "artist-0", "song": "song-000"})
        values = {
            "bytes": b"\x00\xff",
            "flag": True,
            "nothing": None,
            "list": [Decimal(1), "two", [b"3"]],
            "map": {"deep": {"er": Decimal("-1.5E-10")}},
            "strings": {"a", "b"},
            "numbers": {Decimal(1), Decimal("2.5")},
            "binaries": {b"x", b"y"},
            "empty": "",
        }
        self.note(put=table.put_item(Item={"artist": "all", "song": "types", **values}).get("Attributes"))
        updated = table.update_item(
            Key={"artist": "all", "song": "types"},
            UpdateExpression="SET #m.deep.er = #m.deep.er + :one, plays = if_not_exists(plays, :zero) + :one "
            "REMOVE flag ADD numbers :more DELETE strings :less",
            ConditionExpression=Attr("bytes").exists() & Attr("list").size().eq(3) & ~Attr("plays").exists(),
            ExpressionAttributeNames={"#m": "map"},
            ExpressionAttributeValues={
                ":one": Decimal(1), ":zero": Decimal(0), ":more": {Decimal(3)}, ":less": {"a"},
            },
            ReturnValues="UPDATED_NEW",
        )  # fmt: skip
        self.note(updated=updated["Attributes"])

    def read(self, table: Any) -> None:
        for consistent in (True, False, False):
            key = {"artist": "all", "song": "types"}
            self.note(item=table.get_item(Key=key, ConsistentRead=consistent)["Item"])
        self.note(missing=table.get_item(Key={"artist": "nobody", "song": "x"}).get("Item"))
        part = table.get_item(
            Key={"artist": "artist-1", "song": "song-001"},
            ProjectionExpression="song, tags[0], #c",
            ExpressionAttributeNames={"#c": "credits"},
        )
        self.note(part=part["Item"])

    def conditions(self, table: Any) -> None:
        mine = Key("artist").eq("artist-1")
        for condition in (
            mine,
            mine & Key("song").begins_with("song-00"),
            mine & Key("song").between("song-010", "song-030"),
            mine & Key("song").gt("song-030"),
            mine & Key("song").lte("song-030"),
        ):
            for forward in (True, False):
                answer = table.query(KeyConditionExpression=condition, ScanIndexForward=forward)
                self.note(query=[item["song"] for item in answer["Items"]], count=answer["Count"])
        for condition in (
            Attr("plays").lt(10) | Attr("plays").gte(50),
            Attr("tags").contains("even") & Attr("genre").ne("rock"),
            Attr("credits.writer").is_in(["writer-1", "writer-2"]),
            Attr("artist").begins_with("artist-2") & Attr("note").not_exists(),
            Attr("plays").attribute_type("N") & Attr("plays").between(Decimal("7.1"), Decimal(9)),
        ):
            answer = table.scan(FilterExpression=condition, Select="COUNT")
            self.note(counted=(answer["Count"], answer["ScannedCount"]))
        answer = table.query(
            IndexName="by-genre",
            KeyConditionExpression=Key("genre").eq("rock") & Key("plays").gt(20),
            FilterExpression=Attr("tags").contains("odd"),
            ReturnConsumedCapacity="TOTAL",
        )
        self.note(by_genre=answer["Items"])

    def pages(self, name: str) -> None:
        query = self.client.get_paginator("query").paginate(
            TableName=name,
            KeyConditionExpression="artist = :a",
            ExpressionAttributeValues={":a": {"S": "artist-2"}},
            PaginationConfig={"PageSize": 4},
        )
        self.note(pages=[[item["song"]["S"] for item in page["Items"]] for page in query])
        scan = self.client.get_paginator("scan").paginate(TableName=name, PaginationConfig={"PageSize": 7})
        self.note(scanned=sorted(item["song"]["S"] for page in scan for item in page["Items"]))
        segments = []
        for segment in range(4):
            pages = self.client.get_paginator("scan").paginate(
                TableName=name, Segment=segment, TotalSegments=4
            )
            segments += [item["song"]["S"] for page in pages for item in page["Items"]]
        self.note(segments=sorted(segments))

    def batches(self, name: str) -> None:
        keys = [{"artist": f"artist-{number % 5}", "song": f"song-{number:03}"} for number in range(0, 70, 2)]
        for _ in range(2):
            answer = self.resource.batch_get_item(RequestItems={name: {"Keys": keys}})
            found = sorted(item["song"] for item in answer["Responses"][name])
            self.note(found=found, left=answer["UnprocessedKeys"])

    def transactions(self, name: str) -> None:
        def key(song: str) -> dict[str, Any]:
            return {"artist": {"S": "deal"}, "song": {"S": song}}

        self.client.transact_write_items(
            TransactItems=[
                {"Put": {"TableName": name, "Item": {**key("one"), "left": {"N": "3"}}}},
                {"Put": {"TableName": name, "Item": {**key("two"), "left": {"N": "0"}}}},
            ],
            ClientRequestToken="boto3-script",
        )
        take = {
            "UpdateExpression": "SET #l = #l - :n",
            "ConditionExpression": "#l >= :n",
            "ExpressionAttributeNames": {"#l": "left"},
            "ExpressionAttributeValues": {":n": {"N": "1"}},
        }
        update = {"TableName": name, "Key": key("one"), **take}
        refused = {**update, "Key": key("two"), "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
        try:
            self.client.transact_write_items(TransactItems=[{"Update": update}, {"Update": refused}])
        except self.client.exceptions.TransactionCanceledException as error:
            self.note(cancelled=error.response["CancellationReasons"], message=str(error))
        self.client.transact_write_items(TransactItems=[{"Update": update}])
        answer = self.client.transact_get_items(
            TransactItems=[{"Get": {"TableName": name, "Key": key(song)}} for song in ("one", "no", "two")]
        )
        self.note(together=answer["Responses"])

    def mistakes(self, name: str) -> None:
        client, errors = self.client, self.client.exceptions
        key = {"artist": {"S": "deal"}, "song": {"S": "one"}}
        for call, kind in (
            (lambda: client.get_item(TableName="nowhere", Key=key), errors.ResourceNotFoundException),
            (
                lambda: client.put_item(
                    TableName=name, Item=key, ConditionExpression="attribute_not_exists(artist)"
                ),
                errors.ConditionalCheckFailedException,
            ),
            (lambda: client.get_item(TableName=name, Key={"artist": {"S": "x"}}), errors.ClientError),
            (lambda: client.scan(TableName=name, FilterExpression="a ="), errors.ClientError),
            (lambda: client.query(TableName=name, IndexName="none", KeyConditions={}), errors.ClientError),
            (lambda: client.put_item(TableName=name, Item={**key, "n": {"N": "x"}}), errors.ClientError),
        ):
            with pytest.raises(kind) as refused:
                call()
            error = refused.value.response["Error"]
            self.note(code=error["Code"], message=error["Message"])


def song(number: int) -> dict[str, Any]:
    return {
        "artist": f"artist-{number % 5}",
        "song": f"song-{number:03}",
        "genre": "rock" if number % 3 else "jazz",
        "plays": Decimal(number),
        "tags": ["odd" if number % 2 else "even"],
        "credits": {"writer": f"writer-{number % 4}"},
    }


@pytest.fixture
def scripts(start_cluster: Callable[..., Any]) -> Callable[[str], list[Any]]:
    """`scripts("node" | "store")`: what the script sees there, on a cluster of its own."""

    def run(where: str) -> list[Any]:
        cluster = start_cluster().cluster
        url = {"node": cluster.endpoint, "store": cluster.store_endpoint}[where]
        return Script(url, cluster.store_endpoint).run("music")

    return run


def test_the_script_sees_the_same_on_a_node_and_on_the_store(scripts: Callable[[str], list[Any]]) -> None:
    seen = scripts("node")
    assert len(seen) > 30
    for number, (on_node, on_store) in enumerate(zip(seen, scripts("store"), strict=True)):
        assert on_node == on_store, number


def test_the_script_sees_what_dynamodb_would_show(scripts: Callable[[str], list[Any]]) -> None:
    seen: dict[str, Any] = {}
    for note in scripts("store"):
        for name, what in note.items():
            seen.setdefault(name, what)
    assert seen["updated"] == {
        "map": {"deep": {"er": Decimal("0.99999999985")}},
        "plays": Decimal(1),
        "numbers": {Decimal(1), Decimal("2.5"), Decimal(3)},
        "strings": {"b"},
    }
    item = seen["item"]
    assert (item["bytes"].value, item["nothing"], item["empty"]) == (b"\x00\xff", None, "")
    assert {one.value for one in item["binaries"]} == {b"x", b"y"}
    assert seen["missing"] is None
    assert seen["part"] == {
        "song": "song-001",
        "tags": ["odd"],
        "credits": {"writer": "writer-1"},
    }
    assert seen["query"] == [f"song-{number:03}" for number in range(1, 60, 5)]
    assert seen["counted"] == (20, 60)
    assert [len(page) for page in seen["pages"]] == [4, 4, 4, 0]
    assert seen["scanned"] == seen["segments"] == sorted([f"song-{n:03}" for n in range(1, 60)] + ["types"])
    assert len(seen["found"]) == 29
    assert [reason["Code"] for reason in seen["cancelled"]] == ["None", "ConditionalCheckFailed"]
    assert seen["cancelled"][1]["Item"]["left"] == {"N": "0"}
    assert [one.get("Item", {}).get("left") for one in seen["together"]] == [{"N": "2"}, None, {"N": "0"}]
