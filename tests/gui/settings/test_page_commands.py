from typing import get_args

from PySide6.QtGui import QAction

from gui.settings.option_pages import PAGES, SettingsPage, whole_page


def _command(window, name: str) -> QAction:
    return next(action for action in window.actions() if action.objectName() == name)


def test_each_page_has_command_that_opens_it(qtbot, opened):
    for page in get_args(SettingsPage):
        action = _command(opened, f"settings.page.{page}")
        assert action.text() == f"Settings: {PAGES[page]}"
        action.trigger()
        assert opened.settings.dialog.isVisible()
        qtbot.waitUntil(lambda: opened.settings.dialog.ready)
        assert opened.settings.dialog.page == whole_page(page)
    opened.settings.dialog.close()


def test_page_command_is_disabled_without_folder(window):
    for name in ("settings.page.privacy", "view.index.map", "view.index.health"):
        action = _command(window, name)
        assert not action.isEnabled(), name
        assert "Open a folder first." in action.statusTip(), name
