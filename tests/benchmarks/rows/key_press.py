"""Typing into the window's search box: from each key to its first results."""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gui.__main__ import prepare_for_window
from tests.benchmarks.measuring import Figure, measure, percentile, spread, timed
from tests.benchmarks.prepared import LARGE, Bench, questions, settings_file, use_model

if TYPE_CHECKING:
    from gui.window.main_window import MainWindow

_QUESTIONS = 12
_SECONDS_PER_KEY = 0.15
_TIMEOUT = 5.0
_OPENING = 120.0
"""Limit of the seconds in which the index is opened and checked."""
_PRELOADING_MS = 12_000
"""Milliseconds in which the panels of the other views are made."""


def run(bench: Bench) -> Iterator[Figure]:
    notes = LARGE * bench.notes
    folder, (store, built) = bench.folder(notes), bench.index(notes, "window")
    key_times, alone, pulse, idle = measure(_type, folder, bench.scratch, store, bench.cache).value
    yield Figure(
        f"key press to first results, {built.value['chunks']:,} chunks ({len(key_times)} keys of {_QUESTIONS} queries)",
        "p95 ≤ 50 ms",
        spread(key_times),
        f"p95 {percentile(key_times, 0.95) / percentile(alone, 0.95):.2f} of the engine's search alone",
    )
    yield Figure(
        "– time between two turns of the GUI thread's loop meanwhile",
        "≤ 16 ms",
        pulse.longest(),
        f"idle: {idle.longest()}",
    )


def _type(folder: Path, scratch: Path, store: Path, cache: Path) -> tuple[list[float], list[float], Any, Any]:
    """Return the milliseconds from each key to its results, and of the same searches without a window.

    Also returns the pulse of the program's window while typing and when idle.
    """
    prepare_for_window()
    use_model("window", cache)
    from tests.benchmarks.heartbeat import run_window

    return run_window(folder, settings_file(scratch, store), _measure)


def _measure(window: "MainWindow") -> tuple[list[float], list[float], Any, Any]:
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from tests.benchmarks.heartbeat import Heartbeat, wait

    panel, began = window.search, time.monotonic()
    while (status := window.workspace.status) is None or status.last_sync is None or status.syncing is not None:
        assert time.monotonic() - began < _OPENING
        wait(100)
    assert window.workspace.current is not None
    memory = window.workspace.current.manager
    memory.search("warm")  # loads the vectors, like a user's first search
    wait(_PRELOADING_MS)
    heart = Heartbeat()
    wait(2000)
    idle = heart.pulse
    heart.restart()
    key_times, queries = [], []
    for query in questions(_QUESTIONS, natural=True):
        panel.box.edit.clear()
        wait(300)
        for count, letter in enumerate(query, 1):
            text = query[:count].strip()
            began = time.perf_counter()
            QTest.keyClicks(panel.box.edit, letter)
            if count < 2 or letter == " ":
                wait(int(1000 * _SECONDS_PER_KEY))
                continue  # the text to search for is what it was
            while (answer := panel.view.answer) is None or answer.query.text != text:
                QApplication.processEvents()
                time.sleep(0.0002)
                if time.perf_counter() - began > _TIMEOUT or not panel.busy:
                    break  # nothing was found: the page shows that instead
            QApplication.processEvents()
            key_times.append((time.perf_counter() - began) * 1000)
            queries.append(text)
            wait(max(0, int(1000 * (_SECONDS_PER_KEY - (time.perf_counter() - began)))))
    pulse = heart.stop()
    alone = timed([partial(memory.search, text, max_results=50, mode="keyword") for text in queries])
    return key_times, alone, pulse, idle
