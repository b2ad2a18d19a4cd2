"""A live cluster for real clients, and one way to drive each of them: `run(operation, request) -> outcome`.

Requests and responses are in DynamoDB's JSON form: binary is base64 text. An outcome is `{"response": ...}`
or `{"error": {"code", "message"}}`, whichever client gave it.
"""

from __future__ import annotations

import asyncio
import base64
import decimal
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest
from boto3.dynamodb.types import Binary, TypeDeserializer, TypeSerializer
from botocore.config import Config
from botocore.exceptions import ClientError

from cluster.config import ClusterConfig
from cluster.live import LiveCluster, start_live

HERE = Path(__file__).parent
CREDENTIALS = {"aws_access_key_id": "AKIDEXAMPLE", "aws_secret_access_key": "secret"}
REGION = "us-east-1"
os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")

Outcome = dict[str, Any]
Run = Callable[[str, Mapping[str, Any]], Outcome]


class RunningCluster:
    """A live cluster on a thread of its own, for clients that block."""

    def __init__(self, config: ClusterConfig) -> None:
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main(config)))
        self._thread.start()
        self._ready.wait(30)
        if self._failure is not None:
            self._thread.join()
            raise self._failure

    async def _main(self, config: ClusterConfig) -> None:
        self.loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        try:
            self.cluster: LiveCluster = await start_live(config)
        except BaseException as failure:
            self._failure = failure
            self._ready.set()
            return
        self._ready.set()
        await self._end.wait()
        await self.cluster.stop()

    def call(self, work: Any) -> Any:
        """Run a coroutine of the cluster and give its result."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def store(self, operation: str, request: Mapping[str, Any]) -> Any:
        """Ask the store, around the cache."""
        return self.call(self.cluster.backend.execute(operation, request))

    def do(self, action: Callable[[], Any]) -> Any:
        """Run a plain call on the cluster's thread."""

        async def run() -> Any:
            return action()

        return self.call(run())

    @property
    def address(self) -> str:
        """`host:port` of the cluster endpoint."""
        return self.cluster.endpoint.removeprefix("http://")

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self._end.set)
        self._thread.join(30)
        assert not self._thread.is_alive()


@pytest.fixture
def start_cluster() -> Iterator[Callable[..., RunningCluster]]:
    """Starts clusters on free ports; they end with the test."""
    running: list[RunningCluster] = []

    def start(**settings: Any) -> RunningCluster:
        config = ClusterConfig(**{"nodes": 1, "port": 0, "store_port": 0, **settings})
        running.append(RunningCluster(config))
        return running[-1]

    yield start
    for cluster in running:
        cluster.close()


# --- binary: base64 text in files, bytes in Python ---


def to_bytes(value: Any) -> Any:
    """A request or response of the JSON form with bytes in its B and BS values, and repetitions written
    out."""
    if isinstance(value, Mapping):
        if value.keys() == {"B"} and isinstance(value["B"], str):
            return {"B": base64.b64decode(value["B"])}
        if value.keys() == {"BS"} and isinstance(value["BS"], list):
            return {"BS": [base64.b64decode(element) for element in value["BS"]]}
        return {name: to_bytes(element) for name, element in value.items()}
    if isinstance(value, list):
        return [to_bytes(element) for element in value]
    return value


def to_text(value: Any) -> Any:
    """The way back: bytes as base64 text."""
    if isinstance(value, Binary):
        value = value.value
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, Mapping):
        return {name: to_text(element) for name, element in value.items()}
    if isinstance(value, list | tuple):
        return [to_text(element) for element in value]
    return value


def expand(value: Any) -> Any:
    """`{"repeat": ["x", 3]}` in a file is "xxx"."""
    if isinstance(value, dict):
        if value.keys() == {"repeat"}:
            text, times = value["repeat"]
            return text * times
        return {name: expand(element) for name, element in value.items()}
    return [expand(element) for element in value] if isinstance(value, list) else value


@pytest.fixture(scope="session")
def matrix() -> list[dict[str, Any]]:
    """The requests of the matrix, in the order in which they are sent: `{"name", "operation", "request"}`."""
    lines = (HERE / "matrix.jsonl").read_text().splitlines()
    return [expand(json.loads(line)) for line in lines]


# --- drivers ---


def snake(operation: str) -> str:
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in operation).lstrip("_")


def through(client: Any, convert_request: Any = to_bytes, convert_response: Any = to_text) -> Run:
    """Drives a client with the methods of boto3's."""

    def run(operation: str, request: Mapping[str, Any]) -> Outcome:
        try:
            response = getattr(client, snake(operation))(**convert_request(request))
        except ClientError as error:
            found = error.response.get("Error", {})
            outcome = {"code": found.get("Code"), "message": found.get("Message", "")}
            reasons = error.response.get("CancellationReasons")
            if reasons is not None:
                outcome["reasons"] = to_text(reasons)
            return {"error": outcome}
        response.pop("ResponseMetadata", None)
        return {"response": convert_response(response)}

    return run


def boto3_driver(url: str) -> Run:
    config = Config(retries={"total_max_attempts": 1}, parameter_validation=False)
    client = boto3.client("dynamodb", endpoint_url=url, region_name=REGION, config=config, **CREDENTIALS)
    return through(client)


