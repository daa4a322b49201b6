"""Runs a command with limits on time and output, and ends all its processes."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from engine.base.cancellation import CancelToken
from engine.base.private_files import temporary_prefix

Process = subprocess.Popen[bytes]

_POLL = 0.05
"""Seconds between two looks at what the command has written."""
_MEANWHILE = 0.5
"""Seconds between two calls of `meanwhile`."""
_WAIT_AND_KILL = 'read -r _; kill -s KILL -- "-$1"; rm -rf -- "$2"'
"""Script of a shell that waits for the end of its input, which comes when this program ends."""


@contextlib.contextmanager
def ended_with_us(group: int, folder: str) -> Iterator[None]:
    """Kill the process group and remove the folder if this program dies during the block. Does nothing on Windows,
    which has no groups.
    """
    if sys.platform == "win32":
        yield
        return
    ours, theirs = os.pipe()
    try:
        shell = ["/bin/sh", "-c", _WAIT_AND_KILL, "sh", str(group), folder]
        # In its own session: a Ctrl+C that ends this program must not end the shell first.
        watching = subprocess.Popen(
            shell, stdin=ours, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", start_new_session=True
        )
        try:
            yield
        finally:
            watching.kill()
            watching.wait()
    finally:
        os.close(ours)
        os.close(theirs)


class Finished(NamedTuple):
    """A command that ended without being stopped."""

    code: int
    """Below 0: the number of the signal that ended it."""
    output: str
    errors: str


class TooSlow(Exception):
    """The command had not ended in time; it has been killed."""


class TooMuch(Exception):
    """The command wrote too much output and has been killed."""


def run(  # noqa: PLR0913 - most are options, given by name
    arguments: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    most: int,
    cancel: CancelToken | None = None,
    on_line: Callable[[str], None] | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> Finished:
    """Run a command without a shell, with its children in a process group that dies with it.

    `most`: limit of its output in bytes. `on_line` gets each line, including the error output, which is merged with the
    output: separately, its order would be lost. `meanwhile` is called twice a second. Raises `TooSlow`, `TooMuch`,
    OSError if it can't be started, `Cancelled`.
    """
    if cancel is not None:
        cancel.checkpoint()
    # Files instead of pipes: a surviving child could hold a pipe open, and its reader would wait.
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("qmd"), ignore_cleanup_errors=True) as place:
        output, errors = Path(place, "output"), Path(place, "errors")
        with output.open("wb") as out, errors.open("wb") as err:
            process = _start(arguments, folder, environment, out, err if on_line is None else out)
        forget = cancel.on_cancel(lambda: _kill(process)) if cancel is not None else _nothing
        try:
            with output.open("rb") as written, ended_with_us(process.pid, place):
                _await(process, seconds, most, (output, errors), _Lines(written, on_line), meanwhile)
        finally:
            forget()
            _kill(process)
            process.wait()
        if cancel is not None:
            cancel.checkpoint()
        return Finished(process.returncode, _text(output), _text(errors))


def _start(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], out: IO[bytes], err: IO[bytes]
) -> Process:
    flags, session = 0, True
    if sys.platform == "win32":
        flags, session = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW, False
    return subprocess.Popen(
        arguments,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        creationflags=flags,
        start_new_session=session,
        umask=-1 if sys.platform == "win32" else 0o077,  # its index holds the notes
    )


def _await(
    process: Process,
    seconds: float,
    most: int,
    written: Sequence[Path],
    lines: "_Lines",
    meanwhile: Callable[[], None] | None,
) -> None:
    deadline = time.monotonic() + seconds
    due, ended = 0.0, False
    while not ended:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(min(_POLL, max(0.0, deadline - time.monotonic())))
        ended = process.returncode is not None
        if sum(file.stat().st_size for file in written) > most:
            raise TooMuch
        if not ended and time.monotonic() >= deadline:
            raise TooSlow
        lines.tell()
        if meanwhile is not None and time.monotonic() >= due:
            meanwhile()
            due = time.monotonic() + _MEANWHILE


def _kill(process: Process) -> None:
    """End the command and its process group. Children left by a command that ended well are not touched."""
    code = process.poll()
    if sys.platform == "win32":
        if code is None:
            arguments = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
            subprocess.run(arguments, capture_output=True, check=False, creationflags=subprocess.CREATE_NO_WINDOW)
    elif code is None or code < 0:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace")


def _nothing() -> None:
    pass


class _Lines:
    """Reads complete lines of a growing file."""

    def __init__(self, file: IO[bytes], tell: Callable[[str], None] | None) -> None:
        self._file = file
        self._tell = tell
        self._rest = b""

    def tell(self) -> None:
        if self._tell is None:
            return
        *whole, self._rest = (self._rest + self._file.read()).split(b"\n")
        for line in whole:
            self._tell(line.decode("utf-8", "replace"))
