from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QAccessible, QAction, QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QDialog,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QWidget,
)

import engine
from engine import FileIssue, IndexTooNew, SettingsError, UserDataStatus
from gui.conversation.panel import ConversationPanel
from gui.diagnostics.panel import DiagnosticsPanel
from gui.viewer import external_programs
from gui.widgets.form_controls import Chip
from gui.window.main_window import MainWindow, PanelPreloader
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_records import make_path_state, make_progress, make_status, make_summary
from tests.helpers.windows import at_rest

Key = Qt.Key
Control = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def box(opened) -> QLineEdit:
    return opened.search.header.findChild(QLineEdit)


def _button(widget: QWidget, words: str) -> QPushButton:
    return next(b for b in widget.findChildren(QPushButton) if b.text() == words and b.isVisible())


def _find(qtbot, window: MainWindow, query: str) -> None:
    window.search.search(query)
    qtbot.waitUntil(lambda: not window.search.busy)


def test_opening_folder_syncs_and_shows_progress(qtbot, opened, memory):
    assert memory.syncs == [("session-start", False)]
    assert opened.sync_bar.line.word == "Up to date"
    assert opened.windowTitle().startswith(memory.folder.name)
    assert opened.state.recent == [str(memory.folder)]


def test_first_sync_never_shows_an_empty_index(qtbot, window, memory, monkeypatch):
    memory.set_status(files=0, chunks=0, last_sync=None)
    started, words = Event(), []
    sync = memory.sync

    def late(**options):
        assert started.wait(60)
        return sync(**options)

    monkeypatch.setattr(memory, "sync", late)
    window.workspace.feed.status_changed.connect(lambda _: words.append(window.sync_bar.line.word))
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: window.workspace.status is not None)
    assert words[-1] == f"Opening {memory.folder.name}…"
    started.set()
    qtbot.waitUntil(lambda: window.sync_bar.line.word == "Up to date")
    assert "Nothing indexed yet" not in words


def test_first_sync_can_be_switched_off(qtbot, window, memory, user_home):
    engine.save_setting("sync.on_session_start", False)
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: window.workspace.status is not None)
    assert memory.syncs == []


def test_keys_move_from_box_to_list_to_file_and_back(qtbot, opened, box):
    _find(qtbot, opened, "timer")
    opened.search.focus_box()
    assert box.hasFocus()
    qtbot.keyClick(box, Key.Key_Down)
    results = QApplication.focusWidget()
    assert opened.search.body.isAncestorOf(results)
    qtbot.keyClick(results, Key.Key_Return)
    qtbot.waitUntil(lambda: opened.viewer.isAncestorOf(QApplication.focusWidget()))
    qtbot.keyClick(QApplication.focusWidget(), Key.Key_Escape)
    assert opened.search.body.isAncestorOf(QApplication.focusWidget())
    qtbot.keyClick(QApplication.focusWidget(), Key.Key_Escape)
    assert box.hasFocus()


def test_viewer_follows_selected_result(qtbot, opened):
    with qtbot.waitSignal(opened.viewer.file_shown) as signal:
        _find(qtbot, opened, "CR2032")
    assert signal.args[0] in ("topics/shopping.md", "projects/greenhouse.md")


def test_window_keys_focus_box_sync_and_toggle_diagnostics(qtbot, opened, box, memory):
    opened.sync_bar.setFocus()
    qtbot.keyClick(opened, Key.Key_K, Control)
    assert box.hasFocus()
    syncs = len(memory.syncs)
    qtbot.keyClick(opened, Key.Key_F5)
    qtbot.waitUntil(lambda: len(memory.syncs) == syncs + 1 and at_rest(opened))
    was_visible = opened.dock.diagnostics.isVisible()
    qtbot.keyClick(opened, Key.Key_D, Control)
    assert opened.dock.diagnostics.isVisible() is not was_visible
    qtbot.keyClick(opened, Key.Key_F9)
    assert opened.dock.diagnostics.isVisible() is was_visible
    qtbot.keyClick(opened, Key.Key_F1)
    dialog = opened.findChild(QDialog)
    assert dialog.isVisible()

    def words() -> set[str]:
        return {label.text() for label in dialog.findChildren(QLabel)}

    qtbot.waitUntil(
        lambda: words() >= {"Ctrl+K or Ctrl+L", "Update now"}
    )  # filled over several turns of the event loop
    qtbot.keyClick(dialog, Key.Key_Escape)
    qtbot.waitUntil(lambda: opened.findChild(QDialog) is None)


