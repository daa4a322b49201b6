"""The guide in use: by keyboard, by links, in a narrow window, and from its entry points."""

import pytest
from PySide6.QtCore import QRect, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QListWidget, QPushButton

from engine import set_language
from gui.commands.keymap import keymap
from gui.help.guide_window import ITEM_SIDES, GuideWindow
from gui.help.pages import page_names
from gui.viewer.base_viewer import LinkFollower
from gui.viewer.rendered_view import RenderedView
from gui.widgets.buttons import open_guide


@pytest.fixture
def guide(qtbot, window) -> GuideWindow:
    window.guide.show()
    guide = window.guide.dialog
    with qtbot.waitActive(guide):
        guide.activateWindow()
    qtbot.waitUntil(lambda: guide.ready)
    yield guide
    guide.close()


def _box(guide) -> QLineEdit:
    return guide.findChild(QLineEdit)


def _list(guide) -> QListWidget:
    return guide.findChild(QListWidget)


def _text(guide) -> RenderedView:
    return guide.findChild(RenderedView)


def _type(guide, words: str) -> None:
    QTest.keyClicks(_box(guide), words)


def _follow(guide, target: str) -> None:
    _text(guide).anchorClicked.emit(QUrl(target))


def _page_text(guide) -> str:
    return _text(guide).toPlainText()


def test_guide_opens_first_page_and_lists_all(guide):
    assert guide.location == ("first-steps", "")
    assert _list(guide).count() == len(page_names())
    assert "Choose a folder" in _page_text(guide)
    assert keymap().first_key("view.search") in _page_text(guide)


def test_title_of_any_length_is_whole(guide):
    pages = _list(guide)
    item = pages.item(0)
    room = QRect(0, 0, pages.viewport().width() - ITEM_SIDES, 999)
    cut = []
    for length in range(18, 36):
        item.setText(("engines and models " * 2)[:length])
        pages.doItemsLayout()
        needed = pages.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, item.text())
        if pages.visualItemRect(item).height() < needed.height():
            cut.append(item.text())
    assert cut == []


def test_search_opens_matching_section(qtbot, guide):
    _type(guide, "telemetry")
    qtbot.waitUntil(lambda: guide.ready and guide.location[0] == "privacy")
    assert "no telemetry" in _page_text(guide)
    _box(guide).clear()
    assert _list(guide).count() == len(page_names())


def test_no_match_shows_nothing_found(qtbot, guide):
    _type(guide, "xyzzyq")
    qtbot.waitUntil(lambda: _list(guide).count() == 0)
    assert "Nothing found" in [label.text() for label in guide.findChildren(QLabel) if label.isVisible()]


def test_keys_move_between_box_list_and_page(qtbot, guide):
    QTest.keyClick(_box(guide), Qt.Key.Key_Down)
    assert _list(guide).hasFocus()
    QTest.keyClick(_list(guide), Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: guide.ready and guide.location[0] == "searching")
    QTest.keyClick(_list(guide), Qt.Key.Key_Return)
    assert _text(guide).hasFocus()
    QTest.keyClick(_text(guide), Qt.Key.Key_Escape)
    assert _list(guide).hasFocus()
    QTest.keyClick(_list(guide), Qt.Key.Key_Escape)
    assert _box(guide).hasFocus()
    _type(guide, "map")
    QTest.keyClick(_box(guide), Qt.Key.Key_Escape)
    assert _box(guide).text() == ""
    QTest.keyClick(_box(guide), Qt.Key.Key_Escape)
    assert not guide.isVisible()


def test_links_open_pages_and_back_returns(qtbot, guide):
    _follow(guide, "query-language.md#Dates")
    qtbot.waitUntil(lambda: guide.ready and guide.location == ("query-language", "Dates"))
    qtbot.waitUntil(lambda: _text(guide).verticalScrollBar().value() > 0)
    guide.back()
    qtbot.waitUntil(lambda: guide.ready and guide.location == ("first-steps", ""))


def test_command_link_runs_window_command(qtbot, guide, window):
    _follow(guide, "command:view.facts")
    assert window.views.current == "facts"


def test_unavailable_command_shows_remark(guide, window):
    _follow(guide, "command:index.sync")
    visible_texts = [label.text() for label in guide.findChildren(QLabel) if label.isVisible()]
    assert "“Update now” isn't available right now." in visible_texts


def test_setting_link_opens_its_row(qtbot, opened):
    opened.guide.show_page("searching")
    qtbot.waitUntil(lambda: opened.guide.dialog.ready)
    _follow(opened.guide.dialog, "setting:query.min_score")
    dialog = opened.settings.dialog
    assert dialog.isVisible()
    assert dialog.query_field.text() == "query.min_score"
    dialog.close_without_saving()
    opened.guide.dialog.close()


@pytest.mark.parametrize("target", ["command:index.rebuild", "setting:provider", "mnemoscope-guide:privacy"])
def test_note_links_cannot_run_commands(qtbot, jobs, memory, target, monkeypatch):
    opened, notices = [], []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    links = LinkFollower(jobs, jobs)
    links.notified.connect(notices.append)
    links.follow(QUrl(target), "a.md", memory)
    assert opened == []
    assert notices == ["This kind of link can't be opened."]


def test_learn_more_opens_its_page(qtbot, window):
    open_guide("facts")
    guide = window.guide.dialog
    qtbot.waitUntil(lambda: guide.ready and guide.location[0] == "facts")
    assert guide.isVisible()
    guide.close()


def test_empty_answer_opens_guide(qtbot, opened):
    opened.search.search("xyzzyq")
    qtbot.waitUntil(lambda: not opened.search.busy)
    page = opened.search.body.page
    next(button for button in page.findChildren(QPushButton) if button.text() == "Learn more").click()
    guide = opened.guide.dialog
    qtbot.waitUntil(lambda: guide.ready and guide.location[0] == "not-found")
    guide.close()


def test_narrow_window_shows_list_or_page(qtbot, guide):
    guide.resize(480, 400)
    assert _text(guide).isVisible()
    assert not _list(guide).isVisible()
    next(button for button in guide.findChildren(QPushButton) if button.text() == "Contents").click()
    assert _list(guide).isVisible()
    assert not _text(guide).isVisible()
    QTest.keyClick(_list(guide), Qt.Key.Key_Down)
    QTest.keyClick(_list(guide), Qt.Key.Key_Return)
    assert _text(guide).isVisible()
    QTest.keyClick(guide, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    _type(guide, "map")
    qtbot.waitUntil(lambda: _list(guide).isVisible() and _list(guide).item(0).text() == "Map\nThe index")


def test_changed_keys_appear_immediately(qtbot, guide):
    keymap().set_own({"view.search": ["Ctrl+Alt+9"]})
    try:
        qtbot.waitUntil(lambda: guide.ready and "Ctrl+Alt+9" in _page_text(guide))
    finally:
        keymap().set_own({})
    qtbot.waitUntil(lambda: guide.ready and "Ctrl+Alt+9" not in _page_text(guide))


def test_guide_closes_with_window(guide, window):
    window.close()
    assert not guide.isVisible()


def test_guide_uses_window_language(qtbot, window):
    set_language("de")
    try:
        window.guide.show_page("privacy")
        guide = window.guide.dialog
        qtbot.waitUntil(lambda: guide.ready)
        assert "keine Telemetrie" in _page_text(guide)
        assert _list(guide).item(0).text() == "Erste Schritte"
        _box(guide).setText("Dubletten")
        qtbot.waitUntil(lambda: guide.ready and guide.location == ("index-view", "Dubletten"))
        guide.close()
    finally:
        set_language("en")
