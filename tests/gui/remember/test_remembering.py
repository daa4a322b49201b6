"""Saving a session from the window as a note in the workspace, also after agents have written notes."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QMenu, QPlainTextEdit, QPushButton

import engine
from engine import WrittenNote, save_note
from gui.remember.controller import RememberController
from tests.helpers.embedding_servers.chat_server import KEY, ChatServer
from tests.helpers.fake_sessions import MASK, SECRET, SESSIONS, VALVE
from tests.helpers.windows import at_rest, finish_jobs

Key = Qt.Key
Alt = Qt.KeyboardModifier.AltModifier


@pytest.fixture(autouse=True)
def _trash(user_home, monkeypatch):
    """Create the parent folders of the trash, which Qt does not create."""
    monkeypatch.setenv("XDG_DATA_HOME", str(user_home / "data"))
    (user_home / "data").mkdir()


@pytest.fixture
def sessions(qtbot, window, memory):
    """The window with the sessions view open, and VALVE selected."""
    memory.session_texts = dict(SESSIONS)
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    window.views.switch("sessions")
    qtbot.waitUntil(lambda: at_rest(window) and window.views.sessions.view.has_rows)
    window.views.sessions.view.list.go_to(VALVE)
    qtbot.waitUntil(lambda: not window.views.sessions.busy)
    return window


def controller(window) -> RememberController:
    return window.remember.controller


def press(widget, words: str) -> None:
    found = [b for b in widget.findChildren(QPushButton) if b.text() == words and not b.isHidden()]
    found[0].click()


def open_dialog(qtbot, window):
    window.views.sessions.focus_list()
    qtbot.keyClick(window.views.sessions.view.list, Key.Key_N, Alt)
    qtbot.waitUntil(lambda: controller(window).ready)
    return controller(window).dialog


def notes(memory) -> list[str]:
    return sorted(path.name for path in (memory.folder / "memory").glob("*.md"))


def test_session_is_saved_as_note(qtbot, sessions, memory):
    dialog = open_dialog(qtbot, sessions)
    dialog.findChild(QLineEdit).setText("valve")
    dialog.findChild(QPlainTextEdit).appendPlainText(f"Mine: OPENAI_API_KEY={SECRET}")
    press(dialog, "Save")
    qtbot.waitUntil(lambda: "Saved as memory/" in sessions.banner.text)
    [name] = notes(memory)
    assert name.endswith("-valve.md")
    text = (memory.folder / "memory" / name).read_text()
    assert text.startswith("# Session: ")
    assert f"- **Session Key**: {VALVE}\n" in text
    assert "Mine: " in text
    assert SECRET not in text
    assert MASK in text
    qtbot.waitUntil(lambda: ("watch", False) in memory.syncs)  # on a busy machine, another sync comes first
    assert memory.unseen_notes.all() == ()
    assert controller(sessions).dialog is None


def test_saved_note_opens_or_moves_to_trash(qtbot, sessions, memory, user_home):
    press(open_dialog(qtbot, sessions), "Save")
    qtbot.waitUntil(lambda: "Saved as" in sessions.banner.text)
    [name] = notes(memory)
    memory.files[f"memory/{name}"] = "# Session\n"
    press(sessions.banner, "Open")
    qtbot.waitUntil(lambda: sessions.views.current == "search" and sessions.viewer.has_file)
    controller(sessions).remember(VALVE, "Fix the valve controller")
    qtbot.waitUntil(lambda: controller(sessions).ready)
    press(controller(sessions).dialog, "Save")
    qtbot.waitUntil(lambda: len(notes(memory)) == 2)
    qtbot.waitUntil(lambda: "Saved as" in sessions.banner.text)
    press(sessions.banner, "Undo")
    qtbot.waitUntil(lambda: "is in the trash" in sessions.banner.text)
    assert notes(memory) == [name]
    assert len(list((user_home / "data" / "Trash" / "files").iterdir())) == 1


def test_changed_note_is_not_undone(qtbot, sessions, memory):
    press(open_dialog(qtbot, sessions), "Save")
    qtbot.waitUntil(lambda: "Saved as" in sessions.banner.text)
    file = memory.folder / "memory" / notes(memory)[0]
    file.write_text("mine")
    press(sessions.banner, "Undo")
    qtbot.waitUntil(lambda: "was changed after it was written, so it is not deleted" in sessions.banner.text)
    assert file.read_text() == "mine"


def test_menu_and_conversation_offer_remember(qtbot, sessions, monkeypatch):
    requests = []
    for actions in (sessions.views.sessions.actions, sessions.views.conversation.session_actions):
        actions.remember_requested.disconnect()
        actions.remember_requested.connect(lambda *arguments: requests.append(arguments))
    monkeypatch.setattr(QMenu, "popup", lambda menu, _: menus.append(menu))
    menus: list[QMenu] = []
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(0, 0), QPoint(0, 0))
    QApplication.sendEvent(sessions.views.sessions.view.list.viewport(), event)
    next(action for action in menus[0].actions() if action.text() == "Save as note…").trigger()
    menus[0].aboutToHide.emit()
    qtbot.waitUntil(lambda: not sessions.views.conversation.isHidden())
    qtbot.waitUntil(lambda: sessions.views.conversation.opened is not None)
    sessions.views.focus_reader()
    qtbot.keyClick(sessions.views.conversation, Key.Key_N, Alt)
    assert requests == [(VALVE, "Fix the valve controller")] * 2


def test_unreadable_session_is_reported_on_dialog(qtbot, sessions, memory):
    memory.session_error = FileNotFoundError(VALVE)
    sessions.views.sessions.focus_list()
    qtbot.keyClick(sessions.views.sessions.view.list, Key.Key_N, Alt)
    qtbot.waitUntil(lambda: "no longer exists" in words(controller(sessions).dialog))
    memory.session_error = None
    controller(sessions).dialog.reject()
    assert controller(sessions).dialog is None


def words(dialog) -> str:
    return " ".join(label.text() for label in dialog.findChildren(QLabel) if label.isVisible()).replace("\u200b", "")


def test_failed_save_stays_on_sheet_for_retry(qtbot, sessions, memory, tmp_path):
    (memory.folder / "memory").symlink_to(tmp_path)
    dialog = open_dialog(qtbot, sessions)
    press(dialog, "Save")
    qtbot.waitUntil(lambda: "is a symbolic link" in words(dialog))
    (memory.folder / "memory").unlink()
    press(dialog, "Save")
    qtbot.waitUntil(lambda: "Saved as" in sessions.banner.text)


def test_closing_workspace_closes_dialog(qtbot, sessions):
    dialog = open_dialog(qtbot, sessions)
    dialog.findChild(QPlainTextEdit).appendPlainText("Mine.")
    sessions.workspace.close()
    assert controller(sessions).dialog is None


def test_configured_model_suggests_name(qtbot, window, memory, monkeypatch):
    monkeypatch.setenv("CHAT_KEY", KEY)
    memory.session_texts = dict(SESSIONS)
    with ChatServer("sticky-relay") as server:
        slug = server.named().remember.slug
        engine.save_settings(
            {f"remember.slug.{key}": getattr(slug, key) for key in ("model", "base_url", "api_key_env")},
            workspace=memory.folder,
        )
        window.folders.open(memory.folder)
        qtbot.waitUntil(lambda: at_rest(window))
        controller(window).remember(VALVE, "Fix the valve controller")
        qtbot.waitUntil(lambda: controller(window).ready)
        dialog = controller(window).dialog
        assert dialog.findChild(QLineEdit).text() == "sticky-relay"
        dialog.reject()
        server.faults.append(server.unauthorized())
        controller(window).remember(VALVE, "Fix the valve controller")
        qtbot.waitUntil(lambda: controller(window).ready)
        dialog = controller(window).dialog
        assert "The name was made from the session's own words." in words(dialog)
        assert "refused the API key" in words(dialog)
        assert dialog.findChild(QLineEdit).text() not in {"", "sticky-relay"}
        dialog.reject()


# --- what agents wrote ----------------------------------------------------------------------------------------------


def by_agent(memory, slug: str) -> WrittenNote:
    settings = engine.Settings()
    note = engine.draft_note(memory, memory.folder, settings, VALVE)
    return save_note(memory, memory.folder, settings, note, slug=slug, by_agent=True)


def test_agent_note_is_announced_while_window_is_open(qtbot, sessions, memory):
    note = by_agent(memory, "first")
    memory.changed()
    memory.sync()
    qtbot.waitUntil(lambda: sessions.banner.text == f"An agent wrote the session note {note.path}.")
    press(sessions.banner, "Keep the note")
    qtbot.waitUntil(lambda: memory.unseen_notes.all() == ())
    assert notes(memory) == [note.path.removeprefix("memory/")]


def test_unseen_notes_are_announced_at_start_until_opened(qtbot, window, memory):
    memory.session_texts = dict(SESSIONS)
    first, second = by_agent(memory, "first"), by_agent(memory, "second")
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: "Agents wrote 2 session notes" in window.banner.text)
    assert set(memory.unseen_notes.all()) == {first, second}
    memory.files[second.path] = memory.files[first.path] = "# Session\n"
    press(window.banner, "Open")
    qtbot.waitUntil(lambda: memory.unseen_notes.all() == () and window.viewer.has_file)


def test_agent_note_message_waits_for_other_messages(qtbot, window, memory, jobs):
    memory.session_texts = dict(SESSIONS)
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    window.banner.show_message("Rebuild the whole index?", "working", key="rebuild")
    note = by_agent(memory, "first")
    window.remember.unseen.check()
    finish_jobs(jobs)
    assert window.banner.text == "Rebuild the whole index?"
    window.banner.clear("rebuild")
    assert window.banner.text == f"An agent wrote the session note {note.path}."
    window.banner.show_message("The disk is full.", "degraded", key="index")
    window.banner.clear()
    assert window.banner.text == f"An agent wrote the session note {note.path}."
    window.banner.clear()
    window.banner.show_message("The disk is full.", "degraded", key="index")
    window.banner.clear()
    assert window.banner.text == "", "the user dismissed it"
    assert memory.unseen_notes.all() == (note,), "it is announced again at the next start"


def test_agent_note_can_be_moved_to_trash(qtbot, window, memory):
    memory.session_texts = dict(SESSIONS)
    by_agent(memory, "first")
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: "An agent wrote" in window.banner.text)
    press(window.banner, "Move to trash")
    qtbot.waitUntil(lambda: "is in the trash" in window.banner.text)
    assert notes(memory) == []
    qtbot.waitUntil(lambda: memory.unseen_notes.all() == ())


def test_changed_or_removed_agent_notes_count_as_seen(qtbot, window, memory):
    memory.session_texts = dict(SESSIONS)
    first, second = by_agent(memory, "first"), by_agent(memory, "second")
    (memory.folder / first.path).write_text("mine")
    (memory.folder / second.path).unlink()
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: memory.unseen_notes.all() == ())
    assert window.banner.text == ""
