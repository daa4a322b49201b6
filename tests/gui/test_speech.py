"""Qt's own texts, such as names of keys, are in the window's language."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale, QTranslator
from PySide6.QtGui import QKeySequence

from engine import speak
from gui.app.interface_language import apply_language

NATIVE = QKeySequence.SequenceFormat.NativeText


@pytest.fixture
def german(qapp) -> Iterator[None]:
    before = QLocale()
    apply_language(qapp, "de")
    yield
    for translator in qapp.findChildren(QTranslator):
        qapp.removeTranslator(translator)
        translator.deleteLater()
    QLocale.setDefault(before)
    speak("en")


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    ("key", "expected"),
    [("Ctrl+Return", "Strg+Eingabe"), ("Ctrl+Shift+Space", "Strg+Umschalt+Leertaste"), ("Alt+Left", "Alt+Links")],
)
def test_menus_show_native_key_names(key, expected):
    """Qt's own catalogue has no German for the return key, and sentences call it as keyboards do."""
    assert QKeySequence(key).toString(NATIVE) == expected
    assert QKeySequence(key).toString() == key
