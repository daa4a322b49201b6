import json
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QPushButton, QScrollArea, QWidget

import engine
from engine import Settings, WorkspaceError, load_settings, save_setting
from gui.sources.first_run_panel import FirstRunPanel
from gui.sources.folder_rows import DropZone
from gui.sources.index_preview import PreviewPage
from gui.widgets.form_controls import CheckBox, Chip
from gui.widgets.table import IssuesTable, RecordsTable
from tests.helpers.windows import MovedParts


@pytest.fixture
def notes(tmp_path) -> Path:
    folder = tmp_path / "garden-ä"
    for name, text in {
        "a.md": "# A",
        "topics/b.md": "# B",
        "topics/c.canvas": "C",
        "drafts/d.md": "# D",
        ".git/x.md": "x",
        "photo.jpg": "x",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def panel(qtbot, appearance, jobs) -> FirstRunPanel:
    panel = FirstRunPanel(jobs)
    qtbot.addWidget(panel)
    panel.resize(1000, 700)
    panel.show()
    return panel


def _button(panel: FirstRunPanel, words: str) -> QPushButton:
    return next(b for b in panel.findChildren(QPushButton) if b.text() == words and b.isVisible())


def _shown_buttons(panel: FirstRunPanel) -> list[QPushButton]:
    return [button for button in panel.findChildren(QPushButton) if button.isVisible()]


def _chip(panel: FirstRunPanel, words: str) -> Chip:
    return next(chip for chip in panel.findChildren(Chip) if words in chip.text())


def _words(panel: FirstRunPanel) -> str:
    return " | ".join(label.text().replace("\u200b", "") for label in panel.findChildren(QLabel) if label.isVisible())


def _offer(qtbot, panel: FirstRunPanel, folder: Path) -> None:
    panel.offer(folder)
    qtbot.waitUntil(lambda: panel.ready)


def test_welcome_reads_nothing(panel):
    assert panel.ready
    assert "Find things in your notes" in _words(panel)


def test_small_window_scrolls_preview(qtbot, panel, notes):
    panel.resize(560, 300)
    _offer(qtbot, panel, notes)
    fields = [*(_chip(panel, words) for words in (".md", "to index", "skipped")), panel.findChild(QLineEdit)]
    # The page is laid out in later events than the one that makes the panel ready.
    qtbot.waitUntil(
        lambda: all(field.height() >= field.minimumSizeHint().height() for field in fields if field.isVisible())
    )
    accept = _button(panel, "Index this folder")
    qtbot.waitUntil(lambda: accept.mapTo(panel, QPoint(0, accept.height())).y() <= panel.height())
    preview = accept.window().findChild(PreviewPage)
    qtbot.waitUntil(lambda: preview.findChild(QScrollArea).verticalScrollBar().maximum() > 0)
    chip = _chip(panel, "to index")
    for height in (300, 900, 300):
        panel.resize(900, height)
        qtbot.waitUntil(lambda: accept.mapTo(panel, QPoint()).x() == chip.mapTo(panel, QPoint()).x())


def test_preview_parts_never_overlap(qtbot, panel, notes):
    _offer(qtbot, panel, notes)
    column = panel.findChild(PreviewPage).findChild(QLineEdit).parentWidget().parentWidget()
    for height in range(300, 701, 50):
        for width in (560, 900):
            panel.resize(width, height)
            QApplication.processEvents()
            boxes = [
                part.geometry()
                for part in column.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
                if part.isVisible()
            ]
            boxes.sort(key=lambda box: box.top())
            assert len(boxes) > 5
            assert all(above.bottom() < below.top() for above, below in pairwise(boxes))


def test_preview_fits_into_small_window(qtbot, panel, notes):
    panel.resize(900, 550)
    _offer(qtbot, panel, notes)
    scroller = panel.findChild(PreviewPage).findChild(QScrollArea)
    for words in ("to index", "skipped"):
        _chip(panel, words).click()
        qtbot.wait(20)
        assert scroller.verticalScrollBar().maximum() == 0


def test_preview_shows_counts_and_index_path(qtbot, panel, notes):
    _offer(qtbot, panel, notes)
    words = _words(panel)
    assert "garden-ä" in words
    assert "3 files, 9 bytes in this folder and the folders inside it." in words
    assert "Indexing writes nothing to your folder. The index is stored in ~/" in words
    assert _chip(panel, "to index").text() == "3 to index"
    assert _button(panel, "Index this folder").isEnabled()
    assert _button(panel, "Index this folder").hasFocus() or not panel.isActiveWindow()


def test_skipped_files_are_listed_with_rule(qtbot, panel, notes):
    (notes / "second.jpg").write_text("x")
    _offer(qtbot, panel, notes)
    assert _chip(panel, "skipped").text() == "4 skipped"  # two pictures, a canvas, and a folder
    qtbot.mouseClick(_chip(panel, "skipped"), Qt.MouseButton.LeftButton)
    model = panel.findChild(IssuesTable).model()
    rules = {model.index(row, 0).data(): model.index(row, 1).data() for row in range(model.rowCount())}
    assert rules[".git"] == "ignored folder"
    assert rules["*.jpg"] == "other file extension"


def test_extensions_and_patterns_update_preview(qtbot, panel, notes):
    _offer(qtbot, panel, notes)
    qtbot.mouseClick(_chip(panel, ".canvas"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: _chip(panel, "to index").text() == "4 to index")
    qtbot.keyClicks(panel.findChild(QLineEdit), "drafts/**, *.bak")
    qtbot.waitUntil(lambda: _chip(panel, "to index").text() == "3 to index")
    qtbot.mouseClick(_chip(panel, ".canvas"), Qt.MouseButton.LeftButton)
    qtbot.mouseClick(_chip(panel, ".md"), Qt.MouseButton.LeftButton)
    assert _chip(panel, ".md").isChecked()  # something must be indexed


def test_slow_new_preview_is_announced(qtbot, panel, notes, monkeypatch):
    _offer(qtbot, panel, notes)
    counted = threading.Event()
    preview = engine.preview_workspace

    def count_slowly(*values, **options):
        assert counted.wait(60)
        return preview(*values, **options)

    monkeypatch.setattr(engine, "preview_workspace", count_slowly)
    qtbot.mouseClick(_chip(panel, ".canvas"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "Looking at the folder…" in _words(panel))
    counted.set()
    qtbot.waitUntil(lambda: _chip(panel, "to index").text() == "4 to index")
    assert "Looking at the folder…" not in _words(panel)


def test_new_preview_leaves_the_focus(qtbot, panel, notes):
    with qtbot.waitActive(panel):
        panel.activateWindow()
    _offer(qtbot, panel, notes)
    assert _button(panel, "Index this folder").hasFocus()
    chip = _chip(panel, ".canvas")
    chip.setFocus()
    qtbot.keyClick(chip, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: _chip(panel, "to index").text() == "4 to index")
    assert _chip(panel, ".canvas").hasFocus()


def test_documents_are_offered_with_the_missing_package(qtbot, panel, notes, monkeypatch):
    for name in ("one.pdf", "two.PDF"):
        (notes / name).write_text("x")
    with monkeypatch.context() as without:
        without.setattr("engine.corpus.documents.find_spec", lambda name: None)
        _offer(qtbot, panel, notes)
        assert not _chip(panel, ".pdf").isChecked()
        assert _chip(panel, ".pdf").text() == ".pdf 2"
        assert any(".[documents]" in label.text() for label in panel.findChildren(QLabel) if label.isVisible())


def test_kinds_of_files_are_offered_with_their_numbers(qtbot, panel, notes):
    for name in ("one.org", "two.org", "three.txt"):
        (notes / name).write_text("x")
    _offer(qtbot, panel, notes)
    kinds = {chip.text(): chip.isChecked() for chip in panel.findChildren(Chip) if chip.text().startswith(".")}
    assert kinds == {".md 3": True, ".org 2": True, ".canvas 1": False, ".txt 1": True}
    assert _chip(panel, ".org").accessibleName() == "Index 2 .org files"
    qtbot.mouseClick(_chip(panel, ".org"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: _chip(panel, "to index").text() == "4 to index")
    assert _chip(panel, ".org").text() == ".org 2"
    with qtbot.waitSignal(panel.workspace_chosen):
        qtbot.mouseClick(_button(panel, "Index this folder"), Qt.MouseButton.LeftButton)
    assert set(load_settings(notes).extensions) == {*Settings().extensions} - {".org"}


@pytest.mark.parametrize("ending", [".asc", ".rest", ".tex", ".log", ".csv"])
def test_other_text_is_offered_and_included_by_a_click(qtbot, panel, notes, ending):
    (notes / f"one{ending}").write_text("x")
    _offer(qtbot, panel, notes)
    assert not _chip(panel, ending).isChecked()
    qtbot.mouseClick(_chip(panel, ending), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: _chip(panel, "to index").text() == "4 to index")
    with qtbot.waitSignal(panel.workspace_chosen):
        qtbot.mouseClick(_button(panel, "Index this folder"), Qt.MouseButton.LeftButton)
    assert set(load_settings(notes).extensions) == {*Settings().extensions, ending}


def test_own_extensions_survive_the_preview(qtbot, panel, notes):
    save_setting("extensions", (".md", ".tex"), workspace=notes)
    _offer(qtbot, panel, notes)
    qtbot.mouseClick(_chip(panel, ".canvas"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: _chip(panel, "to index").text() == "4 to index")
    with qtbot.waitSignal(panel.workspace_chosen):
        qtbot.mouseClick(_button(panel, "Index this folder"), Qt.MouseButton.LeftButton)
    assert set(load_settings(notes).extensions) == {".md", ".tex", ".canvas"}


def test_accept_saves_only_changed_options(qtbot, panel, notes):
    before = sorted(notes.rglob("*"))
    _offer(qtbot, panel, notes)
    qtbot.mouseClick(_chip(panel, ".canvas"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: _chip(panel, "to index").text() == "4 to index")
    with qtbot.waitSignal(panel.workspace_chosen) as chosen:
        qtbot.mouseClick(_button(panel, "Index this folder"), Qt.MouseButton.LeftButton)
    assert chosen.args == [notes]
    assert set(load_settings(notes).extensions) == {*Settings().extensions, ".canvas"}
    assert load_settings(notes).exclude == ()
    assert load_settings().extensions == Settings().extensions
    assert sorted(notes.rglob("*")) == before


def test_accepting_defaults_writes_no_settings(qtbot, panel, notes, user_home):
    _offer(qtbot, panel, notes)
    with qtbot.waitSignal(panel.workspace_chosen):
        qtbot.mouseClick(_button(panel, "Index this folder"), Qt.MouseButton.LeftButton)
    assert not list(user_home.rglob("settings.toml"))


def test_missing_folder_shows_one_sentence(qtbot, panel, tmp_path):
    _offer(qtbot, panel, tmp_path / "gone")
    assert "gone" in _words(panel)
    assert "This folder cannot be indexed. Choose another one." in _words(panel)
    assert [button.text() for button in _shown_buttons(panel)] == ["Choose another…", "Back"]


def test_empty_folder_asks_for_another_one(qtbot, panel, tmp_path):
    (tmp_path / "empty").mkdir()
    _offer(qtbot, panel, tmp_path / "empty")
    assert "This folder is empty. Choose a folder that contains notes." in _words(panel)
    assert not _button(panel, "Index this folder").isEnabled()
    assert not panel.findChild(QLineEdit).isVisible()
    assert _button(panel, "Choose another…").hasFocus()


def test_buttons_follow_the_text_unless_tables_fill_the_page(qtbot, panel, notes, tmp_path):
    (tmp_path / "empty").mkdir()
    for number in range(60):
        (tmp_path / "many" / f"folder {number}").mkdir(parents=True)
        (tmp_path / "many" / f"folder {number}" / "note.md").write_text("# A")

    def below() -> int:
        button = _button(panel, "Choose another…")
        return panel.height() - button.mapTo(panel, button.rect().bottomLeft()).y()

    def left(words: str) -> int:
        return _button(panel, words).mapTo(panel, QPoint()).x()

    panel.resize(900, 900)
    _offer(qtbot, panel, tmp_path / "many")
    qtbot.waitUntil(lambda: below() < 40)
    _offer(qtbot, panel, notes)
    qtbot.waitUntil(lambda: below() > panel.height() / 3)
    assert panel.findChild(RecordsTable).verticalScrollBar().maximum() == 0
    qtbot.waitUntil(lambda: left("Index this folder") == _chip(panel, "to index").mapTo(panel, QPoint()).x())
    _offer(qtbot, panel, tmp_path / "empty")
    qtbot.waitUntil(lambda: below() > panel.height() / 2)
    _offer(qtbot, panel, tmp_path / "many")
    qtbot.waitUntil(lambda: below() < 40)


def test_moving_buttons_keep_the_focus(qtbot, panel, notes):
    _offer(qtbot, panel, notes)
    with qtbot.waitActive(panel):
        panel.activateWindow()
    button = _button(panel, "Index this folder")
    footer = button.parentWidget().parentWidget()
    parents = set()
    for height in (300, 900, 300):
        panel.resize(900, height)
        qtbot.waitUntil(lambda height=height: panel.findChild(PreviewPage).height() <= height)
        parents.add(footer.parentWidget())
        assert button.hasFocus()
    assert len(parents) == 2


def test_tables_grow_with_the_text(qtbot, panel, notes, appearance):
    panel.resize(1000, 1400)
    _offer(qtbot, panel, notes)
    table = panel.findChild(RecordsTable)
    qtbot.waitUntil(lambda: table.height() == table.parentWidget().maximumHeight())
    before = table.height()
    for scale in (2.0, 1.0):
        appearance.show("light", scale)
        qtbot.waitUntil(lambda scale=scale: (table.height() > 1.5 * before) == (scale > 1))
        qtbot.waitUntil(lambda: table.verticalScrollBar().maximum() == 0)
    qtbot.waitUntil(lambda: table.height() == before)


def test_folder_without_notes_cannot_be_indexed(qtbot, panel, tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.png").write_bytes(b"x")
    _offer(qtbot, panel, tmp_path / "photos")
    assert "No file in this folder would be indexed." in _words(panel)
    assert not _button(panel, "Index this folder").isEnabled()
    files = [found for found in panel.findChildren(QLabel) if found.text() == "Files"]
    assert not any(found.isVisible() for found in files)
    (tmp_path / "photos" / "one.md").write_text("# A")
    _offer(qtbot, panel, tmp_path / "photos")
    assert any(found.isVisible() for found in files)


def test_preview_starts_with_settings_of_folder(qtbot, panel, notes):
    save_setting("extensions", (".md", ".canvas"), workspace=notes)
    save_setting("exclude", ("drafts/**",), workspace=notes)
    _offer(qtbot, panel, notes)
    assert _chip(panel, ".canvas").isChecked()
    assert panel.findChild(QLineEdit).text() == "drafts/**"
    assert _chip(panel, "to index").text() == "3 to index"


def test_broken_settings_show_error_and_disable_indexing(qtbot, panel, notes, user_home):
    config = user_home / ".config/mnemoscope/settings.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[defaults]\nmodle = 3\n")
    _offer(qtbot, panel, notes)
    assert "modle" in _words(panel)
    assert not any(button.text() == "Index this folder" for button in _shown_buttons(panel))


def test_choose_emits_folder_and_cancel_changes_nothing(qtbot, panel, notes, monkeypatch):
    answers = ["", str(notes)]
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: answers.pop(0))
    named: list[Path] = []
    panel.folder_named.connect(named.append)
    for _ in range(2):
        qtbot.mouseClick(_button(panel, "Choose a folder…"), Qt.MouseButton.LeftButton)
    assert named == [notes]
    assert "Find things in your notes" in _words(panel)


def test_dropped_folder_is_accepted(qtbot, panel, notes):
    zone = panel.findChild(DropZone)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(notes))])
    button, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, button, keys)
    zone.dragEnterEvent(enter)
    assert enter.isAccepted()
    with qtbot.waitSignal(panel.folder_named) as named:
        zone.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, button, keys))
    assert named.args == [notes]


