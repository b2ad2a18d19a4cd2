"""Mutated frames against a whole node: they crash nothing, leak nothing and touch no other connection.

    python tests/faults/test_fuzz_binary.py --frames 1000000 --seed 1

Each frame is a captured request, mutated, on a connection that may have any state; the stream is read as a
server reads it, down to the store. Between them an honest client asks for the same item, and must get the
same bytes.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import random
import resource
import time
from pathlib import Path

from backend.embedded import EmbeddedBackend
from backend.engine import Engine
from dax.node import Node
from dax.wire.binary import methods, sigv4
from dax.wire.binary.attribute_lists import AttributeLists
from dax.wire.binary.connection import Connection
from dax.wire.binary.events import Call, Greeting
from dax.wire.binary.server import BinaryFront
from dax.wire.binary.state import Role

CAPTURES = Path(__file__).parents[1] / "dax" / "wire" / "binary" / "captures.txt"
ITEM = {"pk": {"S": "honest"}, "v": {"N": "7"}, "text": {"S": "the same bytes every time"}}
PREAMBLE = Connection(Role.CLIENT).send(Greeting(b"", "fuzz"))


class World:
    """A node's clock, peers, tasks and directory, with nothing in them."""

    def __init__(self):
        self.running = {}

    def now(self):
        return 1_000_000.0

    async def sleep(self, seconds):
        await asyncio.Event().wait()

    def spawn(self, work, *, name):
        task = asyncio.get_running_loop().create_task(work, name=name)
        self.running[task] = None
        task.add_done_callback(self.running.pop)

    def call_later(self, seconds, callback):
        return self

    def cancel(self):
        pass

    def send(self, to, message):
        pass

    def members(self):
        return []


class Transport(asyncio.Transport):
    def __init__(self):
        super().__init__()
        self.written = bytearray()
        self.closed = False

    def write(self, data):
        self.written += data

    def close(self):
        self.closed = True

    abort = close

    def is_closing(self):
        return self.closed

    def pause_reading(self):
        pass

    resume_reading = pause_reading

    def get_extra_info(self, name, default=None):
        return default if name == "socket" else ("127.0.0.1", 5555)


def corpus():
    """The captured requests, for tables whose names the store takes."""
    requests = []
    for block in CAPTURES.read_text().strip().split("\n\n")[1:]:
        lines = block.splitlines()
        number = int(lines[0].split(" ")[0])
        request = bytes.fromhex("".join(line[2:] for line in lines if line.startswith("C")))
        if 3 <= number <= 20:
            for short, long in (
                (b"CtSS", b"Falbums"),
                (b"BtS", b"Emusic"),
                (b"ctSS", b"falbums"),
                (b"btS", b"emusic"),
            ):
                request = request.replace(short, long)
            requests.append(request)
    return requests


def mutate(rng, request, requests):
    """One of the usual ways to damage a message, or two of them."""
    data = bytearray(request)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        where = rng.randrange(len(data)) if data else 0
        match rng.randrange(8):
            case 0 | 1 if data:
                data[where] ^= 1 << rng.randrange(8)
            case 2 if data:
                data[where] = rng.choice(
                    (0x00, 0x1B, 0x3B, 0x5B, 0x5F, 0x7F, 0x9B, 0x9F, 0xBF, 0xC2, 0xD9, 0xFB, 0xFF)
                )
            case 3:
                del data[where : where + rng.randrange(1, 9)]
            case 4:
                data[where:where] = rng.randbytes(rng.randrange(1, 9))
            case 5:
                data[where:where] = data[where : where + rng.randrange(1, 33)]
            case 6:
                del data[where:]
            case _:
                other = rng.choice(requests)
                data[where:] = other[rng.randrange(len(other)) :]
    return bytes(data)


class Defects(logging.Handler):
    """Keeps what the node calls a defect."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.records = []

    def emit(self, record):
        self.records.append(self.format(record))


async def fuzz(frames, seed, report=lambda line: None):
    """Send that many mutated frames. Raises AssertionError with the frame that did harm."""
    rng, world, requests = random.Random(seed), World(), corpus()
    backend = EmbeddedBackend(Engine(world.now, rng.randbytes))
    for name, sort in (("music", None), ("albums", "sk")):
        names = ["pk", *([sort] if sort else [])]
        await backend.execute(
            "CreateTable",
            {
                "TableName": name,
                "KeySchema": [
                    {"AttributeName": n, "KeyType": kind}
                    for n, kind in zip(names, ("HASH", "RANGE"), strict=False)
                ],
                "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in names],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
    node = Node("node-1", world, backend, world, world)
    node.become_primary(1, [])
    lists = AttributeLists()
    lists.restore([(3, ("v",)), (5, ("a", "b"))])
    front = BinaryFront(
        node, world, lists, tasks=world, now=world.now, entropy=rng.randbytes, call_later=world.call_later
    )
    defects = Defects()
    logger = logging.getLogger("daxsim.binary")
    logger.addHandler(defects)
    logger.propagate = False
    await node.execute("PutItem", {"TableName": "music", "Item": ITEM})

    def connect():
        protocol, transport = front(), Transport()
        protocol.connection_made(transport)
        codec = Connection(Role.CLIENT)
        protocol.data_received(codec.send(Greeting(b"", "fuzz")))
        protocol.data_received(codec.send(sigv4.authorize("AK", "secret", 0)))
        return protocol, transport, codec

    async def settle():
        while world.running:
            await asyncio.gather(*world.running)

    honest, honest_transport, codec = connect()
    get = codec.send(Call(methods.GET_ITEM, [b"music", b"honest", None]))
    expected = None
    hostile, hostile_transport, _ = connect()
    started, counts = time.perf_counter(), {"refused": 0, "answered": 0}
    try:
        for number in range(frames):
            frame = mutate(rng, rng.choice(requests), requests)
            before = len(hostile_transport.written)
            hostile.data_received(frame)
            await settle()
            counts["answered"] += len(hostile_transport.written) > before
            counts["refused"] += hostile_transport.closed
            if hostile_transport.closed or len(hostile_transport.written) > 1_000_000 or rng.random() < 0.3:
                hostile.connection_lost(None)
                hostile, hostile_transport, _ = connect()
            assert not defects.records, f"frame {number} ({frame.hex()}): {defects.records[0]}"
            if number % 50 == 0:
                honest_transport.written.clear()
                honest.data_received(get)
                await settle()
                answer = bytes(honest_transport.written)
                expected = expected or answer
                assert answer == expected, (
                    f"after frame {number} ({frame.hex()}) the honest client got {answer.hex()}"
                )
                assert len(front.connections) == 2
            if number and number % (frames // 10 or 1) == 0:
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
                report(
                    f"{number} frames, {time.perf_counter() - started:.0f} s, {memory} MiB at most, {counts}"
                )
    finally:
        logger.removeHandler(defects)
        logger.propagate = True
    hostile.connection_lost(None)
    honest.connection_lost(None)
    assert not front.connections
    gc.collect()
    return counts


async def test_mutated_frames_do_no_harm():
    counts = await fuzz(5_000, seed=7)
    assert counts["refused"] > 500
    assert counts["answered"] > 500


def main():
    parser = argparse.ArgumentParser(description="Send mutated frames to a node.")
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(asyncio.run(fuzz(arguments.frames, arguments.seed, report=print)))


if __name__ == "__main__":
    main()
