from PySide6.QtCore import QSize
from PySide6.QtGui import QScreen
from PySide6.QtWidgets import QWidget

from gui.style.typography import LeastSize


def _window(qtbot, monkeypatch, screen: QSize) -> QWidget:
    monkeypatch.setattr(QScreen, "availableSize", lambda _screen: screen)
    window = QWidget()
    qtbot.addWidget(window)
    LeastSize(window)
    window.show()
    return window


def test_window_minimum_size_follows_font_scale(qtbot, appearance, monkeypatch):
    window = _window(qtbot, monkeypatch, QSize(1920, 1080))
    assert window.minimumSize() == QSize(560, 360)
    window.resize(600, 400)
    appearance.set_font_scale(2.0)
    assert window.minimumSize() == window.size() == QSize(900, 580)
    appearance.set_font_scale(1.5)
    assert 560 < window.minimumWidth() < 900
    for small in (1.0, 0.8):
        appearance.set_font_scale(small)
        assert window.minimumSize() == QSize(560, 360)


def test_minimum_size_does_not_exceed_screen(qtbot, appearance, monkeypatch):
    window = _window(qtbot, monkeypatch, QSize(800, 480))
    appearance.set_font_scale(2.0)
    around = window.frameGeometry().size() - window.size()
    assert window.minimumSize() + around == QSize(800, 480)


def test_main_window_minimum_size_follows_font_scale(window, appearance, monkeypatch):
    monkeypatch.setattr(QScreen, "availableSize", lambda _screen: QSize(1920, 1080))
    appearance.set_font_scale(2.0)
    assert window.minimumSize() == QSize(900, 580)
