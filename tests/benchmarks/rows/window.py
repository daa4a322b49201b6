"""The window with a large index: time to the first picture, and memory."""

import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from gui.__main__ import prepare_for_window
from tests.benchmarks.measuring import Cost, Figure, anonymous_memory, measure, megabytes
from tests.benchmarks.prepared import LARGE, Bench, settings_file, use_model

_ROUNDS = 5
_SETTLES = 3.0


def run(bench: Bench) -> Iterator[Figure]:
    notes = LARGE * bench.notes
    store, built = bench.index(notes, "window")
    empty = bench.scratch / "no-notes-at-all"
    empty.mkdir(exist_ok=True)
    full = _several(bench, bench.folder(notes), store)
    bare = _several(bench, empty, bench.scratch / "index-of-nothing")
    visible, found, anonymous = (statistics.median(cost.value[part] for cost in full) for part in range(3))
    what = f"window with {built.value['chunks']:,} chunks indexed"
    yield Figure(
        f"{what}: from the start of Python to its first picture",
        "< 1 s",
        f"{visible:.2f} s; the index open {found:.2f} s after the start",
        f"{visible / statistics.median(cost.value[0] for cost in bare):.2f} of a window with nothing indexed",
    )
    nothing = statistics.median(cost.value[2] for cost in bare)
    yield Figure(
        f"{what}: anonymous memory at rest, after its first sync and a search, without the model",
        "< 250 MB",
        megabytes(anonymous),
        f"{anonymous / nothing:.2f} of a window with nothing indexed ({megabytes(nothing)})",
    )


def _several(bench: Bench, folder: Path, store: Path) -> list[Cost]:
    starts = [measure(_start, time.time(), folder, store, bench.cache, bench.scratch) for _ in range(_ROUNDS + 1)]
    return starts[1:]  # the first one writes the bytecode


def _start(began: float, folder: Path, store: Path, cache: Path, scratch: Path) -> tuple[float, float, float]:
    """Return the seconds to the first picture and to the open index, and the anonymous bytes when idle."""
    prepare_for_window()
    use_model("window", cache)
    config = settings_file(scratch, store)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QTimer
    from PySide6.QtGui import QPaintEvent
    from PySide6.QtWidgets import QApplication

    from gui.app import application
    from gui.app.command_line import parse_options
    from gui.window.main_window import MainWindow

    seen: dict[str, float] = {}

    class Watched(MainWindow):
        def paintEvent(self, event: QPaintEvent) -> None:
            super().paintEvent(event)
            seen.setdefault("shown", time.time() - began)
            self.workspace.feed.status_changed.connect(self._look)

        def _look(self, status: object) -> None:
            if status is None or getattr(status, "last_sync", None) is None:
                return
            seen.setdefault("open", time.time() - began)
            if getattr(status, "syncing", None) is None and "rest" not in seen:
                seen["rest"] = 0
                self.search.search("the of and")
                QTimer.singleShot(int(_SETTLES * 1000), self._end)

        def _end(self) -> None:
            seen["anonymous"] = anonymous_memory()
            QApplication.quit()

    application.MainWindow = Watched
    application.run(parse_options(["--workspace", str(folder), "--config", str(config)]))
    return seen["shown"], seen["open"], seen["anonymous"]
