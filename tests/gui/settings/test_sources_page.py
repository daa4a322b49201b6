import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton

import engine
from engine import Cancelled, FileIssue, FoundSource, FoundSources, Settings, WorkspacePreview, load_settings
from gui.settings.dialog import SettingsDialog
from gui.settings.sources_page import Match, first_names, match_text, rule_lines
from gui.widgets.accessibility import stops
from gui.widgets.form_controls import CheckBox, Chip
from tests.helpers.fake_memory import FakeMemory


def _source(kind: str, path: Path, name: str = "", agent: str = "") -> FoundSource:
    return FoundSource(
        kind=kind, agent=agent, name=name, path=str(path), files=3, bytes=300, newest=None, complete=True
    )


@pytest.fixture
def notes(tmp_path) -> Path:
    folder = tmp_path / "notes"
    for name in ("irrigation.md", "roses.md", "drafts/old.md", "todo.log"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("# Text\n")
    return folder


@pytest.fixture
def offered(tmp_path, monkeypatch) -> dict[str, Path]:
    """Sources found on this machine: a vault and a folder of sessions."""
    found = {"vault": tmp_path / "vault", "claude": tmp_path / "claude"}
    for path in found.values():
        path.mkdir()
    answer = FoundSources(
        sources=(
            _source("obsidian-vault", found["vault"], "Garden"),
            _source("sessions", found["claude"], "", "claude"),
        ),
        issues=(),
    )
    monkeypatch.setattr(engine, "find_sources", lambda **_: answer, raising=False)
    return found


@pytest.fixture
def dialog(qtbot, appearance, jobs, memory, notes, offered, user_home) -> SettingsDialog:
    dialog = SettingsDialog(jobs)
    qtbot.addWidget(dialog)
    with qtbot.waitActive(dialog):
        dialog.begin(notes, Settings(), memory, "sources")
        dialog.activateWindow()
    qtbot.waitUntil(lambda: dialog.ready)
    return dialog


def _page(dialog):
    return dialog.pages.page("sources")


def _shown_text(widget) -> str:
    return " | ".join(found.text().replace("\u200b", "") for found in widget.findChildren(QLabel) if found.isVisible())


def _rest(qtbot, dialog) -> None:
    qtbot.waitUntil(lambda: dialog.ready)


def _type(qtbot, dialog, key: str, text: str) -> None:
    edit = _page(dialog).rows[key].field.focusProxy()
    edit.setFocus()
    qtbot.keyClicks(edit, text)
    _rest(qtbot, dialog)


def test_card_shows_indexed_and_excluded_files(qtbot, dialog):
    text = _shown_text(_page(dialog).card)
    for words in ("3 notes", "irrigation.md", "drafts/old.md", "*.log"):
        assert words in text


def test_exclude_pattern_preview_updates_while_typing(qtbot, dialog, notes):
    _type(qtbot, dialog, "exclude", "drafts/")
    text = _shown_text(_page(dialog).card)
    assert "2 notes, 14 bytes; 1 fewer than are indexed now." in text
    assert 'Excluded by the pattern "drafts/"' in text
    assert dialog.model.pending == 0
    edit = _page(dialog).rows["exclude"].field.focusProxy()
    qtbot.keyClick(edit, Qt.Key.Key_Escape)
    _rest(qtbot, dialog)
    assert "3 notes" in _shown_text(_page(dialog).card)


def test_added_extension_previews_notes_then_is_saved(qtbot, dialog, notes):
    edit = _page(dialog).rows["extensions"].field.focusProxy()
    edit.setFocus()
    edit.moveCursor(edit.textCursor().MoveOperation.End)
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    qtbot.keyClicks(edit, ".log")
    _rest(qtbot, dialog)
    assert "4 notes" in _shown_text(_page(dialog).card)
    assert load_settings(notes).extensions == Settings().extensions
    with qtbot.waitSignal(dialog.saved):
        qtbot.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert load_settings(notes).extensions == (*Settings().extensions, ".log")
    assert load_settings().extensions == Settings().extensions


def test_click_on_a_kind_enters_the_extension(qtbot, dialog, notes):
    (notes / "plan.canvas").write_text("{}")
    page = _page(dialog)
    page.card.show_match(notes, Settings(max_file_bytes=1_000_000), Settings())
    _rest(qtbot, dialog)
    [chip] = [chip for chip in page.card.findChildren(Chip) if chip.text() == ".canvas 1"]
    assert not chip.isChecked()
    qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
    _rest(qtbot, dialog)
    assert dialog.model.layers.settings.extensions == (*Settings().extensions, ".canvas")
    assert "4 notes" in _shown_text(page.card)
    assert chip.isChecked()


def test_slow_preview_is_cancelled_by_further_typing(qtbot, dialog, monkeypatch):
    ended, begun = [], threading.Event()
    real = engine.preview_workspace

    def slow(folder, settings, *, cancel):
        if settings.exclude != ("a",):
            return real(folder, settings, cancel=cancel)
        begun.set()
        try:
            while True:
                cancel.checkpoint()
        except Cancelled:
            ended.append(settings.exclude)
            raise

    monkeypatch.setattr(engine, "preview_workspace", slow, raising=False)
    edit = _page(dialog).rows["exclude"].field.focusProxy()
    edit.setFocus()
    qtbot.keyClicks(edit, "a")
    qtbot.waitUntil(begun.is_set)
    qtbot.keyClicks(edit, "b*")
    _rest(qtbot, dialog)
    qtbot.waitUntil(lambda: ended == [("a",)])
    assert "3 notes" in _shown_text(_page(dialog).card)


def test_folders_are_added_suggested_and_removed(qtbot, dialog, offered, tmp_path, monkeypatch):
    field = _page(dialog).rows["extra_paths"].field
    more = tmp_path / "more"
    more.mkdir()
    (more / "a.md").write_text("# A\n")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(more))
    next(b for b in field.findChildren(QPushButton) if b.text() == "Add a folder…").click()
    _rest(qtbot, dialog)
    assert "4 notes" in _shown_text(_page(dialog).card)
    add = next(b for b in field.findChildren(QPushButton) if b.accessibleName() == "Add Obsidian vault Garden")
    add.click()
    assert dialog.model.layers.effective("extra_paths") == (str(more), str(offered["vault"]))
    qtbot.waitUntil(lambda: sum(b.isVisible() for b in field.findChildren(QPushButton) if b.text() == "Remove") == 2)
    ahead = [stop.accessibleName() or stop.text() for stop in stops(field) if stop.isVisible()]
    assert ahead[:3] == [f"Remove {more}", f"Remove {offered['vault']}", "Add a folder…"]
    assert not any(b.isVisible() for b in field.findChildren(QPushButton) if b.text() == "Add")
    next(b for b in field.findChildren(QPushButton) if b.accessibleName() == f"Remove {more}").click()
    assert dialog.model.layers.effective("extra_paths") == (str(offered["vault"]),)
    assert dialog.model.undo() == "extra_paths"
    assert dialog.model.layers.effective("extra_paths") == (str(more), str(offered["vault"]))


