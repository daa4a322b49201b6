"""Allows one running program per user and settings file: a later start sends its arguments to the running one.

The message is a line of JSON to a local socket or pipe; the answer is one word.
"""

import hashlib
import json
import os
import socket
import stat
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Optional, TypeGuard

import platformdirs

if TYPE_CHECKING:
    from filelock import BaseFileLock

LONGEST = 64 * 1024
"""Maximum size of a message in bytes; longer arguments are not sent to the running program."""
ACCEPTED = b"taken\n"
REFUSED = b"refused\n"
"""The answer of a running program of another version, which doesn't understand the message."""

_TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")


class IpcMessage(NamedTuple):
    directory: str
    """Current folder of the later start: paths among its arguments may be relative to it."""
    arguments: tuple[str, ...]
    token: str
    """Activation token: allows a window to come to the front; empty if the desktop provided none."""


def message_of(arguments: list[str]) -> IpcMessage:
    """Make the message of this process: current folder, `arguments`, and the activation token of the desktop."""
    token = next((os.environ[name] for name in _TOKENS if os.environ.get(name)), "")
    return IpcMessage(str(Path.cwd()), tuple(arguments), token)


def encode(message: IpcMessage) -> bytes:
    """Encode a message as one line of ASCII JSON, which preserves file names that aren't valid text."""
    return json.dumps(message._asdict()).encode("ascii") + b"\n"


def decode(line: bytes) -> IpcMessage | None:
    """Decode a line; None if it isn't a valid message."""
    if len(line) > LONGEST:
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    directory, arguments, token = (message.get(name) for name in IpcMessage._fields)
    if not (_is_usable(directory) and _is_usable(token) and isinstance(arguments, list)):
        return None
    return IpcMessage(directory, tuple(arguments), token) if all(map(_is_usable, arguments)) else None


def _is_usable(part: object) -> TypeGuard[str]:
    """Return whether a value is a string without NUL in the file name encoding, as arguments and environment need."""
    try:
        return isinstance(part, str) and b"\0" not in os.fsencode(part)
    except UnicodeEncodeError:
        return False


# --- The address of the running program: one for each user and settings file, writable by no other user --------------
# Nothing here imports Qt or the engine: a start that only forwards its arguments must be nearly instant.

_LONGEST_ADDRESS = 100
"""Maximum length of a socket's path in bytes; the limit of systems is between 104 and 108."""


class IpcAddress(NamedTuple):
    """The address at which a running program listens.

    `name`: a socket's path, on Windows the whole name of a pipe. `lock`: the file that the first start locks.
    """

    name: str
    lock: str


def settings_file(config: Path | None) -> Path:
    """Return the settings file that the engine uses: `config`, or else the user's own."""
    return config or Path(platformdirs.user_config_dir("mnemoscope", appauthor=False), "settings.toml")


def find_address(config: Path | None) -> IpcAddress | None:
    """Return the address for starts with these settings; None if no folder is private to this user.

    Without an address, each start is a separate program.
    """
    key = hashlib.sha256(os.fsencode(os.path.realpath(settings_file(config)))).hexdigest()[:16]
    if sys.platform == "win32":
        folder = Path(platformdirs.user_data_dir("mnemoscope", appauthor=False))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return None
        return IpcAddress(rf"\\.\pipe\mnemoscope-{key}", str(folder / f"{key}.lock"))
    for folder in _folders():
        if len(os.fsencode(folder)) + len(key) + len("/.socket") <= _LONGEST_ADDRESS and _make_private(folder):
            return IpcAddress(str(folder / f"{key}.socket"), str(folder / f"{key}.lock"))
    return None


