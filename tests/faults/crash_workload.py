"""What a process under fire does: writers whose every step follows from a seed, so that whoever survives them
knows what they wrote.

Run as a program, it opens a data directory, says `ready`, and goes on until it is killed, with one line for
each step that was acknowledged: the number of the writer and of the step. Imported, it tells what those steps
were.

Each writer owns its keys and takes one step after the other. So after a crash the rows of a writer are those
after its last acknowledged step, or after the one that was under way.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from pathlib import Path
from typing import Any

from backend.embedded import EmbeddedBackend
from backend.engine import Engine, EngineSettings
from backend.errors import ServiceError
from backend.group_commit import GroupCommit
from backend.storage.durable import DurableStorage

WRITERS = 32
OPERATOR = WRITERS
"""The number of the one who creates and deletes tables meanwhile."""

Request = tuple[str, dict[str, Any]]
Model = dict[tuple[str, str], dict[str, Any]]
"""The items of one writer, by table and printed key."""

EXPIRES = "2000000000"


def _schema(partition: str, sort: str | None = None) -> list[dict[str, str]]:
    schema = [{"AttributeName": partition, "KeyType": "HASH"}]
    return [*schema, {"AttributeName": sort, "KeyType": "RANGE"}] if sort else schema


def _index(name: str, schema: list[dict[str, str]], kind: str, *more: str) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": kind}
    if more:
        projection["NonKeyAttributes"] = list(more)
    return {"IndexName": name, "KeySchema": schema, "Projection": projection}


def _table(name: str, schema: list[dict[str, str]], types: dict[str, str], **more: Any) -> dict[str, Any]:
    definitions = [{"AttributeName": one, "AttributeType": kind} for one, kind in types.items()]
    return {
        "TableName": name,
        "KeySchema": schema,
        "AttributeDefinitions": definitions,
        "BillingMode": "PAY_PER_REQUEST",
        **more,
    }


TABLES = (
    _table(
        "orders",
        _schema("pk", "sk"),
        {"pk": "S", "sk": "N", "status": "S", "amount": "N"},
        LocalSecondaryIndexes=[_index("near-status", _schema("pk", "status"), "INCLUDE", "step")],
        GlobalSecondaryIndexes=[
            _index("by-status", _schema("status", "amount"), "ALL"),
            _index("by-amount", _schema("amount"), "KEYS_ONLY"),
        ],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    ),
    _table(
        "accounts",
        _schema("pk"),
        {"pk": "S", "owner": "S"},
        GlobalSecondaryIndexes=[_index("by-owner", _schema("owner"), "INCLUDE", "amount")],
    ),
    _table("blobs", _schema("pk"), {"pk": "B"}),
)
KEYS = {"orders": ("pk", "sk"), "accounts": ("pk",), "blobs": ("pk",)}


def key_of(table: str, item: dict[str, Any]) -> dict[str, Any]:
    return {name: item[name] for name in KEYS[table]}


def identity(table: str, item: dict[str, Any]) -> tuple[str, str]:
    return table, repr(key_of(table, item))


def _item(dice: random.Random, writer: int, step: int) -> tuple[str, dict[str, Any]]:
    """A table, and an item for it under one of the writer's keys."""
    table = dice.choice(("orders", "orders", "accounts", "blobs"))
    number = dice.randrange(4)
    item: dict[str, Any] = {"writer": {"N": str(writer)}, "step": {"N": str(step)}}
    if table == "orders":
        item |= {"pk": {"S": f"w{writer}-{number % 2}"}, "sk": {"N": str(number)}}
        if dice.random() < 0.8:
            item["status"] = {"S": dice.choice(("open", "paid", "sent"))}
        if dice.random() < 0.8:
            item["amount"] = {"N": str(dice.randrange(20))}
        if dice.random() < 0.3:
            item["expires"] = {"N": EXPIRES}
    elif table == "accounts":
        item |= {"pk": {"S": f"w{writer}-{number}"}, "amount": {"N": str(dice.randrange(100))}}
        if dice.random() < 0.7:
            item["owner"] = {"S": dice.choice(("ada", "bob"))}
    else:
        # Longer than the keys of LMDB may be, and equal for all that those hold.
        item |= {
            "pk": {"B": bytes(1500) + bytes([writer, number])},
            "data": {"BS": [bytes([step % 256]), b"\xff"]},
        }
    return table, item


def step_of(seed: int, writer: int, step: int, model: Model) -> tuple[Request, Model]:
    """What a writer asks for at a step, its items being `model`, and what they then are."""
    dice = random.Random(f"{seed}/{writer}/{step}")
    kind = dice.choice(("put", "put", "update", "delete", "batch", "transaction", "condition"))
    items: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
    for _ in range(dice.randint(2, 5) if kind in ("batch", "transaction") else 1):
        table, item = _item(dice, writer, step)
        items[identity(table, item)] = (table, item)
    if kind == "batch":
        return _batch(dice, items, model)
    if kind == "transaction":
        return _transaction(dice, items, model, f"{seed}-{writer}-{step}")
    ((who, (table, item)),) = items.items()
    if kind == "delete":
        request = {"TableName": table, "Key": key_of(table, item)}
        return ("DeleteItem", request), {one: old for one, old in model.items() if one != who}
    if kind == "update":
        return ("UpdateItem", _update(table, item)), {**model, who: _updated(model.get(who), table, item)}
    put = {"TableName": table, "Item": item}
    if kind == "condition":
        put["ConditionExpression"] = "attribute_not_exists(pk)"
        return ("PutItem", put), model if who in model else {**model, who: item}
    return ("PutItem", put), {**model, who: item}