def test_back_returns_to_workspace_or_welcome(qtbot, panel, notes):
    _offer(qtbot, panel, notes)
    qtbot.mouseClick(_button(panel, "Back"), Qt.MouseButton.LeftButton)
    assert "Find things in your notes" in _words(panel)
    panel.offer(notes, can_go_back=True)
    with qtbot.waitSignal(panel.back_requested):
        qtbot.keyClick(_button(panel, "Index this folder"), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: panel.ready)


def test_enter_presses_focused_button(qtbot, panel, notes):
    _offer(qtbot, panel, notes)
    with qtbot.waitSignal(panel.workspace_chosen):
        qtbot.keyClick(_button(panel, "Index this folder"), Qt.Key.Key_Return)


def test_early_enter_presses_nothing_then_folder_can_be_indexed(qtbot, panel, notes):
    panel.offer(notes)
    focused = panel.focusWidget()
    assert isinstance(focused, PreviewPage)
    qtbot.keyClick(focused, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.ready)
    assert panel.focusWidget().text() == "Index this folder"


def test_preview_recovers_after_refused_folder(qtbot, panel, notes, tmp_path):
    _offer(qtbot, panel, tmp_path / "gone")
    _offer(qtbot, panel, notes)
    assert "3 files, 9 bytes" in _words(panel)
    assert _button(panel, "Index this folder").isEnabled()
    assert panel.findChild(QLineEdit).isVisible()


