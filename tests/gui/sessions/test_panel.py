from collections.abc import Callable

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPersistentModelIndex, QPoint, Qt, QTimer
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QMenu, QWidget

from engine import ProviderError, SearchExplanation, SearchRemedy
from gui.sessions.content_search import PAUSE_MS
from gui.sessions.filter_controller import DaysDialog
from gui.sessions.panel import SessionsPanel
from gui.sessions.rows import HeadingRow, SessionRow
from gui.style.theme import theme_tokens
from gui.widgets.form_controls import Chip
from gui.widgets.list_header import CountLine
from tests.helpers.background import LONGEST_WAIT
from tests.helpers.chips import choose_from_chip
from tests.helpers.fake_explanations import make_stages
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_records import make_progress, make_status, make_summary
from tests.helpers.fake_sessions import NOW, SESSIONS, VALVE, make_session, make_session_summary, many_summaries
from tests.helpers.session_list import listed_rows

Key = Qt.Key
CHILD = next(path for path, session in SESSIONS.items() if session.summary.parent)


def _titles(panel: SessionsPanel) -> list[str]:
    return [row.title if isinstance(row, HeadingRow) else row.entry.title for row in listed_rows(panel)]


def _sessions(panel: SessionsPanel) -> list[str]:
    return [row.entry.title for row in listed_rows(panel) if isinstance(row, SessionRow)]


def _counts(panel: SessionsPanel) -> str:
    listed_rows(panel)
    return panel.view.header.findChild(CountLine).accessibleName()


def _type(qtbot, panel: SessionsPanel, text: str) -> None:
    panel.box.focus()
    qtbot.keyClicks(panel.box.edit, text)


def _rest(qtbot, panel: SessionsPanel) -> None:
    qtbot.waitUntil(lambda: not panel.busy)


def _press(page: QWidget, words: str) -> None:
    next(b for b in page.findChildren(QAbstractButton) if b.text() == words).click()


def test_all_sessions_are_listed_and_counted(panel):
    assert _titles(panel)[:3] == ["Today", "Fix the valve controller", "Invoice double entry"]
    assert _counts(panel) == "12 sessions · 1 by a sub-agent · 6 agents"


def test_first_session_is_selected(qtbot, show_panel, memory, jobs):
    received = []
    panel = SessionsPanel(jobs)
    qtbot.addWidget(panel.header)
    qtbot.addWidget(panel.body)
    panel.session_selected.connect(received.append)
    panel.set_manager(memory)
    qtbot.waitUntil(lambda: not panel.busy and bool(received))
    assert [summary.path for summary in received] == [VALVE]
    panel.set_manager(None)
    assert not panel.busy


def test_typing_filters_titles_immediately_and_content_later(qtbot, panel, memory):
    _type(qtbot, panel, "relay")
    assert memory.searches == []
    assert _sessions(panel) == ["Fix the valve controller", "Find unsettled relay reads"]
    _rest(qtbot, panel)
    assert [(query, options["sources"]) for query, _, options in memory.searches] == [("relay", ["sessions"])]
    assert _counts(panel) == "1 of 12 sessions · 2 matches"
    assert panel.best_match(VALVE)[1] == "relay"
    line, _ = panel.best_match(VALVE)
    assert "relay" in next(m.text for m in SESSIONS[VALVE].messages if m.line == line).lower()


def test_search_sorts_by_relevance_until_it_is_cleared(qtbot, panel):
    button = panel.view.header.sort_button
    relevance = next(action for action in button.menu().actions() if action.text() == "Relevance")
    assert (button.order, relevance.isVisible()) == ("newest", False)
    _type(qtbot, panel, "relay")
    assert (button.order, relevance.isVisible()) == ("relevance", True)
    next(action for action in button.menu().actions() if action.text() == "Oldest").trigger()
    _type(qtbot, panel, "s")
    assert button.order == "oldest"
    panel.box.edit.clear()
    assert (button.order, relevance.isVisible()) == ("newest", False)


