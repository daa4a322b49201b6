import pytest
import shiboken6
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QPushButton, QWidget

from gui.commands import overlap
from gui.commands.commands import key_action, show_key_in_tooltip, show_keys_of, with_key
from gui.commands.keymap import Command, Keymap, command, keymap
from gui.core.key_listing import by_context

FIND = command("trial.find", "Find", "file", QKeySequence.StandardKey.Find, "F7")


@pytest.fixture
def keys(qapp) -> Keymap:
    return keymap()


def test_own_keys_replace_default_keys(qapp):
    mapped = Keymap()
    mapped.declare(FIND)
    assert mapped.keys("trial.find") == ("Ctrl+F", "F7")
    mapped.set_own({"trial.find": ["Ctrl+J"]})
    assert mapped.keys("trial.find") == ("Ctrl+J",)
    mapped.set_own({"trial.find": []})
    assert mapped.keys("trial.find") == ()
    assert mapped.first_key("trial.find") == ""
    assert mapped.keys("trial.unknown") == ()


def test_duplicate_command_name_is_refused(qapp):
    mapped = Keymap()
    mapped.declare(FIND)
    mapped.declare(Command("trial.find", "Find", ("file",), (QKeySequence.StandardKey.Find, "F7")))
    with pytest.raises(ValueError, match=r"trial\.find"):
        mapped.declare(Command("trial.find", "Find", ("file",), ("F8",)))


def test_commands_are_grouped_regardless_of_declaration_order(qapp):
    mapped = Keymap()
    for name, place in (
        ("theme.dark", "window"),
        ("trial.other", "window"),
        ("file.wrap", "file"),
        ("view.index", "window"),
        ("theme.light", "window"),
        ("search.focus", "window"),
    ):
        mapped.declare(Command(name, "Words", (place,)))
    window = ["view.index", "search.focus", "theme.dark", "theme.light", "trial.other"]
    assert [one.name for one in by_context(mapped)] == [*window, "file.wrap"]


def test_changed_signal_fires_only_on_real_changes(qtbot, keys):
    with qtbot.waitSignal(keys.changed):
        keys.set_own({"trial.find": ["Ctrl+J"]})
    with qtbot.assertNotEmitted(keys.changed):
        keys.set_own({"trial.find": ("Ctrl+J",)})


def test_actions_tooltips_and_menus_follow_keymap(qtbot, keys):
    panel, button = QWidget(), QPushButton("Find")
    qtbot.addWidget(panel)
    qtbot.addWidget(button)
    action = key_action(panel, FIND, "Find in this file")
    show_key_in_tooltip(button, "Find something", FIND.name)
    assert action.toolTip() == "Find in this file (Ctrl+F)"
    assert button.toolTip() == "Find something (Ctrl+F)"
    keys.set_own({FIND.name: ["Ctrl+J"]})
    assert [key.toString() for key in action.shortcuts()] == ["Ctrl+J"]
    assert action.toolTip() == "Find in this file (Ctrl+J)"
    assert button.toolTip() == "Find something (Ctrl+J)"
    entry = QAction("Find", panel)
    show_keys_of(entry, FIND.name)
    assert entry.shortcut().toString() == "Ctrl+J"
    keys.set_own({FIND.name: []})
    assert not action.shortcuts()
    assert action.toolTip() == "Find in this file"
    assert with_key("Find", FIND.name) == "Find"


def test_deleted_widget_ignores_keymap_change(qapp, keys):
    panel = QWidget()
    key_action(panel, FIND)
    shiboken6.delete(panel)
    keys.set_own({FIND.name: ["Ctrl+J"]})


def test_default_keys_do_not_clash(window):
    """Qt triggers neither of two actions with the same key in one context."""
    commands = list(keymap().commands.values())
    clashes = [
        (one.name, other.name, key)
        for index, one in enumerate(commands)
        for other in commands[index + 1 :]
        for key in one.keys
        if key in other.keys and not one.name.startswith("trial.") and not other.name.startswith("trial.")
        if any(overlap(here, there) for here in one.contexts for there in other.contexts)
    ]
    assert not clashes
