#!/usr/bin/env python3
"""The commands of the README, for a bare machine with Python 3.11 or newer.

    python3 packaging/dev.py run [-- ARGS]                     start Mnemoscope; ARGS are the program's own
    python3 packaging/dev.py test [OPTIONS] [-- PYTEST ARGS]   ruff, mypy, import rules, pytest; with ARGS pytest alone
    python3 packaging/dev.py bundle                            a folder that runs without Python: dist/mnemoscope
    python3 packaging/dev.py deb                               a Debian package made from it

The first two create `.venv` next to `pyproject.toml` from the committed lock when it is missing or out of date, the
others `.venv-bundle`. Options of `test`: `--peers` also installs third-party programs (qmd, on Node) into `.peers`, and
`--bundle` also builds the bundle, next to the other checks; tests that need them are skipped without these options.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - an older Python gets a message
    sys.exit("Mnemoscope needs Python 3.11 or newer; this is Python %d.%d." % sys.version_info[:2])  # noqa: UP031

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from typing import IO

import bundle
import deb
import environment
import peers
import qt_libraries
import screen_reader

CHECKS = {
    "ruff": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "mypy": ["mypy", "--num-workers", "2"],  # cold, as on a new machine, in 21 instead of 36 s
    "import rules": ["lint-imports", "--no-logo"],
}
TEST_OPTIONS = {"--peers", "--bundle"}
MAX_PROCESSES = 4
"""Limit because each process collects all tests, and one with a window takes half a gigabyte."""
HEADLESS = (
    "There is no display here, so no window can open: add --screenshot FILE.png to draw it into a file,"
    " or use a command such as index, search, get, status or doctor."
)
SCREENLESS_OPTIONS = {"--help", "-h", "--version"}


def main(arguments: list[str]) -> int:
    command, *rest = arguments or ["--help"]
    options = set()
    while command == "test" and rest and rest[0] in TEST_OPTIONS:
        options.add(rest.pop(0))
    if command != "run" and {command, *rest[:1]} & {"--help", "-h"}:
        print(__doc__)
        return 0
    rest = rest[1:] if rest[:1] == ["--"] else rest
    if command == "run":
        return run(rest)
    if command == "test":
        return test(rest, options)
    if command in {"bundle", "deb"} and not rest:
        (bundle.build if command == "bundle" else deb.build)()
        return 0
    print(f"Unknown command {' '.join([command, *rest])!r}: use run, test, bundle or deb.", file=sys.stderr)
    return 2


def run(arguments: list[str]) -> int:
    """Start the program and return its exit code."""
    if _opens_window(arguments):
        if not qt_libraries.has_display():
            if not any(argument.startswith("--screenshot") for argument in arguments):
                print(HEADLESS, file=sys.stderr)
                return 1
            os.environ["QT_QPA_PLATFORM"] = "offscreen"
        qt_libraries.ensure(qt_libraries.for_window())
    environment.WORK.ensure(environment.RUN_LOCK)
    return _become([str(environment.WORK.program("mnemoscope")), *arguments])


def test(arguments: list[str], options: set[str]) -> int:
    """Run all checks even if some fail; pytest runs last, so that its summary is the last line."""
    qt_libraries.ensure(qt_libraries.for_tests())
    screen_reader.ensure()
    os.chdir(environment.ROOT)
    pytest = [str(environment.WORK.python), "-m", "pytest"]
    if arguments:
        environment.WORK.ensure(environment.TEST_LOCK)
        if "--peers" in options:
            peers.ensure()
        if "--bundle" in options:
            bundle.ensure()
        return _become([*pytest, *arguments])
    with contextlib.ExitStack() as started:
        # A bundle takes one core for a minute and a half, as the packages and checks do.
        built = started.enter_context(tempfile.TemporaryFile())
        building = _start([sys.executable, __file__, "bundle"], built, started) if "--bundle" in options else None
        environment.WORK.ensure(environment.TEST_LOCK)
        compiling = _start([*pytest, "--collect-only", "--quiet"], subprocess.DEVNULL, started)
        failed = [name for name, command in CHECKS.items() if not _check(name, command)]
        if "--peers" in options and not _has_peers():
            failed.append("peers")
        compiling.wait()
        if building:
            failed += ["bundle"] if building.wait() else []
            built.seek(0)
            print(f"--- bundle\n{built.read().decode(errors='replace')}", end="", flush=True)
        print(f"--- pytest{' (failed so far: ' + ', '.join(failed) + ')' if failed else ''}", flush=True)
        return _wait([*pytest, *_side_by_side()]) or (1 if failed else 0)


def _has_peers() -> bool:
    """Install the peers; on failure, print the error and return False, so that the other tests still run."""
    try:
        peers.ensure()
    except SystemExit as failure:
        print(f"peers: FAILED: {failure}", flush=True)
        return False
    return True


def _side_by_side() -> list[str]:
    """Return pytest's options for one process more than cores, with work stealing between them.

    Tests wait for a fifth of their time: for commands that hang, servers that don't answer, and typing that has ended.
    """
    allowed = getattr(os, "sched_getaffinity", None)
    cores = len(allowed(0)) if allowed else os.cpu_count() or 1
    return ["-n", str(min(cores + 1, MAX_PROCESSES)), "--dist", "worksteal"] if cores > 1 else []


def _opens_window(arguments: list[str]) -> bool:
    """Return whether these arguments open the window: a verb is always the first argument, without dashes."""
    starts_with_verb = bool(arguments) and not arguments[0].startswith("-")
    return not starts_with_verb and SCREENLESS_OPTIONS.isdisjoint(arguments)


def _start(command: list[str], output: IO[bytes] | int, started: contextlib.ExitStack) -> "subprocess.Popen[bytes]":
    """Start a program beside the checks, which leave a core idle: the bundle, and pytest, which compiles all tests.

    Otherwise each of pytest's processes would compile them all at the same time. `started` interrupts it at its end,
    such as when an installation fails.
    """
    child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    started.callback(_stop, child)
    return child


def _stop(child: "subprocess.Popen[bytes]") -> None:
    """Interrupt a program that still runs, as Ctrl+C does, so that it stops the programs that it has started."""
    if child.poll() is None:
        child.send_signal(signal.SIGINT if os.name == "posix" else signal.SIGTERM)
        child.wait()


def _check(name: str, command: list[str]) -> bool:
    print(f"--- {name}", flush=True)
    started = time.monotonic()
    passed = _wait([str(environment.WORK.program(command[0])), *command[1:]]) == 0
    print(f"{name}: {'passed' if passed else 'FAILED'} in {time.monotonic() - started:.1f} s", flush=True)
    return passed


def _become(command: list[str]) -> int:
    """Replace this process, so that signals and the exit code are the program's own; elsewhere than POSIX, wait for
    it."""
    if os.name == "posix":
        sys.stdout.flush()
        os.execv(command[0], command)
    return _wait(command)


def _wait(command: list[str]) -> int:
    """Wait for a child process; on Ctrl+C, which it receives too, until it has exited, and without the next ones."""
    interrupted = None
    with subprocess.Popen(command) as child:
        while child.returncode is None:
            try:
                child.wait()
            except KeyboardInterrupt as pressed:
                interrupted = pressed
    if interrupted is not None:
        raise interrupted
    return child.returncode


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:  # the reader, such as head, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)