def test_demo_preview_names_its_index_path(qtbot, appearance, jobs, notes, tmp_path):
    panel = FirstRunPanel(jobs, store_path=str(tmp_path / "demo"))
    qtbot.addWidget(panel)
    panel.show()
    _offer(qtbot, panel, notes)
    assert f"The index is stored in {tmp_path / 'demo'}" in _words(panel)


@pytest.fixture
def found(user_home) -> Path:
    """A home with an OpenClaw workspace, a vault and the sessions of two agents."""
    for name, text in {
        ".claude/projects/p/one.jsonl": "{}\n",
        ".claude/projects/p/two.jsonl": "{}\n",
        ".codex/sessions/2026/rollout-1.jsonl": "{}\n",
        ".openclaw/workspace/MEMORY.md": "# Me",
        "Garden/a.md": "# A",
        ".config/obsidian/obsidian.json": json.dumps({"vaults": {"1": {"path": str(user_home / "Garden")}}}),
    }.items():
        (user_home / name).parent.mkdir(parents=True, exist_ok=True)
        (user_home / name).write_text(text)
    return user_home


def _welcome(qtbot, panel: FirstRunPanel) -> None:
    panel.welcome()
    qtbot.waitUntil(lambda: panel.ready)


def _box(panel: FirstRunPanel, words: str) -> CheckBox:
    return next(box for box in panel.findChildren(CheckBox) if box.label == words and box.isVisible())


