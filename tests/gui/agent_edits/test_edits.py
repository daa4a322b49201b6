"""The view of recent edits in the window, and navigation between files and sessions."""

from collections.abc import Iterator

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QListView, QPushButton

from engine import CancelToken, FileUse
from gui.agent_edits.panel import NONE_CHANGED, EditList, EditRow, EditsPanel, ProjectRow, edited_files, rows_by_project
from gui.conversation.display_entries import prepare
from gui.conversation.loader import result_location
from gui.conversation.prompt_list import FileList
from gui.viewer.match_list import query_finder
from gui.window.main_window import MainWindow
from tests.helpers.fake_insight import FakeInsight
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import NOW, SESSIONS, VALVE, make_session
from tests.helpers.windows import at_rest

PROJECT = "/home/ines/src/greenhouse"


def use(path: str, kind: str = "edited", **changes: object) -> FileUse:
    calls = [message for message in SESSIONS[VALVE].messages if message.kind == "tool-call"]
    made = FileUse(
        session=VALVE,
        title="Fix the valve controller",
        agent="claude-code",
        project=PROJECT,
        kind=kind,  # type: ignore[arg-type]
        path=path,
        line=calls[0].line,
        ordinal=calls[0].ordinal,
        time=NOW,
    )
    return msgspec.structs.replace(made, **changes)


USES = (
    use("valve.c"),
    use("docs/plan.md", "created", time=NOW - 60),
    use("valve.c", time=NOW - 120),
    use("README.md", project="/home/ines/src/nas", agent="codex", title="Rename the backup job", time=NOW - 180),
    use("timer.c", "read", time=NOW - 240),
)


@pytest.fixture
def memory() -> Iterator[FakeMemory]:
    memory = FakeMemory(sessions=SESSIONS)
    memory.insight = FakeInsight(memory)
    memory.insight.uses = USES
    yield memory
    memory.close()


@pytest.fixture
def panel(qtbot, opened: MainWindow) -> EditsPanel:
    opened.views.switch("edits")
    panel = opened.views.edits
    qtbot.waitUntil(lambda: not panel.busy)
    return panel


def spoken_rows(panel: EditsPanel) -> list[str]:
    rows = panel.list.rows
    return [rows.spoken(rows.row(number)) for number in range(rows.rowCount())]


def test_files_are_grouped_with_their_last_change_first() -> None:
    files = edited_files([one for one in USES if one.kind != "read"])
    assert [(row.use.path, row.changes) for row in files] == [("valve.c", 2), ("docs/plan.md", 1), ("README.md", 1)]
    rows = rows_by_project(files, [])
    assert [row.title if isinstance(row, ProjectRow) else row.use.path for row in rows] == [
        *("greenhouse", "valve.c", "docs/plan.md"),
        *("nas", "README.md"),
    ]
    assert [row.use.path for row in rows_by_project(files, ["codex", "nas"]) if isinstance(row, EditRow)] == [
        "README.md"
    ]


def test_view_lists_files_by_project(panel: EditsPanel) -> None:
    rows = spoken_rows(panel)
    assert rows[0] == "greenhouse, 2 files"
    assert rows[1].startswith("valve.c, 2 changes · Claude Code · Fix the valve controller")
    assert rows[2].startswith("docs/plan.md, created")
    assert rows[3:4] == ["nas, 1 file"]
    assert panel.list.accessibleDescription() == "3 files in 2 projects"


def test_selected_file_shows_message_that_changed_it(qtbot, opened: MainWindow, panel: EditsPanel) -> None:
    conversation = opened.views.conversation
    qtbot.waitUntil(lambda: conversation.opened is not None and conversation.view.current.number is not None)
    open_session = conversation.opened.conversation
    assert open_session.message(open_session.entries[conversation.view.current.number]).line == USES[0].line
    assert opened.views.current == "edits"


def test_selected_file_is_framed_in_its_tool_call(qtbot, opened: MainWindow, panel: EditsPanel) -> None:
    conversation = opened.views.conversation
    frame = conversation.view.highlights
    qtbot.waitUntil(lambda: conversation.opened is not None and frame.framed is not None)
    open_session = conversation.opened.conversation
    assert "valve.c" in open_session.source(frame.framed[0])
    assert open_session.entries[open_session.entry_of_piece[frame.framed[0]]].kind == "tool"
    panel.list.sessions_requested.emit("controller/none.c")  # the edits view stays as it was
    opened.views.switch("edits")
    qtbot.waitUntil(lambda: at_rest(opened))
    assert frame.framed is not None


def test_edit_stays_when_its_session_is_read_elsewhere(qtbot, opened: MainWindow, panel: EditsPanel) -> None:
    conversation = opened.views.conversation
    opened.resize(900, 420)
    qtbot.waitUntil(lambda: at_rest(opened) and conversation.view.highlights.framed is not None)
    left = conversation.view_state
    opened.views.switch("sessions")
    qtbot.waitUntil(lambda: opened.views.sessions.view.list.go_to(VALVE))
    bar = conversation.view.verticalScrollBar()
    qtbot.waitUntil(lambda: at_rest(opened) and conversation.view_state is not None and bar.maximum() > 0)
    bar.setValue(bar.maximum())
    below = conversation.view_state
    assert below != left
    opened.views.switch("edits")
    qtbot.waitUntil(lambda: at_rest(opened) and conversation.view_state == left)
    opened.views.switch("sessions")
    qtbot.waitUntil(lambda: at_rest(opened) and conversation.view_state.line == below.line)


