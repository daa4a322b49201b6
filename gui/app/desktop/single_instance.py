"""Allows one running program per user and settings file: a later start forwards its arguments to the running one."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Optional

from gui.app.desktop.ipc_protocol import IpcAddress, encode, find_address, message_of

if TYPE_CHECKING:
    from filelock import BaseFileLock
import socket
import sys
import threading
from typing import Literal

from gui.app.desktop.ipc_protocol import LONGEST, REFUSED, TAKEN

START_SECONDS = 15.0
"""How long to wait for a program that is starting or ending, which takes about a second, on a busy machine several."""
_LOOK_SECONDS = 0.05
Outcome = Literal["taken", "refused", "not running", "silent"]
"""`not running`: no listener; `silent`: the listener has not answered in time, so it hangs."""

TIMEOUT_SECONDS = 1.5
"""Of one request; a working program answers within a few milliseconds."""


def hand_over(name: str, message: bytes, timeout: float = TIMEOUT_SECONDS) -> Outcome:
    """Send the message to the listener at the address `name`; returns after `timeout` seconds at the latest."""
    if len(message) > LONGEST:
        return "not running"
    deadline = time.monotonic() + timeout
    answer = _ask_pipe(name, message, timeout) if sys.platform == "win32" else _ask_socket(name, message, deadline)
    if answer is None:
        return "not running"
    return "taken" if answer == TAKEN else "refused" if answer == REFUSED else "silent"


def _ask_socket(name: str, message: bytes, deadline: float) -> bytes | None:
    """None if there is no listener, including a stale file of a killed program."""
    answer = b""
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.settimeout(max(0.01, deadline - time.monotonic()))
            line.connect(name)
        except TimeoutError:
            return b""
        except OSError:
            return None
        try:
            line.sendall(message)
            while not answer.endswith(b"\n"):
                line.settimeout(max(0.01, deadline - time.monotonic()))
                part = line.recv(16)
                if not part:
                    break
                answer += part
        except OSError:  # it has ended meanwhile, or time is up
            pass
    return answer


def _ask_pipe(name: str, message: bytes, timeout: float) -> bytes | None:
    """A pipe that is opened as a file has no timeout, so another thread waits for it."""
    answers: list[bytes | None] = []

    def ask() -> None:
        try:
            with open(name, "r+b", buffering=0) as pipe:  # noqa: PTH123 - a pipe is no path
                pipe.write(message)
                answers.append(pipe.read(max(len(TAKEN), len(REFUSED))))
        except FileNotFoundError:
            answers.append(None)
        except OSError:
            answers.append(b"")

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(timeout)
    return answers[0] if answers else b""


class SingleInstance(NamedTuple):
    """Result of the start.

    `handed_over`: the running program has accepted the request. Otherwise this one continues and listens at `address`,
    if there is one; it holds `lock` until it ends, unless it replaces one that hangs.
    """

    handed_over: bool
    address: IpcAddress | None = None
    lock: Optional["BaseFileLock"] = None
    refused: bool = False
    """The running program is another version, and keeps its address."""

    def end(self) -> None:
        """Release the lock, so that the next start becomes the first."""
        if self.lock is not None:
            self.lock.release()


def begin(arguments: list[str], config: Path | None) -> SingleInstance:
    """Send `arguments` to the program that runs with these settings; if none runs, become the one that later starts
    find."""
    address = find_address(config)
    if address is None:
        return SingleInstance(handed_over=False)
    message = encode(message_of(arguments))
    deadline = time.monotonic() + START_SECONDS
    while True:
        outcome = hand_over(address.name, message)
        if outcome in ("taken", "refused"):
            return SingleInstance(handed_over=outcome == "taken", refused=outcome == "refused")
        lock = _take(address)
        if lock is not None or outcome == "silent" or time.monotonic() > deadline:
            return SingleInstance(handed_over=False, address=address, lock=lock)
        time.sleep(_LOOK_SECONDS)  # another one has just started, or is about to end


def _take(address: IpcAddress) -> "BaseFileLock | None":
    """Acquire the lock of the first program; None while another one holds it."""
    from filelock import FileLock, Timeout

    lock = FileLock(address.lock, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        return None
    return lock
