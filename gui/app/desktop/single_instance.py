"""The first moment of a start: another program may run already, or be about to."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Optional

from gui.app.desktop.ipc_address import IpcAddress, find_address
from gui.app.desktop.ipc_client import hand_over
from gui.app.desktop.ipc_message import encode, message_of

if TYPE_CHECKING:
    from filelock import BaseFileLock

START_SECONDS = 15.0
"""So long one that is just starting or ending is waited for: either takes about one, on a busy machine several."""
_LOOK_SECONDS = 0.05


class SingleInstance(NamedTuple):
    """What the beginning came to.

    `handed_over`: the program that runs has taken what was asked for. Else this one goes on and listens at `address`,
    if there is one; it holds `lock` until it ends, unless it takes over from one that hangs.
    """

    handed_over: bool
    address: IpcAddress | None = None
    lock: Optional["BaseFileLock"] = None
    refused: bool = False
    """The program that runs is of another version, and keeps its address."""

    def end(self) -> None:
        """Let the next start be the first."""
        if self.lock is not None:
            self.lock.release()


def begin(arguments: list[str], config: Path | None) -> SingleInstance:
    """Hand `arguments` over to the program that runs with these settings; else be the one that later starts find."""
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
        time.sleep(_LOOK_SECONDS)  # another one has just begun, or is about to end


def _take(address: IpcAddress) -> "BaseFileLock | None":
    """The lock of the first program; None while another one has it."""
    from filelock import FileLock, Timeout

    lock = FileLock(address.lock, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        return None
    return lock