def test_filter_without_words_counts_no_hits(qtbot, panel, memory, monkeypatch):
    search = memory.search
    monkeypatch.setattr(memory, "search", lambda _query, **options: search("relay", **options))
    _type(qtbot, panel, "machine:laptop")
    _rest(qtbot, panel)
    assert _sessions(panel) == ["Fix the valve controller", "Find unsettled relay reads"]
    assert _counts(panel) == "1 of 12 sessions"
    assert panel.best_match(VALVE)[0] is None


def test_enter_searches_content_immediately_then_opens(qtbot, panel, memory):
    _type(qtbot, panel, "lisbon keys ruth")
    qtbot.keyClick(panel.box.edit, Key.Key_Return)
    waits = [timer.interval() for timer in panel.findChildren(QTimer) if timer.isActive()]
    assert PAUSE_MS not in waits
    _rest(qtbot, panel)
    assert "Trip to Lisbon, flat and keys" in _sessions(panel)
    with qtbot.waitSignal(panel.session_activated) as opened:
        qtbot.keyClick(panel.box.edit, Key.Key_Return)
    assert opened.args[0].title == _sessions(panel)[0]


def test_enter_opens_first_session_of_the_next_list(qtbot, panel):
    panel.filter_by("agent", "codex")
    assert panel.listing
    with qtbot.waitSignal(panel.session_activated) as opened:
        qtbot.keyClick(panel.box.edit, Key.Key_Return)
    assert (opened.args[0].agent, opened.args[0].title) == ("codex", _sessions(panel)[0])


def test_only_newest_text_is_searched(qtbot, panel, memory):
    _type(qtbot, panel, "relay")
    _type(qtbot, panel, "s")
    _rest(qtbot, panel)
    assert [query for query, *_ in memory.searches] == ["relays"]


def test_speaker_filter_restricts_hits(qtbot, panel):
    panel.search("firmware")
    _rest(qtbot, panel)
    assert _sessions(panel) == ["Fix the valve controller"]
    choose_from_chip(panel.chips, "Said by", "Me")
    assert _sessions(panel) == []
    choose_from_chip(panel.chips, "Said by", "The agent")
    assert _sessions(panel) == ["Fix the valve controller"]


def test_time_menu_keeps_one_menu_of_months(panel):
    chip = next(chip for chip in panel.chips.findChildren(Chip) if chip.accessibleName().startswith("Time"))
    for _ in range(3):
        chip.menu().aboutToShow.emit()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        (months,) = chip.menu().findChildren(QMenu)
        assert months.actions()[0].text() == "February 2026\t7"


def test_agent_project_and_time_filters_combine(qtbot, panel):
    choose_from_chip(panel.chips, "Agent", "Codex")
    assert _counts(panel) == "3 of 12 sessions"
    choose_from_chip(panel.chips, "Project", "nas")
    assert _sessions(panel) == ["Is the log rotated?"]
    choose_from_chip(panel.chips, "Agent", "All agents")
    choose_from_chip(panel.chips, "Project", "All projects")
    choose_from_chip(panel.chips, "Time", "January 2026")
    assert _sessions(panel) == ["Drip or soaker hose", "バルブの説明書の要約"]


def test_days_dialog_accepts_days_in_any_order(qtbot, panel, today):
    dialog = DaysDialog(today, today.replace(day=9))
    qtbot.addWidget(dialog)
    assert dialog.period().words == "9 Feb – 11 Feb 2026"
    assert (dialog.period().first.day, dialog.period().last.day) == (9, 11)


def test_order_choice_sorts_sessions(qtbot, panel):
    panel.view.header.sort_button.order_chosen.emit("project")
    assert _titles(panel)[0] == "greenhouse"
    panel.view.header.sort_button.order_chosen.emit("longest")
    assert _titles(panel)[0] == "Fix the valve controller"


