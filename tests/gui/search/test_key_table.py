"""The table of keys on the first page."""

from PySide6.QtWidgets import QLabel

from gui.commands.keymap import keymap
from gui.widgets.placeholder_page import COMMANDS, KeyTable


def _texts(table: KeyTable) -> str:
    return " ".join(found.text().replace("\u200b", "") for found in table.findChildren(QLabel))


def test_key_table_created_before_commands_fills_on_show(qtbot, window, monkeypatch):
    """This is the order of every start of the program."""
    with monkeypatch.context() as early:
        early.setattr(keymap(), "commands", {})
        table = KeyTable()
        qtbot.addWidget(table)
        assert _texts(table).count("no key") == len(COMMANDS)
    table.show()
    assert "no key" not in _texts(table)
    assert "Ctrl+Shift+P" in _texts(table)
    assert "F1" in _texts(table)


def test_key_table_follows_own_keys(qtbot, window):
    table = KeyTable()
    qtbot.addWidget(table)
    keymap().set_own({"help.keys": ["Ctrl+F9"], "help.palette": []})
    assert "Ctrl+F9" in _texts(table)
    assert _texts(table).count("no key") == 1