def test_file_hit_opens_the_call_not_the_text_before(qtbot, opened: MainWindow, panel: EditsPanel) -> None:
    call = ("tool-call", '{"file_path": "/home/ines/src/nas/job.sh"}', "Edit")
    session = make_session([("user", [("text", "Rename it.")]), ("assistant", [("text", "Now job.sh."), call])])
    messages = tuple(msgspec.structs.replace(one, line=one.ordinal) for one in session.messages)
    conversation = prepare(msgspec.structs.replace(session, messages=messages), CancelToken())
    finder = query_finder("file:job.sh", "english")
    assert result_location(conversation, 2, finder, CancelToken()).entry == 1
    there = result_location(conversation, 2, finder, CancelToken(), calls=True)
    assert conversation.entries[there.entry].kind == "tool"
    assert there.hit is not None
    assert result_location(conversation, 1, finder, CancelToken(), calls=True).hit is None


def test_enter_opens_message_and_escape_returns(qtbot, opened: MainWindow, panel: EditsPanel) -> None:
    qtbot.waitUntil(lambda: opened.views.conversation.opened is not None)
    panel.focus_list()
    QTest.keyClick(panel.list, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: opened.views.conversation.isAncestorOf(QApplication.focusWidget()))
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is panel.list
    QTest.keyClick(panel.list, Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is panel.box.edit


def test_typing_filters_and_says_if_nothing_fits(panel: EditsPanel) -> None:
    panel.search("plan")
    assert [row.split(",")[0] for row in spoken_rows(panel)] == ["greenhouse", "docs/plan.md"]
    panel.search("anchor")
    assert spoken_rows(panel) == []
    panel.search("")
    assert len(spoken_rows(panel)) == 5


def test_strip_of_counts_is_hidden_if_nothing_fits(panel: EditsPanel) -> None:
    counts = next(label for label in panel.body.findChildren(QLabel) if label.text() == "3 files in 2 projects")
    assert counts.isVisible()
    panel.search("anchor")
    assert not counts.isVisible()
    assert not [label for label in panel.body.findChildren(QLabel) if label.isVisible() and not label.text()]
    panel.search("")
    assert counts.isVisible()


def test_refresh_before_user_moves_selects_newest_file(
    qtbot, opened: MainWindow, memory: FakeMemory, panel: EditsPanel
) -> None:
    qtbot.waitUntil(lambda: at_rest(opened) and opened.views.conversation.opened is not None)
    assert panel.list.current.path == "valve.c"
    memory.insight.uses = (use("new.c", time=NOW + 60), *USES)
    opened.views.refresh()
    qtbot.waitUntil(lambda: not panel.busy)
    assert panel.list.current.path == "new.c"


def test_refresh_keeps_file_of_session_that_is_read(
    qtbot, opened: MainWindow, memory: FakeMemory, panel: EditsPanel
) -> None:
    conversation = opened.views.conversation
    qtbot.waitUntil(lambda: at_rest(opened) and conversation.opened is not None)
    with qtbot.waitActive(opened):
        opened.activateWindow()
    conversation.setFocus()
    memory.insight.uses = (use("new.c", time=NOW + 60), *USES)
    opened.views.refresh()
    qtbot.waitUntil(lambda: not panel.busy)
    assert spoken_rows(panel)[1].startswith("new.c")
    assert panel.list.current.path == "valve.c"


def test_refresh_keeps_current_file(qtbot, memory: FakeMemory, panel: EditsPanel) -> None:
    panel.focus_list()
    QTest.keyClick(panel.list, Qt.Key.Key_Down)
    assert panel.list.current.path == "docs/plan.md"
    memory.insight.uses = (use("new.c", time=NOW + 60), *USES)
    panel.refresh()
    qtbot.waitUntil(lambda: not panel.busy)
    assert spoken_rows(panel)[1].startswith("new.c")
    assert panel.list.current.path == "docs/plan.md"


def test_other_words_end_the_hold_on_the_chosen_file(qtbot, memory: FakeMemory, panel: EditsPanel) -> None:
    panel.focus_list()
    QTest.keyClick(panel.list, Qt.Key.Key_Down)
    panel.search("valve")
    assert panel.list.current.path == "valve.c"
    memory.insight.uses = (use("valve.h", time=NOW + 60), *USES)
    panel.refresh()
    qtbot.waitUntil(lambda: not panel.busy)
    assert panel.list.current.path == "valve.h"


def test_without_edits_page_explains_view(qtbot, memory: FakeMemory, panel: EditsPanel) -> None:
    memory.insight.uses = ()
    panel.refresh()
    qtbot.waitUntil(lambda: not panel.busy)
    assert spoken_rows(panel) == []
    assert "No file changed by an agent yet" in [
        label.text() for label in panel.body.findChildren(QLabel) if label.isVisible()
    ]
    assert panel.nothing_to_read == NONE_CHANGED
    [choose] = [button for button in panel.body.findChildren(QPushButton) if button.text() == "Choose sessions…"]
    with qtbot.waitSignal(panel.folder_requested):
        choose.click()


def test_reader_is_empty_if_no_file_matches(qtbot, opened: MainWindow, panel: EditsPanel) -> None:
    panel.search("zzzz")
    qtbot.waitUntil(lambda: not panel.busy)
    visible_texts = [label.text() for label in opened.views.conversation.findChildren(QLabel) if label.isVisible()]
    assert visible_texts == []


def test_sessions_with_file_searches_for_the_file(qtbot, opened: MainWindow, panel: EditsPanel) -> None:
    panel.focus_list()
    panel.list.sessions_requested.emit(panel.list.current.path)
    assert opened.views.current == "search"
    assert opened.views.search.box.query == "file:valve.c"
    opened.views.viewer.file_actions.sessions_requested.emit("two words.md")
    assert opened.views.search.box.query == 'file:"two words.md"'
    qtbot.waitUntil(lambda: at_rest(opened))


def test_session_lists_its_files_and_jumps_to_one(qtbot, opened: MainWindow, panel: EditsPanel) -> None:
    conversation = opened.views.conversation
    qtbot.waitUntil(lambda: conversation.opened is not None)
    conversation.session_actions.files.trigger()
    qtbot.waitUntil(lambda: any(chooser.isVisible() for chooser in conversation.findChildren(FileList)))
    [chooser] = conversation.findChildren(FileList)
    # A long path keeps its end, with the name of the file and its kinds of use.
    assert chooser.findChild(QListView).textElideMode() == Qt.TextElideMode.ElideMiddle
    box = chooser.findChild(QLineEdit)
    QTest.keyClicks(box, "plan.md")
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert chooser.isHidden()
    open_session = conversation.opened.conversation
    assert open_session.message(open_session.entries[conversation.view.current.number]).line == USES[1].line


def test_session_without_files_has_a_message(qtbot, memory: FakeMemory, opened: MainWindow, panel: EditsPanel) -> None:
    conversation = opened.views.conversation
    qtbot.waitUntil(lambda: conversation.opened is not None)
    memory.insight.uses = ()
    with qtbot.waitSignal(conversation.session_actions.notified) as signal:
        conversation.session_actions.files.trigger()
    assert signal.args == ["No tool call of this session names a file."]


def test_moving_is_reported_after_rows_failed_to_be_shown(qtbot, appearance, monkeypatch) -> None:
    edits = EditList()
    qtbot.addWidget(edits)
    rows = rows_by_project(edited_files(USES), [])
    with monkeypatch.context() as patch:
        patch.setattr(edits, "scrollToTop", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            edits.show_rows(rows, keep=False)
    with qtbot.waitSignal(edits.current_changed):
        qtbot.keyClick(edits, Qt.Key.Key_Down)


def test_end_of_a_long_list_is_laid_out_when_reached(qtbot, appearance) -> None:
    edits = EditList()
    qtbot.addWidget(edits)
    edits.resize(300, 400)
    edits.show()
    files = edited_files([use(f"src/{number}.py") for number in range(3000)])
    edits.show_rows(rows_by_project(files, []), keep=False)
    assert edits.visualRect(edits.rows.index(1)).isValid()
    qtbot.keyClick(edits, Qt.Key.Key_End)
    assert edits.current.path == "src/2999.py"
    assert edits.visualRect(edits.currentIndex()).bottom() < edits.viewport().height()
    edits.show_rows(rows_by_project(files[1:], []), keep=True)
    assert edits.current.path == "src/2999.py"
    assert edits.viewport().rect().contains(edits.visualRect(edits.currentIndex()))


def test_row_keeps_its_position_below_hundreds_of_new_rows(qtbot, appearance) -> None:
    edits = EditList()
    qtbot.addWidget(edits)
    edits.resize(300, 400)
    edits.show()
    files = edited_files([use(f"src/{number}.py") for number in range(1000)])
    edits.show_rows(rows_by_project(files[600:], []), keep=False)
    for _ in range(20):
        qtbot.keyClick(edits, Qt.Key.Key_Down)
    path, before = edits.current.path, edits.visualRect(edits.currentIndex())
    edits.show_rows(rows_by_project(files, []), keep=True)
    assert edits.current.path == path
    assert edits.visualRect(edits.currentIndex()) == before


def test_rows_that_fail_leave_a_list_that_reports_choices(qtbot, appearance) -> None:
    edits = EditList()
    qtbot.addWidget(edits)
    edits.show_rows(rows_by_project(edited_files([use("a.py"), use("b.py")]), []), keep=False)
    with pytest.raises(AttributeError):
        edits.show_rows([object()], keep=True)
    with qtbot.waitSignal(edits.current_changed):
        qtbot.keyClick(edits, Qt.Key.Key_Down)