def test_found_sources_are_listed_with_size_and_ticked(qtbot, panel, found):
    _welcome(qtbot, panel)
    words = _words(panel)
    for part in ("OpenClaw workspace", "Obsidian vault Garden", "2 files, 6 bytes", "~/.claude/projects"):
        assert part in words
    assert "Nothing in them is read before you confirm" in words
    assert "nothing is ever written there" in words
    assert [box.label for box in panel.findChildren(CheckBox)] == ["Claude Code", "Codex"]
    assert all(box.isChecked() for box in panel.findChildren(CheckBox))
    described = [button.accessibleName() for button in panel.findChildren(QPushButton) if button.text() == "Choose"]
    assert described == ["Choose OpenClaw workspace", "Choose Obsidian vault Garden"]


def test_machine_without_sessions_shows_message(qtbot, panel):
    _welcome(qtbot, panel)
    assert "No sessions of AI agents were found on this machine." in _words(panel)


def test_unreadable_file_is_reported(qtbot, panel, user_home):
    (user_home / ".openclaw").mkdir()
    (user_home / ".openclaw/openclaw.json").write_text("{")
    _welcome(qtbot, panel)
    assert "~/.openclaw/openclaw.json: This list of session folders could not be understood" in _words(panel)


def test_choosing_found_folder_opens_its_preview(qtbot, panel, found):
    panel.folder_named.connect(panel.offer)
    _welcome(qtbot, panel)
    choose = next(b for b in panel.findChildren(QPushButton) if b.accessibleName() == "Choose Obsidian vault Garden")
    with qtbot.waitSignal(panel.folder_named) as named:
        qtbot.mouseClick(choose, Qt.MouseButton.LeftButton)
    assert named.args == [found / "Garden"]
    qtbot.waitUntil(lambda: panel.ready)
    assert "1 file, 3 bytes in this folder" in _words(panel)
    assert "Plus 3 AI session files, 9 bytes." in _words(panel)


