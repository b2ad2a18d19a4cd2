"""DynamoDB as a wire: requests and answers are JSON, and each test runs against a store and against a node.

A node must answer operations on items as its store does; operations on tables always go to the store. With
`DAXSIM_CONFORMANCE_ENDPOINT` set to a URL, the same tests judge whatever answers there: another engine, or
DynamoDB itself, signed for with boto3's usual credentials.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import botocore.session
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest

from cluster.local import LocalCluster, local_cluster

EXTERNAL = os.environ.get("DAXSIM_CONFORMANCE_ENDPOINT")
REGION = os.environ.get("AWS_REGION", "us-east-1")
SIGNED = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=a/b/c, SignedHeaders=host, Signature=d",
    "X-Amz-Date": "20260101T000000Z",
}
"""As much of a signature as daxsim asks for."""

ITEM_OPERATIONS = frozenset(
    [
        "GetItem",
        "PutItem",
        "UpdateItem",
        "DeleteItem",
        "Query",
        "Scan",
        "BatchGetItem",
        "BatchWriteItem",
        "TransactGetItems",
        "TransactWriteItems",
    ]
)
STREAM_OPERATIONS = frozenset(["ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"])
_names = itertools.count(1)


@dataclass(frozen=True)
class Answer:
    """What came over the wire."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Wire:
    """One endpoint, over a connection that is kept."""

    def __init__(self, url: str) -> None:
        self.url = url
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.netloc, timeout=60)

    def send(
        self, body: Any = b"", headers: Mapping[str, str] | None = None, method: str = "POST", path: str = "/"
    ) -> Answer:
        """Send just that; a body that is no bytes is sent in chunks."""
        self._connection.request(method, path, body, dict(headers or {}), encode_chunked=True)
        answer = self._connection.getresponse()
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())

    def close(self) -> None:
        self._connection.close()


class DynamoDB:
    """What a test talks to: `dynamodb("PutItem", TableName=..., Item=...)`."""

    def __init__(self, wire: Wire, tables: Wire, cluster: LocalCluster | None) -> None:
        self.wire = wire
        self._tables = tables
        self._cluster = cluster
        self._made: list[str] = []

    def headers(self, operation: str, body: bytes = b"") -> dict[str, str]:
        """Those of a well-formed request."""
        service = "DynamoDBStreams" if operation in STREAM_OPERATIONS else "DynamoDB"
        headers = {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"{service}_20120810.{operation}",
        }
        if EXTERNAL is None:
            return headers | SIGNED
        request = AWSRequest("POST", self.wire.url, headers, body)
        SigV4Auth(botocore.session.get_session().get_credentials(), "dynamodb", REGION).add_auth(request)
        return dict(request.headers)

    def send(self, operation: str, body: bytes, **headers: str) -> Answer:
        """A well-formed request with that body, whatever it is; `headers` replace its own."""
        wire = self.wire if operation in ITEM_OPERATIONS else self._tables
        return wire.send(body, self.headers(operation, body) | headers)

    def answer(self, operation: str, **request: Any) -> Answer:
        return self.send(operation, json.dumps(request).encode())

    def __call__(self, operation: str, **request: Any) -> Any:
        """The response to a request that is to succeed."""
        answer = self.answer(operation, **request)
        assert answer.status == 200, answer.body
        return answer.json

    def refusal(self, operation: str, **request: Any) -> tuple[str, str]:
        """The short code and the message of an error that is to come with HTTP status 400."""
        answer = self.answer(operation, **request)
        assert answer.status == 400, answer.body
        body = answer.json
        return body["__type"].rpartition("#")[2], body.get("message", body.get("Message", ""))

    def invalid(self, operation: str, **request: Any) -> str:
        """The message of the ValidationException that is to come."""
        code, message = self.refusal(operation, **request)
        assert code == "ValidationException", (code, message)
        return message

    @staticmethod
    def index(name: str, *keys: str, projection: str = "ALL", also: Iterable[str] = ()) -> dict[str, Any]:
        """A secondary index for CreateTable; `also` is what an INCLUDE projection includes."""
        included = {"NonKeyAttributes": list(also)} if also else {}
        return {
            "IndexName": name,
            "KeySchema": key_schema(*keys),
            "Projection": {"ProjectionType": projection, **included},
        }

    def create(self, *keys: str, **more: Any) -> str:
        """The name of a new table keyed by attributes given as `"pk:S"`, with `attributes` declared beside.

        It is billed by request unless `more`, which goes into the request, says other.
        """
        name = f"conformance-{os.getpid()}-{next(_names)}"
        attributes = [one.split(":") for one in (*keys, *more.pop("attributes", ()))]
        request = {
            "TableName": name,
            "KeySchema": key_schema(*(key.split(":")[0] for key in keys)),
            "AttributeDefinitions": [{"AttributeName": n, "AttributeType": t} for n, t in attributes],
            "BillingMode": "PAY_PER_REQUEST",
        }
        self("CreateTable", **{**request, **more})
        self._made.append(name)
        while self("DescribeTable", TableName=name)["Table"]["TableStatus"] != "ACTIVE":
            time.sleep(1)
        return name

    def put(self, table: str, *items: Mapping[str, Any]) -> None:
        for item in items:
            self("PutItem", TableName=table, Item=item)

    def get(self, table: str, **key: Any) -> Any:
        """The item, read consistently; None when there is none."""
        return self("GetItem", TableName=table, Key=key, ConsistentRead=True).get("Item")

    def items(self, table: str) -> list[Any]:
        """All of a small table, read consistently."""
        found: list[Any] = self("Scan", TableName=table, ConsistentRead=True)["Items"]
        return found

    def advance(self, seconds: float) -> None:
        """Let time pass, where the test owns the clock."""
        if self._cluster is None:
            pytest.skip("needs a clock that can be set")
        self._cluster.advance(seconds)

    def clean(self) -> None:
        for name in self._made:
            self._tables.send(
                body := json.dumps({"TableName": name}).encode(), self.headers("DeleteTable", body)
            )


