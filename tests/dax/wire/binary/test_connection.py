"""The connection object: whole, in pieces, with more behind it, against itself, and against noise."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dax.wire.binary import cbor, methods
from dax.wire.binary.connection import (
    NEED_DATA,
    PAUSED,
    Connection,
    Limits,
    LocalProtocolError,
    RemoteProtocolError,
)
from dax.wire.binary.events import (
    Authorization,
    Call,
    ConnectionClosed,
    Failure,
    Greeting,
    Reply,
)
from dax.wire.binary.state import Role, State

GREETING = Connection(Role.CLIENT).send(Greeting(b"s", "test"))
REQUESTS = [*range(3, 21)]


class Pair:
    """A client and a server head to head: what one sends, the other must read as the same event."""

    def __init__(self):
        self.client, self.server = Connection(Role.CLIENT), Connection(Role.SERVER)

    def send(self, event, *, sender=Role.CLIENT, piece=0):
        ours, theirs = (self.client, self.server) if sender is Role.CLIENT else (self.server, self.client)
        data = ours.send(event)
        for start in range(0, len(data), piece or len(data)):
            theirs.receive_data(data[start : start + (piece or len(data))])
            received = theirs.next_event()
            if start + (piece or len(data)) < len(data):
                assert received is NEED_DATA
        assert ours.state is theirs.state
        return received


@pytest.fixture
def pair():
    pair = Pair()
    pair.send(Greeting(b"\x01", "test"))
    return pair


@pytest.fixture
def greeted():
    connection = Connection(Role.SERVER)
    connection.receive_data(GREETING)
    assert connection.next_event() == Greeting(b"s", "test")
    return connection


@pytest.mark.parametrize("piece", [0, 1, 3])
def test_head_to_head(piece):
    pair = Pair()
    greeting = Greeting(b"\x01\x02", "DaxTest-1")
    assert pair.send(greeting, piece=piece) == greeting
    authorization = Authorization("AK", "ab" * 32, b"to sign", None, "agent")
    assert pair.send(authorization, piece=piece) == authorization
    call = pair.send(Call(methods.GET_ITEM, [b"t", b"key", {2: True}]), piece=piece)
    assert (call.method, call.arguments) == (methods.GET_ITEM, [b"t", b"key", {2: True}])
    reply = Reply(bytes.fromhex("80bf00420307ff"))
    assert pair.send(reply, sender=Role.SERVER, piece=piece) == reply
    assert reply.items() == [{0: b"\x03\x07"}]
    pair.send(Call(methods.ENDPOINTS), piece=piece)
    failure = Failure((4, 1), "no", "id", "Name", 400, (("None", None, None), ("C", "m", b"\x01")))
    assert pair.send(failure, sender=Role.SERVER, piece=piece) == failure


def test_answers_of_several_items(pair):
    pair.send(Call(methods.BATCH_WRITE_ITEM, [{}, None]))
    reply = pair.send(Reply(bytes.fromhex("80a080a0")), sender=Role.SERVER, piece=1)
    assert reply.items() == [{}, [], {}]


def test_captured_greetings(captures):
    for number, session, agent in [
        (1, captures[1].client[10:26], "DaxPythonClient-2.1.0"),
        (2, "0", "DaxGoV2Client-1.0.3"),
    ]:
        connection = Connection(Role.SERVER)
        connection.receive_data(captures[number].client)
        assert connection.next_event() == Greeting(session, agent)
        assert connection.next_event() is NEED_DATA


@pytest.mark.parametrize("number", REQUESTS)
def test_captured_requests_whole_in_bytes_and_with_more_behind(number, captures, greeted):
    data = captures[number].client
    greeted.receive_data(data)
    whole = greeted.next_event()
    assert isinstance(whole, Authorization if number == 3 else Call)

    pieces = Connection(Role.SERVER)
    events = []
    for byte in GREETING + data:
        pieces.receive_data(bytes([byte]))
        while (event := pieces.next_event()) not in (NEED_DATA, PAUSED):
            events.append(event)
    assert events == [Greeting(b"s", "test"), whole]

    more = Connection(Role.SERVER)
    more.receive_data(GREETING + data + b"\x01\x1a")
    assert isinstance(more.next_event(), Greeting)
    assert more.next_event() == whole
    assert more.unread == 2


@pytest.mark.parametrize("number", [n for n in REQUESTS if n not in (3, 19)])
def test_captured_answers(number, captures, pair):
    call = Connection(Role.SERVER)
    call.receive_data(GREETING + captures[number].client)
    call.next_event()
    method = call.next_event().method
    pair.client.send(Call(method, [None] * method.arguments))
    pair.client.receive_data(captures[number].server)
    assert pair.client.next_event() == Reply(captures[number].server)
    assert pair.client.unread == 0


def test_captured_failures(captures, pair):
    for number in (21, 22):
        pair.client.send(Call(methods.ENDPOINTS))
        pair.client.receive_data(captures[number].server)
        failure = pair.client.next_event()
        assert failure.encode() == captures[number].server
        assert failure.request_id == "REQ-0001"
    assert failure.reasons == (
        ("ConditionalCheckFailed", "The conditional request failed", b"\x03\x01"),
        ("None", None, None),
    )


def test_the_next_request_waits_for_the_answer(greeted):
    request = cbor.integer(1) + cbor.integer(methods.ENDPOINTS.id)
    greeted.receive_data(request * 3)
    for left in (2, 1, 0):
        assert greeted.next_event().method is methods.ENDPOINTS
        assert greeted.next_event() is PAUSED
        assert greeted.unread == left * len(request)
        greeted.send(Reply(b"\x80\x80"))
    assert greeted.next_event() is NEED_DATA


def test_more_arrives_while_a_request_waits(greeted):
    request = cbor.integer(1) + cbor.integer(methods.GET_ITEM.id) + bytes.fromhex("4174416bf6")
    greeted.receive_data(request + request[:4])
    assert greeted.next_event().method is methods.GET_ITEM
    for byte in request[4:] + request:
        greeted.receive_data(bytes([byte]))
        assert greeted.next_event() is PAUSED
    greeted.send(Reply(b"\x80\xf6"))
    assert greeted.next_event().frame == request
    greeted.send(Reply(b"\x80\xf6"))
    assert greeted.next_event().frame == request


def test_an_end_between_messages_is_no_error(greeted):
    greeted.receive_data(b"")
    assert greeted.next_event() == ConnectionClosed()
    assert greeted.state is State.CLOSED
    assert greeted.next_event() == ConnectionClosed()


@pytest.mark.parametrize("beginning", [b"\x01", b"\x01\x1a\x0f", b"\x01\x1a\x0f\xb0\xcc\x6a\x42t"])
def test_an_end_within_a_message_is_one(beginning, greeted):
    greeted.receive_data(beginning)
    assert greeted.next_event() is NEED_DATA
    greeted.receive_data(b"")
    with pytest.raises(RemoteProtocolError, match="in the middle"):
        greeted.next_event()
    assert greeted.state is State.ERROR


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"GET / HTTP/1.1\r\n", "HTTP request .* dax:// instead of http://"),
        (b"\x16\x03\x01\x02\x00", "TLS handshake .* dax:// instead of daxs://"),
        (b"gJ8", "not those of a DAX client"),
        (b"\x00", "not those of a DAX client"),
        (GREETING[:-1] + b"\xf6", "greeting of an unknown form"),
        (cbor.text("J7yne5G") + b"\x00\x05\xa0\x00", "session id"),
        (cbor.text("J7yne5G") + b"\x00\x5a\x00\x01\x00\x00", "larger than the limit"),
    ],
)
def test_what_is_no_greeting_is_explained(data, cause):
    connection = Connection(Role.SERVER)
    connection.receive_data(data)
    with pytest.raises(RemoteProtocolError, match=cause):
        connection.next_event()
    with pytest.raises(RemoteProtocolError, match="failed before"):
        connection.next_event()


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"\x02", "no service 2"),
        (b"\x01\x05", "no method 5"),
        (b"\x01" + cbor.integer(-819330193), "describeTable is not supported"),
        (b"\x01\x61", "else than a method id"),
        (b"\x80", "else than a service id"),
        (b"\x01" + cbor.integer(methods.GET_ITEM.id) + b"\x42tS\xff", "no data item starts with"),
        (b"\x01" + cbor.integer(methods.GET_ITEM.id) + b"\x5a\x7f\xff\xff\xff", "larger than the limit"),
        (b"\x01" + cbor.integer(methods.GET_ITEM.id) + b"\x9a\x7f\xff\xff\xff", "larger than the limit"),
        (b"\x01" + cbor.integer(methods.GET_ITEM.id) + b"\x81" * 70, "too deeply"),
        (
            b"\x01" + cbor.integer(methods.AUTHORIZE.id) + b"\x00\x00\x00\x00\x00",
            "authorization of an unknown",
        ),
    ],
)
def test_a_broken_stream_is_the_end(data, cause, greeted):
    greeted.receive_data(data)
    with pytest.raises(RemoteProtocolError, match=cause):
        greeted.next_event()


def test_limits():
    connection = Connection(Role.SERVER, Limits(message_bytes=100, message_elements=10))
    connection.receive_data(GREETING)
    connection.next_event()
    head = b"\x01" + cbor.integer(methods.DEFINE_ATTRIBUTE_LIST_ID.id)
    connection.receive_data(head + b"\x98\x20")
    assert connection.next_event() is NEED_DATA
    connection.receive_data(b"\x60" * 10)
    with pytest.raises(RemoteProtocolError, match="too many data items"):
        connection.next_event()


def test_only_the_client_asks_and_only_when_it_is_its_turn(pair):
    with pytest.raises(LocalProtocolError):
        pair.client.send(Greeting())
    with pytest.raises(LocalProtocolError):
        pair.server.send(Reply(b"\x80\xf6"))
    with pytest.raises(LocalProtocolError):
        pair.server.send(Call(methods.ENDPOINTS))
    with pytest.raises(LocalProtocolError, match="takes 3 arguments"):
        pair.client.send(Call(methods.GET_ITEM, []))
    pair.send(Call(methods.ENDPOINTS))
    with pytest.raises(LocalProtocolError):
        pair.client.send(Call(methods.ENDPOINTS))


def test_an_answer_to_nothing(pair):
    pair.client.receive_data(b"\x80\xf6")
    with pytest.raises(RemoteProtocolError, match="no request"):
        pair.client.next_event()


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_noise_raises_what_it_should_and_nothing_else(captures, data):
    """A mutated request either is a request again, needs more, or is the peer's fault."""
    message = bytearray(captures[data.draw(st.integers(3, 20))].client)
    for _ in range(data.draw(st.integers(1, 4))):
        where = data.draw(st.integers(0, len(message) - 1))
        match data.draw(st.sampled_from(["flip", "cut", "insert"])):
            case "flip":
                message[where] ^= 1 << data.draw(st.integers(0, 7))
            case "cut":
                del message[where:]
            case "insert":
                message[where:where] = data.draw(st.binary(min_size=1, max_size=4))
        if not message:
            message = bytearray(b"\x01")
    connection = Connection(Role.SERVER)
    connection.receive_data(GREETING + bytes(message))
    try:
        for _ in range(20):
            event = connection.next_event()
            if event is NEED_DATA:
                break
            if isinstance(event, Call):
                connection.send(Reply(b"\x80\xf6"))
    except RemoteProtocolError:
        assert connection.state is State.ERROR


@given(st.binary(min_size=1, max_size=200), st.integers(1, 10))
def test_pieces_give_what_the_whole_gives(noise, piece):
    def outcome(chunks):
        connection = Connection(Role.SERVER)
        connection.receive_data(GREETING)
        connection.next_event()
        seen = []
        try:
            for chunk in chunks:
                connection.receive_data(chunk)
                while (event := connection.next_event()) not in (NEED_DATA, PAUSED):
                    seen.append(event)
                    if isinstance(event, Call):
                        connection.send(Reply(b"\x80\xf6"))
        except RemoteProtocolError:
            seen.append("error")
        return seen

    data = cbor.integer(1) + cbor.integer(methods.ENDPOINTS.id) + noise
    assert outcome([data]) == outcome([data[i : i + piece] for i in range(0, len(data), piece)])
