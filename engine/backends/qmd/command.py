"""The command `qmd`: finds it, runs it in isolation, and turns its failures into messages.

Each run has a limit on its time and output, and all its processes are ended with it. `qmd` must not see the user's own
collections, nor a `.qmd` folder in or above the notes: it would write its index into that folder, and run commands from
it. It therefore works in a folder of this program, with an explicit index.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from engine.base.cancellation import CancelToken, checkpoint, on_cancel
from engine.base.errors import BackendError, Cancelled, Closed
from engine.base.language import marked, tr
from engine.base.private_files import make_folder, temporary_prefix
from engine.settings import Settings

Process = subprocess.Popen[bytes]

_POLL = 0.05
"""Seconds between checks of the command's output."""
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
    """Exit code; negative is the number of the signal that ended the process."""
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
    cancel: CancelToken | None = None,
    on_line: Callable[[str], None] | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> Finished:
    """Run a command without a shell, with its children in a process group that dies with it.

    `on_line` gets each line, including the error output, which is merged with the output: separately, its order would
    be lost. `meanwhile` is called twice a second. Raises `TooSlow`, `TooMuch`, OSError if it can't be started,
    `Cancelled`.
    """
    checkpoint(cancel)
    # Files instead of pipes: a surviving child could hold a pipe open, and its reader would wait.
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("qmd"), ignore_cleanup_errors=True) as scratch:
        output, errors = Path(scratch, "output"), Path(scratch, "errors")
        with output.open("wb") as out, errors.open("wb") as err:
            process = _start(arguments, folder, environment, out, err if on_line is None else out)
        try:
            with (
                on_cancel(lambda: _kill(process), cancel),
                output.open("rb") as written,
                ended_with_us(process.pid, scratch),
            ):
                _await(process, seconds, (output, errors), _Lines(written, on_line), meanwhile)
        finally:
            _kill(process)
            process.wait()
        checkpoint(cancel)
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
        umask=-1 if sys.platform == "win32" else 0o077,  # qmd's index contains text of the notes
    )