def test_question_mark_is_typed_in_focused_box(qtbot, opened, box):
    box.setFocus()
    qtbot.keyClicks(box, "why?")
    assert box.text() == "why?"
    assert opened.findChild(QDialog) is None
    qtbot.waitUntil(lambda: not opened.search.busy)


def test_about_shows_paths(qtbot, opened):
    opened.about.show()
    dialog = opened.findChild(QDialog)
    words = " ".join(label.text() for label in dialog.findChildren(QLabel))
    assert "settings.toml" in words
    assert "window.json" in words
    assert opened.workspace.status.db_path in words
    dialog.reject()
    qtbot.waitUntil(lambda: opened.findChild(QDialog) is None)


def test_font_scale_changes_by_key(qtbot, opened, appearance):
    qtbot.keyClick(opened, Key.Key_Plus, Control)
    assert appearance.font_scale == 1.15
    qtbot.keyClick(opened, Key.Key_Minus, Control)
    qtbot.keyClick(opened, Key.Key_Minus, Control)
    assert appearance.font_scale == 0.9
    qtbot.keyClick(opened, Key.Key_0, Control)
    assert appearance.font_scale == 1.0


def test_theme_menu_changes_theme_and_settings(qtbot, opened, appearance):
    menu = next(menu for menu in opened.findChildren(QMenu) if menu.title() == "Theme")
    dark = next(action for action in menu.actions() if action.text() == "Dark")
    dark.trigger()
    assert appearance.theme_in_use == "dark"
    assert dark.isChecked()
    qtbot.waitUntil(lambda: engine.load_settings().window.theme == "dark")
    opened.workspace.apply_settings(engine.Settings(), opened.workspace.current.folder)
    menu.aboutToShow.emit()
    assert appearance.theme == "system"
    assert not dark.isChecked()


def test_rebuild_asks_first(qtbot, opened, memory):
    opened.banner.confirm_rebuild()
    qtbot.mouseClick(_button(opened.banner, "Keep the index"), Qt.MouseButton.LeftButton)
    assert opened.banner.text == ""
    opened.banner.confirm_rebuild()
    qtbot.mouseClick(_button(opened.banner, "Rebuild"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: memory.syncs[-1] == ("manual", True))


def test_read_only_index_disables_writing_commands(qtbot, opened, memory):
    actions = [next(a for a in opened.actions() if a.objectName() == name) for name in ("index.sync", "index.rebuild")]
    assert all(action.isEnabled() for action in actions)
    memory.set_status(custom={"readOnly": "No rights to write."})
    qtbot.waitUntil(lambda: not any(action.isEnabled() for action in actions))
    assert [action.statusTip() for action in actions] == ["No rights to write."] * 2
    memory.set_status(custom={})
    qtbot.waitUntil(lambda: all(action.isEnabled() for action in actions))


def test_results_refresh_only_when_index_changes(qtbot, opened, memory):
    _find(qtbot, opened, "timer")
    count = len(memory.searches)
    memory.set_status(chunks=99)
    qtbot.waitUntil(lambda: len(memory.searches) > count)
    qtbot.waitUntil(lambda: at_rest(opened))
    count = len(memory.searches)
    memory.set_status(paused=False)
    qtbot.waitUntil(lambda: at_rest(opened))
    assert len(memory.searches) == count


def test_dropped_folder_is_previewed_not_opened(qtbot, opened, memory, tmp_path):
    (tmp_path / "note.md").write_text("# Note")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path))])
    drop = QDropEvent(
        QPointF(9, 9), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    opened.dropEvent(drop)
    assert opened.pages.currentWidget() is opened.first_run
    qtbot.waitUntil(lambda: opened.first_run.ready)
    qtbot.mouseClick(_button(opened.first_run, "Back"), Qt.MouseButton.LeftButton)
    assert opened.pages.currentWidget() is opened.panes
    assert not memory.closed


def test_folder_dropped_on_search_box_is_previewed(qtbot, opened, box, tmp_path):
    (tmp_path / "note.md").write_text("# Note")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path))])
    data.setText(str(tmp_path))  # as file managers do
    _drag_and_drop(box, data)
    assert box.text() == ""
    assert opened.pages.currentWidget() is opened.first_run
    data = QMimeData()
    data.setText("irrigation")
    _drag_and_drop(box, data)
    assert box.text() == "irrigation"


