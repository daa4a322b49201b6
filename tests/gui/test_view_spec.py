"""A view is found everywhere once its package is registered."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton

from gui.app.command_line import parse_options, view_names
from gui.app.start_view import show_view
from gui.commands.keymap import keymap
from gui.conversation.panel import ConversationPanel
from gui.core import view_spec
from gui.core.key_listing import contexts, groups, native
from gui.core.view_spec import view_specs
from gui.core.window_state import LastView, WindowState, load_state, save_state
from gui.diagnostics.panel import DiagnosticsPanel
from gui.window.main_window import MainWindow
from gui.window.palette_entries import commands
from tests.helpers.invented_panel import InventedPanel

Key = Qt.Key
Control = Qt.KeyboardModifier.ControlModifier


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register the invented view after the program's own."""
    monkeypatch.setattr(view_spec, "PACKAGES", (*view_spec.PACKAGES, "tests.helpers.invented_view"))
    known = dict(keymap().commands)
    yield
    keymap().commands.clear()
    keymap().commands.update(known)


@pytest.fixture
def panel(opened: MainWindow) -> InventedPanel:
    panel = opened.views.panel_of("tides")
    assert isinstance(panel, InventedPanel)
    return panel


def test_views_keep_their_names_order_and_keys() -> None:
    specs = view_specs()
    assert [spec.name for spec in specs[:5]] == ["search", "sessions", "index", "facts", "edits"]
    assert specs[-1].name == "tides"
    assert [spec.key for spec in specs[:5]] == ["Ctrl+1", "Ctrl+2", "Ctrl+3", "Ctrl+4", "Ctrl+5"]


def test_header_button_makes_and_opens_new_view(qtbot, opened: MainWindow) -> None:
    button = next(one for one in opened.frame.header.findChildren(QPushButton) if one.text() == "Tides")
    assert button.toolTip().startswith("High and low water")
    assert list(opened.views.panels) == ["search"]
    assert not opened.findChildren(ConversationPanel)
    assert not opened.findChildren(DiagnosticsPanel)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert (opened.views.current, list(opened.views.panels)) == ("tides", ["search", "tides"])
    panel = opened.views.panels["tides"]
    assert isinstance(panel, InventedPanel)
    assert button.isChecked()
    assert panel.header.isVisible()
    assert panel.body.isVisible()
    assert not opened.views.lists.isVisible()
    assert QApplication.focusWidget() is panel.box.edit
    opened.views.switch("sessions")
    assert not opened.findChildren(ConversationPanel)  # its turn of the event loop follows
    assert not opened.views.viewer.isVisible()
    qtbot.waitUntil(lambda: isinstance(opened.views.readers.currentWidget(), ConversationPanel))


def test_new_view_gets_memory_status_and_query(opened: MainWindow, panel: InventedPanel) -> None:
    assert panel.manager is opened.workspace.current.all_workspaces
    assert panel.status == opened.workspace.status
    opened.views.switch("tides")
    opened.views.panel.search("Dover")
    assert panel.box.query == "Dover"


def test_key_menu_and_palette_open_new_view(qtbot, opened: MainWindow, panel: InventedPanel) -> None:
    qtbot.keyClick(opened, Key.Key_9, Control)
    assert opened.views.current == "tides"
    qtbot.keyClick(panel.box.edit, Key.Key_Down)
    assert panel.body.hasFocus()
    opened.views.switch("search")
    action = next(one for one in opened.commands.menu.actions() if one.text() == "Show the tides")
    action.trigger()
    assert opened.views.current == "tides"
    offered = commands(keymap(), opened, None, "")
    assert next(entry.keys for entry in offered if entry.label == "Show the tides") == native("Ctrl+9")


def test_keyboard_lists_context_of_new_view(opened: MainWindow, panel: InventedPanel) -> None:
    assert [context.name for context in contexts()][-4:] == ["tides", "remember", "settings", "quick"]
    listed = {group.title: [row.label for row in group.rows] for group in groups(keymap())}
    assert listed["Tide table"] == ["Turn the tide", "Next tide"]


def test_command_line_knows_new_view(opened: MainWindow, panel: InventedPanel) -> None:
    assert {"tides", "neap"} < set(view_names())
    assert parse_options(["--view", "neap"]).view == "neap"
    opened.panes.show_dock(True)
    show_view(opened, "neap", "")
    assert (opened.views.current, panel.page) == ("tides", "neap")
    assert not opened.panes.dock_requested


def test_window_state_names_new_view(monkeypatch: pytest.MonkeyPatch) -> None:
    state = WindowState(last_view=LastView(view="tides"))
    save_state(state)
    assert load_state() == state
    monkeypatch.undo()
    assert load_state() == WindowState()  # the same file without the view is a damaged one


def test_back_returns_to_new_view(opened: MainWindow) -> None:
    opened.views.switch("tides")
    opened.views.switch("facts")
    opened.navigation.back()
    assert opened.views.current == "tides"
