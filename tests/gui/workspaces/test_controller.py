"""Several workspaces in the window, with real indexes: switching, and searching all of them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QDrag
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QWidget

import engine
from engine import split_name
from gui.app.command_line import view_names
from gui.app.start_view import show_view
from gui.controllers.printing import usual_layout
from gui.core.window_context import AppPaths
from gui.core.window_state import WindowState
from gui.core.workspace import Workspace
from gui.window.main_window import MainWindow
from gui.workspaces import Switcher
from tests.helpers.pdf_text import pdf_text
from tests.helpers.windows import at_rest

Key = Qt.Key
NOTES = {
    "garden": "# Beds\n\nSow the carrots in April, after the last frost.\n",
    "boat": "# Mast\n\nSand the mast and apply seven coats of varnish.\n",
    "work": "# Invoices\n\nNumber every invoice; carrots go to the canteen.\n",
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(f"[defaults]\nprovider = 'none'\nstore.path = '{tmp_path / 'data'}'\nsync.watch = false\n")
    return path


@pytest.fixture
def folders(tmp_path: Path, config: Path) -> dict[str, Path]:
    for name, text in NOTES.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "note.md").write_text(text)
        memory = engine.open_memory(tmp_path / name, engine.load_settings(tmp_path / name, config=config))
        memory.sync()
        memory.close()
    return {name: tmp_path / name for name in NOTES}


@pytest.fixture
def window(qtbot, appearance, jobs, config, folders) -> Iterator[MainWindow]:
    """The window with the garden open."""
    workspace = Workspace(jobs, config=config)
    with appearance.bare():
        window = MainWindow(workspace, jobs, appearance, WindowState(), paths=AppPaths(config))
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    window.folders.open(folders["garden"])
    qtbot.waitUntil(lambda: at_rest(window))
    yield window
    assert window.shut_down(60_000)


def _command(window: MainWindow, name: str) -> QAction:
    return next(action for action in window.actions() if action.objectName() == name)


def _button(widget: QWidget, words: str) -> QPushButton:
    return next(button for button in widget.findChildren(QPushButton) if button.text() == words)


def _switcher(qtbot, window: MainWindow) -> Switcher:
    _command(window, "workspace.switch").trigger()
    qtbot.waitUntil(lambda: window.spaces.ready)
    assert window.spaces.switcher is not None
    return window.spaces.switcher


def _rows(switcher: Switcher) -> list[str]:
    role = Qt.ItemDataRole.AccessibleTextRole
    return [str(switcher.list.item(row).data(role)) for row in range(switcher.list.count())]


def _search(qtbot, window: MainWindow, query: str) -> list[str]:
    window.search.search(query)
    qtbot.waitUntil(lambda: not window.search.busy)
    answer = window.search.body.answer
    return [] if answer is None else [result.path for result in answer.outcome.results]


def test_switcher_shows_status_of_each_workspace(qtbot, window, folders):
    (folders["boat"] / "note.md").unlink()
    folders["boat"].rmdir()
    boat, garden, work = _rows(_switcher(qtbot, window))
    assert boat == f"boat, Folder missing, {folders['boat']}"
    assert garden.startswith("garden, Open now · 1 file · updated ")
    assert work.startswith("work, 1 file · updated ")


def test_switcher_updates_after_sync(qtbot, window, folders):
    switcher = _switcher(qtbot, window)
    (folders["garden"] / "second.md").write_text("# Hedge\n\nCut it in June.\n")
    _command(window, "index.sync").trigger()
    qtbot.waitUntil(lambda: any("garden, Open now · 2 files · updated " in row for row in _rows(switcher)))


def test_typing_filters_and_enter_opens_workspace(qtbot, window, folders):
    switcher = _switcher(qtbot, window)
    qtbot.keyClicks(switcher.box, "or")
    assert [row.partition(",")[0] for row in _rows(switcher)] == ["work"]
    qtbot.keyClick(switcher.box, Key.Key_Return)
    qtbot.waitUntil(lambda: window.workspace.current is not None and at_rest(window))
    assert window.workspace.current.folder == folders["work"]
    assert not switcher.isVisible()


def test_typed_path_of_other_folder_opens_its_preview(qtbot, window, folders, tmp_path):
    switcher = _switcher(qtbot, window)
    switcher.box.setText(f"{folders['work']}/")
    assert [row.partition(",")[0] for row in _rows(switcher)] == ["work"]
    switcher.box.setText("ship")
    assert not switcher.open_button.isEnabled()
    switcher.box.setText(f"{tmp_path}/wor/")
    assert _rows(switcher) == []
    (tmp_path / "wor").mkdir()
    (tmp_path / "wor" / "mast.md").write_text("# Mast\n")
    switcher.box.setText(f"{tmp_path}/wor")
    assert [row.partition(",")[0] for row in _rows(switcher)] == ["work"]
    assert switcher.list.current() is None
    qtbot.keyClick(switcher.box, Key.Key_Down)
    assert switcher.list.current().name == "work"
    switcher.box.setText(f"{tmp_path}/work")
    assert switcher.list.current().name == "work"
    switcher.box.setText(f"{tmp_path}/wor")
    qtbot.keyClick(switcher.box, Key.Key_Return)
    qtbot.waitUntil(lambda: window.first_run.ready)
    assert not switcher.isVisible()
    assert window.first_run.isVisible()
    texts = " ".join(child.text() for child in window.first_run.findChildren(QLabel) if child.isVisible())
    assert f"{tmp_path}/wor".replace("\u200b", "") in texts.replace("\u200b", "")
    assert f"{tmp_path}/work" not in texts.replace("\u200b", "")


def test_arrow_keys_in_box_move_selection(qtbot, window):
    switcher = _switcher(qtbot, window)
    assert switcher.list.current().name == "boat"
    qtbot.keyClick(switcher.box, Key.Key_Down)
    assert switcher.list.current().name == "garden"
    assert not switcher.open_button.isEnabled()
    assert not switcher.forget_button.isEnabled()
    qtbot.keyClick(switcher.box, Key.Key_Return)
    assert switcher.isVisible()
    qtbot.keyClick(switcher.box, Key.Key_Escape)
    assert not switcher.isVisible()


def test_down_with_modifier_opens_no_workspace(qtbot, window):
    switcher = _switcher(qtbot, window)
    for modifier in (Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier):
        qtbot.keyClick(switcher.box, Key.Key_Down, modifier)
    assert switcher.isVisible()


def test_missing_workspace_can_be_removed_but_not_opened(qtbot, window, folders, tmp_path):
    (folders["boat"] / "note.md").unlink()
    folders["boat"].rmdir()
    switcher = _switcher(qtbot, window)
    switcher.list.setCurrentRow(0)
    assert not switcher.open_button.isEnabled()
    qtbot.mouseClick(switcher.forget_button, Qt.MouseButton.LeftButton)
    assert switcher.question.isVisible()
    qtbot.keyClick(switcher, Key.Key_Escape)
    assert (switcher.question.isVisible(), switcher.isVisible()) == (False, True)
    qtbot.mouseClick(switcher.forget_button, Qt.MouseButton.LeftButton)
    assert "KB)" in switcher.question.with_index.label
    switcher.question.with_index.setChecked(True)
    qtbot.mouseClick(switcher.question.confirm_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(_rows(switcher)) == 2)
    assert window.banner.text.startswith("boat is forgotten, and its index (")
    assert not engine.index_files(folders["boat"], str(tmp_path / "data")).database.exists()


def test_search_everywhere_opens_results_without_switching(qtbot, window, folders):
    assert _search(qtbot, window, "varnish") == []
    command = _command(window, "search.all-workspaces")
    window.views.switch("sessions")
    command.trigger()
    assert window.search.box.edit.hasFocus()
    qtbot.waitUntil(lambda: not window.search.busy)
    assert command.isChecked()
    assert _search(qtbot, window, "varnish") == ["///boat/note.md"]
    opened_files: list[str] = []
    window.viewer.file_shown.connect(opened_files.append)
    window.search.focus_list()
    window.search.body.list.open_current()
    qtbot.waitUntil(lambda: "///boat/note.md" in opened_files or (window.viewer.has_file and not window.viewer.busy))
    assert window.workspace.current.folder == folders["garden"]
    assert _search(qtbot, window, "carrots") in (["note.md", "///work/note.md"], ["///work/note.md", "note.md"])
    command.trigger()
    assert _search(qtbot, window, "varnish") == []
    assert not command.isChecked()


def test_workspace_of_result_can_be_opened(qtbot, window, folders):
    window.search.controller.search_everywhere(True)
    assert _search(qtbot, window, "varnish") == ["///boat/note.md"]
    (result,) = window.search.body.answer.outcome.results
    window.search.actions.switch_requested.emit(result)
    qtbot.waitUntil(lambda: window.workspace.current is not None and at_rest(window))
    assert window.workspace.current.folder == folders["boat"]


def test_chip_shows_search_scope(qtbot, window):
    menu = QMenu()
    window.search.filters.workspace_menu_requested.emit(menu)
    everywhere = next(action for action in menu.actions() if action.text() == "All workspaces")
    assert not everywhere.isChecked()
    everywhere.trigger()
    assert _command(window, "search.all-workspaces").isChecked()
    chips = [button.accessibleName() for button in window.search.header.findChildren(QPushButton)]
    assert "All workspaces are searched" in chips


def test_start_option_searches_all_workspaces(qtbot, window):
    assert "all-workspaces" in view_names()
    show_view(window, "all-workspaces", "varnish")
    assert window.search.controller.everywhere
    qtbot.waitUntil(lambda: at_rest(window))


def test_history_restores_all_workspaces_scope(qtbot, window):
    window.search.controller.search_everywhere(True)
    _search(qtbot, window, "varnish")
    view_state = window.search.controller.view_state
    window.search.controller.search_everywhere(False)
    window.search.controller.return_to(view_state)
    qtbot.waitUntil(lambda: not window.search.busy)
    assert window.search.controller.everywhere


def test_result_of_other_workspace_can_be_shared(qtbot, window, folders, tmp_path, monkeypatch):
    dragged: list[list[str]] = []
    monkeypatch.setattr(
        QDrag, "exec", lambda drag, _: dragged.append([u.toLocalFile() for u in drag.mimeData().urls()])
    )
    window.search.controller.search_everywhere(True)
    assert _search(qtbot, window, "varnish") == ["///boat/note.md"]
    results = window.search.body.list
    results.button_down = True
    results.drag_requested.emit()
    qtbot.waitUntil(lambda: bool(dragged))
    assert dragged == [[str(folders["boat"] / "note.md")]]
    window.sharing.exports.save(tmp_path / "found.md")
    qtbot.waitUntil(lambda: "exported to" in window.banner.text)
    assert "seven coats of varnish" in (tmp_path / "found.md").read_text("utf-8")
    results.open_current()
    qtbot.waitUntil(lambda: window.viewer.name == "///boat/note.md")
    window.sharing.printing.write_pdf(tmp_path / "note.pdf", usual_layout())
    qtbot.waitUntil(lambda: "saved as" in window.banner.text)
    assert "sevencoats" in pdf_text((tmp_path / "note.pdf").read_bytes())


def test_chunks_of_other_workspace_are_shown(qtbot, window):
    window.search.controller.search_everywhere(True)
    _search(qtbot, window, "varnish")
    window.search.body.list.open_current()
    qtbot.waitUntil(lambda: window.viewer.name == "///boat/note.md")
    window.viewer.show_chunk()
    qtbot.waitUntil(window.viewer.card.isVisible)
    text = " ".join(label.text() for label in window.viewer.card.findChildren(QLabel))
    assert "Mast" in text
    assert not window.viewer.hint.isVisible()


def test_session_of_other_workspace_is_saved_there(qtbot, window, folders, config, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))  # for the trash
    (tmp_path / "home").mkdir()
    store = tmp_path / "store"
    store.mkdir()
    lines = (
        {"type": "session", "id": "s1", "cwd": "/home/ada", "timestamp": "2026-03-01T10:00:00.000Z"},
        {
            "type": "message",
            "id": "m1",
            "timestamp": "2026-03-01T10:00:00.000Z",
            "message": {"role": "user", "content": [{"type": "text", "text": "Which primer keeps the keel dry?"}]},
        },
    )
    (store / "one.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    config.write_text(f"{config.read_text()}\n[workspace.'{folders['boat']}']\nsessions.folders = ['{store}']\n")
    memory = engine.open_memory(folders["boat"], engine.load_settings(folders["boat"], config=config))
    memory.sync()
    memory.close()
    window.search.controller.search_everywhere(True)
    (found,) = _search(qtbot, window, "primer keel")
    window.search.body.list.open_current()
    qtbot.waitUntil(window.views.conversation.session_actions.remember.isEnabled)
    window.views.conversation.session_actions.remember.trigger()
    controller = window.remember.controller
    qtbot.waitUntil(lambda: controller.ready)
    assert " in boat" in " ".join(label.text() for label in controller.dialog.findChildren(QLabel))
    _button(controller.dialog, "Save").click()
    qtbot.waitUntil(lambda: "in boat, where it can be found after the next update." in window.banner.text)
    (note,) = (folders["boat"] / "memory").glob("*.md")
    assert f"- **Session Key**: {split_name(found)[1]}\n" in note.read_text()
    assert not (folders["garden"] / "memory").exists()
    _button(window.banner, "Open").click()
    qtbot.waitUntil(lambda: window.viewer.name == f"///boat/memory/{note.name}")
    _button(window.banner, "Undo").click()
    qtbot.waitUntil(lambda: "is in the trash" in window.banner.text)
    assert not note.exists()
