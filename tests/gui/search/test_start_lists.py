"""The lists of the page before the first query."""

import pytest
from PySide6.QtWidgets import QLabel

from engine import ChangedNote
from gui.search.start_page import StartContent, StartLists
from gui.widgets.placeholder_page import ElidedButton


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_dates_are_not_cut_in_narrow_list(qtbot, appearance, scale):
    appearance.set_font_scale(scale)
    note = ChangedNote(path="a.md", title="A title that is much longer than the list is wide", modified=1_700_000_000.0)
    lists = StartLists()
    lists.show_content(StartContent(notes=(note,)))
    qtbot.addWidget(lists)
    lists.resize(300, 400)
    with qtbot.waitExposed(lists):
        lists.show()
    [date] = [label for label in lists.findChildren(QLabel) if "2023" in label.text()]
    qtbot.waitUntil(lambda: date.width() >= date.fontMetrics().horizontalAdvance(date.text()))


def test_remarks_do_not_widen_narrow_list(qtbot, appearance):
    appearance.set_font_scale(2.0)
    lists = StartLists()
    lists.show_content(StartContent(example="a question in another language"))
    qtbot.addWidget(lists)
    with qtbot.waitExposed(lists):
        lists.show()
    assert lists.minimumSizeHint().width() <= 330


def test_remarks_stand_below_links_in_narrow_list(qtbot, appearance):
    lists = StartLists()
    lists.show_content(StartContent(example="travel plans", has_map=True))
    qtbot.addWidget(lists)
    lists.resize(180, 400)
    with qtbot.waitExposed(lists):
        lists.show()
    remark = next(label for label in lists.findChildren(QLabel) if label.text() == "a search by meaning")
    [link] = [button for button in lists.findChildren(ElidedButton) if "travel" in button.visible_label]
    assert remark.width() >= remark.fontMetrics().horizontalAdvance(remark.text())
    assert link.visible_label == "“travel plans”"
    assert remark.y() >= link.geometry().bottom()
    lists.resize(400, 400)
    qtbot.waitUntil(lambda: remark.x() > link.geometry().right())