def key_schema(partition: str, sort: str | None = None) -> list[dict[str, str]]:
    schema = [{"AttributeName": partition, "KeyType": "HASH"}]
    return schema if sort is None else [*schema, {"AttributeName": sort, "KeyType": "RANGE"}]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "dynamodb" in metafunc.fixturenames:
        of_the_store_only = metafunc.definition.get_closest_marker("store_only") is not None
        local = ["store"] if of_the_store_only else ["store", "node"]
        metafunc.parametrize("dynamodb", ["endpoint"] if EXTERNAL else local, indirect=True)


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster | None]:
    if EXTERNAL:
        yield None
    else:
        with local_cluster(nodes=1) as running:
            yield running


@pytest.fixture(scope="session")
def wires(cluster: LocalCluster | None) -> Iterator[Mapping[str, Wire]]:
    if cluster is None:
        opened = {"endpoint": Wire(str(EXTERNAL))}
    else:
        opened = {"store": Wire(cluster.store_endpoint), "node": Wire(cluster.node_endpoint("node-1"))}
    yield opened
    for wire in opened.values():
        wire.close()


@pytest.fixture
def dynamodb(
    request: pytest.FixtureRequest, wires: Mapping[str, Wire], cluster: LocalCluster | None
) -> Iterator[DynamoDB]:
    wire = wires[request.param]
    made = DynamoDB(wire, wires.get("store", wire), cluster)
    yield made
    made.clean()


@pytest.fixture
def table(dynamodb: DynamoDB) -> str:
    """A table keyed by `pk`, a string."""
    return dynamodb.create("pk:S")


@pytest.fixture
def sorted_table(dynamodb: DynamoDB) -> str:
    """A table keyed by `pk`, a string, and `sk`, a number."""
    return dynamodb.create("pk:S", "sk:N")


# Conditions, asked for in every place that takes one.

CONDITIONED = {"pk": {"S": "k"}}
"""The key of the item that they are about."""
_BY_KEY = {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [CONDITIONED["pk"]]}}


