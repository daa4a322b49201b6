"""Address of the running program, and the message to it: a line of JSON, answered by a word."""

import hashlib
import json
import os
import stat
import sys
from pathlib import Path
from typing import NamedTuple, TypeGuard

import platformdirs

LONGEST = 64 * 1024
"""Most bytes of a message; longer arguments are not sent to the running program."""
TAKEN = b"taken\n"
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
    """Make the message of this process with these arguments."""
    token = next((os.environ[name] for name in _TOKENS if os.environ.get(name)), "")
    return IpcMessage(str(Path.cwd()), tuple(arguments), token)


def encode(message: IpcMessage) -> bytes:
    """Encode a message as one line of ASCII, which preserves file names that aren't valid text."""
    return json.dumps(message._asdict()).encode("ascii") + b"\n"


def decode(line: bytes) -> IpcMessage | None:
    """Decode a line; None if it isn't a valid message."""
    if len(line) > LONGEST:
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    directory, arguments, token = (found.get(name) for name in IpcMessage._fields)
    if not (_is_usable(directory) and _is_usable(token) and isinstance(arguments, list)):
        return None
    return IpcMessage(directory, tuple(arguments), token) if all(map(_is_usable, arguments)) else None


def _is_usable(part: object) -> TypeGuard[str]:
    """Whether a value can be an argument or part of the environment: a string without NUL, in the encoding of file
    names."""
    try:
        return isinstance(part, str) and b"\0" not in os.fsencode(part)
    except UnicodeEncodeError:
        return False


# --- The address of the running program: one for each user and settings file, writable by no other user --------------
# Nothing here imports Qt or the engine: a start that only forwards its arguments must be nearly instant.

_LONGEST = 100
"""Most bytes in the path of a socket; the limit of systems is between 104 and 108."""


class IpcAddress(NamedTuple):
    """The address of a running program.

    `name`: a socket's path, on Windows the whole name of a pipe. `lock`: the file that the first start locks.
    """

    name: str
    lock: str


def settings_file(config: Path | None) -> Path:
    """The settings file of a start, as the engine finds it: `config`, or the user's own."""
    return config or Path(platformdirs.user_config_dir("mnemoscope", appauthor=False), "settings.toml")


def find_address(config: Path | None) -> IpcAddress | None:
    """The address for starts with these settings; None if there is no folder that only this user can access.

    Then each start is a separate program.
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
        if len(os.fsencode(folder)) + len(key) + len("/.socket") <= _LONGEST and _make_private(folder):
            return IpcAddress(str(folder / f"{key}.socket"), str(folder / f"{key}.lock"))
    return None


def _folders() -> list[Path]:
    """Candidate folders in order: every instance of one user tries them in this order and uses the first that works."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    own = f"mnemoscope-{os.getuid()}"
    folders = [Path(runtime, "mnemoscope")] if runtime else []
    return [*folders, Path(os.environ.get("TMPDIR") or "/tmp", own), Path("/tmp", own)]


def _make_private(folder: Path) -> bool:
    """Create the folder for this user alone; returns whether it exists, is no link, and is private."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return mine and not stat.S_IMODE(found.st_mode) & 0o077
