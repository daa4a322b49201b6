"""The calendar above the session list: its days, and how it filters the list."""

from datetime import date, timedelta

import pytest
from PySide6.QtCore import QPoint, Qt

from gui.core.session_criteria import PERIODS, Criteria, day_period
from gui.sessions.rows import SessionRow, build_listing
from gui.sessions.session_catalog import make_catalogue
from gui.sessions.session_figures import count_days
from tests.gui.sessions.conftest import TODAY
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import NOW, make_session, make_session_summary
from tests.helpers.session_list import listed_rows

DAY = 86_400
EVERY = Criteria()


def days_of(*sessions, criteria=EVERY, today=TODAY):
    found = count_days(make_catalogue(sessions), criteria, today)
    return {found.day(index): count for index, count in enumerate(found.counts) if count}


def lasting(first: float, last: float, **more):
    return make_session_summary(f"sessions/a/{first}-{last}", started=NOW + first * DAY, ended=NOW + last * DAY, **more)


def test_session_counts_on_each_day_from_first_to_last():
    found = days_of(lasting(-2, 0), lasting(-1, -1))
    assert found == {TODAY: 1, TODAY - timedelta(days=1): 2, TODAY - timedelta(days=2): 1}


def test_days_without_a_message_do_not_count():
    resumed = lasting(-300, 0, pauses=((NOW - 300 * DAY, NOW - 9 * DAY), (NOW - 9 * DAY, NOW)))
    assert days_of(resumed) == {TODAY - timedelta(days=back): 1 for back in (0, 9, 300)}
    assert days_of(resumed, lasting(-9, -8))[TODAY - timedelta(days=9)] == 2
    catalogue = make_catalogue([resumed])
    for back, sessions in ((300, 1), (299, 0), (10, 0), (9, 1), (8, 0), (0, 1)):
        chosen = Criteria(period=day_period(TODAY - timedelta(days=back)))
        assert build_listing(catalogue, chosen, {}, (), TODAY).sessions == sessions
    assert build_listing(catalogue, Criteria(period=PERIODS[2]), {}, (), TODAY).sessions == 1


def test_session_without_an_end_counts_on_its_first_and_last_day():
    catalogue = [make_session_summary(started=NOW - 300 * DAY, ended=None, modified=NOW - 2 * DAY)]
    assert days_of(*catalogue) == {TODAY - timedelta(days=back): 1 for back in (2, 300)}
    assert days_of(make_session_summary(started=NOW, ended=None, modified=NOW)) == {TODAY: 1}


def test_days_of_the_chosen_agent_and_project_only():
    sessions = (lasting(0, 0, agent="codex"), lasting(-1, -1, project="/other"))
    assert days_of(*sessions, criteria=Criteria(agent="codex")) == {TODAY: 1}
    assert days_of(*sessions, criteria=Criteria(project="/other")) == {TODAY - timedelta(days=1): 1}


def test_calendar_begins_on_monday_and_ends_today():
    found = count_days(make_catalogue([lasting(0, 0)]), Criteria(), TODAY)
    assert found.first.weekday() == 0
    assert found.day(len(found.counts) - 1) == TODAY
    assert 52 * 7 < len(found.counts) <= 53 * 7


def test_old_sessions_end_the_calendar_with_the_last_one():
    old = lasting(-900, -800)
    assert days_of(old)[TODAY - timedelta(days=800)] == 1


@pytest.mark.parametrize("times", [(None, None), (-1e300, 1e300)])
def test_sessions_without_a_day_have_no_calendar(times):
    session = make_session_summary(started=times[0], ended=times[1])
    assert count_days(make_catalogue([session]), Criteria(), TODAY).counts == ()


def test_thousands_of_long_sessions_are_counted_per_day():
    found = days_of(*(lasting(-5000, 10, id=str(number)) for number in range(2000)))
    assert set(found.values()) == {2000}


# --- in the window -----------------------------------------------------------------------------------------------


@pytest.fixture
def panel(show_panel):
    turns = [("user", [("text", "Hello")])]
    made = [
        make_session(turns, path=f"sessions/a/{number}", title=f"Session {number}", started=NOW - number * DAY)
        for number in (0, 1, 1.01, 9)
    ]
    memory = FakeMemory(sessions={session.summary.path: session for session in made})
    yield show_panel(memory)
    memory.close()