def _folders() -> list[Path]:
    """Return candidate folders for the socket; all starts of a user try them in this order."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    own = f"mnemoscope-{os.getuid()}"
    folders = [Path(runtime, "mnemoscope")] if runtime else []
    return [*folders, Path(os.environ.get("TMPDIR") or "/tmp", own), Path("/tmp", own)]


def _make_private(folder: Path) -> bool:
    """Create a folder for this user alone; returns whether it exists, isn't a symbolic link, and is private."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return False
    own_folder = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return own_folder and not stat.S_IMODE(status.st_mode) & 0o077


START_SECONDS = 15.0
"""How long to wait for a program that is starting or ending, which takes about a second, on a busy machine several."""
_RETRY_SECONDS = 0.05
Outcome = Literal["taken", "refused", "not running", "silent"]
"""`not running`: no listener; `silent`: the listener has not answered in time, so it hangs."""

TIMEOUT_SECONDS = 1.5
"""Timeout of one request; a working program answers within a few milliseconds."""


def send_message(name: str, message: bytes, timeout: float = TIMEOUT_SECONDS) -> Outcome:
    """Send a message to the program that listens at `name`; takes at most `timeout` seconds."""
    if len(message) > LONGEST:
        return "not running"
    deadline = time.monotonic() + timeout
    answer = (
        _send_to_pipe(name, message, timeout) if sys.platform == "win32" else _send_to_socket(name, message, deadline)
    )
    if answer is None:
        return "not running"
    return "taken" if answer == ACCEPTED else "refused" if answer == REFUSED else "silent"


def _send_to_socket(name: str, message: bytes, deadline: float) -> bytes | None:
    """Send a message over a Unix socket; returns the answer, or None if no program listens."""
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
        except OSError:  # the running program has ended meanwhile, or the timeout is over
            pass
    return answer


def _send_to_pipe(name: str, message: bytes, timeout: float) -> bytes | None:
    """Send a message over a Windows pipe; returns the answer. Another thread waits, since a pipe has no timeout."""
    answers: list[bytes | None] = []

    def exchange() -> None:
        try:
            with open(name, "r+b", buffering=0) as pipe:  # noqa: PTH123 - a pipe isn't a path
                pipe.write(message)
                answers.append(pipe.read(max(len(ACCEPTED), len(REFUSED))))
        except FileNotFoundError:
            answers.append(None)
        except OSError:
            answers.append(b"")

    thread = threading.Thread(target=exchange, daemon=True)
    thread.start()
    thread.join(timeout)
    return answers[0] if answers else b""


class SingleInstance(NamedTuple):
    """Whether this process is the first one, or has sent its arguments to a running one.

    `forwarded`: the running program has accepted the request. Otherwise this one continues and listens at `address`,
    if there is one; it holds `lock` until it ends, unless it replaces one that hangs.
    """

    forwarded: bool
    address: IpcAddress | None = None
    lock: Optional["BaseFileLock"] = None
    refused: bool = False
    """The running program is another version, and keeps its address."""

    def end(self) -> None:
        """Release the lock, so that the next start becomes the first."""
        if self.lock is not None:
            self.lock.release()


def begin(arguments: list[str], config: Path | None) -> SingleInstance:
    """Send `arguments` to the program that runs with these settings, or become that program if none runs."""
    address = find_address(config)
    if address is None:
        return SingleInstance(forwarded=False)
    message = encode(message_of(arguments))
    deadline = time.monotonic() + START_SECONDS
    while True:
        outcome = send_message(address.name, message)
        if outcome in ("taken", "refused"):
            return SingleInstance(forwarded=outcome == "taken", refused=outcome == "refused")
        lock = _acquire(address)
        if lock is not None or outcome == "silent" or time.monotonic() > deadline:
            return SingleInstance(forwarded=False, address=address, lock=lock)
        time.sleep(_RETRY_SECONDS)  # another one has just started, or is about to end


def _acquire(address: IpcAddress) -> "BaseFileLock | None":
    """Acquire the lock of the first program; None while another one holds it."""
    from filelock import FileLock, Timeout

    lock = FileLock(address.lock, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        return None
    return lock
