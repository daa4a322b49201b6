from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton

import engine
from engine import FileIssue, load_settings, save_setting
from gui.sources.sessions_page import SourcesPage, unread_transcripts
from gui.widgets.form_controls import CheckBox
from tests.helpers.fake_memory import FakeMemory

Left = Qt.MouseButton.LeftButton


@pytest.fixture
def home(user_home) -> Path:
    """A home folder with the sessions of two agents, an export, and a folder of no known agent."""
    for name in (
        ".claude/projects/p/one.jsonl",
        ".codex/sessions/2026/rollout-1.jsonl",
        "Downloads/chatgpt.zip",
        "old/sessions/two.jsonl",
    ):
        (user_home / name).parent.mkdir(parents=True, exist_ok=True)
        (user_home / name).write_text("{}\n")
    return user_home


@pytest.fixture
def notes(tmp_path) -> Path:
    folder = tmp_path / "garden"
    folder.mkdir()
    return folder


@pytest.fixture
def page(qtbot, appearance, jobs) -> SourcesPage:
    page = SourcesPage(jobs)
    qtbot.addWidget(page)
    page.resize(900, 700)
    with qtbot.waitActive(page):
        page.show()
        page.activateWindow()
    return page


def _begin(qtbot, page: SourcesPage, folder: Path, manager=None) -> None:
    page.begin(folder, manager)
    qtbot.waitUntil(lambda: page.ready)


def _button(page: SourcesPage, words: str) -> QPushButton:
    return next(b for b in page.findChildren(QPushButton) if b.text() == words and b.isVisible())


def _boxes(page: SourcesPage) -> dict[str, CheckBox]:
    return {box.label: box for box in page.findChildren(CheckBox) if box.isVisible()}


def _ticks(page: SourcesPage) -> dict[str, bool]:
    return {words: box.isChecked() for words, box in _boxes(page).items()}


def _words(page: SourcesPage) -> str:
    return " | ".join(label.text().replace("\u200b", "") for label in page.findChildren(QLabel) if label.isVisible())


def _save(qtbot, page: SourcesPage) -> None:
    with qtbot.waitSignal(page.saved):
        qtbot.mouseClick(_button(page, "Save and index"), Left)


def _drop(page: SourcesPage, *paths: Path) -> bool:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    keys = Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, Left, keys)
    enter.ignore()
    page.dragEnterEvent(enter)
    if enter.isAccepted():
        page.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, Left, keys))
    return enter.isAccepted()


def test_configured_folders_are_ticked_and_others_offered(qtbot, page, home, notes):
    save_setting("sessions.folders", ("~/.codex/sessions", str(home / "Downloads/chatgpt.zip")), workspace=notes)
    _begin(qtbot, page, notes)
    assert _ticks(page) == {"Codex": True, "chatgpt.zip": True, "Claude Code": False}
    assert "together with the folder garden. Nothing is read before you save" in _words(page)
    assert "nothing is ever written there" in _words(page)
    assert not _button(page, "Save and index").isEnabled()
    assert _boxes(page)["Codex"].hasFocus()


def test_ticked_folder_is_saved_for_this_workspace(qtbot, page, home, notes):
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*.jsonl")}
    _begin(qtbot, page, notes)
    qtbot.keyClick(_boxes(page)["Claude Code"], Qt.Key.Key_Space)
    with qtbot.waitSignal(page.saved) as saved:
        qtbot.mouseClick(_button(page, "Save and index"), Left)
    assert saved.args == [notes]
    assert load_settings(notes).sessions.folders == (str(home / ".claude/projects"),)
    assert load_settings().sessions.folders == ()
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*.jsonl")} == before


def test_unticked_folder_is_removed_with_notice(qtbot, page, home, notes):
    save_setting("sessions.folders", ("~/.codex/sessions", str(home / "old")), workspace=notes)
    _begin(qtbot, page, notes)
    assert "leaves the index" not in _words(page)
    qtbot.mouseClick(_boxes(page)["old"], Left)
    assert "Unticked sessions leave the index; the files themselves stay unchanged." in _words(page)
    _save(qtbot, page)
    assert load_settings(notes).sessions.folders == ("~/.codex/sessions",)
    _begin(qtbot, page, notes)
    assert _ticks(page) == {"Codex": True, "Claude Code": False}


def test_workspace_can_override_default_folders_with_none(qtbot, page, home, notes):
    save_setting("sessions.folders", ("~/.codex/sessions",))
    _begin(qtbot, page, notes)
    qtbot.mouseClick(_boxes(page)["Codex"], Left)
    _save(qtbot, page)
    assert load_settings(notes).sessions.folders == ()
    assert load_settings().sessions.folders == ("~/.codex/sessions",)


def test_folders_and_exports_are_added_by_dialog(qtbot, page, home, notes, monkeypatch):
    folders = ["", str(home / "old")]
    exports = [([], ""), ([str(home / "Downloads/chatgpt.zip")], "")]
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: folders.pop(0))
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: exports.pop(0))
    _begin(qtbot, page, notes)
    for _ in range(2):
        qtbot.mouseClick(_button(page, "Add a folder…"), Left)
        qtbot.waitUntil(lambda: page.ready)
        assert folders or _boxes(page)["old"].hasFocus()
        qtbot.mouseClick(_button(page, "Add an export…"), Left)
        qtbot.waitUntil(lambda: page.ready)
    assert _ticks(page) == {"Claude Code": False, "Codex": False, "old": True, "chatgpt.zip": True}
    _save(qtbot, page)
    assert load_settings(notes).sessions.folders == (str(home / "old"), str(home / "Downloads/chatgpt.zip"))


