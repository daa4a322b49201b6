"""Unsupported features are disabled everywhere with the reason; after a switch of the backend they return."""

from collections.abc import Iterator, Sequence

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QShortcut
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow, QToolTip, QWidget

import engine
from engine import Feature, MapPositions, MemorySearchResult, QueryRecord
from gui.commands.commands import key_action
from gui.commands.keymap import command, keymap
from gui.core.capabilities import SHORT, TITLES, Gate, capabilities
from gui.core.window_context import AppPaths
from gui.core.window_state import WindowState
from gui.core.workspace import Workspace
from gui.search.ranking_menu import Ranking
from gui.window.main_window import MainWindow
from tests.helpers.fake_insight import FakeInsight
from tests.helpers.fake_sessions import SESSIONS
from tests.helpers.fake_unsupported import FEATURES, LimitedMemory, reason
from tests.helpers.windows import at_rest, finish_jobs

Key = Qt.Key
Alt = Qt.KeyboardModifier.AltModifier
Control = Qt.KeyboardModifier.ControlModifier
Shift = Qt.KeyboardModifier.ShiftModifier
CLOSED: dict[Feature, set[str]] = {
    "sessions": {"Find a session"},
    "similar": {"More like this", "Similar sessions"},
    "filters": {"Search all sources", "Search notes only", "Search sessions only", "More from this session"},
    "within": {"Search within these results"},
    "ordering": {"Prefer newer", "Half-life", "More variety", "Use this order for all searches"},
    "completion": set(),
    "explanation": {"Why this result?"},
    "path-states": {"Why is a file not found?", "Why is this file not found?"},
    "models": set(),
    "insight": {"Show passage borders", "Show passages of the index"},
}
"""Some actions and controls that need a feature."""
SAID: dict[Feature, set[str]] = {
    "sessions": {"sessions"},
    "explanation": {"explanation"},
    "path-states": {"diagnostics"},
    "models": {"settings"},
    "insight": {"index"},
}
"""Views whose texts contain the reason. The diagnostics contain all reasons."""
TOGETHER: tuple[tuple[Feature, ...], ...] = (
    ("similar",),
    ("filters", "within", "ordering", "completion"),
    ("sessions", "models"),
    ("explanation", "insight"),
    ("path-states",),
)
"""Features that are missing at the same time: each has its own controls and reason."""


class _Insight(FakeInsight):
    """An insight that places every answer on the map."""

    def map_answer(self, query: str, results: Sequence[MemorySearchResult], cancel: object = None) -> MapPositions:
        return MapPositions(point=None, chunks=(None,) * len(results))


@pytest.fixture
def memory() -> Iterator[LimitedMemory]:
    memory = LimitedMemory(sessions=SESSIONS)
    memory.insight = _Insight(memory)
    yield memory
    memory.close()


@pytest.fixture
def window(qtbot, appearance, jobs, memory, monkeypatch) -> Iterator[MainWindow]:
    monkeypatch.setattr(engine, "open_memory", lambda *_args, **_options: memory, raising=False)
    with appearance.bare():
        window = MainWindow(Workspace(jobs), jobs, appearance, WindowState(), paths=AppPaths())
    qtbot.addWidget(window)
    window.resize(1280, 800)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    yield window
    assert window.shut_down(60_000)


def _open(qtbot, window: MainWindow, memory: LimitedMemory, *features: Feature) -> None:
    memory.lack(*features)
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    for name in window.views.specs:  # a panel that is made now learns the features, too
        window.views.panel_of(name)
    assert not window.views.conversation.isVisible()


def _closed(window: MainWindow, sentence: str) -> set[str]:
    """Return the names of all disabled widgets that show and announce this reason."""
    actions = {
        action.text()
        for action in window.findChildren(QAction)
        if not action.isEnabled() and {_joined(action.toolTip()), action.statusTip(), action.whatsThis()} == {sentence}
    }
    widgets = {
        widget.accessibleName() or widget.property("text")
        for widget in window.findChildren(QWidget)
        if not widget.isEnabled() and {_joined(widget.toolTip()), widget.accessibleDescription()} == {sentence}
    }
    return actions | widgets


