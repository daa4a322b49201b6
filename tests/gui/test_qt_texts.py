"""Qt's own texts, such as names of keys, are in the window's language."""

import pytest
from PySide6.QtGui import QKeySequence

NATIVE = QKeySequence.SequenceFormat.NativeText


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    ("key", "expected"),
    [("Ctrl+Return", "Strg+Eingabe"), ("Ctrl+Shift+Space", "Strg+Umschalt+Leertaste"), ("Alt+Left", "Alt+Links")],
)
def test_menus_show_native_key_names(key, expected):
    """Qt's catalogue has no German name of the return key; sentences use the name that is printed on keyboards."""
    assert QKeySequence(key).toString(NATIVE) == expected
    assert QKeySequence(key).toString() == key
