import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip

from gui.widgets.placeholder_page import ElidedButton

WORDS = "How this answer & that one came about"


@pytest.mark.usefixtures("appearance")
def test_narrow_button_elides_text_and_shows_tooltip(qtbot, monkeypatch) -> None:
    received = []
    monkeypatch.setattr(QToolTip, "showText", lambda _at, words, _widget: received.append(words))
    button = ElidedButton(WORDS)
    qtbot.addWidget(button)
    button.resize(button.sizeHint())
    _ask(button)
    assert button.visible_label == WORDS
    assert received == []
    button.resize(button.minimumSizeHint())
    _ask(button)
    assert button.visible_label.endswith("…")
    assert len(button.visible_label) < len(WORDS) / 2
    assert received == [WORDS]
    assert button.accessibleName() == WORDS


def _ask(button: ElidedButton) -> None:
    at = QPoint(2, 2)
    QApplication.sendEvent(button, QHelpEvent(QEvent.Type.ToolTip, at, at))
