"""A later start hands its arguments to the program that runs, without Qt, which takes longer to load than all else."""

import socket
import sys
import threading
import time
from typing import Literal

from gui.app.desktop.ipc_message import LONGEST, REFUSED, TAKEN

Outcome = Literal["taken", "refused", "nobody", "silent"]
"""`nobody` listens there; `silent`: the one who does has not answered in time, so it hangs."""

PATIENCE_SECONDS = 1.5
"""A window that works answers within a few milliseconds."""


def hand_over(name: str, message: bytes, patience: float = PATIENCE_SECONDS) -> Outcome:
    """Ask whoever listens at the address `name`; returns after `patience` seconds at the latest."""
    if len(message) > LONGEST:
        return "nobody"
    deadline = time.monotonic() + patience
    answer = _ask_pipe(name, message, patience) if sys.platform == "win32" else _ask_socket(name, message, deadline)
    if answer is None:
        return "nobody"
    return "taken" if answer == TAKEN else "refused" if answer == REFUSED else "silent"


def _ask_socket(name: str, message: bytes, deadline: float) -> bytes | None:
    """None where nobody listens, be it that the file is left over from a program that was killed."""
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


def _ask_pipe(name: str, message: bytes, patience: float) -> bytes | None:
    """A pipe that is opened as a file knows no patience, so another thread waits for it."""
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
    thread.join(patience)
    return answers[0] if answers else b""
