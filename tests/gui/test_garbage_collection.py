import gc
import threading
import weakref
from collections.abc import Iterator
from typing import ClassVar

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QTimer

import engine
from gui.app.qt_setup import Collector, collect_due
from gui.core.jobs import Jobs
from gui.core.window_context import AppPaths
from gui.core.window_state import WindowState
from gui.core.workspace import Workspace
from gui.window.main_window import MainWindow
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.windows import at_rest, search_results


class Knot:
    """Garbage that only the collector can find; records the thread that collected it."""

    found_by: ClassVar[list[int]] = []

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        Knot.found_by.append(threading.get_ident())


@pytest.fixture
def automatic() -> Iterator[None]:
    Knot.found_by.clear()
    gc.collect()
    gc.enable()
    yield
    gc.disable()
    gc.freeze()  # as before the test: closing a collector thaws everything


@pytest.fixture
def collector(automatic, qapp) -> Iterator[Collector]:
    collector = Collector()
    yield collector
    collector.close()


def tie(knots: int) -> None:
    for _ in range(knots):
        Knot()


def test_without_collector_pool_threads_collect(automatic, qtbot, jobs):
    done: list[object] = []
    jobs.read(lambda _: tie(10_000), done.append)
    qtbot.waitUntil(lambda: bool(done))
    assert set(Knot.found_by) - {threading.get_ident()}


def test_pool_garbage_is_collected_on_gui_thread(qtbot, jobs, collector):
    done: list[object] = []
    jobs.read(lambda _: tie(10_000), done.append)
    qtbot.waitUntil(lambda: bool(done and Knot.found_by))
    assert set(Knot.found_by) == {threading.get_ident()}


def test_every_generation_is_collected(qtbot, collector, monkeypatch):
    passes: list[int] = []
    collect = gc.collect
    monkeypatch.setattr(gc, "collect", lambda generation: passes.append(generation) or collect(generation))
    before = gc.get_threshold()
    gc.set_threshold(10, 1, 1)
    kept: list[list[int]] = []
    try:
        qtbot.waitUntil(lambda: kept.extend([0] for _ in range(100)) or set(passes) == {0, 1, 2})
    finally:
        gc.set_threshold(*before)


def test_full_pass_waits_while_objects_are_created(monkeypatch):
    passes: list[int] = []
    monkeypatch.setattr(gc, "collect", passes.append)
    full = gc.get_threshold()[2]
    for count in (full + 1, 10 * full + 1):
        monkeypatch.setattr(gc, "get_count", lambda count=count: (0, 0, count))
        collect_due(busy=True)
    assert passes == [2]
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, full + 1))
    collect_due()
    assert passes == [2, 2]


def test_collector_at_rest_runs_due_full_pass(collector, monkeypatch):
    passes: list[int] = []
    monkeypatch.setattr(gc, "collect", passes.append)
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, gc.get_threshold()[2] + 1))
    (timer,) = collector.findChildren(QTimer)
    while not passes:
        before = timer.interval()
        timer.timeout.emit()
        assert timer.interval() > before or passes
    assert passes == [2]


def test_freeze_excludes_existing_objects_until_close(collector):
    assert not gc.isenabled()
    before = gc.get_freeze_count()
    collector.freeze()
    assert gc.get_freeze_count() > before
    collector.close()
    assert gc.get_freeze_count() == 0
    assert gc.isenabled()


def test_close_leaves_disabled_gc_disabled(automatic, qapp):
    gc.disable()
    Collector().close()
    assert not gc.isenabled()


def test_collection_interval_adapts_to_allocation(qtbot, collector):
    before = gc.get_threshold()
    gc.set_threshold(1_000_000)
    try:
        timer = collector.findChild(QTimer)
        usual = timer.interval()
        qtbot.waitUntil(lambda: timer.interval() >= 8 * usual)
        gc.set_threshold(1, 1, 1)
        qtbot.waitUntil(lambda: timer.interval() == usual)
    finally:
        gc.set_threshold(*before)


def use_window(qtbot, appearance, jobs: Jobs, memory: FakeMemory) -> weakref.ref[MainWindow]:
    """Search in a window and close it."""
    with appearance.bare():
        window = MainWindow(Workspace(jobs), jobs, appearance, WindowState(), paths=AppPaths())
    window.show()
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    search_results(qtbot, window, "timer")
    assert window.shut_down(60_000)
    window.deleteLater()
    return weakref.ref(window)


def test_closed_window_is_freed_with_its_jobs(qtbot, appearance, memory, monkeypatch):
    monkeypatch.setattr(engine, "open_memory", lambda *_args, **_options: memory, raising=False)
    jobs = Jobs()
    window = use_window(qtbot, appearance, jobs, memory)
    jobs.deleteLater()
    del jobs
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    assert window() is None