def _drag_and_drop(target: QWidget, data: QMimeData) -> None:
    at, copy = QPoint(9, 9), Qt.DropAction.CopyAction
    button, no_key = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    for event in (
        QDragEnterEvent(at, copy, data, button, no_key),
        QDragMoveEvent(at, copy, data, button, no_key),
        QDropEvent(QPointF(at), copy, data, button, no_key),
    ):
        QApplication.sendEvent(target, event)


def test_drag_of_own_result_is_refused(opened, tmp_path):
    class Own(QDragEnterEvent):
        def source(self) -> QWidget:
            return opened

    (tmp_path / "note.md").write_text("# Note")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "note.md"))])
    for kind, accepted in ((QDragEnterEvent, True), (Own, False)):
        no_key = Qt.KeyboardModifier.NoModifier
        drag = kind(QPoint(9, 9), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, no_key)
        drag.ignore()
        opened.dragEnterEvent(drag)
        assert drag.isAccepted() is accepted


def test_dropped_file_is_explained(qtbot, opened, memory, tmp_path):
    (tmp_path / "note.pdf").write_bytes(b"%PDF-1.4")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "note.pdf"))])
    drop = QDropEvent(
        QPointF(9, 9), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    opened.dropEvent(drop)
    why = opened.dock.diagnostics.why
    qtbot.waitUntil(why.answer.isVisible)
    assert why.edit.text() == str(tmp_path / "note.pdf")


def test_chosen_folder_is_previewed_with_back_button(qtbot, opened, tmp_path, monkeypatch):
    (tmp_path / "note.md").write_text("# Note")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    qtbot.keyClick(opened, Key.Key_O, Control)
    assert opened.pages.currentWidget() is opened.first_run
    qtbot.waitUntil(lambda: opened.first_run.ready)
    qtbot.mouseClick(_button(opened.first_run, "Back"), Qt.MouseButton.LeftButton)
    assert opened.pages.currentWidget() is opened.panes


def test_first_start_previews_indexes_and_saves_folder(qtbot, window, memory, tmp_path):
    (tmp_path / "note.md").write_text("# Note")
    window.folders.show_welcome()
    assert not window.sync_bar.isVisible()
    window.folders.offer(tmp_path)
    qtbot.waitUntil(lambda: window.first_run.ready)
    qtbot.mouseClick(_button(window.first_run, "Index this folder"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: at_rest(window))
    assert memory.syncs == [("manual", False)]
    qtbot.waitUntil(lambda: engine.load_settings().workspace == str(tmp_path))


@pytest.mark.parametrize(
    ("error", "title", "actions"),
    [
        (
            IndexTooNew("It is of a newer version."),
            "cannot be opened",
            ["Try again", "Choose another folder…"],
        ),
        (
            SettingsError("settings.toml, line 3: x."),
            "settings cannot be used",
            ["Try again", "Open the settings file", "Rename the file and use the defaults"],
        ),
    ],
)
def test_open_failure_shows_message_page_with_retry(qtbot, window, memory, monkeypatch, error, title, actions):
    def refuse(*_args, **_options):
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(engine, "open_memory", refuse)
        window.folders.open(memory.folder)
        qtbot.waitUntil(lambda: window.pages.currentWidget() is window.message)
    assert title in window.message.text
    assert str(error) in window.message.text
    assert [b.text() for b in window.message.findChildren(QPushButton) if b.isVisible()] == actions
    again = _button(window.message, "Try again")
    assert window.focusWidget() is again
    qtbot.keyClick(again, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: at_rest(window))
    assert window.pages.currentWidget() is window.panes


def test_failed_folder_offers_back_to_previous_one(qtbot, window, memory, tmp_path, monkeypatch):
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    note = tmp_path / "note.md"
    note.touch()
    window.folders.open(note)
    qtbot.waitUntil(lambda: window.pages.currentWidget() is window.message)
    assert f"{note} is not a folder." in window.message.text
    opened = []
    monkeypatch.setattr(window.workspace, "open", opened.append)
    qtbot.mouseClick(_button(window.message, f"Back to {memory.folder.name}"), Qt.MouseButton.LeftButton)
    assert opened == [memory.folder]


def test_index_problem_shows_banner_once(qtbot, opened, memory):
    memory.set_status(index_error="The index was damaged and set aside.")
    qtbot.waitUntil(lambda: opened.banner.text == "The index was damaged and set aside.")
    opened.banner.clear()
    memory.set_status(files=5)
    qtbot.waitUntil(lambda: opened.workspace.status.files == 5)
    assert opened.banner.text == ""


def test_missing_user_data_is_restored_from_banner_by_key(qtbot, opened, memory):
    memory.facts.add("The gate code is on the fridge.")
    memory.user_data.path.unlink()
    memory.set_status(user_data=memory.user_data.status())
    qtbot.waitUntil(lambda: "user.sqlite is missing" in opened.banner.text)
    button = _button(opened.banner, "Restore backup")
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: "were restored" in opened.banner.text)
    assert memory.user_data.problem == ""
    assert len(memory.facts.all()) == 1


def test_missing_user_data_without_backup_offers_no_restore(qtbot, opened, memory):
    memory.set_status(user_data=UserDataStatus(problem="It is damaged.", backup=None))
    qtbot.waitUntil(lambda: opened.banner.text == "It is damaged.")
    assert not [button for button in opened.banner.findChildren(QPushButton) if button.text() == "Restore backup"]
    memory.set_status(user_data=None)
    qtbot.waitUntil(lambda: opened.banner.text == "")


def test_failed_sync_offers_retry(qtbot, opened, memory):
    memory.sync_error = engine.DiskFull("No room left on the disk of the index.")
    opened.workspace.sync()
    qtbot.waitUntil(lambda: opened.banner.text == "No room left on the disk of the index.")
    memory.sync_error = None
    syncs = len(memory.syncs)
    qtbot.mouseClick(_button(opened.banner, "Try again"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(memory.syncs) == syncs + 1)


def test_retry_opens_read_only_index_again(qtbot, opened, memory, monkeypatch):
    memory.set_status(custom={"readOnly": "No rights to write."})
    memory.sync_error = engine.DiskFull("No rights to write.")
    qtbot.waitUntil(lambda: bool(opened.workspace.status.custom.get("readOnly")))
    opened.workspace.sync()
    qtbot.waitUntil(lambda: opened.banner.text == "No rights to write.")
    folders: list[Path] = []
    monkeypatch.setattr(opened.workspace, "open", folders.append)
    qtbot.mouseClick(_button(opened.banner, "Try again"), Qt.MouseButton.LeftButton)
    assert folders == [memory.folder]
    opened.views.index.action_requested.emit("retry")
    assert folders == [memory.folder] * 2


def test_sync_bar_failed_button_opens_diagnostics(qtbot, opened, memory):
    opened.panes.show_dock(False)
    memory.set_status(failed_files=(FileIssue(path="a.md", rule="not-utf-8", detail="x"),))
    qtbot.waitUntil(lambda: opened.workspace.status.failed_files != ())
    qtbot.mouseClick(_button(opened.sync_bar, "1 failed"), Qt.MouseButton.LeftButton)
    assert opened.dock.diagnostics.isVisible()


def test_dock_hides_in_narrow_window_and_returns(qtbot, opened):
    opened.panes.restore(400, 330, dock_requested=True)
    opened.resize(1400, 800)
    qtbot.waitUntil(opened.dock.diagnostics.isVisible)
    opened.resize(820, 800)
    qtbot.waitUntil(lambda: not opened.dock.diagnostics.isVisible())
    opened.panes.toggle_dock()
    assert opened.dock.diagnostics.isVisible()
    opened.panes.toggle_dock()
    assert not opened.dock.diagnostics.isVisible()
    opened.panes.show_dock(True)
    opened.resize(1400, 800)
    qtbot.waitUntil(opened.dock.diagnostics.isVisible)


def test_every_pane_has_minimum_width(qtbot, opened):
    for width in (600, 760, 1000, 1280, 1920):
        opened.resize(width, 700)
        qtbot.waitUntil(lambda width=width: opened.panes.width() == width)
        sizes = opened.panes.pane_widths
        assert sizes[0] >= 250, width
        assert sizes[1] >= 300, width
        assert opened.dock.isHidden() or sizes[-1] >= 260, width


def test_closing_saves_window_state_and_shuts_down(qtbot, opened, memory):
    memory.step_delay = 0.2
    memory.files = {f"{number}.md": "# x" for number in range(500)}
    opened.workspace.sync()
    qtbot.waitUntil(lambda: memory.current_sync() is not None)
    opened.resize(1100, 700)
    opened.panes.show_dock(False)
    with qtbot.waitSignal(opened.closing):
        opened.close()
    assert opened.state.dock_shown is False
    assert not opened.state.geometry_bytes().isEmpty()
    assert opened.shut_down(60_000)  # the whole update takes 100 s
    assert memory.closed
    assert memory.current_sync() is None


def test_opening_another_folder_replaces_the_first(qtbot, opened, memory, monkeypatch, tmp_path):
    other = FakeMemory({"x.md": "# Something else\n\nabout herons"})
    monkeypatch.setattr(engine, "open_memory", lambda *_args, **_options: other)
    _find(qtbot, opened, "timer")
    chip_names = []
    chip = next(chip for chip in opened.findChildren(Chip) if chip.accessibleName().startswith("Workspace: "))
    for signal in (opened.workspace.opening, opened.workspace.opened):
        signal.connect(lambda _: chip_names.append(chip.accessibleName()))
    opened.folders.open(tmp_path)
    qtbot.waitUntil(lambda: opened.workspace.current is not None and opened.workspace.current.manager is other)
    assert chip_names == [f"Workspace: {tmp_path.name}"] * 2
    qtbot.waitUntil(lambda: memory.closed and at_rest(opened))
    _find(qtbot, opened, "herons")
    assert other.searches[-1][0] == "herons"
    menu = QMenu()
    opened.search.filters.workspace_menu_requested.emit(menu)
    names = [action.text() for action in menu.actions() if action.isCheckable()]
    assert names == [str(tmp_path), str(memory.folder), "All workspaces"]
    again = FakeMemory()
    monkeypatch.setattr(engine, "open_memory", lambda *_args, **_options: again)
    memory.folder.mkdir(exist_ok=True)
    menu.actions()[1].trigger()
    qtbot.waitUntil(lambda: other.closed and at_rest(opened))
    assert opened.workspace.current.folder == memory.folder


def _focusable(widget: QWidget) -> Iterator[QWidget]:
    for child in widget.findChildren(QWidget):
        if child.focusPolicy() != Qt.FocusPolicy.NoFocus and child.isVisible():
            yield child


VIEWS: list[tuple[str, Callable[[MainWindow, Path], None]]] = [
    ("results and diagnostics", lambda window, _: window.panes.show_dock(True)),
    ("banner", lambda window, _: window.banner.confirm_rebuild()),
    ("welcome", lambda window, _: window.folders.show_welcome()),
    ("preview", lambda window, folder: window.folders.offer(folder)),
    ("sources", lambda window, _: window.folders.choose_sessions()),
    ("message", lambda window, _: window.workspace_controller.show_settings_problem("Line 3.", ("Again", list))),
]
"""States of the window, one after the other."""


def test_every_focusable_widget_has_accessible_name(qtbot, opened, memory, tmp_path):
    (tmp_path / "note.md").write_text("# Note")
    _find(qtbot, opened, "timer")
    issues = (FileIssue(path="a.md", rule="not-utf-8", detail="x"),)
    memory.set_status(
        failed_files=issues, skipped_files=issues, recent_syncs=(make_summary(),), syncing=make_progress(), dirty=True
    )
    qtbot.waitUntil(lambda: opened.workspace.status.failed_files != ())
    nameless = []
    for view, show in VIEWS:
        show(opened, tmp_path)
        qtbot.waitUntil(lambda: opened.first_run.ready)
        focusable = list(_focusable(opened))
        assert focusable, view
        nameless += [
            f"{view}: {type(widget).__name__} {widget.objectName()}"
            for widget in focusable
            if not QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name).strip()
        ]
    assert nameless == []


def test_tab_visits_every_pane_of_the_window(qtbot, opened, box):
    opened.panes.show_dock(True)
    _find(qtbot, opened, "timer")
    box.setFocus()
    seen = []
    for _ in range(60):
        focused = QApplication.focusWidget()
        if focused in seen:
            break
        seen.append(focused)
        qtbot.keyClick(focused, Key.Key_Tab)
    assert any(opened.search.body.isAncestorOf(widget) for widget in seen)
    assert any(opened.viewer.isAncestorOf(widget) for widget in seen)
    assert any(opened.dock.diagnostics.isAncestorOf(widget) for widget in seen)
    assert any(opened.sync_bar.isAncestorOf(widget) for widget in seen)


def test_result_and_skipped_file_open_in_other_programs(qtbot, opened, memory, monkeypatch):
    seen: list[tuple[object, ...]] = []
    monkeypatch.setattr(external_programs, "open_in_editor", lambda *arguments: seen.append(arguments) or "")
    monkeypatch.setattr(external_programs, "reveal_in_file_manager", lambda place, _owner: seen.append((place,)))
    _find(qtbot, opened, "timer")
    opened.search.focus_list()
    result = opened.search.body.list.current_result()
    qtbot.keyClick(opened.search.body.list, Key.Key_E, Control)
    qtbot.waitUntil(lambda: bool(seen))
    assert seen.pop() == (memory.folder / result.path, result.start_line, "")
    opened.search.actions.reveal_requested.emit(result)
    qtbot.waitUntil(lambda: bool(seen))
    assert seen.pop() == (memory.folder / result.path,)
    opened.dock.diagnostics.reveal_requested.emit("big.bin")
    assert seen.pop() == (memory.folder / "big.bin",)
    opened.dock.diagnostics.reveal_requested.emit("no/such/folder.md")
    assert not seen


def test_first_start_focuses_choose_folder_button(window):
    window.folders.show_welcome()
    focus = window.focusWidget()
    assert isinstance(focus, QPushButton)
    assert focus.text() == "Choose a folder…"


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_hint_is_not_cut_in_narrow_list(qtbot, opened, appearance, scale):
    appearance.set_font_scale(scale)
    page = opened.search.body.page
    page.setFixedWidth(280)
    qtbot.waitUntil(lambda: page.widget().minimumSizeHint().width() <= page.viewport().width())


@pytest.mark.parametrize("scale", [0.8, 1.0])
def test_narrow_window_shows_dock_or_file(qtbot, opened, appearance, scale):
    appearance.set_font_scale(scale)
    opened.resize(560, 700)
    qtbot.waitUntil(lambda: opened.width() == 560)
    _find(qtbot, opened, "timer")
    assert not opened.dock.diagnostics.isVisible()
    assert opened.viewer.isVisible()
    opened.panes.toggle_dock()
    assert opened.dock.diagnostics.isVisible()
    assert not opened.viewer.isVisible()
    opened.search.focus_list()
    qtbot.keyClick(opened.search.body.list, Key.Key_Return)
    assert opened.viewer.isVisible()
    assert not opened.dock.diagnostics.isVisible()
    qtbot.waitUntil(lambda: opened.viewer.isAncestorOf(opened.focusWidget()))
    opened.panes.toggle_dock()
    opened.resize(1280, 800)
    qtbot.waitUntil(lambda: opened.viewer.isVisible() and opened.dock.diagnostics.isVisible())


def _menu_action(window: MainWindow, words: str) -> QAction:
    return next(action for action in window.actions() if action.text() == words)


def test_added_sessions_reopen_and_sync_workspace(qtbot, window, memory, user_home, tmp_path, monkeypatch):
    (user_home / ".claude/projects/p").mkdir(parents=True)
    (user_home / ".claude/projects/p/one.jsonl").write_text("{}\n")
    again = FakeMemory()
    memories = [memory, again]
    settings: list[engine.Settings] = []

    def open_memory(_folder, wanted, **_options):
        settings.append(wanted)
        return memories.pop(0)

    monkeypatch.setattr(engine, "open_memory", open_memory, raising=False)
    assert not _menu_action(window, "Add sessions…").isEnabled()
    window.folders.open(tmp_path)
    qtbot.waitUntil(lambda: at_rest(window))
    _menu_action(window, "Add sessions…").trigger()
    assert window.pages.currentWidget() is window.first_run
    qtbot.waitUntil(lambda: window.first_run.ready)
    box = next(box for box in window.first_run.findChildren(QCheckBox) if box.isVisible())
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(_button(window.first_run, "Save and index"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: memory.closed and at_rest(window))
    assert window.pages.currentWidget() is window.panes
    assert window.search.box.isAncestorOf(QApplication.focusWidget())
    assert settings[-1].sessions.folders == (str(user_home / ".claude/projects"),)
    assert again.syncs == [("manual", False)]


def test_escape_leaves_session_choice_unchanged(qtbot, opened):
    opened.folders.choose_sessions()
    qtbot.waitUntil(lambda: opened.first_run.ready)
    qtbot.keyClick(QApplication.focusWidget(), Key.Key_Escape)
    assert opened.pages.currentWidget() is opened.panes


def test_sessions_view_opens_source_page(qtbot, opened):
    opened.views.sessions.listed.folder_requested.emit()
    assert opened.pages.currentWidget() is opened.first_run
    qtbot.waitUntil(lambda: opened.first_run.ready)
    assert _button(opened.first_run, "Save and index")


def test_empty_answer_opens_path_explanation(qtbot, opened):
    _find(qtbot, opened, "zeppelin")
    qtbot.mouseClick(_button(opened.search.body, "A file is missing…"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(opened.dock.diagnostics.why.edit.hasFocus)
    assert opened.dock.diagnostics.why.edit.selectedText() == "zeppelin"


def test_long_query_is_not_taken_for_name_of_file(qtbot, opened):
    opened.search.body.missing_file_requested.emit("why is the zeppelin late again")
    opened.search.body.missing_file_requested.emit("path:zeppelin")
    assert opened.dock.diagnostics.why.edit.text() == ""


def test_outside_file_is_added_to_extra_paths(qtbot, opened, memory):
    with qtbot.waitSignal(opened.workspace.opening) as again:
        opened.dock.diagnostics.add_requested.emit("/mnt/more")
    assert again.args == [memory.folder]
    assert engine.load_settings(memory.folder).extra_paths == ("/mnt/more",)


def test_excluded_type_is_added_to_extensions(qtbot, opened, memory):
    with qtbot.waitSignal(opened.workspace.opening):
        opened.dock.diagnostics.why.type_requested.emit(".log")
    assert engine.load_settings(memory.folder).extensions == (*engine.Settings().extensions, ".log")


def test_reopened_folder_keeps_results_and_document(qtbot, opened, memory, monkeypatch):
    _find(qtbot, opened, "timer")
    results, source = opened.search.body.list, opened.viewer.source
    results.setCurrentIndex(results.rows.index(results.rows.rowCount() - 1))
    chosen = results.current_result()
    qtbot.waitUntil(lambda: opened.viewer.name == chosen.path and opened.viewer.page is source)
    opened.views.switch("sessions")
    opened.views.switch("search")
    source.setFocus()
    file, cleared = opened.viewer.opened, []
    monkeypatch.setattr(opened.viewer, "clear", lambda *_: cleared.append(True))
    states = []
    opened.workspace.opening.connect(
        lambda _: states.append((opened.workspace.current, opened.viewer.opened, results.current_result()))
    )
    monkeypatch.setattr(memory, "close", lambda: None)  # which deletes the folder
    opened.dock.diagnostics.why.type_requested.emit(".log")
    qtbot.waitUntil(lambda: bool(states) and at_rest(opened) and memory.syncs[-1] == ("manual", False))
    assert states == [(None, file, chosen)]
    assert not cleared
    assert opened.viewer.opened is file
    assert results.current_result() == chosen
    assert opened.search.box.query == "timer"
    assert source.hasFocus()
    assert opened.navigation.directions()[0]


def _reopen(qtbot, window: MainWindow, memory: FakeMemory, monkeypatch) -> None:
    monkeypatch.setattr(memory, "close", lambda: None)  # which deletes the folder
    with qtbot.waitSignal(window.workspace.opened):
        window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))


def test_reopened_folder_keeps_focus_in_the_box(qtbot, opened, memory, monkeypatch):
    for view in ("search", "sessions", "index", "facts", "edits"):
        opened.views.switch(view)
        before = QApplication.focusWidget()
        assert before is not None
        _reopen(qtbot, opened, memory, monkeypatch)
        assert QApplication.focusWidget() is before, view


@pytest.mark.parametrize("there", [True, False])
def test_focus_returns_after_reopening(qtbot, opened, memory, monkeypatch, there):
    _find(qtbot, opened, "timer")
    results, box = opened.search.body.list, opened.search.header.findChild(QLineEdit)
    results.setFocus()
    assert results.hasFocus()
    set_manager = opened.views.set_manager

    def close(manager, *, reopening):
        set_manager(manager, reopening=reopening)
        results.setEnabled(manager is not None and there)

    monkeypatch.setattr(opened.views, "set_manager", close)
    _reopen(qtbot, opened, memory, monkeypatch)
    assert (results if there else box).hasFocus()


def test_focus_chosen_while_folder_reopens_stays(qtbot, opened, memory, monkeypatch):
    _find(qtbot, opened, "timer")
    opened.search.body.list.setFocus()
    opened.workspace.opening.connect(lambda _: opened.sync_bar.setFocus())
    _reopen(qtbot, opened, memory, monkeypatch)
    assert opened.sync_bar.hasFocus()


def test_failed_reopening_closes_the_document(qtbot, opened, memory, monkeypatch):
    _find(qtbot, opened, "timer")
    qtbot.waitUntil(lambda: opened.viewer.has_file)

    def refuse(*_arguments, **_options):
        raise engine.MnemoscopeError("The index is in use.")

    monkeypatch.setattr(engine, "open_memory", refuse, raising=False)
    opened.dock.diagnostics.why.type_requested.emit(".log")
    qtbot.waitUntil(lambda: opened.pages.currentWidget() is opened.message)
    assert not opened.viewer.has_file


def test_last_escape_empties_the_viewer(qtbot, opened):
    _find(qtbot, opened, "timer")
    qtbot.waitUntil(lambda: opened.viewer.has_file)
    opened.search.box.edit.setFocus()
    opened.search.search("")
    qtbot.waitUntil(lambda: not opened.viewer.has_file)


def test_viewer_hint_appears_once_something_is_indexed(qtbot, opened):
    def hint() -> str:
        return " ".join(words.text() for words in opened.viewer.empty_page.findChildren(QLabel))

    assert "that you choose opens here" in hint()
    opened.views.show_status(make_status(files=0))
    assert hint().strip() == ""
    opened.views.show_status(make_status())
    assert "that you choose opens here" in hint()


@pytest.mark.parametrize("remembers", [False])
def test_demo_refuses_extra_paths(qtbot, opened):
    opened.dock.diagnostics.add_requested.emit("/mnt/more")
    assert "demo" in opened.banner.text
    assert engine.load_settings(opened.workspace.current.folder).extra_paths == ()


def test_rule_remedy_opens_its_option(qtbot, opened):
    opened.dock.diagnostics.setting_requested.emit("max_file_bytes")
    dialog = opened.settings.dialog
    qtbot.waitUntil(lambda: dialog.ready and "max_file_bytes" in dialog.results.rows)
    dialog.reject()


def test_note_opens_in_editor_and_transcript_is_revealed(qtbot, opened, memory, monkeypatch):
    edited, revealed = [], []
    monkeypatch.setattr(
        external_programs, "open_in_editor", lambda path, line, _: edited.append((path.name, line)) or ""
    )
    monkeypatch.setattr(external_programs, "reveal_in_file_manager", lambda path, _: revealed.append(path))
    transcript = memory.folder / "boat.jsonl"
    opened.dock.diagnostics.open_requested.emit(make_path_state(path="topics/shopping.md"))
    opened.dock.diagnostics.open_requested.emit(make_path_state(source="sessions", file=str(transcript)))
    qtbot.waitUntil(lambda: bool(edited))
    assert edited == [("shopping.md", 1)]
    assert revealed == [transcript]


def test_damaged_settings_are_set_aside_and_folder_opens(qtbot, window, memory):
    path = engine.settings_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[defaults\nmine = 1\n")
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: window.pages.currentWidget() is window.message)
    buttons = window.message.findChildren(QPushButton)
    next(b for b in buttons if b.text() == "Rename the file and use the defaults").click()
    qtbot.waitUntil(lambda: at_rest(window))
    aside = next(other for other in path.parent.iterdir() if other.suffix == ".toml" and other != path)
    assert aside.read_text() == "[defaults\nmine = 1\n"
    assert str(aside) in window.banner.text
    assert str(path) in window.banner.text
    assert engine.load_settings() == engine.Settings()


def test_other_panels_are_made_while_nothing_happens(qtbot, window, memory):
    ahead = PanelPreloader(window)
    timer = ahead.findChild(QTimer)
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window) and timer.isActive())
    memory.set_status(syncing=make_progress())
    qtbot.waitUntil(lambda: window.workspace.status.syncing is not None)
    before = set(window.views.panels)
    timer.timeout.emit()
    assert set(window.views.panels) == before
    memory.set_status(syncing=None)
    qtbot.waitUntil(lambda: at_rest(window))
    timer.timeout.emit()
    assert window.views.made.get(ConversationPanel) is not None  # first, as most views open sessions
    while timer.isActive():
        timer.timeout.emit()
    assert set(window.views.panels) == set(window.views.specs)
    assert window.dock.made.get(DiagnosticsPanel) is not None


def test_other_panels_wait_while_the_user_types(qtbot, window, memory):
    timer = PanelPreloader(window).findChild(QTimer)
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window) and timer.isActive())
    before = timer.timerId()
    qtbot.keyClick(window.search.box.edit, Qt.Key.Key_V)
    assert timer.isActive()
    assert timer.timerId() != before  # it was started again
    timer.stop()
    qtbot.keyClick(window.search.box.edit, Qt.Key.Key_A)
    assert not timer.isActive()
    qtbot.waitUntil(lambda: at_rest(window))


def test_hidden_window_gets_panels_when_it_is_shown(qtbot, window, memory):
    timer = PanelPreloader(window).findChild(QTimer)
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window) and timer.isActive())
    made = set(window.views.panels)
    window.hide()
    timer.timeout.emit()
    assert not timer.isActive()
    assert set(window.views.panels) == made
    window.show()
    while timer.isActive():
        timer.timeout.emit()
    assert set(window.views.panels) == set(window.views.specs)
