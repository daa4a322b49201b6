from PySide6.QtGui import QAction

import engine
from gui.commands.keymap import keymap
from gui.widgets.icons import IconButton
from tests.helpers.windows import at_rest


def _of(window, name):
    return [key.toString() for key in next(one for one in window.actions() if one.objectName() == name).shortcuts()]


def test_key_settings_apply_and_unknown_command_is_reported(qtbot, window, memory):
    engine.save_setting("window.keys", {"index.sync": ["Ctrl+F5"], "view.nowhere": ["F4"]})
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    assert _of(window, "index.sync") == ["Ctrl+F5"]
    assert "“view.nowhere”" in window.banner.text
    [button] = [
        b for b in window.sync_bar.findChildren(IconButton) if b.accessibleName() == "Look for changed files now"
    ]
    assert button.toolTip() == "Look for changed files now (Ctrl+F5)"


def test_every_action_with_keys_has_a_command(opened):
    """Otherwise it would be missing in the palette, and its keys couldn't be changed."""
    nameless = [
        action.text()
        for action in opened.findChildren(QAction)
        if action.shortcuts() and action.objectName() not in keymap().commands
    ]
    assert not nameless