def listed(panel) -> list[str]:
    return [row.entry.title for row in listed_rows(panel) if isinstance(row, SessionRow)]


def rect_of_mark(calendar, day: date) -> QPoint:
    index = next(index for index, mark in enumerate(calendar.series.marks) if mark.key == day.isoformat())
    return calendar.rect_of_mark(index).center().toPoint()


def test_click_on_a_day_lists_its_sessions_and_again_all(qtbot, panel):
    calendar = panel.view.calendar
    assert calendar.isVisible()
    yesterday = rect_of_mark(calendar, TODAY - timedelta(days=1))
    qtbot.mouseClick(calendar, Qt.MouseButton.LeftButton, pos=yesterday)
    assert listed(panel) == ["Session 1", "Session 1.01"]
    assert panel.chips.period.only_day == TODAY - timedelta(days=1)
    qtbot.mouseClick(calendar, Qt.MouseButton.LeftButton, pos=yesterday)
    assert len(listed(panel)) == 4


def test_keys_move_by_day_and_week_and_enter_filters(qtbot, panel):
    calendar = panel.view.calendar
    calendar.setFocus()
    for key in (Qt.Key.Key_End, Qt.Key.Key_Up, Qt.Key.Key_Up, Qt.Key.Key_Left):
        qtbot.keyClick(calendar, key)
    assert calendar.mark().key == (TODAY - timedelta(days=9)).isoformat()
    assert "1 session" in calendar.accessibleName()
    qtbot.keyClick(calendar, Qt.Key.Key_Return)
    assert listed(panel) == ["Session 9"]


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_focus_frame_covers_no_outline_of_a_day(appearance, panel, scale):
    appearance.set_font_scale(scale)
    calendar = panel.view.calendar
    frame = calendar.focus_frame().adjusted(1, 1, -1, -1)
    rects = [calendar.rect_of_mark(index) for index in range(len(calendar.series.marks))]
    assert all(frame.contains(rect.adjusted(-1, -1, 1, 1)) for rect in rects if rect.isValid())


def test_squares_follow_sessions_theme_and_size(appearance, panel):
    calendar = panel.view.calendar

    def colour(day):
        scale = calendar.devicePixelRatio()
        return calendar.grab().toImage().pixelColor(rect_of_mark(calendar, day) * scale).name()

    filled, empty = colour(TODAY - timedelta(days=1)), colour(TODAY - timedelta(days=4))
    assert filled != empty
    calendar.show_days(count_days(make_catalogue([lasting(-4, -4)]), EVERY, TODAY), None)
    assert (colour(TODAY - timedelta(days=1)), colour(TODAY - timedelta(days=4))) == (empty, filled)
    appearance.set_theme("dark")
    dark = colour(TODAY - timedelta(days=4))
    assert dark not in (filled, empty)
    appearance.set_font_scale(1.5)
    assert colour(TODAY - timedelta(days=4)) == dark


def test_day_without_sessions_keeps_the_calendar(qtbot, panel):
    calendar = panel.view.calendar
    qtbot.mouseClick(calendar, Qt.MouseButton.LeftButton, pos=rect_of_mark(calendar, TODAY - timedelta(days=4)))
    assert listed(panel) == []
    assert calendar.isVisible()


def test_narrow_calendar_shows_the_last_weeks(qtbot, panel):
    calendar = panel.view.calendar
    calendar.resize(100, calendar.height())
    rects = [calendar.rect_of_mark(index) for index in range(len(calendar.series.marks))]
    visible_days = [index for index, rect in enumerate(rects) if not rect.isEmpty()]
    assert visible_days == list(range(visible_days[0], len(rects)))
    assert 7 < len(visible_days) < len(rects)
    assert all(calendar.plot().adjusted(0, 0, 0, 1).contains(rects[index]) for index in visible_days)
    assert [calendar.mark_at(rects[index].center()) for index in visible_days] == visible_days


def test_calendar_can_be_hidden(panel):
    menu = panel.view.header.sort_button.menu()
    hide = next(action for action in menu.actions() if action.text() == "Hide calendar")
    hide.trigger()
    assert not panel.view.calendar.isVisible()
    hide.trigger()
    assert panel.view.calendar.isVisible()


def test_calendar_is_hidden_without_sessions(show_panel):
    memory = FakeMemory(sessions={})
    panel = show_panel(memory)
    assert not panel.view.calendar.isVisible()
    memory.close()
