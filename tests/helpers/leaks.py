"""Find leaks of a test: threads, Qt timers, Qt threads and `QThreadPool` jobs with their origin, and changed settings.

Qt is checked only if it is loaded: the engine's tests run without it.
"""

import gc
import inspect
import locale
import logging
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

GRACE_SECONDS = 20.0
"""Time for stopped work to end on a busy machine; only a leak takes as long."""

_ROOT = Path(__file__).resolve().parents[2]
_OURS = f"{_ROOT}{os.sep}"
_NOT_OURS = (__file__, f"{_OURS}.venv{os.sep}")

Origin = tuple[str, int] | None
"""File and line of the code that made an object."""

_ONCE_A_PROCESS = {"LanceDBBackgroundEventLoop"}
"""Threads that a library starts on import, and that cannot be stopped."""


def living_threads() -> set[threading.Thread]:
    """Return the threads that Python started.

    Qt's own threads, which Python sees as dummies, stay listed after they have ended.
    """
    return {
        thread
        for thread in threading.enumerate()
        if not thread.name.startswith("Dummy-") and thread.name not in _ONCE_A_PROCESS
    }


def leaked_threads(before: set[threading.Thread]) -> list[str]:
    """Return threads that were not there `before` and do not end within the grace period."""
    deadline = time.monotonic() + GRACE_SECONDS
    leaked = living_threads() - before
    for thread in leaked:
        thread.join(max(0.0, deadline - time.monotonic()))
    return sorted(f"thread {thread.name!r} runs on" for thread in leaked if thread.is_alive())


def process_settings() -> dict[str, object]:
    """Return settings of the whole process, which a test must leave as they were."""
    umask = os.umask(0o077)
    os.umask(umask)
    return {
        "garbage collection": (gc.isenabled(), gc.get_threshold()),
        "current folder": Path.cwd(),
        "sys.path": tuple(sys.path),
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits()),
        "exception hooks": (sys.excepthook, sys.unraisablehook, threading.excepthook),
        "signal handler": signal.getsignal(signal.SIGTERM),
        "locale": locale.setlocale(locale.LC_ALL),
        "time zone": time.tzname,
        "umask": umask,
        "log": (tuple(logging.root.handlers), logging.root.level, logging.root.manager.disable),
    }


def changed_settings(before: dict[str, object]) -> list[str]:
    """Return the settings of the process that differ from those `before`, with both values."""
    after = process_settings()
    return [f"{name}: {before[name]} became {after[name]}" for name in after if after[name] != before[name]]


class QtWatch:
    """Records each timer, thread and pool that Python code makes, with its origin, and lists those still running.

    The constructors are watched, not `start`: a slot must stay the C++ method that it is.
    """

    def __init__(self) -> None:
        self._made: list[tuple[weakref.ref[Any], Origin]] = []
        self._installed = False

    def install(self) -> None:
        """Watch Qt's classes from now on; does nothing twice, nor while Qt is not loaded."""
        if self._installed or "PySide6.QtCore" not in sys.modules:
            return
        from PySide6.QtCore import QThread, QThreadPool, QTimer

        self._installed = True
        for kind in (QTimer, QThread, QThreadPool):
            self._record(kind)

    def leaks(self) -> list[str]:
        """Return all activity of objects created so far, and of the global thread pool."""
        if not self._installed:
            return []
        from PySide6.QtCore import QCoreApplication, QEvent, QThreadPool

        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # closed widgets take their timers along
        running, idle = [], []
        # Report each object once; an idle one may still be started by a later test.
        for item, reference, origin in self._living():
            if name := _activity(item):
                running.append(f"{name}, made at {_named(origin)}")
            else:
                idle.append((reference, origin))
        self._made = idle
        if name := _activity(QThreadPool.globalInstance()):
            running.append(f"{name}, made at QThreadPool.globalInstance()")
        return sorted(running)

    def _record(self, kind: type) -> None:
        original = kind.__init__

        def recording(item: Any, *arguments: Any, **options: Any) -> None:
            original(item, *arguments, **options)
            self._made.append((weakref.ref(item), _caller()))

        kind.__init__ = recording  # type: ignore[misc]

    def _living(self) -> Iterator[tuple[Any, weakref.ref[Any], Origin]]:
        from shiboken6 import isValid

        for reference, origin in self._made:
            item = reference()
            if item is not None and isValid(item):
                yield item, reference, origin


def _activity(item: Any) -> str:
    """Return the object's current activity; empty when it is idle."""
    qt = sys.modules["PySide6.QtCore"]  # PySide's hook would make an `import` as slow as this whole function
    grace = int(GRACE_SECONDS * 1000)
    if isinstance(item, qt.QTimer):
        return f"QTimer {item.objectName()!r} of {item.interval()} ms runs on" if item.isActive() else ""
    if isinstance(item, qt.QThreadPool):
        return "" if item.waitForDone(grace) else f"QThreadPool has {item.activeThreadCount()} jobs running"
    if isinstance(item, qt.QThread):
        return "" if item.wait(grace) else f"QThread {item.objectName()!r} runs on"
    return ""


def _caller() -> Origin:
    """Return the innermost line of project code outside this file."""
    frame = inspect.currentframe()  # by hand: a stack of the traceback module took a twentieth of a window's tests
    while frame := frame.f_back:
        name = frame.f_code.co_filename
        if name.startswith(_OURS) and not name.startswith(_NOT_OURS):
            return name, frame.f_lineno
    return None


def _named(origin: Origin) -> str:
    return f"{Path(origin[0]).relative_to(_ROOT)}:{origin[1]}" if origin else "an unknown location"