def _requests(text: str, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The clauses of a Scan, of a Query and of a write."""
    used = {f":{name}": value for name, value in values.items()}
    given = {"ExpressionAttributeValues": used} if used else {}
    query = {
        "KeyConditionExpression": "pk = :pk",
        "FilterExpression": text,
        "ExpressionAttributeValues": {**used, ":pk": CONDITIONED["pk"]},
    }
    return {"FilterExpression": text, **given}, query, {"ConditionExpression": text, **given}


def _legacy_requests(condition: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    on_a = {"a": condition}
    return {"ScanFilter": on_a}, {"QueryFilter": on_a, "KeyConditions": _BY_KEY}, {"Expected": on_a}


def _writes(table: str, item: Mapping[str, Any], expected: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Operations that a condition guards, the one that removes the item at the end."""
    put = {"TableName": table, "Item": item, **expected}
    on_item = {"TableName": table, "Key": CONDITIONED, **expected}
    writes = [("PutItem", put), ("UpdateItem", on_item), ("DeleteItem", on_item)]
    if "ConditionExpression" not in expected:
        return writes
    check = ("TransactWriteItems", {"TransactItems": [{"ConditionCheck": on_item}]})
    return [check, ("TransactWriteItems", {"TransactItems": [{"Put": put}]}), *writes]


@pytest.fixture
def holds(dynamodb: DynamoDB, table: str) -> Callable[..., bool]:
    """What a condition says of an item with these attributes: the same wherever it may stand.

    `holds({"a": ...}, "a = :v", v=...)`. A write that it refuses changes nothing.
    """

    def ask(attributes: Mapping[str, Any], condition: str, **values: Any) -> bool:
        return _verdict(dynamodb, table, attributes, *_requests(condition, values))

    return ask


@pytest.fixture
def holds_of_old(dynamodb: DynamoDB, table: str) -> Callable[..., bool]:
    """The same of a legacy condition on the attribute `a`: `holds_of_old({"a": ...}, "EQ", value)`."""

    def ask(attributes: Mapping[str, Any], operator: str, *arguments: Any) -> bool:
        condition = {"ComparisonOperator": operator}
        given = {"AttributeValueList": arguments} if arguments else {}
        return _verdict(dynamodb, table, attributes, *_legacy_requests({**condition, **given}))

    return ask


def _verdict(
    dynamodb: DynamoDB, table: str, attributes: Mapping[str, Any], scan: Any, query: Any, expected: Any
) -> bool:
    item = {**CONDITIONED, **attributes}
    dynamodb.put(table, item)
    stored = dynamodb.get(table, **CONDITIONED)
    verdicts = []
    for operation, clauses in (("Scan", scan), ("Query", query)):
        found = dynamodb(operation, TableName=table, ConsistentRead=True, **clauses)
        verdicts.append((operation, found["Items"] == [stored]))
    for operation, request in _writes(table, item, expected):
        answer = dynamodb.answer(operation, **request)
        verdicts.append((operation, answer.status == 200))
        if answer.status != 200:
            assert b"ConditionalCheckFailed" in answer.body, answer.body
            assert dynamodb.get(table, **CONDITIONED) == stored
    assert len({verdict for _, verdict in verdicts}) == 1, verdicts
    return verdicts[0][1]


@pytest.fixture
def problem(dynamodb: DynamoDB, table: str) -> Callable[..., str]:
    """Why a condition is refused whatever the item is, in the same words wherever it stands."""

    def ask(condition: str, **values: Any) -> str:
        message = _problem(dynamodb, table, *_requests(condition, values))
        return message.partition("Expression: ")[2]

    return ask


@pytest.fixture
def problem_of_old(dynamodb: DynamoDB, table: str) -> Callable[..., str]:
    """Why a legacy condition on the attribute `a` is refused, in filters and on writes."""

    def ask(operator: str, *arguments: Any) -> str:
        condition = {"ComparisonOperator": operator, "AttributeValueList": arguments}
        return _problem(dynamodb, table, *_legacy_requests(condition))

    return ask


def _problem(dynamodb: DynamoDB, table: str, scan: Any, query: Any, expected: Any) -> str:
    before = dynamodb.get(table, **CONDITIONED)
    refusals = [
        dynamodb.refusal(name, TableName=table, **it) for name, it in (("Scan", scan), ("Query", query))
    ]
    refusals += [dynamodb.refusal(name, **request) for name, request in _writes(table, CONDITIONED, expected)]
    assert {code for code, _ in refusals} == {"ValidationException"}
    problems = {message.replace("FilterExpression", "ConditionExpression") for _, message in refusals}
    assert len(problems) == 1, problems
    assert dynamodb.get(table, **CONDITIONED) == before
    return problems.pop()
