"""The tray with a fake icon, and without a tray; `test_tray_on_dbus.py` tests a real one."""

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QMenu, QPushButton, QScrollArea, QSystemTrayIcon

from gui.app.tray import Tray, TrayHost, tray_icon, tray_state
from gui.widgets.accessibility import following
from tests.gui.app.conftest import FakeIcon
from tests.helpers.fake_records import make_progress, make_status, make_summary
from tests.helpers.windows import at_rest

NOW = 1_772_600_000.0
SHAPES = ("resting", "working", "paused", "trouble")


def _icon(tray: Tray) -> FakeIcon:
    return tray.findChild(FakeIcon)


def _entries(tray: Tray) -> list[str]:
    menu = _icon(tray).contextMenu()
    assert isinstance(menu, QMenu)
    return [action.text() for action in menu.actions() if action.isVisible() and not action.isSeparator()]


def _choose(tray: Tray, words: str) -> None:
    next(action for action in _icon(tray).contextMenu().actions() if action.text() == words).trigger()


@pytest.mark.parametrize(
    ("status", "shape", "words"),
    [
        (None, "resting", "No folder is open"),
        (make_status(files=3), "resting", "Up to date · 3 notes · 1 session"),
        (make_status(syncing=make_progress(phase="indexing", completed=1, total=4)), "working", "Indexing · 25%"),
        (make_status(syncing=make_progress(completed=0, total=0), paused=True), "paused", "Paused"),
        (
            make_status(last_sync=make_summary(error="The disk is full."), files=3),
            "trouble",
            "Update failed · 3 notes · 1 session",
        ),
    ],
)
def test_status_gives_tray_icon_shape_and_text(status, shape, words):
    state = tray_state(status, NOW)
    assert (state.shape, state.tooltip) == (shape, words)


@pytest.mark.parametrize("size", [16, 22, 64])
def test_tray_icon_shapes_differ_without_colour(qapp, size):
    """All icons differ in shape, not only in colour."""
    drawn = [tray_icon(shape).pixmap(size, size).toImage() for shape in SHAPES]
    grey = [image.convertToFormat(QImage.Format.Format_Grayscale8) for image in drawn]
    for number, one in enumerate(grey):
        for other in grey[number + 1 :]:
            pairs = ((one.pixelColor(x, y), other.pixelColor(x, y)) for x in range(size) for y in range(size))
            differing = sum(abs(a.lightness() - b.lightness()) > 60 for a, b in pairs)
            assert differing > size * size / 20


def test_missing_tray_shows_no_icon_or_message(window):
    tray = Tray(window.workspace, window)
    tray.set_enabled(True)
    assert not tray.is_shown
    assert not tray.show_message("a", "b")
    assert tray.findChild(QSystemTrayIcon) is None


def test_menu_survives_replaced_widget_in_focus_chain(window, qapp):
    Tray(window.workspace, window)
    room = QScrollArea(window)
    room.setWidget(QPushButton("Stop"))
    step = following(room.widget())
    while step is not window and step is not room.widget():
        step = following(step)
    del step
    room.setWidget(QPushButton("Go on"))
    qapp.processEvents()
    window.workspace.feed.status_changed.emit(make_status(files=3))
    assert any(
        action.text().startswith("Up to date") for menu in window.findChildren(QMenu) for action in menu.actions()
    )


def test_disabled_tray_hides_icon(tray, qapp):
    assert tray.is_shown
    tray.set_enabled(False)
    assert not tray.is_shown


def test_icon_appears_when_tray_becomes_available(window, tray_there, monkeypatch):
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: False)
    tray = Tray(window.workspace, window)
    tray.set_enabled(True)
    assert not tray.is_shown
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    host = tray.findChild(TrayHost)
    timer = host.findChild(QTimer)  # only Linux needs to look
    (host.changed if timer is None else timer.timeout).emit()
    assert tray.is_shown


def test_menu_offers_available_sync_actions(qtbot, tray, window, memory):
    assert _entries(tray)[0] == "No folder is open"
    window.folders.open(memory.folder)
    qtbot.waitUntil(
        lambda: "Update now" in _entries(tray) and _entries(tray)[0].startswith("Up to date") and at_rest(window)
    )
    memory.set_status(syncing=make_progress(phase="indexing"))
    qtbot.waitUntil(lambda: "Pause indexing" in _entries(tray))
    assert "Update now" not in _entries(tray)
    memory.set_status(paused=True)
    qtbot.waitUntil(lambda: "Resume indexing" in _entries(tray))
    assert "Pause indexing" not in _entries(tray)
    assert "Paused" in _icon(tray).toolTip()


def test_menu_of_read_only_index_disables_update(qtbot, tray, window, memory):
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: _entries(tray)[0].startswith("Up to date") and at_rest(window))
    memory.set_status(custom={"readOnly": "No rights to write."})
    qtbot.waitUntil(lambda: "read-only" in _entries(tray)[0])
    assert not next(
        action for action in _icon(tray).contextMenu().actions() if action.text() == "Update now"
    ).isEnabled()


def test_menu_sync_now_starts_sync(qtbot, tray, window, memory):
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: _entries(tray)[0].startswith("Up to date") and at_rest(window))
    before = len(memory.syncs)
    _choose(tray, "Update now")
    qtbot.waitUntil(lambda: len(memory.syncs) > before)


def test_menu_entries_emit_signals(qtbot, tray):
    for words, signal in (
        ("Open Mnemoscope", tray.window_requested),
        ("Quick search", tray.quick_requested),
        ("Quit", tray.quit_requested),
    ):
        with qtbot.waitSignal(signal):
            _choose(tray, words)


def test_click_opens_window_and_middle_click_quick_search(qtbot, tray):
    with qtbot.waitSignal(tray.window_requested):
        _icon(tray).activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    with qtbot.waitSignal(tray.quick_requested):
        _icon(tray).activated.emit(QSystemTrayIcon.ActivationReason.MiddleClick)
