"""Watches folders, and reports changes after a short pause without new ones.

It reads no file and decides nothing: a batch is a hint to check its paths, and one with `overflow` a hint to check
everything. It uses the notifications of the system while they work; otherwise it sends a hint every few seconds.
"""

import contextlib
import errno
import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from engine.base import lazy_logger
from engine.base.language import tr
from engine.indexing.native_watch import Ignores, NativeWatch, Sink, open_native
from engine.records import WatcherStatus

log = lazy_logger(__name__)

_MAX_PATHS = 10_000
_LONGEST_WAIT = 10
"""Longest wait under constant changes, as a multiple of the debounce."""
_READY_SECONDS = 0.25
_STOP_SECONDS = 2.0
_ASLEEP_SECONDS = 60.0
"""Delay of a check from which the machine was probably asleep."""

Identity = tuple[int, int]
"""Device and inode: a folder that was moved away and recreated has another identity."""


class WatchBatch(NamedTuple):
    """The files and folders that changed since the last batch."""

    paths: frozenset[str]
    """Absolute paths below the resolved roots. A folder stands for itself; a new or removed one for its contents
    too."""
    overflow: bool
    """Whether other paths may have changed too."""


class WatchTiming(NamedTuple):
    """When a watcher looks at the folders and reports changes."""

    debounce_ms: int
    """Pause without new changes after which they are reported."""
    poll_seconds: float = 15.0
    """Interval at which folders are read that the operating system can't watch."""
    check_seconds: float = 5.0
    """Interval between checks for missing and replaced roots."""


