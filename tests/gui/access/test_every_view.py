"""Every view of the program with the sample notes, as an assistive tool finds it; a new view comes with them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import pytest
from PySide6.QtCore import QEventLoop
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from gui.accessible.painted import tell_painted
from gui.crash.dialog import CrashDialog
from gui.demo import Demo
from gui.main_window import MainWindow
from gui.options import View
from gui.places import Places
from gui.quick.way import QuickWay
from gui.screenshot import Screenshot
from gui.start_view import show_view
from gui.window_state import WindowState
from gui.workspace import Workspace
from tests.helpers.spoken import disorder, faults, of, walk, windows

ASKED = "irrigation timer"
SEARCHES: set[View] = {"search", "viewer", "chunks", "explanation", "index", "map", "quick"}
ELSEWHERE: set[View] = {"crash", "settings-found"}
"""Shown by the program when something breaks, and tested by itself below; a search over settings that are open already
does not come to rest here."""
LEADS_OUT = {"Quit", "Sync now", "Rebuild index…"}
"""Commands that end the program, or change the index under the test."""


class Arrival(Screenshot):
    """Comes when a picture would be taken."""

    def _save(self) -> None:
        self._end("")


@dataclass
class Program:
    """The window with the sample notes, and a way to each of its views."""

    qtbot: object
    window: MainWindow
    quick: QuickWay
    demo: Demo
    scratch: Path
    shown: set[QWidget] = field(default_factory=set)

    def go(self, view: View) -> None:
        self.close_others()
        if view == "first-run":
            self.window.folders.ask()
        else:
            if self.window.workspace.status is None or self.window.pages.currentWidget() is self.window.first_run:
                self.window.folders.open(self.demo.workspace)
            show_view(self.window, view, "")
        query = ASKED if view in SEARCHES else ""
        if view == "quick":
            self.quick.quick.call_up("")
        arrival = Arrival(self.window, self.quick.quick, view, query, self.scratch / "never.png")
        with self.qtbot.waitSignal(arrival.finished, timeout=100_000) as done:
            pass
        assert done.args == [""], view
        arrival.deleteLater()

    def close_others(self) -> None:
        for other in windows():
            if other is not self.window:
                other.close()
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)


@pytest.fixture
def program(qtbot, appearance, jobs, tmp_path) -> Iterator[Program]:
    tell_painted()
    demo = Demo()
    workspace = Workspace(jobs, config=demo.config, store_path=str(demo.store), prepare=demo.fill)
    with appearance.bare():
        window = MainWindow(workspace, jobs, appearance, WindowState(), places=Places(demo.config), remembers=False)
    qtbot.addWidget(window)
    window.show()
    program = Program(qtbot, window, QuickWay(window, workspace, jobs), demo, tmp_path)
    yield program
    program.close_others()
    program.quick.quick.deleteLater()
    assert window.shut_down(5000)
    demo.close()


def _kind(view: View) -> str:
    return "settings" if view.startswith("settings") else "searches" if view in SEARCHES else "others"


@pytest.mark.parametrize("kind", ["searches", "settings", "others"])
def test_every_view_says_what_can_be_done_in_it_and_tab_follows_the_eye(program, kind):
    found: dict[str, list[str]] = {}
    for view in (one for one in get_args(View) if _kind(one) == kind and one not in ELSEWHERE):
        program.go(view)
        wrong = [fault for shown in windows() for fault in (*faults(shown), *disorder(shown))]
        if wrong:
            found[view] = list(dict.fromkeys(wrong))
    told = "\n".join(f"{view}: {fault}" for view, wrong in found.items() for fault in wrong)
    assert not found, f"\n{told}"


@pytest.mark.qt_log_ignore("grabbing the keyboard", "support raise", extend=True)  # by a menu: there is none here
def test_every_command_leads_to_what_can_be_heard(program, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    program.go("search")
    for action in program.window.actions():
        if action.isEnabled() and action.text() not in LEADS_OUT:
            action.trigger()
            for _ in range(3):
                QApplication.processEvents()
            wrong = [fault for shown in windows() for fault in faults(shown)]
            assert not wrong, f"{action.text()}: {wrong}"
            program.close_others()


def test_what_is_painted_has_a_role_and_words_for_each_part(program):
    program.go("chunks")
    source = of(program.window.viewer._source)
    assert source.role() == QAccessible.Role.Document
    lines = [one.text(QAccessible.Text.Name) for one in walk(source)][1:]
    assert "22: ## Watering, chunk 2 begins" in lines
    program.go("sessions")
    program.window.views.focus_reader()
    conversation = next(one for one in walk(of(program.window)) if one.text(QAccessible.Text.Name) == "Conversation")
    assert conversation.role() == QAccessible.Role.List
    assert conversation.childCount() >= 1
    assert all(
        ": " in conversation.child(place).text(QAccessible.Text.Name) for place in range(conversation.childCount())
    )
    program.go("index")
    charts = [one for one in walk(of(program.window)) if one.role() == QAccessible.Role.Chart]
    said = {one.text(QAccessible.Text.Name).split(":")[0]: one for one in charts}
    assert {"Chunk sizes", "On disk", "Map of the index"} <= set(said)
    assert all(one.childCount() for one in charts)
    sizes = said["Chunk sizes"]
    assert "characters" in sizes.child(0).text(QAccessible.Text.Name)


def test_the_report_of_an_error_can_be_heard(qtbot, program):
    program.window.show()
    dialog = CrashDialog("It broke", "A sentence.", "A report", None, program.window, restart=True)
    assert faults(dialog) + disorder(dialog) == []
    dialog.close()
