import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from gui.core.session_criteria import Criteria
from gui.sessions.rows import HeadingRow, build_listing, build_similar
from gui.sessions.session_catalog import make_catalogue
from gui.sessions.session_list import SessionModel
from tests.helpers.fake_sessions import SESSIONS, VALVE, many_summaries

Role = Qt.ItemDataRole
CATALOGUE = make_catalogue(session.summary for session in SESSIONS.values())


@pytest.fixture
def model(qtbot, today) -> SessionModel:
    model = SessionModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, model)
    model.set_rows(build_listing(CATALOGUE, Criteria(), {VALVE: 2}, {VALVE}, today).rows)
    return model


def test_session_model_passes_qt_model_tester(model):
    assert model.rowCount() == 18
    assert model.rowCount(model.index(0)) == 0
    assert not model.flags(model.index(0)) & Qt.ItemFlag.ItemIsSelectable
    assert model.flags(model.index(1)) & Qt.ItemFlag.ItemIsSelectable
    assert model.position(("session", VALVE)) == model.first_position() == 1
    model.set_rows(())
    assert model.rowCount() == 0
    assert model.first_position() == model.position(("session", VALVE)) == -1


@given(st.lists(st.integers(0, 12), unique=True), st.lists(st.integers(0, 12), unique=True))
def test_changed_rows_keep_persistent_indexes(before, after):
    def rows(numbers):
        return [HeadingRow(str(number), number) for number in numbers]

    model = SessionModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, model)
    model.set_rows(rows(before))
    marks = {number: QPersistentModelIndex(model.index(place)) for place, number in enumerate(before)}
    resets = []
    model.modelReset.connect(lambda: resets.append(True))
    assert model.change_rows(rows(after))
    assert [row.sessions for row in model.all] == after
    assert not resets
    for number, mark in marks.items():
        assert mark.row() == (after.index(number) if number in after else -1)
        assert model.position(("heading", str(number))) == mark.row()


def test_many_changed_rows_are_replaced(model, today):
    rows = build_listing(make_catalogue(many_summaries(200)), Criteria(), {}, (), today).rows
    before = list(model.all)
    assert not model.change_rows(rows)
    assert model.all == before


def test_rows_with_equal_keys_are_replaced():
    model = SessionModel()
    day, month, year = before = [HeadingRow(title, 1) for title in ("Today", "July", "2025")]
    model.set_rows(before)
    assert not model.change_rows([year, month, month, day])
    assert model.all == before


def test_rows_have_full_accessible_text(model):
    spoken = [model.index(index).data(Role.AccessibleTextRole) for index in range(3)]
    assert spoken[0] == "Today, 2 sessions"
    assert spoken[1] == (
        "Fix the valve controller. Claude Code. greenhouse. 38 messages. 1 h 30 min. 2 matches. 1 sub-agent shown"
    )
    assert spoken[2].startswith("Sub-agent. Find unsettled relay reads. ")


def test_similarity_is_in_accessible_heading(model):
    model.set_rows(build_similar(CATALOGUE, [(SESSIONS[VALVE].summary, 0.812)]))
    assert model.index(0).data(Role.DisplayRole).endswith("similarity 0.81")


def test_tooltips_show_full_project_and_path(model):
    tip = model.index(1).data(Role.ToolTipRole)
    assert "/home/ines/src/greenhouse (branch fix/valve)" in tip
    assert VALVE in tip
    assert "unknown" not in tip
    assert model.index(0).data(Role.ToolTipRole) is None


def test_unknown_items_are_in_tooltip_and_accessible_text(model, today):
    summary = msgspec.structs.replace(SESSIONS[VALVE].summary, unknown=3)
    model.set_rows(build_listing(make_catalogue([summary]), Criteria(), {}, (), today).rows)
    for role in (Role.ToolTipRole, Role.AccessibleTextRole):
        assert "3 entries of unknown type" in model.index(1).data(role)