def test_ticked_sessions_are_previewed_and_saved_on_accept(qtbot, panel, found, notes):
    before = {path: path.stat().st_mtime_ns for path in found.rglob("*")}
    _welcome(qtbot, panel)
    qtbot.mouseClick(_box(panel, "Codex"), Qt.MouseButton.LeftButton)
    _offer(qtbot, panel, notes)
    assert "Plus 2 AI session files, 6 bytes." in _words(panel)
    assert {path: path.stat().st_mtime_ns for path in found.rglob("*")} == before
    qtbot.mouseClick(_button(panel, "Back"), Qt.MouseButton.LeftButton)
    assert _box(panel, "Claude Code").isChecked()
    qtbot.keyClick(_box(panel, "Codex"), Qt.Key.Key_Space)
    _offer(qtbot, panel, notes)
    assert "Plus 3 AI session files, 9 bytes." in _words(panel)
    with qtbot.waitSignal(panel.workspace_chosen):
        qtbot.mouseClick(_button(panel, "Index this folder"), Qt.MouseButton.LeftButton)
    listed = load_settings(notes).sessions.folders
    assert listed == (str(found / ".claude/projects"), str(found / ".codex/sessions"))
    assert load_settings().sessions.folders == ()
    assert load_settings(notes).sources == ("memory", "sessions")
    panel.offer(found / "Garden")  # the ticks were for the other one
    qtbot.waitUntil(lambda: panel.ready)
    assert "session file" not in _words(panel)


