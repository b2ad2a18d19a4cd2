"""One port, two wires, and connections that belong to somebody."""

from __future__ import annotations

import asyncio
import socket

import pytest

from cluster.runtime.listener import CannotListen, Fronts, Listener, PortInUse

pytestmark = pytest.mark.live


BROKEN = (ConnectionResetError, asyncio.IncompleteReadError)


class Echo(asyncio.Protocol):
    """Answers with its name and what it was sent."""

    def __init__(self, name: bytes) -> None:
        self.name = name

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.transport.write(self.name + data)


@pytest.fixture
async def fronts():
    return Fronts(lambda: Echo(b"http:"), lambda: Echo(b"dax:"))


@pytest.fixture
async def listener(fronts):
    listener = Listener("127.0.0.1", 0, lambda: fronts)
    await listener.open()
    yield listener
    listener.close()
    fronts.connections.abort()
    await asyncio.sleep(0)


async def connect(listener):
    return await asyncio.open_connection("127.0.0.1", listener.port)


@pytest.mark.parametrize(
    ("sent", "answer"), [(b"POST / HTTP/1.1", b"http:POST / HTTP/1.1"), (b"gJ7yne5G", b"dax:gJ7yne5G")]
)
async def test_the_first_byte_tells_the_wire(listener, sent, answer):
    reader, writer = await connect(listener)
    writer.write(sent)
    assert await reader.readexactly(len(answer)) == answer
    writer.write(b"more")
    expected = answer.split(b":")[0] + b":more"
    assert await reader.readexactly(len(expected)) == expected
    writer.close()


async def test_a_tls_client_is_told_so(listener):
    reader, writer = await connect(listener)
    writer.write(b"\x16\x03\x01")
    alert = await reader.read()
    assert alert[0] == 0x15
    assert alert[-1] == 40
    writer.close()


async def test_without_anyone_to_answer_the_connection_breaks():
    listener = Listener("127.0.0.1", 0, lambda: None)
    await listener.open()
    reader, writer = await connect(listener)
    writer.write(b"POST")
    with pytest.raises(BROKEN):
        await reader.readexactly(1)
    writer.close()
    listener.close()


async def test_an_abort_breaks_the_connections_of_the_owner(listener, fronts):
    reader, writer = await connect(listener)
    writer.write(b"POST")
    await reader.readexactly(9)
    assert len(fronts.connections) == 1
    fronts.connections.abort()
    with pytest.raises(BROKEN):
        await reader.readexactly(1)
    assert len(fronts.connections) == 0
    writer.close()


async def test_a_taken_port_is_one_clear_line():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(PortInUse) as refused:
            await Listener("127.0.0.1", port, lambda: None).open()
    assert str(refused.value) == f"port {port} on 127.0.0.1 is in use by another program"


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
async def test_an_address_that_is_not_ours_is_one_clear_line(host):
    with pytest.raises(CannotListen, match=f"cannot listen on port 0 of {host}: ") as refused:
        await Listener(host, 0, lambda: None).open()
    assert "\n" not in str(refused.value)


async def test_a_closed_listener_may_be_opened_again_on_its_port(fronts):
    listener = Listener("127.0.0.1", 0, lambda: fronts)
    await listener.open()
    port = listener.port
    listener.close()
    await asyncio.sleep(0)
    await listener.open()
    assert listener.port == port
    reader, writer = await connect(listener)
    writer.write(b"POST")
    assert await reader.readexactly(9) == b"http:POST"
    writer.close()
    listener.close()
    fronts.connections.abort()
