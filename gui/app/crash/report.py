"""The report on errors: versions, names of settings and tracebacks. No text of notes, no queries, no file names.

Always in English: it is for the developers.
"""

import contextlib
import faulthandler
import logging
import os
import platform
import re
from collections.abc import Iterable
from io import TextIOWrapper
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QLocale, qVersion
from PySide6.QtGui import QGuiApplication

import engine
from engine import Settings, create_private, make_folder, spoken
from gui.app.crash.tracebacks import Failure, shown_path

_DESKTOP = re.compile(r"[\w:-]{1,40}")


def versions() -> str:
    """One line: what runs here."""
    return (
        f"Mnemoscope {engine.program_version()}, Python {platform.python_version()}, Qt {qVersion()}, "
        f"{platform.platform()}"
    )


def report(failures: Iterable[tuple[Failure, int]], settings: Settings | None) -> str:
    """Each failure with its number of occurrences. `settings`: the current ones, if known."""
    parts = [_head(settings)]
    for failure, times in failures:
        often = "once" if times == 1 else f"{times:,} times"
        parts.append(f"{failure.kind} {failure.where}, {often}\n\n{failure.trace}")
    return masked("\n\n".join(parts))


def masked(text: str) -> str:
    """Whatever looks like a secret, or is a key in use, is not in a report."""
    return engine.redact(text)


def _head(settings: Settings | None) -> str:
    desktop = os.environ.get("XDG_CURRENT_DESKTOP", "")
    screen = QGuiApplication.platformName()
    if _DESKTOP.fullmatch(desktop):
        screen += f", {desktop}"
    lines = [versions(), f"Screen: {screen}. Language: {QLocale.system().name()}, window: {spoken()}."]
    if settings is not None:
        changed = [
            option.key for option in engine.all_options() if engine.value_at(settings, option.key) != option.default
        ]
        lines.append(f"Settings that were changed: {', '.join(changed) or 'none'}.")
    return "\n".join(lines)


# --- Writes a crash dump when the program crashes: the stack of each thread ------------------------------------------
# `faulthandler` writes it to a file next to the log. Several runs may be active: each has a number, by a lock that the
# system releases when a process ends in any way.

log = logging.getLogger(__name__)

_MOST_RUNS = 8
_MOST_CHARACTERS = 60_000
_FRAME = re.compile(r'  File "(.+)", line (\d+|\?\?\?) in (.+)')
_NAME = re.compile(r"[\w.<>]{1,120}")
_OTHER_LINES = re.compile(
    r"(?:Fatal Python error|Windows fatal exception): [A-Za-z0-9 _'-]{1,80}"
    r"|(?:Current thread|Thread) 0x[0-9a-f]+ (?:\[[^\]]*\] )?\(most recent call first\):"
    r"|  (?:\.\.\.|<no Python frame>)|"
)
_THREAD_NAME = re.compile(r" \[[^\]]*\]")


class _Lock(Protocol):
    def release(self) -> None: ...


class CrashDump:
    """Between `begin` and `end` a crash of this process is written down, so that a later one can tell of it."""

    def __init__(self, folder: Path) -> None:
        """`folder`: where the log is."""
        self._folder = folder
        self._file: TextIOWrapper | None = None
        self._lock: _Lock | None = None

    def begin(self) -> str:
        """Start, and return the report on crashes of earlier runs; empty if there are no new ones."""
        found: list[str] = []
        for number in range(1, _MOST_RUNS + 1):
            file = self._folder / f"crash-{number}.txt"
            if self._lock is not None and not file.exists():
                continue
            lock = self._take(number)
            if lock is None:
                continue
            if text := _told(file):
                found.append(text)
            if self._lock is None and self._open(file):
                self._lock = lock
            else:
                if self._lock is not None:
                    _remove(file)
                lock.release()
        for text in found:
            log.error("An earlier run has crashed: %s", text.partition("\n\n")[2].partition("\n")[0])
        return "\n\n".join(found)

    def end(self) -> None:
        """Everything went well: leave nothing behind."""
        if self._file is None or self._lock is None:
            return
        faulthandler.disable()
        self._file.close()
        _remove(Path(self._file.name))
        self._lock.release()
        self._file = self._lock = None

    def _take(self, number: int) -> _Lock | None:
        import filelock

        lock = filelock.FileLock(self._folder / f"crash-{number}.lock", mode=0o600)
        try:
            make_folder(self._folder)
            lock.acquire(timeout=0)
        except (OSError, filelock.Timeout, NotImplementedError):
            return None
        return lock

    def _open(self, file: Path) -> bool:
        """A disk without room or rights costs the report, and nothing else."""
        try:
            create_private(file)
            self._file = file.open("w", encoding="utf-8")
            self._file.write(versions() + "\n")
            self._file.flush()
            faulthandler.enable(self._file, all_threads=True)
        except (OSError, ValueError) as problem:
            log.warning("A crash could not be written down: %s", type(problem).__name__)
            self._file = None
            return False
        return True


def _told(file: Path) -> str:
    """The crash dump as a report; empty if the run was only killed."""
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            text = opened.read(_MOST_CHARACTERS)
    except OSError:
        return ""
    head, _, rest = text.partition("\n")
    lines = [line for line in map(_shown, rest.splitlines()) if line is not None]
    return masked(f"{head}\n\n" + "\n".join(lines).strip()) if any(lines) else ""


def _shown(line: str) -> str | None:
    """A line without where the program is installed; None for one of a form that is not known."""
    frame = _FRAME.fullmatch(line)
    if frame is not None:
        return f"  {shown_path(frame[1])}:{frame[2]} in {frame[3] if _NAME.fullmatch(frame[3]) else '…'}"
    return _THREAD_NAME.sub("", line) if _OTHER_LINES.fullmatch(line) else None


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)
