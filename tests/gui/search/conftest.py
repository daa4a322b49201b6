"""Results, outcomes and a running panel."""

import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from engine import MemorySearchResult, SearchOutcome, SearchTimings
from gui.core.jobs import Jobs
from gui.core.status_feed import StatusFeed
from gui.search import search_runner
from gui.search.panel import SearchPanel
from gui.search.result_list import ResultList
from gui.widgets.query_box import QueryBox
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_records import result_of

MakeResult = Callable[..., MemorySearchResult]


def _make_result(path: str = "a.md", line: int = 1, **changes: Any) -> MemorySearchResult:
    snippet = changes.pop("snippet", f"words of {path} at {line}")
    fields: dict[str, Any] = {
        "path": path,
        "start_line": line,
        "end_line": line + 4,
        "score": 0.8,
        "snippet": snippet,
        "source": "memory",
        "citation": f"{path}#L{line}-L{line + 4}",
        "title": path.removesuffix(".md"),
        "heading": (),
        "modified": 1_772_500_000.0,
        "snippet_line": line,
        "match_ranges": tuple(found.span() for found in re.finditer("words", snippet)),
        "text_score": 0.6,
        "vector_score": 0.5,
        "text_share": 0.6,
    }
    return result_of(**(fields | changes))


def _make_outcome(*results: MemorySearchResult, **changes: Any) -> SearchOutcome:
    fields: dict[str, Any] = {
        "results": results,
        "total": len(results),
        "provider": "embedded",
        "model": "m",
        "mode": "hybrid",
        "timings": SearchTimings(analysis=0, keyword=0, embed=0, vector=0, merge=0, total=9.2),
        "notice": "",
        "explanation": None,
    }
    return SearchOutcome(**(fields | changes))


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the waits until a search starts, reports that it is slow, and is repeated."""
    monkeypatch.setattr(search_runner, "PAUSE_MS", 5)
    monkeypatch.setattr(search_runner, "NOTICE_DELAY_MS", 10)
    monkeypatch.setattr(search_runner, "REPEAT_MS", 1)


@pytest.fixture
def make_result() -> MakeResult:
    return _make_result


@pytest.fixture
def make_outcome() -> Callable[..., SearchOutcome]:
    return _make_outcome


class Gate(threading.Event):
    """An event that blocks; `entered` is set as soon as a thread waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()


@pytest.fixture
def meaning_waits(memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Make hybrid searches wait for this event before they answer."""
    released = Gate()
    search = memory.search

    def wait(query: str, *, mode: str = "auto", on_keywords: Any = None, **options: Any) -> SearchOutcome:
        def pass_on(first: SearchOutcome) -> None:
            on_keywords(first)
            hold()

        def hold() -> None:
            released.entered.set()
            released.wait(60)

        if on_keywords is not None:
            options["on_keywords"] = pass_on
        elif mode == "auto":
            hold()
        return search(query, mode=mode, **options)

    monkeypatch.setattr(memory, "search", wait)
    yield released
    released.set()


@pytest.fixture
def show_active(qtbot) -> Callable[..., QWidget]:
    """Return a function that shows widgets below each other in one active window."""
    alive: list[QWidget] = []

    def run(*widgets: QWidget) -> QWidget:
        window = QWidget()
        column = QVBoxLayout(window)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in widgets:
            column.addWidget(widget)
        qtbot.addWidget(window)
        alive.append(window)
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()
        return window

    return run


@pytest.fixture
def panel(qtbot, show_active: Callable[..., QWidget], jobs: Jobs, memory: FakeMemory) -> Iterator[SearchPanel]:
    """A search panel on the sample garden, in an active window, with the box focused and without a query."""
    panel = SearchPanel(jobs)
    panel.set_manager(memory)
    panel.setParent(show_active(panel.header, panel.body))
    panel.header.window().resize(900, 700)
    panel.focus_box()
    feed = StatusFeed(jobs, panel)
    feed.status_changed.connect(panel.show_status)
    feed.set_manager(memory)
    qtbot.waitUntil(lambda: feed.latest is not None and not panel.busy)
    yield panel
    feed.set_manager(None)
    panel.set_manager(None)


@pytest.fixture
def results(panel) -> ResultList:
    return panel.body.findChild(ResultList)


@pytest.fixture
def box(panel) -> QLineEdit:
    return panel.header.findChild(QueryBox).edit


@pytest.fixture
def ask(qtbot, panel) -> Callable[[str], None]:
    def run(text: str) -> None:
        panel.search(text)
        qtbot.waitUntil(lambda: not panel.busy)

    return run
