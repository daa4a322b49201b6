"""More like this: the passage for a selection, a page and a found part."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QTextCursor
from PySide6.QtWidgets import QMenu

from engine import LAST_LINE, Passage
from gui.viewer.panel import ViewerPanel
from tests.helpers.fake_memory import FakeMemory

GREENHOUSE = "projects/greenhouse.md"


def want(qtbot, panel: ViewerPanel) -> list[object]:
    with qtbot.waitSignal(panel.more_requested) as signal:
        panel.similar.action.trigger()
    return signal.args


def test_without_selection_found_part_is_used(qtbot, panel: ViewerPanel, show, find) -> None:
    result = find("timer battery", GREENHOUSE)
    show(result, "timer")
    passage, words = want(qtbot, panel)
    assert passage == Passage(path=GREENHOUSE, start_line=result.start_line, end_line=result.end_line)
    assert words.startswith("## Watering\n\nThe timer on the drip irrigation")


def test_without_result_line_in_view_is_used(qtbot, panel: ViewerPanel, show) -> None:
    show("topics/shopping.md")
    passage, _ = want(qtbot, panel)
    assert passage == Passage(path="topics/shopping.md", start_line=1, end_line=1)


def test_selection_is_used_with_its_lines(qtbot, panel: ViewerPanel, show) -> None:
    show(GREENHOUSE)
    panel.source.selection.select((9, 4), (10, 6))
    assert want(qtbot, panel) == [
        Passage(
            path=GREENHOUSE,
            start_line=9,
            end_line=10,
            text="timer on the drip irrigation skipped Tuesday again; the valve\nsticks",
        ),
        "timer on the drip irrigation skipped Tuesday again; the valve\nsticks",
    ]


def test_long_selection_is_truncated(qtbot, panel: ViewerPanel, show, memory) -> None:
    memory.files["long.md"] = "".join(f"line {number}\n" for number in range(1, 500))
    show("long.md")
    panel.source.select_all()
    passage, _ = want(qtbot, panel)
    assert (passage.start_line, passage.end_line) == (1, 200)
    assert passage.text == "".join(f"line {number}\n" for number in range(1, 201))


def test_long_selection_is_not_cut_within_a_secret(qtbot, panel: ViewerPanel, show, memory) -> None:
    memory.files["key.md"] = "word " * 797 + "ghp_" + "aB3dE6gH9j" * 4 + " more\n"
    show("key.md")
    panel.source.select_all()
    passage, _ = want(qtbot, panel)
    assert passage.text == "word " * 797


def test_page_selection_covers_whole_file(qtbot, panel: ViewerPanel, show, memory) -> None:
    memory.files["page.md"] = "# Head\n\nSome **bold** words.\n\n- one\n- two\n"
    panel.choose_rendered(True)
    show("page.md")
    qtbot.waitUntil(lambda: panel.page is panel.rendered)
    assert want(qtbot, panel)[0] == Passage(path="page.md", start_line=1, end_line=1)
    cursor = panel.rendered.textCursor()
    cursor.select(QTextCursor.SelectionType.Document)
    panel.rendered.setTextCursor(cursor)
    passage, _ = want(qtbot, panel)
    assert passage == Passage(path="page.md", start_line=1, end_line=LAST_LINE, text="Head\nSome bold words.\none\ntwo")


def test_page_menu_offers_more_like_this(qtbot, panel: ViewerPanel, show, memory, monkeypatch) -> None:
    menus: list[list[str]] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, at: menus.append([action.text() for action in menu.actions()]))
    panel.choose_rendered(True)
    show(GREENHOUSE)
    qtbot.waitUntil(lambda: panel.page is panel.rendered)
    at = panel.rendered.rect().center()
    panel.rendered.contextMenuEvent(QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, at))
    assert "More like this" in menus[-1]
    for menu in panel.rendered.findChildren(QMenu):
        menu.deleteLater()


def test_alt_m_works_anywhere_in_viewer_with_a_file(qtbot, panel: ViewerPanel, show) -> None:
    assert not panel.similar.action.isEnabled()
    show(GREENHOUSE)
    with qtbot.waitActive(panel):
        panel.activateWindow()
    panel.setFocus()
    with qtbot.waitSignal(panel.more_requested):
        qtbot.keyClick(panel.source, Qt.Key.Key_M, Qt.KeyboardModifier.AltModifier)
    panel.clear()
    assert not panel.similar.action.isEnabled()


def test_read_failure_is_shown(qtbot, panel: ViewerPanel, show, memory: FakeMemory, monkeypatch) -> None:
    show(GREENHOUSE)

    def fail(*_: object) -> str:
        raise OSError("The disk went away.")

    monkeypatch.setattr(panel.source.lines, "full_lines", fail)
    panel.similar.action.trigger()
    qtbot.waitUntil(panel.hint.isVisible)