def test_global_session_folders_are_retained(qtbot, panel, found, notes):
    save_setting("sessions.folders", ("~/.codex/sessions",))
    _welcome(qtbot, panel)
    qtbot.mouseClick(_box(panel, "Codex"), Qt.MouseButton.LeftButton)
    _offer(qtbot, panel, notes)
    assert "Plus 3 AI session files" in _words(panel)
    with qtbot.waitSignal(panel.workspace_chosen):
        qtbot.mouseClick(_button(panel, "Index this folder"), Qt.MouseButton.LeftButton)
    assert load_settings(notes).sessions.folders == ("~/.codex/sessions", str(found / ".claude/projects"))


def test_sessions_without_notes_can_be_indexed(qtbot, panel, found, tmp_path):
    (tmp_path / "empty").mkdir()
    _welcome(qtbot, panel)
    _offer(qtbot, panel, tmp_path / "empty")
    assert _button(panel, "Index this folder").isEnabled()
    panel.welcome()
    qtbot.mouseClick(_button(panel, "Untick all sessions"), Qt.MouseButton.LeftButton)
    _offer(qtbot, panel, tmp_path / "empty")
    assert not _button(panel, "Index this folder").isEnabled()


def test_sessions_only_indexes_ticked_sessions(qtbot, panel, found):
    _welcome(qtbot, panel)
    qtbot.mouseClick(_box(panel, "Claude Code"), Qt.MouseButton.LeftButton)
    qtbot.mouseClick(_button(panel, "Search sessions only"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "1 AI session file, 3 bytes." in _words(panel))
    assert "Nothing is ever written to the session files." in _words(panel)
    with qtbot.waitSignal(panel.workspace_chosen) as chosen:
        qtbot.mouseClick(_button(panel, "Index these sessions"), Qt.MouseButton.LeftButton)
    (folder,) = chosen.args
    assert folder.is_dir()
    assert not list(folder.iterdir())
    assert load_settings(folder).sessions.folders == (str(found / ".codex/sessions"),)


def test_failed_sessions_only_shows_why(qtbot, panel, found, monkeypatch):
    def refuse(_: object) -> Path:
        raise WorkspaceError("No room for it.")

    with qtbot.waitActive(panel):
        panel.activateWindow()
    monkeypatch.setattr(engine, "sessions_workspace", refuse, raising=False)
    _welcome(qtbot, panel)
    qtbot.mouseClick(_button(panel, "Search sessions only"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "No room for it." in _words(panel))
    assert _button(panel, "Back").hasFocus()
    qtbot.mouseClick(_button(panel, "Back"), Qt.MouseButton.LeftButton)
    assert _button(panel, "Search sessions only").isVisible()


def test_sessions_only_needs_ticked_sessions(qtbot, panel, found):
    only = _button(panel, "Search sessions only")
    assert not only.isEnabled()
    _welcome(qtbot, panel)
    assert only.isEnabled()
    qtbot.mouseClick(_button(panel, "Untick all sessions"), Qt.MouseButton.LeftButton)
    assert not only.isEnabled()
    qtbot.mouseClick(_button(panel, "Tick all sessions"), Qt.MouseButton.LeftButton)
    assert only.isEnabled()


def test_sample_notes_can_be_requested(qtbot, panel):
    with qtbot.waitSignal(panel.sample_requested):
        qtbot.mouseClick(_button(panel, "Try the sample notes"), Qt.MouseButton.LeftButton)


def test_discovery_can_be_stopped_and_repeated(qtbot, panel, found, monkeypatch):
    go = threading.Event()

    def slow(*, cancel, real=engine.find_sources):
        cancel.on_cancel(go.set)
        go.wait(60)
        return real(cancel=cancel)

    with monkeypatch.context() as slowed:
        slowed.setattr(engine, "find_sources", slow, raising=False)
        panel.welcome()
        assert not panel.ready
        assert "Looking for notes and sessions" in _words(panel)
        qtbot.mouseClick(_button(panel, "Stop"), Qt.MouseButton.LeftButton)
        assert panel.ready
        assert "The search for notes and sessions was stopped." in _words(panel)
    qtbot.mouseClick(_button(panel, "Look for sources again"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.ready)
    assert _box(panel, "Claude Code")


def test_failed_discovery_shows_error_and_can_be_retried(qtbot, panel, monkeypatch):
    def fail(*, cancel):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(engine, "find_sources", fail, raising=False)
        _welcome(qtbot, panel)
    assert "Input/output error." in _words(panel)
    qtbot.mouseClick(_button(panel, "Look for sources again"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.ready)
    assert "No sessions of AI agents were found" in _words(panel)


def test_pages_are_made_in_place(qtbot, appearance, jobs):
    panel = FirstRunPanel(jobs)
    qtbot.addWidget(panel)
    moved = MovedParts(least=10)
    panel.show()
    qtbot.waitUntil(lambda: panel.ready)
    assert not {"WelcomePage", "PreviewPage", "SourcesPage"} & set(moved.names)
