"""Data dragged out of the lists."""

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QDrag, QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from engine import PathRefused
from gui.controllers.sharing import MARKDOWN
from gui.widgets.row_list import RowList
from tests.helpers.windows import finish_jobs


class Dropped:
    """The dragged data as the drop target sees them."""

    def __init__(self, drag: QDrag, actions: Qt.DropAction) -> None:
        data = drag.mimeData()
        self.files = [Path(url.toLocalFile()) for url in data.urls()]
        self.text = data.text()
        self.markdown = data.data(MARKDOWN).data().decode()
        self.actions = actions
        self.has_picture = not drag.pixmap().isNull()


@pytest.fixture
def drops(monkeypatch) -> list[Dropped]:
    seen: list[Dropped] = []
    monkeypatch.setattr(QDrag, "exec", lambda drag, actions: seen.append(Dropped(drag, actions)))
    return seen


def _pull(rows: RowList, number: int, *, let_go: bool = False) -> None:
    """Press the mouse on a row and move it away."""
    _pull_from(rows.viewport(), rows.visualRect(rows.rows.index(number)).center(), let_go=let_go)


def _pull_from(port: QWidget, start: QPoint, *, let_go: bool = False) -> None:
    QTest.mousePress(port, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, start)
    for step in (2, QApplication.startDragDistance() + 2, QApplication.startDragDistance() + 9):
        at = QPointF(start + QPoint(step, 0))
        left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
        move = QMouseEvent(QEvent.Type.MouseMove, at, port.mapToGlobal(at), none, left, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(port, move)  # QTest's own moves have no pressed button
    if let_go:
        QTest.mouseRelease(port, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, start)


def _rows_of_results(rows: RowList) -> list[int]:
    return [n for n in range(rows.rows.rowCount()) if not rows.rows.is_header(n)]


def test_dragged_result_has_file_citation_and_quote(qtbot, opened, memory, find, drops):
    find("swapped the CR2032")
    rows = opened.search.body.list
    _pull(rows, _rows_of_results(rows)[0])
    qtbot.waitUntil(lambda: bool(drops))
    [dropped], result = drops, rows.current_result()
    assert dropped.files == [memory.locate(result.path)]
    assert dropped.text == result.citation
    assert dropped.markdown.startswith("> ")
    assert f"`{result.citation}`" in dropped.markdown
    assert dropped.actions == Qt.DropAction.CopyAction  # no file manager may move a note away
    assert dropped.has_picture


def test_dragged_title_is_the_file_of_the_note(qtbot, opened, memory, find, drops):
    find("swapped the CR2032")
    opened.search.body.list.take_focus()
    header = opened.views.viewer.header
    qtbot.waitUntil(lambda: bool(opened.views.viewer.name))
    _pull_from(header, header.title.geometry().center())
    qtbot.waitUntil(lambda: bool(drops))
    assert drops[0].files == [memory.locate(opened.views.viewer.name)]
    assert drops[0].text == opened.views.viewer.name
    assert drops[0].actions == Qt.DropAction.CopyAction


def test_dragged_selection_contains_each_file_once(qtbot, opened, memory, find, drops):
    find("irrigation timer")
    rows = opened.search.body.list
    rows_shown = _rows_of_results(rows)
    rows.take_focus()
    for _ in rows_shown[1:]:
        qtbot.keyClick(rows, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    results = rows.selected_results()
    assert len(results) == len(rows_shown) > 2
    _pull(rows, rows_shown[1])
    qtbot.waitUntil(lambda: bool(drops))
    notes = dict.fromkeys(result.path for result in results if result.source == "memory")
    copies = [file for file in drops[0].files if "mnemoscope-shared-" in str(file)]
    assert [file for file in drops[0].files if file not in copies] == [memory.locate(path) for path in notes]
    assert copies
    assert all(copy.suffix == ".md" for copy in copies)  # sessions, none of them as its transcript
    assert drops[0].text.splitlines() == [result.citation for result in results]
    assert rows.selected_results() == results


def test_click_on_selected_result_selects_only_it(qtbot, opened, find):
    find("irrigation timer")
    rows = opened.search.body.list
    rows_shown = _rows_of_results(rows)
    rows.take_focus()
    qtbot.keyClick(rows, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert len(rows.selected_results()) == 2
    at = rows.visualRect(rows.rows.index(rows_shown[0])).center()
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert rows.selected_results() == (rows.current_result(),)


def test_selection_survives_index_change(qtbot, opened, find):
    find("irrigation timer")
    rows = opened.search.body.list
    rows.take_focus()
    qtbot.keyClick(rows, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    before = rows.selected_results()
    rows.show_rows([rows.rows.row(index) for index in range(rows.rows.rowCount() - 1)], keep=True)
    assert [result.citation for result in rows.selected_results()] == [result.citation for result in before]


def test_early_release_drags_nothing(opened, find, drops, jobs):
    find("irrigation timer")
    rows = opened.search.body.list
    _pull(rows, _rows_of_results(rows)[0], let_go=True)
    finish_jobs(jobs)
    assert not drops or not rows.button_down


def test_dragging_a_file_heading_drops_nothing(opened, find, drops, jobs):
    find("irrigation timer")
    rows = opened.search.body.list
    _pull(rows, 0, let_go=True)
    finish_jobs(jobs)
    assert not drops


def test_note_without_local_file_is_dragged_as_citation(qtbot, opened, memory, find, drops, monkeypatch):
    find("irrigation timer")

    def refuse(_: str) -> Path:
        raise PathRefused

    monkeypatch.setattr(memory, "locate", refuse)
    rows = opened.search.body.list
    _pull(rows, _rows_of_results(rows)[0])
    qtbot.waitUntil(lambda: bool(drops))
    assert drops[0].files == []
    assert drops[0].text == rows.current_result().citation


def test_dragged_session_is_masked_copy(qtbot, opened, memory, drops):
    opened.views.switch("sessions")
    rows = opened.views.sessions.view.list
    qtbot.waitUntil(lambda: rows.current_session() is not None)
    path = rows.current_session().path
    _pull(rows, _rows_of_results(rows)[0])
    qtbot.waitUntil(lambda: bool(drops))
    [copy] = drops[0].files
    assert copy != memory.locate(path)
    assert copy.suffix == ".md"
    assert copy.stat().st_mode & 0o077 == 0
    assert copy.parent.stat().st_mode & 0o077 == 0
    assert copy.read_text("utf-8").startswith("# ")
    assert drops[0].text == path
    assert all(reveal is False for _, reveal in memory.session_reads)
    opened.sharing.close()
    assert not copy.exists()


def test_early_release_of_slow_session_shows_notice(qtbot, opened, memory, drops):
    opened.views.switch("sessions")
    rows = opened.views.sessions.view.list
    qtbot.waitUntil(lambda: rows.current_session() is not None)
    memory.session_delay = 0.6
    _pull(rows, _rows_of_results(rows)[0], let_go=True)
    qtbot.waitUntil(lambda: opened.banner.text.startswith("The content was not ready to drag."))
    assert not drops


def test_copy_actions_use_whole_selection(qtbot, opened, find):
    find("irrigation timer")
    rows = opened.search.body.list
    rows.take_focus()
    qtbot.keyClick(rows, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    both = [result.citation for result in rows.selected_results()]
    qtbot.keyClick(rows, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().splitlines() == both
    next(action for action in rows.actions() if action.text() == "Copy as a Markdown quote").trigger()
    quoted = QGuiApplication.clipboard().text()
    assert quoted.startswith("> ")
    assert all(f"`{citation}`" in quoted for citation in both)
