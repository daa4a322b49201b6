"""The message of a later start, its address and its recipient; without Qt."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from gui.app import single_instance
from gui.app.single_instance import (
    ACCEPTED,
    REFUSED,
    IpcAddress,
    IpcMessage,
    begin,
    decode,
    encode,
    find_address,
    message_of,
    send_message,
    settings_file,
)
from tests.helpers.background import LONGEST_WAIT

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs Unix sockets")


@pytest.fixture
def runtime(tmp_path_factory, monkeypatch) -> Path:
    """Use a runtime folder with a short path, since a socket's path is limited to some hundred bytes."""
    folder = tmp_path_factory.mktemp("run")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.setattr(single_instance, "_LONGEST_ADDRESS", 1000)
    return folder


@pytest.fixture
def here(tmp_path, monkeypatch) -> Iterator[Callable[[bytes | None], str]]:
    """Return a function that starts a listener with a given answer, or none, to whatever it receives."""
    monkeypatch.chdir(tmp_path)
    open_ones: list[socket.socket] = []

    def listen(answer: bytes | None) -> str:
        server = socket.socket(socket.AF_UNIX)
        server.bind("here")
        server.listen(1)
        open_ones.append(server)
        if answer is not None:
            threading.Thread(target=_answer_once, args=(server, answer)).start()
        return "here"

    yield listen
    for server in open_ones:
        server.close()


def _answer_once(server: socket.socket, answer: bytes) -> None:
    line, _ = server.accept()
    with line:
        line.recv(1000)
        line.sendall(answer)


# --- the message ----------------------------------------------------------------------------------------------------


_ARGUMENT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.builds(IpcMessage, _ARGUMENT, st.lists(_ARGUMENT).map(tuple), _ARGUMENT))
def test_message_is_encoded_as_one_line(message):
    line = encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line.rstrip()) == message


@given(st.binary())
def test_decode_noise_returns_none(noise):
    assert decode(noise) is None


@pytest.mark.parametrize("line", [b"[1]", b"{}", b'{"directory": "/", "arguments": "--toggle", "token": ""}', b"7"])
def test_decode_other_json_returns_none(line):
    assert decode(line) is None


def test_message_has_directory_and_activation_token(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "once")
    assert message_of(["--toggle"]) == IpcMessage(str(tmp_path), ("--toggle",), "once")


# --- the address ----------------------------------------------------------------------------------------------------


def test_settings_file_matches_engine_path():
    assert settings_file(None) == engine.settings_path()


def test_each_settings_file_has_its_own_address(runtime, tmp_path):
    usual = find_address(None)
    assert usual is not None
    assert find_address(engine.settings_path()) == usual
    assert find_address(tmp_path / "other.toml") != usual
    assert Path(usual.name).parent == runtime / "mnemoscope"
    assert (runtime / "mnemoscope").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("spoil", [lambda f: f.chmod(0o770), lambda f: (f.rmdir(), f.symlink_to("/tmp"))])
def test_folder_writable_by_others_is_not_used(runtime, monkeypatch, spoil):
    monkeypatch.setenv("TMPDIR", str(runtime / "second"))
    (runtime / "second").mkdir()
    own = runtime / "mnemoscope"
    own.mkdir(mode=0o700)
    spoil(own)
    found = find_address(None)
    assert found is not None
    assert Path(found.name).parent == runtime / "second" / f"mnemoscope-{os.getuid()}"


def test_start_without_private_folder_runs_independently(runtime, monkeypatch):
    monkeypatch.setattr(single_instance, "_make_private", lambda _: False)
    assert find_address(None) is None
    assert begin([], None) == single_instance.SingleInstance(forwarded=False)


# --- handing over ---------------------------------------------------------------------------------------------------


def test_hand_over_without_listener_finds_no_instance(tmp_path):
    assert send_message(str(tmp_path / "nowhere"), b"x\n") == "not running"


def test_hand_over_to_stale_socket_finds_no_instance(here):
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind("left")
        killed.listen(1)
    assert send_message("left", b"x\n") == "not running"


@pytest.mark.parametrize(("answer", "outcome"), [(ACCEPTED, "taken"), (REFUSED, "refused"), (b"tak", "silent")])
def test_listener_answer_gives_outcome(here, answer, outcome):
    assert send_message(here(answer), b"x\n") == outcome


def test_hand_over_without_answer_times_out(here):
    assert send_message(here(None), b"x\n", timeout=0.05) == "silent"


# --- the first start --------------------------------------------------------------------------------------------------


def test_first_start_holds_lock_until_it_ends(runtime, monkeypatch):
    monkeypatch.setattr(single_instance, "START_SECONDS", 0.0)
    first = begin([], None)
    assert first.lock is not None
    second = begin([], None)
    assert (second.forwarded, second.lock) == (False, None)
    assert second.address == first.address
    first.end()
    third = begin([], None)
    assert third.lock is not None
    third.end()


def test_start_waits_for_starting_instance(runtime, monkeypatch):
    first = begin([], None)
    names: list[str] = []
    outcomes = iter(["not running", "not running", "taken"])
    monkeypatch.setattr(single_instance, "send_message", lambda name, _: names.append(name) or next(outcomes))
    assert begin([], None).forwarded
    assert names == [first.address.name] * 3
    first.end()


def test_address_of_hung_instance_is_taken_over(runtime, monkeypatch):
    first = begin([], None)
    monkeypatch.setattr(single_instance, "send_message", lambda *_: "silent")
    assert begin([], None) == single_instance.SingleInstance(forwarded=False, address=first.address, lock=None)
    first.end()


def test_refused_start_leaves_address_to_other_version(runtime, monkeypatch):
    monkeypatch.setattr(single_instance, "send_message", lambda *_: "refused")
    assert begin([], None) == single_instance.SingleInstance(forwarded=False, refused=True)


def test_sending_a_message_loads_neither_qt_nor_engine(runtime):
    address = find_address(None)
    assert isinstance(address, IpcAddress)
    server = socket.socket(socket.AF_UNIX)
    with server:
        server.bind(address.name)
        server.listen(1)
        thread = threading.Thread(target=_answer_once, args=(server, ACCEPTED))
        thread.start()
        script = (
            "import sys\n"
            "from gui.app import single_instance\n"
            "single_instance._LONGEST_ADDRESS = 1000\n"
            "from gui.__main__ import main\n"
            "assert main(['--toggle']) == 0\n"
            "heavy = ('PySide6', 'shiboken6', 'engine', 'numpy', 'argparse')\n"
            "assert not [name for name in sys.modules if name.split('.')[0] in heavy]\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], check=False, cwd=ROOT, capture_output=True, timeout=LONGEST_WAIT
        )
        thread.join()
    assert (done.returncode, done.stderr) == (0, b"")
