"""Create, replace and clean up the program's files: private to the user and written atomically.

File modes are ignored on Windows, where the user's own folders are already private.
"""

import contextlib
import errno
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal

from engine.base import lazy_pattern

_FOLDER_MODE = 0o700
_FILE_MODE = 0o600
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
# The name contains the process id, so that files that another process is writing are not removed.
_TEMPORARY = lazy_pattern(r"\..+\.mnemoscope-(\d+)-[0-9a-f]{8}\.tmp(?:-journal|-wal|-shm)?", re.DOTALL)
_UNFINISHED = lazy_pattern(r"unfinished-(\d+)-[0-9a-f]{8}")
_FOLDER = lazy_pattern(r"mnemoscope-[a-z]+-(\d+)-.+")
_MAX_BYTES = 64 * 1024 * 1024
"""Size limit for `read_file`; the largest files have a few megabytes."""
_LONGEST_NAME = 100
"""Characters of the target's name in that of its temporary file; a name has 255 bytes at most."""


_XDG = {
    "data": ("XDG_DATA_HOME", ".local/share"),
    "config": ("XDG_CONFIG_HOME", ".config"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
    "log": ("XDG_STATE_HOME", ".local/state"),
}
"""Kind of folder -> the environment variable that names its parent, and that parent below the home folder."""


def user_folder(kind: Literal["data", "config", "cache", "log"]) -> Path:
    """Return the program's folder of this user for such files; nothing is created.

    On Linux these are the folders of the XDG Base Directory Specification 0.8, as platformdirs has them. It is imported
    only where they are not as simple as that, since it takes a twentieth of a search on the command line.
    """
    variable, usual = _XDG[kind]
    home, parent = os.environ.get("HOME", ""), os.environ.get(variable, "")
    if sys.platform == "linux" and home.startswith("/"):
        folder = Path(parent if parent.startswith("/") else f"{home.rstrip('/')}/{usual}", "mnemoscope")
        return folder / "log" if kind == "log" else folder
    import platformdirs

    return Path(getattr(platformdirs, f"user_{kind}_dir")("mnemoscope", appauthor=False))


def data_folder() -> Path:
    """The user's data folder of the program; nothing is created."""
    return user_folder("data")


def cache_folder() -> Path:
    """Return the program's cache folder of this user, for files that can be rebuilt; nothing is created."""
    return user_folder("cache")


def make_folder(folder: Path) -> None:
    """Create a folder that only the user can access, or restrict an existing one. Raises OSError."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir(_FOLDER_MODE, exist_ok=True)
    if not missing:
        make_private(folder)


def make_private(path: str | Path) -> None:
    """Remove other users' permissions from a file or folder that the user owns. Links are not changed."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        state = os.lstat(path)
        is_folder = stat.S_ISDIR(state.st_mode)
        if (is_folder or stat.S_ISREG(state.st_mode)) and stat.S_IMODE(state.st_mode) & 0o077:
            os.chmod(path, _FOLDER_MODE if is_folder else _FILE_MODE)


def secure_folder(folder: Path) -> None:
    """Repair the modes of a program folder and its entries at startup, and remove leftover temporary files."""
    make_private(folder)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            make_private(entry.path)
    remove_leftovers(folder)


def create_private(path: str | Path) -> None:
    """Create an empty private file if it is missing, before other code opens it. Raises OSError."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, _NEW, _FILE_MODE))


def temporary_path(path: Path) -> Path:
    """Return a new name for the temporary file that will replace `path`; `remove_leftovers` recognizes it."""
    return path.with_name(f".{path.name[:_LONGEST_NAME]}.mnemoscope-{os.getpid()}-{os.urandom(4).hex()}.tmp")


@contextmanager
def replacing(path: Path, *, mode: int = _FILE_MODE, keep_mode: bool = False, sync: bool = True) -> Iterator[BinaryIO]:
    """Open a file that atomically replaces `path` at the end of the block; an exception leaves `path` unchanged.

    `mode` applies to a new file, less the umask; with `keep_mode` an existing file keeps its own. `sync` flushes the
    content to disk before the replacement. Raises OSError.
    """
    aside = temporary_path(path)
    try:
        with os.fdopen(os.open(aside, _NEW, mode), "wb") as file:
            yield file
            file.flush()
            if sync:
                os.fsync(file.fileno())
        if keep_mode and path.exists():
            aside.chmod(stat.S_IMODE(path.stat().st_mode))
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise


def write_aside(path: Path, text: str) -> None:
    """Write `text` (UTF-8, line ends unchanged) to a temporary file next to `path`, sync it, then rename it to `path`.

    A link stays a link, a file keeps its mode. Raises OSError, and then nothing has changed.
    """
    target = path.resolve()
    if target.parent.is_dir():
        remove_leftovers(target.parent)
    else:
        make_folder(target.parent)
    with replacing(target, keep_mode=True) as file:
        file.write(text.encode())


@contextmanager
def exporting(path: Path) -> Iterator[BinaryIO]:
    """Like `replacing`, for a user's file in any folder; the umask determines the mode of a new file.

    During the write, a note in the data folder records the folder, so that `clean_up` finds leftovers after a kill.
    """
    note = data_folder() / f"unfinished-{os.getpid()}-{os.urandom(4).hex()}"
    with contextlib.suppress(OSError):  # the record of the unfinished export is needed only after a kill
        replace_file(note, os.fsencode(path.parent.absolute()))
    try:
        with replacing(path, mode=0o666, keep_mode=True) as file:
            yield file
    finally:
        with contextlib.suppress(OSError):
            note.unlink()


def replace_file(path: Path, data: bytes) -> None:
    """Replace `path` atomically with private content; create a missing folder. Raises OSError."""
    if not path.parent.is_dir():
        make_folder(path.parent)
    with replacing(path, sync=False) as file:
        file.write(data)


def read_file(path: Path, most_bytes: int = _MAX_BYTES) -> bytes:
    """Return the content of a regular file. Raises OSError, also for other file types and larger files."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path))
        if state.st_size > most_bytes:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        return file.read(state.st_size)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of killed processes (`temporary_path`) from a folder."""
    for name in _names(folder):
        match = _TEMPORARY.fullmatch(name) if name.startswith(".") else None
        if match is not None and not _runs(int(match[1])):
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                if stat.S_ISDIR(os.lstat(path).st_mode):
                    import shutil  # takes some milliseconds, as tempfile does: a start that only searches needs neither

                    shutil.rmtree(path)
                else:
                    os.unlink(path)


def temporary_prefix(kind: str) -> str:
    """Return the name prefix of this process's temporary folders; `kind` has only lower-case letters."""
    return f"mnemoscope-{kind}-{os.getpid()}-"


def clean_up(*folders: Path) -> None:
    """Remove what killed programs left: temporary folders, unfinished settings and exports, and those in `folders`."""
    import shutil
    import tempfile

    for folder in (*folders, user_folder("config")):
        remove_leftovers(folder)
    notes = data_folder()
    for name in _names(notes):
        match = _UNFINISHED.fullmatch(name)
        if match is not None and not _runs(int(match[1])):
            with contextlib.suppress(OSError, ValueError):
                remove_leftovers(Path(os.fsdecode((notes / name).read_bytes())))
                (notes / name).unlink()
    base = tempfile.gettempdir()
    for name in _names(base):
        match = _FOLDER.fullmatch(name)
        path = os.path.join(base, name)
        if match is not None and _is_ours(path) and not _runs(int(match[1])):
            shutil.rmtree(path, ignore_errors=True)


def _names(folder: str | Path) -> Iterable[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return ()


def _is_ours(path: str) -> bool:
    try:
        state = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(state.st_mode) and (sys.platform == "win32" or state.st_uid == os.getuid())


def _runs(process: int) -> bool:
    """Return whether a process with this id runs; a reused id only delays the removal of a leftover."""
    if process == os.getpid():
        return True
    if sys.platform == "win32":
        return _runs_on_windows(process)
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # the process of another user
    return True


def _runs_on_windows(process: int) -> bool:
    import ctypes

    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    synchronize, still_waiting = 0x00100000, 0x102
    handle = kernel.OpenProcess(synchronize, False, process)
    if not handle:
        return False
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == still_waiting)
    finally:
        kernel.CloseHandle(handle)