def test_workspace_paths_include_global_paths(qtbot, dialog, notes, tmp_path):
    engine.save_setting("extra_paths", ("/all",))
    dialog.model.read_again()
    _rest(qtbot, dialog)
    row = _page(dialog).rows["extra_paths"]
    assert row.footer.origin.text() == "Global"
    next(
        action for action in row.footer.layer_menu().actions() if action.text() == "Only for the open folder"
    ).trigger()
    row.field.entered.emit(("/all", "/own"))
    _rest(qtbot, dialog)
    assert load_settings(notes).extra_paths == ("/all", "/own")


def test_local_session_folder_can_be_ticked(qtbot, dialog, offered, notes):
    field = _page(dialog).rows["sessions.folders"].field
    box = next(iter(field.findChildren(CheckBox)))
    assert not box.isChecked()
    box.click()
    assert dialog.model.layers.effective("sessions.folders") == (str(offered["claude"]),)
    assert "sessions" in dialog.model.layers.settings.sources
    assert dialog.model.undo() == "sessions.folders"
    _rest(qtbot, dialog)
    assert not next(box for box in field.findChildren(CheckBox) if box.isVisible()).isChecked()


def _preview(files: int, *skipped: FileIssue, first: tuple[str, ...] = ()) -> WorkspacePreview:
    return WorkspacePreview(
        workspace="/notes",
        layout="folder",
        files=files,
        bytes=files * 1000,
        folders=(),
        skipped=skipped,
        session_files=0,
        session_bytes=0,
        first=first,
    )


def test_match_is_worded_with_counts_and_first_names():
    assert match_text(Match(_preview(1200), _preview(1))) == "1,200 notes, 1.2 MB; 1,199 more than are indexed now."
    assert match_text(Match(_preview(0), _preview(2))) == "No note is indexed; 2 fewer than are indexed now."
    assert match_text(Match(_preview(1), _preview(1))) == "1 note, 1.0 KB."
    assert first_names(_preview(3, first=("a.md", "b.md"))) == "a.md, b.md and 1 more note."
    assert first_names(_preview(2, first=("a.md", "b.md"))) == "a.md, b.md."
    assert first_names(_preview(0)) == ""


def test_rule_lines_group_files_by_reason():
    by_pattern = [FileIssue(path=f"d{number}.md", rule="excluded", detail="By d*.") for number in range(5)]
    others = [FileIssue(path=f"x{number}", rule="symlink", detail=f"Link {number}.") for number in range(6)]
    lines = rule_lines([others[0], *by_pattern, *others[1:]]).splitlines()
    assert lines[0] == "d0.md, d1.md, d2.md and 2 more: By d*."
    assert lines[-1] == "2 more reasons below."


def test_rule_lines_give_all_extensions_one_line():
    def counted(name: str, count: str) -> FileIssue:
        return FileIssue(path=name, rule="extension", detail=f"{count}; only .md, .txt files are indexed.")

    issues = [counted("*.ini", "1 file"), counted("*.png", "1,895 files"), counted("*.kra", "1 file")]
    assert rule_lines(issues) == "*.png (1,895), *.ini (1), *.kra (1): Only .md, .txt files are indexed."


def test_files_not_read_are_those_of_the_memory_that_is_open(qtbot, dialog, notes, memory, offered):
    for number, folder in enumerate(offered.values()):
        engine.save_setting("sessions.folders", (str(folder),), workspace=notes)
        reopened = FakeMemory(folder=memory.folder)
        issue = FileIssue(path=f"sessions/{folder.name}/{number}.jsonl", rule="broken", detail="It breaks off.")
        reopened.set_status(skipped_files=(issue,))
        dialog.begin(notes, load_settings(notes), reopened, "sources")
        qtbot.waitUntil(lambda n=number: dialog.ready and f"{n}.jsonl: It breaks off." in _shown_text(_page(dialog)))
        reopened.close()