def _joined(tip: str) -> str:
    """Return a tooltip without its line breaks."""
    return " ".join(tip.split())


def _texts(widget: QWidget) -> str:
    return " ".join(label.text().replace("\u200b", "") for label in widget.findChildren(QLabel) if label.isVisible())


def _visit(qtbot, window: MainWindow, *features: Feature) -> dict[str, str]:
    """Search, and open the views that name or contain these features; return the texts of each."""
    views = set().union(*(SAID.get(feature, set()) for feature in features))
    read = {}
    window.dock.show_diagnostics()
    window.search.search("timer")
    qtbot.waitUntil(lambda: at_rest(window) and window.dock.diagnostics.why.isVisible())
    read["diagnostics"] = _texts(window.dock.diagnostics)
    window.search.search("xylophone")
    qtbot.waitUntil(lambda: at_rest(window))
    if "explanation" in views:
        window.dock.show_explanation()
        read["explanation"] = _texts(window.dock.explanation)
    if "sessions" in views or "similar" in features:
        window.views.switch("sessions")
        qtbot.waitUntil(lambda: at_rest(window))
        window.views.sessions.search("relay")
        qtbot.waitUntil(lambda: at_rest(window))
        read["sessions"] = _texts(window.views.sessions.body)
        window.views.switch("search")
        qtbot.waitUntil(lambda: at_rest(window) and not window.views.sessions.busy)
    if "index" in views:
        window.views.switch("index")
        qtbot.waitUntil(lambda: not window.views.index.busy)
        read["index"] = _texts(window.views.index)
    if "settings" in views:
        window.settings.show()
        dialog = window.settings.dialog
        dialog.show_page("embedding")
        qtbot.waitUntil(lambda: dialog.ready)
        read["settings"] = _texts(dialog)
        dialog.reject()
    return read


def _assert_disabled(
    window: MainWindow, memory: LimitedMemory, features: tuple[Feature, ...], read: dict[str, str]
) -> None:
    for feature in features:
        assert CLOSED[feature] <= _closed(window, reason(feature))
        for view in SAID.get(feature, set()) | {"diagnostics"}:
            assert reason(feature) in read[view], view
    assert memory.requests == []


@pytest.mark.parametrize("features", TOGETHER, ids=" ".join)
def test_features_are_disabled_whenever_they_are_missing(qtbot, window, jobs, memory, features: tuple[Feature, ...]):
    _open(qtbot, window, memory, *features)
    _assert_disabled(window, memory, features, _visit(qtbot, window, *features))

    memory.lack()
    window.views.switch("search")
    qtbot.waitUntil(lambda: not any(_closed(window, reason(feature)) for feature in features))
    qtbot.waitUntil(lambda: at_rest(window))
    read = _visit(qtbot, window, *features)
    assert all(reason(feature) not in text for text in read.values() for feature in features)

    finish_jobs(jobs)  # a session that the list selected may still be loading, which is right until the feature is gone
    memory.lack(*features)
    qtbot.waitUntil(lambda: window.workspace.status.unsupported == memory.unsupported and at_rest(window))
    _assert_disabled(window, memory, features, _visit(qtbot, window, *features))


def test_each_feature_is_missing_in_some_group():
    assert sorted(feature for group in TOGETHER for feature in group) == sorted(FEATURES)


@pytest.mark.qt_log_ignore(r"does not support (raise|propagateSizeHints)\(\)", extend=True)
def test_keys_of_unsupported_feature_show_reason(qtbot, window, memory):
    keys: dict[Feature, tuple[Qt.Key, Qt.KeyboardModifier]] = {
        "similar": (Key.Key_M, Alt),
        "within": (Key.Key_K, Control | Shift),
        "completion": (Key.Key_Space, Control),
        "explanation": (Key.Key_I, Control),
        "path-states": (Key.Key_D, Control | Shift),
        "insight": (Key.Key_C, Alt),
    }
    _open(qtbot, window, memory, *keys)
    with qtbot.waitSignal(window.viewer.file_shown):
        window.search.search("timer")
    shown = {}
    for feature, key in keys.items():
        window.search.focus_box()
        if feature == "similar":
            window.search.focus_list()
        elif feature == "insight":
            window.views.focus_reader()
        qtbot.keyClick(QApplication.focusWidget(), *key)
        shown[feature] = _joined(QToolTip.text())
        QToolTip.hideText()
    assert shown == {feature: reason(feature) for feature in keys}
    assert memory.requests == []


