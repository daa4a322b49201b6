"""The address of the running program: one for each user and settings file, writable by no other user.

Nothing here imports Qt or the engine: a start that only forwards its arguments must be nearly instant.
"""

import hashlib
import os
import stat
import sys
from pathlib import Path
from typing import NamedTuple

import platformdirs

_LONGEST = 100
"""Bytes in the path of a socket; systems end between 104 and 108."""


class IpcAddress(NamedTuple):
    """`name`: a socket's path, on Windows the whole name of a pipe. `lock`: the file that the first start holds."""

    name: str
    lock: str


def settings_file(config: Path | None) -> Path:
    """The settings file of a start, as the engine finds it: `config`, or the user's own."""
    return config or Path(platformdirs.user_config_dir("mnemoscope", appauthor=False), "settings.toml")


def find_address(config: Path | None) -> IpcAddress | None:
    """None if there is no folder that belongs to this user alone: then each start is a separate program."""
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
    """Whether it exists, is no link, and only this user can read and write it."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return mine and not stat.S_IMODE(found.st_mode) & 0o077
