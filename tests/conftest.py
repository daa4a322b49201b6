"""Fixtures for every test: isolated user directories, no window on a screen, and a check for leaks."""

import os

# Before numpy and Qt load: one BLAS thread as in the program, and no display.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["LANGUAGE"] = "en"  # tests compare English texts; other languages have tests of their own

import faulthandler
import gc
import itertools
import logging
import math
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from pytestqt.qtbot import QtBot

from gui.__main__ import import_qt
from tests.helpers.leaks import QtWatch, changed_settings, leaked_threads, living_threads, process_settings

_qt_watch = QtWatch()
_numbers = itertools.count()
_PLACES = (
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"),
    *("OPENCLAW_HOME", "OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH", "OPENCLAW_WORKSPACE_DIR"),
)
"""Variables with the locations of the user's own sessions."""
_KEYS = ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "VOYAGE_API_KEY", "OPENROUTER_API_KEY")
_IN_MEMORY = "/dev/shm"
"""Linux keeps these files in memory. On a disk, half of the time of the tests went into waits for SQLite's writes."""
_MAX_BYTES = 2 << 30
"""Room that files of tests may need, including those that stay after failures."""
_FOLDERS = {
    "HOME": "",
    "USERPROFILE": "",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
    "APPDATA": "AppData/Roaming",
    "LOCALAPPDATA": "AppData/Local",
    "WIN_PD_OVERRIDE_APPDATA": "AppData/Roaming",  # for platformdirs, which reads no standard variables on Windows
    "WIN_PD_OVERRIDE_LOCAL_APPDATA": "AppData/Local",
}


import_qt()  # as in the program, before pytest-qt does it

if sys.dont_write_bytecode:
    # Compiling takes more than half of the collection, and longer than most programs that tests start. Nothing may be
    # written beside the sources, so pytest's other processes and these programs share a folder in the environment.
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(sys.prefix, "bytecode"))
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# No test asserts a duration, so none fails on a busy machine. The same commit gets the same examples everywhere;
# `--hypothesis-profile=random` looks for new ones, and for more of them.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=40)
hypothesis.settings.register_profile("random", deadline=None)
hypothesis.settings.load_profile("repeatable")
for _wait in (QtBot.waitUntil, QtBot.waitSignal, QtBot.waitSignals, QtBot.waitActive, QtBot.waitExposed):
    _wait.__kwdefaults__["timeout"] = 60_000  # milliseconds


class _HangReport:
    """Print the stacks of all threads when a test hangs, as pytest's `faulthandler_timeout` does, with fewer timers.

    A timer is a thread outside the interpreter, so it reports a deadlock on the interpreter lock too. One for each test
    took a quarter of the time of short tests.
    """

    HANG_SECONDS = 120
    RESTART_SECONDS = 10  # the report of a test comes up to this much earlier

    def __init__(self) -> None:
        self._stderr = os.dup(2)  # not captured while pytest is configured
        self._started = -math.inf

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> None:
        if (now := time.monotonic()) - self._started > self.RESTART_SECONDS:
            faulthandler.dump_traceback_later(self.HANG_SECONDS, file=self._stderr)
            self._started = now

    def pytest_exception_interact(self) -> None:
        self._started = -math.inf  # pytest has stopped the timer

    def pytest_unconfigure(self) -> None:
        faulthandler.cancel_dump_traceback_later()
        os.close(self._stderr)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_HangReport())
    if config.getoption("hypothesis_profile") is None:
        # Some examples are constants of modules imported so far: they would depend on the order of tests.
        pytest.MonkeyPatch().setattr(providers, "_get_local_constants", Constants)
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"  # never use the user's keychain
    if _is_roomy(_IN_MEMORY):
        # For homes and notes alike: a note goes to the trash of its own file system.
        os.environ.setdefault("TMPDIR", _IN_MEMORY)
        tempfile.tempdir = None
    # Qt reads some of these variables once and caches them, so they must not point to the user's own folders.
    home = tempfile.TemporaryDirectory(prefix="mnemoscope-tests-")
    config.add_cleanup(home.cleanup)
    for name, folder in _FOLDERS.items():
        os.environ[name] = str(Path(home.name, folder))


def _is_roomy(folder: str) -> bool:
    """Return whether this folder has room for the files of all tests, and lets them start programs in it."""
    if not Path(folder).is_dir():
        return False
    state = os.statvfs(folder)
    return not state.f_flag & os.ST_NOEXEC and state.f_bavail * state.f_frsize > _MAX_BYTES


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Collect no garbage while tests are collected, and never visit what lives until the end.

    A quarter of this time went into passes over modules and tests, and each later full pass took half a second.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, Any, Any]:
    """Escape lone surrogates in logs, because reports are sent between processes as UTF-8."""
    return _encodable((yield))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_encodable(item) for item in value)
    return value


@pytest.fixture(scope="session", autouse=True)
def _compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let the Node programs that tests start share their compiled modules: most take longer to compile than to run."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # shared with the other processes
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NODE_COMPILE_CACHE", str(folder / "node"))
        yield


@pytest.fixture(autouse=True)
def user_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Use an empty home for this test's settings, indexes and logs."""
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(_numbers))  # `mktemp` would list all earlier ones
    home.mkdir(mode=0o700, parents=True)
    with pytest.MonkeyPatch.context() as patch:  # of its own: a test may undo what it patched
        for name, folder in _FOLDERS.items():
            if name != "XDG_CACHE_HOME":  # all tests of a process share the unpacked model, which has 85 MB
                patch.setenv(name, str(home / folder))
        for name in (*_PLACES, *_KEYS):
            patch.delenv(name, raising=False)
        yield home


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fail the test that leaves a thread, a Qt timer or a pool job running, or settings of the process changed.

    Otherwise a later test would fail by chance.
    """
    _qt_watch.install()
    before, settings, handlers = living_threads(), process_settings(), set(logging.root.handlers)
    yield
    left = _qt_watch.leaks() + leaked_threads(before)
    _close_log(set(logging.root.handlers) - handlers)
    left += changed_settings(settings)
    if left:
        pytest.fail("The test left this behind: " + "; ".join(left), pytrace=False)


def _close_log(begun: set[logging.Handler]) -> None:
    """Close the log file that a test began in its home, which the messages of later tests don't belong in."""
    for handler in begun:
        logging.root.removeHandler(handler)
        handler.close()
    for name in ("engine", "gui"):
        logging.getLogger(name).setLevel(logging.NOTSET)
