"""Responsiveness of the window's GUI thread while everything is indexed."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks.measuring import Figure, measure
from tests.benchmarks.prepared import Bench, Model, questions, use_model

_BOUND = 60.0
"""Limit of the seconds of embedding with the real model."""
_IDLE_MS = 3000


def run(bench: Bench) -> Iterator[Figure]:
    folder = bench.folder(bench.notes)
    cases: tuple[tuple[str, Model, bool], ...] = (
        ("the whole index, vectors by chance", "random-1536", False),
        ("the same while a user searches", "random-1536", True),
        (f"the first {_BOUND:.0f} s with the real model", "embedded", False),
    )
    for number, (what, model, searching) in enumerate(cases):
        idle, busy, state = measure(
            _index, folder, bench.scratch / f"index-heartbeat-{number}", model, searching, bench.cache
        ).value
        yield Figure(
            f"GUI thread while {bench.notes:,} notes are indexed: {what}",
            "≤ 16 ms",
            f"{busy.longest()}; {state}",
            f"idle: {idle.longest()}",
        )


def _index(folder: Path, store: Path, model: Model, searching: bool, cache: Path) -> tuple[Any, Any, str]:
    """Return the pulse of the real window when idle and while it indexes, and the progress that this made."""
    use_model(model, cache)
    from PySide6.QtTest import QTest

    from gui.app.qt_setup import Collector
    from gui.core.jobs import Jobs
    from gui.core.window_context import AppPaths
    from gui.core.window_state import WindowState
    from gui.core.workspace import Workspace
    from gui.style.appearance import Appearance
    from gui.window.main_window import MainWindow
    from tests.benchmarks.heartbeat import Heartbeat, start_qt, wait

    queries = iter(questions(1000, natural=True))
    app = start_qt()
    collector = Collector(app)
    jobs = Jobs()
    workspace = Workspace(jobs, store_path=str(store))
    appearance = Appearance(app, "light")
    with appearance.bare():
        window = MainWindow(workspace, jobs, appearance, WindowState(), paths=AppPaths())
    window.show()
    collector.freeze()
    wait(500)
    heart = Heartbeat()
    wait(_IDLE_MS)
    idle = heart.pulse
    heart.restart()
    window.folders.open(folder)
    began = time.monotonic()
    while time.monotonic() - began < _BOUND or model != "embedded":
        wait(500)
        status = workspace.status
        if status is not None and status.last_sync is not None and status.syncing is None:
            break
        if searching:
            window.search.box.edit.clear()
            for letter in next(queries):
                QTest.keyClicks(window.search.box.edit, letter)
                wait(120)
    pulse = heart.stop()
    status = workspace.status
    assert status is not None
    return idle, pulse, f"{status.files:,} files, {status.vector.rows:,} of {status.chunks:,} vectors"
