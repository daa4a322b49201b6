"""The pages of the index view, which are made when they are first shown."""

import importlib
import sys
import threading
from collections.abc import Iterator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QApplication, QPushButton, QStackedWidget

from gui.index.panel import IndexPanel
from tests.helpers.fake_insight import FakeInsight, make_group
from tests.helpers.windows import MovedParts


@pytest.fixture
def panel(qtbot, jobs, memory, appearance):
    memory.insight = FakeInsight(memory)
    memory.insight.groups = (make_group("topics/garden.md", "topics/limits.md"),)
    panel = IndexPanel(jobs)
    panel.resize(1200, 800)
    qtbot.addWidget(panel)
    panel.set_manager(memory)
    panel.show_status(memory.status())
    yield panel
    panel.set_manager(None)


class SlowNumpy(MetaPathFinder, Loader):
    """Imports numpy, which is loaded already, when it is released, and records the threads that import it."""

    def __init__(self) -> None:
        self._numpy = importlib.import_module("numpy")
        self._spec = self._numpy.__spec__
        self.released = threading.Event()
        self.threads: list[threading.Thread] = []

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        if fullname != "numpy":
            return None
        self.threads.append(threading.current_thread())
        assert self.released.wait(60)
        return ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._numpy

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


@pytest.fixture
def slow_numpy(monkeypatch) -> Iterator[SlowNumpy]:
    finder = SlowNumpy()
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    monkeypatch.delitem(sys.modules, "numpy")
    yield finder
    finder.released.set()


def made(panel: IndexPanel) -> list[str]:
    stack = panel.findChild(QStackedWidget)
    return sorted(type(stack.widget(number)).__name__ for number in range(stack.count()))


def show(qtbot, panel: IndexPanel) -> None:
    with qtbot.waitActive(panel):
        panel.show()
        panel.activateWindow()


def test_hidden_panel_makes_no_page(qtbot, panel: IndexPanel) -> None:
    panel.show_page("duplicates")
    panel.show_page("overview")
    assert made(panel) == []
    assert not panel.busy


def test_overview_needed_at_once_is_complete(panel: IndexPanel) -> None:
    panel.focus_list()
    assert panel.overview.isAncestorOf(panel.overview.map)


def test_overview_makes_only_pages_that_it_counts(qtbot, panel: IndexPanel) -> None:
    show(qtbot, panel)
    assert panel.busy
    qtbot.waitUntil(lambda: made(panel) == ["DuplicatesPage", "HealthPage", "OverviewPage"])
    qtbot.waitUntil(lambda: not panel.busy)


@pytest.mark.parametrize(
    ("name", "page"), [("map", "MapPanel"), ("duplicates", "DuplicatesPage"), ("health", "HealthPage")]
)
def test_page_shown_first_is_made_alone(qtbot, panel: IndexPanel, name: str, page: str) -> None:
    panel.show_page(name)
    show(qtbot, panel)
    qtbot.waitUntil(lambda: made(panel) == [page] and not panel.busy)
    panel.chips["health"].setFocus()
    qtbot.keyClick(panel.chips["health"], Qt.Key.Key_Tab)
    stack = panel.findChild(QStackedWidget)
    assert stack.currentWidget().isAncestorOf(QApplication.focusWidget())


def test_attention_of_earlier_page_reaches_overview(qtbot, panel: IndexPanel) -> None:
    panel.show_page("duplicates")
    show(qtbot, panel)
    qtbot.waitUntil(lambda: made(panel) == ["DuplicatesPage"] and not panel.busy)
    panel.show_page("overview")
    qtbot.waitUntil(lambda: made(panel)[-1] == "OverviewPage" and not panel.busy)
    names = [button.accessibleName() for button in panel.overview.attention.findChildren(QPushButton)]
    assert any(name.startswith("Compare: ") for name in names)


@pytest.mark.parametrize("name", ["overview", "map", "duplicates", "health"])
def test_pages_are_made_in_place(qtbot, panel: IndexPanel, name: str) -> None:
    moved = MovedParts(least=20)
    panel.show_page(name)
    show(qtbot, panel)
    qtbot.waitUntil(lambda: not panel.busy)
    pages = {"OverviewPage", "TwoColumns", "MapPanel", "DuplicatesPage", "HealthPage"}
    assert not pages & set(moved.names)


@pytest.mark.parametrize(("name", "page"), [("overview", "OverviewPage"), ("map", "MapPanel")])
def test_numpy_is_imported_once_on_a_pool_thread(qtbot, jobs, monkeypatch, slow_numpy, panel, name, page) -> None:
    read, reads = jobs.read, []
    monkeypatch.setattr(jobs, "read", lambda *work: reads.append(work) or read(*work))
    panel.show_page(name)
    show(qtbot, panel)
    qtbot.waitUntil(lambda: bool(slow_numpy.threads))
    for _ in range(20):
        QCoreApplication.processEvents()
    assert len(reads) == 1
    assert panel.busy
    assert made(panel) == []
    slow_numpy.released.set()
    qtbot.waitUntil(lambda: page in made(panel) and not panel.busy)
    assert len(slow_numpy.threads) == 1
    assert threading.main_thread() not in slow_numpy.threads
