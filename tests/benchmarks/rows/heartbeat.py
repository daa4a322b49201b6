"""Responsiveness of the window's GUI thread while everything is indexed."""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gui.__main__ import prepare_for_window
from tests.benchmarks.measuring import Figure, measure
from tests.benchmarks.prepared import Bench, Model, questions, settings_file, use_model

if TYPE_CHECKING:
    from gui.window.main_window import MainWindow

_BOUND = 60.0
"""Limit of the seconds of embedding with the real model."""
_IDLE_MS = 3000
_PRELOADING_MS = 12_000
"""Milliseconds in which the panels of the other views are made."""


def run(bench: Bench) -> Iterator[Figure]:
    folder = bench.folder(bench.notes)
    cases: tuple[tuple[str, Model, bool], ...] = (
        ("the whole index, vectors by chance", "random-1536", False),
        ("the same while a user searches", "random-1536", True),
        (f"the first {_BOUND:.0f} s with the real model", "embedded", False),
    )
    for number, (what, model, searching) in enumerate(cases):
        idle, busy, state = measure(
            _index, folder, bench.scratch, f"index-heartbeat-{number}", model, searching, bench.cache
        ).value
        yield Figure(
            f"GUI thread while {bench.notes:,} notes are indexed: {what}",
            "≤ 16 ms",
            f"{busy.longest()}; {state}",
            f"idle: {idle.longest()}",
        )


def _index(folder: Path, scratch: Path, store: str, model: Model, searching: bool, cache: Path) -> tuple[Any, Any, str]:
    """Return the pulse of the program's window when idle and while it indexes, and the progress that this made."""
    prepare_for_window()
    use_model(model, cache)
    from tests.benchmarks.heartbeat import run_window

    empty = scratch / "no-notes-at-all"
    empty.mkdir(exist_ok=True)
    drive = partial(_measure, folder, model, searching)
    return run_window(empty, settings_file(scratch, scratch / store), drive)


def _measure(folder: Path, model: Model, searching: bool, window: "MainWindow") -> tuple[Any, Any, str]:
    from PySide6.QtTest import QTest

    from tests.benchmarks.heartbeat import Heartbeat, wait

    queries = iter(questions(1000, natural=True))
    wait(_PRELOADING_MS)
    heart = Heartbeat()
    wait(_IDLE_MS)
    idle = heart.pulse
    heart.restart()
    window.folders.open(folder)
    began = time.monotonic()
    while time.monotonic() - began < _BOUND or model != "embedded":
        wait(500)
        status = window.workspace.status
        opened = window.workspace.current is not None and window.workspace.current.folder == folder
        if opened and status is not None and status.last_sync is not None and status.syncing is None:
            break
        if searching:
            window.search.box.edit.clear()
            for letter in next(queries):
                QTest.keyClicks(window.search.box.edit, letter)
                wait(120)
    pulse = heart.stop()
    status = window.workspace.status
    assert status is not None
    assert status.last_sync is None or not status.last_sync.error
    return idle, pulse, f"{status.files:,} files, {status.vector.rows:,} of {status.chunks:,} vectors"
