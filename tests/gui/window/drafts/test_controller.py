"""Unsaved text is restored once, and never contains a secret."""

import json
import os

import pytest
from PySide6.QtWidgets import QPushButton

import engine
from gui.core.window_context import AppPaths
from gui.core.window_state import WindowState
from gui.core.workspace import Workspace
from gui.window.drafts import Draft, drafts_path, load_drafts, save_drafts
from gui.window.main_window import MainWindow
from tests.helpers.windows import at_rest


def _saved_drafts() -> list[dict]:
    return json.loads(drafts_path().read_text()) if drafts_path().exists() else []


def _press(window, words: str) -> None:
    [*_, newest] = (button for button in window.banner.findChildren(QPushButton) if button.text() == words)
    newest.click()


def _facts(qtbot, window):
    window.views.switch("facts")
    qtbot.waitUntil(lambda: window.views.facts.store.facts is not None and at_rest(window))
    return window.views.facts


@pytest.fixture
def begin(qtbot, appearance, jobs, memory, monkeypatch):
    monkeypatch.setattr(engine, "open_memory", lambda *_args, **_options: memory, raising=False)
    made = []

    def open_window() -> MainWindow:
        with appearance.bare():
            window = MainWindow(Workspace(jobs), jobs, appearance, WindowState(), paths=AppPaths())
        qtbot.addWidget(window)
        made.append(window)
        window.show()
        window.folders.open(memory.folder)
        qtbot.waitUntil(lambda: at_rest(window))
        return window

    yield open_window
    for window in made:
        assert window.shut_down(60_000)


def test_new_fact_draft_is_saved_while_typing_and_deleted_after(qtbot, opened):
    facts = _facts(qtbot, opened)
    facts.begin_new()
    facts.body.editor.text.setPlainText("I prefer the morning")
    qtbot.waitUntil(lambda: [draft["text"] for draft in _saved_drafts()] == ["I prefer the morning"])
    if os.name == "posix":
        assert drafts_path().stat().st_mode & 0o077 == 0
    facts.body.editor.save()
    qtbot.waitUntil(lambda: at_rest(opened) and not drafts_path().exists())


def test_discarded_edit_removes_draft(qtbot, opened):
    facts = _facts(qtbot, opened)
    facts.begin_new()
    facts.body.editor.text.setPlainText("I prefer the morning")
    qtbot.waitUntil(lambda: bool(_saved_drafts()))
    next(b for b in facts.body.editor.findChildren(QPushButton) if b.text() == "Discard").click()
    qtbot.waitUntil(lambda: not drafts_path().exists())


@pytest.mark.parametrize("text", ["The password is hunter2hunter2", "sk-proj-abcdefghijklmnopqrstuvwxyz123456"])
def test_draft_with_secret_is_not_saved(qtbot, opened, text):
    facts = _facts(qtbot, opened)
    facts.begin_new()
    facts.body.editor.text.setPlainText("I prefer the morning")
    qtbot.waitUntil(lambda: bool(_saved_drafts()))
    facts.body.editor.text.setPlainText(text)
    qtbot.waitUntil(lambda: not drafts_path().exists())


def test_fact_draft_is_restored_at_next_start(qtbot, begin, memory):
    save_drafts(str(memory.folder), [Draft(str(memory.folder), "fact", "", "I prefer the morning")])
    window = begin()
    qtbot.waitUntil(lambda: "I prefer the morning" in window.banner.text)
    _press(window, "Keep writing the note")
    qtbot.waitUntil(lambda: window.views.facts.body.editor.is_new)
    assert window.views.current == "facts"
    assert window.views.facts.body.editor.text.toPlainText() == "I prefer the morning"
    qtbot.waitUntil(lambda: [draft["text"] for draft in _saved_drafts()] == ["I prefer the morning"])


def test_fact_edit_draft_is_restored_into_its_fact(qtbot, begin, memory):
    fact = memory.facts.add("I prefer tea", category="preference", importance=0.7).fact
    save_drafts(str(memory.folder), [Draft(str(memory.folder), "fact", fact.id, "I prefer green tea")])
    window = begin()
    qtbot.waitUntil(lambda: "green tea" in window.banner.text)
    _press(window, "Keep writing the note")
    editor = window.views.facts.body.editor
    qtbot.waitUntil(lambda: editor.fact is not None and editor.fact.id == fact.id and editor.is_changed)
    assert editor.text.toPlainText() == "I prefer green tea"


def test_drafts_survive_window_closed_before_they_are_read(qtbot, appearance, jobs, memory, monkeypatch):
    monkeypatch.setattr(engine, "open_memory", lambda *_args, **_options: memory, raising=False)
    draft = Draft(str(memory.folder), "fact", "", "I prefer the morning")
    save_drafts(str(memory.folder), [draft])
    workspace, closed = Workspace(jobs), []
    with appearance.bare():
        window = MainWindow(workspace, jobs, appearance, WindowState(), paths=AppPaths())
    qtbot.addWidget(window)
    # The same turn, in which the answer to the reading of drafts cannot arrive.
    workspace.opened.connect(lambda _: closed.append(window.close()))
    window.show()
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: bool(closed))
    assert load_drafts() == (draft,)
    assert window.shut_down(60_000)


def test_discarded_drafts_at_start_are_deleted(qtbot, begin, memory):
    folder = str(memory.folder)
    other = Draft("/elsewhere", "fact", "", "Of another folder")
    save_drafts("/elsewhere", [other])
    save_drafts(folder, [Draft(folder, "fact", "", "One"), Draft(folder, "fact", "", "Two")])
    window = begin()
    for words in ("One", "Two"):
        qtbot.waitUntil(lambda words=words: f"“{words}”" in window.banner.text)
        _press(window, "Discard")
    qtbot.waitUntil(lambda: load_drafts() == (other,))


def test_draft_of_saved_fact_is_not_offered(qtbot, begin, memory):
    memory.facts.add("I prefer tea", category="preference", importance=0.7)
    save_drafts(str(memory.folder), [Draft(str(memory.folder), "fact", "", "I prefer tea")])
    window = begin()
    qtbot.waitUntil(lambda: not drafts_path().exists())
    assert window.banner.text == ""


def test_damaged_file_is_set_aside(caplog):
    drafts_path().parent.mkdir(parents=True)
    drafts_path().write_text('[{"folder": 3}]')
    assert load_drafts() == ()
    assert "drafts-damaged.json" in caplog.text
    assert drafts_path().with_name("drafts-damaged.json").read_text() == '[{"folder": 3}]'


def test_unwritable_path_causes_no_error(caplog, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("x")
    monkeypatch.setattr("gui.window.drafts.drafts_path", lambda: tmp_path / "file" / "drafts.json")
    save_drafts("/n", [Draft("/n", "fact", "", "Private words")])
    assert "could not be saved" in caplog.text
    assert "Private words" not in caplog.text


def test_drafts_that_cannot_be_read_now_are_not_replaced(caplog, monkeypatch):
    save_drafts("/n", [Draft("/n", "fact", "", "An old thought")])
    with monkeypatch.context() as locked:
        locked.setattr("gui.window.drafts.read_file", lambda _: (_ for _ in ()).throw(PermissionError(13, "Locked")))
        save_drafts("/m", [Draft("/m", "fact", "", "A new thought")])
        assert load_drafts() == ()
    assert [draft["text"] for draft in _saved_drafts()] == ["An old thought"]
    assert "could not be saved" in caplog.text