def _update(table: str, item: dict[str, Any]) -> dict[str, Any]:
    """Count: so that a change that is made twice shows."""
    return {
        "TableName": table,
        "Key": key_of(table, item),
        "UpdateExpression": "SET #step = :step ADD #count :one",
        "ExpressionAttributeNames": {"#step": "step", "#count": "count"},
        "ExpressionAttributeValues": {":step": item["step"], ":one": {"N": "1"}},
    }


def _updated(old: dict[str, Any] | None, table: str, item: dict[str, Any]) -> dict[str, Any]:
    new = dict(old or key_of(table, item))
    new["step"] = item["step"]
    new["count"] = {"N": str(int(new.get("count", {"N": "0"})["N"]) + 1)}
    return new


def _batch(dice: random.Random, items: dict[Any, Any], model: Model) -> tuple[Request, Model]:
    requests: dict[str, list[dict[str, Any]]] = {}
    after = dict(model)
    for who, (table, item) in items.items():
        if dice.random() < 0.3:
            requests.setdefault(table, []).append({"DeleteRequest": {"Key": key_of(table, item)}})
            after.pop(who, None)
        else:
            requests.setdefault(table, []).append({"PutRequest": {"Item": item}})
            after[who] = item
    return ("BatchWriteItem", {"RequestItems": requests}), after


def _transaction(
    dice: random.Random, items: dict[Any, Any], model: Model, token: str
) -> tuple[Request, Model]:
    actions: list[dict[str, Any]] = []
    after = dict(model)
    for number, (who, (table, item)) in enumerate(items.items()):
        # At least one of each counts, so that a transaction that is made twice shows.
        kind = "Update" if number == 0 else dice.choice(("Put", "Delete", "Update"))
        if kind == "Put":
            actions.append({"Put": {"TableName": table, "Item": item}})
            after[who] = item
        elif kind == "Delete":
            actions.append({"Delete": {"TableName": table, "Key": key_of(table, item)}})
            after.pop(who, None)
        else:
            actions.append({"Update": _update(table, item)})
            after[who] = _updated(after.get(who), table, item)
    return ("TransactWriteItems", {"TransactItems": actions, "ClientRequestToken": token}), after


def operator_step(step: int) -> Request:
    """The operator's steps, on one table after the other: create, fill, tag, add an index, delete."""
    name = f"temporary-{step // 5}"
    arn = f"arn:aws:dynamodb:us-east-1:123456789012:table/{name}"
    kind = step % 5
    if kind == 0:
        return "CreateTable", _table(name, _schema("pk"), {"pk": "S"})
    if kind == 1:
        return "PutItem", {"TableName": name, "Item": {"pk": {"S": "one"}, "late": {"S": "x"}}}
    if kind == 2:
        return "TagResource", {"ResourceArn": arn, "Tags": [{"Key": "table", "Value": name}]}
    if kind == 3:
        types = [{"AttributeName": one, "AttributeType": "S"} for one in ("pk", "late")]
        create = {"Create": _index("late", _schema("late"), "ALL")}
        update = {"AttributeDefinitions": types, "GlobalSecondaryIndexUpdates": [create]}
        return "UpdateTable", {"TableName": name, **update}
    return "DeleteTable", {"TableName": name}


def operator_state(steps: int) -> dict[str, Any] | None:
    """What there is of the operator's table after so many steps; None for none."""
    if steps % 5 == 0:
        return None
    name, last = f"temporary-{steps // 5}", (steps - 1) % 5
    return {
        "name": name,
        "items": 1 if last >= 1 else 0,
        "tags": {"table": name} if last >= 2 else {},
        "indexes": ["late"] if last >= 3 else [],
    }


def open_engine(path: Path, lag: float) -> tuple[DurableStorage, Engine]:
    """Small segments and a small map, so that both come to their ends many times."""
    storage = DurableStorage(path, segment_bytes=128 * 1024, map_bytes=256 * 1024)
    return storage, Engine(time.time, os.urandom, EngineSettings(gsi_lag=lag), storage)


async def _write(backend: EmbeddedBackend, seed: int, writer: int, step: int) -> None:
    model: Model = {}
    for earlier in range(step):
        _, model = step_of(seed, writer, earlier, model)
    while True:
        (operation, request), model = step_of(seed, writer, step, model)
        try:
            await backend.execute(operation, request)
        except ServiceError as refused:
            if refused.code != "ConditionalCheckFailedException":
                raise
        os.write(1, f"{writer} {step}\n".encode())
        step += 1


async def _operate(backend: EmbeddedBackend, step: int) -> None:
    while True:
        await backend.execute(*operator_step(step))
        os.write(1, f"{OPERATOR} {step}\n".encode())
        step += 1
        await asyncio.sleep(0.002)


async def main(path: Path, seed: int, window: float, lag: float, steps: list[int]) -> None:
    storage, engine = open_engine(path, lag)
    backend = EmbeddedBackend(engine, GroupCommit(storage, window, time.perf_counter))
    for table in TABLES:
        if engine.catalog.find(table["TableName"]) is None:
            await backend.execute("CreateTable", table)
    if engine.catalog.get("orders").time_to_live is None:
        specification = {"Enabled": True, "AttributeName": "expires"}
        await backend.execute(
            "UpdateTimeToLive", {"TableName": "orders", "TimeToLiveSpecification": specification}
        )
    os.write(1, b"ready\n")
    writers = [_write(backend, seed, writer, steps[writer]) for writer in range(WRITERS)]
    await asyncio.gather(*writers, _operate(backend, steps[OPERATOR]))


if __name__ == "__main__":
    directory, seed_text, window_text, lag_text, steps_text = sys.argv[1:]
    asyncio.run(
        main(
            Path(directory),
            int(seed_text),
            float(window_text),
            float(lag_text),
            [int(step) for step in steps_text.split(",")],
        )
    )
