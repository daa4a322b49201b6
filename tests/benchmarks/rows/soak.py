"""A day's work in the window within some minutes: a thousand searches, file changes, opened sessions, and the memory
left in use.
"""

import gc
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gui.__main__ import prepare_for_window
from tests.benchmarks.measuring import Figure, anonymous_memory, measure, megabytes
from tests.benchmarks.prepared import Bench, copy_of, questions
from tests.benchmarks.transcripts import stores

_SEARCHES, _CHANGES, _SESSIONS = 1000, 200, 20
_WARM_UP = 300
"""Number of searches, with their share of the other actions, until the caches are full."""
_NOTES, _TRANSCRIPTS, _TRANSCRIPT_BYTES = 1000, 20, 2_000_000
_REST_MS = 5000
_TIMEOUT = 600.0


def run(bench: Bench) -> Iterator[Figure]:
    folder = copy_of(bench.folder(_NOTES), bench.scratch / "soak")
    sessions = bench.sessions(_TRANSCRIPTS, _TRANSCRIPT_BYTES)
    began, warm, middle, ended, seconds = measure(_live, folder, sessions, bench.scratch / "soak-index").value
    yield Figure(
        f"anonymous memory after {_SEARCHES:,} searches, {_CHANGES} changed files and {_SESSIONS} sessions read,"
        f" in {_NOTES:,} notes with the built-in model ({seconds:.0f} s)",
        "≤ 10 % more than after the warm-up",
        f"{ended / warm - 1:+.1%} ({megabytes(ended)})",
        f"{megabytes(began)} at rest at first, {megabytes(warm)} after a warm-up of {_WARM_UP} searches,"
        f" {megabytes(middle)} half way",
    )


def _live(folder: Path, sessions: Path, store: Path) -> tuple[int, int, int, int, float]:
    """Return the idle bytes once indexed, after the warm-up, half way and at the end; and the total seconds."""
    prepare_for_window()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    import engine

    config = engine.settings_path()
    config.parent.mkdir(parents=True, exist_ok=True)
    listed = ", ".join(f'"{path.as_posix()}"' for path in stores(sessions))
    config.write_text(f'[defaults]\nstore.path = "{store.as_posix()}"\nsessions.folders = [{listed}]\n', "utf-8")
    from PySide6.QtCore import QTimer

    from gui.app import application
    from gui.app.command_line import parse_options
    from gui.window.main_window import MainWindow

    figures: list[tuple[int, int, int, int, float]] = []

    class Watched(MainWindow):
        def showEvent(self, event: Any) -> None:
            super().showEvent(event)
            QTimer.singleShot(500, self, self.live)

        def live(self) -> None:
            try:
                figures.append(self.pass_the_day())
            finally:  # Qt prints errors, and must not wait for a user
                self.quit()

        def pass_the_day(self) -> tuple[int, int, int, int, float]:
            _wait_for(lambda: _is_complete(self))
            began, at_first = time.perf_counter(), _at_rest()
            day = _Day(self, folder)
            day.pass_by(_WARM_UP)
            warm = _at_rest()
            day.pass_by(_SEARCHES // 2)
            middle = _at_rest()
            day.pass_by(_SEARCHES // 2)
            return at_first, warm, middle, _at_rest(), time.perf_counter() - began

    application.MainWindow = Watched
    application.run(parse_options(["--workspace", str(folder)]))
    config.unlink()
    return figures[0]


class _Day:
    """Actions of a user, as many as needed: each query once, each file changed differently."""

    def __init__(self, window: Any, folder: Path) -> None:
        self._window = window
        self._files = sorted(folder.rglob("*.md"))
        self._questions = iter(questions(_WARM_UP + _SEARCHES, natural=True))
        self._searched = self._changed = self._read = 0

    def pass_by(self, searches: int) -> None:
        for _ in range(searches):
            self._search()
            self._searched += 1
            if self._searched % (_SEARCHES // _CHANGES) == 0:
                self._change_a_file()
            if self._searched % (_SEARCHES // _SESSIONS) == 0:
                self._read_a_session()
        _wait_for(lambda: _is_complete(self._window))

    def _search(self) -> None:
        """Search until the best result is open in the viewer."""
        search = self._window.search
        query = next(self._questions)
        search.search(query)
        _wait_for(lambda: not search.busy and not self._window.viewer.busy)

    def _change_a_file(self) -> None:
        file = self._files[self._changed % len(self._files)]
        self._changed += 1
        with file.open("a", encoding="utf-8") as text:
            text.write(f"\nA line of change {self._changed}: the harbour closes at {self._changed} past noon.\n")

    def _read_a_session(self) -> None:
        """Open a session in the sessions view, and return to the search."""
        views = self._window.views
        views.switch("sessions")
        listed = views.sessions.view
        _wait_for(lambda: not views.sessions.busy and listed.has_rows)
        rows = listed.list.rows
        paths = [path for path in (_path(rows.row(at)) for at in range(rows.rowCount())) if path]
        wanted = paths[self._read % len(paths)]
        self._read += 1
        opened: list[str] = []
        views.conversation.session_shown.connect(opened.append)
        listed.list.go_to(wanted)
        _wait_for(lambda: bool(opened) or self._read == 1)
        views.conversation.session_shown.disconnect(opened.append)
        _turn(0.2)
        views.switch("search")


def _path(row: Any) -> str:
    entry = getattr(row, "entry", None)
    return entry.summary.path if entry is not None else ""


def _is_complete(window: Any) -> bool:
    status = window.workspace.status
    if status is None or status.last_sync is None or status.syncing is not None:
        return False
    return not status.pending_vectors


def _at_rest() -> int:
    """Return the bytes after timers have run and garbage was collected."""
    _turn(_REST_MS / 1000)
    gc.collect()
    _turn(0.1)
    return anonymous_memory()


def _wait_for(done: Any) -> None:
    began = time.perf_counter()
    while not done():
        _turn(0.005)
        if time.perf_counter() - began > _TIMEOUT:
            raise SystemExit("The window does not come to rest.")


def _turn(seconds: float) -> None:
    """Run the event loop for a while."""
    from PySide6.QtCore import QCoreApplication

    until = time.perf_counter() + seconds
    while True:
        QCoreApplication.processEvents()
        if time.perf_counter() >= until:
            return
        time.sleep(0.0005)
