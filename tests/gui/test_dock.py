"""The dock of the whole window: diagnostics or explanation, and the targets of an empty answer's buttons."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from engine import RemedyName, SearchRemedy, load_settings
from gui.widgets.sync_bar import StateButton
from gui.window.main_window import MainWindow

Key = Qt.Key
Control = Qt.KeyboardModifier.ControlModifier


def _find(qtbot, window: MainWindow, query: str) -> None:
    window.search.search(query)
    qtbot.waitUntil(lambda: not window.search.busy)


def _shown_text(window: MainWindow) -> str:
    return " | ".join(part.text() for part in window.dock.explanation.findChildren(QLabel) if part.isVisible())


def test_ctrl_i_toggles_explanation_of_current_result(qtbot, opened):
    _find(qtbot, opened, "timer")
    opened.search.focus_list()
    results = QApplication.focusWidget()
    qtbot.keyClick(results, Key.Key_I, Control)
    qtbot.waitUntil(lambda: "Result 1 of 3" in _shown_text(opened))
    assert results.hasFocus()  # the selection continues, and the explanation follows
    qtbot.keyClick(results, Key.Key_Down)
    qtbot.waitUntil(lambda: "Result 2 of 3" in _shown_text(opened))
    qtbot.keyClick(results, Key.Key_I, Control)
    assert opened.dock.isHidden()


def test_escape_in_explanation_returns_to_results(qtbot, opened):
    _find(qtbot, opened, "timer")
    opened.dock.show_explanation()
    fold = next(b for b in opened.dock.explanation.findChildren(QPushButton) if b.text() == "All figures")
    fold.setFocus()
    qtbot.keyClick(fold, Key.Key_Escape)
    assert opened.dock.explanation.isVisible()
    assert opened.search.body.list.hasFocus()


def test_ctrl_i_inside_explanation_returns_to_results(qtbot, opened):
    _find(qtbot, opened, "timer")
    opened.dock.show_explanation()
    fold = next(b for b in opened.dock.explanation.findChildren(QPushButton) if b.text() == "All figures")
    fold.setFocus()
    qtbot.keyClick(fold, Key.Key_I, Control)
    assert opened.dock.isHidden()
    assert opened.search.body.list.hasFocus()


def test_dock_returns_to_diagnostics(qtbot, opened):
    opened.dock.show_explanation()
    qtbot.keyClick(opened, Key.Key_D, Control)
    assert opened.dock.diagnostics.isVisible()
    assert not opened.dock.explanation.isVisible()
    opened.dock.show_explanation()
    opened.panes.toggle_dock()
    opened.panes.toggle_dock()
    assert opened.dock.diagnostics.isVisible()


def test_state_of_the_index_opens_diagnostics(qtbot, opened):
    assert opened.dock.isHidden()
    state = opened.sync_bar.findChild(StateButton)
    assert state.accessibleName() == "Up to date: show or hide the diagnostics"
    for visible in (True, False):
        qtbot.mouseClick(state, Qt.MouseButton.LeftButton)
        assert opened.dock.diagnostics.isVisible() is visible


def test_explanation_closes_with_the_search(qtbot, opened):
    opened.dock.show_explanation()
    opened.views.switch("sessions")
    assert opened.dock.isHidden()
    opened.views.switch("search")
    assert opened.dock.isHidden()
    opened.dock.show_diagnostics()
    opened.views.switch("sessions")
    assert opened.dock.diagnostics.isVisible()


def test_open_explanation_is_not_restored_as_diagnostics(opened):
    opened.dock.show_explanation()
    opened.frame.update_state(opened.state)
    assert opened.state.dock_shown is False
    opened.dock.show_diagnostics()
    opened.frame.update_state(opened.state)
    assert opened.state.dock_shown is True


def test_ctrl_i_in_other_view_opens_search(qtbot, opened):
    opened.views.switch("sessions")
    qtbot.keyClick(opened, Key.Key_I, Control)
    assert opened.views.current == "search"
    assert opened.dock.explanation.isVisible()


def test_closing_explanation_returns_to_results(qtbot, opened):
    _find(qtbot, opened, "timer")
    opened.dock.show_explanation()
    close = next(b for b in opened.dock.explanation.findChildren(QPushButton) if b.accessibleName().startswith("Close"))
    qtbot.mouseClick(close, Qt.MouseButton.LeftButton)
    assert opened.dock.isHidden()
    assert opened.search.body.list.hasFocus()


def test_explanation_shows_results_below_the_minimum(qtbot, opened):
    _find(qtbot, opened, "timer")
    opened.dock.show_explanation()
    opened.dock.explanation.weak_requested.emit(True)
    notices = opened.search.body.findChildren(QLabel)
    qtbot.waitUntil(lambda: any("below the minimum score are shown" in notice.text() for notice in notices))


def test_escape_in_diagnostics_returns_to_results(qtbot, opened):
    _find(qtbot, opened, "timer")
    opened.panel_actions.focus_explainer()
    qtbot.waitUntil(opened.dock.diagnostics.why.edit.hasFocus)
    qtbot.keyClick(opened.dock.diagnostics.why.edit, Key.Key_Escape)
    assert opened.search.body.list.hasFocus()
    assert opened.dock.diagnostics.isVisible()


def test_hiding_diagnostics_from_inside_returns_to_results(qtbot, opened):
    _find(qtbot, opened, "timer")
    opened.panel_actions.focus_explainer()
    qtbot.waitUntil(opened.dock.diagnostics.why.edit.hasFocus)
    qtbot.keyClick(opened.dock.diagnostics.why.edit, Key.Key_D, Control)
    assert opened.dock.isHidden()
    assert opened.search.body.list.hasFocus()


def test_narrow_window_replaces_file_with_dock(qtbot, opened):
    opened.resize(560, 400)
    qtbot.waitUntil(lambda: opened.width() == 560)
    _find(qtbot, opened, "timer")
    opened.dock.show_explanation()
    assert not opened.viewer.isVisible()
    assert opened.dock.explanation.width() <= 300
    qtbot.waitUntil(lambda: "Result 1 of 3" in _shown_text(opened))


def _press_remedy(qtbot, window: MainWindow, memory, name: RemedyName, **changes) -> None:
    memory.remedies = (SearchRemedy(**{"name": name, "stage": "filters", "advice": "So it is.", **changes}),)
    _find(qtbot, window, "_".join(("zucchini", name, *changes)))
    window.search.focus_list()
    qtbot.keyClick(QApplication.focusWidget(), Key.Key_Space)


def test_excluded_remedy_opens_path_explanation(qtbot, opened, memory):
    _press_remedy(qtbot, opened, memory, "excluded", path="drafts/plan.md")
    qtbot.waitUntil(lambda: memory.explained == ["drafts/plan.md"])
    qtbot.waitUntil(opened.dock.diagnostics.why.edit.hasFocus)
    assert opened.dock.diagnostics.why.edit.text() == "drafts/plan.md"


def test_excluded_remedy_includes_the_type(qtbot, opened, memory):
    folder = opened.workspace.current.folder
    _press_remedy(qtbot, opened, memory, "excluded", path="plan.rtf", extension=".rtf")
    qtbot.waitUntil(lambda: ".rtf" in load_settings(folder).extensions)


def test_tools_remedy_indexes_tool_texts(qtbot, opened, memory):
    folder = opened.workspace.current.folder
    _press_remedy(qtbot, opened, memory, "tools")
    qtbot.waitUntil(lambda: load_settings(folder).sessions.tools)


def test_sync_remedy_starts_sync(qtbot, opened, memory):
    before = len(memory.syncs)
    _press_remedy(qtbot, opened, memory, "sync")
    qtbot.waitUntil(lambda: len(memory.syncs) == before + 1)


def test_other_remedies_open_their_targets(qtbot, opened, memory, monkeypatch):
    expected: dict[RemedyName, str] = {
        "folder": "choose",
        "add-sessions": "add_sessions",
        "skipped": "settings:sources",
        "settings": "settings:embedding",
        "embed": "ask",
    }
    received: list[str] = []
    monkeypatch.setattr(opened.first_run, "choose", lambda: received.append("choose"))
    monkeypatch.setattr(opened.folders, "add_sessions", lambda: received.append("add_sessions"))
    monkeypatch.setattr(opened.settings, "show_page", lambda page: received.append(f"settings:{page}"))
    monkeypatch.setattr(opened.dock.diagnostics, "show_files", lambda which: received.append(f"files:{which}"))
    monkeypatch.setattr(opened.banner, "confirm_embedding", lambda _: received.append("ask"))
    opened_by = {}
    for name in expected:
        received.clear()
        _press_remedy(qtbot, opened, memory, name)
        opened_by[name] = received.copy()
    assert opened_by == {name: [target] for name, target in expected.items()}
    _press_remedy(qtbot, opened, memory, "skipped", stage="index")
    assert received[-1] == "files:skipped"