def test_sub_agents_unfold_by_key_click_and_menu(qtbot, panel):
    listed = panel.view.list
    listed.take_focus()
    qtbot.keyClick(listed, Key.Key_Right)
    assert _titles(panel)[2] == "Find unsettled relay reads"
    qtbot.keyClick(listed, Key.Key_Down)
    assert listed.current_session().path == CHILD
    qtbot.keyClick(listed, Key.Key_Left)
    assert listed.current_session().path == VALVE
    qtbot.keyClick(listed, Key.Key_Left)
    assert _titles(panel)[2] == "Invoice double entry"
    at = listed.visualRect(listed.rows.index(1)).topLeft() + QPoint(6, 12)
    qtbot.mouseClick(listed.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert _titles(panel)[2] == "Find unsettled relay reads"
    qtbot.mouseClick(listed.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert _titles(panel)[2] == "Invoice double entry"
    next(a for a in panel.view.header.sort_button.menu().actions() if a.text() == "Show sub-agents").trigger()
    assert _titles(panel)[2] == "Find unsettled relay reads"


@pytest.mark.usefixtures("right_to_left")
def test_right_to_left_layout_swaps_unfold_side(qtbot, panel):
    listed = panel.view.list
    listed.take_focus()
    qtbot.keyClick(listed, Key.Key_Left)
    assert _titles(panel)[2] == "Find unsettled relay reads"
    qtbot.keyClick(listed, Key.Key_Right)
    assert _titles(panel)[2] == "Invoice double entry"
    row = listed.visualRect(listed.rows.index(1))
    qtbot.mouseClick(listed.viewport(), Qt.MouseButton.LeftButton, pos=row.topLeft() + QPoint(6, 12))
    assert _titles(panel)[2] == "Invoice double entry"
    qtbot.mouseClick(listed.viewport(), Qt.MouseButton.LeftButton, pos=row.topRight() + QPoint(-6, 12))
    assert _titles(panel)[2] == "Find unsettled relay reads"


def test_keys_move_from_box_to_list_and_back(qtbot, panel):
    panel.focus_box()
    qtbot.keyClick(panel.box.edit, Key.Key_Down)
    assert panel.view.list.hasFocus()
    qtbot.keyClick(panel.view.list, Key.Key_Down)
    with qtbot.waitSignal(panel.session_activated) as opened:
        qtbot.keyClick(panel.view.list, Key.Key_Return)
    assert opened.args[0].title == "Invoice double entry"
    qtbot.keyClick(panel.view.list, Key.Key_Escape)
    assert panel.box.edit.hasFocus()
    panel.view.list.take_focus()
    qtbot.keyClick(panel.view.list, "z")
    assert panel.box.edit.hasFocus()
    assert panel.box.query == "z"
    qtbot.keyClick(panel.box.edit, Key.Key_Escape)
    assert panel.box.query == ""


def test_selection_survives_new_sessions(qtbot, panel, memory):
    listed = panel.view.list
    listed.take_focus()
    for _ in range(3):
        qtbot.keyClick(listed, Key.Key_Down)
    chosen, resets = listed.current_session().path, []
    before, on_screen = QPersistentModelIndex(listed.currentIndex()), listed.visualRect(listed.currentIndex())
    listed.rows.modelReset.connect(lambda: resets.append(True))
    newer = make_session_summary("sessions/new.jsonl", title="Brand new", started=NOW, ended=NOW)
    memory.session_texts["sessions/new.jsonl"] = type(SESSIONS[VALVE])(summary=newer, messages=(), masked=0, unknown=())
    panel.refresh()
    panel.refresh()  # while the first is running
    _rest(qtbot, panel)
    assert "Brand new" in _titles(panel)
    assert listed.current_session().path == chosen
    assert not resets
    assert before == listed.currentIndex()
    assert listed.visualRect(listed.currentIndex()) == on_screen


def test_chosen_session_survives_a_filter_but_not_a_query(qtbot, panel):
    listed = panel.view.list
    chosen = next(path for path, session in SESSIONS.items() if session.summary.title == "Is the log rotated?")
    listed.take_focus()
    while listed.current_session().path != chosen:
        qtbot.keyClick(listed, Key.Key_Down)
    for agent in ("Codex", "All agents"):
        choose_from_chip(panel.chips, "Agent", agent)
        listed_rows(panel)
        assert listed.current_session().path == chosen
    assert listed.viewport().rect().intersects(listed.visualRect(listed.currentIndex()))
    choose_from_chip(panel.chips, "Agent", "ChatGPT")
    assert _sessions(panel)[0] == listed.current_session().title
    choose_from_chip(panel.chips, "Agent", "All agents")
    listed_rows(panel)
    listed.take_focus()
    qtbot.keyClick(listed, Key.Key_End)
    _type(qtbot, panel, "the")
    assert len(_sessions(panel)) > 1
    assert listed.current_session().title == _sessions(panel)[0]


def test_unknown_items_are_in_the_tooltip_only(qtbot, panel, memory):
    listed = panel.view.list
    listed.resize(900, listed.height())
    before = listed.grab().toImage()
    place = next(n for n in range(listed.rows.rowCount()) if not listed.rows.is_header(n))
    session = memory.session_texts[VALVE]
    summary = msgspec.structs.replace(session.summary, unknown=7)
    memory.session_texts[VALVE] = msgspec.structs.replace(session, summary=summary)
    panel.refresh()
    _rest(qtbot, panel)
    row = listed.rows.row(place)
    assert row.entry.summary.unknown == 7
    assert "7 entries of unknown type" in listed.rows.tip(row)
    assert listed.grab().toImage() == before


def test_similar_sessions_replace_list_and_escape_returns(qtbot, panel):
    listed = panel.view.list
    panel.show_similar(VALVE)
    _rest(qtbot, panel)
    assert _titles(panel)[0] == "Find unsettled relay reads"
    assert panel.view.notice.accessibleName() == "7 sessions similar to “Fix the valve controller”"
    assert listed.hasFocus()
    qtbot.keyClick(listed, Key.Key_Escape)
    listed_rows(panel)
    assert listed.current_session().path == VALVE
    assert _counts(panel) == "12 sessions · 1 by a sub-agent · 6 agents"
    assert panel.view.notice.isHidden()


def test_without_vectors_no_similar_sessions_are_found(qtbot, panel, memory):
    memory.vectors = False
    panel.show_similar(VALVE)
    _rest(qtbot, panel)
    assert "No similar session" in panel.view.page.accessibleName()
    _type(qtbot, panel, "inv")
    assert _sessions(panel) == ["Invoice double entry"]


def test_failed_comparison_offers_to_go_back(qtbot, panel, memory):
    memory.session_error = ProviderError("The model is gone.")
    panel.show_similar(VALVE)
    _rest(qtbot, panel)
    assert panel.view.notice.accessibleName() == "The model is gone."
    _press(panel.view.notice, "Back to all")
    assert len(_sessions(panel)) == 11


def test_machine_filter_is_offered_if_there_are_machines(qtbot, panel, memory):
    chip = next(chip for chip in panel.chips.findChildren(Chip) if chip.accessibleName().startswith("Machine"))
    assert chip.isHidden()
    session = msgspec.structs.replace(
        SESSIONS[VALVE], summary=msgspec.structs.replace(SESSIONS[VALVE].summary, machine="laptop")
    )
    memory.session_texts = {**SESSIONS, VALVE: session}
    panel.refresh()
    _rest(qtbot, panel)
    assert not chip.isHidden()
    choose_from_chip(panel.chips, "Machine", "laptop")
    assert _sessions(panel) == ["Fix the valve controller"]
    assert panel.view_state.criteria.machine == "laptop"
    choose_from_chip(panel.chips, "Machine", "All machines")
    panel.search("LAPTOP")
    assert _sessions(panel)[0] == "Fix the valve controller"


def test_written_session_is_marked_as_running(qtbot, panel, memory):
    rows, place = panel.view.list.rows, panel.view.list.rows.position(("session", VALVE))
    panel.running.check()
    qtbot.waitUntil(lambda: not panel.running.busy)
    assert panel.running.paths == frozenset()
    with memory.locate(VALVE).open("a") as transcript:
        transcript.write("more")
    with qtbot.waitSignal(panel.running.changed):
        panel.running.check()
    assert panel.running.paths == {VALVE}
    assert rows.spoken(rows.row(place)).startswith("Running. Fix the valve controller")
    assert rows.tip(rows.row(place)).endswith("Running")
    panel.set_manager(None)
    assert panel.running.paths == frozenset()


def test_session_with_a_new_file_is_marked_as_running(qtbot, panel, memory, monkeypatch, tmp_path):
    conversation = tmp_path / "openhands" / "base_state.json"
    (conversation.parent / "events").mkdir(parents=True)
    conversation.write_text("{}")
    monkeypatch.setattr(memory, "locate", lambda _path: conversation)
    panel.running.check()
    qtbot.waitUntil(lambda: not panel.running.busy)
    (conversation.parent / "events" / "event-00000-a.json").write_text("{}")
    with qtbot.waitSignal(panel.running.changed):
        panel.running.check()


def test_resumed_old_session_is_marked_as_running(qtbot, show_panel, memory, monkeypatch):
    newer = [make_session_summary(f"sessions/new-{n}.jsonl", started=NOW, ended=NOW) for n in range(40)]
    older = [session.summary for session in memory.session_texts.values()]
    monkeypatch.setattr(memory, "sessions", lambda: (*newer, *older))
    panel = show_panel(memory)
    assert panel.view.list.go_to(VALVE)
    panel.running.check()
    qtbot.waitUntil(lambda: not panel.running.busy)
    with memory.locate(VALVE).open("a") as transcript:
        transcript.write("more")
    with qtbot.waitSignal(panel.running.changed):
        panel.running.check()
    assert panel.running.paths == {VALVE}


def test_session_that_begins_is_marked_as_running(qtbot, panel, memory):
    panel.running.check()
    qtbot.waitUntil(lambda: not panel.running.busy)
    path = "sessions/codex/begun.jsonl"
    memory.session_texts[path] = make_session([("user", [("text", "Is the pump on?")])], path=path)
    panel.refresh()
    _rest(qtbot, panel)
    with qtbot.waitSignal(panel.running.changed):
        panel.running.check()
    assert panel.running.paths == {path}


def test_escape_in_empty_box_clears_filters_but_not_similar(qtbot, panel):
    panel.show_similar(VALVE)
    _rest(qtbot, panel)
    panel.box.focus()
    qtbot.keyClick(panel.box.edit, Key.Key_Escape)
    assert "similar to “" in panel.view.notice.accessibleName()
    choose_from_chip(panel.chips, "Said by", "Me")
    choose_from_chip(panel.chips, "Agent", "Codex")
    qtbot.keyClick(panel.box.edit, Key.Key_Escape)
    assert not panel.chips.narrows
    assert _counts(panel) == "12 sessions · 1 by a sub-agent · 6 agents"


def test_no_match_shows_why_and_offers_other_queries(qtbot, panel, memory, monkeypatch):
    search, reason = memory.search, "No passage matches agent:abacus."
    other = SearchRemedy(name="condition", stage="threshold", advice="Without it, the query finds 2.", query="zebra")
    why = SearchExplanation(stages=make_stages(0, 0), results=(), emptied_by="threshold", remedies=(other,))

    def nothing(query, **options):
        unknown = ("zebra",) if "zebra" in query else ()
        changes = {"results": (), "total": 0, "understood": reason, "explanation": why, "unknown_words": unknown}
        return msgspec.structs.replace(search(query, **options), **changes)

    monkeypatch.setattr(memory, "search", nothing)
    panel.search("zebra agent:abacus")
    _rest(qtbot, panel)
    assert reason in panel.view.notice.accessibleName()
    shown = panel.view.page.accessibleName()
    assert why.reason in shown
    assert other.advice in shown
    _press(panel.view.page, "Search for “zebra”")
    assert panel.box.edit.text() == "zebra"
    panel.search("timer agent:abacus")
    _rest(qtbot, panel)
    assert "in the whole index" not in panel.view.page.accessibleName()


def test_no_match_offers_clearing_filters(qtbot, panel, memory):
    memory.search_delay = LONGEST_WAIT  # until another query cancels it
    panel.search("zebra")
    listed_rows(panel)
    assert "Searching messages" in panel.view.page.accessibleName()
    assert not _counts(panel)  # messages may contain the words
    panel.focus_list()
    assert panel.box.edit.hasFocus()  # not a button that clears the search
    memory.search_delay = 0.0
    panel.search("zebra crossing")
    _rest(qtbot, panel)
    assert _counts(panel) == "No sessions"
    assert panel.view.page.accessibleName().startswith("No session matches “zebra crossing” No title")
    _press(panel.view.page, "Clear the search")
    assert not panel.box.edit.text()
    panel.search("zebra crossing")
    choose_from_chip(panel.chips, "Agent", "Codex")
    _rest(qtbot, panel)
    _press(panel.view.page, "Clear the filters")
    assert _counts(panel) == "12 sessions · 1 by a sub-agent · 6 agents"
    assert panel.box.edit.hasFocus()


def test_without_folder_page_asks_for_one(qtbot, show_panel):
    memory = FakeMemory()
    memory.set_status(sources=("memory",))
    panel = show_panel(memory)
    assert panel.view.page.accessibleName().startswith("Where are your sessions?")
    with qtbot.waitSignal(panel.listed.folder_requested):
        _press(panel.view.page, "Choose sessions…")
    memory.set_status(sources=("memory", "sessions"), syncing=make_progress())
    panel.refresh()
    _rest(qtbot, panel)
    qtbot.waitUntil(lambda: "as soon as they have been indexed" in panel.view.page.accessibleName())
    panel.set_manager(None)
    memory.close()


def test_failed_listing_can_be_retried(qtbot, show_panel, memory):
    memory.session_error = ProviderError("The index is locked.")
    panel = show_panel(memory)
    assert panel.view.page.accessibleName() == "The sessions cannot be listed The index is locked."
    memory.session_error = None
    _press(panel.view.page, "Try again")
    _rest(qtbot, panel)
    assert len(_sessions(panel)) == 11


def test_notice_leaves_out_reason_of_failed_update(qtbot, panel, memory, monkeypatch):
    search, reason, notice = memory.search, "The server cannot be reached.", "Nothing has been embedded yet."
    changed = {"notice": f"{notice} {reason}"}
    monkeypatch.setattr(memory, "search", lambda *a, **o: msgspec.structs.replace(search(*a, **o), **changed))
    panel.search("invoice")
    for error, shown in (("", f"{notice} {reason}"), (reason, notice)):
        panel.show_status(make_status(last_sync=make_summary(error=error)))
        _rest(qtbot, panel)
        assert panel.view.notice.accessibleName().endswith(shown)


def test_failed_content_search_keeps_title_matches(qtbot, panel, memory):
    memory.search_error = ProviderError("No answer.")
    panel.search("invoice")
    _rest(qtbot, panel)
    assert _sessions(panel) == ["Invoice double entry"]
    assert panel.view.notice.accessibleName() == "No answer."
    memory.search_error = None
    _press(panel.view.notice, "Try again")
    _rest(qtbot, panel)
    assert panel.view.notice.isHidden()


def test_manager_change_replaces_sessions(qtbot, panel):
    other = FakeMemory(sessions={CHILD: SESSIONS[CHILD]})
    panel.set_manager(other)
    _rest(qtbot, panel)
    assert _sessions(panel) == ["Find unsettled relay reads"]
    panel.set_manager(None)
    other.close()


def test_menu_copies_resume_command_and_path(qtbot, panel, opened_menus):
    listed = panel.view.list
    listed.menu_requested.emit(QPoint())
    opened_menus[-1]["Copy resume command"].trigger()
    assert QGuiApplication.clipboard().text() == SESSIONS[VALVE].summary.resume_command
    opened_menus[-1]["Copy path"].trigger()
    assert QGuiApplication.clipboard().text() == VALVE
    assert "Show 1 sub-agent" in opened_menus[-1]
    listed.setCurrentIndex(listed.rows.index(4))
    listed.menu_requested.emit(QPoint())
    assert not opened_menus[-1].keys() & {"Copy resume command", "Show 1 sub-agent", "Show 0 sub-agents"}


def test_context_menu_acts_on_current_session(qtbot, panel, opened_menus):
    panel.view.list.menu_requested.emit(QPoint(0, 0))
    with qtbot.waitSignal(panel.session_activated):
        opened_menus[-1]["Open"].trigger()
    opened_menus[-1]["Show 1 sub-agent"].trigger()
    assert _titles(panel)[2] == "Find unsettled relay reads"
    opened_menus[-1]["Similar sessions"].trigger()
    _rest(qtbot, panel)
    assert _titles(panel)[0] == "Find unsettled relay reads"


def test_every_control_has_accessible_name(panel):
    for root in (panel.header, panel.body):
        for kind in (QAbstractButton, QLineEdit):
            for widget in root.findChildren(kind):
                if widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget.isVisible():
                    assert widget.accessibleName() or (isinstance(widget, QAbstractButton) and widget.text())


def test_end_key_reaches_last_of_ten_thousand_sessions(qtbot, show_panel, monkeypatch):
    memory = FakeMemory()
    monkeypatch.setattr(memory, "sessions", lambda: many_summaries(10_000))
    panel = show_panel(memory)
    listed = panel.view.list
    assert _counts(panel).startswith("10,000 sessions")
    listed.take_focus()
    qtbot.keyClick(listed, Key.Key_End)
    assert listed.current_session().id == "09999"
    assert listed.viewport().rect().intersects(listed.visualRect(listed.currentIndex()))
    panel.set_manager(None)
    memory.close()


def test_list_stays_visible_while_its_sessions_change(qtbot, show_panel, monkeypatch):
    memory, sessions = FakeMemory(), list(many_summaries(10_000))
    monkeypatch.setattr(memory, "sessions", lambda: tuple(sessions))
    panel = show_panel(memory)
    listed, at = panel.view.list, QPoint(50, 50)
    qtbot.waitUntil(lambda: listed.indexAt(at).isValid())
    sessions[0] = msgspec.structs.replace(sessions[0], messages=9_999)
    with qtbot.waitSignal(listed.current_changed):
        panel.refresh()
    assert listed.indexAt(at).isValid()
    assert listed.current_session().messages == 9_999
    panel.set_manager(None)
    memory.close()


def test_current_session_stays_when_the_order_changes(panel):
    listed = panel.view.list
    rows = [listed.rows.row(number) for number in range(listed.rows.rowCount())]
    first, second = [number for number, row in enumerate(rows) if isinstance(row, SessionRow)][:2]
    path = rows[first].entry.summary.path
    assert listed.go_to(path)
    listed.pin_current()
    rows[first], rows[second] = rows[second], rows[first]
    listed.show_rows(rows, (), keep=True)
    assert listed.currentIndex().row() == second
    assert listed.current_session().path == path


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_query_words_are_marked_in_titles(qtbot, panel, appearance, theme, grabbed: Callable[[QWidget], set[int]]):
    appearance.set_theme(theme)
    mark = theme_tokens(theme).mark.rgb()
    assert mark not in grabbed(panel.view.list.viewport())
    _type(qtbot, panel, "valve")
    listed_rows(panel)
    assert mark in grabbed(panel.view.list.viewport())


@pytest.fixture
def grabbed() -> Callable[[QWidget], set[int]]:
    """The colours that are seen in a widget."""

    def run(widget: QWidget) -> set[int]:
        image = widget.grab().toImage()
        rows, columns = range(0, image.height(), 2), range(image.width())
        return {QColor(image.pixel(x, y)).rgb() for y in rows for x in columns}

    return run


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_folder_request_is_not_cut_in_narrow_list(qtbot, show_panel, appearance, scale):
    appearance.set_font_scale(scale)
    memory = FakeMemory()
    memory.set_status(sources=("memory",))
    panel = show_panel(memory)
    page = panel.view.page
    page.setFixedWidth(360)
    qtbot.waitUntil(lambda: page.widget().minimumSizeHint().width() <= page.viewport().width())
    panel.set_manager(None)
    memory.close()
