"""Drafts of a session note, also after a power failure with an open dialog."""

import json

import pytest
from PySide6.QtWidgets import QPushButton

from gui.window.drafts import Draft, drafts_path, save_drafts
from tests.helpers.fake_sessions import SESSIONS, VALVE
from tests.helpers.windows import at_rest


@pytest.fixture
def sessions(qtbot, window, memory):
    memory.session_texts = dict(SESSIONS)
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    return window


def _saved_drafts() -> list[dict]:
    return json.loads(drafts_path().read_text()) if drafts_path().exists() else []


def test_note_draft_is_saved_until_discarded(qtbot, sessions):
    controller = sessions.remember.controller
    controller.remember(VALVE, "The valve")
    qtbot.waitUntil(lambda: controller.ready)
    controller.dialog.restore_draft("valve", "Call the plumber.")
    qtbot.waitUntil(lambda: len(_saved_drafts()) == 1 and _saved_drafts()[0]["text"] == "Call the plumber.")
    assert (_saved_drafts()[0]["id"], _saved_drafts()[0]["title"]) == (VALVE, "The valve")
    controller.dialog.reject()  # warns
    assert controller.dialog is not None
    controller.dialog.reject()
    qtbot.waitUntil(lambda: not drafts_path().exists())


def test_unchanged_note_saves_no_draft(qtbot, sessions):
    controller = sessions.remember.controller
    controller.remember(VALVE, "The valve")
    qtbot.waitUntil(lambda: controller.ready)
    sessions.session_restore.write_now()
    assert not drafts_path().exists()
    controller.dialog.reject()


def test_note_draft_is_restored_with_its_name(qtbot, window, memory):
    memory.session_texts = dict(SESSIONS)
    folder = str(memory.folder)
    save_drafts(folder, [Draft(folder, "note", VALVE, "Call the plumber.", "The valve", "plumber")])
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: "“The valve”" in window.banner.text)
    [*_, go_on] = (b for b in window.banner.findChildren(QPushButton) if b.text() == "Keep writing the note")
    go_on.click()
    controller = window.remember.controller
    qtbot.waitUntil(lambda: controller.ready and controller.dialog.is_changed)
    assert controller.dialog.typed == ("plumber", "Call the plumber.")
    qtbot.waitUntil(lambda: [draft["text"] for draft in _saved_drafts()] == ["Call the plumber."])
    controller.dialog.reject()
    controller.dialog.reject()
