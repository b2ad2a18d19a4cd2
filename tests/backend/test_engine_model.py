"""The engine against a naive model: a dictionary of items, searched by looking at every one of them.

Random operations of the whole data plane on a table with a local and two global indexes; after each, what the
engine answers must be what the model answers, and every index must hold exactly the rows its items call for.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from backend.engine import Engine, EngineSettings
from backend.errors import ServiceError
from backend.storage.base import Storage
from backend.storage.memory import MemoryStorage

TABLE = "models"
COMPARISONS = {
    "=": Decimal.__eq__,
    "<": Decimal.__lt__,
    "<=": Decimal.__le__,
    ">": Decimal.__gt__,
    ">=": Decimal.__ge__,
}
NUMBERS = ["-10", "-1.5", "0", "1", "2", "3.25", "20", "100"]

partitions = st.sampled_from(["a", "b", "a\x00", "ü"])
sorts = st.sampled_from(NUMBERS)
words = st.sampled_from(["x", "xy", "xyz", "y", "y\x00z", ""])
keys = st.tuples(partitions, sorts)


@st.composite
def items(draw) -> dict[str, Any]:
    partition, sort = draw(keys)
    item: dict[str, Any] = {"pk": {"S": partition}, "sk": {"N": sort}}
    if draw(st.booleans()):
        item["near"] = {"S": draw(words.filter(bool))}
    if draw(st.booleans()):
        item["far"] = {"S": draw(words.filter(bool))}
    if draw(st.booleans()):
        item["score"] = {"N": draw(sorts)}
    if draw(st.booleans()):
        item["note"] = {"S": draw(words)}
    return item


def number(value: dict[str, str]) -> Decimal:
    return Decimal(value["N"])


def key_schema(partition: str, sort: str | None = None) -> list[dict[str, str]]:
    schema = [{"AttributeName": partition, "KeyType": "HASH"}]
    return schema if sort is None else [*schema, {"AttributeName": sort, "KeyType": "RANGE"}]


CREATE = {
    "TableName": TABLE,
    "KeySchema": key_schema("pk", "sk"),
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": kind}
        for name, kind in (("pk", "S"), ("sk", "N"), ("near", "S"), ("far", "S"), ("score", "N"))
    ],
    "BillingMode": "PAY_PER_REQUEST",
    "LocalSecondaryIndexes": [
        {
            "IndexName": "by-near",
            "KeySchema": key_schema("pk", "near"),
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note"]},
        }
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-far",
            "KeySchema": key_schema("far", "score"),
            "Projection": {"ProjectionType": "ALL"},
        },
        {
            "IndexName": "by-note",
            "KeySchema": key_schema("far"),
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        },
    ],
}
HELD = {
    "by-near": ("pk", "sk", "near", "note"),
    "by-far": ("pk", "sk", "near", "far", "score", "note"),
    "by-note": ("pk", "sk", "far"),
}
NEEDED = {"by-near": ("near",), "by-far": ("far", "score"), "by-note": ("far",)}


class EngineAgainstModel(RuleBasedStateMachine):
    """Each rule makes one request of the engine and the same of the model."""

    @initialize(lag=st.sampled_from([0.0, 1.0]))
    def start(self, lag: float) -> None:
        self.time = 1_000.0
        self.lag = lag
        self.begin(MemoryStorage())
        self.model: dict[tuple[str, str], dict[str, Any]] = {}
        self.execute("CreateTable", **CREATE)

    def begin(self, storage: Storage) -> None:
        settings = EngineSettings(gsi_lag=self.lag)
        self.engine = Engine(lambda: self.time, lambda count: b"\x07" * count, settings, storage)

    def execute(self, operation: str, **request: Any) -> Any:
        return self.engine.execute(operation, request)

    def refusal(self, operation: str, **request: Any) -> ServiceError:
        with pytest.raises(ServiceError) as refused:
            self.execute(operation, **request)
        return refused.value

    @staticmethod
    def identity(item: dict[str, Any]) -> tuple[str, str]:
        return item["pk"]["S"], item["sk"]["N"]

    @staticmethod
    def key(identity: tuple[str, str]) -> dict[str, Any]:
        return {"pk": {"S": identity[0]}, "sk": {"N": identity[1]}}

    # Single items

    @rule(item=items())
    def put(self, item):
        answer = self.execute("PutItem", TableName=TABLE, Item=item, ReturnValues="ALL_OLD")
        assert answer.get("Attributes") == self.model.get(self.identity(item))
        self.model[self.identity(item)] = item

    @rule(item=items())
    def put_if_absent(self, item):
        request = {"TableName": TABLE, "Item": item, "ConditionExpression": "attribute_not_exists(pk)"}
        old = self.model.get(self.identity(item))
        if old is None:
            assert self.execute("PutItem", **request) == {}
            self.model[self.identity(item)] = item
        else:
            refused = self.refusal("PutItem", **request, ReturnValuesOnConditionCheckFailure="ALL_OLD")
            assert (refused.code, refused.fields) == ("ConditionalCheckFailedException", {"Item": old})

    @rule(identity=keys)
    def delete(self, identity):
        answer = self.execute("DeleteItem", TableName=TABLE, Key=self.key(identity), ReturnValues="ALL_OLD")
        assert answer.get("Attributes") == self.model.pop(identity, None)

    @rule(identity=keys, note=words, score=sorts)
    def update(self, identity, note, score):
        answer = self.execute(
            "UpdateItem",
            TableName=TABLE,
            Key=self.key(identity),
            UpdateExpression="SET note = :note ADD score :score REMOVE near",
            ExpressionAttributeValues={":note": {"S": note}, ":score": {"N": score}},
            ReturnValues="ALL_NEW",
        )
        item = dict(self.model.get(identity, self.key(identity)))
        item["note"] = {"S": note}
        total = number(item.get("score", {"N": "0"})) + Decimal(score)
        item["score"] = {"N": format(total.normalize(), "f") if total else "0"}
        item.pop("near", None)
        assert answer["Attributes"] == item
        self.model[identity] = item

    @rule(identity=keys, note=words)
    def update_if_note_is(self, identity, note):
        request = {
            "TableName": TABLE,
            "Key": self.key(identity),
            "UpdateExpression": "SET far = :note",
            "ConditionExpression": "note = :note",
            "ExpressionAttributeValues": {":note": {"S": note}},
        }
        old = self.model.get(identity)
        if old is None or old.get("note") != {"S": note}:
            assert self.refusal("UpdateItem", **request).code in (
                "ConditionalCheckFailedException",
                "ValidationException",
            )
        elif not note:
            assert self.refusal("UpdateItem", **request).code == "ValidationException"
        else:
            self.execute("UpdateItem", **request)
            self.model[identity] = {**old, "far": {"S": note}}

    @rule(identity=keys)
    def get(self, identity):
        answer = self.execute("GetItem", TableName=TABLE, Key=self.key(identity))
        assert answer == ({"Item": self.model[identity]} if identity in self.model else {})

    # Batches and transactions

    @rule(batch=st.lists(st.one_of(items(), keys), min_size=1, max_size=6))
    def batch_write(self, batch):
        requests, changes = [], {}
        for one in batch:
            identity = one if isinstance(one, tuple) else self.identity(one)
            if identity in changes:
                continue
            changes[identity] = None if isinstance(one, tuple) else one
            requests.append(
                {"DeleteRequest": {"Key": self.key(one)}}
                if isinstance(one, tuple)
                else {"PutRequest": {"Item": one}}
            )
        assert self.execute("BatchWriteItem", RequestItems={TABLE: requests}) == {"UnprocessedItems": {}}
        for identity, item in changes.items():
            if item is None:
                self.model.pop(identity, None)
            else:
                self.model[identity] = item

    @rule(identities=st.lists(keys, min_size=1, max_size=6, unique=True))
    def batch_get(self, identities):
        answer = self.execute(
            "BatchGetItem", RequestItems={TABLE: {"Keys": [self.key(identity) for identity in identities]}}
        )
        assert answer["Responses"][TABLE] == [
            self.model[identity] for identity in identities if identity in self.model
        ]

    @rule(puts=st.lists(items(), min_size=1, max_size=4), checked=keys, must_exist=st.booleans())
    def transact_write(self, puts, checked, must_exist):
        puts = list({self.identity(item): item for item in puts if self.identity(item) != checked}.values())
        function = "attribute_exists" if must_exist else "attribute_not_exists"
        check = {
            "ConditionCheck": {
                "TableName": TABLE,
                "Key": self.key(checked),
                "ConditionExpression": f"{function}(pk)",
            }
        }
        members = [check, *({"Put": {"TableName": TABLE, "Item": item}} for item in puts)]
        if (checked in self.model) is must_exist:
            assert self.execute("TransactWriteItems", TransactItems=members) == {}
            self.model.update({self.identity(item): item for item in puts})
        else:
            refused = self.refusal("TransactWriteItems", TransactItems=members)
            codes = [reason["Code"] for reason in refused.fields["CancellationReasons"]]
            assert codes == ["ConditionalCheckFailed", *["None"] * len(puts)]

    @rule(identities=st.lists(keys, min_size=1, max_size=4, unique=True))
    def transact_get(self, identities):
        gets = [{"Get": {"TableName": TABLE, "Key": self.key(identity)}} for identity in identities]
        answer = self.execute("TransactGetItems", TransactItems=gets)
        assert answer["Responses"] == [
            {"Item": self.model[identity]} if identity in self.model else {} for identity in identities
        ]

    # Queries and scans

    def pages(self, operation: str, **request: Any) -> list[dict[str, Any]]:
        """The items of all pages; no page evaluates more than its limit."""
        found: list[dict[str, Any]] = []
        start = {}
        while True:
            answer = self.execute(operation, TableName=TABLE, **request, **start)
            assert answer["Count"] == len(answer["Items"])
            assert answer["ScannedCount"] <= request.get("Limit", 10**6)
            found += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return found
            assert answer["ScannedCount"] == request["Limit"]
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    @rule(
        partition=partitions,
        operator=st.sampled_from(list(COMPARISONS)),
        bound=sorts,
        limit=st.integers(1, 4),
        forward=st.booleans(),
    )
    def query_sort_range(self, partition, operator, bound, limit, forward):
        found = self.pages(
            "Query",
            KeyConditionExpression=f"pk = :pk AND sk {operator} :sk",
            ExpressionAttributeValues={":pk": {"S": partition}, ":sk": {"N": bound}},
            Limit=limit if operator != "=" else 10,
            ScanIndexForward=forward,
        )
        expected = [
            item
            for item in self.model.values()
            if item["pk"]["S"] == partition and COMPARISONS[operator](number(item["sk"]), Decimal(bound))
        ]
        assert found == sorted(expected, key=lambda item: number(item["sk"]), reverse=not forward)

    @rule(partition=partitions, low=sorts, high=sorts, note=words)
    def query_between_with_filter(self, partition, low, high, note):
        low, high = sorted((low, high), key=Decimal)
        found = self.pages(
            "Query",
            KeyConditionExpression="pk = :pk AND sk BETWEEN :low AND :high",
            FilterExpression="note = :note",
            ExpressionAttributeValues={
                ":pk": {"S": partition},
                ":low": {"N": low},
                ":high": {"N": high},
                ":note": {"S": note},
            },
            Limit=2,
        )
        expected = [
            item
            for item in self.model.values()
            if item["pk"]["S"] == partition
            and Decimal(low) <= number(item["sk"]) <= Decimal(high)
            and item.get("note") == {"S": note}
        ]
        assert found == sorted(expected, key=lambda item: number(item["sk"]))

    @rule(partition=partitions, prefix=words, limit=st.integers(1, 3), forward=st.booleans())
    def query_local_index(self, partition, prefix, limit, forward):
        found = self.pages(
            "Query",
            IndexName="by-near",
            KeyConditionExpression="pk = :pk AND begins_with(near, :prefix)",
            ExpressionAttributeValues={":pk": {"S": partition}, ":prefix": {"S": prefix}},
            ConsistentRead=True,
            Limit=limit,
            ScanIndexForward=forward,
        )
        expected = [
            item
            for item in self.rows("by-near")
            if item["pk"]["S"] == partition and item["near"]["S"].startswith(prefix)
        ]
        near = [item["near"]["S"].encode() for item in found]
        assert near == sorted(near, reverse=not forward)
        assert unordered(found) == unordered(expected)

    @rule(
        far=words.filter(bool),
        operator=st.sampled_from(list(COMPARISONS)),
        bound=sorts,
        limit=st.integers(1, 3),
        forward=st.booleans(),
    )
    def query_global_index(self, far, operator, bound, limit, forward):
        self.time += self.lag
        found = self.pages(
            "Query",
            IndexName="by-far",
            KeyConditionExpression=f"far = :far AND score {operator} :score",
            ExpressionAttributeValues={":far": {"S": far}, ":score": {"N": bound}},
            Limit=limit,
            ScanIndexForward=forward,
        )
        expected = [
            item
            for item in self.rows("by-far")
            if item["far"]["S"] == far and COMPARISONS[operator](number(item["score"]), Decimal(bound))
        ]
        scores = [number(item["score"]) for item in found]
        assert scores == sorted(scores, reverse=not forward)
        assert unordered(found) == unordered(expected)

    @rule(limit=st.integers(1, 5), segments=st.integers(1, 4), index=st.sampled_from([None, *HELD]))
    def scan(self, limit, segments, index):
        self.time += self.lag
        of_index = {} if index is None else {"IndexName": index}
        found = [
            item
            for segment in range(segments)
            for item in self.pages("Scan", **of_index, Limit=limit, Segment=segment, TotalSegments=segments)
        ]
        assert unordered(found) == unordered(self.model.values() if index is None else self.rows(index))

    @rule(seconds=st.sampled_from([0.25, 0.5, 2.0]))
    def time_passes(self, seconds):
        self.time += seconds

    @rule()
    def another_engine_takes_over(self):
        """All that an engine knows is in its storage."""
        self.begin(self.engine.storage)

    def rows(self, index: str) -> list[dict[str, Any]]:
        """What an index must hold, by looking at every item."""
        return [
            {name: item[name] for name in HELD[index] if name in item}
            for item in self.model.values()
            if all(name in item for name in NEEDED[index])
        ]

    @invariant()
    def table_holds_the_items(self):
        table = self.engine.catalog.get(TABLE)
        assert unordered(row[0] for _, row in table.items.range()) == unordered(self.model.values())
        assert table.items.stored_bytes == sum(row[1] for _, row in table.items.range())
        near = [row[0] for _, row in table.indexes["by-near"].rows.range()]
        assert unordered(near) == unordered(self.rows("by-near"))
        if self.lag == 0:
            far = [row[0] for _, row in table.indexes["by-far"].rows.range()]
            assert unordered(far) == unordered(self.rows("by-far"))


def unordered(items) -> list[str]:
    return sorted(repr(sorted(item.items())) for item in items)


TestEngineAgainstModel = EngineAgainstModel.TestCase
TestEngineAgainstModel.settings = settings(
    max_examples=80, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.mark.slow
def test_ten_thousand_steps_show_no_difference():
    run_state_machine_as_test(
        EngineAgainstModel,
        settings=settings(
            max_examples=250,
            stateful_step_count=60,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
