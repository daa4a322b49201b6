import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QMenuBar

from gui.commands.commands import fill_menu_bar

Role = QAction.MenuRole


def test_menu_bar_has_every_command_once_with_roles(qtbot, opened):
    bar = QMenuBar()
    qtbot.addWidget(bar)
    fill_menu_bar(bar, opened.actions())
    menus = {entry.text(): entry.menu().actions() for entry in bar.actions()}
    assert list(menus) == ["File", "Search", "View", "Go", "Help"]
    entries = [action for actions in menus.values() for action in actions]
    assert sorted(action.objectName() for action in entries) == sorted(one.objectName() for one in opened.actions())
    roles = {action.objectName(): action.menuRole() for action in entries}
    assert [name for name, role in roles.items() if role != Role.NoRole] == [
        "settings.show",
        "window.quit",
        "help.about",
    ]
    assert (roles["settings.show"], roles["window.quit"], roles["help.about"]) == (
        Role.PreferencesRole,
        Role.QuitRole,
        Role.AboutRole,
    )


@pytest.mark.qt_log_ignore("grabbing the keyboard", "support raise", extend=True)
def test_f10_opens_menu_and_escape_closes_it(qtbot, opened):
    menu = opened.commands.menu
    opened.search.focus_box()
    box = QApplication.focusWidget()
    qtbot.keyClick(box, Qt.Key.Key_F10)
    qtbot.waitUntil(menu.isVisible)
    assert menu.activeAction() is menu.actions()[0]
    qtbot.keyClick(menu, Qt.Key.Key_Escape)
    assert not menu.isVisible()
    assert QApplication.focusWidget() is box
