"""Typing into the window's search box: from each key to its first results."""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.benchmarks.measuring import Figure, measure, percentile, spread, timed
from tests.benchmarks.prepared import LARGE, Bench, open_index, questions

_QUESTIONS = 12
_SECONDS_PER_KEY = 0.15
_TIMEOUT = 5.0


def run(bench: Bench) -> Iterator[Figure]:
    notes = LARGE * bench.notes
    folder, (store, built) = bench.folder(notes), bench.index(notes, "window")
    key_times, alone, pulse, idle = measure(_type, folder, store, bench.cache).value
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


def _type(folder: Path, store: Path, cache: Path) -> tuple[list[float], list[float], Any, Any]:
    """Return the milliseconds from each key to its results, and of the same searches without a window.

    Also returns the pulse while typing and when idle.
    """
    from PySide6.QtTest import QTest

    from gui.app.qt_setup import Collector
    from gui.core.jobs import Jobs
    from gui.search.panel import SearchPanel
    from gui.style.appearance import Appearance
    from tests.benchmarks.heartbeat import Heartbeat, start_qt, wait

    app = start_qt()
    collector = Collector(app)
    Appearance(app, "light")
    memory = open_index(folder, store, "window", cache)
    jobs = Jobs()
    panel = SearchPanel(jobs)
    panel.set_manager(memory)
    panel.header.show()
    panel.body.resize(420, 760)
    panel.body.show()
    collector.freeze()
    typed = questions(_QUESTIONS, natural=True)
    heart = Heartbeat()
    memory.search("warm")  # loads the vectors, like a user's first search
    wait(1000)
    heart.restart()
    wait(2000)
    idle = heart.pulse
    heart.restart()
    key_times, queries = [], []
    for query in typed:
        panel.box.edit.clear()
        wait(300)
        for count, letter in enumerate(query, 1):
            text = query[:count].strip()
            began = time.perf_counter()
            QTest.keyClicks(panel.box.edit, letter)
            if count < 2 or letter == " ":
                wait(int(1000 * _SECONDS_PER_KEY))
                continue  # the text to search for is what it was
            while (answer := panel.body.answer) is None or answer.query.text != text:
                app.processEvents()
                time.sleep(0.0002)
                if time.perf_counter() - began > _TIMEOUT or not panel.busy:
                    break  # nothing was found: the page shows that instead
            app.processEvents()
            key_times.append((time.perf_counter() - began) * 1000)
            queries.append(text)
            wait(max(0, int(1000 * (_SECONDS_PER_KEY - (time.perf_counter() - began)))))
    pulse = heart.stop()
    alone = timed([partial(memory.search, text, max_results=50, mode="keyword") for text in queries])
    return key_times, alone, pulse, idle
