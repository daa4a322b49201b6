import pytest
from PySide6.QtWidgets import QMessageBox

from gui.app.desktop_integration import BackgroundMode


@pytest.fixture
def background_mode(window, tray) -> BackgroundMode:
    background_mode = BackgroundMode(window, tray)
    background_mode.hides_on_close = True
    return background_mode


def _press(window, words: str) -> None:
    box = window.findChild(QMessageBox)
    next(button for button in box.buttons() if button.text() == words).click()


def test_first_close_explains_tray_then_hides_window(qtbot, window, background_mode):
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


@pytest.mark.parametrize(("words", "expected_visible"), [("Quit", False), ("Keep the window open", True)])
def test_explanation_buttons_quit_or_keep_window(qtbot, window, background_mode, words, expected_visible):
    closed = []
    window.closing.connect(lambda: closed.append(True))
    window.close()
    _press(window, words)
    assert window.isVisible() == expected_visible
    assert bool(closed) == (not expected_visible)
    assert not window.state.tray_notice_shown


def test_quit_closes_despite_close_to_tray(qtbot, window, background_mode):
    with qtbot.waitSignal(window.closing):
        window.quit()
    assert not window.isVisible()


def test_hidden_window_can_be_quit(qtbot, window, background_mode):
    window.state.tray_notice_shown = True
    window.close()
    with qtbot.waitSignal(window.closing):
        window.quit()


def test_closing_without_tray_quits(qtbot, window, tray, background_mode):
    tray.set_enabled(False)
    with qtbot.waitSignal(window.closing):
        assert window.close()


def test_closing_quits_when_close_to_tray_is_off(qtbot, window, background_mode):
    background_mode.hides_on_close = False
    with qtbot.waitSignal(window.closing):
        assert window.close()
