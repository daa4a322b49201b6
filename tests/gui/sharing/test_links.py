"""Links that are copied in the window, and opened by it."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtGui import QFileOpenEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QPushButton

from engine import Link, parse_link, write_link
from gui.core.location import Location
from gui.window.main_window import MainWindow
from tests.helpers.fake_sessions import SESSIONS, VALVE
from tests.helpers.windows import at_rest

NOTE = "projects/greenhouse.md"


@pytest.fixture
def link(memory) -> Callable[..., str]:
    """Return the link to a location in the workspace."""

    def write(path: str = NOTE, **more: object) -> str:
        return write_link(Link(workspace=str(memory.folder), path=path, **more))  # type: ignore[arg-type]

    return write


def _copied() -> Link:
    return parse_link(QGuiApplication.clipboard().text())


def _action(window: MainWindow, words: str) -> None:
    button = next(found for found in window.banner.findChildren(QPushButton) if found.text() == words)
    button.click()


# --- opening --------------------------------------------------------------------------------------------------------


def test_link_opens_lines_in_viewer(qtbot, opened, link):
    opened.views.switch("index")
    opened.links.open(link(line=8, end=12))
    qtbot.waitUntil(lambda: opened.viewer.isVisible() and opened.viewer.has_file)
    source = opened.viewer.source
    qtbot.waitUntil(lambda: source.lines is not None)
    assert opened.views.current == "search"
    assert source.highlight == (8, 12)
    assert not opened.banner.text


def test_link_opens_session_at_message(qtbot, opened, link):
    session = SESSIONS[VALVE]
    message = next(found for found in session.messages[3:] if found.id and found.kind == "text")
    with qtbot.waitSignal(opened.views.conversation.session_shown):
        opened.links.open(link(VALVE, line=1, message=message.id))
    conversation = opened.views.conversation
    view = conversation.view
    qtbot.waitUntil(lambda: view.current.number is not None)
    open_session = conversation.opened.conversation
    qtbot.waitUntil(lambda: open_session.message(open_session.entries[view.current.number]).id == message.id)
    # Another message of the session that is open already.
    first = session.messages[0]
    opened.links.open(link(VALVE, line=99, message=first.id))
    qtbot.waitUntil(lambda: open_session.message(open_session.entries[view.current.number]).id == first.id)


def test_back_returns_to_view_before_link(qtbot, opened, link):
    opened.views.switch("sessions")
    opened.links.open(link(line=3))
    qtbot.waitUntil(lambda: opened.views.current == "search")
    opened.navigation.back()
    assert opened.views.current == "sessions"
    opened.navigation.forward()
    qtbot.waitUntil(lambda: opened.views.current == "search" and opened.viewer.has_file)


def test_link_to_unindexed_file_is_refused(qtbot, opened, link):
    opened.links.open(link("private/keys.md"))
    qtbot.waitUntil(lambda: bool(opened.banner.text))
    assert opened.banner.text == "This link opens private/keys.md, which is not among the searched files."
    assert not opened.viewer.has_file


def test_link_to_deleted_file_is_reported(qtbot, opened, memory, link, monkeypatch):
    def gone(path: str) -> Path:
        raise FileNotFoundError(2, "No such file", path)

    monkeypatch.setattr(memory, "locate", gone)
    opened.links.open(link())
    qtbot.waitUntil(lambda: opened.banner.text.endswith("which no longer exists."))


def test_invalid_link_is_refused(opened, link):
    opened.links.open(link() + "&run=rm")
    assert opened.banner.text == "This link contains a parameter that Mnemoscope does not know, so it is not opened."
    assert not opened.viewer.has_file


def test_newest_link_wins(qtbot, opened, link):
    opened.links.open(link(line=3))
    opened.links.open(link("topics/shopping.md"))
    qtbot.waitUntil(lambda: opened.viewer.has_file)
    assert opened.viewer.target.name == "topics/shopping.md"


# --- folders --------------------------------------------------------------------------------------------------------


def test_unknown_folder_asks_and_is_not_accessed(qtbot, opened, memory, tmp_path, monkeypatch):
    other_folder = tmp_path / "notes of others"
    other_folder.mkdir()
    looked: list[str] = []
    monkeypatch.setattr(Path, "is_dir", lambda path: looked.append(str(path)) or True)
    monkeypatch.setattr(Path, "exists", lambda path: looked.append(str(path)) or True)
    opened.links.open(write_link(Link(workspace=str(other_folder), path="a.md")))
    assert str(other_folder) in opened.banner.text
    assert opened.banner.text.endswith("Open it?")
    assert not [place for place in looked if "notes of others" in place]
    assert opened.workspace.current.folder == memory.folder
    _action(opened, "Don't open")
    assert not opened.banner.text
    assert opened.workspace.current.folder == memory.folder


def test_accepted_folder_is_previewed_then_link_opens(qtbot, opened, memory, tmp_path):
    other_folder = tmp_path / "other"
    (other_folder / "topics").mkdir(parents=True)
    (other_folder / "topics/shopping.md").write_text("# Shopping\n")
    opened.links.open(write_link(Link(workspace=str(other_folder), path="topics/shopping.md", line=1)))
    _action(opened, "Preview this folder…")
    assert opened.pages.currentWidget() is opened.first_run
    assert opened.workspace.current.folder == memory.folder
    opened.first_run.workspace_chosen.emit(other_folder)
    qtbot.waitUntil(lambda: at_rest(opened) and opened.viewer.has_file)
    assert opened.workspace.current.folder == other_folder
    assert opened.viewer.target.name == "topics/shopping.md"


def test_link_opens_folder_opened_before(qtbot, window, memory, link):
    window.state.remember(memory.folder)
    assert window.links.folder_of(link()) == memory.folder
    window.links.open(link(line=3))
    qtbot.waitUntil(lambda: at_rest(window) and window.viewer.has_file)
    assert window.viewer.target.part == (3, 3)


def test_link_waits_for_folder_being_opened(qtbot, window, memory, link):
    window.folders.open(memory.folder)
    window.links.open(link(line=3))
    qtbot.waitUntil(lambda: at_rest(window) and window.viewer.has_file)
    assert window.viewer.target.part == (3, 3)


def test_link_is_dropped_when_other_folder_is_opened(qtbot, opened, memory, tmp_path):
    other_folder = tmp_path / "other"
    other_folder.mkdir()
    opened.links.open(write_link(Link(workspace=str(other_folder), path=NOTE)))
    _action(opened, "Preview this folder…")
    opened.folders.open(tmp_path)
    qtbot.waitUntil(lambda: at_rest(opened))
    opened.folders.open(other_folder)
    qtbot.waitUntil(lambda: at_rest(opened) and opened.workspace.current is not None)
    assert not opened.viewer.has_file


def test_unknown_link_names_no_folder(window, tmp_path):
    assert window.links.folder_of("mnemoscope://open?workspace=/n") is None
    assert window.links.folder_of(write_link(Link(workspace=str(tmp_path), path="a.md"))) is None


# --- links that the system passes to the program --------------------------------------------------------------------


@pytest.fixture
def mac(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate macOS, the only system that sends such events."""
    monkeypatch.setattr("gui.controllers.sharing.sys", SimpleNamespace(platform="darwin"))


