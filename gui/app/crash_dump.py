"""Writes a crash dump when the program crashes: the stack of each thread.

`faulthandler` writes it to a file next to the log. Several runs may be active: each has a number, by a lock that the
system releases when a process ends in any way.
"""

import contextlib
import faulthandler
import logging
import re
from io import TextIOWrapper
from pathlib import Path
from typing import Protocol

from engine import create_private, make_folder
from gui.app.crash_report import masked, shown_path, versions

log = logging.getLogger(__name__)

_MAX_RUNS = 8
_MAX_CHARACTERS = 60_000
_FRAME = re.compile(r'  File "(.+)", line (\d+|\?\?\?) in (.+)')
_CODE_NAME = re.compile(r"[\w.<>]{1,120}")
_OTHER_LINES = re.compile(
    r"(?:Fatal Python error|Windows fatal exception): [A-Za-z0-9 _'-]{1,80}"
    r"|(?:Current thread|Thread) 0x[0-9a-f]+ (?:\[[^\]]*\] )?\(most recent call first\):"
    r"|  (?:\.\.\.|<no Python frame>)|"
)
_THREAD_NAME = re.compile(r" \[[^\]]*\]")


class _Lock(Protocol):
    def release(self) -> None: ...


class CrashDump:
    """A file that is written if this process crashes between `begin` and `end`, so that a later run can report it."""

    def __init__(self, folder: Path) -> None:
        """`folder`: the folder of the log, in which the dump is written."""
        self._folder = folder
        self._file: TextIOWrapper | None = None
        self._lock: _Lock | None = None

    def begin(self) -> str:
        """Start recording crashes; returns the report on new crashes of earlier runs, empty without any."""
        lines: list[str] = []
        for number in range(1, _MAX_RUNS + 1):
            file = self._folder / f"crash-{number}.txt"
            if self._lock is not None and not file.exists():
                continue
            lock = self._try_lock(number)
            if lock is None:
                continue
            if text := _read_dump(file):
                lines.append(text)
            if self._lock is None and self._open(file):
                self._lock = lock
            else:
                if self._lock is not None:
                    _remove(file)
                lock.release()
        for text in lines:
            log.error("An earlier run has crashed: %s", text.partition("\n\n")[2].partition("\n")[0])
        return "\n\n".join(lines)

    def end(self) -> None:
        """Delete the file, since the process didn't crash."""
        if self._file is None or self._lock is None:
            return
        faulthandler.disable()
        self._file.close()
        _remove(Path(self._file.name))
        self._lock.release()
        self._file = self._lock = None

    def _try_lock(self, number: int) -> _Lock | None:
        import filelock

        lock = filelock.FileLock(self._folder / f"crash-{number}.lock", mode=0o600)
        try:
            make_folder(self._folder)
            lock.acquire(timeout=0)
        except (OSError, filelock.Timeout, NotImplementedError):
            return None
        return lock

    def _open(self, file: Path) -> bool:
        """Open the file for the dump; returns False if it can't be written: then only the report is missing."""
        try:
            create_private(file)
            self._file = file.open("w", encoding="utf-8")
            self._file.write(versions() + "\n")
            self._file.flush()
            faulthandler.enable(self._file, all_threads=True)
        except (OSError, ValueError) as problem:
            log.warning("The crash dump cannot be written: %s", type(problem).__name__)
            self._file = None
            return False
        return True


def _read_dump(file: Path) -> str:
    """Return a crash dump as a report; empty if the process was only killed."""
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            text = opened.read(_MAX_CHARACTERS)
    except OSError:
        return ""
    head, _, rest = text.partition("\n")
    lines = [line for line in map(_without_installation, rest.splitlines()) if line is not None]
    return masked(f"{head}\n\n" + "\n".join(lines).strip()) if any(lines) else ""


def _without_installation(line: str) -> str | None:
    """Return a line of the dump without the path of the installation; None for a line of an unknown form."""
    frame = _FRAME.fullmatch(line)
    if frame is not None:
        return f"  {shown_path(frame[1])}:{frame[2]} in {frame[3] if _CODE_NAME.fullmatch(frame[3]) else '…'}"
    return _THREAD_NAME.sub("", line) if _OTHER_LINES.fullmatch(line) else None


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)
