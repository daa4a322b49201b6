import socket
import sys
from pathlib import Path

import pytest

from gui.staying.address import Address
from gui.staying.handing_over import Outcome, hand_over
from gui.staying.listener import Listener
from gui.staying.message import LONGEST, Message, encode

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the sockets of these tests are those of Unix")
SAID = Message("/home/jule", ("--query", "süß \udc80"), "")


@pytest.fixture
def place(tmp_path) -> Address:
    return Address(str(tmp_path / "a"), str(tmp_path / "b"))


def _hand_over(qtbot, jobs, place: Address, line: bytes) -> Outcome:
    """As another process would: not from the thread that answers."""
    outcomes: list[Outcome] = []
    jobs.read(lambda _: hand_over(place.name, line, patience=10), outcomes.append)
    qtbot.waitUntil(lambda: bool(outcomes))
    return outcomes[0]


def test_what_a_later_start_asks_for_arrives(qtbot, jobs, place):
    listener = Listener(place)
    with qtbot.waitSignal(listener.asked) as asked:
        assert _hand_over(qtbot, jobs, place, encode(SAID)) == "taken"
    assert asked.args == [SAID]
    assert Path(place.name).stat().st_mode & 0o077 == 0
    listener.close()
    assert hand_over(place.name, encode(SAID)) == "nobody"


@pytest.mark.parametrize("line", [b"noise\n", b"x" * (LONGEST - 1) + b"\n"])
def test_noise_is_refused(qtbot, jobs, place, line):
    listener = Listener(place)
    listener.asked.connect(lambda _: pytest.fail("noise was taken for a message"))
    assert _hand_over(qtbot, jobs, place, line) == "refused"
    listener.close()


def test_who_hangs_up_does_no_harm(qtbot, jobs, place):
    listener = Listener(place)
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(place.name)
        line.sendall(b"half")
    assert _hand_over(qtbot, jobs, place, encode(SAID)) == "taken"
    listener.close()


def test_a_socket_that_was_left_over_is_replaced(qtbot, jobs, place):
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(place.name)
    listener = Listener(place)
    assert _hand_over(qtbot, jobs, place, encode(SAID)) == "taken"
    listener.close()


def test_who_took_over_the_address_keeps_it(qtbot, jobs, place):
    hung = Listener(place)
    other = Listener(place)
    hung.close()
    assert _hand_over(qtbot, jobs, place, encode(SAID)) == "taken"
    other.close()
    assert not Path(place.name).exists()