def _await(
    process: Process,
    seconds: float,
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
        if sum(file.stat().st_size for file in written) > _MAX_OUTPUT:
            raise TooMuch
        if not ended and time.monotonic() >= deadline:
            raise TooSlow
        lines.report()
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


class _Lines:
    """Reads complete lines of a growing file."""

    def __init__(self, file: IO[bytes], report: Callable[[str], None] | None) -> None:
        self._file = file
        self._report = report
        self._rest = b""

    def report(self) -> None:
        if self._report is None:
            return
        *whole, self._rest = (self._rest + self._file.read()).split(b"\n")
        for line in whole:
            self._report(line.decode("utf-8", "replace"))


_MAX_OUTPUT = 200_000
"""Maximum size of the output in bytes, as in the reference."""
_OLDEST = (2, 6, 3)
"""The first version that gives files their own names; before it, results could not be opened."""
_VERSION = re.compile(r"\b(\d+)\.(\d+)\.(\d+)")
_SHOWN_ERROR = 300
_INDEX = "index"
_SCRIPT = Path("@tobilu", "qmd", "bin", "qmd")

_ELSEWHERE = ("INDEX_PATH", "QMD_TRUST_LOCAL_CONFIG", "QMD_TRUST_UPDATE_HOOKS")
"""Variables that would select another index, or make it trust files among the notes."""
_NOT_INHERITED = frozenset({*_ELSEWHERE, "FORCE_COLOR", "CI"})
"""Environment variables not passed on: with CI set, `qmd` embeds notes but refuses to embed a query."""
_MENDING = marked("install it with npm i -g @tobilu/qmd (Node 22 or newer), or set qmd.command to its full path.")


class QmdError(BackendError):
    """`qmd` can't be started, failed, or returned an invalid answer."""


class QmdMissing(QmdError):
    """The command is missing or too old."""


class QmdTooSlow(QmdError):
    """The command did not answer in time, and was ended."""


class QmdFailed(QmdError):
    """The command ended with an error."""

    def __init__(self, message: str, errors: str) -> None:
        super().__init__(message)
        self.errors = errors
        """The complete error output of the command."""


class QmdCommand:
    """Runs `qmd` for one workspace. Thread-safe."""

    def __init__(self, name: str, folder: Path) -> None:
        """`folder`: where qmd stores its settings and its index; created by the first command."""
        self._name = name
        self.folder = folder
        self.config = folder / "xdg-config"
        self.cache = folder / "xdg-cache"
        self._lock = threading.Lock()
        self._running: set[CancelToken] = set()
        self._closed = False
        self.version = ""
        """Version that the command reports; empty before the first call."""

    @property
    def database(self) -> Path:
        """Path of qmd's index for this workspace."""
        return self.cache / "qmd" / f"{_INDEX}.sqlite"

    @property
    def config_file(self) -> Path:
        """Path of the file with qmd's collections for this workspace."""
        return self.config / f"{_INDEX}.yml"

    def missing(self) -> str:
        """Return why the command is missing, in one sentence; empty if it exists. Runs nothing."""
        try:
            self._program()
        except QmdMissing as error:
            return str(error)
        return ""

    def check(self, seconds: float, cancel: CancelToken | None = None) -> None:
        """Check, once, that a suitable `qmd` exists. Raises `QmdError`, `Cancelled`."""
        if self.version:
            return
        output = self._run(["--version"], seconds, cancel)
        match = _VERSION.search(output.output)
        if match is None:
            raise QmdMissing(
                tr(
                    "{program} does not report a qmd version: {advice}",
                    program=self._name,
                    advice=tr(_MENDING),
                )
            )
        version = ".".join(match.groups())
        if tuple(map(int, match.groups())) < _OLDEST:
            least = ".".join(map(str, _OLDEST))
            raise QmdMissing(
                tr(
                    "qmd {version} is too old; {least} or newer is needed: run npm i -g @tobilu/qmd@latest.",
                    version=version,
                    least=least,
                )
            )
        self.version = version

    def run(  # noqa: PLR0913 - most are options, given by name
        self,
        verb: Sequence[str],
        *,
        seconds: float,
        options: Sequence[str] = (),
        operand: str | None = None,
        cancel: CancelToken | None = None,
        on_line: Callable[[str], None] | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> Finished:
        """Run one of its subcommands; the operand is never parsed as an option; see `process.run`.

        Raises `QmdError`, `Cancelled`, `Closed`.
        """
        operands = [] if operand is None else ["--", operand]
        arguments = [*verb, "--index", _INDEX, *options, *operands]
        finished = self._run(arguments, seconds, cancel, on_line, meanwhile)
        if finished.code != 0:
            raise _failure(" ".join(["qmd", *verb]), finished)
        return finished

    def _run(
        self,
        arguments: Sequence[str],
        seconds: float,
        cancel: CancelToken | None,
        on_line: Callable[[str], None] | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> Finished:
        program = self._program()
        try:
            for folder in (self.folder, self.config, self.cache):
                make_folder(folder)
        except OSError as error:
            raise QmdError(
                tr(
                    "The folder of qmd, {folder}, cannot be written: {reason}.",
                    folder=self.folder,
                    reason=error.strerror,
                )
            ) from None
        try:
            with self._stoppable(cancel) as stop:
                return run(
                    [*program, *arguments],
                    folder=self.folder,
                    environment=self._environment(program),
                    seconds=seconds,
                    cancel=stop,
                    on_line=on_line,
                    meanwhile=meanwhile,
                )
        except TooSlow:
            raise QmdTooSlow(
                tr(
                    "qmd {command} took longer than {seconds:g} s and was stopped.",
                    command=arguments[0],
                    seconds=seconds,
                )
            ) from None
        except TooMuch:
            raise QmdError(tr("qmd {command} printed too much output and was stopped.", command=arguments[0])) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise QmdMissing(
                tr(
                    "{program} cannot be run ({reason}): {advice}",
                    program=self._name,
                    reason=reason,
                    advice=tr(_MENDING),
                )
            ) from None

    @contextmanager
    def _stoppable(self, cancel: CancelToken | None) -> Iterator[CancelToken]:
        """Return a token that is cancelled with the caller's, or on close. Raises `Closed`, `Cancelled`."""
        checkpoint(cancel)
        stop = CancelToken()
        with self._lock:
            if self._closed:
                raise Closed
            self._running.add(stop)
        try:
            with on_cancel(stop.cancel, cancel):
                yield stop
        except Cancelled:
            if self._closed:
                raise Closed from None
            raise
        finally:
            with self._lock:
                self._running.discard(stop)

    def close(self) -> None:
        """Terminate running `qmd` processes; later calls raise `Closed`."""
        with self._lock:
            self._closed = True
            running = tuple(self._running)
        for stop in running:
            stop.cancel()

    def _program(self) -> list[str]:
        """The program to start. On Windows not the `.cmd` itself: its shell would interpret the query."""
        name = os.path.expanduser(self._name)
        path = shutil.which(name)
        if path is None:
            raise QmdMissing(
                tr("The command {program} was not found: {advice}", program=self._name, advice=tr(_MENDING))
            )
        if sys.platform != "win32" or not path.lower().endswith((".cmd", ".bat", ".ps1")):
            return [os.path.abspath(path)]
        folder = Path(path).parent
        scripts = (folder.parent / _SCRIPT, folder / "node_modules" / _SCRIPT)
        script = next((script for script in scripts if script.is_file()), None)
        node = shutil.which("node", path=os.pathsep.join((str(folder), os.environ.get("PATH", ""))))
        if script is None or node is None:
            raise QmdMissing(
                tr(
                    "{program} is not part of a working installation of qmd: {advice}",
                    program=path,
                    advice=tr(_MENDING),
                )
            )
        return [node, str(script)]

    def _environment(self, program: Sequence[str]) -> dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
        # Its first line names `node`: the one that it was installed with is in the same folder.
        path = os.pathsep.join((os.path.dirname(program[0]), environment.get("PATH", os.defpath)))
        return {
            **environment,
            "PATH": path,
            "PWD": str(self.folder),
            "XDG_CONFIG_HOME": str(self.config),
            "QMD_CONFIG_DIR": str(self.config),
            "XDG_CACHE_HOME": str(self.cache),
            "NO_COLOR": "1",
        }


def _failure(command: str, finished: Finished) -> QmdFailed:
    """The error of a failed command, with its own message."""
    if finished.code < 0:
        ended = tr("The system ended {command} (signal {number}).", command=command, number=-finished.code)
        return QmdFailed(ended, "")
    output = f"{finished.errors}\n{finished.output}"
    lines = [" ".join(line.split()) for line in output.splitlines() if line.strip()]
    # Of a stack trace, the line with the error is the readable one.
    line = next((line for line in lines if re.match(r"(?:\w*Error|Error|Usage)\b", line)), lines[0] if lines else "")
    reason = line[:_SHOWN_ERROR] or tr("exit code {number}", number=finished.code)
    failed = tr("{command} failed: {reason}.", command=command, reason=reason.rstrip("."))
    return QmdFailed(failed, output)


def try_out(workspace: Path, settings: Settings, cancel: CancelToken | None) -> str:
    """Test in a temporary folder whether `qmd` can be used; see `try_backend`."""
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("trial")) as folder:
        command = QmdCommand(settings.qmd.command, Path(folder))
        try:
            command.check(settings.qmd.command_timeout_seconds, cancel)
        finally:
            command.close()
    sentence = tr("qmd {version} answered.", version=command.version)
    if settings.qmd.search_mode == "search":
        return sentence
    models = tr(
        "qmd's models take about 2 GB: download them with the command qmd pull. Until then, only keywords are searched."
    )
    return f"{sentence} {models}"
