import pytest
from PySide6.QtWidgets import QMessageBox

from gui.app.background_mode import BackgroundMode


@pytest.fixture
def residing(window, tray) -> BackgroundMode:
    residing = BackgroundMode(window, tray)
    residing.hides_on_close = True
    return residing


def _press(window, words: str) -> None:
    box = window.findChild(QMessageBox)
    next(button for button in box.buttons() if button.text() == words).click()


def test_first_close_explains_tray_then_hides_window(qtbot, window, residing):
    closed = []
    window.closing.connect(lambda: closed.append(True))
    assert not window.close()
    assert window.isVisible()
    assert "Ctrl+Q" in window.findChild(QMessageBox).informativeText()
    _press(window, "Stay in the tray")
    assert not window.isVisible()
    assert window.state.tray_notice_shown
    window.show()
    window.close()
    assert not window.isVisible()
    assert not closed


@pytest.mark.parametrize(("words", "remains"), [("Quit", False), ("Keep the window open", True)])
def test_explanation_buttons_quit_or_keep_window(qtbot, window, residing, words, remains):
    closed = []
    window.closing.connect(lambda: closed.append(True))
    window.close()
    _press(window, words)
    assert window.isVisible() == remains
    assert bool(closed) == (not remains)
    assert not window.state.tray_notice_shown


def test_quit_closes_despite_close_to_tray(qtbot, window, residing):
    with qtbot.waitSignal(window.closing):
        window.quit()
    assert not window.isVisible()


def test_hidden_window_can_be_quit(qtbot, window, residing):
    window.state.tray_notice_shown = True
    window.close()
    with qtbot.waitSignal(window.closing):
        window.quit()


def test_closing_without_tray_quits(qtbot, window, tray, residing):
    tray.set_enabled(False)
    with qtbot.waitSignal(window.closing):
        assert window.close()


def test_closing_quits_when_close_to_tray_is_off(qtbot, window, residing):
    residing.hides_on_close = False
    with qtbot.waitSignal(window.closing):
        assert window.close()
