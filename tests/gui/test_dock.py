"""The dock of the whole window: diagnostics or explanation, and the targets of an empty answer's buttons."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from engine import RemedyName, SearchRemedy
from gui.window.main_window import MainWindow

Key = Qt.Key
Control = Qt.KeyboardModifier.ControlModifier


def _find(qtbot, window: MainWindow, query: str) -> None:
    window.search.search(query)
    qtbot.waitUntil(lambda: not window.search.busy)


def _said(window: MainWindow) -> str:
    return " | ".join(part.text() for part in window.explanation.findChildren(QLabel) if part.isVisible())


def test_a_key_shows_and_hides_why_a_result_is_found(qtbot, opened):
    _find(qtbot, opened, "timer")
    opened.search.focus_results()
    results = QApplication.focusWidget()
    qtbot.keyClick(results, Key.Key_I, Control)
    qtbot.waitUntil(lambda: "Number 1 of 3 results" in _said(opened))
    assert results.hasFocus()  # the selection continues, and the explanation follows
    qtbot.keyClick(results, Key.Key_Down)
    qtbot.waitUntil(lambda: "Number 2 of 3 results" in _said(opened))
    qtbot.keyClick(results, Key.Key_I, Control)
    assert opened.dock.isHidden()


def test_the_key_leads_back_from_inside_of_it(qtbot, opened):
    _find(qtbot, opened, "timer")
    opened.dock.show_explanation()
    fold = next(b for b in opened.explanation.findChildren(QPushButton) if b.text() == "All figures")
    fold.setFocus()
    qtbot.keyClick(fold, Key.Key_I, Control)
    assert opened.dock.isHidden()
    assert opened.search.body.list.hasFocus()


def test_dock_returns_to_diagnostics(qtbot, opened):
    opened.dock.show_explanation()
    qtbot.keyClick(opened, Key.Key_D, Control)
    assert opened.diagnostics.isVisible()
    assert not opened.explanation.isVisible()
    opened.dock.show_explanation()
    opened.panes.toggle_dock()
    opened.panes.toggle_dock()
    assert opened.diagnostics.isVisible()


def test_from_another_view_the_key_leads_to_the_search(qtbot, opened):
    opened.views.switch("sessions")
    qtbot.keyClick(opened, Key.Key_I, Control)
    assert opened.views.current == "search"
    assert opened.explanation.isVisible()


def test_closing_leads_back_to_the_results(qtbot, opened):
    _find(qtbot, opened, "timer")
    opened.dock.show_explanation()
    close = next(b for b in opened.explanation.findChildren(QPushButton) if b.accessibleName().startswith("Close"))
    qtbot.mouseClick(close, Qt.MouseButton.LeftButton)
    assert opened.dock.isHidden()
    assert opened.search.body.list.hasFocus()


def test_escape_leads_back_from_the_diagnostics(qtbot, opened):
    _find(qtbot, opened, "timer")
    opened.panel_actions.ask_why()
    qtbot.waitUntil(opened.diagnostics.why.edit.hasFocus)
    qtbot.keyClick(opened.diagnostics.why.edit, Key.Key_Escape)
    assert opened.search.body.list.hasFocus()
    assert opened.diagnostics.isVisible()


def test_hiding_diagnostics_restores_focus(qtbot, opened):
    _find(qtbot, opened, "timer")
    opened.panel_actions.ask_why()
    qtbot.waitUntil(opened.diagnostics.why.edit.hasFocus)
    qtbot.keyClick(opened.diagnostics.why.edit, Key.Key_D, Control)
    assert opened.dock.isHidden()
    assert opened.search.body.list.hasFocus()


def test_in_a_narrow_window_it_takes_the_files_place(qtbot, opened):
    opened.resize(560, 400)
    qtbot.waitUntil(lambda: opened.width() == 560)
    _find(qtbot, opened, "timer")
    opened.dock.show_explanation()
    assert not opened.viewer.isVisible()
    assert opened.explanation.width() <= 300
    qtbot.waitUntil(lambda: "Number 1 of 3 results" in _said(opened))


def _press_remedy(qtbot, window: MainWindow, memory, name: RemedyName, **changes) -> None:
    memory.remedies = (SearchRemedy(name=name, stage="filters", advice="So it is.", **changes),)
    _find(qtbot, window, "zucchini")
    window.search.focus_results()
    qtbot.keyClick(QApplication.focusWidget(), Key.Key_Space)


def test_a_file_that_is_left_out_leads_to_why(qtbot, opened, memory):
    _press_remedy(qtbot, opened, memory, "excluded", path="drafts/plan.md")
    qtbot.waitUntil(lambda: memory.explained == ["drafts/plan.md"])
    qtbot.waitUntil(opened.diagnostics.why.edit.hasFocus)
    assert opened.diagnostics.why.edit.text() == "drafts/plan.md"


def test_an_update_can_be_begun_from_an_empty_answer(qtbot, opened, memory):
    before = len(memory.syncs)
    _press_remedy(qtbot, opened, memory, "sync")
    qtbot.waitUntil(lambda: len(memory.syncs) == before + 1)


@pytest.mark.parametrize(
    ("name", "done"),
    [("folder", "choose"), ("add-sessions", "add_sessions"), ("settings", "settings:embedding"), ("embed", "ask")],
)
def test_other_remedies_reach_targets(qtbot, opened, memory, monkeypatch, name, done):
    heard: list[str] = []
    monkeypatch.setattr(opened.first_run, "choose", lambda: heard.append("choose"))
    monkeypatch.setattr(opened.folders, "add_sessions", lambda: heard.append("add_sessions"))
    monkeypatch.setattr(opened.settings, "show_page", lambda page: heard.append(f"settings:{page}"))
    monkeypatch.setattr(opened.banner, "ask_to_embed", lambda _: heard.append("ask"))
    _press_remedy(qtbot, opened, memory, name)
    assert heard == [done]
