"""The table of figures of the listed sessions: unknown numbers, its groups, copying, and how it filters the list."""

from datetime import datetime

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QComboBox, QLabel

from engine import ModelUsage
from gui.sessions.session_figures import FiguresDialog
from gui.sessions.session_list import FIGURES
from gui.text.formatting import short_date
from tests.gui.sessions.conftest import TODAY
from tests.helpers.fake_sessions import make_session_summary
from tests.helpers.session_list import listed_rows

PAID = ModelUsage("claude-opus-4-5", input_tokens=200, output_tokens=300, cache_read_tokens=1000, recorded_cost=2.5)
SESSIONS = (
    make_session_summary("sessions/a/1", id="1", usage=(PAID,)),
    make_session_summary("sessions/a/1/part", id="part", parent="1", usage=(PAID,)),
    make_session_summary("sessions/a/2", id="2", agent="codex", project="", machine="laptop", started=None, ended=None),
)


@pytest.fixture
def dialog(qtbot, jobs, appearance) -> FiguresDialog:
    shown = FiguresDialog(jobs, SESSIONS, "", None)
    qtbot.addWidget(shown)
    with qtbot.waitActive(shown):
        shown.show()
        shown.activateWindow()
    qtbot.waitUntil(lambda: not shown.busy)
    return shown


def cells(dialog: FiguresDialog) -> list[list[str]]:
    model = dialog.table.model()
    return [[model.index(row, at).data() for at in range(model.columnCount())] for row in range(model.rowCount())]


def group(qtbot, dialog: FiguresDialog, key: str) -> list[list[str]]:
    groups = dialog.findChild(QComboBox)
    groups.setCurrentIndex(groups.findData(key))
    qtbot.waitUntil(lambda: not dialog.busy)
    return cells(dialog)


def test_numbers_that_are_not_recorded_are_unknown(dialog) -> None:
    known, unknown = cells(dialog)
    assert known == ["/home/ines/src/greenhouse", "1", "2", "1 h", "2,400", "2,000", "600", "$5.00"]
    assert unknown == ["unknown", "1", "2", *["unknown"] * 5]
    texts = " ".join(label.text() for label in dialog.findChildren(QLabel))
    assert "2 sessions · 4 messages" in texts
    assert "1 session records no tokens." in texts


def test_sessions_are_grouped_on_request(qtbot, dialog) -> None:
    names = {key: [row[0] for row in group(qtbot, dialog, key)] for key in ("agent", "model", "machine", "day")}
    assert names == {
        "agent": ["Claude Code", "Codex"],
        "model": ["claude-opus-4-5", "unknown"],
        "machine": ["this machine", "laptop"],
        "day": [short_date(TODAY), "unknown"],
    }


def test_days_are_named_as_dates_and_in_order_of_time(qtbot, jobs, appearance) -> None:
    days = (datetime(2026, 2, day, 12) for day in (9, 10, 11))
    made = [make_session_summary(f"sessions/a/{day.day}", id=str(day.day), ended=day.timestamp()) for day in days]
    shown = FiguresDialog(jobs, made, "", None)
    qtbot.addWidget(shown)
    group(qtbot, shown, "day")
    shown.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert [row[0] for row in cells(shown)] == ["9 Feb 2026", "10 Feb 2026", "11 Feb 2026"]


def test_date_of_own_prices_may_be_any_text(qtbot, jobs, appearance, tmp_path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text('[[list]]\ndate = "last spring"\n[list.models]\n"gpt-99" = { input = 1, output = 2 }\n')
    shown = FiguresDialog(jobs, SESSIONS, str(own), None)
    qtbot.addWidget(shown)
    qtbot.waitUntil(lambda: not shown.busy)
    assert any("to last spring." in label.text() for label in shown.findChildren(QLabel))


def test_tooltip_shows_tokens_sent_without_cache(dialog) -> None:
    tip = dialog.table.model().index(0, 4).data(Qt.ItemDataRole.ToolTipRole)
    assert "Sent, not cached: 400" in tip
    assert "Read from the cache: 2,000" in tip


def test_enter_on_a_model_chooses_it(qtbot, dialog) -> None:
    assert group(qtbot, dialog, "model")[0][0] == "claude-opus-4-5"
    qtbot.keyClick(dialog.table, Qt.Key.Key_Home)
    with qtbot.waitSignal(dialog.chosen) as chosen:
        qtbot.keyClick(dialog.table, Qt.Key.Key_Return)
    assert chosen.args == ["model", "claude-opus-4-5"]


def test_chosen_model_is_added_to_the_search_text_once(qtbot, panel) -> None:
    panel.search("rope")
    for _ in range(2):
        panel.filter_by("model", "claude-opus-4-5")
        assert panel.view_state.criteria.text == 'rope model:"claude-opus-4-5"'
    qtbot.waitUntil(lambda: not panel.busy)


def test_rows_keep_their_group_until_others_are_read(qtbot, dialog) -> None:
    chosen = []
    dialog.chosen.connect(lambda *filter_: chosen.append(filter_))
    before = cells(dialog)
    groups = dialog.findChild(QComboBox)
    groups.setCurrentIndex(groups.findData("machine"))
    assert cells(dialog) == before
    qtbot.keyClick(dialog.table, Qt.Key.Key_Return)
    assert chosen == [("project", "/home/ines/src/greenhouse")]


def test_copied_table_has_a_heading(qtbot, dialog) -> None:
    qtbot.keyClick(dialog.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    heading, first, *_ = QApplication.clipboard().text().split("\n")
    assert heading == "Name\tSessions\tMessages\tActive time\tSent\tCached\tReceived\tCost"
    assert first.split("\t") == cells(dialog)[0]


def test_enter_filters_the_list_unless_the_name_is_unknown(qtbot, dialog) -> None:
    chosen = []
    dialog.chosen.connect(lambda *filter_: chosen.append(filter_))
    qtbot.keyClick(dialog.table, Qt.Key.Key_Down)
    qtbot.keyClick(dialog.table, Qt.Key.Key_Return)
    assert not chosen
    qtbot.keyClick(dialog.table, Qt.Key.Key_Up)
    qtbot.keyClick(dialog.table, Qt.Key.Key_Return)
    assert chosen == [("project", "/home/ines/src/greenhouse")]
    assert not dialog.isVisible()


def test_figures_are_those_of_the_filtered_list(qtbot, panel) -> None:
    (figures,) = (action for action in panel.view.list.actions() if action.objectName() == FIGURES.name)
    with qtbot.waitSignal(panel.actions.figures.triggered):
        figures.trigger()
    everything = len(panel.view.list.listed_sessions())
    panel.filter_by("agent", "codex")
    assert len(listed_rows(panel)) > 0
    assert 0 < len(panel.view.list.listed_sessions()) < everything
    panel.filter_by("agent", "")
    panel.filter_by("day", f"{TODAY:%Y-%m-%d}")
    assert listed_rows(panel)
    assert {session.path for session in panel.view.list.listed_sessions()}
    assert len(panel.view.list.listed_sessions()) < everything
    panel.search("quagga xylophone")
    qtbot.waitUntil(lambda: not panel.busy)
    assert not figures.isEnabled()
    assert figures.statusTip() == "Select something in the list first."