@pytest.mark.usefixtures("mac")
def test_link_from_system_is_opened(qtbot, opened, link):
    QCoreApplication.sendEvent(QApplication.instance(), QFileOpenEvent(QUrl(link(line=8))))
    qtbot.waitUntil(lambda: opened.viewer.has_file)
    assert opened.viewer.target.part == (8, 8)


@pytest.mark.usefixtures("mac")
def test_file_from_system_is_not_a_link(opened):
    QCoreApplication.sendEvent(QApplication.instance(), QFileOpenEvent(QUrl("file:///tmp/a.md")))
    assert not opened.banner.text


# --- copying --------------------------------------------------------------------------------------------------------


def test_result_link_has_citation_lines(qtbot, opened, memory):
    opened.search.search("irrigation")
    qtbot.waitUntil(lambda: at_rest(opened) and opened.search.body.list.current_result() is not None)
    results = opened.search.body.list
    result = results.current_result()
    next(action for action in results.actions() if action.text() == "Copy link").trigger()
    lines = (result.start_line, result.end_line if result.end_line > result.start_line else None)
    assert _copied() == Link(workspace=str(memory.folder), path=result.path, line=lines[0], end=lines[1])


def test_file_link_has_shown_line(qtbot, opened, memory):
    opened.viewer.show_file(NOTE, 8)
    qtbot.waitUntil(lambda: opened.viewer.opened is not None)
    opened.viewer.file_actions.link.trigger()
    assert _copied() == Link(workspace=str(memory.folder), path=NOTE, line=8)


def test_message_link_has_message_id(qtbot, opened, memory):
    with qtbot.waitSignal(opened.views.conversation.session_shown):
        opened.views.show_location(Location(VALVE, 1))
    conversation = opened.views.conversation
    conversation.view.current.go_to(2)
    conversation.session_actions.link.trigger()
    open_session = conversation.opened.conversation
    message = open_session.message(open_session.entries[conversation.view.current.number])
    assert message.id
    assert _copied() == Link(workspace=str(memory.folder), path=VALVE, line=message.line, message=message.id)


def test_session_link_has_only_path(qtbot, opened, memory):
    opened.views.switch("sessions")
    sessions = opened.views.sessions.view.list
    qtbot.waitUntil(lambda: sessions.current_session() is not None)
    next(action for action in sessions.actions() if action.text() == "Copy link").trigger()
    assert _copied() == Link(workspace=str(memory.folder), path=sessions.current_session().path)
