"""The map of the index: time to the first picture, time of a frame, and fidelity of the layouts."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gui.__main__ import prepare_for_window
from tests.benchmarks.measuring import Figure, measure, spread
from tests.benchmarks.prepared import LARGE, Bench, open_index

_FRAMES = 150
_SIZE = (1200, 800)
_NEIGHBOURS = 10
_LAID_OUT = 20_000
_ASKED = 1000


def run(bench: Bench) -> Iterator[Figure]:
    notes = LARGE * bench.notes
    folder, (store, built) = bench.folder(notes), bench.index(notes, "window")
    what = f"map of {built.value['chunks']:,} chunks × 512, real vectors"
    for later in (False, True):
        seconds, frames, pulse = measure(_look, folder, store, bench.cache).value
        how = "from its file" if later else "made from the vectors"
        yield Figure(f"{what}: from asking to its first picture, {how}", "–", f"{seconds:.2f} s")
        if not later:
            yield Figure("– time between two turns of the GUI thread's loop meanwhile", "≤ 16 ms", pulse)
    size = f"{_FRAMES} frames of {_SIZE[0]} × {_SIZE[1]}"
    yield Figure(f"{what}: a frame while it is dragged ({size})", "≤ 16 ms", spread(frames))
    found = measure(_lay_out, bench.cache).value
    for name, target in (("directions", "–"), ("neighbours", "better than directions, few seconds")):
        share, trust, seconds = found[name]
        yield Figure(
            f"layout of {_LAID_OUT:,} real vectors by {name}",
            target,
            f"{share:.3f} of {_NEIGHBOURS} neighbours kept, trustworthiness {trust:.3f}; {seconds:.1f} CPU s",
            f"{share / found['directions'][0]:.0f}× the neighbours of two directions",
        )


def _look(folder: Path, store: Path, cache: Path) -> tuple[float, list[float], str]:
    """Return the seconds to the first picture, the milliseconds per frame, and the event loop's pulse until that
    picture.
    """
    prepare_for_window()
    from PySide6.QtCore import QPoint, Qt
    from PySide6.QtTest import QTest

    from gui.app.qt_setup import Collector
    from gui.core.jobs import Jobs
    from gui.index.map.panel import MapPanel
    from gui.style.appearance import Appearance
    from tests.benchmarks.heartbeat import Heartbeat, start_qt, wait

    app = start_qt()
    collector = Collector(app)
    Appearance(app, "light")
    memory = open_index(folder, store, "window", cache)
    memory.status()
    jobs = Jobs()
    panel = MapPanel(jobs)
    panel.resize(*_SIZE)
    panel.show()
    collector.freeze()
    wait(300)
    seen: list[float] = []
    panel.canvas.picture.drawn.connect(lambda: seen.append(time.perf_counter()))
    heart = Heartbeat()
    began = time.perf_counter()
    panel.set_manager(memory)
    while panel.busy or not seen:
        wait(2)
    pulse = heart.stop().longest()
    canvas = panel.canvas
    canvas.zoom(3.0)
    while panel.busy:
        wait(2)
    frames = []
    at = QPoint(canvas.width() // 2, canvas.height() // 2)
    none = Qt.KeyboardModifier.NoModifier
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, none, at)
    for frame in range(_FRAMES):
        at += QPoint(7 if frame % 50 < 25 else -7, 3 if frame % 30 < 15 else -3)
        start = time.perf_counter()
        QTest.mouseMove(canvas, at)
        canvas.repaint()
        frames.append(1000 * (time.perf_counter() - start))
        wait(8)
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, none, at)
    jobs.shutdown(60_000)
    return seen[0] - began, frames, pulse


def _lay_out(cache: Path) -> dict[str, tuple[float, float, float]]:
    """Return by layout: the share of neighbours preserved, trustworthiness, and CPU seconds."""
    import numpy as np

    from engine.insight import map_layout
    from engine.insight.map_data import Rows
    from engine.store.vector_matrix_blocks import quantise
    from tests.benchmarks.real_vectors import real_vectors

    vectors = np.array(real_vectors(cache)[:_LAID_OUT])
    rows = Rows(np.arange(len(vectors)), vectors.shape[1], (quantise(vectors),))
    found = {}
    most = map_layout.MAX_NEIGHBOURS
    for name in ("directions", "neighbours"):
        map_layout.MAX_NEIGHBOURS = most if name == "neighbours" else 0
        began = time.process_time()
        points = map_layout.compute_layout(rows, 1, None).points
        seconds = time.process_time() - began
        found[name] = (*_truth(vectors, points), seconds)
    return found


def _truth(vectors: Any, points: Any) -> tuple[float, float]:
    """Return the share of the nearest neighbours preserved, and trustworthiness (Venna and Kaski, 2001).

    Both are computed for a sample of the rows.
    """
    import numpy as np

    count, near = len(vectors), _NEIGHBOURS
    rows = np.random.default_rng(1).choice(count, min(_ASKED, count), replace=False)
    shares, wrong = [], 0
    for row in rows:
        gaps = -(vectors @ vectors[row])
        map_gaps = ((points - points[row]) ** 2).sum(axis=1)
        gaps[row] = map_gaps[row] = np.inf
        near_in_vectors, near_on_map = np.argpartition(gaps, near)[:near], np.argpartition(map_gaps, near)[:near]
        shares.append(len(np.intersect1d(near_in_vectors, near_on_map)) / near)
        ranks = (gaps[None] < gaps[near_on_map, None]).sum(axis=1) + 1
        wrong += int(np.maximum(ranks - near, 0).sum())
    return statistics.mean(shares), 1 - 2 * wrong / (len(rows) * near * (2 * count - 3 * near - 1))