@contextmanager
def python_dax_driver(endpoint: str) -> Iterator[Run]:
    import amazondax

    session = boto3.Session(region_name=REGION, **CREDENTIALS)
    with amazondax.AmazonDaxClient(session, endpoint_url=endpoint) as client:
        yield through(client)


_TYPED = frozenset({"Key", "Item", "ExpressionAttributeValues", "ExclusiveStartKey"})


@contextmanager
def python_dax_resource_driver(endpoint: str) -> Iterator[Run]:
    """The resource API takes and gives plain Python values; they are converted at its door."""
    import amazondax

    deserializer, serializer = TypeDeserializer(), TypeSerializer()

    def plain(item: Mapping[str, Any]) -> dict[str, Any]:
        return {name: deserializer.deserialize(value) for name, value in to_bytes(item).items()}

    def typed(item: Mapping[str, Any]) -> Any:
        return to_text({name: serializer.serialize(value) for name, value in item.items()})

    def convert_request(request: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: plain(value) if name in _TYPED else value
            for name, value in request.items()
            if name != "TableName"
        }

    def convert_response(response: Mapping[str, Any]) -> dict[str, Any]:
        converted = dict(
            to_text({k: v for k, v in response.items() if k not in ("Item", "Items", "Attributes")})
        )
        for name in ("Item", "Attributes", "LastEvaluatedKey"):
            if name in response:
                converted[name] = typed(response[name])
        if "Items" in response:
            converted["Items"] = [typed(item) for item in response["Items"]]
        return converted

    with amazondax.AmazonDaxClient.resource(
        endpoint_url=endpoint, region_name=REGION, **CREDENTIALS
    ) as resource:
        tables: dict[str, Any] = {}

        def run(operation: str, request: Mapping[str, Any]) -> Outcome:
            name = request["TableName"]
            table = tables.get(name) or tables.setdefault(name, resource.Table(name))
            try:
                return through(table, convert_request, convert_response)(operation, request)
            except decimal.Rounded:
                return {"error": {"code": "decimal.Rounded", "message": "boto3 cannot read this number"}}

        yield run


def javascript_missing() -> str | None:
    """Why the JavaScript clients cannot be driven here; None when they can."""
    if shutil.which("node") is None:
        return "Node.js is not installed"
    if not (HERE / "js" / "node_modules" / ".package-lock.json").is_file():
        return "the JavaScript clients are not installed: run `npm ci` in tests/clients/js"
    return None


def skip_without_javascript() -> None:
    """Skip the test where the JavaScript clients cannot be driven; fail it where they have to be."""
    missing = javascript_missing()
    if missing is not None:
        if os.environ.get("DAXSIM_REQUIRE_JAVASCRIPT"):
            pytest.fail(missing)
        pytest.skip(missing)


@contextmanager
def javascript_driver(kind: str, endpoint: str) -> Iterator[Run]:
    """`kind` is "v3" (`@amazon-dax-sdk/client-dax`), "v3-document" (`lib-dax`) or "v1"
    (`amazon-dax-client`)."""
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": CREDENTIALS["aws_access_key_id"],
        "AWS_SECRET_ACCESS_KEY": CREDENTIALS["aws_secret_access_key"],
        "AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE": "1",
        "NODE_NO_WARNINGS": "1",
    }
    command = ["node", "drive.js", kind, endpoint]
    with subprocess.Popen(
        command,
        cwd=HERE / "js",
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def run(operation: str, request: Mapping[str, Any]) -> Outcome:
            stdin.write(json.dumps({"operation": operation, "request": request}) + "\n")
            stdin.flush()
            answer = stdout.readline()
            assert answer, f"the driver ended with {process.wait(10)}"
            outcome: Outcome = json.loads(answer)
            return outcome

        yield run
        stdin.close()
        process.wait(10)


DRIVERS: dict[str, Callable[[str], Any]] = {
    "python": python_dax_driver,
    "python-resource": python_dax_resource_driver,
    "javascript-v3": lambda endpoint: javascript_driver("v3", endpoint),
    "javascript-v1": lambda endpoint: javascript_driver("v1", endpoint),
}


@pytest.fixture(params=list(DRIVERS))
def dax_driver(request: pytest.FixtureRequest) -> tuple[str, Callable[[str], Any]]:
    """Each DAX client in turn: its name, and `driver(endpoint)`, a context manager that gives `run`."""
    name: str = request.param
    if name.startswith("javascript"):
        skip_without_javascript()
    return name, DRIVERS[name]


@pytest.fixture
def javascript_modules() -> Path:
    """Where the JavaScript clients are installed."""
    skip_without_javascript()
    return HERE / "js" / "node_modules"


@pytest.fixture
def document_driver() -> Callable[[str], Any]:
    """The document client for JavaScript (`@amazon-dax-sdk/lib-dax`): requests and items are plain JSON."""
    skip_without_javascript()
    return lambda endpoint: javascript_driver("v3-document", endpoint)


@pytest.fixture
def http_driver() -> Callable[[str], Run]:
    """boto3 over HTTP."""
    return boto3_driver
