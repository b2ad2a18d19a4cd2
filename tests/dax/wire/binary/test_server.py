"""The edge: real nodes behind it, a transport of ours before it, and time in our hands."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import pytest

from backend.embedded import EmbeddedBackend
from backend.engine import Engine
from backend.errors import ServiceError
from dax.node import Node
from dax.wire.binary import cbor, methods, service, sigv4
from dax.wire.binary.attribute_lists import AttributeLists
from dax.wire.binary.connection import NEED_DATA, Connection, Limits
from dax.wire.binary.events import Call, Failure, Greeting, Reply
from dax.wire.binary.kwargs import Parameter
from dax.wire.binary.server import BinaryFront, BinaryOptions
from dax.wire.binary.service import ServiceOptions
from dax.wire.binary.state import Role

TABLE = {
    "TableName": "music",
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
GET = Call(methods.GET_ITEM, [b"music", b"k", None])
ENDPOINTS = Call(methods.ENDPOINTS)


class Member(NamedTuple):
    node_id: str
    role: str
    host: str
    port: int


class Directory:
    def members(self):
        return [Member("node-1", "primary", "127.0.0.1", 8112)]


class World:
    """Time that stands still, tasks of the running loop, and a store that can be told to wait."""

    def __init__(self):
        self.time = 1_000_000.0
        self.timers = []
        self.tasks = []
        self.gate = None
        self.settling = None
        engine = Engine(self.now, lambda n: bytes(n))
        self.embedded = EmbeddedBackend(engine)

    def now(self):
        return self.time

    async def sleep(self, seconds):
        await (asyncio.Event().wait() if seconds else asyncio.sleep(0))

    def spawn(self, work, *, name):
        self.tasks.append(asyncio.get_running_loop().create_task(work, name=name))

    def call_later(self, seconds, callback):
        timer = Timer(self, self.time + seconds, callback)
        self.timers.append(timer)
        return timer

    def advance(self, seconds):
        self.time += seconds
        for timer in [timer for timer in self.timers if timer.when <= self.time]:
            timer.cancel()
            timer.callback()

    async def settle(self):
        for _ in range(20):
            await asyncio.sleep(0)

    # Backend and Peers

    async def execute(self, operation, request):
        if self.gate is not None and operation != "DescribeTable":
            await self.gate.wait()
        return await self.embedded.execute(operation, request)

    async def forward(self, operation, request):
        raise ServiceError("InternalServerError", "no primary", status=500)

    def send(self, to, message):
        pass


class Timer(NamedTuple):
    world: World
    when: float
    callback: object

    def cancel(self):
        if self in self.world.timers:
            self.world.timers.remove(self)


class Transport(asyncio.Transport):
    def __init__(self):
        super().__init__()
        self.written = b""
        self.closed = self.aborted = self.reading_paused = False
        self.unread = 0

    def write(self, data):
        assert not self.closed
        self.written += data

    def get_write_buffer_size(self):
        return self.unread

    def close(self):
        self.closed = True

    def abort(self):
        self.closed = self.aborted = True

    def is_closing(self):
        return self.closed

    def pause_reading(self):
        self.reading_paused = True

    def resume_reading(self):
        self.reading_paused = False

    def get_extra_info(self, name, default=None):
        return {"peername": ("127.0.0.1", 5555), "sockname": ("127.0.0.1", 8112)}.get(name, default)


class Client:
    """One connection to the front: a protocol, its transport, and our end of the codec."""

    def __init__(self, front, authorize=True):
        self.protocol, self.transport = front(), Transport()
        self.protocol.connection_made(self.transport)
        self.codec = Connection(Role.CLIENT)
        self._read = 0
        if authorize:
            self.say(self.codec.send(Greeting(b"", "test")))
            self.say(self.codec.send(sigv4.authorize("AK", "secret", 1_000_000.0)))

    def say(self, data):
        self.protocol.data_received(data)

    def answers(self):
        """What has come since, as events; one request each must have been sent with `ask`."""
        data, self._read = self.transport.written[self._read :], len(self.transport.written)
        if data:
            self.codec.receive_data(data)
        return self.codec.next_event()

    def ask(self, call):
        self.say(self.codec.send(call))


@pytest.fixture
def world():
    return World()


@pytest.fixture
async def make_front(world):
    await world.embedded.execute("CreateTable", TABLE)

    def make(**options):
        node = Node("node-1", world, world, world, world)
        node.become_primary(1, [])
        return BinaryFront(
            node,
            Directory(),
            AttributeLists(lambda identifier, names: world.settling),
            BinaryOptions(**options),
            tasks=world,
            now=world.now,
            entropy=lambda n: bytes(range(n)),
            call_later=world.call_later,
        )

    yield make
    for task in world.tasks:
        task.cancel()


@pytest.fixture
def front(make_front):
    return make_front()


async def test_a_miss_then_hits_then_the_same_bytes_again(front, world):
    client = Client(front)
    await world.embedded.execute(
        "PutItem", {"TableName": "music", "Item": {"pk": {"S": "k"}, "v": {"N": "7"}}}
    )
    answers = []
    for _ in range(4):
        client.ask(GET)
        await world.settle()
        answers.append(client.answers())
    assert answers == [answers[0]] * 4
    identifier, value = cbor.decode_run(answers[0].items()[0][0])
    assert (identifier, value) == (AttributeLists().id_of(("v",)), 7)
    metrics = front.node.metrics
    assert (metrics.item_misses, metrics.item_hits, metrics.requests["GetItem"]) == (1, 3, 4)


async def test_a_cached_answer_is_what_a_write_left(front, world):
    client = Client(front)
    put = [b"music", b"k", cbor.integer(AttributeLists().id_of(("v",))) + b"\x01", None]
    client.ask(Call(methods.DEFINE_ATTRIBUTE_LIST_ID, [["v"]]))
    assert isinstance(client.answers(), Reply)
    for value in (b"\x01", b"\x02"):
        put[2] = put[2][:-1] + value
        client.ask(Call(methods.PUT_ITEM, put))
        await world.settle()
        assert client.answers().items() == [None]
        for _ in range(3):
            client.ask(GET)
            await world.settle()
            assert client.answers().items()[0][0] == put[2]


async def test_the_id_of_a_new_list_is_told_when_the_list_is_kept(front, world):
    client = Client(front)
    world.settling = asyncio.get_running_loop().create_future()
    client.ask(Call(methods.DEFINE_ATTRIBUTE_LIST_ID, [["v"]]))
    await world.settle()
    assert client.answers() is NEED_DATA
    world.settling.set_result(None)
    await world.settle()
    assert client.answers().items() == [AttributeLists().id_of(("v",))]


async def test_an_item_with_a_new_list_is_told_when_the_list_is_kept(front, world):
    await world.embedded.execute(
        "PutItem", {"TableName": "music", "Item": {"pk": {"S": "k"}, "v": {"N": "7"}}}
    )
    world.settling = asyncio.get_running_loop().create_future()
    one, other = Client(front), Client(front)
    for client in (one, other):
        client.ask(GET)
        await world.settle()
        assert client.answers() is NEED_DATA
    world.settling.set_result(None)
    await world.settle()
    answer = one.answers()
    assert answer == other.answers()
    assert cbor.decode_run(answer.items()[0][0])[0] == AttributeLists().id_of(("v",))


async def test_a_list_that_cannot_be_kept_is_told_to_nobody(front, world):
    client = Client(front)
    world.settling = asyncio.get_running_loop().create_future()
    client.ask(Call(methods.DEFINE_ATTRIBUTE_LIST_ID, [["v"]]))
    world.settling.set_exception(ServiceError("InternalServerError", "the disk is full", status=500))
    await world.settle()
    assert isinstance(client.answers(), Failure)


async def test_a_table_made_anew_with_another_key(front, world):
    client = Client(front)
    client.ask(GET)
    await world.settle()
    assert client.answers().items() == [None]
    await world.embedded.execute("DeleteTable", {"TableName": "music"})
    other = {**TABLE, "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "N"}]}
    await world.embedded.execute("CreateTable", other)
    front.node.tables.forget(None)
    client.ask(Call(methods.DEFINE_KEY_SCHEMA, [b"music"]))
    await world.settle()
    assert client.answers().items() == [{"pk": "N"}]
    client.ask(Call(methods.GET_ITEM, [b"music", b"\x05", None]))
    await world.settle()
    assert client.answers().items() == [None]
    client.ask(GET)
    await world.settle()
    assert client.answers().name == "ValidationException"


async def test_requests_sent_ahead_are_answered_in_order(front, world):
    client = Client(front)
    frame = Connection(Role.CLIENT)
    frame.send(Greeting())
    get, roster = frame.send(GET), None
    other = Connection(Role.CLIENT)
    other.send(Greeting())
    roster = other.send(ENDPOINTS)
    client.say(get + roster + get + roster)
    await world.settle()
    expected = bytes.fromhex("80f6")
    assert client.transport.written.startswith(expected + b"\x80\x81")
    assert client.transport.written.count(b"node-1") == 2


@pytest.mark.parametrize(
    "call",
    [
        Call(methods.BATCH_WRITE_ITEM, [{"music": [b"a", b"\x01", b"b", b"\x01", b"c", b"\x01"]}, None]),
        Call(methods.BATCH_GET_ITEM, [{"music": [False, None, [b"a", b"b", b"c"]]}, None]),
        Call(methods.TRANSACT_GET_ITEMS, [[b"music"] * 3, [b"a", b"b", b"c"], None, None]),
        Call(methods.SCAN, [b"music", None]),
        Call(
            methods.TRANSACT_WRITE_ITEMS,
            [[2] * 3, [b"music"] * 3, [b"a", b"b", b"c"], [b"\x01"] * 3, None, None, None, None, None],
        ),
    ],
    ids=lambda call: call.method.name,
)
async def test_a_request_for_many_items_leaves_the_others_their_turn(front, world, monkeypatch, call):
    """When each item takes longer than a turn, another connection is answered after each."""
    for key in ("a", "b", "c"):
        await world.embedded.execute("PutItem", {"TableName": "music", "Item": {"pk": {"S": key}}})
    turns = []

    async def sleep(seconds):
        turns.append(seconds)
        await asyncio.sleep(0)

    monkeypatch.setattr(world, "sleep", sleep)
    monkeypatch.setattr(service, "_TURN_SECONDS", 0.0)
    client = Client(front)
    client.ask(call)
    await world.settle()
    assert isinstance(client.answers(), Reply)
    assert turns == [0, 0, 0]


@pytest.mark.parametrize(
    "method", [method for method in methods.ALL if method is not methods.AUTHORIZE], ids=lambda m: m.name
)
async def test_no_argument_makes_a_defect(front, world, method):
    """Whatever a client sends in place of an argument is its own fault, and told so in few words."""
    await world.embedded.execute("PutItem", {"TableName": "music", "Item": {"pk": {"S": "a"}}})
    strange = [
        None,
        True,
        -1,
        1 << 20_000,
        -(1 << 70),
        1.5,
        b"",
        b"\xff" * 5000,
        "x" * 100_000,
        [],
        [[["x"] * 1000]],
        {},
        *({int(parameter): 1 << 20_000} for parameter in Parameter),
        [1 << 20_000],
        {"music": [1 << 20_000, None]},
        [b"music", 1 << 20_000],
        cbor.DecimalFraction(1 << 20_000, 1 << 20_000),
        cbor.Tagged(cbor.NUMBER_SET, [1 << 20_000]),
        cbor.encode({"music": 1 << 20_000}),
    ]
    plain = {0: b"music", 1: b"a"}
    for position in range(method.arguments):
        for value in strange:
            arguments = [plain.get(index) for index in range(method.arguments)]
            arguments[position] = value
            client = Client(front)
            client.ask(Call(method, arguments))
            await world.settle()
            answer = client.answers()
            if isinstance(answer, Failure):
                assert answer.name != "InternalServerError", (position, value, answer)
                assert len(answer.message) < 1000, (position, value)


async def test_many_requests_sent_ahead_leave_the_others_their_turn(front, world):
    greedy, other = Client(front), Client(front)
    codec = Connection(Role.CLIENT)
    codec.send(Greeting())
    roster = codec.send(ENDPOINTS)
    greedy.say(roster * 1000)
    assert 0 < greedy.transport.written.count(b"node-1") <= 64
    assert greedy.transport.reading_paused is (len(roster) * 936 > 64 * 1024)
    other.ask(ENDPOINTS)
    assert isinstance(other.answers(), Reply)
    for _ in range(20):
        world.advance(0)
    assert greedy.transport.written.count(b"node-1") == 1000


async def test_a_peer_that_does_not_read_is_not_read(front, world):
    client = Client(front)
    client.protocol.pause_writing()
    codec = Connection(Role.CLIENT)
    codec.send(Greeting())
    client.say(codec.send(ENDPOINTS) * 20_000)
    assert client.transport.written == b""
    assert client.transport.reading_paused
    client.protocol.resume_writing()
    while world.timers:
        world.advance(0)
    assert client.transport.written.count(b"node-1") == 20_000
    assert not client.transport.reading_paused


async def test_a_peer_that_takes_nothing_is_cut_off_and_a_slow_one_is_not(front, world, caplog):
    stuck, slow, recovered = Client(front), Client(front), Client(front)
    for client in (stuck, slow, recovered):
        client.transport.unread = 1_000_000
        client.protocol.pause_writing()
    world.advance(30)
    recovered.protocol.resume_writing()
    slow.transport.unread -= 1
    world.advance(30)
    assert stuck.transport.aborted
    assert "it takes nothing of its answer" in caplog.text
    assert not slow.transport.aborted
    world.advance(60)
    assert slow.transport.aborted
    world.advance(1_000_000)
    assert not recovered.transport.closed


async def test_answers_that_nobody_reads_are_bounded_over_all_connections(make_front, world, caplog):
    front = make_front(max_unread_bytes=10_000)
    clients = [Client(front) for _ in range(5)]
    for client in clients:
        client.transport.unread = 4_000
        client.protocol.pause_writing()
        if client.transport.aborted:
            client.protocol.connection_lost(None)
    assert [client.transport.aborted for client in clients] == [True, True, True, False, False]
    assert "too many bytes of answers wait" in caplog.text
    assert len(front.not_reading) == 2


async def test_half_requests_are_bounded_over_all_connections(make_front, world, caplog):
    front = make_front(max_incomplete_bytes=10_000)
    whole = Call(methods.GET_ITEM, [b"music", b"k" * 8_000, None])
    clients = [Client(front) for _ in range(5)]
    sent = [client.codec.send(whole) for client in clients]
    for number, client in enumerate(clients):
        client.say(sent[number][:2_000])
        client.say(sent[number][2_000:4_000])
    # Who was slowest had to go; the others are answered, and those who come after them.
    assert [client.transport.aborted for client in clients] == [True, True, True, False, False]
    assert "too many bytes of such requests" in caplog.text
    for client in clients[:3]:
        client.protocol.connection_lost(None)
    for number in (3, 4):
        clients[number].say(sent[number][4_000:])
        await world.settle()
        assert isinstance(clients[number].answers(), Failure | Reply)
    for client in [Client(front) for _ in range(20)]:
        start = client.codec.send(whole)
        client.say(start[:6_000])
        client.say(start[6_000:])
        await world.settle()
        assert isinstance(client.answers(), Failure | Reply)


async def test_one_request_waits_and_no_other_connection_does(front, world):
    waiting, other = Client(front), Client(front)
    world.gate = asyncio.Event()
    waiting.ask(Call(methods.GET_ITEM, [b"music", b"slow", None]))
    await world.settle()
    other.ask(ENDPOINTS)
    assert isinstance(other.answers(), Reply)
    assert waiting.transport.written == b""
    world.gate.set()
    await world.settle()
    assert waiting.answers().items() == [None]


async def test_without_authorization(front):
    client = Client(front, authorize=False)
    client.say(client.codec.send(Greeting()))
    client.ask(ENDPOINTS)
    assert client.answers().codes == (4, 23, 31, 33)
    client.say(client.codec.send(sigv4.authorize("AK", "any", 0)))
    client.ask(ENDPOINTS)
    assert isinstance(client.answers(), Reply)


async def test_a_refused_signature_is_told_with_the_next_request(make_front, caplog):
    front = make_front(service=ServiceOptions(credentials={"AK": "secret"}))
    client = Client(front, authorize=False)
    client.say(client.codec.send(Greeting()))
    client.say(client.codec.send(sigv4.authorize("AK", "wrong", 1_000_000.0)))
    client.ask(ENDPOINTS)
    assert client.answers().name == "InvalidSignatureException"
    assert "refused the signature of access key AK from 127.0.0.1:5555" in caplog.text
    client.say(client.codec.send(sigv4.authorize("AK", "secret", 1_000_000.0)))
    client.ask(ENDPOINTS)
    assert isinstance(client.answers(), Reply)


async def test_errors_leave_the_stream_as_it_should_be(front, world):
    client = Client(front)
    for call, name in [
        (Call(methods.GET_ITEM, [b"nowhere", b"k", None]), "ResourceNotFoundException"),
        (Call(methods.DEFINE_KEY_SCHEMA, [b"nowhere"]), "ResourceNotFoundException"),
        (Call(methods.DEFINE_KEY_SCHEMA, [5]), "ValidationException"),
        (Call(methods.DEFINE_ATTRIBUTE_LIST, [99]), "ValidationException"),
        (Call(methods.DEFINE_ATTRIBUTE_LIST, [None]), "ValidationException"),
        (Call(methods.DEFINE_ATTRIBUTE_LIST_ID, [[1]]), "ValidationException"),
        (Call(methods.GET_ITEM, [b"music", b"", None]), "ValidationException"),
        (Call(methods.PUT_ITEM, [b"music", b"k", b"\x18\x63", None]), "ValidationException"),
    ]:
        client.ask(call)
        await world.settle()
        failure = client.answers()
        assert isinstance(failure, Failure)
        assert failure.name == name
        assert len(failure.request_id) == 52
    client.ask(ENDPOINTS)
    assert isinstance(client.answers(), Reply)


async def test_a_defect_is_answered_and_logged(front, world, monkeypatch, caplog):
    client = Client(front)

    async def broken(operation, request):
        raise ZeroDivisionError

    monkeypatch.setattr(front.node, "execute", broken)
    client.ask(GET)
    await world.settle()
    failure = client.answers()
    assert (failure.name, failure.status) == ("InternalServerError", 500)
    assert "a defect in answering getItem" in caplog.text
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "dax:// instead of http://"),
        (b"\x16\x03\x01", "dax:// instead of daxs://"),
    ],
)
async def test_a_wrong_client_is_closed_and_named(data, cause, front, caplog):
    client = Client(front, authorize=False)
    client.say(data)
    assert client.transport.closed
    assert client.transport.written == b""
    assert cause in caplog.text


async def test_a_broken_stream_is_answered_and_closed_and_no_other_is(front, caplog):
    broken, other = Client(front), Client(front)
    broken.codec.send(ENDPOINTS)
    broken.say(b"\x01\x05\x00")
    assert broken.answers().name == "ValidationException"
    assert broken.transport.closed
    assert "there is no method 5" in caplog.text
    other.ask(ENDPOINTS)
    assert isinstance(other.answers(), Reply)


async def test_a_greeting_and_a_begun_request_have_their_time_and_an_idle_connection_has_all_of_it(
    front, world
):
    silent = Client(front, authorize=False)
    slow, idle = Client(front), Client(front)
    world.advance(9)
    slow.say(b"\x01\x1a\x0f")
    silent.say(b"gJ7")
    assert not silent.transport.closed
    world.advance(10)
    assert silent.transport.closed
    assert not slow.transport.closed
    world.advance(49)
    slow.say(b"\xb0")
    assert not slow.transport.closed
    world.advance(1)
    assert slow.transport.closed
    world.advance(1_000_000)
    assert not idle.transport.closed


async def test_connections_are_bounded(make_front, caplog):
    front = make_front(max_connections=2)
    clients = [Client(front) for _ in range(2)]
    late = front(), Transport()
    late[0].connection_made(late[1])
    assert late[1].aborted
    assert "2 connections are open" in caplog.text
    clients[0].protocol.connection_lost(None)
    assert not Client(front).transport.closed


async def test_messages_are_bounded(make_front):
    client = Client(make_front(limits=Limits(message_bytes=1000)))
    client.codec.send(ENDPOINTS)
    client.say(b"\x01" + cbor.integer(methods.GET_ITEM.id) + b"\x59\x10\x00")
    assert "larger than the limit" in client.answers().message
    assert client.transport.closed


async def test_the_end_of_the_stream(front, world):
    client = Client(front)
    assert client.protocol.eof_received() is False
    assert client.transport.closed
    waiting = Client(front)
    world.gate = asyncio.Event()
    waiting.ask(GET)
    assert waiting.protocol.eof_received() is True
    world.gate.set()
    await world.settle()
    assert waiting.answers().items() == [None]
    assert waiting.transport.closed


async def test_shutdown_answers_what_is_under_way(front, world):
    idle, waiting = Client(front), Client(front)
    world.gate = asyncio.Event()
    waiting.ask(GET)
    await world.settle()
    stopping = asyncio.get_running_loop().create_task(front.shutdown(5))
    await world.settle()
    assert idle.transport.closed
    assert not waiting.transport.closed
    idle.protocol.connection_lost(None)
    world.gate.set()
    await world.settle()
    assert waiting.answers().items() == [None]
    assert waiting.transport.closed
    waiting.protocol.connection_lost(None)
    await stopping
    late = front(), Transport()
    late[0].connection_made(late[1])
    assert late[1].aborted


async def test_shutdown_does_not_wait_for_ever(front, world):
    waiting = Client(front)
    world.gate = asyncio.Event()
    waiting.ask(GET)
    await world.settle()
    stopping = asyncio.get_running_loop().create_task(front.shutdown(5))
    await world.settle()
    world.advance(5)
    await stopping
    assert waiting.transport.aborted


async def test_requests_can_be_traced(make_front, world):
    lines = []
    client = Client(make_front(service=ServiceOptions(trace=lines.append)))
    for call in (GET, GET, Call(methods.GET_ITEM, [b"nowhere", b"k", None])):
        client.ask(call)
        await world.settle()
        client.answers()
    assert lines == [
        'node-1 GetItem music {pk="k"} store 0.00 ms',
        'node-1 GetItem music {pk="k"} negative-entry 0.00 ms',
        "node-1 getItem ResourceNotFoundException: Requested resource not found",
    ]


async def test_a_go_client_is_told_apart(front, world):
    client = Client(front, authorize=False)
    client.say(client.codec.send(Greeting("0", "DaxGoV2Client-1.0.3")))
    client.say(client.codec.send(sigv4.authorize("AK", "secret", 0)))
    projection = cbor.encode([1, [[18, "v"]]])
    client.ask(Call(methods.SCAN, [b"music", {15: 1, 0: projection}]))
    await world.settle()
    assert client.answers().items() == [{7: [], 8: 0, 10: 0}]