class Watcher:
    """Watches folders and calls `on_change` with batches of changes, from its own thread. Used once.

    `ignores` receives a resolved root, a path relative to it with slashes, and whether that is a folder. Roots are
    folders, watched recursively, or single files.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        ignores: Ignores,
        *,
        on_change: Callable[[WatchBatch], None],
        timing: WatchTiming,
        open_watch: Callable[[Sequence[str], Ignores, Sink], NativeWatch] = open_native,
    ) -> None:
        self._roots = tuple(str(root) for root in roots)
        self._ignores = ignores
        self._on_change = on_change
        self._open_watch = open_watch
        self._poll_seconds = timing.poll_seconds
        self._check_seconds = timing.check_seconds
        self._thread: threading.Thread | None = None
        self._ready = threading.Event()
        # used only by the watcher's own thread:
        self._native: NativeWatch | None = None
        self._watched: dict[str, Identity] = {}
        self._next_check = self._next_poll = 0.0
        self._checked_at = time.time()
        # protected by the condition, since other threads use them:
        self._condition = threading.Condition()
        self._pending = _Pending(timing.debounce_ms / 1000)
        self._notifying = False
        self.stopping = False
        self._reopen = False
        self._failure: OSError | None = None
        self._mode: Literal["native", "polling", "off"] = "off"
        self._why_polling = ""
        self._missing: tuple[str, ...] = ()
        self._last_change: float | None = None

    def start(self) -> None:
        """Start watching. Returns when the watch is complete, or after a quarter of a second for very large trees.

        In the second case a batch with `overflow` follows, for changes made before the watch was complete.
        """
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="mnemoscope-watcher", daemon=True)
            self._thread.start()
            if not self._ready.wait(_READY_SECONDS):
                self._note(None)

    def stop(self) -> None:
        """End all threads; nothing is reported afterwards, unless `on_change` itself calls this."""
        with self._condition:
            self.stopping = True
            self._condition.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_STOP_SECONDS)

    def flush(self, seconds: float) -> bool:
        """Report pending changes without waiting for the debounce; returns when `on_change` has returned.

        Returns False if changes are unknown: while polling, on systems that report late, or after `seconds`.
        """
        native = self._native
        if native is None or not native.flush(seconds):
            return False
        with self._condition:
            if self._mode != "native" or self._reopen or self._failure or self.stopping:
                return False
            self._pending.make_due()
            self._condition.notify_all()
            return self._condition.wait_for(lambda: not self._notifying and self._pending.due == math.inf, seconds)

    def skip_debounce(self) -> bool:
        """Make pending changes due now, and return without waiting whether there are any."""
        with self._condition:
            pending = self._pending.due < math.inf
            self._pending.make_due()
            self._condition.notify_all()
            return pending

    def status(self) -> WatcherStatus:
        with self._condition:
            running = self._thread is not None and not self.stopping
            return WatcherStatus(
                enabled=running,
                mode=self._mode if running else "off",
                roots=self._roots,
                last_change=self._last_change,
                error=" ".join(filter(None, (self._why_polling, _missing_sentence(self._missing)))) or None,
            )

    # --- called by the native watch (see `Sink`) ----

    def changed(self, path: str) -> None:
        self._note(path)

    def lost(self) -> None:
        with self._condition:
            self._reopen = True
            self._condition.notify_all()

    def failed(self, error: OSError) -> None:
        with self._condition:
            self._failure = error
            self._condition.notify_all()

    # --- the watcher's own thread ---

    def _run(self) -> None:
        self._open(self._existing_roots())
        self._ready.set()
        while self._wait():
            now = time.monotonic()
            if self._failure is not None:
                self._fall_back(self._failure)
            elif self._reopen or now >= self._next_check:
                self._check()
            if self._mode == "polling" and now >= self._next_poll:
                self._next_poll = now + self._poll_seconds
                self._notify(WatchBatch(frozenset(), overflow=True))
            with self._condition:
                batch = self._pending.take_due(now)
                self._notifying = batch is not None
            if batch is not None:
                self._notify(batch)
                with self._condition:
                    self._notifying = False
                    self._condition.notify_all()
        self._close_native()

    def _wait(self) -> bool:
        """Wait until there is something to do; False when the watcher is stopping."""
        with self._condition:
            while not (self.stopping or self._reopen or self._failure):
                due = min(self._next_check, self._pending.due)
                if self._mode == "polling":
                    due = min(due, self._next_poll)
                seconds_left = due - time.monotonic()
                if seconds_left <= 0:
                    break
                self._condition.wait(seconds_left)
            return not self.stopping

    def _check(self) -> None:
        """Check that the roots are still the watched ones; otherwise reopen the watch."""
        with self._condition:
            reopen, self._reopen = self._reopen, False
        now = time.time()
        slept = now - self._checked_at > self._check_seconds + _ASLEEP_SECONDS
        self._checked_at = now
        self._next_check = time.monotonic() + self._check_seconds
        present = self._existing_roots()
        changed = present != self._watched
        if self._mode == "polling":
            self._watched = present
        elif changed or reopen:
            self._open(present)
        if changed or slept or reopen:
            self._note(None)

    def _existing_roots(self) -> dict[str, Identity]:
        """Return the existing roots with their device and inode."""
        present = {}
        for root in self._roots:
            with contextlib.suppress(OSError):
                # A file is watched through its folder, since editors replace the file when they save.
                status = os.stat(root if os.path.isdir(root) or not os.path.exists(root) else os.path.dirname(root))
                present[root] = (status.st_dev, status.st_ino)
        with self._condition:
            self._missing = tuple(root for root in self._roots if root not in present)
        return present

    def _open(self, present: dict[str, Identity]) -> None:
        self._close_native()
        self._watched = present
        self._next_check = time.monotonic() + self._check_seconds
        if not present:
            return
        try:
            self._native = self._open_watch([os.path.realpath(root) for root in present], self._ignores, self)
            self._mode = "native"
        except (FileNotFoundError, NotADirectoryError):
            self._watched = {}  # a root was removed meanwhile: the next check handles it
        except Exception as error:  # each platform's observer has its own errors, and none may end the watcher
            self._fall_back(error)

    def _fall_back(self, error: Exception) -> None:
        log.warning("Watching by polling: %s", error)
        self._close_native()
        with self._condition:
            self._failure = None
            self._mode = "polling"
            self._why_polling = _polling_sentence(error, self._poll_seconds)
        self._next_poll = time.monotonic() + self._poll_seconds
        self._note(None)

    def _close_native(self) -> None:
        native, self._native = self._native, None
        self._mode = "off"
        if native is not None:
            native.close()

    def _note(self, path: str | None) -> None:
        """Record a changed path, or with None that any path may have changed."""
        with self._condition:
            self._last_change = time.time()
            if self._pending.add(path, time.monotonic()):
                self._condition.notify_all()

    def _notify(self, batch: WatchBatch) -> None:
        try:
            self._on_change(batch)
        except Exception:
            log.exception("A change could not be passed on")


class _Pending:
    """Collects changes until they are due to be reported."""

    def __init__(self, debounce: float) -> None:
        self._debounce = debounce
        self._paths: set[str] = set()
        self._overflow = False
        self._first: float = math.inf
        self._latest: float = math.inf

    @property
    def due(self) -> float:
        """Time on the monotonic clock at which the changes must be reported; infinity if there are none."""
        return min(self._latest + self._debounce, self._first + _LONGEST_WAIT * self._debounce)

    def add(self, path: str | None, now: float) -> bool:
        """Add a changed path, or None for any; returns True for the first change."""
        self._latest = now
        if path is None or len(self._paths) >= _MAX_PATHS:
            self._overflow = True
            self._paths.clear()
        elif not self._overflow:
            self._paths.add(path)
        if self._first < math.inf:
            return False
        self._first = now
        return True

    def make_due(self) -> None:
        """Make collected changes due immediately."""
        if self._first < math.inf:
            self._first = -math.inf

    def take_due(self, now: float) -> WatchBatch | None:
        if now < self.due:
            return None
        batch = WatchBatch(frozenset(self._paths), self._overflow)
        self._paths.clear()
        self._overflow = False
        self._first = self._latest = math.inf
        return batch


def _missing_sentence(missing: Sequence[str]) -> str:
    if not missing:
        return ""
    if len(missing) == 1:
        return tr("{folder} is missing. Watching resumes as soon as it returns.", folder=missing[0])
    return tr("{folders} are missing. Watching resumes as soon as they return.", folders=", ".join(missing))


def _polling_sentence(error: Exception, seconds: float) -> str:
    code = error.errno if isinstance(error, OSError) else None
    if code == errno.ENOSPC:
        return tr(
            "The system has no folder watches left (fs.inotify.max_user_watches), so Mnemoscope checks for "
            "changes every {seconds:g} seconds.",
            seconds=seconds,
        )
    if code == errno.EMFILE:
        return tr(
            "The system allows no more programs to watch folders (fs.inotify.max_user_instances), so "
            "Mnemoscope checks for changes every {seconds:g} seconds.",
            seconds=seconds,
        )
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return tr(
        "The system does not report changes in folders ({reason}), so Mnemoscope checks for changes "
        "every {seconds:g} seconds.",
        reason=reason.rstrip("."),
        seconds=seconds,
    )
