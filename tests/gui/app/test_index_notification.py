import pytest
from PySide6.QtWidgets import QApplication

from gui.app.desktop_integration import LONG_SECONDS, UpdateNotification, notification_texts
from tests.gui.app.conftest import FakeIcon
from tests.helpers.fake_records import make_status, make_summary

LONG = make_summary(started=1_772_600_000.0, seconds=LONG_SECONDS + 172, error="", cancelled=False, files_failed=0)


@pytest.fixture
def tray_icon(qtbot, window, tray, memory, monkeypatch):
    """Return the tray icon with its messages since the folder was opened; the window is in the background."""
    long_index = UpdateNotification(window.workspace, window, tray)
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: window.workspace.status is not None and window.workspace.status.last_sync is not None)
    monkeypatch.setattr(QApplication, "activeWindow", lambda: None)
    icon = tray.findChild(FakeIcon)
    icon.long_index = long_index
    return icon


def _end_sync(qtbot, window, memory, **changes) -> None:
    last = make_summary(**{field: getattr(LONG, field) for field in LONG.__struct_fields__} | changes)
    memory.set_status(last_sync=last)
    qtbot.waitUntil(lambda: window.workspace.status.last_sync == last)


def test_long_index_notifies_once(qtbot, window, memory, tray_icon):
    assert not tray_icon.messages
    _end_sync(qtbot, window, memory)
    name, files = memory.folder.name, window.workspace.status.files
    assert tray_icon.messages == [
        (f"The index of {name} is ready", f"{files} files can be searched. It took 3 min 12 s."),
    ]
    memory.set_status(dirty=True)
    qtbot.waitUntil(lambda: window.workspace.status.dirty)
    assert len(tray_icon.messages) == 1


@pytest.mark.parametrize("changes", [{"seconds": LONG_SECONDS - 1.0}, {"cancelled": True}])
def test_short_or_cancelled_sync_does_not_notify(qtbot, window, memory, tray_icon, changes):
    _end_sync(qtbot, window, memory, **changes)
    assert not tray_icon.messages


def test_active_window_suppresses_notification(qtbot, window, memory, tray_icon, monkeypatch):
    monkeypatch.setattr(QApplication, "activeWindow", lambda: window)
    _end_sync(qtbot, window, memory)
    assert not tray_icon.messages


def test_disabled_notification_is_not_shown(qtbot, window, memory, tray_icon):
    tray_icon.long_index.enabled = False
    _end_sync(qtbot, window, memory)
    assert not tray_icon.messages


def test_without_tray_window_alert_is_used(qtbot, window, memory, tray_icon, tray, monkeypatch):
    alerts = []
    monkeypatch.setattr(QApplication, "alert", alerts.append)
    tray.set_enabled(False)
    _end_sync(qtbot, window, memory)
    assert alerts == [window]


def test_notification_reports_failures():
    status = make_status(files=12_345)
    assert notification_texts(status, make_summary(seconds=60, error="", files_failed=2), "Notes") == (
        "The index of Notes is ready",
        "12,345 files can be searched. It took 1 min 0 s. 2 files could not be read.",
    )
    assert notification_texts(status, make_summary(seconds=60, error="The disk is full."), "Notes") == (
        "The index of Notes is not complete",
        "The disk is full.",
    )
