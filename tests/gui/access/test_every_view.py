"""Every view of the program with the sample notes, as an assistive tool finds it; new views are included."""

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QFileDialog

from gui.app.command_line import view_names
from gui.app.crash_controller import CrashDialog
from tests.helpers.every_view import kind_of
from tests.helpers.spoken import disorder, faults, of, walk, windows

ELSEWHERE: set[str] = {"crash"}
"""Views shown by the program after an error, and tested separately below."""
LEADS_OUT = {"Quit", "Update now", "Rebuild index…"}
"""Commands that end the program, or change the index under the test."""


@pytest.mark.parametrize("kind", ["searches", "settings", "others"])
def test_every_view_has_no_accessibility_faults_and_tab_in_order(program, kind):
    found: dict[str, list[str]] = {}
    for view in (one for one in view_names() if kind_of(one) == kind and one not in ELSEWHERE):
        program.go(view)
        wrong = [fault for surface in windows() for fault in (*faults(surface), *disorder(surface))]
        if wrong:
            found[view] = list(dict.fromkeys(wrong))
    report = "\n".join(f"{view}: {fault}" for view, wrong in found.items() for fault in wrong)
    assert not found, f"\n{report}"


@pytest.mark.qt_log_ignore("grabbing the keyboard", "support raise", extend=True)  # from opened menus
def test_every_command_opens_accessible_windows(program, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    program.go("search")
    for action in program.window.actions():
        if action.isEnabled() and action.text() not in LEADS_OUT:
            action.trigger()
            for _ in range(3):
                QApplication.processEvents()
            wrong = [fault for surface in windows() for fault in faults(surface)]
            assert not wrong, f"{action.text()}: {wrong}"
            program.close_others()


def test_painted_views_expose_role_and_text_of_each_part(program):
    program.go("chunks")
    source = of(program.window.viewer.source)
    assert source.role() == QAccessible.Role.Document
    lines = [one.text(QAccessible.Text.Name) for one in walk(source)][1:]
    assert "22: ## Watering, passage 2 begins" in lines
    program.go("sessions")
    program.window.views.focus_reader()
    conversation = next(one for one in walk(of(program.window)) if one.text(QAccessible.Text.Name) == "Conversation")
    assert conversation.role() == QAccessible.Role.List
    assert conversation.childCount() >= 1
    assert all(
        ": " in conversation.child(index).text(QAccessible.Text.Name) for index in range(conversation.childCount())
    )
    program.go("index")
    charts = [one for one in walk(of(program.window)) if one.role() == QAccessible.Role.Chart]
    names = {one.text(QAccessible.Text.Name).split(":")[0]: one for one in charts}
    assert {"Passage sizes", "On disk", "Map of the index"} <= set(names)
    assert all(one.childCount() for one in charts)
    sizes = names["Passage sizes"]
    assert "characters" in sizes.child(0).text(QAccessible.Text.Name)


def test_crash_dialog_is_accessible(qtbot, program):
    program.window.show()
    dialog = CrashDialog("It broke", "A sentence.", "A report", None, program.window, restart=True)
    assert faults(dialog) + disorder(dialog) == []
    dialog.close()