def test_row_menus_disable_unsupported_features(qtbot, window, memory, opened_menus):
    labels = {"similar": "More like this", "within": "Search within these results", "explanation": "Why this result?"}
    _open(qtbot, window, memory)
    window.search.search("timer")
    results = window.search.view.list
    qtbot.waitUntil(lambda: results.current_result() is not None)
    capabilities().begin({feature: reason(feature) for feature in labels})
    results.menu_requested.emit(QPoint())
    entries = {feature: opened_menus[-1][label] for feature, label in labels.items()}
    assert {feature: _joined(entry.toolTip()) for feature, entry in entries.items()} == {
        feature: reason(feature) for feature in labels
    }
    assert not any(entry.isEnabled() for entry in entries.values())
    assert opened_menus[-1]["Open in editor"].isEnabled()
    capabilities().begin({})
    results.menu_requested.emit(QPoint())
    assert all(opened_menus[-1][label].isEnabled() for label in labels.values())


def test_query_drops_options_the_engine_does_not_support(qtbot, window, memory):
    _open(qtbot, window, memory, "filters", "ordering", "within")
    query = QueryRecord("timer", ("memory",), 30, half_life_days=30.0, diverse=True, within=QueryRecord("irrigation"))
    window.search.controller.show_query(query)
    qtbot.waitUntil(lambda: at_rest(window))
    assert window.search.body.has_results
    assert memory.requests == []
    assert not window.search.body.scope_bar.isVisible()


def test_filters_are_reset_when_fallback_does_not_support_them(qtbot, window, memory):
    _open(qtbot, window, memory)
    window.search.controller.show_query(QueryRecord("timer", ("memory",), 30, half_life_days=30.0, diverse=True))
    qtbot.waitUntil(lambda: at_rest(window))
    memory.lack("filters", "ordering")
    qtbot.waitUntil(lambda: window.workspace.status.unsupported == memory.unsupported and at_rest(window))
    assert (window.search.filters.sources, window.search.filters.days) == (None, None)
    assert window.search.ranking.ranking == Ranking()
    assert memory.requests == []


def test_every_feature_has_title_and_short_name():
    assert set(TITLES) == set(SHORT) == set(CLOSED) == set(FEATURES)


def test_gate_shortcuts_and_tooltips_follow_keymap(qtbot, qapp):
    window = QMainWindow()
    qtbot.addWidget(window)
    action = key_action(window, command("trial.like", "More like this", "file", "Alt+M"))
    Gate(action, "similar")
    capabilities().begin({"similar": "Nothing can be compared here."})
    assert [key.key().toString() for key in window.findChildren(QShortcut)] == ["Alt+M"]
    keymap().set_own({"trial.like": ["Alt+L"]})
    qtbot.waitUntil(lambda: [key.key().toString() for key in window.findChildren(QShortcut)] == ["Alt+L"])
    assert action.toolTip() == "Nothing can be compared here."
    capabilities().begin({})
    assert action.toolTip() == "More like this (Alt+L)"
    keymap().set_own({})
    assert action.toolTip() == "More like this (Alt+M)"


def test_gate_shows_each_reason_of_its_owner(qtbot, qapp):
    window = QMainWindow()
    qtbot.addWidget(window)
    action = key_action(window, command("trial.like", "More like this", "file", "Alt+M"))
    gate = Gate(action, "similar")
    capabilities().begin({})
    for reason_ in ("Open a file first.", "This file is not in the index."):
        gate.allow(False, reason_)
        assert (action.isEnabled(), action.toolTip(), action.statusTip()) == (False, reason_, reason_)
    gate.allow(True)
    assert (action.isEnabled(), action.toolTip(), action.statusTip()) == (True, "More like this (Alt+M)", "")
