import json
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication

from gui.app.ipc_server import MAX_CALLERS, IpcServer
from gui.app.single_instance import LONGEST, REFUSED, IpcAddress, IpcMessage, Outcome, decode, encode, send_message

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs Unix sockets")
SAID = IpcMessage("/home/jule", ("--query", "süß \udc80"), "")


@pytest.fixture
def address(tmp_path) -> IpcAddress:
    return IpcAddress(str(tmp_path / "a"), str(tmp_path / "b"))


def _say(address: IpcAddress, line: bytes) -> bytes:
    """Return the response to a line through the socket."""
    with socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(10)
        caller.connect(address.name)
        caller.sendall(line)
        return caller.recv(100)


def _hand_over(qtbot, jobs, address: IpcAddress, line: bytes) -> Outcome:
    """Send a line as another process would: not from the thread that answers."""
    outcomes: list[Outcome] = []
    jobs.read(lambda _: send_message(address.name, line, timeout=60), outcomes.append)
    qtbot.waitUntil(lambda: bool(outcomes))
    return outcomes[0]


def test_message_of_later_start_arrives(qtbot, jobs, address):
    listener = IpcServer(address)
    with qtbot.waitSignal(listener.message_received) as message_received:
        assert _hand_over(qtbot, jobs, address, encode(SAID)) == "taken"
    assert message_received.args == [SAID]
    assert Path(address.name).stat().st_mode & 0o077 == 0
    listener.close()
    assert send_message(address.name, encode(SAID)) == "not running"


NOISE = {
    "no JSON": b"noise\n",
    "a long word": b"x" * (LONGEST - 1) + b"\n",
    "nested lists": b"[" * 60_000 + b"\n",
    "nested objects": b'{"a":' * 10_000 + b"\n",
    "a long number": b"1" * 6_000 + b"\n",
    "no UTF-8": b'"\xff"\n',
    "a NUL": encode(IpcMessage("/", ("a\0b",), "")),
    "a lone surrogate": encode(IpcMessage("/", (), "\ud800")),
    "no line end": b"[" * (LONGEST + 1),
}


@pytest.mark.parametrize("line", NOISE.values(), ids=NOISE)
def test_invalid_message_is_refused(qtbot, jobs, address, line):
    listener = IpcServer(address)
    listener.message_received.connect(lambda _: pytest.fail("an invalid message was accepted"))
    answers: list[bytes] = []
    jobs.read(lambda _: _say(address, line), answers.append)
    qtbot.waitUntil(lambda: bool(answers))
    assert answers == [REFUSED]
    listener.close()


def test_idle_clients_do_not_block_a_start(qtbot, jobs, address):
    listener = IpcServer(address)
    idle: list[socket.socket] = []
    for _ in range(400):
        line = socket.socket(socket.AF_UNIX)
        line.connect(address.name)
        idle.append(line)
        QCoreApplication.processEvents()
    assert _hand_over(qtbot, jobs, address, encode(SAID)) == "taken"
    assert sum(map(_is_open, idle)) <= MAX_CALLERS
    for line in idle:
        line.close()
    listener.close()


def test_idle_client_is_closed_after_timeout(qtbot, address):
    listener = IpcServer(address)
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(address.name)
        line.sendall(b"half")
        qtbot.waitUntil(lambda: not _is_open(line))
    listener.close()


def _is_open(line: socket.socket) -> bool:
    """Whether the other side has not closed the connection."""
    line.setblocking(False)
    try:
        return bool(line.recv(1))
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


@given(st.binary(max_size=300) | st.recursive(st.none(), st.lists).map(lambda it: json.dumps(it).encode()))
def test_decode_any_bytes_returns_message_or_none(line):
    found = decode(line)
    assert found is None or decode(encode(found).strip()) == found


def test_client_disconnect_mid_message_is_harmless(qtbot, jobs, address):
    listener = IpcServer(address)
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(address.name)
        line.sendall(b"half")
    assert _hand_over(qtbot, jobs, address, encode(SAID)) == "taken"
    listener.close()


def test_stale_socket_is_replaced(qtbot, jobs, address):
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(address.name)
    listener = IpcServer(address)
    assert _hand_over(qtbot, jobs, address, encode(SAID)) == "taken"
    listener.close()


def test_close_leaves_address_taken_over_by_other_server(qtbot, jobs, address):
    hung = IpcServer(address)
    other = IpcServer(address)
    hung.close()
    assert _hand_over(qtbot, jobs, address, encode(SAID)) == "taken"
    other.close()
    assert not Path(address.name).exists()