def test_folders_and_exports_can_be_dropped(qtbot, page, home, notes):
    _begin(qtbot, page, notes)
    qtbot.mouseClick(_boxes(page)["Claude Code"], Left)
    (home / "Downloads/picture.png").write_text("x")
    assert not _drop(page, home / "Downloads/picture.png")
    assert not _drop(page, home / "old", home / "Downloads/picture.png")
    assert _drop(page, home / "old", home / "Downloads/chatgpt.zip", home / ".codex/sessions")
    qtbot.waitUntil(lambda: page.ready)
    assert _ticks(page) == {"Claude Code": True, "Codex": True, "old": True, "chatgpt.zip": True}


def test_nested_folder_is_not_listed_twice(qtbot, page, home, notes):
    save_setting("sessions.folders", (str(home / ".codex"),), workspace=notes)
    _begin(qtbot, page, notes)
    assert _ticks(page) == {".codex": True, "Claude Code": False}
    qtbot.mouseClick(_boxes(page)["Claude Code"], Left)
    assert _drop(page, home / ".claude")
    qtbot.waitUntil(lambda: page.ready)
    _save(qtbot, page)
    assert load_settings(notes).sessions.folders == (str(home / ".codex"), str(home / ".claude"))


def test_same_folder_under_two_names_is_one_row(qtbot, page, home, notes):
    save_setting("sessions.folders", ("~/.codex/sessions", str(home / ".codex/sessions")), workspace=notes)
    _begin(qtbot, page, notes)
    assert _ticks(page) == {"Codex": True, "Claude Code": False}
    assert not _button(page, "Save and index").isEnabled()


def test_machine_without_sessions_shows_message(qtbot, page, notes):
    _begin(qtbot, page, notes)
    assert "No sessions of AI agents were found on this machine." in _words(page)
    assert _button(page, "Add a folder…").isEnabled()


def test_missing_folder_stays_listed_while_ticked(qtbot, page, home, notes):
    save_setting("sessions.folders", (str(home / "gone"),), workspace=notes)
    _begin(qtbot, page, notes)
    assert _ticks(page)["gone"] is True
    assert f"The session folder {home / 'gone'} does not exist." in _words(page)


def test_broken_settings_show_error_and_disable_buttons(qtbot, page, notes, user_home):
    config = user_home / ".config/mnemoscope/settings.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[defaults]\nmodle = 3\n")
    _begin(qtbot, page, notes)
    assert "modle" in _words(page)
    for words in ("Save and index", "Add a folder…", "Add an export…"):
        assert not _button(page, words).isEnabled()


def test_failed_save_shows_error_and_can_be_retried(qtbot, page, home, notes, monkeypatch):
    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied", "settings.toml")

    _begin(qtbot, page, notes)
    qtbot.mouseClick(_boxes(page)["Codex"], Left)
    monkeypatch.setattr(engine, "save_setting", refuse, raising=False)
    qtbot.mouseClick(_button(page, "Save and index"), Left)
    qtbot.waitUntil(lambda: "Permission denied: settings.toml." in _words(page))
    assert _button(page, "Save and index").isEnabled()


@pytest.mark.parametrize("how", ["Esc", "Back"])
def test_leaving_first_run_page_changes_nothing(qtbot, page, home, notes, how):
    _begin(qtbot, page, notes)
    qtbot.mouseClick(_boxes(page)["Codex"], Left)
    with qtbot.waitSignal(page.back_requested):
        if how == "Esc":
            qtbot.keyClick(_boxes(page)["Codex"], Qt.Key.Key_Escape)
        else:
            qtbot.mouseClick(_button(page, "Back"), Left)
    assert load_settings(notes).sessions.folders == ()


def test_leaving_during_discovery_ends_it(qtbot, page, home, notes):
    page.begin(notes)
    assert not page.ready
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert page.ready


def test_files_that_the_update_did_not_read_are_named(qtbot, page, home, notes):
    issues = [FileIssue(path=f"sessions/claude/{n}.jsonl", rule="unknown-format", detail="No.") for n in range(7)]
    other = FileIssue(path="sessions/claude/copy.jsonl", rule="copied", detail="A copy.")
    names = "broken.pdf", "sessions/broken.pdf", "sessions/of 2026/broken.pdf"
    broken = [FileIssue(path=name, rule="broken", detail="A damaged note.") for name in names]
    memory = FakeMemory()
    memory.set_status(skipped_files=(other, *broken, *issues))
    save_setting("sessions.folders", (str(home / ".claude/projects"),), workspace=notes)
    _begin(qtbot, page, notes, memory)
    shown = " ".join(each.text() for each in page.findChildren(QLabel) if each.isVisible())
    assert [name for name in "01234567" if f"claude/{name}.jsonl: No." in shown.replace("\u200b", "")] == [*"01234"]
    assert "2 more files were not read." in shown
    assert "sessions/claude: 2 more files" in shown.replace("\u200b", "")
    assert "copy" not in shown
    assert "damaged note" not in shown


def test_unread_files_of_several_stores_are_counted_for_all():
    stores = ["a", *["claude"] * 5, "codex"]
    issues = [FileIssue(path=f"sessions/{store}/x.jsonl", rule="broken", detail="No.") for store in stores]
    assert unread_transcripts(issues, [f"sessions/{store}" for store in stores])[-1].path == "sessions"
