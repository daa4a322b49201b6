from datetime import date

from PySide6.QtCore import QObject

from gui.sessions.panel import DateChange, SessionsPanel
from tests.helpers.fake_sessions import NOW
from tests.helpers.session_list import listed_rows


def test_day_change_is_signalled_once(qtbot):
    days = [date(2026, 2, 11)]
    parent = QObject()
    watch = DateChange(lambda: days[-1], parent)
    received = []
    watch.changed.connect(lambda: received.append(days[-1]))
    watch.check()
    assert received == []
    days.append(date(2026, 2, 12))
    watch.check()
    watch.check()
    assert received == [date(2026, 2, 12)]


def test_headings_update_after_midnight(qtbot, jobs, memory):
    days = [date.fromtimestamp(NOW)]
    panel = SessionsPanel(jobs, today=lambda: days[-1])
    qtbot.addWidget(panel.header)
    qtbot.addWidget(panel.body)
    panel.set_manager(memory)
    qtbot.waitUntil(lambda: not panel.busy and panel.view.has_rows)
    rows = panel.view.list.rows
    assert rows.row(0).title == "Today"
    days.append(date.fromordinal(days[-1].toordinal() + 1))
    panel.findChild(DateChange).check()
    assert listed_rows(panel)[0].title == "Yesterday"
    panel.set_manager(None)
